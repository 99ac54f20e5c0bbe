#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-exit.sh: a process that ends without rma_finalize names its PE and ends the job with an exit code that is not 0.
# librma does not interfere with a process that only seems to end like that. A job that ends by an error has the exit
# code RMA_EXIT_BASE + the error's code, and no PE dies by a signal.
#
# Broken by a job that ends in silence, with 0, or not at all; by ending a program that would have called rma_finalize
# later, in a function of atexit or in another thread; by a child of fork that ends its parent's job; by lost output; by
# two lines for one end.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
leaving=$top_builddir/test/job/leaving
osh_leaving=$top_builddir/test/shmem/osh_leaving

need "$leaving" "$osh_leaving"

# job N NODES PROGRAM ARGUMENT...: runs N PEs; NODES is `one`, or `own` for a node for each PE.
job() {
    n=$1 nodes=$2
    shift 2
    what="$(basename "$1") $2 ${3-}, $n PEs, $nodes"
    [ "$nodes" = one ] || set -- env RMA_NODE_PES=1 "$@"
    # mpiexec may be a command with arguments.
    # shellcheck disable=SC2086
    run $mpiexec -n "$n" "$@"
}

lines() { grep -c '^librma: .*without' "$dir/err" || true; }

# said CODE LINES WORDS N NODES PROGRAM ARGUMENT...: the job ends with CODE (-: with any but 0), and at least LINES
# lines have these words.
said() {
    code=$1 wanted=$2 words=$3
    shift 3
    job "$@"
    # Hydra, under load, now and then takes the end of a job for a signal of its own, and loses the exit code.
    for _ in 1 2; do
        grep -q 'EXIT STRING: Hangup (signal 1)' "$dir/out" "$dir/err" || break
        job "$@"
    done
    if [ "$code" != - ] && [ "$status" -ne "$code" ] && [ "$mpi" = mpich ]; then
        fail "$what: exit $status, not $code"
    elif [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
        fail "$what: exit $status"
    elif [ "$(grep -cE "^librma: PE [0-9]+ of $n on [^:]+: $words" "$dir/err")" -lt "$wanted" ] ||
        [ "$(lines)" -gt "$n" ]; then
        fail "$what: not $wanted lines '$words'"
    elif grep -qE 'not so|has returned|deadline' "$dir/err"; then
        fail "$what: ended by something else"
    elif [ "$wanted" -eq 1 ] && [ "$(basename "$3")" = leaving ] && ! grep -q 'kept till the end' "$dir/out"; then
        fail "$what: output is lost"
    else
        ok "$what: exit $status"
    fi
}

# quiet CODE N NODES PROGRAM ARGUMENT...: the job ends with CODE, and no PE writes a line about it.
quiet() {
    code=$1
    shift
    job "$@"
    if [ "$status" -ne "$code" ] && { [ "$code" -eq 0 ] || [ "$mpi" = mpich ]; }; then
        fail "$what: exit $status, not $code"
    elif [ "$(lines)" -ne 0 ] || grep -q 'not so' "$dir/err"; then
        fail "$what: a line too much"
    else
        ok "$what: exit $status"
    fi
}

# noted WORDS N NODES PROGRAM ARGUMENT...: the job ends with 0, and PE 0 alone has written one line, with these words.
noted() {
    words=$1
    shift
    job "$@"
    if [ $status -ne 0 ] || grep -q 'not so' "$dir/err"; then
        fail "$what: not 0"
    elif [ "$(grep -c '^librma: ' "$dir/err")" -ne 1 ] || ! grep -qE "^librma: PE 0 of $n on [^:]+: .*$words" "$dir/err"
    then
        fail "$what: not one line '$words'"
    else
        echo "ok   $what: exit $status"
    fi
}

for where in '1 one' '2 one' '4 own'; do
    # shellcheck disable=SC2086
    {
        said 3 1 'exit\(3\)' $where "$leaving" exit 3
        said 86 1 'the last thread of the program has ended' $where "$leaving" thread
    }
done
said 86 1 'exit\(0\)' 2 own "$leaving" exit 0
said 86 1 'exit\(0\)' 2 one "$leaving" return
for way in late atexit fork mpi; do
    quiet 0 2 own "$leaving" $way
done
quiet 0 2 one "$leaving" late
quiet 0 1 one "$leaving" atexit
quiet 5 2 one "$leaving" abort

# OpenSHMEM: if all PEs exit with 0, the library finalizes for them, and PE 0 prints a note.
for where in '1 one' '2 one' '4 own'; do
    # shellcheck disable=SC2086
    {
        noted 'without shmem_finalize; the library calls it now' $where "$osh_leaving" return 0
        noted 'with 1 call of shmem_finalize for 2 of shmem_init; the' $where "$osh_leaving" twice
    }
done
quiet 0 2 own "$osh_leaving" mixed
quiet 0 2 one "$osh_leaving" atexit
quiet 0 2 one "$osh_leaving" thread
said 3 1 'exit\(3\).* without shmem_finalize' 2 one "$osh_leaving" return 3
said 3 1 'exit\(3\).* without shmem_finalize' 2 own "$osh_leaving" codes 3
said 3 1 'exit\(3\).* start_pes' 2 own "$osh_leaving" start 3
# A PE that exits too early ends the job.
said 86 1 'shmem_finalize: PE [0-9] is in shmem_barrier_all; each' 2 one "$osh_leaving" barrier
said - 1 'shmem_.*: PE [0-9] has sent .* are in different calls' 2 own "$osh_leaving" barrier
said 86 1 'exit\(0\).* without shmem_finalize' 2 one "$osh_leaving" signal
RMA_STALL=1 RMA_TIMEOUT=$(seconds 2)
export RMA_STALL RMA_TIMEOUT
for nodes in one own; do
    said 86 1 'shmem_int_wait_until: deadlock: each of the 2 PEs waits' 2 $nodes "$osh_leaving" wait
done

verdict
