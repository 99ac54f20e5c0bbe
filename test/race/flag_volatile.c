/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 polls a volatile word by plain loads, which race with the shmem_p that sets it. Mended: it polls by
 * shmem_test. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static volatile int flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_int_p((int *)&flag, 1, 1); /* RACE: first */
    } else {
#ifdef RACY
        while (flag == 0) usleep(50); /* RACE: second */
#else
        while (!shmem_int_test((int *)&flag, SHMEM_CMP_EQ, 1)) usleep(50);
#endif
        printf("seen\n");
    }
    shmem_finalize();
    return 0;
}
