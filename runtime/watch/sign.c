/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watch/sign.h"
#include "runtime/job/job.h"

#include <string.h>

struct rmai_shown_sign *rmai_sign_of(const struct rmai_job *job, size_t at, int slot) {
    return (struct rmai_shown_sign *)(void *)(rmai_job_space(job, slot) + at);
}

void rmai_sign_show(struct rmai_shown_sign *mine, const struct rmai_sign *sign) {
    uint64_t word[RMAI_SIGN_WORDS];
    uint32_t version = atomic_load_explicit(&mine->version, memory_order_relaxed);
    memcpy(word, sign, sizeof word);
    /* If another thread of this PE is writing its own sign, keep that one: either is true. */
    if (version & 1 || !atomic_compare_exchange_strong(&mine->version, &version, version + 1)) return;
    /* A reader that sees one of the new words sees the odd version too: pairs with the fence in rmai_sign_read. */
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < RMAI_SIGN_WORDS; i++) atomic_store_explicit(&mine->word[i], word[i], memory_order_relaxed);
    /* Release: a reader that sees the even version sees all of the new words. Pairs with the fence in rmai_sign_read.
     */
    atomic_store_explicit(&mine->version, version + 2, memory_order_release);
}

void rmai_sign_read(struct rmai_shown_sign *shown, struct rmai_sign *sign) {
    uint64_t copy[RMAI_SIGN_WORDS];
    for (int tries = 0; tries < 100; tries++) {
        uint32_t version = atomic_load_explicit(&shown->version, memory_order_acquire);
        for (size_t i = 0; i < RMAI_SIGN_WORDS; i++)
            copy[i] = atomic_load_explicit(&shown->word[i], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (!(version & 1) && atomic_load_explicit(&shown->version, memory_order_relaxed) == version) {
            memcpy(sign, copy, sizeof copy);
            return;
        }
    }
    *sign = (struct rmai_sign){.in = ""};
}
