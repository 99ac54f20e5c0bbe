#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-tsan.sh: ThreadSanitizer finds no race in three programs, whose threads share memory as processes of a node do:
#
#   test/threads/returned.c  threads give blocks back while their owner works
#   test/threads/near.c      the PEs of a team meet and exchange values
#   test/threads/growth.c    a heap grows while other threads ask what is in it
#
# Broken by a plain access to a word that another thread reads or writes at the same time; by an ordering that is too
# weak: what a thread wrote to a block must be seen by the owner that allocates it again, and what a PE wrote before a
# message by the PE that has received it.
set -eu

top_builddir=${top_builddir:-$(pwd)}
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
cc=${CC:-gcc}
mpiexec=${MPIEXEC:-mpiexec.mpich}
# shellcheck source=/dev/null
. "$top_srcdir/test/launcher.sh"
not_with_openmpi check-tsan "near.c and growth.c are linked without MPI, of whose handles Open MPI makes objects"

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

# Some kernels place memory at addresses that the sanitizer does not expect: then without random addresses.
printf '#include <pthread.h>\nint main(void) { return pthread_self() == 0; }\n' >"$dir/probe.c"
# CC and flags are lists of words.
# shellcheck disable=SC2086
if ! $cc $flags -pthread -o "$dir/probe" "$dir/probe.c" >"$dir/log" 2>&1; then
    echo "check-tsan: skipped: needs -fsanitize=thread of $cc (Debian, for clang: libclang-rt-dev)"
    exit 77
fi
fixed=
if ! timeout 60 "$dir/probe" >"$dir/log" 2>&1; then
    if command -v setarch >/dev/null 2>&1 && timeout 60 setarch "$(uname -m)" -R "$dir/probe" >"$dir/log" 2>&1; then
        fixed="setarch $(uname -m) -R"
    else
        echo "check-tsan: skipped: needs a kernel where ThreadSanitizer runs (as root: sysctl vm.mmap_rnd_bits=28)"
        exit 77
    fi
fi

# shellcheck disable=SC2086
if ! $cc $flags -I"$top_builddir" -I"$top_srcdir" -I"$top_srcdir/include" -pthread -o "$dir/returned" \
    "$top_srcdir/heap/tlsf.c" "$top_srcdir/heap/returned.c" "$top_srcdir/test/threads/returned.c" >"$dir/log" 2>&1; then
    fail "compilation"
    exit 1
fi

# --gc-sections drops the functions that need the rest of the library and that near.c does not call; of MPI only the
# headers are used. The sanitizer does not know fences; here they only serve to wake sleepers.
headers=$(${MPICC:-mpicc.mpich} -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
# shellcheck disable=SC2086
if ! $cc $flags $headers -Wno-tsan -Wno-unknown-warning-option -ffunction-sections -Wl,--gc-sections \
    -I"$top_builddir" -I"$top_srcdir" -I"$top_srcdir/include" -pthread -o "$dir/near" \
    "$top_srcdir/runtime/node/mailbox.c" "$top_srcdir/base/wait.c" "$top_srcdir/test/threads/near.c" \
    >"$dir/log" 2>&1; then
    fail "compilation"
    exit 1
fi

# The modules that check ranges and grow heaps, again without the functions that need the rest of the library.
sources="$top_srcdir/test/threads/growth.c"
for module in base/error base/settings base/size base/choice base/cgroup base/process \
    heap/segment heap/reserve heap/tlsf heap/quick heap/returned heap/attached \
    runtime/job/job runtime/reach runtime/world runtime/context runtime/pool runtime/local runtime/attach \
    runtime/space runtime/gptr runtime/transfer runtime/inline; do
    sources="$sources $top_srcdir/$module.c"
done
# shellcheck disable=SC2086
if ! $cc $flags $headers -Wno-tsan -Wno-unknown-warning-option -ffunction-sections -fdata-sections -Wl,--gc-sections \
    -I"$top_builddir" -I"$top_srcdir" -I"$top_srcdir/include" -pthread -o "$dir/growth" $sources >"$dir/log" 2>&1; then
    fail "compilation"
    exit 1
fi

races() { # races PROGRAM ARGUMENT...: the program finds its results right, and the sanitizer no race
    program=$1
    shift
    status=0
    # fixed is a command with arguments, or none. Each process needs it, as each gets random addresses of its own.
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
