#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-fuzz.sh: a few seconds of each fuzz target find nothing, both with libFuzzer, if clang has it, and with the
# driver.
#
# Broken by errors that the targets' models find (tools/fuzz runs them for longer), and by a target that tools/fuzz
# cannot link.
#
#     RMA_TEST_FUZZ   seconds for each target and way (1; 5 with RMA_TEST_DEPTH=long)
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
length=${RMA_TEST_FUZZ:-$(by_depth 1 1 5)}
cc=${CC:-gcc}

echo 'int main(void) { return 0; }' >"$dir/probe.c"
# CC may be a command with arguments.
# shellcheck disable=SC2086
if ! $cc -fsanitize=address,undefined -o "$dir/probe" "$dir/probe.c" >/dev/null 2>&1 || ! "$dir/probe"; then
    skip "needs -fsanitize=address,undefined of $cc (Debian, for clang: libclang-rt-dev)"
fi

fuzz() { # fuzz WHAT OPTION...
    what=$1
    shift
    if BUILD="$dir/$what" sh "$top_srcdir/tools/fuzz" "$@" >"$dir/log" 2>&1; then
        sed -n 's/^fuzz: \(.*\): nothing found$/ok   \1, '"$what"'/p' "$dir/log"
        [ "$(grep -c ': nothing found$' "$dir/log")" -eq "$(sh "$top_srcdir/tools/fuzz" --list | wc -l)" ] && return
    fi
    fail "$what"
}

fuzz driver --driver --seconds="$length" --runs=100000 --seed=1
if [ "$(BUILD="$dir/how" sh "$top_srcdir/tools/fuzz" --how)" = libfuzzer ]; then
    fuzz libfuzzer --seconds="$length"
fi

verdict
