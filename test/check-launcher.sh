#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-launcher.sh: a program that another MPI's launcher has started reports this, instead of running n times as one
# PE.
#
# Such a launcher sets its variables in the environment, and MPI, which does not know them, makes a world of one
# process. Broken by a launcher that librma does not notice, and by a false error: for variables that fit the world, or
# that are left over in a shell that then starts a job with the right launcher.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
hello=$top_builddir/examples/hello

need "$hello"

# start COMMAND...: runs it without launchers' variables that this script may have in its own environment.
start() {
    run env -u OMPI_COMM_WORLD_SIZE -u PMI_SIZE -u PMI_RANK -u PMI_FD -u MPI_LOCALNRANKS -u PALS_NRANKS -u RMA_ERRORS \
        -u SLURM_STEP_NUM_TASKS -u SLURM_NTASKS "$@"
}

# refused VARIABLE [WHO ADVICE]: with VARIABLE=4, a program that is alone in its world ends with one line: WHO (default:
# the launcher) has started 4 processes, and ADVICE.
refused() {
    start env "$1=4" "$hello"
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
        fail "$1=4: exit $status"
    elif [ "$(grep -c '^librma: ' "$dir/err")" -ne 1 ]; then
        fail "$1=4: not one line"
    elif ! grep -q "^librma: .*rma_init: ${2:-the launcher} started 4 processes ($1).*${3-} .*mpiexec" \
        "$dir/err"; then
        fail "$1=4: the line does not name who has started the processes, the variable and the mpiexec to use"
    elif grep -q '^hello' "$dir/out"; then
        fail "$1=4: the program ran"
    else
        ok "$1=4 is refused"
    fi

    # With RMA_ERRORS=return the program decides; hello ends silently.
    start env "$1=4" RMA_ERRORS=return "$hello"
    [ "$status" -ne 0 ] || fail "$1=4 RMA_ERRORS=return: the program ran"
}

# accepted N WHAT COMMAND...: N processes are N PEs.
accepted() {
    n=$1 what=$2
    shift 2
    start "$@"
    if [ "$status" -ne 0 ] || [ "$(grep -c "^hello from PE [0-9]* of $n," "$dir/out")" -ne "$n" ]; then
        fail "$what: exit $status, not $n PEs"
    else
        ok "$what"
    fi
}

refused OMPI_COMM_WORLD_SIZE
refused PALS_NRANKS
case $mpi in openmpi) option=--mpi=pmix ;; *) option=--mpi=pmi2 ;; esac
refused SLURM_STEP_NUM_TASKS srun "use srun $option,"

# mpiexec may be a command with arguments.
# shellcheck disable=SC2086
{
    accepted 1 "a program started by hand" "$hello"
    accepted 1 "OMPI_COMM_WORLD_SIZE=1" env OMPI_COMM_WORLD_SIZE=1 "$hello"
    accepted 1 "OMPI_COMM_WORLD_SIZE that is no number" env OMPI_COMM_WORLD_SIZE=many "$hello"
    accepted 1 "one PE under mpiexec" $mpiexec -n 1 "$hello"
    accepted 1 "a program in the shell of salloc" env SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=1 "$hello"
    accepted 1 "one PE under mpiexec on the nodes of salloc" $mpiexec -n 1 env SLURM_STEP_NUM_TASKS=2 "$hello"
    accepted 2 "two PEs, with a variable left over" env OMPI_COMM_WORLD_SIZE=4 $mpiexec -n 2 "$hello"
}

verdict
