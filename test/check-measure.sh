#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-measure.sh: test/sim/measure prints the transport's times in the form that the simulator accepts, and refuses
# PEs of one node, numbers of PEs other than two, and wrong arguments. Times are not compared.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
measure=$top_builddir/test/sim/measure
need "$measure"

# job LAYOUT N [ARGUMENT...]. Lists of words: the layout's switches, mpiexec.
job() {
    layout=$1 n=$2
    shift 2
    # shellcheck disable=SC2046,SC2086
    run env $(layout_switches "$layout" "$n") $mpiexec -n "$n" "$measure" "$@"
}

# passes [ARGUMENT...]: the last line has six numbers, none of them 0, and each number also has a separate line.
passes() {
    job nolocal 2 "$@"
    time='[1-9][0-9]*'
    line="times: send=$time,receive=$time,latency=$time,gap=$time,kib=$time,eager=$time"
    if [ "$status" -ne 0 ] || ! tail -n 1 "$dir/out" | grep -qx "$line"; then
        fail "measure $*: exit $status, no line '$line'"
        return
    fi
    for name in send receive latency gap kib eager; do
        value=$(sed -n "s/^times: .*$name=\([0-9]*\).*/\1/p" "$dir/out")
        if ! grep -Eq "^$name +$value (ns|bytes) +[^ ]" "$dir/out"; then
            fail "measure $*: no line on $name=$value"
            return
        fi
    done
    ok "measure $*"
}

# refuses TEXT LAYOUT N [ARGUMENT...]: exit code 2, and one PE says why, in a line that begins with TEXT.
refuses() {
    text=$1
    shift
    job "$@"
    if [ "$status" -eq 2 ] && [ ! -s "$dir/out" ] && [ "$(grep -c "^measure: $text" "$dir/err")" -eq 1 ]; then
        ok "$text"
    else
        fail "measure $*: exit $status, no line '$text'"
    fi
}

passes --repeat=3
passes --repeat=1 --pin
refuses 'both PEs are on one node.*RMA_NODE_PES=1' one 2
refuses 'it needs 2 PEs, not 3: ' nolocal 3
refuses "option --repeat: 'x3' is not a number" nolocal 2 --repeat=x3
refuses "option --repeat: '0' is not a number in 1" nolocal 2 --repeat 0
refuses 'option --repeat needs a value' nolocal 2 --repeat
refuses "unknown option 'more'" nolocal 2 more
job nolocal 2 --help
if [ "$status" -eq 0 ] && [ "$(grep -c '^usage: ' "$dir/out")" -eq 1 ] && grep -q ' --pin ' "$dir/out"; then
    ok 'measure --help'
else
    fail "measure --help: exit $status"
fi
verdict
