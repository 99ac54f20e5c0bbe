/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of C11: one hands numbers to another by a condition, all initialize a table once, one is detached. */
#include <shmem.h>
#include <sched.h>
#include <threads.h>
#include <time.h>

static mtx_t mutex;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static long table[4], mailbox, sum, detached_done;
static int full, ended;

static void make_table(void) {
    for (int i = 0; i < 4; i++) table[i] = i + 1;
}

static int producer(void *argument) {
    (void)argument;
    call_once(&once, make_table);
    for (int i = 0; i < 20; i++) {
        mtx_lock(&mutex);
        while (full) cnd_wait(&changed, &mutex);
        mailbox = table[i % 4];
        full = 1;
        cnd_broadcast(&changed);
        mtx_unlock(&mutex);
    }
    return 3;
}

static int visitor(void *argument) {
    (void)argument;
    call_once(&once, make_table);
    while (mtx_trylock(&mutex) != thrd_success) sched_yield();
    detached_done = table[3];
    ended = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
    return 0;
}

int main(void) {
    int provided, result = 0;
    struct timespec deadline;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    thrd_t thread;
    mtx_init(&mutex, mtx_timed);
    cnd_init(&changed);
    if (thrd_create(&thread, visitor, NULL) != thrd_success || thrd_detach(thread) != thrd_success) return 1;
    if (thrd_create(&thread, producer, NULL) != thrd_success) return 1;
    timespec_get(&deadline, TIME_UTC);
    deadline.tv_sec += 60;
    for (int i = 0; i < 20; i++) {
        mtx_timedlock(&mutex, &deadline);
        while (!full) cnd_timedwait(&changed, &mutex, &deadline);
        sum += mailbox;
        full = 0;
        cnd_signal(&changed);
        mtx_unlock(&mutex);
    }
    thrd_join(thread, &result);
    mtx_lock(&mutex);
    while (!ended) cnd_wait(&changed, &mutex);
    sum += detached_done;
    mtx_unlock(&mutex);
    call_once(&once, make_table);
    table[0] = sum;
    shmem_finalize();
    return sum != 54 || result != 3;
}
