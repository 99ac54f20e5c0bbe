#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-amo.sh: with RMA_AMO=mpi all atomics on the heaps go through MPI, those between PEs of a node too.
#
# Broken by two PEs that update a word in different ways: then the sums that the job tests compute are wrong.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Each round makes each call, and MPI is slow.
rounds=$(by_depth quick quick long)
jobs() { # jobs PROGRAM PES LAYOUTS
    RMA_AMO=mpi RMA_TEST_DEPTH=$rounds RMA_TEST_PES=$2 RMA_TEST_NODES=$3 \
        "$top_srcdir/test/run-job" "$top_builddir/$1" || fail "$1 with RMA_AMO=mpi"
}

if deep; then
    jobs test/job/atomics "1 2" "one"
    jobs test/job/atomics "2 4" "nolocal blocks2"
    jobs test/job/atomic_ops "2" "one nolocal"
    jobs test/job/atomic_totals "2" "one nolocal"
    jobs test/job/atomic_totals "4" "blocks2"
    jobs test/job/ordering "2 4" "nolocal"
    jobs test/job/lock "2 4" "one nolocal"
    jobs test/job/signal "2" "nolocal"
    jobs test/job/threads "2" "nolocal"
    jobs test/job/context "2" "one nolocal"
    jobs test/job/context_threads "2 4" "one nolocal blocks2"
    jobs examples/hash_table "4" "nolocal"
else # on one node, on several, and on nodes of two PEs
    jobs test/job/atomics "2" "one nolocal"
    jobs test/job/atomic_ops "2" "nolocal"
    jobs test/job/atomic_totals "2" "one"
    jobs test/job/atomic_totals "4" "blocks2"
    jobs test/job/ordering "2" "nolocal"
    jobs test/job/lock "2" "one nolocal"
    jobs test/job/signal "2" "nolocal"
    jobs test/job/threads "2" "nolocal"
    jobs test/job/context "2" "nolocal"
    jobs test/job/context_threads "2" "nolocal"
    jobs examples/hash_table "2" "nolocal"
fi

# says TEXT STATUS: the last job has written TEXT, and has ended with 0, or, where STATUS is 1, with another code.
says() {
    if [ "$status" -eq 0 ]; then ended=0; else ended=1; fi
    [ $ended -eq "$2" ] || fail "a job ended with $status"
    cat "$dir/out" "$dir/err" | grep -q -- "$1" || fail "nothing says '$1'"
}

hello() { # hello SETTING...
    # shellcheck disable=SC2086
    run env "$@" $mpiexec -n 2 "$top_builddir/examples/hello"
}

hello RMA_AMO=mpi RMA_INFO=yes
says "atomics on the heaps: by MPI" 0
hello RMA_AMO=cpu RMA_INFO=yes
says "atomics on the heaps: by the processors" 0
hello RMA_AMO=mpi RMA_WINDOW=none
says "RMA_AMO=mpi needs MPI's dynamic window, which RMA_WINDOW=none forbids" 1
hello RMA_AMO=network
says "RMA_AMO=network: not one of auto|cpu|mpi" 1

verdict
