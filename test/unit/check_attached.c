/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of attached regions, on plain memory. They are in address space that must not be touched before the commit
 * callback was called for it: an access outside the committed part crashes here.
 *
 * Broken by an offset that is found in the wrong region, or in none; by granules that are handed out twice, or reused
 * too early; by a commit that fails half way; by an access that is not counted, or that enters a closed region.
 *
 *     RMA_TEST_SEED   the seed, as the program has printed it
 *     RMA_TEST_WRAP   if not empty, everything is some ten times slower: fewer turns */
#include "config.h"

#include "require.h"

#include "heap/attached.h"
#include "base/attributes.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SPACE     ((size_t)RMAI_GRANULES * RMAI_GRANULE) /* bytes of offsets */
#define MOST_LIVE 3000

static uint64_t seed;
static unsigned slower = 1;

/* splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014) */
static uint64_t next_of(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t n) { return (size_t)(next_of(state) % n); }

/* ---- tables whose commit callback counts, and can be told to refuse ---- */

struct tables {
    struct rmai_attached a;
    char *room;
    long left;       /* calls granted before it refuses; below 0: no end */
    size_t refuse;   /* one call in so many is refused at random; 0: none */
    uint64_t chance; /* for that */
    size_t asked;
};

static int commit(void *context, void *start, size_t len) {
    struct tables *t = context;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), at = (size_t)((char *)start - t->room);
    size_t from = at / page * page, to = rmai_round_up(at + len, page);
    t->asked++;
    REQUIRE(at <= rmai_attached_room() && len <= rmai_attached_room() - at, "commit of %zu bytes at %zu", len, at);
    if (t->left == 0 || (t->refuse && below(&t->chance, t->refuse) == 0)) return -1;
    if (t->left > 0) t->left--;
    REQUIRE(mprotect(t->room + from, to - from, PROT_READ | PROT_WRITE) == 0, "mprotect of %zu bytes", to - from);
    return 0;
}

static void reserve(struct tables *t) {
    memset(t, 0, sizeof *t);
    t->left = -1;
    t->room =
        mmap(NULL, rmai_attached_room() + RMAI_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(t->room != MAP_FAILED, "address space of %zu bytes", rmai_attached_room());
}

static void create(struct tables *t) {
    reserve(t);
    REQUIRE(rmai_attached_create(&t->a, t->room, commit, t) == 0, "create");
}

static void destroy(struct tables *t) { munmap(t->room, rmai_attached_room() + RMAI_PAGE); }

static size_t add(struct tables *t, uint64_t address, uint64_t size) {
    return rmai_attached_add(&t->a, address, size, commit, t);
}

static void take_out(struct tables *t, size_t offset) {
    rmai_attached_close(&t->a, offset);
    REQUIRE(rmai_attached_empty(&t->a, offset), "somebody is in the region at %zu", offset);
    rmai_attached_remove(&t->a, offset, 1);
}

/* ---- the model: the regions that there are, by offset ---- */

struct known {
    size_t granule, n; /* first, and how many */
    uint64_t address, size;
};

struct model {
    struct known live[MOST_LIVE];
    size_t n, cursor;
};

/* The first n free granules from `from` on, or SIZE_MAX. */
static size_t gap(const struct model *m, size_t from, size_t n) {
    for (size_t i = 0; i < m->n; i++) {
        const struct known *k = &m->live[i];
        if (k->granule + k->n <= from) continue;
        if (k->granule >= from && k->granule - from >= n) break;
        from = k->granule + k->n;
    }
    return from <= RMAI_GRANULES && n <= RMAI_GRANULES - from ? from : SIZE_MAX;
}

/* Where the model puts it: in a circle. */
static size_t model_add(struct model *m, uint64_t address, uint64_t size) {
    size_t n = (size_t)((size + RMAI_GRANULE - 1) / RMAI_GRANULE), at = gap(m, m->cursor, n), i = m->n;
    if (at == SIZE_MAX) at = gap(m, 0, n);
    if (at == SIZE_MAX) return SIZE_MAX;
    for (; i > 0 && m->live[i - 1].granule > at; i--) m->live[i] = m->live[i - 1];
    m->live[i] = (struct known){at, n, address, size};
    m->n++;
    m->cursor = at + n < RMAI_GRANULES ? at + n : 0;
    return at * RMAI_GRANULE;
}

static void model_remove(struct model *m, size_t i) {
    memmove(&m->live[i], &m->live[i + 1], (m->n - i - 1) * sizeof m->live[0]);
    m->n--;
}

/* What the model says of [offset, offset + len). */
static uint64_t model_find(const struct model *m, size_t offset, size_t len) {
    size_t low = 0, high = m->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct known *k = &m->live[middle];
        if (offset / RMAI_GRANULE < k->granule) {
            high = middle;
        } else if (offset / RMAI_GRANULE >= k->granule + k->n) {
            low = middle + 1;
        } else {
            uint64_t at = offset - k->granule * RMAI_GRANULE;
            return at <= k->size && len <= k->size - at ? k->address + at : 0;
        }
    }
    return 0;
}

