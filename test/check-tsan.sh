#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-tsan.sh: ThreadSanitizer finds no race where blocks are given back while their owner works, in
# test/threads/returned.c, nor among the PEs of a team that meet and tell each other things, in test/threads/near.c, nor where a heap
# grows while other threads ask what is in it, in test/threads/growth.c.
#
# Broken by a plain access to a word that others read or write at the same time, and by an ordering that is too weak to
# carry what a giver wrote to the next life of its block, or what a PE wrote to those that have heard it. Processes on one node share
# memory as these threads do.
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

# What is not of turns, and would need the rest of the library, is left out; of MPI there are the headers. Fences are not known to the
# sanitizer; here they are for waking only.
headers=$(${MPICC:-mpicc.mpich} -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
# shellcheck disable=SC2086
if ! $cc $flags $headers -Wno-tsan -Wno-unknown-warning-option -ffunction-sections -Wl,--gc-sections \
    -I"$top_builddir" -I"$top_srcdir" -I"$top_srcdir/include" -pthread -o "$dir/near" "$top_srcdir/runtime/node/mailbox.c" \
    "$top_srcdir/base/wait.c" \
    "$top_srcdir/test/threads/near.c" >"$dir/log" 2>&1; then
    fail "compilation"
    exit 1
fi

# The checks of ranges and what makes heaps grow: the library's own objects, without what calls MPI.
sources="$top_srcdir/test/threads/growth.c"
for module in base/error base/settings base/size base/choice base/cgroup heap/segment heap/reserve heap/tlsf heap/quick heap/returned heap/attached \
    runtime/job/job runtime/reach runtime/world runtime/context runtime/pool runtime/local runtime/attach runtime/space runtime/gptr runtime/transfer runtime/inline; do
    sources="$sources $top_srcdir/$module.c"
done
# shellcheck disable=SC2086
if ! $cc $flags $headers -Wno-tsan -Wno-unknown-warning-option -ffunction-sections -fdata-sections -Wl,--gc-sections \
    -I"$top_builddir" -I"$top_srcdir" -I"$top_srcdir/include" -pthread -o "$dir/growth" $sources >"$dir/log" 2>&1; then
    fail "compilation"
    exit 1
fi

races() { # races PROGRAM ARGUMENT...: none, and all is as it has to be
    program=$1
    shift
    status=0
    # The addresses' layout is random anew in each process.
    # shellcheck disable=SC2086
    TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS-}" timeout 120 $fixed "$dir/$program" "$@" \
        >"$dir/log" 2>&1 </dev/null || status=$?
    if [ $status -ne 0 ]; then
        fail "$program $*: exit $status"
        sed -n 's/^SUMMARY: /    /p' "$dir/log" | sort | uniq -c
    else
        echo "ok   $(tail -n 1 "$dir/log")"
    fi
}

races returned calm
races returned
races near 2 flat
races near 3 flat
races near 12 tree 5000
races near 5 counter
races growth

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
