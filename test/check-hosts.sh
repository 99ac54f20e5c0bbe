#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-hosts.sh: on two hosts with TCP between them the programs do what they do on one; and a job that loses a host ends.
#
# test/hosts does both, on hosts that tools/hosts makes; here is only the choice of what takes a minute at most. Broken by
# a library that takes PEs of another host for neighbours, by messages that depend on a shared memory, and by a PE that
# waits for ever for one that cannot be reached any more. HOSTS_PROGRAMS and CUT_PROGRAM choose others.
set -eu

top_builddir=${top_builddir:-$(pwd)}
export top_builddir
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=depth.sh
. "$here/depth.sh"
cut_program=${CUT_PROGRAM:-$top_builddir/test/job/stall}
# Without `long`: atomics, the collectives, messages of all sizes, and memory that grows.
if deep; then
    programs=${HOSTS_PROGRAMS:-atomics barrier collective collective_order far_progress far_sizes gptr linked_list symmetric}
else
    programs=${HOSTS_PROGRAMS:-atomics collective far_sizes symmetric}
fi

# A job that hangs is to fail here, not to use up everybody's time.
status=0
# shellcheck disable=SC2086
sh "$here/hosts" --hosts 2 --times 1 --deadline 20 $programs || status=$?
case $status in
0 | 1) ;;
*) exit $status ;; # 77 with its reason as the last line, or 99
esac

# Sooner than by default, so that nobody waits here for minutes.
if deep; then stall=2 timeout=8; else stall=1 timeout=8; fi
RMA_STALL=${RMA_STALL:-$stall} RMA_TIMEOUT=${RMA_TIMEOUT:-$timeout}
export RMA_STALL RMA_TIMEOUT
if [ -x "$cut_program" ]; then
    sh "$here/hosts" --cut "$cut_program" || { code=$?; [ $code -eq 77 ] || status=$code; }
else
    echo "check-hosts: a link that is cut: SKIPPED: there is no $cut_program"
fi
exit $status
