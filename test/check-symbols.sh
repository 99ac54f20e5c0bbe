#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-symbols.sh: the libraries just built export the names that include/rma.symbols and include/shmem.symbols list, all and no others; and
# each function of OpenSHMEM has its second name.
set -eu
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$(pwd)}
status=0
sh "$top_srcdir/tools/check-symbols" "$top_builddir/.libs/librma.so" "$top_srcdir/include/rma.symbols" || status=$?
sh "$top_srcdir/tools/check-symbols" "$top_builddir/.libs/librma_shmem.so" "$top_srcdir/include/shmem.symbols" || status=$?
first=$(sed -n '/^p/d; /^MPI_/d; p' "$top_srcdir/include/shmem.symbols")
second=$(sed -n 's/^p//p' "$top_srcdir/include/shmem.symbols")
[ "$first" = "$second" ] || { echo "FAIL include/shmem.symbols: not each name has a second one"; status=1; }
exit $status
