#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-bench.sh: each benchmark runs, on one node and with a node for each PE, and what it moves is right.
#
# Broken by a benchmark that hangs where its target is on another node, by data that its own validation finds wrong, by rows
# that are not printed, and by options that are not read. A few iterations each: no figure is looked at.
set -eu

top_builddir=${top_builddir:-$(pwd)}
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
mpiexec=${MPIEXEC:-mpiexec.mpich}
top_builddir=$(cd "$top_builddir" && pwd)

dir=$(mktemp -d "${TMPDIR:-/tmp}/check-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
failures=0
ok() { echo "ok   $*"; }
fail() { # fail TEXT, with what the job said
    echo "FAIL $*"
    sed 's/^/    /' "$dir/out" "$dir/err"
    failures=$((failures + 1))
}

# job SWITCH N PROGRAM [ARGUMENT...]: SWITCH is a setting of the environment. mpiexec may be a command with arguments.
job() {
    switch=$1 n=$2 program=$3
    shift 3
    status=0
    # shellcheck disable=SC2086
    env "$switch" timeout -k 5 120 $mpiexec -n "$n" "$top_builddir/bench/$program" "$@" >"$dir/out" 2>"$dir/err" </dev/null ||
        status=$?
}

# passes ROWS PROGRAM [ARGUMENT...]: so many rows on either kind of nodes, each with Pass in its last column.
passes() {
    rows=$1 program=$2
    shift 2
    for switch in MPIR_CVAR_NOLOCAL=0 MPIR_CVAR_NOLOCAL=1; do
        job $switch "${pes:-2}" "$program" -c --csv "$@"
        if [ $status -eq 0 ] && [ "$(grep -c ',Pass$' "$dir/out")" -eq "$rows" ] &&
            [ "$(wc -l <"$dir/out")" -eq $((rows + 1)) ]; then
            ok "$program $*, ${pes:-2} PEs, $switch"
        else
            fail "$program $*, ${pes:-2} PEs, $switch: exit $status"
        fi
    done
}

few="-i 3 -x 0 -r 1"
# few is a list of words.
# shellcheck disable=SC2086
{
    passes 3 rma_put_latency $few -m 8:32
    passes 3 rma_get_latency $few -m 8:32 --call
    passes 2 rma_put_bw $few -m 4k:8k -w 4
    passes 2 rma_put_bw $few -m 4k:8k -w 4 --nbi
    passes 1 rma_barrier_latency $few
    passes 7 rma_atomic_latency $few
    passes 1 rma_atomic_latency $few --operation=swap
    passes 2 rma_signal_latency $few -m 8k:16k
    passes 2 rma_thread_rate $few
    passes 3 rma_thread_rate $few -t 4 -o fetch_add
    passes 1 rma_thread_rate $few -t 1 -o get
    passes 5 rma_lock_latency $few
    passes 1 rma_lock_latency $few --operation=handover
    passes 11 rma_wait_latency $few
    passes 1 rma_wait_latency $few --operation=any8
    passes 6 rma_busy_target -r 1 --compute=20
    passes 2 rma_init_time
    passes 1 rma_alloc $few -p fixed
    for operation in barrier sync; do passes 1 rma_collective_latency $few -o $operation; done
    for operation in broadcast fcollect collect alltoall sum max inscan exscan; do
        passes 2 rma_collective_latency $few -m 8:16 -o $operation
    done
    passes 1 rma_collective_latency $few -m 64k:64k -o sum --fresh
    pes=3
    for operation in broadcast collect alltoall sum exscan; do passes 2 rma_collective_latency $few -m 4k:8k -o $operation; done
    passes 1 rma_barrier_latency $few
    passes 5 rma_lock_latency $few
    passes 6 rma_busy_target -r 1 --compute=20
    passes 2 rma_init_time
    pes=1
    passes 3 rma_collective_latency $few -m 8:32 -o collect
    passes 5 rma_lock_latency $few
}

# tunes PROGRAM-ARGUMENTS: the last line is a setting that a job takes, whatever the sizes in it.
size='([0-9]+[kM]?|never)'
setting="RMA_COLLECTIVES=broadcast:direct=$size,fcollect:direct=$size,collect:direct=$size,alltoall:direct=$size"
setting="$setting,reduce:share=$size,scan:share=$size"
for arguments in "-r 1 -m 64:128" "-r 2 -m 8k:8k --verbose"; do
    # shellcheck disable=SC2086
    job MPIR_CVAR_NOLOCAL=0 2 rma_collective_tune $arguments
    chosen=$(tail -n 1 "$dir/out")
    if [ $status -eq 0 ] && echo "$chosen" | grep -Eqx "$setting"; then
        ok "rma_collective_tune $arguments"
    else
        fail "rma_collective_tune $arguments: exit $status"
        continue
    fi
    job "$chosen" 2 rma_collective_latency -i 3 -x 0 -r 1 -m 8:8 -o sum -c --csv
    if [ $status -eq 0 ]; then ok "a job takes $chosen"; else fail "$chosen: exit $status"; fi
done
job MPIR_CVAR_NOLOCAL=0 1 rma_collective_tune
if [ $status -eq 2 ]; then ok "rma_collective_tune refuses to be alone"; else fail "rma_collective_tune, 1 PE: exit $status"; fi
job MPIR_CVAR_NOLOCAL=0 2 rma_collective_tune --rounds=0
if [ $status -eq 2 ]; then ok "rma_collective_tune refuses --rounds=0"; else fail "rma_collective_tune --rounds=0: exit $status"; fi
job MPIR_CVAR_NOLOCAL=1 2 rma_collective_tune
if [ $status -eq 2 ]; then ok "rma_collective_tune refuses a node for each PE"; else fail "rma_collective_tune, 2 nodes: exit $status"; fi

for source in "$top_srcdir"/bench/rma_*.c; do
    program=$(basename "$source" .c)
    job MPIR_CVAR_NOLOCAL=0 2 "$program" --help
    if [ $status -eq 0 ] && [ "$(grep -c '^Usage: ' "$dir/out")" -eq 1 ]; then
        ok "$program --help"
    else
        fail "$program --help: exit $status"
    fi
    job MPIR_CVAR_NOLOCAL=0 2 "$program" --no-such-option
    if [ $status -eq 2 ] && [ "$(grep -c "unknown option '--no-such-option'" "$dir/err")" -eq 1 ]; then
        ok "$program refuses an unknown option"
    else
        fail "$program --no-such-option: exit $status"
    fi
done

# The script that draws: from rows that are given, one of which is a job that failed.
cat >"$dir/rows.csv" <<'END'
Nodes,PEs,MPI_Init (ms),rma_init (ms),rma_init (KiB),all PEs (KiB)
one,2,50.00,1.50,1500.00,1600.00
one,4,90.00,2.50,1700.00,1900.00
nolocal,2,60.00,,,
END
status=0
sh "$top_srcdir/tools/scaling" --from="$dir/rows.csv" --plot="$dir/plot.svg" >"$dir/out" 2>"$dir/err" || status=$?
if [ $status -eq 1 ] && [ "$(grep -c '<polyline' "$dir/plot.svg")" -eq 8 ] && tail -n 1 "$dir/plot.svg" | grep -qx '</svg>'; then
    ok "tools/scaling draws, and says by its exit that a row is missing"
else
    fail "tools/scaling: exit $status"
fi
status=0
top_builddir=$top_builddir MPIEXEC=$mpiexec sh "$top_srcdir/tools/scaling" --pes=2 --layouts=nolocal --csv >"$dir/out" \
    2>"$dir/err" || status=$?
if [ $status -eq 0 ] && grep -qE '^nolocal,2(,[0-9.]+){4}$' "$dir/out"; then
    ok "tools/scaling runs a job"
else
    fail "tools/scaling --pes=2: exit $status"
fi

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
