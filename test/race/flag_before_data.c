/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 sets the flag first and puts the data then. Mended: the other way round. */
#include <shmem.h>
#include <stdio.h>

static int data[8], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    if (me == 0) {
#ifdef RACY
        shmem_int_p(&flag, 1, 1);
        shmem_fence();
        shmem_int_put(data, values, 8, 1); /* RACE: first */
#else
        shmem_int_put(data, values, 8, 1);
        shmem_fence();
        shmem_int_p(&flag, 1, 1);
#endif
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_GT, 0);
        int sum = 0;
        for (int i = 0; i < 8; i++) sum += data[i]; /* RACE: second */
        printf("%d\n", sum);
    }
    shmem_finalize();
    return 0;
}
