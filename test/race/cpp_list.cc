/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads add to a list. The accesses are in inlined functions of C++'s headers; the report names the
 * program's lines. Mended: under a mutex. */
/* FLAGS: -O2 */
#include <shmem.h>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>

static std::list<int> numbers;
static std::mutex mutex;

static void add(int number) {
#ifndef RACY
    std::lock_guard<std::mutex> guard(mutex);
#endif
    numbers.push_back(number); /* RACE: first */ /* RACE: second */
}

int main() {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    std::thread one(add, 3), other(add, 4);
    one.join();
    other.join();
    std::printf("%zu\n", numbers.size());
    shmem_finalize();
    return 0;
}
