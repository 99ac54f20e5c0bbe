#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-differ.sh: collective calls of a node end the job, with both values, if one PE gives no elements and the others
# give some, or the other way round; for each call, for the root and for another PE, and for calls that take the
# algorithm of short data and that of long data. Likewise for a gather whose PEs take different algorithms.
#
# test/job/collective_differ makes the calls. Broken by a call of 0 bytes that returns at once, and by a PE that nobody
# hears: then the job ends well, or hangs. Calls that are alike, also of 0 elements, come before.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
differ=$top_builddir/test/job/collective_differ

need "$differ"
values="length in bytes|number of elements"

# job CALL PE MINE OTHERS: one PE gives MINE elements, the others OTHERS. unlike: it ends with $low and $high.
job() {
    # mpiexec may be a command with arguments.
    # shellcheck disable=SC2086
    run env RMA_TEST_DIFFER="$*" $mpiexec -n 3 "$differ"
}
unlike() {
    job "$@"
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        fail "$*: exit $status"
    elif ! grep -qE "the ($values) is ($low) on PE [0-2], but ($high) on PE [0-2]" "$dir/err"; then
        fail "$*: the text does not have both values"
    else
        ok "$*"
    fi
}

for call in $(by_depth 'broadcast fcollect alltoall gather reduce' \
    'broadcast fcollect alltoall alltoalls gather scatter reduce reduce_root inscan exscan' \
    'broadcast fcollect alltoall alltoalls gather scatter reduce reduce_root inscan exscan'); do
    job "$call" 0 0 0
    exits 0 "$call 0 0 0: all PEs give nothing"
    low=0
    for n in 1 65536; do
        # Long reductions synchronize the PEs by a counter if they share processors: nothing is compared then, and the
        # job is ended as a deadlock.
        [ "$call $n" != "reduce_root 65536" ] || continue
        high="$n|$((n * 8))"
        for pe in $(by_depth '1 2' '1 2' '0 1 2'); do
            unlike "$call" "$pe" 0 $n
            unlike "$call" "$pe" $n 0
        done
    done
done
low='1|8' high='65536|524288'
unlike gather 1 65536 1
unlike gather 2 1 65536

verdict
