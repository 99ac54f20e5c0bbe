#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-ompt.sh: race/ompt.h has the numbers and types of OMPT, the interface between OpenMP's runtime and a tool, that
# the file omp-tools.h has, which comes with clang's runtime for OpenMP. The library is built without that file.
# Broken by a wrong number, or a callback with other arguments; and by a librma_race that does not export
# ompt_start_tool.
set -eu

if [ $# -gt 0 ]; then
    echo "usage: check-ompt.sh"
    [ "$1" = --help ] && exit 0
    exit 2
fi
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-.}
dir=$(mktemp -d "${TMPDIR:-/tmp}/check-ompt.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM

clang=${CLANG:-clang}
echo '#include <omp-tools.h>' >"$dir/probe.c"
if ! "$clang" -c "$dir/probe.c" -o "$dir/probe.o" >"$dir/log" 2>&1; then
    echo "check-ompt: skipped: needs $clang with omp-tools.h (Debian packages clang, libomp-dev)"
    exit 77
fi
if ! "$clang" -std=c11 -Wall -Wextra -Werror -include "$top_srcdir/race/ompt.h" \
    -c "$top_srcdir/test/race/ompt/values.c" -o "$dir/values.o" >"$dir/log" 2>&1; then
    echo "FAIL race/ompt.h and omp-tools.h differ:"
    sed 's/^/    /' "$dir/log"
    exit 1
fi
echo "race/ompt.h has the numbers and types of omp-tools.h"
library=$top_builddir/.libs/librma_race.so
if [ ! -e "$library" ]; then
    echo "librma_race was not built in $top_builddir"
elif nm -D --defined-only "$library" | grep -q ' T ompt_start_tool$'; then
    echo "librma_race exports ompt_start_tool"
else
    echo "FAIL $library does not export ompt_start_tool"
    exit 1
fi
