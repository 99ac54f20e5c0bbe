/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue for one writer and one reader in PE 1's memory, which PE 0 fills through shmem_ptr. Its two counters are
 * C11 atomics with release and acquire. */
#include <shmem.h>
#include <stdatomic.h>
#include <unistd.h>

#define PLACES 4
static _Atomic unsigned head, tail;
static int places[PLACES];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    _Atomic unsigned *head_there = (_Atomic unsigned *)shmem_ptr((void *)&head, 1);
    _Atomic unsigned *tail_there = (_Atomic unsigned *)shmem_ptr((void *)&tail, 1);
    int *there = shmem_ptr(places, 1);
    if (there && head_there && tail_there && shmem_ptr(places, 0)) {
        for (unsigned i = 0; i < 20; i++) {
            if (me == 0) {
                while (i - atomic_load_explicit(head_there, memory_order_acquire) == PLACES) usleep(20);
                there[i % PLACES] = (int)i;
                atomic_store_explicit(tail_there, i + 1, memory_order_release);
            } else {
                while (atomic_load_explicit(&tail, memory_order_acquire) == i) usleep(20);
                wrong += places[i % PLACES] != (int)i;
                atomic_store_explicit(&head, i + 1, memory_order_release);
            }
        }
    }
    shmem_finalize();
    return wrong;
}
