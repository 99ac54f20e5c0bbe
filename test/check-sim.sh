#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-sim.sh: simulated jobs (test/sim/sim --help): some hundred seeds of each scenario, the same seed twice, more PEs
# than usual, and wrong arguments. RMA_TEST_SEEDS sets the number of seeds.
set -eu

script=check-sim
top_builddir=${top_builddir:-$(pwd)}
sim=$top_builddir/test/sim/sim
[ -x "$sim" ] || { echo "$script: there is no $sim" >&2; exit 99; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/check-sim.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
failures=0

# passes ARGUMENT...: a run without a fault.
passes() {
    if "$sim" "$@" >"$dir/out" 2>&1; then
        tail -n 1 "$dir/out"
    else
        echo "FAIL sim $*"
        tail -n 70 "$dir/out"
        failures=$((failures + 1))
    fi
}

# refuses TEXT ARGUMENT...: exit code 2 and a line that matches TEXT.
refuses() {
    text=$1
    shift
    code=0
    "$sim" "$@" >"$dir/out" 2>&1 || code=$?
    [ $code -eq 2 ] && grep -Eq "^sim: $text" "$dir/out" && return
    echo "FAIL sim $*: exit code $code, and no line '$text':"
    cat "$dir/out"
    failures=$((failures + 1))
}

passes --scenario requests --seeds "${RMA_TEST_SEEDS:-100}"
passes --scenario jobs --seeds "${RMA_TEST_SEEDS:-100}"
passes --scenario failures --seeds "${RMA_TEST_SEEDS:-20}"
passes --scenario requests --seed 7 --pes 40
passes --scenario jobs --seed 7 --pes 64
# A PE that dies with a lock, which another one tries to take in a loop: those who wait for that one name the dead PE.
passes --scenario failures --seed 95 --seeds 1
"$sim" --scenario requests --seed 3 --log >"$dir/first"
"$sim" --scenario requests --seed 3 --log >"$dir/second"
# The last line tells the time that the run took.
sed '$d' "$dir/first" >"$dir/first.log"
sed '$d' "$dir/second" >"$dir/second.log"
if [ "$(wc -l <"$dir/first.log")" -lt 100 ] || ! cmp "$dir/first.log" "$dir/second.log"; then
    echo "FAIL a seed does not repeat its run"
    failures=$((failures + 1))
fi
refuses 'there is no scenario nonsense' --scenario nonsense
refuses '--seed x3 is no number' --seed x3
refuses '--pes 1 is no number from 2' --pes 1
refuses '--seeds 0 is no number from 1' --seeds 0
refuses 'scenario requests takes 2 to 64 PEs, not 65' --scenario requests --pes 65
refuses 'unknown or incomplete option --sed' --sed
refuses 'unknown argument more' more
[ $failures -eq 0 ]
