/* SPDX-License-Identifier: BSD-3-Clause */
/* A token goes from PE 0 to PE 3 and each holder puts its mark on PE 3. PE 2 passes it on before its own mark.
 * Mended: it marks first. */
/* PES: 4 */
#include <shmem.h>
#include <stdio.h>

static int token, marks[3];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me > 0) shmem_int_wait_until(&token, SHMEM_CMP_EQ, me);
#ifdef RACY
    if (me == 2) shmem_int_atomic_set(&token, me + 1, me + 1);
#endif
    if (me < 3) {
        shmem_int_p(&marks[me], 1, 3); /* RACE: first */
        shmem_quiet();
    }
#ifdef RACY
    if (me < 2) shmem_int_atomic_set(&token, me + 1, me + 1);
#else
    if (me < 3) shmem_int_atomic_set(&token, me + 1, me + 1);
#endif
    if (me == 3) printf("%d\n", marks[0] + marks[1] + marks[2]); /* RACE: second */
    shmem_finalize();
    return 0;
}
