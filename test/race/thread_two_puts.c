/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of PE 0 put to the same word of PE 1. Mended: each to a word of its own. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>

static int words[2];

static void *sender(void *argument) {
    const int number = *(const int *)argument;
#ifdef RACY
    shmem_int_p(&words[0], number, 1); /* RACE: first */ /* RACE: second */
#else
    shmem_int_p(&words[number], number, 1);
#endif
    return NULL;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    const int me = shmem_my_pe();
    const int numbers[2] = {0, 1};
    pthread_t threads[2];
    if (me == 0) {
        for (int i = 0; i < 2; i++)
            if (pthread_create(&threads[i], NULL, sender, (void *)&numbers[i])) shmem_global_exit(1);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    }
    shmem_barrier_all();
    if (me == 1) printf("%d\n", words[1]);
    shmem_finalize();
    return 0;
}
