/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 sets a signal and PE 1 adds to it: an update of a signal is atomic only towards those by the same operation.
 * Mended: both add. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long parts[2];
static uint64_t signal_word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long part = me + 1;
#ifdef RACY
    const int operation = SHMEM_SIGNAL_SET;
#else
    const int operation = SHMEM_SIGNAL_ADD;
#endif
    if (me == 0) shmem_long_put_signal(&parts[0], &part, 1, &signal_word, 1, operation, 2);        /* RACE: first */
    if (me == 1) shmem_long_put_signal(&parts[1], &part, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, 2); /* RACE: second */
    shmem_barrier_all();
    if (me == 2) printf("%ld %ld\n", parts[0] + parts[1], (long)shmem_signal_fetch(&signal_word));
    shmem_finalize();
    return 0;
}
