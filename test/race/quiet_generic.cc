/* SPDX-License-Identifier: BSD-3-Clause */
/* C++: a std::vector's memory as source and destination, overloads of the calls, and a std::thread that is joined
 * before the barrier. */
#include <shmem.h>
#include <thread>
#include <vector>

static double inbox[8];

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    std::vector<double> values(8, 1.5 + me), back(8);
    std::thread filler([&values] { values[7] = 9; });
    filler.join();
    shmem_put_nbi(inbox, values.data(), 8, 1 - me);
    shmem_barrier_all();
    shmem_get_nbi(back.data(), inbox, 8, 1 - me);
    shmem_quiet();
    const bool wrong = inbox[7] < 8.9 || back[0] < 1.4 + me || back[0] > 1.6 + me;
    shmem_finalize();
    return wrong;
}
