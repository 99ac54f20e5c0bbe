#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-symbols.sh: the built libraries export exactly the names that include/*.symbols list; and each function of
# OpenSHMEM has its second name.
set -eu
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$(pwd)}
status=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/check-symbols.XXXXXX")
trap 'rm -rf "$dir"' EXIT
# A sanitizer has these two functions itself (interfaces/caf/component.c).
case ${SANITIZERS-} in *-fsanitize*) without='^(free|realloc)( |$)' ;; *) without='^$' ;; esac
for name in rma shmem caf; do
    library=librma.so
    [ $name = rma ] || library=librma_$name.so
    grep -vE "$without" "$top_srcdir/include/$name.symbols" >"$dir/$name.symbols"
    sh "$top_srcdir/tools/check-symbols" "$top_builddir/.libs/$library" "$dir/$name.symbols" || status=$?
done
first=$(sed -n 's/ .*//; /^p/d; /^MPI_/d; p' "$top_srcdir/include/shmem.symbols")
second=$(sed -n 's/ .*//; s/^p//p' "$top_srcdir/include/shmem.symbols")
[ "$first" = "$second" ] || { echo "FAIL include/shmem.symbols: not each name has a second one"; status=1; }
exit $status
