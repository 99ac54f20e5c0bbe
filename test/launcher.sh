# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# launcher.sh: sourced by scripts that start jobs. It sets mpi (mpich, openmpi, other) to whose launcher $mpiexec is,
# loses_codes (yes, no) to whether that launcher may lose exit codes, and the environment in which a test can use it.
# Without mpiexec it only defines functions.
#
# layout.sh decides which simulated nodes a job has.

# openmpi_allow: tell Open MPI's launcher twice that root may run it, and that PEs may outnumber cores (PRTE_ is for
# version 5).
openmpi_allow() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
}

# openmpi_without_tcp: Open MPI 5 prints a warning in each job of a machine without reachable addresses (a container),
# unless TCP, which no test needs, is left out. Transports that the user has chosen stay. Not with version 4, whose
# launcher is named OpenRTE: its windows then use btl/ofi, which loses data and aborts.
openmpi_without_tcp() {
    case $launcher_version in
    *OpenRTE*) ;;
    *) export OMPI_MCA_btl="${OMPI_MCA_btl-^tcp}" ;;
    esac
}

# openmpi_unbind: let Open MPI's launcher bind no PE, like MPICH's: otherwise the two threads of a PE would share one
# core.
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
    # Hydra 4.1 and 4.2 may end with 0 if two processes of a node fail at nearly the same time, as in a job whose PEs
    # notice that one has died (pmodels/mpich 7057).
    case $(printf '%s\n' "$launcher_version" | sed -n 's/^ *Version: *//p') in
    4.[12] | 4.[12].*) loses_codes=yes ;;
    esac
    ;;
*) mpi=other ;;
esac
