#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-blocking.sh: PEs that wait inside MPI for a stopped or dead PE name it, and the job ends.
#
# PE 1 stops or kills itself just before a call of an MPI function (test/fault/fault.c): in rma_init, in rma_finalize
# (MPI_Finalize, too), and where the PEs recreate the symmetric heap's window. MPI itself prints nothing while it waits
# there. The jobs mostly sleep, so they all run at once.
# Or MPI fails on PE 1, so PE 1 is not in the call in which PE 0 waits: PE 1 says what has failed, and the job ends.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=/dev/null
. "$(dirname "$0")/fault/fault.sh"
deadline=$(seconds 60)
# On a busy machine a PE may lose its processor for a second or two.
RMA_STALL=1 RMA_TIMEOUT=$(seconds 2)
export RMA_STALL RMA_TIMEOUT

# start NAME FUNCTION N [SETTING...]: PE 1 stops before the Nth call. start_failed: the call fails instead of being
# made.
start_failed() { action=omit start "$@"; }
start() {
    name=$1 function=$2 call=$3
    shift 3
    (
        status=0
        # mpiexec may be a command with arguments.
        # shellcheck disable=SC2086
        env RMA_TEST_FAULT="${action:-stop}:$function:$call" RMA_TEST_FAULT_PE=1 RMA_TEST_FAULT_LATER=1 \
            RMA_TEST_FAULT_NOTE="$dir/$name.note" RMA_TEST_JOB_ID="$$.$name" "$@" \
            timeout -k 5 "$deadline" $mpiexec -n 2 env LD_PRELOAD="$preload" "$begin" \
            >"$dir/$name.out" 2>"$dir/$name.err" </dev/null || status=$?
        echo $status >"$dir/$name.status"
    ) &
}

# start_dead NAME FUNCTION N [SETTING...]: PE 1 dies before the Nth call, unnoticed by the launcher: a process that is
# not a PE keeps its connection open. (Hydra tells the PEs of a death by SIGUSR1, and loses what they then write.) If
# the PE has not connected yet, Hydra notices anyway; test/check-slurm.sh has that case.
start_dead() {
    name=$1 function=$2 call=$3
    shift 3
    (
        status=0
        # shellcheck disable=SC2016,SC2086
        env RMA_TEST_FAULT=kill:"$function:$call" RMA_TEST_FAULT_PE=1 RMA_TEST_FAULT_LATER=1 RMA_STALL="$deadline" \
            RMA_TEST_FAULT_NOTE="$dir/$name.note" RMA_TEST_JOB_ID="$$.$name" OUT="$dir/$name" "$@" \
            timeout -k 5 "$deadline" $mpiexec -disable-auto-cleanup -n 2 sh -c 'trap "" USR1
                env -u RMA_TEST_JOB_ID -u PMI_RANK timeout "$0" sh -c "until [ -e \"$OUT.said\" ]; do sleep 0.1; done" \
                    </dev/null >/dev/null 2>&1 &
                exec env "$@" 2>"$OUT.$PMI_RANK"' \
            "$deadline" LD_PRELOAD="$preload" "$begin" \
            >"$dir/$name.out" 2>"$dir/$name.err" </dev/null || status=$?
        echo $status >"$dir/$name.status"
    ) &
    {
        tries=0
        until grep -q 'has died' "$dir/$name.0" || [ $tries -ge $((deadline * 10)) ]; do
            tries=$((tries + 1))
            sleep 0.1
        done 2>/dev/null
        : >"$dir/$name.said"
    } &
}

# start_late NAME: PE 1 begins after more than RMA_TIMEOUT seconds, in which processes with its rank come and go: nobody
# has died.
start_late() {
    (
        status=0
        # shellcheck disable=SC2016,SC2086
        timeout -k 5 "$deadline" $mpiexec -n 2 sh -c 'for i in $(seq $((RMA_TIMEOUT + 1))); do
                [ "${PMI_RANK-${OMPI_COMM_WORLD_RANK-}}" = 0 ] || { sleep 0.5; sleep 0.5; }
            done
            exec "$0"' "$top_builddir/examples/hello" >"$dir/$1.out" 2>"$dir/$1.err" </dev/null || status=$?
        echo $status >"$dir/$1.status"
    ) &
}

# start_bare NAME: PE 1 begins after more than RMA_TIMEOUT seconds; for most of them its process has no rank in its
# environment, as after a change of its title: nobody has died.
start_bare() {
    (
        status=0
        # shellcheck disable=SC2016,SC2086
        timeout -k 5 "$deadline" $mpiexec -n 2 sh -c '[ "${PMI_RANK-${OMPI_COMM_WORLD_RANK-}}" = 1 ] || exec "$0"
            sleep 1.5
            export -p >"$1"
            exec env -i "PATH=$PATH" sh -c ". \"\$1\"; sleep $RMA_TIMEOUT; exec \"\$0\"" "$0" "$1"' \
            "$top_builddir/examples/hello" "$dir/$1.environment" >"$dir/$1.out" 2>"$dir/$1.err" </dev/null || status=$?
        echo $status >"$dir/$1.status"
    ) &
}

# judge_late NAME: that job has ended normally.
judge_late() {
    status=$(cat "$dir/$1.status")
    if [ "$status" -eq 0 ] && [ "$(grep -c '^hello from PE [01] of 2' "$dir/$1.out")" -eq 2 ]; then
        ok "$1"
        return
    fi
    echo "FAIL $1: exit $status"
    head -n 20 "$dir/$1.out" "$dir/$1.err" | sed 's/^/    /'
    failures=$((failures + 1))
}

