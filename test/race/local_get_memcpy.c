/* SPDX-License-Identifier: BSD-3-Clause */
/* memcpy copies out of the destination of a get before quiet. Mended: quiet comes before the copy. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char remote[256];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    char *landing = malloc(256), *kept = malloc(256);
    if (!landing || !kept) shmem_global_exit(1);
    memset(landing, 0, 256);
    shmem_getmem_nbi(landing, remote, 256, 1 - me); /* RACE: first */
#ifdef RACY
    memcpy(kept, landing, 256); /* RACE: second */
    shmem_quiet();
#else
    shmem_quiet();
    memcpy(kept, landing, 256);
#endif
    printf("%d\n", kept[255]);
    free(landing);
    free(kept);
    shmem_finalize();
    return 0;
}
