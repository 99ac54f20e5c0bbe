#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-fortran.sh: the example in Fortran compiles, and runs on 2 PEs.
#
# Broken by a call of OpenSHMEM that the example declares but whose parameters have changed, or that the library does
# not export; by a handle with another value.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

fortran=${FC:-gfortran}
if ! command -v "${fortran%% *}" >/dev/null 2>&1; then
    skip "needs a Fortran compiler, and there is no $fortran (Debian package gfortran)"
fi
if [ ! -f "$top_builddir/.libs/librma_shmem.so" ] ||
    grep -q '^SAN_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
    skip "needs a shared library without sanitizers (no --enable-sanitizers)"
fi

example=$top_srcdir/examples/fortran
cd "$dir" # the compiler writes module files where it stands
# FC and MPIEXEC may be commands with arguments.
# shellcheck disable=SC2086
$fortran -std=f2008 -Wall -Werror -Wno-compare-reals -O1 "$example/shmem_c.f90" "$example/ring.f90" \
    -L"$top_builddir/.libs" -lrma_shmem -lrma -Wl,-rpath,"$top_builddir/.libs" -o ring ||
    { echo "FAIL the example does not compile"; exit 1; }
# shellcheck disable=SC2086
timeout "$(seconds 60)" $mpiexec -n 2 ./ring >log 2>&1 && grep -qx 'ring of 2 PEs: the first sum is 3.0' log ||
    { echo "FAIL the example does not run as it should:"; cat log; exit 1; }
