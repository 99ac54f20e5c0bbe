/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of all kinds, ordered by what OpenMP has for it: taskwait, taskgroup, barriers, depend in chains and sets,
 * mutexinoutset, undeferred tasks, taskloops, reductions, tasks of tasks, and private data of tasks, whose memory the
 * runtime uses again. */
/* FLAGS: -fopenmp */
#include <shmem.h>
#include <omp.h>

#define N 24
static long cells[N], chain, total, sum, halves[2];

static long fibonacci(int n) {
    long a, b;
    if (n < 2) return n;
#pragma omp task shared(a) firstprivate(n)
    a = fibonacci(n - 1);
#pragma omp task shared(b) firstprivate(n)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

struct row {
    long words[6];
};

static void dependences(void) {
    for (int i = 0; i < N; i++) {
#pragma omp task depend(inout : chain)
        chain++;
#pragma omp task depend(in : chain) depend(out : cells[i])
        cells[i] = chain;
#pragma omp task depend(in : cells[i]) depend(mutexinoutset : total)
        total += cells[i];
#pragma omp task depend(in : cells[i]) depend(mutexinoutset : total)
        total -= cells[i];
    }
#pragma omp task if (0) depend(in : chain)
    cells[0] += chain * 0;
#pragma omp task depend(in : total)
    sum += total;
#pragma omp taskwait
    sum += chain - N;
}

int main(void) {
    int provided, wrong = 0;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    omp_set_num_threads(3);
    for (int round = 0; round < 3; round++) {
        chain = 0;
#pragma omp parallel
        {
#pragma omp single
            {
                sum = 0;
                dependences();
                wrong += sum != 0;
                wrong += fibonacci(8) != 21;
            }
#pragma omp single nowait
            for (int i = 0; i < N; i++) {
                struct row row = {{i, i, i, i, i, i}};
#pragma omp task firstprivate(row)
                cells[i] = row.words[i % 6];
            }
#pragma omp barrier
            if (omp_get_thread_num() == 1)
                for (int i = 0; i < N; i++) wrong += cells[i] != i;
#pragma omp barrier
#pragma omp single
            {
#pragma omp taskgroup
                for (int h = 0; h < 2; h++) {
#pragma omp task
                    {
#pragma omp task
                        halves[h] = h + 1;
                    }
                }
                sum = halves[0] + halves[1];
                wrong += sum != 3;
#pragma omp taskloop grainsize(3)
                for (int i = 0; i < N; i++) cells[i] = 2 * i;
                long added = 0;
                for (int i = 0; i < N; i++) added += cells[i];
                wrong += added != N * (N - 1);
#pragma omp taskgroup task_reduction(+ : added)
                for (int i = 0; i < N; i++) {
#pragma omp task in_reduction(+ : added)
                    added += i;
                }
                wrong += added != N * (N - 1) + N * (N - 1) / 2;
            }
        }
    }
    shmem_finalize();
    return wrong != 0;
}
