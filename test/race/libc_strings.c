/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads use a list of words: one cuts a word from it, which writes a zero, while the other one looks for a
 * letter. Mended: under a mutex. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char words[] = "one,two,three";
static const char *found;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void guard(int (*action)(pthread_mutex_t *)) {
#ifndef RACY
    action(&mutex);
#else
    (void)action;
#endif
}

static void *cut(void *unused) {
    char *rest = words;
    guard(pthread_mutex_lock);
    strsep(&rest, ","); /* RACE: first */
    guard(pthread_mutex_unlock);
    return unused;
}

static void *look(void *unused) {
    guard(pthread_mutex_lock);
    found = strrchr(words, 'e'); /* RACE: second */
    guard(pthread_mutex_unlock);
    return unused;
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, cut, NULL) || pthread_create(&threads[1], NULL, look, NULL))
        shmem_global_exit(1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%s\n", found ? found : "none");
    shmem_finalize();
    return 0;
}
