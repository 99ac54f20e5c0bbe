#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-symbols.sh: the library just built exports the names that include/rma.symbols lists, all and no others.
set -eu
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$(pwd)}
exec sh "$top_srcdir/tools/check-symbols" "$top_builddir/.libs/librma.so" "$top_srcdir/include/rma.symbols"
