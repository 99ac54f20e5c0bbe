/* SPDX-License-Identifier: BSD-3-Clause */
/* Two contexts with puts of their own, each completed by its own quiet, and a flag behind both. */
#include <shmem.h>

static int left[4], right[4], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[4] = {1, 2, 3, 4};
    int wrong = 0;
    shmem_ctx_t a, b;
    if (shmem_ctx_create(0, &a) || shmem_ctx_create(SHMEM_CTX_PRIVATE, &b)) shmem_global_exit(1);
    if (me == 0) {
        shmem_ctx_int_put_nbi(a, left, values, 4, 1);
        shmem_ctx_int_put_nbi(b, right, values, 4, 1);
        shmem_ctx_quiet(b);
        shmem_ctx_quiet(a);
        shmem_int_atomic_set(&flag, 1, 1);
    } else {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        for (int i = 0; i < 4; i++) wrong += left[i] != i + 1 || right[i] != i + 1;
    }
    shmem_ctx_destroy(a);
    shmem_ctx_destroy(b);
    shmem_finalize();
    return wrong;
}
