#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-perf.sh: compares the instructions per operation, as callgrind counts them, with the counts in a file beside
# this script.
#
# Instructions are no times, but to count them needs no quiet machine: they are the same in every run and every build
# folder, so that one more in an inlined put is seen. Broken by a new check on the fast path, by a value that the
# compiler has to read again, and by a call that is no longer inlined.
#
# The file also names what its counts depend on: the compiler, its flags, and the C library. With another compiler or
# other flags the script compares nothing; with another C library it compares only the instructions of librma and of the
# program. GLIBC_TUNABLES holds memcpy to the form that every x86-64 has; valgrind hides the processor's other
# differences.
set -eu

usage() {
    cat <<'END'
usage: check-perf.sh [OPTION]

Counts the instructions of each operation of test/perf/count.c, on a node, of test/perf/count_windows.c, by MPI's
windows on a node, and of test/sim/count.c, between nodes, and compares them with test/perf/counts.ARCH-COMPILER.
To be run in a build folder where these programs have been made: by `make check-perf`.
  --list     print all operations, not only those that have changed
  --update   write that file instead

Valgrind 3.19 cannot read clang's debugging information: with clang, configure with CFLAGS=-O2. Debugging flags are
none of those compared.

An operation that takes more than kept by more than 1 instruction and more than 3 % is a failure; so is one of which
nothing is kept.
Exit code: 0 none, 1 some, 77 there is nothing to compare with, 99 it could not be tried.

Environment: MPIEXEC, top_srcdir, top_builddir; VALGRIND (default valgrind).
END
}

mode=compare
case "${1-}" in
-h | --help) usage; exit 0 ;;
--list) mode=list ;;
--update) mode=update ;;
'') ;;
*) echo "check-perf: unknown argument '$1'" >&2; usage >&2; exit 2 ;;
esac

top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
top_builddir=${top_builddir:-$(pwd)}
mpiexec=${MPIEXEC:-mpiexec.mpich}
valgrind=${VALGRIND:-valgrind}
count=$top_builddir/test/perf/count
count_windows=$top_builddir/test/perf/count_windows
count_between=$top_builddir/test/sim/count
# shellcheck source=/dev/null
. "$top_srcdir/test/launcher.sh"

skip() { echo "check-perf: skipped: $*"; exit 77; }
hard() { echo "check-perf: $*" >&2; exit 99; }

not_with_openmpi check-perf "the counts are kept with MPICH"
command -v "$valgrind" >/dev/null 2>&1 || skip "needs valgrind (Debian package valgrind)"
! grep -q '^SAN_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" ||
    skip "needs a build without --enable-sanitizers, which are counted too"
for program in "$count" "$count_windows" "$count_between"; do
    [ -x "$program" ] || hard "there is no $program: make check-perf"
done

dir=$(mktemp -d "${TMPDIR:-/tmp}/check-perf.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM

# The caller's own settings must not change the counts.
for name in $(env | sed -n 's/^\(\(RMA\|MPIR_CVAR\)_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$name"; done
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX_Fast_Unaligned_Load,-AVX512F,-AVX512VL,-SSSE3,-ERMS,-FSRM

# --- What is compared with what -------------------------------------------------------------------------
"$count" --facts >"$dir/facts" ||
    skip "needs test/perf/count compiled with <valgrind/callgrind.h> (Debian package valgrind)"
fact() { sed -n "s/^$1 //p" "$2"; }
# tidy FLAGS: prints them without those that change no instruction, with one space between.
tidy() {
    for word in $1; do
        case $word in
        -Wl,*) ;;
        -g* | -W* | -I* | -L* | -pipe | -fdiagnostics* | -f*-prefix-map=*) continue ;;
        esac
        printf ' %s' "$word"
    done | sed 's/^ //'
}
compiler=$(fact compiler "$dir/facts")
flags=$(tidy "$(fact flags "$dir/facts")")
{
    echo "compiler $compiler"
    echo "flags $flags"
    grep '^defaults' "$dir/facts"
    grep '^libc' "$dir/facts"
} >"$dir/now"

