/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock made of the compiler's atomics: PE 1 forgets to take it. Mended: it takes it. */
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int lock_word, shared;

static void lock(int *word) {
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE)) usleep(50);
}
static void unlock(int *word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *word = shmem_ptr(&lock_word, 0), *value = shmem_ptr(&shared, 0);
    if (word && value) {
        if (me == 0) {
            lock(word);
            *value += 1; /* RACE: first */
            unlock(word);
        } else {
#ifdef RACY
            *value += 2; /* RACE: second */
#else
            lock(word);
            *value += 2;
            unlock(word);
#endif
        }
    }
    shmem_barrier_all();
    if (me == 0) printf("%d\n", shared);
    shmem_finalize();
    return 0;
}
