/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal or a lone atomic of a PE of another node wakes the thread that sleeps on the bell's futex
 * (runtime/interfaces.h).
 *
 * Broken by an operation on the word that does not ring: the thread sleeps until its deadline. */
#include "job.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

void rma_bell_(const void *word, uint32_t *futex);

enum { SET, ADD, ATOMIC_ADD, FETCHING_ADD, XOR, SWAP, KINDS };
static const char *const names[KINDS] = {"a signal that sets",  "a signal that adds", "an addition",
                                         "a fetching addition", "an exclusive or",    "a swap"};
static uint64_t *word;
static uint32_t futex;
static long woken; /* the result of the sleep */

static void *sleeper(void *unused) {
    const struct timespec deadline = {.tv_sec = JOB_DEADLINE - 10};
    (void)unused;
    /* The word that sleepers check does not change: only the bell wakes them. */
    woken = syscall(SYS_futex, &futex, FUTEX_WAIT, 0, &deadline, NULL, 0);
    return NULL;
}

static void ring(int kind, int pe) {
    if (kind == SET) OK(rma_signal_set(word, 1, pe));
    if (kind == ADD) OK(rma_signal_add(word, 1, pe));
    if (kind == ATOMIC_ADD) OK(rma_atomic_add(word, (uint64_t)1, pe));
    if (kind == FETCHING_ADD) rma_atomic_fetch_add(word, (uint64_t)1, pe);
    if (kind == XOR) OK(rma_atomic_xor(word, (uint64_t)1, pe));
    if (kind == SWAP) rma_atomic_swap(word, (uint64_t)1, pe);
    OK(rma_quiet());
}

int main(void) {
    job_start();
    word = rma_calloc(2, sizeof *word);
    CHECK(word != NULL, "%s", rma_last_error());
    for (int kind = 0; kind < KINDS; kind++) {
        pthread_t thread;
        DOING(names[kind]);
        if (job.me == 1) {
            rma_bell_(word, &futex);
            CHECK(pthread_create(&thread, NULL, sleeper, NULL) == 0, "no thread");
        }
        rma_barrier_all();
        if (job.me == 0) {
            /* The thread may not sleep yet: ring again until the other PE has seen it wake. */
            while (rma_atomic_fetch(&word[1], 1) <= (uint64_t)kind) {
                ring(kind, 1);
                nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
            }
        } else if (job.me == 1) {
            pthread_join(thread, NULL);
            CHECK(woken == 0, "nothing woke the thread");
            rma_atomic_set(&word[1], (uint64_t)kind + 1, 1);
            rma_bell_(NULL, NULL);
        }
        rma_barrier_all();
    }
    OK(rma_free(word));
    return job_end();
}