kept=$top_srcdir/test/perf/counts.$(uname -m)-${compiler%% *}
if [ $mode != update ]; then
    [ -f "$kept" ] || skip "needs counts of ${compiler%% *} on $(uname -m): none are kept (make check-perf-update)"
    for what in flags defaults; do
        [ "$(fact $what "$dir/now")" = "$(fact $what "$kept")" ] ||
            skip "needs the $what '$(fact $what "$kept")' of the counts that are kept; here: '$(fact $what "$dir/now")'"
    done
fi

# --- Counting -------------------------------------------------------------------------------------------
# job NAME PROGRAM LAUNCHED...: runs the program on PE 0 under callgrind, which counts from where the program asks for
# it. Each thread has dumps of its own; the first thread is the one that makes the calls.
job() {
    out=$1 program=$2
    shift 2
    # shellcheck disable=SC2086
    timeout 300 $mpiexec -n 1 "$top_builddir/libtool" --mode=execute "$valgrind" --tool=callgrind \
        --instr-atstart=no --separate-threads=yes --compress-strings=no --compress-pos=no \
        --callgrind-out-file="$dir/$out" "$program" "$@" >"$dir/$out.log" 2>&1 </dev/null || {
        cat "$dir/$out.log"
        hard "the job has failed"
    }
}
job pair "$count" : -n 1 "$count"
job alone "$count"
job windows "$count_windows" : -n 1 "$count_windows"
# Between nodes: one process, with both PEs of a simulated job (test/sim/count.c says more).
for who in origin target; do
    timeout 300 "$valgrind" --tool=callgrind --collect-atstart=no --compress-strings=no --compress-pos=no \
        --callgrind-out-file="$dir/$who" "$count_between" $who >"$dir/$who.log" 2>&1 </dev/null || {
        cat "$dir/$who.log"
        hard "count_between $who has failed"
    }
done

# A dump has a line "desc: Trigger: Client Request: NUMBER N TURN OPERATION", and below a line ob=OBJECT the costs of
# the object's lines. The line after calls= is left out: it has the cost of a call, which the called function's own
# lines have, too. Turn 0 warms up; turn 1 has N operations and turn 2 has 2 N, so that their difference is N operations
# and nothing else. `ours` counts instructions of the library and, inlined, of the program, with the jumps to other
# libraries.
# counted FILE...: prints the operations that the dumps have.
counted() {
    cat "$@" | awk '
    /^part: / { object = ""; called = i = 0 }
    /^desc: Trigger: Client Request: / {
        i = $5; n = $6; turn = $7
        sub(/^desc: Trigger: Client Request: [0-9]+ [0-9]+ [0-9]+ /, "")
        names[i] = $0
        if (i > last) last = i
        next
    }
    /^ob=/ { object = substr($0, 4); next }
    /^calls=/ { called = 1; next }
    /^totals: / { total[i, turn] = $2; next }
    /^[0-9+*-]/ {
        if (called) { called = 0; next }
        if (object ~ /\/librma(_mpi)?\.so[.0-9]*$/ || object ~ /\/(lt-)?count(_windows)?$/) ours[i, turn] += $2
        else other[i, turn] += $2
    }
    function per(sum) { return (sum[i, 2] - sum[i, 1]) / n }
    function show(x) { return sprintf(x == int(x) ? "%d" : "%.2f", x) }
    END {
        for (i = 0; i <= last; i++) {
            if (!(i in names) || !total[i, 1] || !total[i, 2]) { print "operation " i " has no count"; exit 1 }
            for (turn = 1; turn <= 2; turn++)
                if (ours[i, turn] + other[i, turn] != total[i, turn]) {
                    print names[i] ": the dump does not add up"
                    exit 1
                }
            if (names[i] == "loop") loop = per(ours)
            printf "%7s %7s  %s\n", show(per(ours) - (names[i] == "loop" ? 0 : loop)), show(per(other)), names[i]
        }
        if (last < 1) { print "nothing was counted"; exit 1 }
    }'
}
{ counted "$dir"/pair.*-01 "$dir"/alone.*-01 && counted "$dir"/windows.*-01 >"$dir/of_windows"; } >"$dir/counts" ||
    { tail -n 1 "$dir/counts"; hard "the counts cannot be read"; }
grep -v ' loop$' "$dir/of_windows" >>"$dir/counts"

