#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-slurm.sh: under Slurm jobs run by srun and by mpiexec in an allocation, whatever the order of the PEs; the
# library notices srun without --mpi, and a dead PE if Slurm does not end the job.
#
# The cluster is that of tools/slurm: two nodes on this machine. The job tests run by test/run-job, as elsewhere. Broken
# by n processes that each believe to be the whole job, by PEs that mistake a neighbour's node for their own, and by a
# wait that never checks whether the node's PEs are alive. RMA_TEST_SLURM_JOBS names other job tests.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
case $mpi in
mpich) srun="srun -Q --mpi=pmi2" ;;
openmpi) srun="srun -Q --mpi=pmix" ;;
*) skip "needs MPICH's launcher or Open MPI's, which '$mpiexec' is not" ;;
esac
jobs=${RMA_TEST_SLURM_JOBS:-$(by_depth collective "atomics collective wait" \
    "atomics barrier collective exhaustion lifecycle lock remote_heap symmetric team wait")}
need "$top_builddir/test/job/stall" "$top_builddir/examples/hello"

slurm() { "$top_srcdir/tools/slurm" --state "$dir/cluster" "$@"; }
trap 'slurm down >"$dir/down" 2>&1; rm -rf "$dir"' EXIT

# The caller's own settings must not change these tests.
for name in $(env | sed -n 's/^\(RMA_[A-Za-z0-9_]*\|SLURM_[A-Za-z0-9_]*\)=.*/\1/p'); do
    case $name in RMA_TEST_DEPTH | RMA_TEST_SLOW) ;; *) unset "$name" ;; esac
done

begin() { # begin ARG...: makes the cluster; without it there is nothing to test
    slurm up "$@" >"$dir/out" 2>&1 && return
    status=$?
    [ $status -ne 77 ] || skip "$(tail -n 1 "$dir/out")"
    cat "$dir/out" >&2
    exit 99
}
begin --nodes 2

# run COMMAND...: on the cluster.
run() {
    status=0
    slurm run timeout -k 5 "$(seconds 60)" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
}

# ---- a PE that dies; these jobs mostly sleep, so the others run meanwhile ----