/* One look by the owner, and by somebody else. */
static void look(struct tables *t, const struct model *m, size_t offset, size_t len) {
    struct rmai_region *region = NULL;
    uint64_t want = model_find(m, offset, len), found = rmai_attached_find(&t->a, offset, len);
    REQUIRE(found == want, "%zu bytes at %zu are found at %#llx, not %#llx", len, offset, (unsigned long long)found,
            (unsigned long long)want);
    found = rmai_attached_enter(&t->a, offset, len, &region);
    REQUIRE(found == want, "%zu bytes at %zu are entered at %#llx, not %#llx", len, offset, (unsigned long long)found,
            (unsigned long long)want);
    REQUIRE(!found == !region, "the region is written on success only");
    if (!found) return;
    REQUIRE(region->inside == 1, "%#x are inside", region->inside);
    rmai_attached_leave(region);
    REQUIRE(region->inside == 0, "%#x are inside", region->inside);
}

static void look_around(struct tables *t, const struct model *m, uint64_t *random) {
    const struct known *k;
    size_t at;
    look(t, m, below(random, SPACE), below(random, 100));
    look(t, m, SPACE + below(random, SPACE), 1);
    look(t, m, SIZE_MAX - below(random, 1000), 1);
    if (m->n == 0) return;
    k = &m->live[below(random, m->n)];
    at = k->granule * RMAI_GRANULE;
    look(t, m, at, 1);
    look(t, m, at, (size_t)k->size);
    look(t, m, at, (size_t)k->size + 1);
    look(t, m, at + (size_t)k->size - 1, 1);
    look(t, m, at + (size_t)k->size - 1, 2);
    look(t, m, at + (size_t)k->size, 0);
    look(t, m, at + (size_t)k->size, 1);
    look(t, m, at, SIZE_MAX);
    look(t, m, at + 1, SIZE_MAX);
    look(t, m, at + below(random, (size_t)k->size), below(random, (size_t)k->size + 2));
    if (at) look(t, m, at - 1, 1);
    if (at) look(t, m, at - 1, 2);
}

/* Small ones, some of many granules, now and then one that is a good part of the whole. */
static uint64_t any_size(uint64_t *random, int large) {
    if (large && below(random, 40) == 0) return 1 + below(random, SPACE / 3);
    switch (below(random, 4)) {
        case 0: return 1 + below(random, 100);
        case 1: return (1 + below(random, 5)) * RMAI_GRANULE; /* whole granules */
        case 2: return 1 + below(random, 3 * RMAI_GRANULE);
        default: return 1 + below(random, 5000 * RMAI_GRANULE);
    }
}

