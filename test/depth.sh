# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# depth.sh: sourced by scripts; it says how much of their matrix they try. RMA_TEST_DEPTH is
#
#   quick    checks that depend on the compiler: for builds after the first one
#   normal   each kind of check once (the default)
#   long     each kind of check with each size, number of PEs, layout and round
#
# Every kind of check can fail at each depth; the depths differ in how often it is repeated.

depth=${RMA_TEST_DEPTH:-normal}
case $depth in
quick | normal | long) ;;
*) echo "RMA_TEST_DEPTH=$depth: not one of quick|normal|long" >&2; exit 99 ;;
esac
deep() { [ "$depth" = long ]; }
quick() { [ "$depth" = quick ]; }
# by_depth QUICK NORMAL LONG: prints the argument for this depth.
# shellcheck disable=SC2329
by_depth() {
    case $depth in
    quick) echo "$1" ;;
    normal) echo "$2" ;;
    *) echo "$3" ;;
    esac
}
