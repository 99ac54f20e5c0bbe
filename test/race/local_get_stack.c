/* SPDX-License-Identifier: BSD-3-Clause */
/* A function begins a get into its caller's array, and another one, three calls deeper, reads the array before
 * quiet. Mended: the function that begins the get completes it. */
#include <shmem.h>
#include <stdio.h>

static long table[6] = {5, 5, 5, 5, 5, 5};

static void __attribute__((noinline)) fetch(long *into, int pe) {
    shmem_long_get_nbi(into, table, 6, pe); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
}
static long __attribute__((noinline)) last(const long *values) {
    const long value = values[5]; /* RACE: second */
    return value;
}
static long __attribute__((noinline)) twice(const long *values) { return 2 * last(values); }
static long __attribute__((noinline)) report(const long *values) { return twice(values) + 1; }

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long mine[6] = {0};
    fetch(mine, 1 - me);
    printf("%ld\n", report(mine));
    shmem_quiet();
    shmem_finalize();
    return 0;
}
