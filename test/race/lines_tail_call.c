/* SPDX-License-Identifier: BSD-3-Clause */
/* The racing accesses are the last calls of their functions, which a compiler turns into jumps: the reports name these
 * lines, not those of the callers. Mended by a barrier. */
/* FLAGS: -O2 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static char line[64], copy[64];
static int taken;

static void __attribute__((noinline)) send(const char *text, int pe) {
    shmem_putmem(line, text, sizeof line, pe); /* RACE: first */
}

static void *__attribute__((noinline)) take(char *to) {
    taken++;
    return memcpy(to, line, sizeof line); /* RACE: second */
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    static const char text[64] = "far";
    if (me == 0) send(text, 1);
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) printf("%s\n", (char *)take(copy));
    shmem_finalize();
    return 0;
}
