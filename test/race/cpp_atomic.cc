/* SPDX-License-Identifier: BSD-3-Clause */
/* A std::atomic in symmetric memory, reached by shmem_ptr: its relaxed store hands nothing over. Mended: a release
 * store. */
#include <shmem.h>
#include <atomic>
#include <stdio.h>
#include <unistd.h>

static std::atomic<int> flag(0);
static int data;
#ifdef RACY
#define STORE std::memory_order_relaxed
#else
#define STORE std::memory_order_release
#endif

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *data_there = static_cast<int *>(shmem_ptr(&data, 1));
    auto *flag_there = static_cast<std::atomic<int> *>(shmem_ptr(&flag, 1));
    if (data_there && flag_there && shmem_ptr(&data, 0)) {
        if (me == 0) {
            *data_there = 4; /* RACE: first */
            flag_there->store(1, STORE);
        } else {
            while (!flag.load(std::memory_order_acquire)) usleep(50);
            printf("%d\n", data); /* RACE: second */
        }
    }
    shmem_finalize();
    return 0;
}
