/* SPDX-License-Identifier: BSD-3-Clause */
/* Data in a context, the flag in the default one: no fence orders the two. Mended by quiet of the context in its
 * place. */
#include <shmem.h>
#include <stdio.h>

static int data[4], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[4] = {1, 2, 3, 4};
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    if (me == 0) {
        shmem_ctx_int_put(ctx, data, values, 4, 1); /* RACE: first */
#ifdef RACY
        shmem_fence();
#else
        shmem_ctx_quiet(ctx);
#endif
        shmem_int_p(&flag, 1, 1);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        printf("%d\n", data[0]); /* RACE: second */
    }
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
