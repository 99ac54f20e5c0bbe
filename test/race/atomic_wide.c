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

/* Each operation once, with carries between the halves. */
static int wrong(void) {
    static _Alignas(16) pair word;
    const pair big = ((pair)7 << 64) + UINT64_MAX;
    pair old = 1;
    __atomic_store_n(&word, big, __ATOMIC_RELEASE);
    if (__atomic_load_n(&word, __ATOMIC_ACQUIRE) != big) return 1;
    if (__atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST) != big || word != (pair)8 << 64) return 2;
    if (__atomic_fetch_sub(&word, 1, __ATOMIC_SEQ_CST) != (pair)8 << 64 || word != big) return 3;
    if (__atomic_fetch_and(&word, ((pair)5 << 64) + 6, __ATOMIC_SEQ_CST) != big || word != ((pair)5 << 64) + 6)
        return 4;
    if (__atomic_fetch_or(&word, ((pair)2 << 64) + 1, __ATOMIC_SEQ_CST) != ((pair)5 << 64) + 6) return 5;
    if (__atomic_fetch_xor(&word, ((pair)1 << 64) + 2, __ATOMIC_SEQ_CST) != ((pair)7 << 64) + 7) return 6;
    if (__atomic_fetch_nand(&word, big, __ATOMIC_SEQ_CST) != ((pair)6 << 64) + 5) return 7;
    if (__atomic_exchange_n(&word, big, __ATOMIC_SEQ_CST) != ~(((pair)6 << 64) + 5)) return 8;
    if (__atomic_compare_exchange_n(&word, &old, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) || old != big) return 9;
    while (!__atomic_compare_exchange_n(&word, &old, 2, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) continue;
    return word == 2 ? 0 : 10;
}

int main(void) {
    shmem_init();
    const int error = wrong();
    if (error) {
        fprintf(stderr, "operation %d gives a wrong value\n", error);
        shmem_global_exit(1);
    }
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
