/* SPDX-License-Identifier: BSD-3-Clause */
/* A C11 flag in symmetric memory, reached by shmem_ptr: relaxed accesses order nothing. Mended by release and
 * acquire. */
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int flag;
static int data;
#ifdef RACY
#define STORE memory_order_relaxed
#define LOAD  memory_order_relaxed
#else
#define STORE memory_order_release
#define LOAD  memory_order_acquire
#endif

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *data_there = shmem_ptr(&data, 1);
    void *flag_there = shmem_ptr(&flag, 1);
    if (data_there && flag_there && shmem_ptr(&data, 0)) {
        if (me == 0) {
            *data_there = 6; /* RACE: first */
            atomic_store_explicit((_Atomic int *)flag_there, 1, STORE);
        } else {
            while (!atomic_load_explicit(&flag, LOAD)) usleep(50);
            printf("%d\n", data); /* RACE: second */
        }
    }
    shmem_finalize();
    return 0;
}
