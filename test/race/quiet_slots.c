/* SPDX-License-Identifier: BSD-3-Clause */
/* All PEs append to a list on PE 0: an atomic gives each its slot, and the barrier comes before anybody reads. */
/* PES: 4 */
#include <shmem.h>

static size_t used;
static int list[64];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0, counts[4] = {0};
    for (int i = 0; i < 5; i++) {
        const size_t at = shmem_size_atomic_fetch_add(&used, 2, 0);
        const int pair[2] = {me, me};
        shmem_int_put_nbi(&list[at], pair, 2, 0);
        shmem_quiet();
    }
    shmem_barrier_all();
    if (me == 0) {
        for (size_t i = 0; i < used; i++) counts[list[i]]++;
        for (int pe = 0; pe < 4; pe++) wrong += counts[pe] != 10;
    }
    shmem_finalize();
    return wrong;
}
