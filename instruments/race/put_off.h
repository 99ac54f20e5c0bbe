/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of signal handlers. A handler must not wait for a lock of the detector that its own thread holds. So its
 * loads, stores and atomics, and what it tells and hears, are put off until the thread has released its locks (spin.h),
 * and happen then in their order. Other threads that learn something wait for that. */
#ifndef RACE_PUT_OFF_H
#define RACE_PUT_OFF_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/race/spin.h"

enum race_event_kind { RACE_LOAD_STORE, RACE_LANGUAGE_ATOMIC, RACE_TELL, RACE_HEAR };

struct race_event {
    enum race_event_kind kind;
    const volatile void *address; /* of the memory or of the object */
    size_t len;
    int write, order; /* as the functions below take them */
    uintptr_t pc;
};

/* race_is_busy: whether the calling thread's next event must be put off, also because earlier ones wait. race_put_off
 * does that; it drops the event if more than 256 wait. */
static inline int race_is_busy(void) { return race_locks_held || race_n_put_off; }
void race_put_off(struct race_event e);

/* race_wait_for_put_off: returns when no other thread has events that are put off (or after many attempts: its handler
 * may be waiting for this thread). */
void race_wait_for_put_off(void);

/* The events themselves, for those who have put them off: access.c, atomics.c and threads.c. */
void race_load_store_now(const volatile void *addr, size_t size, int write, uintptr_t pc);
void race_atomic_now(const volatile void *addr, size_t len, int write, int order, uintptr_t pc);
void race_tell_now(const void *object);
void race_hear_now(const void *object);

#endif
