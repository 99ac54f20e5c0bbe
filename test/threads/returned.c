/* SPDX-License-Identifier: BSD-3-Clause */
/* returned: blocks that other PEs free, with threads as PEs, so that ThreadSanitizer sees all of them. Broken by an
 * ordering that is too weak, by a block that is lost, freed twice or accepted twice.
 *
 * The owner allocates, hands blocks out through an array of atomic words, drains and grows. Givers take them, write to
 * the block and push it; its next life's owner writes there too, without any other synchronization than the list's. Now
 * and then two threads get the same block: exactly one of their two pushes must be accepted.
 *
 *     returned [calm] [rounds]
 *
 * calm: the owner keeps its hands off the pool while two give the same block, so only they race. Otherwise it may drain
 * and free the block between the two pushes. It never allocates then: a block that has been allocated anew since is
 * another block, and nobody could notice.
 *
 * test/check-tsan.sh builds and runs it; it is also right, and quicker, without the sanitizer. */
#include "config.h"

#include "heap/returned.h"
#include "heap/tlsf.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIVERS 3
#define SLOTS  64
#define UNIT   ((size_t)RMAI_TLSF_UNIT)
#define POOL   ((size_t)4 << 20)
#define GROWTH (POOL / 512)

/* Offset + 1 of a block, 0 if empty. */
static _Atomic size_t slot[SLOTS];

/* A block that two are given at once. Who takes it swaps the ticket, so nobody comes late with an earlier
 * round's offset. */
static struct {
    atomic_ulong ticket;   /* round * 4 + givers that have taken it; none are missing from a round that is over */
    _Atomic size_t offset; /* of the round */
    atomic_uint tried;     /* pushes that have returned */
    atomic_uint accepted;  /* of them */
} twice = {.ticket = 2};

static atomic_int finished;
static struct rmai_returned list;
static struct rmai_tlsf pool;
static uint64_t *memory; /* of the pool: what programs would write */
static size_t given, drained, doubles, raced;

static void give_up(const char *format, ...) RMAI_PRINTF(1, 2);
static void give_up(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "returned: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    _exit(1);
}

/* All of the table is there from the start. */
static int commit(void *context, void *start, size_t len) {
    (void)context, (void)start, (void)len;
    return 0;
}

static uint64_t next_of(uint64_t *r) { /* xorshift: G. Marsaglia, 2003 */
    *r ^= *r << 13;
    *r ^= *r >> 7;
    return *r ^= *r << 17;
}

static void healthy(void) {
    const char *wrong = rmai_tlsf_check(&pool);
    if (wrong) give_up("%s", wrong);
}

/* A giver's round; 0 if there was nothing. */
static int give_one(uint64_t *r) {
    size_t i = next_of(r) % SLOTS, at = atomic_exchange(&slot[i], 0);
    if (!at) return 0;
    memory[(at - 1) / sizeof *memory]++; /* plain: the push and the drain must order it before its next life */
    if (rmai_returned_push(&list, &pool, at - 1) != 0) give_up("a block that only one gave back was not accepted");
    return 1;
}

/* The first two givers that come take part, each once; `last` is the round that this one has seen. */
static int give_double(unsigned long *last) {
    unsigned long ticket = atomic_load(&twice.ticket);
    size_t at;
    do {
        if (ticket % 4 == 2 || ticket / 4 == *last) return 0;
        at = atomic_load(&twice.offset);
    } while (!atomic_compare_exchange_weak(&twice.ticket, &ticket, ticket + 1));
    *last = ticket / 4;
    while (atomic_load(&twice.ticket) % 4 < 2) sched_yield(); /* together */
    if (rmai_returned_push(&list, &pool, at) == 0) atomic_fetch_add(&twice.accepted, 1);
    atomic_fetch_add(&twice.tried, 1);
    return 1;
}

static void *giver(void *context) {
    uint64_t r = 88172645463325252u + (uintptr_t)context;
    unsigned long last = 0;
    while (!atomic_load(&finished)) {
        int something = give_double(&last);
        something |= give_one(&r);
        if (!something) sched_yield();
    }
    return NULL;
}

