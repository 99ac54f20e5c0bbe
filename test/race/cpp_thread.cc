/* SPDX-License-Identifier: BSD-3-Clause */
/* A lambda in a std::thread and the main thread change one number without the std::mutex. Mended: both hold it. */
#include <shmem.h>
#include <mutex>
#include <stdio.h>
#include <thread>

static long number;

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    std::mutex mutex;
    std::thread other([&] {
        std::lock_guard<std::mutex> hold(mutex);
        number += 1; /* RACE: first */
    });
    {
#ifndef RACY
        std::lock_guard<std::mutex> hold(mutex);
#endif
        number += 2; /* RACE: second */
    }
    other.join();
    printf("%d %ld\n", me, number);
    shmem_finalize();
    return 0;
}