START_TEST(random_regions_are_as_in_the_model) {
    /* Each add, find, enter and remove, by itself and among others. In the second turn the regions fill the space and
     * the circle is gone round many times. */
    struct tables t;
    struct model *m = calloc(1, sizeof *m);
    uint64_t random = seed + (uint64_t)_i, address = 4096;
    size_t most = _i ? 30 : MOST_LIVE, full = 0, most_live = 0;
    ck_assert(m != NULL);
    create(&t);
    for (unsigned turn = 0; turn < (_i ? 30000 : 20000) / slower; turn++) {
        if (below(&random, 100) < (m->n > most / 2 ? 48 : 60) && m->n < most) {
            uint64_t size = any_size(&random, _i);
            size_t offset, want;
            address += below(&random, 100);
            offset = add(&t, address, size);
            want = model_add(m, address, size);
            REQUIRE(offset == want, "turn %u: %llu bytes are at %zu, not %zu", turn, (unsigned long long)size, offset,
                    want);
            full += want == SIZE_MAX;
            address += size;
        } else if (m->n) {
            size_t i = below(&random, m->n);
            take_out(&t, m->live[i].granule * RMAI_GRANULE);
            model_remove(m, i);
        }
        if (m->n > most_live) most_live = m->n;
        REQUIRE(t.a.state->n_live == m->n, "%u live, not %zu", t.a.state->n_live, m->n);
        REQUIRE(t.a.state->n_regions == most_live, "%u regions in use, with %zu live at most", t.a.state->n_regions,
                most_live);
        if (turn % 3 == 0) look_around(&t, m, &random);
    }
    /* A space that the turns have left with room is filled here: at most three of these fit. */
    while (!full) {
        uint64_t size = SPACE / 3;
        size_t offset = add(&t, address, size), want = model_add(m, address, size);
        REQUIRE(offset == want, "%llu bytes are at %zu, not %zu", (unsigned long long)size, offset, want);
        full += want == SIZE_MAX;
        address += size;
    }
    while (m->n) {
        take_out(&t, m->live[m->n - 1].granule * RMAI_GRANULE);
        m->n--;
    }
    REQUIRE(t.a.state->n_live == 0, "%u live", t.a.state->n_live);
    free(m);
    destroy(&t);
}
END_TEST

START_TEST(an_offset_is_used_again_as_late_as_possible) {
    /* A region that is detached and attached again gets all other offsets first: an old pointer finds nothing. */
    struct tables t;
    size_t offset, keep, step = slower > 1 ? 16 : 1;
    create(&t);
    for (uint32_t i = 0; i < RMAI_GRANULES; i += (uint32_t)step) {
        REQUIRE((offset = add(&t, 65536, step * RMAI_GRANULE - 1)) == (size_t)i * RMAI_GRANULE, "%u: %zu", i, offset);
        take_out(&t, offset);
        REQUIRE(rmai_attached_find(&t.a, offset, 1) == 0, "%u", i);
    }
    REQUIRE(add(&t, 65536, 1) == 0, "the circle does not close");
    REQUIRE(t.a.state->n_regions == 1, "%u regions", t.a.state->n_regions);

    /* By large ones: each follows the other, and what is in the way is left where it is. */
    keep = add(&t, 1 << 20, 5);
    REQUIRE(keep == RMAI_GRANULE, "%zu", keep);
    take_out(&t, 0);
    REQUIRE((offset = add(&t, 1, SPACE / 2)) == 2 * RMAI_GRANULE, "%zu", offset);
    take_out(&t, offset);
    REQUIRE((offset = add(&t, 1, SPACE / 2 - 2 * RMAI_GRANULE)) == 2 * RMAI_GRANULE + SPACE / 2, "%zu", offset);
    REQUIRE(rmai_attached_find(&t.a, SPACE - 1, 1) == 1 + SPACE / 2 - 2 * RMAI_GRANULE - 1, "the last byte of all");
    take_out(&t, offset);
    REQUIRE((offset = add(&t, 1, 1)) == 0, "%zu", offset);
    REQUIRE((offset = add(&t, 1, 1)) == 2 * RMAI_GRANULE, "%zu", offset);
    take_out(&t, offset);
    take_out(&t, 0);
    REQUIRE(add(&t, 1, SPACE - RMAI_GRANULE) == SIZE_MAX, "more than is free in one piece");
    REQUIRE(add(&t, 1, SPACE + 1) == SIZE_MAX && add(&t, 1, UINT64_MAX) == SIZE_MAX, "more than there is");
    take_out(&t, keep);
    REQUIRE(add(&t, 1, SPACE) == 0, "all of it");
    REQUIRE(add(&t, 1, 1) == SIZE_MAX, "one more");
    REQUIRE(rmai_attached_find(&t.a, SPACE - 1, 1) == SPACE && rmai_attached_find(&t.a, SPACE, 1) == 0,
            "the last byte of all");
    take_out(&t, 0);
    destroy(&t);
}
END_TEST

