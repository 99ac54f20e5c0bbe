# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# deadline.sh: sourced by scripts that wait; it gives the number of seconds.
#
# A deadline ends a job that hangs, but must not end a job that is only slow. So each number of seconds in test/ is for
# an idle machine with two processors, and is multiplied by the load: the larger of RMA_TEST_SLOW, which tools/check
# measures before the tests, and the current number of runnable processes for each processor.

# slow: prints the factor, 1 or more.
slow() {
    factor=${RMA_TEST_SLOW:-1}
    if read -r load _ _ running _ 2>/dev/null </proc/loadavg; then
        load=${load%.*} running=${running%/*}
        [ "$load" -ge "$running" ] || load=$running
        load=$((load / $(nproc)))
        [ "$factor" -ge "$load" ] || factor=$load
    fi
    echo "$factor"
}

# seconds N: prints N times the factor.
seconds() { echo $(($1 * $(slow))); }
