#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-ompt.sh: instruments/race/ompt.h has the same numbers and types of OMPT, the interface between OpenMP's runtime
# and a tool,
# as omp-tools.h of clang's OpenMP runtime. The library is built without that file. Broken by a wrong number, or a
# callback with other arguments; and by a librma_race that does not export ompt_start_tool.
set -eu

if [ $# -gt 0 ]; then
    echo "usage: check-ompt.sh"
    [ "$1" = --help ] && exit 0
    exit 2
fi
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

clang=${CLANG:-clang}
echo '#include <omp-tools.h>' >"$dir/probe.c"
if ! "$clang" -c "$dir/probe.c" -o "$dir/probe.o" >"$dir/log" 2>&1; then
    skip "needs $clang with omp-tools.h (Debian packages clang, libomp-dev)"
fi
if ! "$clang" -std=c11 -Wall -Wextra -Werror -include "$top_srcdir/instruments/race/ompt.h" \
    -c "$top_srcdir/test/race/ompt/values.c" -o "$dir/values.o" >"$dir/log" 2>&1; then
    fail "instruments/race/ompt.h and omp-tools.h differ"
else
    ok "instruments/race/ompt.h has the numbers and types of omp-tools.h"
fi
library=$top_builddir/.libs/librma_race.so
if [ ! -e "$library" ]; then
    echo "librma_race was not built in $top_builddir"
elif nm -D --defined-only "$library" | grep -q ' T ompt_start_tool$'; then
    ok "librma_race exports ompt_start_tool"
else
    fail "$library does not export ompt_start_tool"
fi
verdict
