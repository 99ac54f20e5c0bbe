/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 prints a text that PE 0 puts. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static char text[32] = "here";

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    char line[64] = "";
    if (me == 0) shmem_putmem(&text[2], "ar away", 8, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) snprintf(line, sizeof line, "%d %-10s%%\n", me, text); /* RACE: second */
    fputs(line, stdout);
    shmem_finalize();
    return 0;
}
