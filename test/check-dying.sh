#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-dying.sh: a PE that is killed leaves nothing behind, and no other PE waits for it for ever.
#
# First the usual case: the launcher ends the job, and no process and no file in /dev/shm stays. Then the other PEs
# survive, since a shell around each PE hides its death from the launcher. All survivors must continue, or all must get
# an error. With RMA_HEAP_CHECK=full an allocating PE spends most of its time filling the block, under the heap's lock,
# and so dies there.
# Broken by memory that only a clean end removes, by a lock that nobody takes over from a dead PE, and by the owner of a
# heap that waits for that lock.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
not_with_openmpi check-dying "assumes what MPICH's launcher does when a PE dies"
dying=$top_builddir/test/job/dying
rounds=${RMA_TEST_DEATHS:-$(by_depth 1 2 6)}

need "$dying"

# job SETTING... COMMAND...: runs it, and sets $status; no process and no file of it may stay.
job() {
    id=$$.$((${id##*.} + 1))
    job_mark=CHECK_DYING_ID=$id
    shm_files >"$dir/shm.before"
    rm -f "$dir"/pe.*
    run env -u RMA_HEAP_CHECK CHECK_DYING_ID="$id" "$@"
    left=$(settle left_processes)
    [ -z "$left" ] || {
        fail "$what: processes stay: $left"
        for file in $left; do kill -KILL "$(echo "$file" | tr -dc 0-9)" 2>/dev/null || true; done
    }
    left=$(settle left_shm)
    [ -z "$left" ] || fail "$what: files stay: $left"
}
id=$$.0

# mpiexec may be a command with arguments.
# shellcheck disable=SC2086
for n in 2 5; do
    seed=0
    before=$failures
    while [ $((seed += 1)) -le "$rounds" ]; do
        what="$n PEs, seed $seed"
        job RMA_TEST_SEED=$seed $mpiexec -n $n "$dying"
        if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
            fail "$what: not ended in time"
        elif [ "$status" -eq 0 ] && ! code_is_lost; then
            fail "$what: exit 0"
        elif ! grep -q 'is to die' "$dir/err" || grep -q 'not so' "$dir/err"; then
            fail "$what: ended by something else"
        fi
    done
    [ $failures -ne "$before" ] || echo "ok   $rounds jobs of $n PEs end with the one that is killed"
done

# The launcher must not end the job when a PE dies; MPICH's has an option for that.
keep=
$mpiexec --help 2>&1 | grep -q -- '-disable-auto-cleanup' && keep=-disable-auto-cleanup
for check in none full; do
    seed=0 refused=0
    before=$failures
    # If necessary more than $rounds jobs, until a PE has died under the lock.
    while [ $((seed += 1)) -le "$rounds" ] || { [ $refused -eq 0 ] && [ $seed -le 30 ]; }; do
        what="survivors, RMA_HEAP_CHECK=$check, seed $seed"
        # shellcheck disable=SC2086,SC2016
        job RMA_TEST_SEED=$seed RMA_TEST_DYING=survive RMA_HEAP_CHECK=$check OUT="$dir/pe" \
            $mpiexec $keep -n 5 \
            sh -c 'trap "" USR1; "$0" >"$OUT.$PMI_RANK" 2>&1; echo "status $?" >>"$OUT.$PMI_RANK"' "$dying"
        cat "$dir"/pe.* >"$dir/log" 2>/dev/null || true
        n=$(grep -c '^PE [01] survived: ' "$dir/log" || true)
        kinds=$(sed -n 's/^PE [01] survived: //p' "$dir/log" | sort -u | wc -l)
        if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
            fail "$what: not ended in time"
        elif [ "$n" -ne 2 ] || [ "$(grep -c '^status 137$' "$dir/log")" -ne 3 ]; then
            fail "$what: 2 were to survive and 3 to be killed"
        elif [ "$kinds" -ne 1 ]; then
            fail "$what: not the same for both"
        fi
        ! grep -q 'survived: refused' "$dir/log" || refused=$((refused + 1))
    done
    what="RMA_HEAP_CHECK=$check"
    jobs=$((seed - 1))
    [ $failures -ne "$before" ] ||
        echo "ok   $what: the survivors of $jobs jobs do not hang; in $refused somebody died under the lock"
    # Without red zones a PE holds the lock only briefly.
    [ $refused -gt 0 ] || [ $check = none ] || fail "$what: in none of $jobs jobs somebody died under the lock"
done

verdict
