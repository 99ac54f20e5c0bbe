#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-sim.sh: simulated jobs (test/sim/sim --help): some hundred seeds of each scenario, the same seed twice, more PEs
# than usual, pictures, and wrong arguments; and the counts of test/sim/growth. RMA_TEST_SEEDS sets the number of seeds.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
sim=$top_builddir/test/sim/sim
need "$sim"

# passes ARGUMENT...: a run without a fault.
passes() {
    if "$sim" "$@" >"$dir/out" 2>&1; then
        tail -n 1 "$dir/out"
    else
        fail "sim $*"
    fi
}

# well_formed FILE: it is XML, as far as the machine can tell.
well_formed() {
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1"
    elif command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
    else
        grep -q '^<svg ' "$1" && tail -n 1 "$1" | grep -q '^</svg>$'
    fi
}

# draws PES EVENTS ARGUMENT...: a picture of so many PEs and of the last so many events, with an arrow.
draws() {
    pes=$1 events=$2
    shift 2
    "$sim" "$@" --pes "$pes" --events "$events" --picture "$dir/picture.svg" >"$dir/out" 2>&1 &&
        well_formed "$dir/picture.svg" &&
        [ "$(grep -c '<g class="pe"' "$dir/picture.svg")" -eq "$pes" ] &&
        grep -q "the last $events of " "$dir/picture.svg" &&
        grep -Eq '^<g class="message [a-z]+" .*<title>message [0-9]+: .*marker-end=' "$dir/picture.svg" && return
    fail "sim $*: no picture of $pes PEs and $events events"
    head -n 60 "$dir/picture.svg" || true
}

# refuses TEXT ARGUMENT...: $program ends with exit code 2 and a line that matches TEXT.
program=sim
refuses() {
    text=$1
    shift
    code=0
    "$top_builddir/test/sim/$program" "$@" >"$dir/out" 2>&1 || code=$?
    [ $code -eq 2 ] && grep -Eq "^$program: $text" "$dir/out" && return
    fail "$program $*: exit code $code, and no line '$text'"
}

passes --scenario requests --seeds "${RMA_TEST_SEEDS:-100}"
passes --scenario jobs --seeds "${RMA_TEST_SEEDS:-80}"
# The caller's settings must not matter.
RMA_STATS=1 RMA_NODE_PES=0x passes --scenario jobs --seeds 3
passes --scenario failures --seeds "${RMA_TEST_SEEDS:-16}"
passes --scenario images --seeds "${RMA_TEST_SEEDS:-60}"
passes --scenario requests --seed 7 --pes 40
passes --scenario jobs --seed 7 --pes 64
passes --scenario images --seed 7 --pes 64
passes --scenario images --seed 7 --pes 1
# log_of FILE ARGUMENT...: the events of the runs, without what differs from run to run: the last line, which tells the
# time that they took, and addresses.
log_of() {
    log=$1
    shift
    "$sim" "$@" --log >"$dir/out" || fail "sim $*"
    sed -e '$d' -e 's/0x[0-9a-f]*/ADDRESS/g' "$dir/out" >"$log"
    [ "$(wc -l <"$log")" -ge 100 ] || fail "sim $*: not even 100 events"
}
log_of "$dir/first" --scenario requests --seed 3
log_of "$dir/second" --scenario requests --seed 3
cmp "$dir/first" "$dir/second" || fail "a seed does not repeat its run"
# Where malloc puts things must not matter. In these runs threads wait for mutexes.
for seed in 2 24 26; do
    log_of "$dir/first" --scenario jobs --seed $seed
    GLIBC_TUNABLES=glibc.malloc.tcache_count=0 log_of "$dir/second" --scenario jobs --seed $seed
    cmp "$dir/first" "$dir/second" || fail "the run of seed $seed depends on where malloc puts things"
done
# A PE that waits long says so in its own name. A line of the log: time, "PE", number, "librma:", "PE", number, ...
"$sim" --scenario failures --seeds 8 --log >"$dir/out"
if ! awk '$4 == "librma:" && $5 == "PE" && / has waited / { n++; if ($3 != $6) { print "FAIL " $0; wrong = 1 } }
        END { exit wrong || !n }' "$dir/out"; then
    fail "of 8 runs with failures no PE has waited, or one spoke for another"
