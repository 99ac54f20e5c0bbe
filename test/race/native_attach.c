/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 attaches memory of its own, to which PE 0 puts while PE 1 reads it. Mended by a barrier. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>
#include <stdlib.h>

static rma_gptr_t where;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    long *memory = malloc(64 * sizeof *memory);
    if (!memory || rma_attach(memory, 64 * sizeof *memory, &where)) rma_abort(1);
    memory[10] = 0;
    rma_barrier_all();
    if (me == 0) rma_gptr_put(rma_g(&where, 1) + 10 * sizeof(long), (long[]){6}, sizeof(long)); /* RACE: first */
#ifndef RACY
    rma_barrier_all();
#endif
    if (me == 1) printf("%ld\n", memory[10]); /* RACE: second */
    rma_barrier_all();
    rma_detach(memory);
    free(memory);
    rma_finalize();
    return 0;
}
