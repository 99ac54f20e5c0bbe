#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-heap-check.sh: RMA_HEAP_CHECK reports at the end each block that was not freed, with its heap and PE, and
# nothing else; and it reports each write to a freed block once, at the next allocation or at the end. Without it, only
# writes to canaries in the symmetric heap are reported (heap/canary.h).
#
# test/job/heap_check leaves blocks behind, or writes to freed ones, as RMA_TEST_LEAK says. Broken by a leak that no PE
# reports or that all report, by the library's own memory in the report, by a block that counts as leaked although
# another PE has freed it, and by an unrequested report. For writes: broken by a call that frees a block without filling
# it with the pattern, and by one that allocates a block without comparing the pattern.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
heap_check=$top_builddir/test/job/heap_check

need "$heap_check"

# job CHECK LEAK N: runs N PEs; the lines that the library writes to stderr go to $dir/notes.
job() {
    what="RMA_HEAP_CHECK=$1, $2, $3 PEs"
    before=$failures
    # mpiexec may be a command with arguments.
    # shellcheck disable=SC2086
    run env RMA_HEAP_CHECK="$1" RMA_TEST_LEAK="$2" $mpiexec -n "$3" "$heap_check"
    grep '^librma: ' "$dir/err" >"$dir/notes" || true
    [ "$status" -eq 0 ] || fail "$what: exit $status"
}

# lines N REGEX: N lines of the report match. all N: the report has N lines in total.
lines() {
    n=$(grep -cE "^librma: $2\$" "$dir/notes" || true)
    [ "$n" -eq "$1" ] || fail "$what: $n lines, not $1, are: $2"
}
all() {
    n=$(wc -l <"$dir/notes")
    [ "$n" -eq "$1" ] || fail "$what: $n lines in all, not $1"
    [ $failures -gt "$before" ] || ok "$what"
}

at='at 0x[0-9a-f]+'
left='(was|were) not freed'
for pes in $(by_depth 2 2 '1 2 4'); do
    last=$((pes - 1))
    for check in $(by_depth full 'none leaks full' 'none leaks full'); do
        job "$check" nothing "$pes"
        all 0
    done
    for leak in $(by_depth local 'symmetric local guest many attached' 'symmetric local guest many attached'); do
        job none "$leak" "$pes"
        all 0
    done

    for check in $(by_depth full 'leaks full' 'leaks full'); do
        job "$check" symmetric "$pes"
        lines 1 "PE 0: 1234 bytes $at in the symmetric heap $left"
        lines 1 "PE 0: 2000 bytes $at in the symmetric heap $left"
        lines 1 "PE 0: 2 blocks, 3234 bytes, of the symmetric heap $left"
        all 3

        job "$check" local "$pes"
        for bytes in 111 222 333; do lines 1 "PE $last: $bytes bytes $at in the local heap $left"; done
        lines 1 "PE $last: 3 blocks, 666 bytes, of the local heap $left"
        all 4

        job "$check" guest "$pes"
        lines 1 "PE $last: 777 bytes $at in the guests' part of the local heap $left"
        lines 1 "PE $last: 1 blocks?, 777 bytes, of the guests' part of the local heap $left"
        all 2

        # The report names the first ten, and the sum.
        job "$check" many "$pes"
        lines 10 "PE 0: 100 bytes $at in the local heap $left"
        lines 1 "PE 0: 25 blocks, 2500 bytes, of the local heap $left in all"
        all 11

        job "$check" attached "$pes"
        lines 1 "PE $last: 1 attached regions? (was|were) not detached"
        all 1
    done

    job full overrun "$pes"
    lines 1 "PE $last: 99 bytes $at in the local heap $left"
    lines 1 "PE $last: the block of 99 bytes $at in the local heap was overrun: byte 5 past its end is 0x11"
    lines 1 "PE $last: 1 blocks?, 99 bytes, of the local heap $left"
    all 3

    # Without the setting, too: the bytes between a block's end and the next multiple of 64.
    found='the block of 100 bytes at 0x[0-9a-f]* in the symmetric heap was overrun: byte 5 past its end is 0x11'
    for where in free:rma_free realloc:rma_realloc end:rma_finalize; do
        job none slack-${where%:*} $pes
        lines 1 "PE $last of $pes on [^:]*: ${where#*:}: $found [(]RMA_HEAP_CHECK=full finds.*"
        all 1
    done
    job none slack-nowhere $pes
    all 0

    # Likewise writes to freed blocks of the symmetric heap, and behind a block of whole lines that free memory follows.
    who="PE $last of $pes on [^:]*"
    for where in free:rma_free malloc:rma_malloc middle:rma_malloc replaced:rma_free end:rma_finalize; do
        job none canary-${where%:*} $pes
        found='a PE has written to a block of the symmetric heap after it was freed: byte 7 of the 300 bytes at'
        lines 1 "$who: ${where#*:}: $found 0x[0-9a-f]* is 0x11 [(]RMA_HEAP_CHECK=full finds.*"
        all 1
    done
    for where in past:rma_finalize past-malloc:rma_malloc past-realloc:rma_realloc; do
        job none canary-${where%:*} $pes
        found='the block of 8000 bytes at 0x[0-9a-f]* in the symmetric heap was overrun: byte 0 past its end is 0x11'
        lines 1 "$who: ${where#*:}: $found [(]RMA_HEAP_CHECK=full finds.*"
        all 1
    done
    job none use $pes
    all 0

    for heap in symmetric resized grown local returned guest; do
        case $heap in
        local | returned) name='local heap' byte=7 call=rma_alloc_mem ;;
        guest) name="guests' part of the local heap" byte=7 call=rma_alloc_mem_on ;;
        symmetric) name='symmetric heap' byte=7 call=rma_malloc ;;
        resized) name='symmetric heap' byte=500 call=rma_realloc ;;
        grown) name='symmetric heap' byte=304096 call=rma_realloc ;;
        esac
        job full freed-$heap $pes
        found="byte $byte of the free block of [0-9]+ bytes $at is 0x11"
        lines 1 "PE $last: the program has written to free memory of the $name: $found"
        all 1
        job full again-$heap $pes
        found="byte $byte of the block of [0-9]+ bytes $at that this call allocates was 0x11"
        lines 1 "PE $last of $pes on [^:]*: $call: the program has written to free memory of the $name: $found"
        all 1
    done
    job leaks freed-guest $pes
    all 0
done

verdict
