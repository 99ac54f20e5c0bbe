#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-faults.sh: a failure on one PE in rma_init ends rma_init on all PEs, with the reason. Then the same after it, in
# programs of MPI's windows and of coarrays.
#
# For each function that rma_init calls, the script makes its first call fail on one PE, then its second, and so on,
# until there are no more calls before the job's end (test/fault/fault.c); if there are many calls it tries only some.
# By default the job must end with that PE's reason, and with RMA_ERRORS=return rma_init must return an error on every
# PE, so that each can end by itself. If rma_init can work without the call (a thread, moving global variables, a
# window), the job may also pass. After some failures of MPI the PEs can agree on nothing: then the job ends whatever
# RMA_ERRORS says. Broken by a step of rma_init that one PE abandons while the others go on to the next step and wait
# there, by a lost reason, and by resources that only some PEs release.
#
# After rma_init (test/mpi/kinds.c under rma_mpi, test/fault/coarrays.f90) each call of the C library's allocation, and
# some of MPI, fails in the same way: the job passes, or ends with the reason. Broken by a process that leaves a step in
# which the others wait, and by an error code that nobody reads. Last, a PE that works with other nodes for its node
# fails in one call of all PEs (test/fault/leaders.c).
#
#   check-faults.sh [--long] [FUNCTION...|leaders]    --long: every call, also on PE 0
set -eu

# Lists of words: mpiexec, nodes.
# shellcheck disable=SC2086
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=/dev/null
. "$(dirname "$0")/fault/fault.sh"

long=
[ "${1-}" != --long ] || { long=1; shift; }
chosen=$*
# Otherwise UCX replaces the C library's mapping functions, and fault.c does not see the calls.
export UCX_MEM_MMAP_HOOK_MODE=none
unset_settings

jobs=0 turn=0

# told PE: the reason was printed by that PE, or by another PE with that PE's number.
told() { grep -q "PE $1.*rma_init: [^ ]" "$dir/err" && ! grep -q 'not so' "$dir/err"; }
# returned N: rma_init has returned an error on N PEs. Open MPI's launcher ends the job as soon as one of them exits.
returned() {
    told=$(grep -c '^rma_init returned [1-9][0-9]*: rma_init: [^ ]' "$dir/err" || true)
    [ "$told" -eq "$1" ] || { [ $mpi = openmpi ] && [ "$told" -gt 0 ]; }
}

# try FUNCTION N PES PE MAY SETTING...: the Nth call of FUNCTION fails on PE. MAY is `pass` if the job can work without
# the call, `end` if it may end whatever the error handler, else `fail`.
try() {
    function=$1 call=$2 pes=$3 pe=$4 may=$5
    shift 5
    what="$function $call on PE $pe of $pes${*:+, $*}"
    jobs=$((jobs + 1))
    fault_job "$pes" RMA_TEST_FAULT=fail:"$function:$call" RMA_TEST_FAULT_PE="$pe" "$@"
    [ -z "$left" ] || fail "$what: has left $left"
    if [ $status -eq 124 ]; then
        fail "$what: not ended in time"
    elif ! fault_hit || [ "$may" = pass ] && all_passed "$pes"; then
        all_passed "$pes" || fail "$what: exit $status"
    elif grep -q '^PE [0-9]* passed' "$dir/out"; then
        fail "$what: some PEs passed"
    elif [ $status -eq 0 ] && ! code_is_lost; then
        fail "$what: exit 0"
    else
        case " $* " in
        *" RMA_ERRORS=return "*) { [ "$may" = end ] && told "$pe"; } || returned "$pes" ||
            fail "$what: rma_init has not returned a reason on each PE" ;;
        *) told "$pe" || fail "$what: nobody says why" ;;
        esac
    fi
}

# sweep FUNCTION MAY STEP MOST PES PE SETTING...: tries calls 1, 1 + STEP, ..., up to MOST, or until the job makes no
# such call. The error handler alternately aborts and returns.
sweep() {
    function=$1 may=$2 step=$3 most=$4 pes=$5 pe=$6
    shift 6
    case " $chosen " in "  " | *" $function "*) ;; *) return 0 ;; esac
    [ -z "$long" ] || step=1 most=1000
    call=1 before=$failures hits=0
    while [ $call -le "$most" ]; do
        turn=$(((turn + 1) % 2))
        [ -z "$long" ] && [ $turn -eq 0 ] || try "$function" $call "$pes" "$pe" "$may" RMA_ERRORS=return "$@"
        [ -z "$long" ] && [ $turn -eq 1 ] || try "$function" $call "$pes" "$pe" "$may" "$@"
        fault_hit || break
        hits=$((hits + 1))
        call=$((call + step))
    done
    [ $failures -ne $before ] || [ $hits -eq 0 ] || ok "$function: $hits calls on PE $pe of $pes${*:+, $*}"
    [ $hits -gt 0 ] || fail "$function on PE $pe of $pes: there is no such call"
}

