#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-statics.sh: global variables are symmetric, however the program was linked.
#
# Where .data and .bss begin, and which part of them the dynamic linker makes read-only, depends on the linker and its
# options. The script builds one small program with each available compiler and linker, position-independent or not,
# with larger or smaller read-only parts, and statically if MPI allows it. It runs each on 2 PEs with RMA_STATICS=remap,
# and some kinds of program also with RMA_STATICS=window.
# Broken by a range without the first or last variable; by a range that includes read-only memory, so that the program
# dies.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
not_with_openmpi check-statics "its ways of linking are MPICH's (-cc, static libraries)"
mpicc=${MPICC:-mpicc.mpich}
lib=$(cd "$top_builddir/.libs" 2>/dev/null && pwd) || lib=

if [ -z "$lib" ] || [ ! -e "$lib/librma.so" ]; then
    echo "check-statics: there is no librma.so in $top_builddir/.libs" >&2
    exit 99
fi

# One compiler's program cannot be linked with a library that has another compiler's sanitizers. test/job/statics, which
# the build itself compiles, is tested with sanitizers.
skip_with_sanitizers

cat >"$dir/program.c" <<'END'
/* The first and the last of .data and .bss among others, whatever order the linker gives them. */
#include <rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tiny = 7;
long in_data[3] = {1, 2, 3};
long in_bss[3];
static char large[1 << 20], page[5000] __attribute__((aligned(4096))), last = 'z';
char at_the_end;
const long constant = 5;
const char *names[] = {"pointers", "that are relocated"};
static long *const constant_pointer = &in_data[1]; /* read-only after relocation */
static long *pointer = &in_data[1];
static struct { void *address; long size; } seen[] = {
    {&tiny, sizeof tiny}, {in_data, sizeof in_data}, {in_bss, sizeof in_bss},
    {large, sizeof large}, {page, sizeof page}, {&last, sizeof last},
    {&at_the_end, sizeof at_the_end}, {names, sizeof names}, {&pointer, sizeof pointer}};

static int fail(int line, const char *what) {
    fprintf(stderr, "line %d: not %s: %s\n", line, what, rma_last_error());
    exit(1);
}
#define MUST(condition) ((void)((condition) || fail(__LINE__, #condition)))

static long *counter(void) {
    static long count = 40;
    return &count;
}

int main(int argc, char **argv) {
    int me, other, in_place = argc > 1 && strcmp(argv[1], "window") == 0;
    long sum = 0;
    MUST(rma_init() == RMA_SUCCESS);
    me = rma_my_pe();
    other = 1 - me;
    MUST(rma_n_pes() == 2);
    MUST(tiny == 7 && in_data[1] == 2 && last == 'z' && in_bss[2] == 0 && *pointer == 2 && *constant_pointer == 2);
    MUST(strcmp(names[1], "that are relocated") == 0 && *counter() == 40);
    rma_barrier_all();
    for (unsigned i = 0; i < sizeof seen / sizeof *seen; i++) {
        char *first = seen[i].address, *end = first + seen[i].size - 1, byte, there;
        MUST(rma_get(&byte, first, 1, other) == RMA_SUCCESS && rma_put(first, &byte, 1, other) == RMA_SUCCESS);
        MUST(rma_get(&there, end, 1, other) == RMA_SUCCESS && rma_put(end, &there, 1, other) == RMA_SUCCESS);
        MUST(!rma_ptr(first, other) == in_place && rma_ptr(end, me) == end);
    }
    rma_barrier_all();
    MUST(rma_p(&in_bss[2], 100L + me, other) == RMA_SUCCESS);
    MUST(rma_atomic_fetch_add(counter(), 2L, other) == 40);
    MUST(rma_put(large + sizeof large - 8, "seventy", 8, other) == RMA_SUCCESS);
    MUST(rma_gptr_put(rma_gptr(&last, other), me ? "b" : "a", 1) == RMA_SUCCESS);
    rma_barrier_all();
    MUST(in_bss[2] == 100 + other && *counter() == 42 && last == (other ? 'b' : 'a'));
    MUST(strcmp(large + sizeof large - 8, "seventy") == 0);
    MUST(rma_put((void *)&constant, &sum, 8, me) == RMA_ERR_ADDRESS && !rma_ptr(&constant, me));
    MUST(rma_finalize() == RMA_SUCCESS);
    MUST(in_bss[2] == 100 + other && *counter() == 42 && last == (other ? 'b' : 'a') && pointer == &in_data[1]);
    puts("done");
    return 0;
}
END

