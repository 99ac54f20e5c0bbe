/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader calls quiet where the writer should: a quiet completes the caller's own operations. Mended: the writer
 * does. */
#include <shmem.h>
#include <stdio.h>

static int note;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int text = 3;
    if (me == 0) shmem_int_put(&note, &text, 1, 1); /* RACE: first */
#ifdef RACY
    if (me == 1) shmem_quiet();
#else
    if (me == 0) shmem_quiet();
#endif
    shmem_sync_all();
    if (me == 1) printf("%d\n", note); /* RACE: second */
    shmem_finalize();
    return 0;
}
