#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-mpi-ends.sh: a process of a program of MPI ends abnormally, or stops, while the others wait in calls on windows
# or in MPI (test/mpi/ends.c). An abnormal end ends the job within seconds, with the exit code that it has on MPI alone
# or that the library promises. A stopped process is named after RMA_STALL seconds; the job ends after RMA_TIMEOUT.
# A process that only computes for long is not reported in calls of MPI. The same for rma_test polled between nodes.
#
# Broken by a process that sleeps where MPI's messages do not reach it, by a wait that watches nobody, and by a report
# about a process that is only late.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers "the library is preloaded"
unset_settings
need_rma_mpi

# shellcheck disable=SC2086
${MPICC:-mpicc.mpich} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$top_srcdir/test/mpi" -o "$dir/ends" \
    "$top_srcdir/test/mpi/ends.c"

# ---- abnormal ends ----

# code_of HOW: prints the exit code that the job must have, or nothing if each MPI has its own.
code_of() { case $1 in abort* | exit) echo 7 ;; esac; }

# ends LAYOUT N HOW WAIT
ends() {
    status=0
    # shellcheck disable=SC2046,SC2086
    timeout -k 5 "$(seconds 5)" env $(layout_switches "$1" "$2") $mpiexec -n "$2" $preload "$dir/ends" "$3" "$4" \
        >"$dir/out" 2>"$dir/err" </dev/null || status=$?
    what="$3 while others are in $4, $2 processes, $(layout_words "$1")"
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        fail "$what: the job does not end"
    elif grep -qE 'is over|still there' "$dir/err"; then
        fail "$what: exit $status"
    elif [ $status -eq 0 ]; then
        if code_is_lost; then good=$((good + 1)); else fail "$what: exit 0"; fi
    elif [ "$mpi" = mpich ] && [ -n "$(code_of "$3")" ] && [ $status -ne "$(code_of "$3")" ]; then
        fail "$what: exit $status, not $(code_of "$3")"
    else
        good=$((good + 1))
    fi
}

good=0
hows="put errors_abort win_handler comm_handler create send send_part abort abort_copy abort_part abort_self exit kill
    crash"
for how in $hows; do ends one 3 "$how" fence; done
waits="lock wait free first barrier"
for wait in $waits; do ends one 2 abort_copy "$wait"; done
if ! quick; then
    for how in put create abort_part exit; do ends nolocal 2 "$how" fence; done
    for wait in lock first all; do ends nolocal 2 abort_copy "$wait"; done
fi
if deep; then
    waits="$waits start allocate shared create dynamic allreduce bcast recv sendrecv probe request all any"
    for layout in one nolocal blocks2; do
        for how in $hows; do
            for wait in $waits; do
                [ "$layout.$wait" = one.shared ] || [ "$wait" != shared ] || continue
                ends $layout 4 "$how" "$wait"
            done
        done
    done
fi
ok "$good abnormal ends end the job"

# ---- stopped processes ----

# call_of WAIT: prints the call in which the others wait, as a regular expression.
call_of() {
    case $1 in
    fence | free | lock | start | wait | allocate) echo "MPI_Win_$1" ;;
    shared) echo MPI_Win_allocate_shared ;;
    create | first) echo MPI_Win_create ;;
    dynamic) echo MPI_Win_create_dynamic ;;
    barrier) echo MPI_Barrier ;;
    allreduce) echo MPI_Allreduce ;;
    bcast) echo MPI_Bcast ;;
    recv) echo MPI_Recv ;;
    sendrecv) echo MPI_Sendrecv ;;
    probe) echo MPI_Probe ;;
    request) echo MPI_Wait ;;
    all) echo MPI_Waitall ;;
    any) echo MPI_Waitany ;;
    test) echo rma_test_long ;;
    esac
}

