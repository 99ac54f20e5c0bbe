/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with three mistakes, in the lines that a comment marks: many blocking gets of 8 bytes in a row; a wait for
 * a PE that computes; a PE that comes late to each barrier. With the argument "good" it has none of them. PE 0 prints
 * what rma_stats has counted on all PEs. With the argument "few" the gets are few, since between nodes they are slow.
 * With the argument "forever" it runs until it is killed. */
#include <rma.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORDS 4096

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void compute(double ms) {
    double end = now() + ms;
    while (now() < end) continue;
}

static void print_stats(long *mine, long *all) {
    struct rma_stats s;
    memset(mine, 0, 5 * sizeof *mine);
    rma_stats(&s);
    for (int p = 0; p < RMA_PATHS; p++) {
        mine[0] += (long)s.path[p].puts;
        mine[1] += (long)s.path[p].put_bytes;
        mine[2] += (long)s.path[p].gets;
        mine[3] += (long)s.path[p].get_bytes;
        mine[4] += (long)s.path[p].atomics;
    }
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, all, mine, 5);
    if (shmem_my_pe() == 0) printf("stats %ld %ld %ld %ld %ld\n", all[0], all[1], all[2], all[3], all[4]);
}

int main(int argc, char **argv) {
    int few = argc > 1 && !strcmp(argv[1], "few"), good = argc > 1 && !strcmp(argv[1], "good"),
        forever = argc > 1 && !strcmp(argv[1], "forever");
    long *table, *sums, sum = 0;
    uint64_t *flag;
    int me, n;
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    table = shmem_calloc(WORDS, sizeof *table);
    sums = shmem_calloc(10, sizeof *sums);
    flag = shmem_calloc(1, sizeof *flag);
    if (forever) {
        printf("pid %d %d\n", me, (int)getpid());
        fflush(stdout);
    }
    do {
        if (good)
            shmem_getmem(table, table, WORDS * sizeof *table, (me + 1) % n);
        else if (me == 1)
            for (int round = 0; round < (few ? 1 : 1200); round++)
                for (int i = 0; i < (few ? 64 : WORDS); i++) sum += shmem_long_g(&table[i], 0); /* TRACE: gets */
        shmem_barrier_all();
    } while (forever);
    for (uint64_t round = 1; round <= 4; round++) {
        if (me == 0) {
            if (!good) compute(50);
            for (int pe = 1; pe < n; pe++)
                shmem_putmem_signal(table, &sum, sizeof sum, flag, round, SHMEM_SIGNAL_SET, pe);
        } else {
            if (good) compute(2);
            shmem_signal_wait_until(flag, SHMEM_CMP_GE, round); /* TRACE: wait */
        }
    }
    for (int round = 0; round < 10; round++) {
        compute(good ? 10 : me == n - 1 ? 12 : 1);
        shmem_barrier_all(); /* TRACE: late */
    }
    for (int i = 0; i < 100; i++) shmem_long_atomic_inc(&table[i], (me + i) % n);
    shmem_quiet();
    print_stats(sums, sums + 5);
    shmem_free(flag);
    shmem_free(sums);
    shmem_free(table);
    shmem_finalize();
    return sum == -1;
}
