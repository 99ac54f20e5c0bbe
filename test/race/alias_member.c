/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts a whole structure, and PE 1 reads one member. Mended: PE 0 puts only what is behind that member. */
#include <shmem.h>
#include <stddef.h>
#include <stdio.h>

struct record {
    long key;
    char name[20];
    double weight;
};
static struct record box;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const struct record full = {4, "four", 0.4};
    if (me == 0) {
#ifdef RACY
        shmem_putmem(&box, &full, sizeof full, 1); /* RACE: first */
#else
        const size_t skip = offsetof(struct record, name);
        shmem_putmem((char *)&box + skip, (const char *)&full + skip, sizeof full - skip, 1);
#endif
    }
    if (me == 1) printf("%ld\n", box.key); /* RACE: second */
    shmem_finalize();
    return 0;
}