START_TEST(a_denied_commit_changes_nothing) {
    /* Tables that were refused memory go on as if the region had never been asked for: the same offsets as their
     * twin's. */
    struct tables t, twin;
    static size_t live[MOST_LIVE];
    uint64_t random = seed;
    size_t n = 0, denied = 0;
    reserve(&t);
    t.left = 0;
    REQUIRE(rmai_attached_create(&t.a, t.room, commit, &t) != 0, "created without memory");
    t.left = -1;
    REQUIRE(rmai_attached_create(&t.a, t.room, commit, &t) == 0, "create");
    create(&twin);
    for (long left = 0; left < 2; left++) { /* the first region needs two: for its granule, and for itself */
        t.left = left;
        REQUIRE(add(&t, 5, 5) == SIZE_MAX, "with %ld commits", left);
        REQUIRE(t.a.state->n_live == 0 && t.a.state->cursor == 0, "%u live, the next at %u", t.a.state->n_live,
                t.a.state->cursor);
        REQUIRE(rmai_attached_find(&t.a, 0, 1) == 0, "a region that was refused");
    }
    t.left = -1;
    t.refuse = 3;
    t.chance = seed;
    for (unsigned turn = 0; turn < 20000 / slower; turn++) {
        if (n < MOST_LIVE && (n < 10 || below(&random, 5) < 3)) {
            uint64_t size = any_size(&random, 0), address = next_of(&random) >> 16;
            size_t offset, want = add(&twin, address, size);
            while ((offset = add(&t, address, size)) == SIZE_MAX && want != SIZE_MAX) {
                denied++;
                REQUIRE(t.a.state->n_live == n, "%u live, not %zu", t.a.state->n_live, n);
                REQUIRE(rmai_attached_find(&t.a, want, 1) == 0, "a region that was refused");
                if (n)
                    REQUIRE(rmai_attached_find(&t.a, live[n - 1], 1) == rmai_attached_find(&twin.a, live[n - 1], 1),
                            "another");
            }
            REQUIRE(offset == want, "turn %u: at %zu, not %zu", turn, offset, want);
            if (want != SIZE_MAX) live[n++] = offset;
        } else {
            size_t i = below(&random, n);
            take_out(&t, live[i]);
            take_out(&twin, live[i]);
            live[i] = live[--n];
        }
    }
    REQUIRE(denied > 0, "only %zu were denied", denied);
    destroy(&t);
    destroy(&twin);
}
END_TEST