# conclude NAME [FILE]: the job has passed if $why is empty and it has left no process; else prints what it has written,
# and FILE.
conclude() {
    name=$1
    shift
    job_mark=RMA_TEST_JOB_ID=$$.$name
    for pid in $(left_processes | tr -dc '0-9\n'); do
        why="$why; has left process $pid"
        kill -KILL "$pid" 2>/dev/null || true
    done
    if [ -z "$why" ]; then
        ok "$name"
        return
    fi
    echo "FAIL $name$why"
    head -n 20 "$dir/$name.out" "$dir/$name.err" "$@" | sed 's/^/    /'
    failures=$((failures + 1))
}

# judge_dead NAME WHERE: the job has ended at once, and PE 0 has said who has died, and WHERE PE 0 has waited.
judge_dead() {
    status=$(cat "$dir/$1.status") why=
    [ -e "$dir/$1.note" ] || why='; there is no such call'
    case $status in 0 | 124) why="$why; exit $status" ;; esac
    grep -qE "^librma: PE 0.*: $2 cannot end: PE 1 has died" "$dir/$1.0" || why="$why; nobody says who has died"
    conclude "$1" "$dir/$1.0"
}

# judge NAME WHERE: the job has ended, and PE 0 has said which PE is stopped, and WHERE (call and step) PE 0 has waited.
judge() {
    status=$(cat "$dir/$1.status") why=
    [ -e "$dir/$1.note" ] || why='; there is no such call'
    case $status in 124 | 137) why="$why; exit $status" ;; esac
    if [ "$status" -eq 0 ] && ! code_is_lost; then why="$why; exit 0"; fi
    said="has waited [0-9]+ s in $2( (at|in) .*)?: PE 1 is stopped \(process [0-9]+ of this host\)"
    grep -qE "PE 0.* $said" "$dir/$1.err" ||
        why="$why; nobody says who is stopped"
    grep -qE "PE 1 .*(is stopped|has been stopped).*RMA_TIMEOUT|RMA_TIMEOUT.*PE 1 is stopped" "$dir/$1.err" ||
        why="$why; nobody says why it ends"
    conclude "$1"
}

# judge_failed NAME FUNCTION: the job has ended, and PE 1 has said which function of MPI has failed.
judge_failed() {
    status=$(cat "$dir/$1.status") why=
    [ -e "$dir/$1.note" ] || why='; there is no such call'
    case $status in 124 | 137) why="$why; exit $status" ;; esac
    if [ "$status" -eq 0 ] && ! code_is_lost; then why="$why; exit 0"; fi
    grep -qE "PE 1 .*: $2 failed with code" "$dir/$1.err" || why="$why; nobody says what has failed"
    conclude "$1"
}

# RMA_WINDOW=static where a job makes a second window, or frees one: by default the times that rma_init measures decide
# whether and when that happens.
nodes=$(layout_switches nolocal 2)
start init MPI_Init_thread 1
start split_type MPI_Comm_split_type 1
if [ $mpi = mpich ]; then start shared MPI_Win_allocate_shared 1; fi
start split MPI_Comm_split 1 $nodes
start idup MPI_Comm_idup 1 $nodes
start window MPI_Win_create 1 $nodes
start again MPI_Win_create 2 $nodes RMA_WINDOW=static
start end MPI_Win_free 1 $nodes RMA_WINDOW=static
start finalize MPI_Finalize 1
start_failed failed_split_type MPI_Comm_split_type 1
if [ $mpi = mpich ]; then start_failed failed_shared MPI_Win_allocate_shared 1; fi
start_failed failed_split MPI_Comm_split 1 $nodes
start_failed failed_idup MPI_Comm_idup 1 $nodes
start_failed failed_window MPI_Win_create 1 $nodes
start_failed failed_again MPI_Win_create 2 $nodes RMA_WINDOW=static
start_late late
start_bare bare
# Open MPI's launcher ends the job.
if [ $mpi = mpich ]; then
    start_dead dead_split_type MPI_Comm_split_type 1
    start_dead dead_shared MPI_Win_allocate_shared 1
    start_dead dead_again MPI_Win_create 2 $nodes RMA_WINDOW=static
    start_dead dead_end MPI_Win_free 1 $nodes RMA_WINDOW=static
fi
wait
judge init 'rma_init, MPI_Init_thread'
judge split_type 'rma_init, finding the node.s PEs by MPI_Comm_split_type'
if [ $mpi = mpich ]; then judge shared 'rma_init, reserving address space by MPI_Win_allocate_shared'; fi
judge split 'rma_init, .*MPI_Comm_split'
judge idup 'rma_init, .*MPI_Comm_split'
judge window "rma_init, making MPI.s window by MPI_Win_create"
judge again "rma_[a-z_]*, making MPI.s window by MPI_Win_create"
judge end "rma_[a-z_]*, (closing windows and communicators|making MPI.s window by MPI_Win_create)"
judge finalize 'rma_finalize, MPI_Finalize'
judge_failed failed_split_type MPI_Comm_split_type
if [ $mpi = mpich ]; then judge_failed failed_shared MPI_Win_allocate_shared; fi
judge_failed failed_split MPI_Comm_split
judge_failed failed_idup MPI_Comm_idup
judge_failed failed_window MPI_Win_create
judge_failed failed_again MPI_Win_create
judge_late late
judge_late bare
if [ $mpi = mpich ]; then
    judge_dead dead_split_type 'rma_init: finding the node.s PEs by MPI_Comm_split_type'
    judge_dead dead_shared 'rma_init: reserving address space by MPI_Win_allocate_shared'
    making='making MPI.s window by MPI_Win_create'
    judge_dead dead_again "rma_[a-z_]*: $making"
    judge_dead dead_end "rma_[a-z_]*: (closing windows and communicators|$making)"
fi
verdict