# start NAME LAYOUT N PROGRAM...: starts a job in the background; its exit code goes to $dir/NAME.status. Only some run
# at a time, since those that wait in MPI's own calls keep the processors busy.
jobs=0
start() {
    name=$1 layout=$2 count=$3
    shift 3
    [ $((jobs % 6)) -ne 0 ] || wait
    jobs=$((jobs + 1))
    (
        status=0
        # shellcheck disable=SC2046,SC2086
        timeout -k 5 "$(seconds 60)" env RMA_STALL=1 RMA_TIMEOUT="$(seconds 2)" $(layout_switches "$layout" "$count") \
            $mpiexec -n "$count" "$@" >"$dir/$name.out" 2>"$dir/$name.err" </dev/null || status=$?
        echo $status >"$dir/$name.status"
    ) &
}

# judge NAME ended|passes REGEX WHAT: the job has ended so; a line of its stderr matches REGEX, if that is not empty.
# Where it passes, no line reports a wait.
judge() {
    read -r status <"$dir/$1.status"
    cp "$dir/$1.err" "$dir/err"
    case $2 in
    ended)
        if [ "$status" -ne 91 ] && ! code_is_lost; then
            fail "$4: exit $status"
        elif ! grep -qE "$3" "$dir/err"; then
            fail "$4: nobody says '$3'"
        else
            ok "$4"
        fi
        ;;
    passes)
        if [ "$status" -ne 0 ]; then
            fail "$4: exit $status"
        elif grep -qE "$3" "$dir/err"; then
            fail "$4: it is reported"
        else
            ok "$4"
        fi
        ;;
    esac
}

cat >"$dir/test.c" <<'TEST'
#include <rma.h>
#include <signal.h>
int main(void) {
    long *word;
    rma_init();
    word = rma_calloc(1, sizeof *word);
    rma_barrier_all();
    if (rma_my_pe() == 1) raise(SIGSTOP);
    while (!rma_test(word, RMA_CMP_EQ, 1L)) continue;
    return 0;
}
TEST
# shellcheck disable=SC2086
${MPICC:-mpicc.mpich} -std=gnu11 -I"$top_srcdir/include" -I"$top_builddir/include" -o "$dir/test" "$dir/test.c" \
    -L"$top_builddir/.libs" -lrma

one="fence free allocate shared first barrier recv request all"
far="free allocate first barrier recv"
late="recv barrier"
! quick || one="free allocate barrier" far=allocate late=recv
if deep; then
    one="fence free lock start wait allocate shared create dynamic first"
    far=$one
    one="$one barrier allreduce bcast recv sendrecv probe request all any"
    far="$(echo "$far" | sed 's/shared //') barrier allreduce bcast recv sendrecv probe request all any"
    late="recv barrier allreduce probe all"
fi
# shellcheck disable=SC2086
{
    for wait in $one; do start "one.$wait" one 2 $preload "$dir/ends" stop "$wait"; done
    for wait in $far; do start "nolocal.$wait" nolocal 2 $preload "$dir/ends" stop "$wait"; done
    for wait in $late; do
        start "one.$wait.late" one 2 $preload "$dir/ends" late "$wait"
        start "nolocal.$wait.late" nolocal 2 $preload "$dir/ends" late "$wait"
    done
    ! deep || for wait in $far; do start "blocks2.$wait" blocks2 4 $preload "$dir/ends" stop "$wait"; done
    start one.test one 2 "$dir/test"
    start nolocal.test nolocal 2 "$dir/test"
}
wait
for name in $(cd "$dir" && ls -- *.status); do
    name=${name%.status} layout=${name%%.*} call=${name#*.}
    case $name in
    one.*.late) judge "$name" passes 'has waited' "a late process is not reported in $(call_of "${call%.late}")" ;;
    *.late) judge "$name" passes 'is stopped' "a late process, ${call%.late}, $(layout_words "$layout")" ;;
    *)
        # A PE of another node does not answer; one of this node is seen to be stopped.
        stopped='( (at|in) .*)?: PE [13] (is stopped|does not answer)'
        judge "$name" ended "waited [0-9]+ s in $(call_of "$call")$stopped" \
            "a stopped process is named in $(call_of "$call"), $(layout_words "$layout")"
        ;;
    esac
done
verdict
