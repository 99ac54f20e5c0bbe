/* SPDX-License-Identifier: BSD-3-Clause */
/* A fence of the context stands between data of the context and a flag of another one. Mended: both are of one
 * context. */
#include <shmem.h>
#include <stdio.h>

static int data[4], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[4] = {1, 2, 3, 4};
    shmem_ctx_t a, b;
    if (shmem_ctx_create(0, &a) || shmem_ctx_create(0, &b)) shmem_global_exit(1);
    if (me == 0) {
        shmem_ctx_int_put(a, data, values, 4, 1); /* RACE: first */
        shmem_ctx_fence(a);
#ifdef RACY
        shmem_ctx_int_p(b, &flag, 1, 1);
#else
        shmem_ctx_int_p(a, &flag, 1, 1);
#endif
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%d\n", data[0]); /* RACE: second */
    }
    shmem_ctx_destroy(a);
    shmem_ctx_destroy(b);
    shmem_finalize();
    return 0;
}
