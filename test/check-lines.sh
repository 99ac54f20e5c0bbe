#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-lines.sh: a fatal error names file, line and function of the call in the program, or how to compile the program
# so that it can; an error whose cause is not in the program names none.
#
# Broken by a place in the library, in a header of it or in the error handler of the program; by no place, or a wrong
# one, in programs with other code: with and without optimization, of fixed addresses, with the library linked in, in a
# thread, in Fortran; and by libdw in the memory of a program without errors.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2119
skip_with_sanitizers
unset_settings
need_lines
need_rma_mpi
source=$top_srcdir/test/lines
cc=${MPICC:-mpicc.mpich}
cd "$dir"

# build OUTPUT SOURCE OPTION...: with the shared libraries of this build.
build() {
    output=$1 from=$2
    shift 2
    # shellcheck disable=SC2086
    $cc "$@" -I"$top_srcdir/include" "$source/$from" -o "$output" -L"$top_builddir/.libs" -lrma_shmem -lrma -lpthread \
        >log 2>&1 || { fail "$output"; verdict; }
}
line_of() { grep -n "LINES: $1\>" "$source/$2" | cut -d: -f1; } # line_of MARK FILE

# names WHAT TEXT COMMAND...: of a job of one PE, which ends with an error.
names() {
    what=$1 text=$2
    shift 2
    # shellcheck disable=SC2086
    run $mpiexec -n 1 "$@"
    if [ "$status" -ne 0 ] && [ "$(grep -c "$text" err)" -eq 1 ]; then ok "$what"; else
        fail "$what: exit $status, not one line with '$text'"
    fi
}

for options in -O0 -O2 '-O2 -no-pie' '-O3 -fpie -pie'; do
    # shellcheck disable=SC2086
    build calls calls.c -g $options
    names "-g $options: rma_put" "rma_put was called at calls.c:$(line_of put calls.c), in exchange\$" ./calls put
    [ "$options" = -O0 ] || [ "$options" = -O2 ] || continue
    names "-g $options: shmem_long_p" "shmem_long_p was called at calls.c:$(line_of shmem calls.c), in exchange\$" \
        ./calls shmem
    names "-g $options: an error handler of the program" \
        "rma_broadcast was called at calls.c:$(line_of handler calls.c), in exchange\$" ./calls handler
    names "-g $options: a thread" "rma_put was called at calls.c:$(line_of put calls.c), in exchange\$" \
        ./calls put thread
    # shellcheck disable=SC2086
    build plain calls.c -g0 $options -fno-inline
    names "without -g, $options" "rma_put was called in exchange (plain+0x[0-9a-f]*); compile with -g for" ./plain put
    strip plain
    names "a program without symbols, $options" "rma_put was called at plain+0x[0-9a-f]*; compile with -g for" \
        ./plain put
done

# clang writes no table of addresses.
if command -v clang >/dev/null; then
    MPICH_CC=clang OMPI_CC=clang
    export MPICH_CC OMPI_CC
    build clang calls.c -g -O2
    unset MPICH_CC OMPI_CC
    names "clang: rma_put" "rma_put was called at calls.c:$(line_of put calls.c), in exchange\$" ./clang put
else
    echo "no clang: its programs are not tried"
fi

# The library in the program, as rmacc -static-librma has it.
for options in -O0 -O2 '-O2 -no-pie'; do
    # shellcheck disable=SC2086
    if ! { $cc -g $options -I"$top_srcdir/include" -c "$source/native.c" -o native.o &&
        sh "$top_builddir/libtool" --silent --tag=CC --mode=link $cc $options native.o "$top_builddir/librmai.la" \
            -lm -lpthread -o native; } >log 2>&1; then
        fail "a program with the library linked in"
        continue
    fi
    names "the library linked in, $options" "rma_put was called at native.c:$(line_of put native.c), in exchange\$" \
        ./native
done

# shellcheck disable=SC2154
if [ "$mpi" = mpich ]; then
    $cc -g -O2 "$source/window.c" -o window >log 2>&1 || fail "window.c"
    # shellcheck disable=SC2086
    names "a window of MPI" "MPI_Put was called at window.c:$(line_of window window.c), in exchange\$" $preload ./window
fi
if command -v gfortran >/dev/null; then
    gfortran -g -O2 -fcoarray=lib "$source/image.f90" -o image -L"$top_builddir/.libs" -lrma_caf -lrma >log 2>&1 ||
        fail "image.f90"
    names "a coarray" \
        "Error in image 1: the statement is at image.f90:$(line_of image image.f90), in exchange\$" ./image
else
    echo "no gfortran: coarrays are not tried"
fi

# ---- no place, and no cost ----

for setting in RMA_HEAP_MAX=many RMA_HEAP_MAX=1; do
    # shellcheck disable=SC2086
    run env $setting $mpiexec -n 1 ./calls setting
    if [ "$status" -ne 0 ] && ! grep -q "was called" err; then ok "$setting: no place"; else
        fail "$setting: exit $status, or a place in the program"
    fi
done
# shellcheck disable=SC2086
run env LD_DEBUG=files $mpiexec -n 1 ./calls nothing
if [ "$status" -eq 0 ] && grep -q librma.so err && ! grep -q libdw err; then
    ok "without an error libdw stays away"
else
    fail "without an error: exit $status, or libdw is loaded"
fi

verdict