START_TEST(nobody_enters_what_is_closed) {
    /* Who is in keeps the region from being empty; who comes after the closing does not get in, and is not counted. */
    struct tables t;
    struct rmai_region *one, *two, *none = NULL;
    size_t a, b;
    create(&t);
    a = add(&t, 1000, 100);
    b = add(&t, 5000, 70000);
    REQUIRE(rmai_attached_enter(&t.a, a + 99, 1, &one) == 1099, "the last byte");
    REQUIRE(rmai_attached_enter(&t.a, a, 100, &two) == 1000 && one == two && one->inside == 2, "twice");
    REQUIRE(!rmai_attached_empty(&t.a, a), "one that is open");
    rmai_attached_close(&t.a, a);
    for (int i = 0; i < 3; i++) REQUIRE(rmai_attached_enter(&t.a, a, 1, &none) == 0 && !none, "it is closed");
    REQUIRE(rmai_attached_find(&t.a, a, 1) == 1000, "the owner still finds it");
    REQUIRE(rmai_attached_enter(&t.a, b + 65536, 4464, &none) == 5000 + 65536, "another one is open");
    rmai_attached_leave(none);
    REQUIRE(!rmai_attached_empty(&t.a, a), "two are in");
    rmai_attached_leave(one);
    REQUIRE(!rmai_attached_empty(&t.a, a), "one is in");
    rmai_attached_leave(two);
    REQUIRE(rmai_attached_empty(&t.a, a), "all have left");
    rmai_attached_remove(&t.a, a, 1);
    none = NULL;
    REQUIRE(rmai_attached_enter(&t.a, a, 1, &none) == 0 && rmai_attached_find(&t.a, a, 1) == 0, "it is gone");
    a = add(&t, 3000, 10); /* has the same number */
    REQUIRE(rmai_attached_enter(&t.a, a, 10, &one) == 3000 && one == two && one->inside == 1, "it is open again");
    rmai_attached_leave(one);
    take_out(&t, a);
    take_out(&t, b);
    destroy(&t);
}
END_TEST

/* ---- threads ---- */

#define VISITORS 3
#define SLOTS    16
#define SERIALS  10000u

/* Region number s of all is at addresses (s + 1) << 36, so that an address tells whose it is. */
static struct {
    struct tables t;
    uint32_t published[SLOTS];   /* granules: of what is there, or was */
    uint32_t start[SERIALS];     /* 1 + the first granule, once known */
    unsigned char live[SERIALS]; /* 1 from before it is added until everybody has left it */
    uint64_t inside, outside;    /* how often they got in, or not */
    int done;
} shared;

static void *visit(void *context) {
    uint64_t random = seed + 77 + (uint64_t)(uintptr_t)context;
    while (!__atomic_load_n(&shared.done, __ATOMIC_ACQUIRE)) {
        size_t granule = __atomic_load_n(&shared.published[below(&random, SLOTS)], __ATOMIC_RELAXED);
        size_t offset = granule * RMAI_GRANULE + below(&random, 64), len = 1 + below(&random, 8);
        struct rmai_region *region;
        uint64_t address = rmai_attached_enter(&shared.t.a, offset, len, &region), serial = (address >> 36) - 1;
        if (!address) {
            if (__atomic_fetch_add(&shared.outside, 1, __ATOMIC_RELAXED) % 256 == 0) sched_yield();
            continue;
        }
        __atomic_fetch_add(&shared.inside, 1, __ATOMIC_RELAXED);
        REQUIRE(serial < SERIALS, "the address %#llx is nobody's", (unsigned long long)address);
        for (int i = 0; i < 3; i++) {
            uint32_t start = __atomic_load_n(&shared.start[serial], __ATOMIC_ACQUIRE);
            REQUIRE(__atomic_load_n(&shared.live[serial], __ATOMIC_ACQUIRE) == 1,
                    "region %llu is gone, and somebody is in it", (unsigned long long)serial);
            REQUIRE(!start || (address & ((1ull << 36) - 1)) == offset - (size_t)(start - 1) * RMAI_GRANULE,
                    "offset %zu is address %#llx, of the region at %u", offset, (unsigned long long)address, start - 1);
            if (below(&random, 64) == 0) sched_yield();
        }
        rmai_attached_leave(region);
    }
    return NULL;
}

/* Lets the visitors run, also where only one thread runs at a time and sched_yield gives way to nobody (valgrind). */
static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL); }

static int visited_enough(void) {
    return __atomic_load_n(&shared.inside, __ATOMIC_RELAXED) > 100 &&
           __atomic_load_n(&shared.outside, __ATOMIC_RELAXED) > 100;
}

