/* SPDX-License-Identifier: BSD-3-Clause */
/* Dekker's argument: the owner stores `inside` and then loads `guest`; the guest stores `guest` and then loads
 * `inside`. If no load passes the store before it, at least one of the two sees the other. The guest's system call
 * executes a full barrier on every processor that runs a thread of this process. If the owner's load came before that
 * barrier, the guest sees the owner's store; if it comes after the barrier, the owner sees the guest. */
#include "config.h"

#include "base/biased.h"
#include "base/wait.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLLS 2000
#define NAP   50000 /* nanoseconds */

int rmai_biased_works(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* The guest does short work, but may have lost its processor. */
void rmai_biased_await_(struct rmai_biased *b) {
    atomic_store_explicit(&b->inside, 0, memory_order_release);
    atomic_store_explicit(&b->wanted, 1, memory_order_relaxed);
    do {
        for (int i = 0; i < POLLS && atomic_load_explicit(&b->guest, memory_order_relaxed); i++) rmai_pause();
        if (atomic_load_explicit(&b->guest, memory_order_relaxed)) rmai_sleep_on(&b->guest, 1, NAP, NULL);
    } while (!rmai_biased_try_enter(b));
    atomic_store_explicit(&b->wanted, 0, memory_order_relaxed);
}

int rmai_biased_visit(struct rmai_biased *b) {
    if (rmai_biased_inside(b)) return 0;
    atomic_store_explicit(&b->guest, 1, memory_order_relaxed);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    if (!atomic_load_explicit(&b->inside, memory_order_acquire)) return 1;
    atomic_store_explicit(&b->guest, 0, memory_order_release);
    return 0;
}

/* An owner that goes to sleep at this moment may be missed; it wakes by itself after its nap. */
void rmai_biased_end_visit(struct rmai_biased *b) {
    atomic_store_explicit(&b->guest, 0, memory_order_release);
    if (RMAI_UNLIKELY(atomic_load_explicit(&b->wanted, memory_order_relaxed))) rmai_rouse(&b->guest);
}
