/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 answers before it has read, so PE 0's next put comes while it reads. Mended: PE 1 reads, then answers. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long buffer;
static uint64_t full, free_again;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long value = 1;
    if (me == 0) {
        shmem_long_put_signal(&buffer, &value, 1, &full, 1, SHMEM_SIGNAL_SET, 1);
        shmem_signal_wait_until(&free_again, SHMEM_CMP_EQ, 1);
        value = 2;
        shmem_long_put(&buffer, &value, 1, 1); /* RACE: second */
    } else {
        shmem_signal_wait_until(&full, SHMEM_CMP_EQ, 1);
#ifdef RACY
        shmem_uint64_atomic_set(&free_again, 1, 0);
        const long seen = buffer; /* RACE: first */
#else
        const long seen = buffer;
        shmem_uint64_atomic_set(&free_again, 1, 0);
#endif
        printf("%ld\n", seen);
    }
    shmem_finalize();
    return 0;
}
