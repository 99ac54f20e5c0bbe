# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# deadline.sh: for scripts that wait to source: for how many seconds.
#
# A deadline ends what hangs, and must not end what is only slow. So each number of seconds in test/ is one of an idle
# machine with two processors, and is multiplied by how busy the machine is: by the larger of RMA_TEST_SLOW, which
# tools/check finds out before the tests, and the number of processes that want each processor now.

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

# seconds N: prints N times that.
seconds() { echo $(($1 * $(slow))); }
