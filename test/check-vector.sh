#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-vector.sh: the compiler reports that it has vectorised the loops of reductions; gcc once for every processor and
# once for those with AVX2.
#
# Broken by a loop whose arrays may overlap as far as the compiler knows, by a loop that is compiled without -O3, and by
# a new operation or type that needs another form of loop. Some loops may remain scalar, since x86-64 has no instruction
# for them: products of 64 bits, and comparisons of 64 bits before AVX2; long double; complex products.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
CC=${CC:-gcc}
mpicc=${MPICC:-mpicc.mpich}

case "${SANITIZERS-} $(uname -m)" in
*-fsanitize*) skip "needs a build without --enable-sanitizers" ;;
*" x86_64") ;;
*) skip "needs x86-64, of which the result is known" ;;
esac
# shellcheck disable=SC2086
case "$($CC --version | head -n 1)" in
*clang*)
    report="-Rpass-missed=loop-vectorize -Rpass=loop-vectorize"
    done='vectorized loop' missed='loop not vectorized' least=60
    ;;
*)
    report="-fopt-info-vec-optimized-missed"
    done='loop vectorized' missed="couldn't vectorize loop" least=150
    ;;
esac

source=$top_srcdir/base/kernels.c
: >"$dir/config.h"
echo "#define HAVE_TARGET_CLONES 1" >>"$dir/config.h"
# shellcheck disable=SC2086
if ! MPICH_CC=$CC OMPI_CC=$CC $mpicc -std=gnu11 -O2 -g $report -I"$dir" -I"$top_srcdir" -I"$top_srcdir/include" \
    -c "$source" -o "$dir/kernels.o" 2>"$dir/report"; then
    cat "$dir/report"
    exit 1
fi

failures=0
vectorised=$(grep -c "$done" "$dir/report" || true)
if [ "$vectorised" -lt $least ]; then
    echo "only $vectorised loops are vectorised"
    failures=1
fi
grep "$missed" "$dir/report" | sed -n 's/^[^:]*kernels\.c:\([0-9]*\):.*/\1/p' | sort -nu |
    while read -r line; do sed -n "${line}p" "$source"; done |
    grep '^\(BITS\|LIMITS\|SUMS\)(' | grep -v '64\|ldouble\|complex' >"$dir/missed" || true
if [ -s "$dir/missed" ]; then
    echo "not vectorised:"
    cat "$dir/missed"
    failures=1
fi
[ $failures -eq 0 ] || exit 1
echo "$vectorised loops are vectorised"
