/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread of PE 0 puts data and calls shmem_fence, another one sets the flag of PE 1. The fence orders the flag only
 * if the thread that sets it comes after the fence. Mended by a barrier among the threads. In the region, which is the
 * program's first one, the first thread does all this before the second one has begun. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static int data, flag;
static atomic_int turn;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    if (me == 0) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0) {
                shmem_int_p(&data, 42, 1); /* RACE: first */
                shmem_fence();
                atomic_store_explicit(&turn, 1, memory_order_relaxed);
            }
#ifndef RACY
#pragma omp barrier
#endif
            if (omp_get_thread_num() == 1) {
                while (!atomic_load_explicit(&turn, memory_order_relaxed))
                    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
                shmem_int_atomic_set(&flag, 1, 1);
            }
        }
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%d\n", data); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
