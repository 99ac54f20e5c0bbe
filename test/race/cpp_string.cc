/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads append to a string, whose code is in C++'s library. Mended: under a mutex. */
#include <shmem.h>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

static std::string text(200, 'a');
static std::mutex mutex;

static void append() {
#ifndef RACY
    std::lock_guard<std::mutex> guard(mutex);
#endif
    text.append("some more text"); /* RACE: first */ /* RACE: second */
}

int main() {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    text.reserve(1000);
    std::thread one(append), other(append);
    one.join();
    other.join();
    std::printf("%zu\n", text.size());
    shmem_finalize();
    return 0;
}
