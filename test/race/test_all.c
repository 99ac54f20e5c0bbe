/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 leaves the last of three flags out of its test, and reads three parts. Mended: it tests all three. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static int parts[3], flags[3];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        for (int i = 0; i < 3; i++) {
            shmem_int_p(&parts[i], i, 1); /* RACE: first */
            shmem_fence();
            shmem_int_p(&flags[i], 1, 1);
        }
    } else {
#ifdef RACY
        const int left_out[3] = {0, 0, 1};
#else
        const int left_out[3] = {0, 0, 0};
#endif
        while (!shmem_int_test_all(flags, 3, left_out, SHMEM_CMP_EQ, 1)) usleep(50);
        int sum = 0;
        for (int i = 0; i < 3; i++) sum += parts[i]; /* RACE: second */
        printf("%d\n", sum);
    }
    shmem_finalize();
    return 0;
}
