/* SPDX-License-Identifier: BSD-3-Clause */
/* The mistake of calls.c in a program without OpenSHMEM, for a program that has the library linked in. */
#include <rma.h>
#include <stdio.h>

static volatile int after;

static void __attribute__((noinline)) exchange(long *there) {
    long one = 1;
    rma_put(there, &one, sizeof one, 7); /* LINES: put */
    after++;
}

int main(void) {
    long *there;
    rma_init();
    there = rma_malloc(sizeof *there);
    exchange(there);
    rma_finalize();
    return after == -1;
}