nodes=$(layout_switches nolocal 2)

# PEs of one node.
sweep malloc fail 1 9 2 1
sweep madvise pass 4 20 2 1
sweep MPI_Comm_split_type fail 1 1 2 1
sweep MPI_Group_translate_ranks fail 1 1 2 0
if [ $mpi = mpich ]; then
    sweep MPI_Win_allocate_shared fail 1 1 2 1
    sweep MPI_Win_shared_query fail 1 1 2 1
fi
sweep MPI_Comm_create_keyval fail 1 1 2 1
sweep MPI_Comm_set_attr fail 1 1 2 0
# An Open MPI job that ends while its PEs map their file of /dev/shm leaves that file.
if [ $mpi = mpich ]; then
    for function in MPI_Comm_rank MPI_Comm_size MPI_Iallreduce; do sweep $function end 4 4 2 1; done
fi
for function in MPI_Comm_group MPI_Group_free MPI_Comm_free_keyval; do sweep $function fail 1 1 2 1; done
sweep mremap pass 1 2 2 1
sweep mremap pass 1 1 2 0
sweep fopen pass 3 9 2 1

# PEs of two nodes.
# A forced window, or only the fixed one: otherwise the library tries the faster one, and works without it if that
# fails.
sweep malloc fail 1 9 2 1 $nodes RMA_WINDOW=static
sweep calloc fail 1 9 2 1 $nodes RMA_WINDOW=static
sweep calloc fail 1 9 2 0 $nodes RMA_WINDOW=dynamic
sweep malloc pass 1 20 2 1 $nodes
sweep madvise pass 6 20 2 0 $nodes
sweep mmap pass 1 3 2 1 $nodes
sweep MPI_Irecv fail 7 16 2 1 $nodes
sweep MPI_Comm_split fail 1 1 2 1 $nodes
# Open MPI 5 miscounts collectives if one PE goes on while its copy of the communicator is still being created, and ends
# the job.
is_openmpi5 || sweep MPI_Comm_idup fail 1 1 2 0 $nodes
sweep MPI_Group_translate_ranks fail 1 2 2 1 $nodes
sweep MPI_Comm_set_errhandler fail 1 1 2 1 $nodes
sweep MPI_Comm_free fail 1 1 2 1 $nodes
sweep MPI_Info_create fail 1 1 2 1 $nodes
sweep MPI_Info_set fail 1 1 2 0 $nodes
sweep MPI_Win_create fail 1 1 2 1 $nodes RMA_WINDOW=always
sweep MPI_Win_lock_all pass 1 1 2 1 $nodes RMA_WINDOW=always
sweep MPI_Win_get_attr pass 2 3 2 1 $nodes RMA_WINDOW=always
sweep MPI_Win_set_errhandler pass 1 1 2 1 $nodes RMA_WINDOW=always
sweep MPI_Win_flush pass 2 4 2 1 $nodes RMA_WINDOW=always
sweep MPI_Iallreduce end 9 15 2 1 $nodes RMA_WINDOW=always
sweep MPI_Put pass 1 2 2 1 $nodes RMA_WINDOW=always
sweep MPI_Get pass 1 3 2 1 $nodes RMA_WINDOW=dynamic
sweep MPI_Win_create_dynamic fail 1 1 2 1 $nodes RMA_WINDOW=dynamic
sweep MPI_Win_attach pass 1 4 2 0 $nodes RMA_WINDOW=dynamic
sweep pthread_create pass 1 1 2 1 $nodes

# Two machines: PE 1 is shown the boot id of another one.
echo 00000000-0000-4000-8000-000000000001 >"$dir/boot_id"
sweep MPI_Comm_split end 1 2 2 1 $nodes RMA_TEST_FAULT_FILES=/proc/sys/kernel/random/boot_id="$dir/boot_id"

# Two nodes of unequal size: collective steps of a node's PEs, and of all PEs.
sweep malloc fail 2 9 3 2 RMA_NODE_PES=2
sweep MPI_Comm_split fail 1 2 3 1 RMA_NODE_PES=2
[ $mpi != mpich ] || sweep MPI_Win_allocate_shared fail 1 1 3 1 RMA_NODE_PES=2
sweep mmap pass 1 2 3 2 RMA_NODE_PES=2
sweep MPI_Irecv fail 9 16 3 0 RMA_NODE_PES=2

# ---- after rma_init ----

