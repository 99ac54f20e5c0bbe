/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE puts bytes beside those of the others, while the owner reads and writes bytes between them: at the same
 * time in the same words, and never the same byte. */
/* PES: 4 */
#include <shmem.h>

static unsigned char line[64];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    const unsigned char mine[3] = {(unsigned char)me, (unsigned char)(me + 10), (unsigned char)(me + 20)};
    for (size_t k = 0; k < 4; k++) {
        shmem_putmem(line + 16 * k + 4 * (size_t)me, mine, 3, 0);
        if (me == 0)
            for (size_t pe = 0; pe < 4; pe++)
                line[16 * k + 4 * pe + 3] = (unsigned char)(line[16 * k + 4 * pe + 3] + 1);
    }
    shmem_barrier_all();
    if (me == 0)
        for (size_t i = 0; i < 64; i++) wrong += line[i] != (i % 4 == 3 ? 1 : i / 4 % 4 + 10 * (i % 4));
    shmem_finalize();
    return wrong;
}
