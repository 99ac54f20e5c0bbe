/* SPDX-License-Identifier: BSD-3-Clause */
/* The put is of context a, the quiet of context b. Mended: the quiet is of a. */
#include <shmem.h>
#include <stdio.h>

static long data[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[4] = {1, 2, 3, 4};
    shmem_ctx_t a, b;
    if (shmem_ctx_create(0, &a) || shmem_ctx_create(0, &b)) shmem_global_exit(1);
    if (me == 0) {
        shmem_ctx_long_put(a, data, values, 4, 1); /* RACE: first */
#ifdef RACY
        shmem_ctx_quiet(b);
#else
        shmem_ctx_quiet(a);
#endif
    }
    shmem_sync_all();
    if (me == 1) printf("%ld\n", data[3]); /* RACE: second */
    shmem_ctx_destroy(a);
    shmem_ctx_destroy(b);
    shmem_finalize();
    return 0;
}