# dies NAME COMMAND...: PE 1 of 4 kills itself while the others wait for it. srun without -K lets them live. PEs 0 and 1
# are on one node, 2 and 3 on the other.
dies() {
    name=$1
    shift
    (
        code=0
        # shellcheck disable=SC2086 # srun is a list of words
        slurm run timeout -k 5 "$(seconds 60)" $srun --kill-on-bad-exit=0 -N 2 -m block -n 4 \
            --ntasks-per-node=2 "$@" >"$dir/$name.out" 2>"$dir/$name.err" </dev/null || code=$?
        echo $code >"$dir/$name.status"
    ) &
}
# died NAME CALL: that job has ended, and a PE has named the dead one, and the call in which it has waited.
died() {
    status=$(cat "$dir/$1.status" 2>/dev/null || echo none)
    said="^librma: PE 0.*: $2: PE 1 has died"
    if [ "$status" = none ] || [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
        why="exit $status"
    elif ! grep -qE "$said" "$dir/$1.err"; then
        why="nobody says that PE 1 has died"
    else
        echo "ok   a PE that dies in $2: exit $status"
        return
    fi
    cp "$dir/$1.out" "$dir/out"
    cp "$dir/$1.err" "$dir/err"
    fail "a PE that dies in $2: $why"
}
# Over pmix Slurm ends the step of a PE that dies.
if [ "$mpi" = mpich ]; then
    for wait in barrier wait lock; do dies $wait "$top_builddir/test/job/stall" $wait die; done
    # Before rma_init: the others wait inside MPI.
    # shellcheck disable=SC2016
    dies init sh -c '[ "$SLURM_PROCID" != 1 ] || kill -KILL $$; exec "$0"' "$top_builddir/examples/hello"
fi

# ---- jobs ----

# part WHAT PES COMMAND...: the job tests with this launcher, as jobs of PES PEs.
part() {
    what=$1 pes=$2
    shift 2
    for job in $jobs; do
        run "$@" "RMA_TEST_PES=$pes" RMA_TEST_NODES=one sh "$top_srcdir/test/run-job" "$top_builddir/test/job/$job"
        if [ $status -eq 0 ]; then echo "ok   $what: $job, $pes PEs"; else fail "$what: $job: exit $status"; fi
    done
}
part "srun, in blocks" "$(by_depth 4 5 '1 2 5')" env "MPIEXEC=$srun -K1 -N 2 -m block"
part "srun, in turn" "$(by_depth 4 4 '2 4 5')" env "MPIEXEC=$srun -K1 -N 2 -m cyclic"
jobs=${jobs%% *}
part "mpiexec in salloc" 4 salloc -Q -N 2 -n 4 env "MPIEXEC=$mpiexec"

# ---- coarrays ----

fortran=${FC:-gfortran}
if ! command -v "${fortran%% *}" >/dev/null 2>&1 || [ ! -f "$top_builddir/.libs/librma_caf.so" ]; then
    echo "skipped: coarrays: needs a Fortran compiler (Debian package gfortran) and a shared library"
else
    for name in $(by_depth basics "basics collectives" "basics collectives components teams"); do
        # The compiler writes module files where it stands; FC may be a command with arguments.
        # shellcheck disable=SC2086
        if ! (cd "$dir" && $fortran -O1 -fcoarray=lib "$top_srcdir/test/caf/$name.f90" -o "$name" \
            -L"$top_builddir/.libs" -lrma_caf -lrma -Wl,-rpath,"$top_builddir/.libs") >"$dir/out" 2>&1; then
            fail "coarrays: $name does not compile"
            continue
        fi
        # shellcheck disable=SC2086
        run $srun -K1 -N 2 -m cyclic -n 4 "$dir/$name"
        if [ $status -eq 0 ] && grep -qx "$name: passed" "$dir/out"; then
            echo "ok   coarrays: $name, 4 images on 2 nodes"
        else
            fail "coarrays: $name: exit $status"
        fi
    done
fi

# ---- how a job is started ----

hello=$top_builddir/examples/hello
run srun -N 2 -n 4 "$hello"
# Open MPI refuses that itself.
if [ $status -eq 0 ] || grep -q '^hello' "$dir/out" || {
    [ "$mpi" = mpich ] &&
        ! grep -q 'rma_init: srun started 4 processes (SLURM_STEP_NUM_TASKS).*srun --mpi=pmi2' "$dir/err"
}; then
    fail "srun without --mpi: exit $status"
else
    echo "ok   srun without --mpi is refused"
fi
run salloc -Q -N 2 -n 4 "$hello"
if [ $status -eq 0 ] && grep -q '^hello from PE 0 of 1,' "$dir/out"; then
    echo "ok   one PE in the shell of an allocation"
else
    fail "one PE in the shell of an allocation: exit $status"
fi
# shellcheck disable=SC2086
run $srun -N 2 --ntasks-per-node=2 -m cyclic -n 4 "$hello"
if [ $status -eq 0 ] && grep -q '^hello from PE 2 of 4, number 1 of 2 on node 0 of 2' "$dir/out"; then
    echo "ok   PEs are dealt out to nodes as srun has done"
else
    fail "nodes of srun -m cyclic: exit $status"
fi

wait
if [ "$mpi" = mpich ]; then
    died init 'rma_init: MPI_Init_thread cannot end'
    died barrier rma_barrier_all
    died wait 'rma_wait_until[a-z_]*'
    died lock rma_set_lock
fi

# ---- binding, on a cluster whose srun binds ----

slurm down >"$dir/out" 2>&1
all=$(getconf _NPROCESSORS_ONLN)
if [ "$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)" -ne "$all" ] || [ "$all" -eq 1 ]; then
    echo "skipped: binding: needs several processors, and a shell that may use all of them"
else
    begin --nodes 1 --bind
    # shellcheck disable=SC2086
    run env RMA_INFO=yes $srun -n 2 --cpu-bind=cores "$hello"
    if [ $status -eq 0 ] && grep -qE "^librma: version .*, bound to [0-9]+ of $all processors" "$dir/err"; then
        echo "ok   RMA_INFO says that srun has bound the PEs"
    else
        fail "RMA_INFO does not say that srun has bound the PEs: exit $status"
    fi
fi

verdict
