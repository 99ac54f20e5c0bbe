/* SPDX-License-Identifier: BSD-3-Clause */
/* A pair of a pointer's size and a count, read and replaced by one atomic of 16 bytes, as lists without locks do.
 * Relaxed ones order nothing. Mended by release and acquire. */
/* FLAGS: -mcx16 */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

__extension__ typedef unsigned __int128 pair;
static _Alignas(16) pair head;
static int data;
#ifdef RACY
#define STORE __ATOMIC_RELAXED
#define LOAD  __ATOMIC_RELAXED
#else
#define STORE __ATOMIC_RELEASE
#define LOAD  __ATOMIC_ACQUIRE
#endif

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *data_there = shmem_ptr(&data, 1);
    pair *there = shmem_ptr(&head, 1);
    if (data_there && there && shmem_ptr(&data, 0)) {
        if (me == 0) {
            pair old = 0, new = ((pair)1 << 64) + 2;
            *data_there = 6; /* RACE: first */
            __atomic_compare_exchange_n(there, &old, new, 0, STORE, __ATOMIC_RELAXED);
            __atomic_fetch_add(there, (pair)1 << 64, __ATOMIC_RELAXED);
        } else {
            pair seen;
            while ((uint64_t)((seen = __atomic_load_n(&head, LOAD)) >> 64) < 2) usleep(50);
            printf("%d %d\n", data, (int)seen); /* RACE: second */
        }
    }
    shmem_finalize();
    return 0;
}
