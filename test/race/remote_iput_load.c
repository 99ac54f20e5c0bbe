/* SPDX-License-Identifier: BSD-3-Clause */
/* A strided put writes the even elements, and PE 1 reads all. Mended: PE 1 reads the odd ones. */
#include <shmem.h>
#include <stdio.h>

static int comb[16];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int teeth[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (me == 0) shmem_int_iput(comb, teeth, 2, 1, 8, 1); /* RACE: first */
    if (me == 1) {
        int sum = 0;
#ifdef RACY
        for (int i = 0; i < 16; i++) sum += comb[i]; /* RACE: second */
#else
        for (int i = 1; i < 16; i += 2) sum += comb[i];
#endif
        printf("%d\n", sum);
    }
    shmem_finalize();
    return 0;
}