START_TEST(visitors_are_never_in_the_wrong_region) {
    /* Entering while the region is closed, removed, and its number or its offset given to another: with large regions
     * the same offsets come again at once. */
    pthread_t thread[VISITORS];
    uint32_t current[SLOTS] = {0}, serial_of[SLOTS] = {0}; /* 1 + ..., or 0 */
    uint64_t random = seed;
    create(&shared.t);
    for (int i = 0; i < VISITORS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, visit, (void *)(uintptr_t)i), 0);
    for (uint32_t serial = 0; serial < SERIALS / slower;) {
        size_t slot = below(&random, SLOTS), offset, size;
        if (current[slot]) {
            offset = (size_t)(current[slot] - 1) * RMAI_GRANULE;
            rmai_attached_close(&shared.t.a, offset);
            while (!rmai_attached_empty(&shared.t.a, offset)) sched_yield();
            __atomic_store_n(&shared.live[serial_of[slot] - 1], 2, __ATOMIC_RELEASE);
            rmai_attached_remove(&shared.t.a, offset, 1);
            current[slot] = 0;
            continue;
        }
        size = 64 + 8 + (below(&random, 16) == 0 ? SPACE / 20 : below(&random, 3 * RMAI_GRANULE));
        __atomic_store_n(&shared.live[serial], 1, __ATOMIC_RELEASE);
        offset = add(&shared.t, (uint64_t)(serial + 1) << 36, size);
        if (offset == SIZE_MAX) continue;
        current[slot] = (uint32_t)(offset / RMAI_GRANULE) + 1;
        serial_of[slot] = serial + 1;
        __atomic_store_n(&shared.start[serial], current[slot], __ATOMIC_RELEASE);
        if (below(&random, 4)) __atomic_store_n(&shared.published[slot], current[slot] - 1, __ATOMIC_RELAXED);
        if (below(&random, 16) == 0) nap();
        serial++;
    }
    /* Where all that was done before the visitors got a processor, they come now: into those that are open, and to a
     * place where none ever was. */
    __atomic_store_n(&shared.published[0], RMAI_GRANULES - 1, __ATOMIC_RELAXED);
    for (int slot = 1; slot < SLOTS; slot++)
        if (current[slot]) __atomic_store_n(&shared.published[slot], current[slot] - 1, __ATOMIC_RELAXED);
    for (time_t end = time(NULL) + 60; !visited_enough() && time(NULL) < end;) nap();
    __atomic_store_n(&shared.done, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < VISITORS; i++) ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    REQUIRE(visited_enough(), "%llu times in, %llu times not", (unsigned long long)shared.inside,
            (unsigned long long)shared.outside);
    for (int slot = 0; slot < SLOTS; slot++)
        if (current[slot]) take_out(&shared.t, (size_t)(current[slot] - 1) * RMAI_GRANULE);
    ck_assert_uint_eq(shared.t.a.state->n_live, 0);
    ck_assert_uint_le(shared.t.a.state->n_regions, SLOTS);
    for (uint32_t i = 0; i < shared.t.a.state->n_regions; i++)
        ck_assert_uint_eq(shared.t.a.region[i].inside, RMAI_CLOSED);
    destroy(&shared.t);
}
END_TEST

int main(void) {
    Suite *s = suite_create("attached");
    TCase *one = tcase_create("one process"), *threads = tcase_create("threads");
    const char *wrap = getenv("RMA_TEST_WRAP"), *given = getenv("RMA_TEST_SEED");
    SRunner *runner;
    int failed;
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    if (wrap && *wrap) slower = 20;
    printf("check_attached: RMA_TEST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    tcase_set_timeout(one, 300);
    tcase_add_loop_test(one, random_regions_are_as_in_the_model, 0, 2);
    tcase_add_test(one, an_offset_is_used_again_as_late_as_possible);
    tcase_add_test(one, a_denied_commit_changes_nothing);
    tcase_add_test(one, nobody_enters_what_is_closed);
    suite_add_tcase(s, one);
    tcase_set_timeout(threads, 300);
    tcase_add_test(threads, visitors_are_never_in_the_wrong_region);
    suite_add_tcase(s, threads);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
