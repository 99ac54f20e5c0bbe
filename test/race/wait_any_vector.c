/* SPDX-License-Identifier: BSD-3-Clause */
/* Two words with a value for each: word 1 becomes 5 before the data come. Mended: PE 1 waits for 6, which comes
 * behind. */
#include <shmem.h>
#include <stdio.h>

static int words[2], data;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_int_p(&words[1], 5, 1);
        shmem_int_p(&data, 1, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
        shmem_int_p(&words[1], 6, 1);
#endif
    } else {
#ifdef RACY
        const int values[2] = {9, 5};
#else
        const int values[2] = {9, 6};
#endif
        const size_t which = shmem_int_wait_until_any_vector(words, 2, NULL, SHMEM_CMP_EQ, values);
        printf("%d: %d\n", (int)which, data); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
