/* SPDX-License-Identifier: BSD-3-Clause */
/* The destination of a get is a member of a structure that the program reaches through a pointer. It reads the
 * member too early. Mended by quiet. */
#include <shmem.h>
#include <stdio.h>

struct cell {
    int id;
    double values[4];
    struct cell *next;
};
static double remote[4] = {1, 2, 3, 4};

static double __attribute__((noinline)) sum(const struct cell *list) {
    double total = 0;
    for (; list; list = list->next)
        for (int i = 0; i < 4; i++) total += list->values[i]; /* RACE: second */
    return total;
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    struct cell tail = {2, {0}, NULL}, head = {1, {0}, &tail};
    shmem_double_get_nbi(head.next->values, remote, 4, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    printf("%g\n", sum(&head));
    shmem_quiet();
    shmem_finalize();
    return 0;
}