# use FUNCTION STEP MOST PES PE SETTING...: as sweep, for calls after the beginning of $program: all PEs pass, or the
# job ends with the reason.
use() {
    function=$1 step=$2 most=$3 pes=$4 pe=$5
    shift 5
    case " $chosen " in "  " | *" $function "*) ;; *) return 0 ;; esac
    [ -z "$long" ] || step=1 most=1000
    call=1 before=$failures hits=0 name=${program##*/}
    while [ $call -le "$most" ]; do
        what="$name, $function $call on PE $pe of $pes${*:+, $*}"
        jobs=$((jobs + 1))
        fault_job "$pes" RMA_TEST_FAULT=fail:"$function:$call" RMA_TEST_FAULT_PE="$pe" RMA_TEST_FAULT_BEGIN=1 "$@"
        [ -z "$left" ] || fail "$what: has left $left"
        if [ $status -eq 124 ]; then
            fail "$what: not ended in time"
        elif ! all_passed "$pes" && { [ $status -eq 0 ] || ! fault_hit ||
            ! grep -qE 'rma_mpi: process [0-9]+: .|librma: .|Error in image [0-9]+: .' "$dir/err"; }; then
            fail "$what: exit $status, and nobody says why"
        fi
        fault_hit || break
        hits=$((hits + 1))
        call=$((call + step))
    done
    [ $failures -ne $before ] || [ $hits -eq 0 ] || ok "$name: $function: $hits calls on PE $pe of $pes${*:+, $*}"
    [ $hits -gt 0 ] || fail "$name: $function on PE $pe of $pes: there is no such call"
}

if [ $mpi = mpich ]; then
    program=$dir/kinds above=$top_builddir/.libs/librma_mpi.so
    LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    ${MPICC:-mpicc.mpich} -std=gnu11 -O1 -I"$top_srcdir/test/mpi" -o "$program" "$top_srcdir/test/mpi/kinds.c" -ldl
    use malloc 5 99 2 1
    use calloc 5 10 2 0
    use malloc 7 99 2 0 $nodes
    use calloc 4 10 2 1 $nodes
    use realloc 21 30 2 1
    for function in PMPI_Comm_create PMPI_Comm_set_attr PMPI_Comm_set_errhandler PMPI_Iallgather; do
        use $function 1 1 2 1
    done
    use PMPI_Iallreduce 3 9 2 0
    use PMPI_Info_dup 1 1 2 1
    unset above
fi
program=$dir/coarrays
fortran=${FC:-gfortran}
# FC may be a command with arguments.
if [ -f "$top_builddir/.libs/librma_caf.so" ] && $fortran -O1 -fcoarray=lib "$(dirname "$0")/fault/coarrays.f90" \
    -o "$program" "$preload" -L"$top_builddir/.libs" -lrma_caf -lrma -Wl,-rpath,"$top_builddir/.libs" 2>/dev/null; then
    use malloc 4 9 2 1
    use malloc 5 11 2 0 $nodes
    use calloc 1 2 2 1 $nodes
else
    ok "skipped: coarrays: needs a gfortran that compiles them (Debian package gfortran), not $fortran"
fi

# ---- a leader between nodes ----

# What the leader of a node does between nodes fails: the node's other PEs must not get success, with data that never
# came, nor wait for ever. Broken by a leader that tells nobody.
# leads CALL PES: the first PE of the second node fails. The call `team` may succeed on other PEs, which have met.
leads() {
    case " $chosen " in "  " | *" leaders "*) ;; *) return 0 ;; esac
    export LEADERS_CALL="$1"
    call=1 failed=0 before=$failures
    while [ $call -le 8 ]; do
        what="leaders, $1, MPI_Irecv $call on PE $(($2 / 2)) of $2"
        jobs=$((jobs + 1))
        fault_job "$2" RMA_TEST_FAULT=fail:MPI_Irecv:$call RMA_TEST_FAULT_PE=$(($2 / 2)) RMA_TEST_FAULT_BEGIN=1 \
            RMA_NODE_PES=$(($2 / 2)) RMA_ERRORS=return
        codes=$(sed -n 's/^leader: \([0-9]*\), others:/\1:/p' "$dir/out")
        case $codes in
        0:*[1-9]*) fail "$what: the leader has returned success, others have not: $codes" ;;
        0:*) ;;
        *' 0'*) [ "$1" = team ] || fail "$what: the leader has failed, others have returned success: $codes" ;;
        '') grep -q 'MPI_Irecv' "$dir/err" || fail "$what: exit $status, and nobody says why" ;;
        esac
        [ $status -ne 124 ] || fail "$what: not ended in time"
        case $codes in [1-9]*) failed=$((failed + 1)) ;; esac
        [ -z "$left" ] || fail "$what: has left $left"
        fault_hit || break
        call=$((call + 1))
    done
    [ $failed -gt 0 ] || [ $failures -ne "$before" ] || fail "leaders, $1: no receive of the leader has failed"
    [ $failures -ne "$before" ] || ok "leaders: $1: $failed failures between nodes, told to the node"
}
program=$dir/leaders
${MPICC:-mpicc.mpich} -std=gnu11 -O1 -I"$top_srcdir/include" -I"$top_builddir/include" -o "$program" \
    "$top_srcdir/test/fault/leaders.c" -L"$top_builddir/.libs" -lrma -Wl,-rpath,"$top_builddir/.libs" -ldl
for which in barrier sync malloc broadcast reduce root fcollect collect first; do leads $which 4; done
leads team 8

echo "$jobs jobs"
verdict
