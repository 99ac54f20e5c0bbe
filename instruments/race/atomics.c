/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics of the language (C11, C++, __atomic builtins), which the instrumentation turns into calls. Each is executed
 * with sequential consistency, whatever order the program requests; the detector assumes only the requested order. */
#include "config.h"

#include <stddef.h>
#include <stdint.h>

#include "instruments/race/clock.h"
#include "instruments/race/contexts.h"
#include "instruments/race/events.h"
#include "instruments/race/job.h"
#include "instruments/race/places.h"
#include "instruments/race/put_off.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"
#include "instruments/race/threads.h"

#define HOOK __attribute__((visibility("default")))
#define HERE ((uintptr_t)__builtin_return_address(0))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Orders as compilers number them. */
enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

static int acquires(int order) { return order != RELAXED && order != RELEASE; }
static int releases(int order) { return order >= RELEASE; }

/* Before the operation: records its access, and what it tells. Returns what was accessed. */
#define STORES  1
#define UPDATES 2 /* also passes on what the old value told, whatever the order: C11's release sequence */

struct accessed {
    struct race_cell *cell; /* NULL: not checked */
    race_epoch mask;
};

static struct accessed before_now(const volatile void *p, size_t len, int write, int order, uintptr_t pc) {
    RACE_HELD; /* a handler's atomic would log what it tells in the place of this one */
    const int tells = write && (write == UPDATES || releases(order));
    struct race_who who = {0};
    struct race_where where;
    struct accessed b = {0};
    if (!race_job.on || !race_me || !(b.cell = race_cells((uintptr_t)p, len, &where))) return b;
    b.mask = race_mask(where.addr, len);
    race_late_settle();
    if (tells)
        race_log(race_me->actor, race_me->count,
                 &(struct race_operation){.thread = race_me->actor,
                                          .at = race_me->count,
                                          .version = race_publish(race_me, race_all_fences)});
    who.epoch = race_now;
    who.clock = race_me->clock;
    race_access(b.cell, b.mask, RACE_ATOMIC, write != 0, race_place(pc), &who, where);
    if (tells) race_tick(race_me);
    return b;
}

static struct accessed before(const volatile void *p, size_t len, int write, int order, uintptr_t pc) {
    if (race_me && race_is_busy()) {
        race_put_off((struct race_event){RACE_LANGUAGE_ATOMIC, p, len, write, order, pc});
        return (struct accessed){0};
    }
    return before_now(p, len, write, order, pc);
}

static void after(struct accessed b, int order) {
    if (!b.cell || !acquires(order)) return;
    race_wait_for_put_off();
    race_acquire(b.cell, b.mask, 0);
}

void race_atomic_now(const volatile void *p, size_t len, int write, int order, uintptr_t pc) {
    const struct accessed b = before_now(p, len, write, order, pc);
    if (b.cell && acquires(order)) race_acquire(b.cell, b.mask, 0);
}

#define FETCH(BITS, TYPE, OP)                                                                                          \
    HOOK TYPE __tsan_atomic##BITS##_fetch_##OP(volatile TYPE *p, TYPE v, int order) {                                  \
        struct accessed b = before(p, sizeof *p, UPDATES, order, HERE);                                                \
        TYPE old = __atomic_fetch_##OP(p, v, __ATOMIC_SEQ_CST);                                                        \
        after(b, order);                                                                                               \
        return old;                                                                                                    \
    }
#define COMPARE(BITS, TYPE, NAME)                                                                                      \
    HOOK int __tsan_atomic##BITS##_compare_exchange_##NAME(volatile TYPE *p, TYPE *expected, TYPE v, int order,        \
                                                           int failed) {                                               \
        return compare##BITS(p, expected, v, order, failed, HERE);                                                     \
    }