fi
draws 4 40 --scenario jobs --seed 3
draws 9 100 --scenario requests --seeds 2
draws 64 10000 --scenario requests --seed 5
draws 3 30 --scenario failures --seed 3
refuses "--picture $dir/none/picture.svg cannot be written: " --seed 1 --picture "$dir/none/picture.svg"
[ ! -w /dev/full ] || refuses '--picture /dev/full cannot be written: ' --seed 1 --picture /dev/full
refuses '--events 0 is no number from 1 to 10000' --events 0 --picture "$dir/picture.svg"
refuses '--events 10001 is no number from 1 to 10000' --events 10001 --picture "$dir/picture.svg"
refuses '--events counts the events of a picture, and there is no --picture' --events 10
refuses 'unknown or incomplete option --picture' --picture
refuses 'there is no scenario nonsense' --scenario nonsense
refuses '--seed x3 is no number' --seed x3
refuses '--pes 0 is no number from 1' --pes 0
refuses 'scenario requests takes 2 to 64 PEs, not 1$' --pes 1
refuses '--seeds 0 is no number from 1' --seeds 0
refuses 'scenario requests takes 2 to 64 PEs, not 65' --scenario requests --pes 65
refuses 'unknown or incomplete option --sed' --sed
refuses 'unknown argument more' more

# ---- test/sim/growth ----

# A barrier is dissemination: ceil(log2 n) rounds, and as many messages of each PE.
growth=$top_builddir/test/sim/growth
for least in 2 3; do
    if ! "$growth" --least $least --most 64 --operations barrier,sum --csv "$dir/$least.csv" >"$dir/out" 2>&1; then
        fail "growth --least $least --most 64"
    fi
done
cat "$dir/2.csv" "$dir/3.csv" | awk -F, '
    $1 == "operation" { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { rounds = 0; for (n = 1; n < $at["pes"]; n *= 2) rounds++ }
    $1 == "barrier" && ($at["rounds"] != rounds || $at["messages"] != rounds * $at["pes"]) { bad = bad $0 "\n" }
    $1 == "sum" && ($at["rounds"] < rounds || $at["rounds"] > rounds + 1 || $at["time_ns"] <= 0) { bad = bad $0 "\n" }
    { rows++ }
    END {
        if (rows != 22) bad = bad rows " rows, not 22\n"
        if (bad) { printf "FAIL growth: the rounds or messages of barrier or sum:\n%s", bad; exit 1 }
    }' || failures=$((failures + 1))

# What a PE holds. A rule tells the nodes of the team of all PEs: no table of them is sent, or kept. The messages that a
# histogram has needed are given back. Not with sanitizers, which keep what is freed, nor with large pages.
case "${SANITIZERS-} $(getconf PAGESIZE)" in
*-fsanitize*) ;;
*" 4096")
    if ! "$growth" --least 512 --most 1024 --operations init,histogram,idle,first_collective --csv "$dir/held.csv" \
        >"$dir/out" 2>&1; then
        fail "growth --least 512 --most 1024"
    fi
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { added[$1, $2] = $at["added_kib_per_pe"]; bytes[$1, $2] = $at["bytes_per_pe"]; rows++ }
        function most(operation, pes, kib) {
            if (!((operation, pes) in added) || added[operation, pes] > kib)
                bad = bad operation " of " pes " PEs adds " added[operation, pes] " KiB to each, more than " kib "\n"
        }
        END {
            most("init", 512, 80) # 70 on an EPYC with Linux 6.18, below 64 on an Intel
            most("init", 1024, 80)
            most("histogram", 1024, 700)
            most("idle", 1024, -200)
            most("first_collective", 1024, 9) # 0.1 of them: what each PE of a node says of its call
            if (bytes["first_collective", 1024] > 200) bad = bad "first_collective sends a table\n"
            if (rows != 8) bad = bad rows " rows, not 8\n"
            if (bad) { printf "FAIL growth: what a PE holds:\n%s", bad; exit 1 }
        }' "$dir/held.csv" || failures=$((failures + 1))
    ;;
esac

# If all PEs are on one node, nothing goes by messages.
if ! timeout "$(seconds 60)" "$growth" --node-pes 4 --least 2 --most 8 --operations init,barrier >"$dir/out" 2>&1; then
    fail "growth --node-pes 4"
fi
program=growth
refuses "--operations barrier,nonsense: there is no operation 'nonsense'" --operations barrier,nonsense
refuses '--most 16385 is no number from 2 to 16384' --most 16385
refuses '--least 8 is more than --most 4' --least 8 --most 4
refuses '--node-pes 2x is no number from 1' --node-pes 2x
refuses "--times send=1,foo=2: 'foo=2' is none of send=, " --times send=1,foo=2
refuses "--times gap=-1: 'gap=-1' is no number from 0" --times gap=-1
refuses '--csv /nonexistent/file: No such file' --csv /nonexistent/file
refuses 'unknown or incomplete option --csv' --csv
refuses 'unknown argument more' more
verdict
