# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# launcher.sh: for scripts that start jobs to source: whose launcher $mpiexec is (mpi: mpich, openmpi, other), whether
# it may lose exit codes (loses_codes: yes, no), and the environment in which it can be used by a test. Without mpiexec:
# the functions alone.
#
# Which simulated nodes a job has is not here but in layout.sh.

# openmpi_allow: tell Open MPI's launcher twice that root may run it, and that PEs may outnumber cores (PRTE_ is for
# version 5).
openmpi_allow() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
}

# openmpi_without_tcp: Open MPI 5 complains on stderr in each job of a machine whose addresses reach nobody (a
# container), unless TCP is left out, which no test needs. Who has chosen transports keeps them. Not with version 4,
# whose launcher has the name OpenRTE: its windows then take btl/ofi, which loses data and aborts.
openmpi_without_tcp() {
    case $launcher_version in
    *OpenRTE*) ;;
    *) export OMPI_MCA_btl="${OMPI_MCA_btl-^tcp}" ;;
    esac
}

# openmpi_unbind: let Open MPI's launcher bind no PE, as MPICH's does: the two threads of a PE would share one core.
openmpi_unbind() {
    export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
}

# not_with_openmpi SCRIPT WHY: ends the script as skipped there.
not_with_openmpi() {
    [ $mpi != openmpi ] || { echo "$1: skipped: needs MPICH, as the build has Open MPI: $2"; exit 77; }
}

# is_openmpi5: $mpiexec is that of Open MPI 5 or later.
is_openmpi5() {
    case $mpi.$launcher_version in
    openmpi.*OpenRTE*) return 1 ;;
    openmpi.*) ;;
    *) return 1 ;;
    esac
}

loses_codes=no
launcher_version=$(${mpiexec:+$mpiexec --version} 2>&1 </dev/null) || true
case $launcher_version in
*"Open MPI"* | *OpenRTE*)
    mpi=openmpi
    openmpi_allow
    openmpi_without_tcp
    openmpi_unbind
    ;;
*HYDRA*)
    mpi=mpich
    # Hydra 4.1 and 4.2 may end with 0 where two processes of a node end badly at nearly the same time, which a job does
    # whose PEs notice that one has died (pmodels/mpich 7057).
    case $(printf '%s\n' "$launcher_version" | sed -n 's/^ *Version: *//p') in
    4.[12] | 4.[12].*) loses_codes=yes ;;
    esac
    ;;
*) mpi=other ;;
esac
