#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-fuzz.sh: a few seconds of each fuzz target find nothing, by libFuzzer where clang has it and by the driver.
#
# Broken by what the targets' models find (tools/fuzz runs them for longer) and by a target that tools/fuzz cannot link.
#
#     RMA_TEST_FUZZ   seconds for each target and way (1; 5 with RMA_TEST_DEPTH=long)
set -eu

top_builddir=${top_builddir:-$(pwd)}
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
# shellcheck source=depth.sh
. "$top_srcdir/test/depth.sh"
seconds=${RMA_TEST_FUZZ:-$(by_depth 1 1 5)}
cc=${CC:-gcc}

dir=$(mktemp -d "${TMPDIR:-/tmp}/check-fuzz.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
failures=0
export top_builddir

echo 'int main(void) { return 0; }' >"$dir/probe.c"
# CC may be a command with arguments.
# shellcheck disable=SC2086
if ! $cc -fsanitize=address,undefined -o "$dir/probe" "$dir/probe.c" >/dev/null 2>&1 || ! "$dir/probe"; then
    echo "check-fuzz: skipped: needs -fsanitize=address,undefined of $cc (Debian, for clang: libclang-rt-dev)"
    exit 77
fi

fuzz() { # fuzz WHAT OPTION...
    what=$1
    shift
    if BUILD="$dir/$what" sh "$top_srcdir/tools/fuzz" "$@" >"$dir/log" 2>&1; then
        sed -n 's/^fuzz: \(.*\): nothing found$/ok   \1, '"$what"'/p' "$dir/log"
        [ "$(grep -c ': nothing found$' "$dir/log")" -eq "$(sh "$top_srcdir/tools/fuzz" --list | wc -l)" ] && return
    fi
    echo "FAIL $what"
    sed 's/^/    /' "$dir/log"
    failures=$((failures + 1))
}

fuzz driver --driver --seconds="$seconds" --runs=100000 --seed=1
if [ "$(BUILD="$dir/how" sh "$top_srcdir/tools/fuzz" --how)" = libfuzzer ]; then
    fuzz libfuzzer --seconds="$seconds"
fi

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