# build NAME COMPILER OPTIONS...: builds the program; fails if the compiler or linker is not installed, or cannot build
# it. SANITIZERS is a list of words.
# shellcheck disable=SC2086
build() {
    name=$1
    shift
    "$@" ${SANITIZERS-} -I "$top_srcdir/include" -o "$dir/$name" "$dir/program.c" -L"$lib" -Wl,-rpath,"$lib" $more \
        >"$dir/log" 2>&1
}

# With RMA_STATICS=window the variables stay in place, whatever the linker did: one test for each kind of program is
# enough, unless the depth is `long`.
runs() { # runs NAME
    case $1 in plain | no-pie | library-static | static) modes="remap window" ;; *) modes=remap ;; esac
    if deep; then modes="remap window"; fi
    for mode in $modes; do
        # mpiexec may be a command with arguments.
        # shellcheck disable=SC2086
        run env RMA_STATICS=$mode RMA_ERRORS=return $mpiexec -n 2 "$dir/$1" $mode
        if [ "$status" -eq 0 ] && [ "$(cat "$dir/out" "$dir/err" | grep -o 'done' | wc -l)" -eq 2 ]; then
            ok "$1, $mode"
        else
            fail "$1, $mode"
        fi
    done
}

try() { # try NAME COMPILER OPTIONS...
    if build "$@"; then
        runs "$1"
    else
        why=$(grep -m 1 -i 'error\|not found\|cannot\|invalid\|undefined' "$dir/log" || head -n 1 "$dir/log")
        echo "note: $1 is not tested: $why"
    fi
}

# The compilers: that of mpicc, and clang in its place (MPICH's -cc).
more=-lrma
build plain "$mpicc" -O1 || { fail "the program does not build with $mpicc"; exit 1; }
runs plain
try pie "$mpicc" -O1 -fPIE -pie
try no-pie "$mpicc" -O1 -fno-pie -no-pie
try relro-now "$mpicc" -O1 -fPIE -pie -Wl,-z,relro,-z,now
! deep || try relro-lazy "$mpicc" -O1 -fPIE -pie -Wl,-z,relro,-z,lazy
try norelro "$mpicc" -O1 -fPIE -pie -Wl,-z,norelro
try no-pie-relro-now "$mpicc" -O1 -fno-pie -no-pie -Wl,-z,relro,-z,now
! deep || try no-pie-norelro "$mpicc" -O1 -fno-pie -no-pie -Wl,-z,norelro
try large-pages "$mpicc" -O1 -Wl,-z,max-page-size=65536
! deep || try small-pages "$mpicc" -O1 -Wl,-z,max-page-size=4096,-z,noseparate-code
for linker in gold lld mold; do
    try $linker "$mpicc" -O1 -fuse-ld=$linker
    try $linker-no-pie-relro-now "$mpicc" -O1 -fno-pie -no-pie -fuse-ld=$linker -Wl,-z,relro,-z,now
done
if command -v clang >/dev/null 2>&1; then
    try clang "$mpicc" -cc=clang -O1
    try clang-no-pie "$mpicc" -cc=clang -O1 -fno-pie -no-pie
    try clang-lld "$mpicc" -cc=clang -O1 -fuse-ld=lld
    try clang-lld-no-pie-relro-now "$mpicc" -cc=clang -O1 -fno-pie -no-pie -fuse-ld=lld -Wl,-z,relro,-z,now
else
    echo "skipped: clang: needs clang (Debian packages clang, lld)"
fi

# The library in the program: its own variables, and with -static those of libc and MPI, are moved with the program's.
more="$lib/librmai.a -lhwloc -lpthread"
try library-static "$mpicc" -O1
try library-static-no-pie "$mpicc" -O1 -fno-pie -no-pie
try static "$mpicc" -O1 -static
try static-pie "$mpicc" -O1 -static-pie

verdict
