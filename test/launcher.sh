# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# launcher.sh: for scripts that start jobs to source: whose launcher $mpiexec is (mpi: mpich, openmpi, other), and the
# environment in which it can be used by a test.
#
# Open MPI's wants to be told twice that root may run it, and that PEs may outnumber cores (PRTE_ is for version 5). It binds
# PEs where MPICH's does not, and the two threads of a PE would then share one core.

# shellcheck disable=SC2154
case $($mpiexec --version 2>&1 </dev/null) in
*"Open MPI"* | *OpenRTE*)
    mpi=openmpi
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
    ;;
*HYDRA*) mpi=mpich ;;
*) mpi=other ;;
esac

# not_with_openmpi SCRIPT WHY: ends the script as skipped there.
not_with_openmpi() {
    [ $mpi != openmpi ] || { echo "$1: skipped: $2"; exit 77; }
}
