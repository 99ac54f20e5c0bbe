/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that are complete when an event says so (detach), taskwait for some tasks only, a cancelled taskgroup, and
 * taskloops whose tasks nobody waits for but the barrier. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>
#include <sched.h>

#define N 12
static long answer[N], other, cells[N], found;
static omp_event_handle_t events[N];
static int ready;

int main(void) {
    int provided, wrong = 0;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    omp_set_num_threads(2);
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < N; i++) {
                omp_event_handle_t event;
#pragma omp task detach(event) depend(out : answer[i]) shared(ready)
                {
                    events[i] = event;
                    __atomic_store_n(&ready, i + 1, __ATOMIC_RELEASE);
                }
#pragma omp task depend(in : answer[i])
                answer[i]++;
#pragma omp taskwait
            }
            for (int i = 0; i < N; i++) wrong += answer[i] != i + 1;
        } else {
            for (int i = 0; i < N; i++) {
                while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) <= i) sched_yield();
                answer[i] = i;
                omp_fulfill_event(events[i]);
            }
        }
#pragma omp barrier
#pragma omp single
        {
#pragma omp task depend(out : cells)
            cells[0] = 4;
#pragma omp task
            other = 2;
#pragma omp taskwait depend(in : cells)
            cells[0]++;
#pragma omp taskwait
            other += cells[0];
#pragma omp taskgroup
            for (int i = 0; i < N; i++) {
#pragma omp task
                {
                    if (i == 3) {
#pragma omp critical
                        found = i;
#pragma omp cancel taskgroup
                    }
#pragma omp critical
                    found++;
                }
            }
            found += other;
        }
#pragma omp single nowait
#pragma omp taskloop nogroup grainsize(2)
        for (int i = 0; i < N; i++) cells[i] = i;
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            for (int i = 0; i < N; i++)
                if (cells[i] != i) {
#pragma omp atomic
                    wrong++;
                }
    }
    shmem_finalize();
    return wrong != 0 || other != 7;
}
