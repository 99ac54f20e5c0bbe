#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-bench.sh: each benchmark runs, on one node and with a node for each PE, and moves correct data.
#
# RMA_TEST_DEPTH: `quick` runs each benchmark once, alternately on one node and on two; `normal` on both, of which
# one may be a run with an option; `long` with each option and other numbers of PEs on both.
# Broken by a benchmark that hangs if its target is on another node, by data that its own validation finds wrong, by
# missing rows, and by ignored options. Each runs a few iterations; the script checks no times.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# The programs themselves: libtool's wrappers, which installed programs have, take 15 ms in each PE.
programs=$top_builddir/bench/.libs
LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
need "$programs/rma_init"

# job LAYOUT N PROGRAM [ARGUMENT...]. Lists of words: the layout's switches, mpiexec.
job() {
    layout=$1 n=$2 program=$3
    shift 3
    status=0
    # shellcheck disable=SC2046,SC2086
    env $(layout_switches "$layout" "$n") timeout -k 5 "$(seconds 120)" $mpiexec -n "$n" \
        "$programs/$program" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
}

# runs LAYOUT ROWS PROGRAM [ARGUMENT...]: so many rows, each with Pass in its last column.
runs() {
    layout=$1 rows=$2 program=$3
    shift 3
    job "$layout" "${pes:-2}" "$program" -c --csv "$@"
    if [ $status -eq 0 ] && [ "$(grep -c ',Pass$' "$dir/out")" -eq "$rows" ] &&
        [ "$(wc -l <"$dir/out")" -eq $((rows + 1)) ]; then
        ok "$program $*, ${pes:-2} PEs, $layout"
    else
        fail "$program $*, ${pes:-2} PEs, $layout: exit $status"
    fi
}
# in_turn ROWS PROGRAM [ARGUMENT...]: alternately on one node and with a node for each PE.
turn=nolocal
in_turn() {
    case $turn in one) turn=nolocal ;; *) turn=one ;; esac
    runs $turn "$@"
}
on_both() {
    runs one "$@"
    runs nolocal "$@"
}
# Each benchmark; its options and other numbers of PEs; and repetitions: see the head of this file.
passes() { if quick; then in_turn "$@"; else on_both "$@"; fi; }
# begins: like passes, for a benchmark of which option is a further run.
begins() { if [ "$depth" = normal ]; then far "$@"; else passes "$@"; fi; }
option() { if deep; then on_both "$@"; elif ! quick; then runs one "$@"; fi; }
repeats() { if deep; then on_both "$@"; fi; }
# Between nodes only: --way.
far() { runs nolocal "$@"; }
# The second column is librma's dynamic window, the fourth MPI's: if MPI has one, librma must have used its own.
uses_window() {
    if awk -F, 'NR > 1 && $2 == "" && $4 != "" { bad = 1 } END { exit bad }' "$dir/out"; then
        ok "librma goes through its dynamic window"
    else
        fail "no figure of librma's dynamic window"
    fi
}
far_option() { if ! quick; then far "$@"; fi; }

few="-i 3 -x 0 -r 1"
# few is a list of words.
# shellcheck disable=SC2086
{
    begins 3 rma_put_latency $few -m 8:32
    begins 3 rma_get_latency $few -m 8:32 --call
    far 2 rma_put_latency $few -m 8:16 --way=dynamic
    uses_window
    far_option 1 rma_get_latency $few -m 64k:64k --way=messages
    begins 2 rma_put_bw $few -m 4k:8k -w 4
    option 2 rma_put_bw $few -m 4k:8k -w 4 --nbi
    option 2 rma_put_bw $few -m 4k:8k --handover
    option 2 rma_get_bw $few -m 4k:8k -w 4
    begins 2 rma_get_bw $few -m 4k:8k -w 4 --nbi --handover
    begins 2 rma_put_bibw $few -m 4k:8k -w 4
    option 2 rma_put_bibw $few -m 4k:8k --handover
    passes 3 rma_put_mr $few -m 8:32
    passes 2 rma_put_nb $few -m 4k:8k
    begins 1 rma_barrier $few
    option 1 rma_barrier $few -o sync
    passes 20 rma_atomics $few
    option 1 rma_atomics $few --operation=swap
    passes 4 rma_section $few
    passes 5 rma_accumulate $few
    passes 2 rma_signal $few -m 8k:16k
    begins 2 rma_threads $few
    option 3 rma_threads $few -t 4
    begins 5 rma_lock $few
    option 1 rma_lock $few --operation=handover
    passes 11 rma_wait $few
    option 1 rma_wait $few --operation=any8
    passes 21 rma_windows $few
    passes 7 rma_progress -r 1 --compute=20
    option 1 rma_progress -r 1 --compute=20 -o lone
    passes 2 rma_init
    passes 1 rma_alloc $few -o fixed
    repeats 10 rma_alloc $few
    passes 2 rma_gups $few -m 64k:128k
    begins 2 rma_histogram $few -m 64k:128k
    begins 2 rma_index_gather $few -m 64k:128k
    option 1 rma_histogram $few -m 64k:64k -w 1000 --bucket=7
    option 1 rma_index_gather $few -m 64k:64k -w 1000 --bucket=7
    begins 4 rma_list $few --nodes=16
    option 1 rma_list $few --nodes=2 --operation=remove
    far 4 rma_list $few --nodes=16 --way=messages
    for program in rma_bcast rma_fcollect rma_collect rma_alltoall rma_reduce rma_rooted rma_scan; do
        passes 2 $program $few -m 8:16
    done
    option 2 rma_reduce $few -m 8:16 -o max
    repeats 2 rma_reduce $few -m 8:16 -o xor
    option 2 rma_rooted $few -m 8:16 -o scatter
    repeats 2 rma_rooted $few -m 8:16 -o sum
    option 2 rma_scan $few -m 8:16 -o exscan
    option 1 rma_reduce $few -m 64k:64k -o sum --fresh
    pes=1
    option 3 rma_collect $few -m 8:32
    option 5 rma_lock $few
    option 1 rma_gups $few -m 64k:64k
    option 4 rma_list $few --nodes=1
    pes=3
    repeats 2 rma_bcast $few -m 4k:8k
    option 2 rma_collect $few -m 4k:8k
    repeats 2 rma_alltoall $few -m 4k:8k
    option 2 rma_reduce $few -m 4k:8k
    repeats 2 rma_scan $few -m 4k:8k
    option 1 rma_barrier $few
    option 5 rma_lock $few
    repeats 7 rma_progress -r 1 --compute=20
    repeats 2 rma_init
    repeats 1 rma_gups $few -m 64k:64k -w 2
    repeats 1 rma_histogram $few -m 64k:64k -w 100
    option 1 rma_index_gather $few -m 64k:64k -w 100
    option 4 rma_list $few --nodes=16
    far_option 4 rma_list $few --nodes=16 --way=dynamic
    pes=4
    repeats 2 rma_put_latency $few -m 8:16 --pairs=2
    option 2 rma_put_bw $few -m 4k:8k -w 4 -p 2 --handover
    repeats 2 rma_put_bibw $few -m 4k:8k -w 4 -p 2
    repeats 20 rma_atomics $few -p 2
    option 2 rma_signal $few -m 8k:16k -p 2
    repeats 11 rma_wait $few -p 2
    pes=
}

