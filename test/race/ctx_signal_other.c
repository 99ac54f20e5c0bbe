/* SPDX-License-Identifier: BSD-3-Clause */
/* Data in context a, then a put with a signal in context b: the signal says nothing of a. Mended: a quiet of a
 * between. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int head, body[4];
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[4] = {1, 2, 3, 4};
    shmem_ctx_t a, b;
    if (shmem_ctx_create(0, &a) || shmem_ctx_create(0, &b)) shmem_global_exit(1);
    if (me == 0) {
        shmem_ctx_int_put(a, &head, values, 1, 1); /* RACE: first */
#ifdef RACY
        shmem_ctx_fence(b);
#else
        shmem_ctx_quiet(a);
#endif
        shmem_ctx_int_put_signal(b, body, values, 4, &arrived, 1, SHMEM_SIGNAL_SET, 1);
        shmem_ctx_quiet(b);
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%d %d\n", body[3], head); /* RACE: second */
    }
    shmem_ctx_destroy(a);
    shmem_ctx_destroy(b);
    shmem_finalize();
    return 0;
}
