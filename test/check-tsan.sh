#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-tsan.sh: ThreadSanitizer finds no race where blocks are given back while their owner works, in
# test/threads/returned.c.
#
# Broken by a plain access to a word that others read or write at the same time, and by an ordering that is too weak to
# carry what a giver wrote to the next life of its block. Processes on one node share memory as these threads do.
set -eu

top_builddir=${top_builddir:-$(pwd)}
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
cc=${CC:-gcc}

[ -f "$top_builddir/config.h" ] || { echo "check-tsan: there is no $top_builddir/config.h" >&2; exit 99; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/check-tsan.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
failures=0
flags="-std=gnu11 -fsanitize=thread -g -O1"

fail() { # fail TEXT, with the start of what was said
    echo "FAIL $*"
    head -n 60 "$dir/log" | sed 's/^/    /'
    failures=$((failures + 1))
}

# Under the sanitizer the addresses of some kernels' layout are too random: then without.
printf '#include <pthread.h>\nint main(void) { return pthread_self() == 0; }\n' >"$dir/probe.c"
# CC and flags are lists of words.
# shellcheck disable=SC2086
if ! $cc $flags -pthread -o "$dir/probe" "$dir/probe.c" >"$dir/log" 2>&1; then
    echo "check-tsan: skipped: $cc has no -fsanitize=thread"
    exit 77
fi
fixed=
if ! timeout 60 "$dir/probe" >"$dir/log" 2>&1; then
    if command -v setarch >/dev/null 2>&1 && timeout 60 setarch "$(uname -m)" -R "$dir/probe" >"$dir/log" 2>&1; then
        fixed="setarch $(uname -m) -R"
    else
        echo "check-tsan: skipped: programs with ThreadSanitizer do not run here"
        exit 77
    fi
fi

# shellcheck disable=SC2086
if ! $cc $flags -I"$top_builddir" -I"$top_srcdir" -I"$top_srcdir/include" -pthread -o "$dir/returned" \
    "$top_srcdir/heap/tlsf.c" "$top_srcdir/heap/returned.c" "$top_srcdir/test/threads/returned.c" >"$dir/log" 2>&1; then
    fail "compilation"
    exit 1
fi

races() { # races ARGUMENT...: none, and all blocks accounted for
    status=0
    # The addresses' layout is random anew in each process.
    # shellcheck disable=SC2086
    TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS-}" timeout 120 $fixed "$dir/returned" "$@" \
        >"$dir/log" 2>&1 </dev/null || status=$?
    if [ $status -ne 0 ]; then
        fail "returned $*: exit $status"
        sed -n 's/^SUMMARY: /    /p' "$dir/log" | sort | uniq -c
    else
        echo "ok   $(tail -n 1 "$dir/log")"
    fi
}

races calm
races

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