static size_t allocate(uint64_t *r) {
    size_t size = 1 + next_of(r) % (next_of(r) % 8 ? 4 * UNIT : 64 * UNIT), at;
    size_t alignment = (size_t)1 << next_of(r) % 10;
    while ((at = rmai_tlsf_alloc(&pool, alignment, size)) >= RMAI_TLSF_DENIED) {
        drained += rmai_returned_drain(&list, &pool);
        if ((at = rmai_tlsf_alloc(&pool, alignment, size)) < RMAI_TLSF_DENIED) break;
        if (pool.state->n_units == pool.state->max_units) return SIZE_MAX;
        if (rmai_tlsf_grow(&pool, GROWTH) != 0) give_up("growth was denied");
    }
    for (size_t i = 0; i < (size + sizeof *memory - 1) / sizeof *memory; i++) memory[at / sizeof *memory + i] = 1;
    return at;
}

/* One block to two givers; returns when both have pushed. */
static void hand_out_twice(size_t at, int calm) {
    int freed_between = 0;
    atomic_store(&twice.tried, 0);
    atomic_store(&twice.accepted, 0);
    atomic_store(&twice.offset, at);
    atomic_fetch_add(&twice.ticket, 2); /* the next round, taken by none */
    while (atomic_load(&twice.tried) < 2) {
        unsigned before = atomic_load(&twice.tried);
        if (calm || !rmai_returned_any(&list)) {
            sched_yield();
            continue;
        }
        drained += rmai_returned_drain(&list, &pool);
        if (before < 2 && !rmai_tlsf_live(&pool, at, NULL)) freed_between = 1;
    }
    if (atomic_load(&twice.accepted) != 1)
        give_up("of two that gave back the same block, %u were accepted", atomic_load(&twice.accepted));
    doubles++;
    given++;
    raced += (size_t)freed_between;
}

static void own(size_t rounds, int calm) {
    uint64_t r = 2463534242u;
    for (size_t i = 0; i < rounds; i++) {
        size_t at = allocate(&r), what = next_of(&r) % 32;
        if (at == SIZE_MAX) {
            sched_yield();
            continue;
        }
        if (what == 0) {
            hand_out_twice(at, calm);
        } else if (what < 6) { /* the owner's own */
            if (rmai_tlsf_free(&pool, at) != 0) give_up("the owner's own block was not live");
        } else {
            size_t old = atomic_exchange(&slot[next_of(&r) % SLOTS], at + 1);
            given++;
            if (old) { /* nobody has come for it */
                given--;
                if (rmai_tlsf_free(&pool, old - 1) != 0) give_up("a block that nobody has taken was not live");
                sched_yield();
            }
        }
        if (next_of(&r) % 8 == 0) drained += rmai_returned_drain(&list, &pool);
    }
}

int main(int argc, char **argv) {
    int calm = argc > 1 && strcmp(argv[1], "calm") == 0;
    size_t rounds = argc > 1 + calm ? strtoul(argv[1 + calm], NULL, 10) : 60000;
    void *room = aligned_alloc(RMAI_PAGE, rmai_tlsf_room(POOL));
    pthread_t thread[GIVERS];
    memory = calloc(POOL, 1);
    if (!room || !memory) give_up("no memory");
    memset(room, 0, rmai_tlsf_room(POOL));
    if (rmai_tlsf_create(&pool, room, POOL, commit, NULL) != 0) give_up("create");
    for (size_t i = 0; i < GIVERS; i++)
        if (pthread_create(&thread[i], NULL, giver, (void *)(uintptr_t)i) != 0) give_up("pthread_create");

    own(rounds, calm);

    atomic_store(&finished, 1);
    for (size_t i = 0; i < GIVERS; i++) pthread_join(thread[i], NULL);
    for (size_t i = 0; i < SLOTS; i++) {
        size_t at = atomic_exchange(&slot[i], 0);
        if (at && rmai_returned_push(&list, &pool, at - 1) != 0) give_up("a block that was left over is not live");
    }
    healthy();
    size_t left = rmai_returned_count(&list, &pool), freed = rmai_returned_drain(&list, &pool);
    if (left != freed) give_up("%zu blocks on the list, %zu drained", left, freed);
    drained += freed;
    healthy();
    if (drained != given) give_up("%zu blocks given, %zu drained", given, drained);
    if (pool.state->used_units || pool.state->n_used) give_up("%zu units are still used", pool.state->used_units);
    if (pool.state->n_free != 1) give_up("%zu free blocks, not one", pool.state->n_free);
    printf("returned%s: %zu given back, %zu of them by two at once (%zu freed between), %zu growths\n",
           calm ? " calm" : "", given, doubles, raced, pool.state->n_growths);
    free(memory);
    free(room);
    return 0;
}
