#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-window.sh: if MPI's dynamic window accepts no more memory, cannot be created, or moves wrong data, the job
# reports it once, and uses messages instead, with the same results. test/job/window_refused causes these faults.
#
# Broken by PEs that disagree whether there is a window; by memory that MPI has refused but that is accessed through the
# window; and by a job that reports nothing, or reports each access.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
not_with_openmpi check-window "whose dynamic window the job tests try"
program=$top_builddir/test/job/window_refused
need "$program"

# job N LAYOUT SETTINGS ARGUMENT...: runs N PEs. SETTINGS is a list of words.
job() {
    n=$1 layout=$2 settings=$3
    shift 3
    what="window_refused $*, $n PEs, $layout, $settings"
    # shellcheck disable=SC2046,SC2086
    run env -u RMA_WINDOW $(layout_switches "$layout" "$n") $settings $mpiexec -n "$n" "$program" "$@"
}

# notes WORDS: how many notes have these words.
notes() { grep -c -- "$1" "$dir/err" || true; }

# passes N WORDS: the job passes, and N notes have these words.
passes() {
    if [ "$status" -ne 0 ] || [ "$(grep -c '^PE [0-9]* passed$' "$dir/out")" -ne "$n" ]; then
        fail "$what: exit $status"
    fi
    said=$(notes "$2")
    [ "$said" -eq "$1" ] || fail "$what: $said notes of '$2', not $1"
}

# attach_fails N LAYOUT SETTINGS CALL PE NOTES: MPI_Win_attach fails from CALL on.
attach_fails() {
    job "$1" "$2" "$3" attach "$4" "$5"
    if [ "$4" -gt 1 ]; then
        passes "$6" "MPI's dynamic window takes no more memory, [0-9]* bytes at .* MPI_Win_attach"
    else
        passes 1 "MPI's dynamic window is not used between nodes: "
    fi
}

dynamic=RMA_WINDOW=dynamic

job 2 nolocal $dynamic none 0 0
passes 0 'dynamic window'

attach_fails 2 nolocal $dynamic 1 0 1
attach_fails 2 nolocal $dynamic 2 -1 2
attach_fails 2 nolocal $dynamic 9 1 1
attach_fails 4 cliques2 $dynamic 1 1 1
attach_fails 4 cliques2 $dynamic 3 2 1
attach_fails 4 cliques2 $dynamic 12 -1 4
if deep; then
    for call in 2 4 5 6 7 8 10 15 25 40; do
        attach_fails 2 nolocal $dynamic $call 0 1
        attach_fails 5 cliques3 $dynamic $call -1 5
        attach_fails 4 cliques2 $dynamic $call 3 1
        attach_fails 5 cliques3 $dynamic $call -1 5
    done
fi

job 2 nolocal $dynamic create 1 -1
passes 1 "MPI's dynamic window is not used between nodes: .*MPI_Win_create_dynamic"
job 2 nolocal "$dynamic RMA_ERRORS=return" create 1 1
if [ "$status" -eq 0 ] || grep -q passed "$dir/out"; then fail "$what: exit $status"; fi
[ "$(notes 'rma_init returned .*PE 1')" -ge 1 ] || fail "$what: nobody names PE 1"
[ "$(notes '^rma_init returned [1-9]')" -eq 2 ] || fail "$what: not both PEs have returned"

job 2 nolocal $dynamic shift 1 -1
passes 1 "MPI's dynamic window is not used between nodes: a put through MPI's window did not come back from PE"
job 4 cliques2 $dynamic shift 3 2
passes 1 "MPI's dynamic window is not used between nodes: "
job 2 nolocal $dynamic shift 16 1
passes 1 "MPI's dynamic window is not used between nodes: "

verdict
