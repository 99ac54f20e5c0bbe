#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-tsan.sh: ThreadSanitizer finds no race in three programs, whose threads share memory as processes of a node do:
#
#   test/threads/returned.c  threads free blocks while their owner works
#   test/threads/near.c      the PEs of a team meet and exchange values
#   test/threads/growth.c    a heap grows while other threads query its content
#
# Broken by a plain access to a word that another thread reads or writes at the same time; by an ordering that is too
# weak: the owner that allocates a block again must see what a thread wrote to it, and a PE that has received a message
# must see what the sender wrote before it.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cc=${CC:-gcc}
not_with_openmpi check-tsan "near.c and growth.c are linked without MPI, of whose handles Open MPI makes objects"

[ -f "$top_builddir/config.h" ] || hard "there is no $top_builddir/config.h"

flags="-std=gnu11 -fsanitize=thread -g -O1"

# Some kernels place memory at addresses that the sanitizer does not expect; then the programs run without random
# addresses.
printf '#include <pthread.h>\nint main(void) { return pthread_self() == 0; }\n' >"$dir/probe.c"
# CC and flags are lists of words.
# shellcheck disable=SC2086
if ! $cc $flags -pthread -o "$dir/probe" "$dir/probe.c" >"$dir/log" 2>&1; then
    skip "needs -fsanitize=thread of $cc (Debian, for clang: libclang-rt-dev)"
fi
fixed=
if ! timeout "$(seconds 60)" "$dir/probe" >"$dir/log" 2>&1; then
    if command -v setarch >/dev/null 2>&1 &&
        timeout "$(seconds 60)" setarch "$(uname -m)" -R "$dir/probe" >"$dir/log" 2>&1; then
        fixed="setarch $(uname -m) -R"
    else
        skip "needs a kernel where ThreadSanitizer runs (as root: sysctl vm.mmap_rnd_bits=28)"
    fi
fi

# shellcheck disable=SC2086
if ! $cc $flags -I"$top_builddir" -I"$top_srcdir" -I"$top_srcdir/include" -pthread -o "$dir/returned" \
    "$top_srcdir/heap/tlsf.c" "$top_srcdir/heap/returned.c" "$top_srcdir/test/threads/returned.c" >"$dir/log" 2>&1; then
    fail "compilation"
    exit 1
fi

# --gc-sections drops the functions that need the rest of the library and that near.c does not call; of MPI only the
# headers are used. The sanitizer does not understand fences; here they only serve to wake sleepers.
headers=$(${MPICC:-mpicc.mpich} -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
# shellcheck disable=SC2086
if ! $cc $flags $headers -Wno-tsan -Wno-unknown-warning-option -ffunction-sections -Wl,--gc-sections \
    -I"$top_builddir" -I"$top_srcdir" -I"$top_srcdir/include" -pthread -o "$dir/near" \
    "$top_srcdir/runtime/node/mailbox.c" "$top_srcdir/base/wait.c" "$top_srcdir/base/crowd.c" \
    "$top_srcdir/base/clock.c" "$top_srcdir/test/threads/near.c" \
    >"$dir/log" 2>&1; then
    fail "compilation"
    exit 1
fi

# The modules that check ranges and grow heaps, again without the functions that need the rest of the library.
sources="$top_srcdir/test/threads/growth.c"
for module in base/error base/caller base/lines base/settings base/size base/choice base/cgroup base/process \
    heap/segment heap/canary heap/reserve heap/tlsf heap/quick heap/returned heap/attached \
    runtime/job/job runtime/reach runtime/world runtime/context runtime/pool runtime/api/local runtime/attach \
    runtime/space runtime/api/gptr runtime/api/resolve runtime/api/strided runtime/api/transfer runtime/api/inline; do
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
    # fixed is a command with arguments, or empty. Each process needs it, since each gets its own random addresses.
    # shellcheck disable=SC2086
    TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS-}" timeout "$(seconds 120)" $fixed "$dir/$program" "$@" \
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

verdict
