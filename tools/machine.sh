# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# machine.sh: a drawing's text about the machine and the library, from the machine.txt of tools/bench. Sourced.

# in_machine FILE WHAT: the value of the line "WHAT: VALUE"; empty if there is no such file or line.
in_machine() { sed -n "s/^$2: //p" "$1" 2>/dev/null | head -n 1; }

# machine_line FILE: one line with the processor, MPI, the library's version, the date, and whether the machine was
# quiet; empty if there is no file.
machine_line() {
    [ -f "$1" ] || return 0
    {
        in_machine "$1" processor
        in_machine "$1" cores | sed 's/$/ cores/'
        in_machine "$1" MPI
        in_machine "$1" library | sed 's/,.*//'
        in_machine "$1" date | sed 's/ .*//'
        in_machine "$1" 'other processes'
    } | paste -s -d , | sed 's/,/, /g'
}

# note_time FILE: writes the clock, and the processor time of the machine, of this shell and of its ended children. Do
# not call it in a subshell, which has no children.
note_time() {
    {
        cat /proc/uptime /proc/stat 2>/dev/null | sed '3,$d'
        times
    } >"$1"
}

# others_busy FROM TO: prints how many processors other processes used on average between the two files of note_time;
# nothing if it is unknown. Time that a hypervisor gives to others counts. The load average is no substitute: it
# contains processes that ended a minute ago, and the caller.
others_busy() {
    awk -v ticks="$(getconf CLK_TCK 2>/dev/null || echo 100)" '
        function seconds(time,    part) { split(time, part, "m"); return part[1] * 60 + part[2] }
        FNR == 1 { file++; clock[file] = $1 }
        FNR == 2 && $1 == "cpu" { known++; machine[file] = ($2 + $3 + $4 + $7 + $8 + $9) / ticks }
        FNR > 2 { own[file] += seconds($1) + seconds($2) }
        END {
            time = clock[2] - clock[1]
            if (known < 2 || time < 0.2) exit
            others = (machine[2] - machine[1] - own[2] + own[1]) / time
            printf "%.2f\n", (others > 0 ? others : 0)
        }' "$1" "$2"
}

# note_busy FROM TO: prints a sentence if other processes used half a processor or more.
note_busy() {
    others_busy "$1" "$2" | awk '$1 >= 0.5 {
        printf "the machine is too busy to measure: other processes used %.1f of its processors meanwhile\n", $1
    }'
}