# places LAYOUT PEs WORDS [OPTION]: the note describes the pairs so, or says why there are none; with MPIs that support
# the layout.
places() {
    if [ -n "$(layout_left_out "$1")" ]; then return; fi
    job "$1" "$2" rma_put_latency -i 1 -x 0 -r 1 -m 8:8 ${4:+"$4"}
    if grep -q "$3" "$dir/out" "$dir/err"; then
        ok "$1, $2 PEs: $3"
    else
        fail "$1, $2 PEs: not '$3'"
    fi
}
places one 3 "PE 0 to PE 1, on one node"
places cliques2 4 "2 pairs, the first PE 0 to PE 2, on one node" --pairs=2
if ! quick; then
    places nolocal 2 "PE 0 to PE 1, across nodes"
    places one 1 "1 pair of PEs: the job has 1 PE; start it with mpiexec -n 2 or more$"
fi
job one 3 rma_put_latency --pairs=2
exits 2 "two pairs of 3 PEs are refused"
job one 2 rma_put_latency --way=messages
exits 2 "--way is refused on one node"

# Statistics: the values are in order.
job one 2 rma_put_latency -i 3 -x 0 -r 20 -m 8:8 --stats --csv
if [ $status -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 6 ] &&
    awk -F, 'NR > 1 && !($3 <= $4 && $4 <= $5 && $6 <= $4 && $4 <= $7) { bad = 1 } END { exit bad }' "$dir/out"; then
    ok "--stats: minimum, median, 99th percentile and interval"
else
    fail "--stats: exit $status"
fi
job one 2 rma_put_latency --csv="$dir/no/such/folder"
if [ $status -eq 2 ] && grep -q "no/such/folder' cannot be written" "$dir/err"; then
    ok "a file that cannot be written is refused"
else
    fail "--csv to no folder: exit $status"
fi
# notes N TEXT ARGUMENT...: test/bench/rounds, whose times are given, prints N notes, one with the text.
notes() {
    expected=$1 text=$2
    shift 2
    job one 2 ../../test/bench/rounds -i 1 -x 0 "$@"
    if [ $status -eq 0 ] && [ "$(cat "$dir/out" "$dir/err" | grep -c 'note: ')" -eq "$expected" ] &&
        grep -qF -e "$text" "$dir/out" "$dir/err"; then
        ok "rounds $*: $text"
    else
        fail "rounds $*: exit $status, or not $expected notes, one with '$text'"
    fi
}
notes 0 "odd" --others=0
notes 1 "# note: the machine is too busy to measure: other processes used " --others=9
notes 1 "rma_bench rounds: note: the machine is too busy to measure: other processes used " --others=9 --csv
# With two PEs, only one of which prints it; without `long` all but the first run as one PE without a launcher, which is
# quicker.
alone() {
    status=0
    timeout -k 5 "$(seconds 120)" "$programs/$1" "$2" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
}
tried=
for source in "$top_srcdir"/bench/rma_*.c; do
    program=$(basename "$source" .c)
    how="job one 2"
    deep || [ -z "$tried" ] || how=alone
    tried=yes
    name=${program#rma_}
    $how "$program" --help
    if [ $status -eq 0 ] && [ "$(grep -c "^Usage: .* rma_bench $name " "$dir/out")" -eq 1 ]; then
        ok "$program --help"
    else
        fail "$program --help: exit $status"
    fi
    $how "$program" --no-such-option
    if [ $status -eq 2 ] &&
        [ "$(grep -c "^rma_bench $name: unknown option '--no-such-option'" "$dir/err")" -eq 1 ]; then
        ok "$program refuses an unknown option"
    else
        fail "$program --no-such-option: exit $status"
    fi
done

verdict
