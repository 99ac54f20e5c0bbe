/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 clears its table of counters with memset while PE 0 counts on one. Mended: it clears before a barrier. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t table[16];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
#ifdef RACY
    if (me == 1) memset(table, 0, sizeof table); /* RACE: first */
#else
    if (me == 1) memset(table, 0, sizeof table);
    shmem_barrier_all();
#endif
    if (me == 0) shmem_uint32_atomic_xor(&table[9], 5, 1); /* RACE: second */
    shmem_barrier_all();
    printf("%u\n", (unsigned)table[9]);
    shmem_finalize();
    return 0;
}