# The simulator and the library are one object here, so that their source files tell them apart. When the simulator
# changes from one PE to the other it calls rma_last_code, which no operation does.
for who in origin target; do
    cat "$dir/$who".[0-9]* | awk '
        /^part: / { file = ""; called = 0; i = -1 }
        /^desc: Trigger: Client Request: / {
            i = $5; n = $6; turn = $7
            sub(/^desc: Trigger: Client Request: [0-9]+ [0-9]+ [0-9]+ /, "")
            names[i] = $0
            if (i > last) last = i
            next
        }
        /^f[lie]=/ { file = substr($0, 4); next }
        /^fn=/ { simulators = $0 ~ /^fn=rma_last_code$/; next }
        /^calls=/ { called = 1; next }
        /^[0-9+*-]/ {
            if (called) { called = 0; next }
            if (simulators) next
            if (i >= 0 && file ~ /(^|\/)(base|collectives|heap|include|runtime)\/[^ ]*[.][ch]$/ && file !~ /^\/usr/)
                ours[i, turn] += $2
        }
        function show(x) { return sprintf(x == int(x) ? "%d" : "%.2f", x) }
        END {
            if (last < 1) { print "nothing was counted between nodes"; exit 1 }
            for (i = 1; i <= last; i++) printf "%7s %7s  %s\n", show((ours[i, 2] - ours[i, 1]) / n), 0, names[i]
        }' >>"$dir/counts" || { tail -n 1 "$dir/counts"; hard "the counts cannot be read"; }
done

if [ $mode = update ]; then
    {
        echo "# Instructions per operation, written by make check-perf-update." \
            "test/perf/check-perf.sh --help says more."
        cat "$dir/now"
        echo "#  ours   other  operation (ours: with what is inlined; other: the C library; the loop's are taken off)"
        cat "$dir/counts"
    } >"$kept"
    echo "check-perf: ${kept#"$top_srcdir"/} has $(wc -l <"$dir/counts") operations"
    exit 0
fi

# --- Comparing ------------------------------------------------------------------------------------------
whole=1
[ "$(fact libc "$dir/now")" = "$(fact libc "$kept")" ] || whole=0
status=0
awk -v whole=$whole -v mode=$mode '
    FNR == NR {
        if ($0 ~ /^ *[0-9]/) { name = $0; sub(/^ *[^ ]+ +[^ ]+ +/, "", name); kept[name] = whole ? $1 + $2 : $1 }
        next
    }
    function line(name, was, is, text,    change) {
        if (!head++) printf "%8s %8s %8s  %s\n", "kept", "now", "change", "operation"
        change = was == "-" || is == "-" ? "-" : sprintf("%+g", is - was)
        printf "%8s %8s %8s  %s%s\n", was, is, change, name, text == "" ? "" : ": " text
    }
    {
        name = $0
        sub(/^ *[^ ]+ +[^ ]+ +/, "", name)
        is = whole ? $1 + $2 : $1
        n++
        if (!(name in kept)) { line(name, "-", is, "NOT KEPT"); bad++; next }
        was = kept[name]
        delete kept[name]
        if (is - was > 1 && is - was > 0.03 * was) { line(name, was, is, "MORE"); bad++ }
        else if (is < was) { line(name, was, is, "fewer"); fewer++ }
        else if (is > was) line(name, was, is, "more, within the limit")
        else if (mode == "list") line(name, was, is, "")
    }
    END {
        for (name in kept) { line(name, kept[name], "-", "NO LONGER COUNTED"); bad++ }
        if (!whole) print "without the C library, which is another one than that of the counts that are kept"
        if (fewer) print fewer " take fewer instructions: keep that by make check-perf-update"
        if (bad) print bad " of " n " operations failed; if that is meant: make check-perf-update"
        else print n " operations take no more instructions than they may"
        exit bad > 0
    }' "$kept" "$dir/counts" || status=1
if [ $status -ne 0 ]; then
    for what in compiler libc; do
        [ "$(fact $what "$dir/now")" = "$(fact $what "$kept")" ] ||
            echo "$what: $(fact $what "$dir/now"), kept with $(fact $what "$kept")"
    done
fi
exit $status
