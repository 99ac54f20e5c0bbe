/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 polls the signal word by plain loads. Mended: by shmem_signal_fetch, which is atomic. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t arrived;
static int data;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int value = 3;
    if (me == 0) {
        shmem_int_put_signal(&data, &value, 1, &arrived, 1, SHMEM_SIGNAL_SET, 1); /* RACE: first */
    } else {
#ifdef RACY
        while (*(volatile uint64_t *)&arrived == 0) usleep(50); /* RACE: second */
#else
        while (shmem_signal_fetch(&arrived) == 0) usleep(50);
        printf("%d\n", data);
#endif
    }
    shmem_finalize();
    return 0;
}
