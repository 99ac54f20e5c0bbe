#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-armci.sh: programs on Debian's ARMCI-MPI and Global Arrays, which put, get, accumulate and count in MPI's
# windows, on librma (rma_mpi): on one node and on simulated nodes. On MPI alone they fail exactly where the note of
# RMA_MPI_INFO=1 says that MPI returns wrong data; where it is right, this also shows that the programs are.
# Skipped where libarmci-mpi-dev is not installed; Global Arrays also without libglobalarrays-dev or its ScaLAPACK.
#
# Broken by a strided datatype that arrives elsewhere, by an accumulate or an increment that is lost, and by a mutex
# that two processes hold.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers "the library is preloaded"
unset_settings
need_rma_mpi
# shellcheck disable=SC2154
case $mpi in
mpich | openmpi) ;;
*) skip "needs MPICH or Open MPI, for which Debian has ARMCI" ;;
esac
options="-std=gnu11 -O1 -Wall -Wextra -Werror -I$top_srcdir/test/mpi"
scalapack=libscalapack-$mpi.so.2.2 # no package has its name without the version

# build NAME LIBRARY...: compiles test/mpi/NAME.c.
build() {
    source=$top_srcdir/test/mpi/$1.c program=$dir/$1
    shift
    # shellcheck disable=SC2086
    ${MPICC:-mpicc.mpich} $options -o "$program" "$source" "$@" >"$dir/log" 2>&1
}
echo 'int main(void) { return 0; }' >"$dir/none.c"
# has LIBRARY...: whether a program can be linked with these.
has() { ${MPICC:-mpicc.mpich} -o "$dir/none" "$dir/none.c" "$@" 2>/dev/null; }

programs=''
has -larmci-$mpi || skip "needs ARMCI (package libarmci-mpi-dev)"
if build armci -larmci-$mpi; then programs=armci; else fail "armci.c does not compile"; fi
if ! has -lga-$mpi -l:"$scalapack" -llapack -lblas -lgfortran; then
    echo "$script: Global Arrays: skipped: needs packages libglobalarrays-dev, libscalapack-${mpi}2.2, gfortran"
elif build global_arrays -lga-$mpi -larmci-$mpi -l:"$scalapack" -llapack -lblas -lgfortran -lm -lpthread; then
    programs="$programs global_arrays"
else
    fail "global_arrays.c does not compile"
fi

jobs="one:2 nolocal:2 blocks2:3"
! quick || jobs=one:2
! deep || jobs="$jobs one:1 one:3 one:4 nolocal:3 blocks2:4"
for program in $programs; do
    : >"$dir/log"
    for job in $jobs; do
        layout=${job%:*} count=${job#*:}
        # shellcheck disable=SC2046,SC2086
        run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" $preload "$dir/$program"
        exits 0 "$program on librma, $count processes, $(layout_words "$layout")"
    done
done

# MPI alone, and what the note says.
# shellcheck disable=SC2086
run env RMA_MPI_INFO=1 $mpiexec -n 2 $preload "$dir/armci"
said=right
if grep -q 'this MPI returns wrong data' "$dir/err"; then said=wrong; fi
# shellcheck disable=SC2086
run $mpiexec -n 2 "$dir/armci"
if [ $said = right ]; then
    exits 0 "armci on MPI alone, which RMA_MPI_INFO=1 does not say to be wrong"
elif [ "$status" -ne 0 ] && [ "$status" -ne 124 ]; then # the launcher may drop what the program has said
    ok "armci on MPI alone gets wrong data, as RMA_MPI_INFO=1 says"
else
    fail "armci on MPI alone: exit $status, but RMA_MPI_INFO=1 says that it gets wrong data"
fi
verdict