#define ATOMICS(BITS, TYPE)                                                                                            \
    static int compare##BITS(volatile TYPE *p, TYPE *expected, TYPE v, int order, int failed, uintptr_t pc) {          \
        struct accessed b = before(p, sizeof *p, UPDATES, order, pc);                                                  \
        int done = __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
        after(b, done ? order : failed);                                                                               \
        return done;                                                                                                   \
    }                                                                                                                  \
    HOOK TYPE __tsan_atomic##BITS##_load(const volatile TYPE *p, int order) {                                          \
        struct accessed b = before(p, sizeof *p, 0, order, HERE);                                                      \
        TYPE value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                             \
        after(b, order);                                                                                               \
        return value;                                                                                                  \
    }                                                                                                                  \
    HOOK void __tsan_atomic##BITS##_store(volatile TYPE *p, TYPE v, int order) {                                       \
        before(p, sizeof *p, STORES, order, HERE);                                                                     \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                      \
    }                                                                                                                  \
    HOOK TYPE __tsan_atomic##BITS##_exchange(volatile TYPE *p, TYPE v, int order) {                                    \
        struct accessed b = before(p, sizeof *p, UPDATES, order, HERE);                                                \
        TYPE old = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                        \
        after(b, order);                                                                                               \
        return old;                                                                                                    \
    }                                                                                                                  \
    FETCH(BITS, TYPE, add)                                                                                             \
    FETCH(BITS, TYPE, sub)                                                                                             \
    FETCH(BITS, TYPE, and)                                                                                             \
    FETCH(BITS, TYPE, or)                                                                                              \
    FETCH(BITS, TYPE, xor)                                                                                             \
    FETCH(BITS, TYPE, nand)                                                                                            \
    COMPARE(BITS, TYPE, strong)                                                                                        \
    COMPARE(BITS, TYPE, weak)                                                                                          \
    HOOK TYPE __tsan_atomic##BITS##_compare_exchange_val(volatile TYPE *p, TYPE expected, TYPE v, int order,           \
                                                         int failed) {                                                 \
        compare##BITS(p, &expected, v, order, failed, HERE);                                                           \
        return expected;                                                                                               \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* Atomics of 16 bytes: two cells, and the processor's compare-and-swap in a loop, since librma_race is not linked with
 * libatomic. A load is also a compare-and-swap, so it needs writable memory. Races with an atomic of 8 bytes on one
 * half are not found. */
#if defined __SIZEOF_INT128__ && (defined __x86_64__ || defined __aarch64__)
__extension__ typedef unsigned __int128 uint128;
struct accessed_pair {
    struct accessed low, high;
};

#ifdef __x86_64__
__attribute__((target("cx16"), noinline)) /* clang 14 would inline it into functions without this instruction */
#endif
static uint128
swapped(volatile uint128 *p, uint128 old, uint128 new) {
    return __sync_val_compare_and_swap(p, old, new);
}

static struct accessed_pair before_pair(const volatile uint128 *p, int write, int order, uintptr_t pc) {
    struct accessed_pair b;
    b.low = before(p, 8, write, order, pc);
    b.high = before((const volatile char *)p + 8, 8, write, order, pc);
    return b;
}

static void after_pair(struct accessed_pair b, int order) {
    after(b.low, order);
    after(b.high, order);
}

static int compare128(volatile uint128 *p, uint128 *expected, uint128 v, int order, int failed, uintptr_t pc) {
    struct accessed_pair b = before_pair(p, UPDATES, order, pc);
    uint128 old = swapped(p, *expected, v);
    int done = old == *expected;
    *expected = old;
    after_pair(b, done ? order : failed);
    return done;
}

#define UPDATE128(NAME, WRITE, NEW)                                                                                    \
    static uint128 wide_##NAME(volatile uint128 *p, uint128 v, int order, uintptr_t pc) {                              \
        struct accessed_pair b = before_pair(p, WRITE, order, pc);                                                     \
        uint128 old = 0, seen;                                                                                         \
        while ((seen = swapped(p, old, NEW)) != old) old = seen;                                                       \
        after_pair(b, order);                                                                                          \
        return old;                                                                                                    \
    }
#define FETCH128(OP, NEW)                                                                                              \
    UPDATE128(OP, UPDATES, NEW)                                                                                        \
    HOOK uint128 __tsan_atomic128_fetch_##OP(volatile uint128 *p, uint128 v, int order) {                              \
        return wide_##OP(p, v, order, HERE);                                                                           \
    }
UPDATE128(load, 0, old + v) /* with v = 0 it stores the value that it finds */
UPDATE128(exchange, UPDATES, v)
FETCH128(add, old + v)
FETCH128(sub, old - v)
FETCH128(and, old &v)
FETCH128(or, old | v)
FETCH128(xor, old ^ v)
FETCH128(nand, ~(old &v))
COMPARE(128, uint128, strong)
COMPARE(128, uint128, weak)
HOOK uint128 __tsan_atomic128_load(volatile uint128 *p, int order) { return wide_load(p, 0, order, HERE); }
HOOK void __tsan_atomic128_store(volatile uint128 *p, uint128 v, int order) {
    uint128 old = 0, seen;
    before_pair(p, STORES, order, HERE);
    while ((seen = swapped(p, old, v)) != old) old = seen;
}
HOOK uint128 __tsan_atomic128_exchange(volatile uint128 *p, uint128 v, int order) {
    return wide_exchange(p, v, order, HERE);
}
HOOK uint128 __tsan_atomic128_compare_exchange_val(volatile uint128 *p, uint128 expected, uint128 v, int order,
                                                   int failed) {
    compare128(p, &expected, v, order, failed, HERE);
    return expected;
}
#endif

/* A release fence and a later relaxed store are not tracked as a pair. The fence tells an object that all acquire
 * fences hear: this orders the threads of a process more than it should, so it can hide a race but not invent one. */
HOOK void __tsan_atomic_signal_fence(int order) { (void)order; }
static char fences;
HOOK void __tsan_atomic_thread_fence(int order) {
    if (acquires(order)) race_hear(&fences);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (releases(order)) race_tell(&fences);
}
