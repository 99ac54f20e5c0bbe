/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that needs nothing of C++'s library but new and delete, which the detector takes: the linker leaves that
 * library out. */
/* FLAGS: -Wl,--as-needed */
#include <shmem.h>

static long word;

int main() {
    shmem_init();
    long *value = new long(5), *values = new long[3]{};
    if (shmem_my_pe() == 0) shmem_long_p(&word, *value, 1);
    shmem_barrier_all();
    values[0] = word;
    const bool right = values[0] == (shmem_my_pe() == 1 ? 5 : 0);
    delete[] values;
    delete value;
    shmem_finalize();
    return right ? 0 : 1;
}
