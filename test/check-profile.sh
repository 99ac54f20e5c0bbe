#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-profile.sh: a tool can define functions with the library's names, and call the library's own by their second
# names (prma_...).
#
# Broken by a call that is inlined although the program is compiled with RMA_PROFILE, and by a function without a second
# name.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cc=${CC:-cc}
library=$top_builddir/.libs/librma.so

if [ ! -f "$library" ] || grep -q '^SAN_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
    skip "needs a shared library without sanitizers (no --enable-sanitizers)"
fi

nm -D --defined-only "$library" | awk '{ print $3 }' | grep '^rma_.*[^_]$' | sort >"$dir/names"
nm -D --defined-only "$library" | awk '{ print $3 }' | sed -n 's/^prma_/rma_/p' | sort >"$dir/twins"
if ! [ -s "$dir/names" ] || ! cmp -s "$dir/names" "$dir/twins"; then
    echo "FAIL not every function has two names:"
    diff "$dir/names" "$dir/twins" | head
    exit 1
fi

cat >"$dir/tool.c" <<'END'
#include <rma.h>
#include <stdio.h>
extern __typeof__(rma_put) prma_put;
extern __typeof__(rma_atomic_fetch_add_long) prma_atomic_fetch_add_long;
extern __typeof__(rma_barrier_all) prma_barrier_all;
extern __typeof__(rma_finalize) prma_finalize;
__typeof__(rma_put) my_put __asm__("rma_put");
__typeof__(rma_atomic_fetch_add_long) my_add __asm__("rma_atomic_fetch_add_long");
__typeof__(rma_barrier_all) my_barrier __asm__("rma_barrier_all");
__typeof__(rma_finalize) my_finalize __asm__("rma_finalize");
static long puts_seen, adds_seen, barriers_seen;
int my_put(void *dest, const void *source, size_t len, int pe) {
    puts_seen++;
    return prma_put(dest, source, len, pe);
}
long my_add(long *target, long value, int pe) {
    adds_seen++;
    return prma_atomic_fetch_add_long(target, value, pe);
}
int my_barrier(void) {
    barriers_seen++;
    return prma_barrier_all();
}
int my_finalize(void) {
    printf("seen %ld %ld %ld\n", puts_seen, adds_seen, barriers_seen);
    fflush(stdout);
    return prma_finalize();
}
END
cat >"$dir/program.c" <<'END'
#include <rma.h>
int main(void) {
    long *word, value = 5;
    if (rma_init() != RMA_SUCCESS) return 1;
    word = rma_calloc(2, sizeof *word);
    for (int i = 0; i < 7; i++) rma_put(word, &value, sizeof value, 0);
    for (int i = 0; i < 11; i++) rma_atomic_fetch_add(word + 1, 1L, 0);
    rma_barrier_all();
    if (rma_my_pe() == 0 && (word[0] != 5 || word[1] != 11L * rma_n_pes())) return 2;
    rma_free(word);
    return rma_finalize();
}
END

include=-I$top_srcdir/include rpath=-Wl,-rpath,$top_builddir/.libs
warnings="-Wall -Wextra -Werror"
# CC and warnings are lists of words.
# shellcheck disable=SC2086
{
    $cc -std=gnu11 -O2 $warnings -fPIC -shared "$include" "$dir/tool.c" -o "$dir/tool.so"
    $cc -std=gnu11 -O2 $warnings -DRMA_PROFILE "$include" "$dir/program.c" -o "$dir/profiled" "$library" "$rpath"
    $cc -std=gnu11 -O2 "$include" "$dir/program.c" -o "$dir/plain" "$library" "$rpath"
}

try() { # try PROGRAM WANTED
    # shellcheck disable=SC2086
    run $mpiexec -n 2 env LD_PRELOAD="$dir/tool.so" "$dir/$1"
    exits 0 "$1 ends well"
    [ "$(grep -c "^seen $2\$" "$dir/out")" = 2 ] || fail "$1: not 'seen $2' from both PEs"
}
try profiled "7 11 1"
try plain "0 0 1" # the compiler has inlined put and add: the tool sees calls only
verdict
