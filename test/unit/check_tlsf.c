/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator alone, on plain memory. Its metadata are in address space that must not be touched before the commit
 * callback was called for it, and end at a page that must never be touched: an access outside the committed part
 * crashes here.
 *
 * The random test compares with the simplest possible model: a byte for each unit, and a list of blocks.
 *
 *     RMA_TEST_OPERATIONS   how many random operations (10,000,000; fewer where each is much slower)
 *     RMA_TEST_SEED         the seed, as the program has printed it */
#include "config.h"

#include "require.h"

#include "heap/tlsf.h"
#include "base/attributes.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define UNIT           ((size_t)RMAI_TLSF_UNIT)
#define KIB            ((size_t)1024)
#define MIB            (KIB * KIB)
#define GIB            (MIB * KIB)
#define NIL            0xffffffffu
#define USED           0xfffffffeu
#define UNITS_PER_STEP (RMAI_TLSF_STEP / sizeof(struct rmai_tlsf_unit))
#define BYTES_PER_STEP (UNITS_PER_STEP * UNIT) /* of the pool: whose entries are committed together */
#define LOOK           32                      /* docs/heap.md: blocks of the request's own class that are tried */

/* ---- random numbers: splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014) ---- */

static uint64_t seed;
static unsigned long operations;

struct rng {
    uint64_t state;
};

static uint64_t next_of(struct rng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(struct rng *r, size_t n) { return (size_t)(next_of(r) % n); }
static int one_in(struct rng *r, size_t n) { return below(r, n) == 0; }

/* ---- a pool whose commit callback counts, and can be told to refuse ---- */

struct pool {
    struct rmai_tlsf t;
    char *room;
    size_t room_size, max;
    size_t asked;      /* calls of the callback */
    size_t granted;    /* bytes committed */
    long left;         /* calls granted before it refuses; below 0: no end */
    size_t refuse;     /* one call in so many is refused at random; 0: none */
    struct rng chance; /* for that */
};

static int commit(void *context, void *start, size_t len) {
    struct pool *p = context;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), at = (size_t)((char *)start - p->room);
    size_t from = at / page * page, to = rmai_round_up(at + len, page);
    p->asked++;
    REQUIRE(at <= p->room_size && len <= p->room_size - at, "commit of %zu bytes at %zu of %zu", len, at, p->room_size);
    if (p->left == 0 || (p->refuse && one_in(&p->chance, p->refuse))) return -1;
    if (p->left > 0) p->left--;
    REQUIRE(mprotect(p->room + from, to - from, PROT_READ | PROT_WRITE) == 0, "mprotect of %zu bytes", to - from);
    p->granted += len;
    return 0;
}

static void reserve(struct pool *p, size_t max) {
    memset(p, 0, sizeof *p);
    p->max = max;
    p->room_size = rmai_tlsf_room(max);
    p->left = -1;
    p->room = mmap(NULL, p->room_size + RMAI_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(p->room != MAP_FAILED, "address space of %zu bytes", p->room_size);
}

static void create(struct pool *p, size_t max) {
    reserve(p, max);
    REQUIRE(rmai_tlsf_create(&p->t, p->room, max, commit, p) == 0, "create");
}

static void destroy(struct pool *p) { munmap(p->room, p->room_size + RMAI_PAGE); }

static void grow(struct pool *p, size_t bytes) { REQUIRE(rmai_tlsf_grow(&p->t, bytes) == 0, "by %zu", bytes); }

static void create_full(struct pool *p, size_t bytes) {
    create(p, bytes);
    grow(p, bytes);
}

static size_t give(struct pool *p, size_t alignment, size_t size) {
    size_t offset = rmai_tlsf_alloc(&p->t, alignment, size);
    REQUIRE(offset < RMAI_TLSF_DENIED, "alloc(%zu, %zu) gave %zd", alignment, size, (ssize_t)offset);
    REQUIRE(offset % alignment == 0 && offset % UNIT == 0, "alloc(%zu, %zu) gave %zu", alignment, size, offset);
    return offset;
}

static void take(struct pool *p, size_t offset) { REQUIRE(rmai_tlsf_free(&p->t, offset) == 0, "free(%zu)", offset); }

static void healthy(const struct pool *p) {
    const char *wrong = rmai_tlsf_check(&p->t);
    REQUIRE(!wrong, "%s", wrong);
}

static size_t free_units(const struct pool *p) { return p->t.state->n_units - p->t.state->used_units; }

/* ---- pictures: the whole state, with zeros for entries that are not committed, as they would read ---- */

struct picture {
    struct rmai_tlsf_state state;
    struct rmai_tlsf_unit *unit;
    size_t bytes;
};

static int is_ready(const struct pool *p, size_t step) { return (int)(p->t.ready[step / 64] >> (step % 64) & 1); }

static struct picture picture_of(const struct pool *p) {
    struct picture now = {.state = *p->t.state};
    size_t steps = p->t.state->max_units / UNITS_PER_STEP + 1;
    now.bytes = steps * RMAI_TLSF_STEP;
    now.unit = calloc(steps, RMAI_TLSF_STEP);
    REQUIRE(now.unit, "calloc");
    for (size_t s = 0; s < steps; s++)
        if (is_ready(p, s)) memcpy(now.unit + s * UNITS_PER_STEP, p->t.unit + s * UNITS_PER_STEP, RMAI_TLSF_STEP);
    return now;
}

/* Compares and lets go of both. The peak may differ where one pool did what the other was denied. */
static void same_pictures(struct picture a, struct picture b, int peak_too) {
    if (!peak_too) a.state.peak_units = b.state.peak_units = 0;
    REQUIRE(memcmp(&a.state, &b.state, sizeof a.state) == 0, "the states differ");
    REQUIRE(a.bytes == b.bytes && memcmp(a.unit, b.unit, a.bytes) == 0, "the tables differ");
    free(a.unit);
    free(b.unit);
}

static void unchanged(const struct pool *p, struct picture before) { same_pictures(before, picture_of(p), 1); }

/* ---- giving and taking back ---- */

static void order(size_t *index, size_t n, int how) {
    struct rng r = {7};
    for (size_t i = 0; i < n; i++) index[i] = how == 1 ? n - 1 - i : i;
    if (how == 2) /* the even ones, then the odd ones: each of these has two free neighbours */
        for (size_t i = 0; i < n; i++) index[i] = i < (n + 1) / 2 ? 2 * i : 2 * (i - (n + 1) / 2) + 1;
    for (size_t i = n - 1; how == 3 && i > 0; i--) {
        size_t j = below(&r, i + 1), old = index[i];
        index[i] = index[j];
        index[j] = old;
    }
}

START_TEST(every_unit_is_given_once_and_all_merge_again) {
    /* A unit that is lost or given twice, and free neighbours that stay apart, in whatever order they are freed. */
    enum { N = 4096 };
    static size_t offset[N], index[N];
    static char seen[N];
    struct pool p;
    create(&p, N * UNIT);
    for (size_t grown = 0, more = 1; grown < N; grown += more, more = rmai_min(3 * more, N - grown))
        grow(&p, more * UNIT);
    for (size_t i = 0; i < N; i++) {
        offset[i] = give(&p, 1, 1 + i % UNIT);
        ck_assert_uint_lt(offset[i] / UNIT, N);
        REQUIRE(!seen[offset[i] / UNIT], "unit %zu twice", offset[i] / UNIT);
        seen[offset[i] / UNIT] = 1;
    }
    healthy(&p);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 1, 1), RMAI_TLSF_FULL);
    ck_assert_uint_eq(p.t.state->n_free, 0);
    order(index, N, _i);
    for (size_t i = 0; i < N; i++) {
        take(&p, offset[index[i]]);
        if (i % 512 == 0) healthy(&p);
    }
    healthy(&p);
    ck_assert_uint_eq(p.t.state->n_free, 1);
    ck_assert_uint_eq(p.t.state->n_used, 0);
    ck_assert_uint_eq(give(&p, 1, N * UNIT), 0);
    destroy(&p);
}
END_TEST

START_TEST(a_freed_block_merges_with_the_free_neighbours_it_has) {
    /* Merging with one side only, or across a live block: the number of free runs is counted here after each step. */
    static const int orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    static const size_t units[5] = {1, 3, 64, 7, 1};
    struct pool p;
    size_t offset[5];
    int live[5] = {1, 1, 1, 1, 1};
    create_full(&p, 76 * UNIT);
    for (int i = 0; i < 5; i++) offset[i] = give(&p, 64, units[i] * UNIT);
    for (int k = 0; k < 3; k++) {
        size_t runs = 0;
        take(&p, offset[orders[_i][k]]);
        live[orders[_i][k]] = 0;
        for (int i = 1; i < 5; i++) runs += live[i] && !live[i - 1];
        ck_assert_uint_eq(p.t.state->n_free, runs);
        healthy(&p);
    }
    ck_assert_uint_eq(give(&p, 64, 74 * UNIT), UNIT);
    destroy(&p);
}
END_TEST

START_TEST(growth_merges_with_a_free_end_and_only_with_that) {
    /* A growth that starts a new block beside a free one, or that swallows a live one. */
    struct pool p;
    create(&p, 64 * UNIT);
    grow(&p, 0);
    ck_assert_uint_eq(p.t.state->n_growths, 0);
    grow(&p, 4 * UNIT);
    grow(&p, 4 * UNIT);
    ck_assert_uint_eq(p.t.state->n_free, 1);
    ck_assert_uint_eq(give(&p, 64, 8 * UNIT), 0);
    grow(&p, 4 * UNIT);
    ck_assert_uint_eq(p.t.state->n_free, 1);
    ck_assert_uint_eq(give(&p, 64, 2 * UNIT), 8 * UNIT);
    grow(&p, 52 * UNIT);
    ck_assert_uint_eq(p.t.state->n_free, 1);
    ck_assert_uint_eq(give(&p, 64, 54 * UNIT), 10 * UNIT);
    ck_assert_uint_eq(p.t.state->n_growths, 4);
    ck_assert_uint_eq(p.t.state->n_units, p.t.state->max_units);
    healthy(&p);
    destroy(&p);
}
END_TEST

START_TEST(blocks_are_aligned_and_what_lies_before_them_is_not_lost) {
    /* An address that is not a multiple, and room before an aligned block that no later request gets. */
    static const size_t sizes[] = {1, 63, 64, 65, 4096, 5000};
    struct pool p;
    create_full(&p, 8 * MIB);
    for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 2)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            size_t odd = give(&p, 64, 1), block = give(&p, alignment, sizes[i]);
            ck_assert_uint_eq(odd, 0);
            ck_assert_uint_eq(block, rmai_max(alignment, UNIT));
            ck_assert_uint_eq(free_units(&p), 8 * MIB / UNIT - 1 - (sizes[i] + UNIT - 1) / UNIT);
            healthy(&p);
            take(&p, block);
            take(&p, odd);
            ck_assert_uint_eq(p.t.state->n_free, 1);
        }
    give(&p, 64, 1);
    give(&p, 4 * MIB, 4 * MIB);
    for (size_t i = 1; i < 4 * MIB / UNIT; i++) ck_assert_uint_lt(give(&p, 64, 1), 4 * MIB);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 64, 1), RMAI_TLSF_FULL);
    destroy(&p);
}
END_TEST

START_TEST(alignments_up_to_a_gib_hold) {
    /* An alignment that is computed in too few bits. */
    struct pool p;
    create_full(&p, 4 * GIB);
    ck_assert_uint_eq(give(&p, 64, 1), 0);
    ck_assert_uint_eq(give(&p, GIB, 100), GIB);
    ck_assert_uint_eq(give(&p, GIB, 100), 2 * GIB);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 2 * GIB, GIB), RMAI_TLSF_FULL);
    take(&p, 2 * GIB);
    ck_assert_uint_eq(give(&p, 2 * GIB, 100), 2 * GIB);
    destroy(&p);
}
END_TEST

START_TEST(sizes_come_back_as_they_were_asked_for) {
    /* A size that is kept in units, or a waste that is off by one at a unit's edge. */
    struct pool p;
    size_t size, offset;
    create_full(&p, MIB);
    for (size_t asked = 1; asked <= 1000; asked++) {
        offset = give(&p, 64, asked);
        ck_assert_int_eq(rmai_tlsf_live(&p.t, offset, &size), 1);
        ck_assert_uint_eq(size, asked);
        ck_assert_uint_eq(p.t.state->used_units, (asked + UNIT - 1) / UNIT);
        ck_assert_int_eq(rmai_tlsf_live(&p.t, offset, NULL), 1);
        take(&p, offset);
    }
    destroy(&p);
}
END_TEST

/* ---- resize ---- */

static void resize(struct pool *p, size_t offset, size_t size) {
    size_t now;
    REQUIRE(rmai_tlsf_resize(&p->t, offset, size) == 0, "resize(%zu, %zu)", offset, size);
    REQUIRE(rmai_tlsf_live(&p->t, offset, &now) && now == size, "resize(%zu, %zu) made it %zu", offset, size, now);
    healthy(p);
}

START_TEST(resize_moves_the_border_to_what_is_behind) {
    /* Room behind a block that is not used, is taken beyond what is free, or is not given back. */
    struct pool p;
    size_t a, b;
    create_full(&p, 100 * UNIT);
    a = give(&p, 64, 10 * UNIT);
    resize(&p, a, 10 * UNIT - 63); /* the same units */
    ck_assert_uint_eq(p.t.state->n_free, 1);
    resize(&p, a, 20 * UNIT); /* part of what is free, at the pool's end */
    resize(&p, a, 5 * UNIT);  /* back to it */
    ck_assert_uint_eq(p.t.state->n_free, 1);
    resize(&p, a, 100 * UNIT); /* all of it: nothing is free */
    ck_assert_uint_eq(p.t.state->n_free, 0);
    resize(&p, a, 10 * UNIT); /* from the pool's very end */
    b = give(&p, 64, 90 * UNIT);
    resize(&p, a, 4 * UNIT); /* before a live block */
    ck_assert_uint_eq(free_units(&p), 6);
    resize(&p, a, 1);
    ck_assert_uint_eq(p.t.state->n_free, 1);
    resize(&p, a, 10 * UNIT); /* exactly up to it */
    ck_assert_uint_eq(p.t.state->n_free, 0);
    resize(&p, b, 1);
    take(&p, a);
    take(&p, b);
    ck_assert_uint_eq(p.t.state->n_free, 1);
    ck_assert_uint_eq(free_units(&p), 100);
    destroy(&p);
}
END_TEST

START_TEST(resize_without_room_changes_nothing) {
    /* A resize that has begun to change the lists before it finds that the room does not do. */
    static const size_t too_much[] = {11 * UNIT, 15 * UNIT + 1, 300 * UNIT, RMAI_TLSF_MAX, RMAI_TLSF_MAX + 1, SIZE_MAX};
    struct pool p;
    size_t a, gap;
    create_full(&p, 100 * UNIT);
    a = give(&p, 64, 10 * UNIT);
    gap = give(&p, 64, 5 * UNIT);
    give(&p, 64, 5 * UNIT);
    for (size_t i = 0; i < sizeof too_much / sizeof too_much[0]; i++) {
        struct picture before = picture_of(&p);
        if (i == 1) {
            free(before.unit);
            take(&p, gap);
            before = picture_of(&p);
        }
        ck_assert_int_eq(rmai_tlsf_resize(&p.t, a, too_much[i]), -1);
        unchanged(&p, before);
    }
    resize(&p, a, 15 * UNIT);
    destroy(&p);
}
END_TEST

/* ---- finding ---- */

START_TEST(need_is_what_makes_the_allocation_succeed) {
    /* A growth by rmai_tlsf_need after which the request still finds nothing: rounding, alignment and the free end of
     * the pool must be counted as the search counts them. */
    struct rng r = {20};
    struct pool p;
    size_t grown = 0, last = 0, tries = 0;
    create(&p, GIB);
    while (tries++ < 20000) {
        size_t alignment = (size_t)1 << below(&r, 18), size = 1 + below(&r, (size_t)1 << (4 + below(&r, 16)));
        size_t offset = rmai_tlsf_alloc(&p.t, alignment, size), need;
        if (offset == RMAI_TLSF_FULL) {
            need = rmai_tlsf_need(&p.t, alignment, size);
            REQUIRE(need && need % UNIT == 0, "need(%zu, %zu) is %zu", alignment, size, need);
            REQUIRE(need <= (size + alignment) * 33 / 32 + 2 * UNIT, "need(%zu, %zu) is %zu", alignment, size, need);
            if (need > p.max - grown) break;
            grow(&p, need);
            grown += need;
            offset = give(&p, alignment, size);
        }
        if (one_in(&r, 3) && last) take(&p, last);
        if (one_in(&r, 4)) take(&p, offset), offset = 0;
        last = offset;
    }
    ck_assert_uint_gt(p.t.state->n_growths, 100);
    healthy(&p);
    destroy(&p);
}
END_TEST

START_TEST(need_counts_what_is_free_at_the_end) {
    /* A heap that grows by the whole request though most of it is there. */
    struct pool p;
    create(&p, MIB);
    grow(&p, 100 * UNIT);
    give(&p, 64, 60 * UNIT);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 64, 64 * UNIT), 24 * UNIT);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 64, 65 * UNIT), 26 * UNIT); /* rounded to its class */
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 4 * UNIT, 61 * UNIT), 24 * UNIT);
    give(&p, 64, 40 * UNIT);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 64, 64 * UNIT), 64 * UNIT);
    take(&p, 0); /* free, but not at the end */
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 64, 64 * UNIT), 64 * UNIT);
    destroy(&p);
}
END_TEST

/* A pool of gaps: n - 1 of `small` units and then one of `large` units, at *where, which heads the list least. */
static void create_gaps(struct pool *p, size_t n, size_t small, size_t large, size_t *where) {
    static size_t gap[64];
    create_full(p, (n * (small + 1) + large + 2) * UNIT);
    for (size_t i = 0; i < n; i++) {
        gap[i] = give(p, 64, (i < n - 1 ? small : large) * UNIT);
        give(p, 64, UNIT);
    }
    while (free_units(p)) give(p, 64, UNIT);
    *where = gap[n - 1];
    for (size_t i = n; i-- > 0;) take(p, gap[i]);
}

START_TEST(a_block_that_fits_exactly_is_found_in_its_own_class) {
    /* The rounded search alone passes over a block of just the right size, since its class also holds smaller ones. */
    struct pool p;
    size_t where;
    for (size_t n = 1; n <= LOOK; n++) {
        create_gaps(&p, n, 64, 65, &where); /* one class: sizes 64 and 65 */
        ck_assert_uint_eq(give(&p, 64, 65 * UNIT), where);
        healthy(&p);
        destroy(&p);
    }
}
END_TEST

START_TEST(the_look_at_the_own_class_is_bounded) {
    /* An allocation whose time depends on how many free blocks there are. */
    struct pool p;
    size_t where;
    create_gaps(&p, LOOK + 1, 64, 65, &where);
    struct picture before = picture_of(&p);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 64, 65 * UNIT), RMAI_TLSF_FULL);
    unchanged(&p, before);
    destroy(&p);
}
END_TEST

START_TEST(a_request_takes_the_smallest_class_that_fits) {
    /* A search that begins at the wrong list, or takes the last one: big blocks would be cut for small requests. */
    static const size_t units[] = {1, 2, 5, 31, 32, 33, 48, 64, 66, 100, 128, 1000, 1024, 5000, 8192};
    enum { N = sizeof units / sizeof units[0] };
    struct pool p;
    size_t gap[N];
    create_full(&p, 40000 * UNIT);
    for (int i = 0; i < N; i++) {
        gap[i] = give(&p, 64, units[i] * UNIT);
        give(&p, 64, UNIT);
    }
    for (int i = 0; i < N; i++) take(&p, gap[i]);
    for (int i = 0; i < N; i++) {
        size_t lower = i ? units[i - 1] + 1 : 1, asked = rmai_max(lower, units[i] * 31 / 32);
        ck_assert_uint_eq(give(&p, 64, asked * UNIT), gap[i]);
    }
    healthy(&p);
    destroy(&p);
}
END_TEST

START_TEST(the_largest_pool_works_to_its_last_byte) {
    /* Numbers of units or classes that overflow 32 bits. */
    struct pool p;
    size_t whole = RMAI_TLSF_MAX, size;
    create_full(&p, whole);
    ck_assert_uint_eq(p.t.state->n_units, 0xfffffff0u);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 64, whole + 1), RMAI_TLSF_FULL);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 64, SIZE_MAX), RMAI_TLSF_FULL);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 64, SIZE_MAX - 62), RMAI_TLSF_FULL); /* whose units overflow to 0 */
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, (size_t)1 << 63, 64), RMAI_TLSF_FULL);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 128 * GIB, 200 * GIB), RMAI_TLSF_FULL);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 64, whole + 1), 0);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 64, SIZE_MAX), 0);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 64, SIZE_MAX - 62), 0);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, (size_t)1 << 63, 64), 0);
    ck_assert_uint_eq(give(&p, 64, whole), 0);
    ck_assert_int_eq(rmai_tlsf_live(&p.t, 0, &size), 1);
    ck_assert_uint_eq(size, whole);
    ck_assert_int_eq(rmai_tlsf_resize(&p.t, 0, whole + 1), -1);
    ck_assert_int_eq(rmai_tlsf_resize(&p.t, 0, whole - UNIT), 0);
    ck_assert_uint_eq(give(&p, 64, 1), whole - UNIT);
    take(&p, 0);
    ck_assert_uint_eq(give(&p, 64, 1), 0);
    ck_assert_uint_eq(give(&p, 128 * GIB, 64), 128 * GIB);
    take(&p, 128 * GIB);
    take(&p, 0);
    take(&p, whole - UNIT);
    ck_assert_uint_eq(p.t.state->n_free, 1);
    ck_assert_uint_eq(give(&p, 64, whole), 0);
    destroy(&p);
}
END_TEST

START_TEST(an_empty_pool_says_full_and_what_it_needs) {
    /* A pool of nothing that is searched, walked or freed from as if it had a first block. */
    struct rmai_tlsf_block block;
    struct pool p;
    create(&p, MIB);
    healthy(&p);
    ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, 64, 1), RMAI_TLSF_FULL);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 64, 1), UNIT);
    ck_assert_uint_eq(rmai_tlsf_need(&p.t, 4096, 1), 4096);
    ck_assert_int_eq(rmai_tlsf_free(&p.t, 0), -1);
    ck_assert_int_eq(rmai_tlsf_live(&p.t, 0, NULL), 0);
    ck_assert_int_eq(rmai_tlsf_where(&p.t, 0, &block), RMAI_TLSF_OUTSIDE);
    destroy(&p);
}
END_TEST

/* ---- what commit is asked for ---- */

START_TEST(the_table_is_committed_where_blocks_start_and_only_once) {
    /* A table that is committed as the pool grows, or again and again: large heaps must cost one piece per block. */
    struct pool p;
    size_t offset[4], asked, granted;
    ck_assert_uint_eq(rmai_tlsf_room(GIB) % RMAI_PAGE, 0);
    ck_assert_uint_ge(rmai_tlsf_room(GIB), GIB / 4 + sizeof(struct rmai_tlsf_state));
    create(&p, GIB);
    granted = p.granted;
    ck_assert_uint_eq(p.asked, 1);
    grow(&p, GIB);
    for (int i = 0; i < 4; i++) offset[i] = give(&p, 64, GIB / 4);
    ck_assert_uint_eq(p.asked, 1 + 4);
    ck_assert_uint_eq(p.granted, granted + 4 * RMAI_TLSF_STEP);
    for (int i = 0; i < 4; i++) take(&p, offset[i]);
    for (int i = 0; i < 4; i++) give(&p, 64, GIB / 4);
    ck_assert_uint_eq(p.asked, 1 + 4);
    destroy(&p);

    create_full(&p, 4 * BYTES_PER_STEP);
    asked = p.asked;
    for (size_t i = 0; i < 4 * UNITS_PER_STEP; i++) give(&p, 64, 1);
    ck_assert_uint_eq(p.asked, asked + 3);
    destroy(&p);
}
END_TEST

START_TEST(after_prepare_grow_asks_for_nothing) {
    /* A growth that can fail after all PEs have agreed on it. */
    struct pool p;
    create(&p, MIB);
    for (int i = 0; i < 16; i++) {
        size_t asked;
        ck_assert_int_eq(rmai_tlsf_prepare(&p.t), 0);
        asked = p.asked;
        p.left = 0;
        grow(&p, 64 * KIB);
        ck_assert_uint_eq(p.asked, asked);
        p.left = -1;
        give(&p, 64, 64 * KIB);
    }
    ck_assert_int_eq(rmai_tlsf_prepare(&p.t), 0); /* at the maximum too: it is asked before the size is known */
    destroy(&p);
}
END_TEST

START_TEST(a_denied_create_prepare_or_growth_changes_nothing) {
    /* A pool that counts what it could not commit. */
    struct pool p;
    struct picture before;
    reserve(&p, MIB);
    p.left = 0;
    ck_assert_int_ne(rmai_tlsf_create(&p.t, p.room, MIB, commit, &p), 0);
    p.left = -1;
    ck_assert_int_eq(rmai_tlsf_create(&p.t, p.room, MIB, commit, &p), 0);
    for (int i = 0; i < 3; i++) {
        before = picture_of(&p);
        p.left = 0;
        ck_assert_int_ne(rmai_tlsf_prepare(&p.t), 0);
        ck_assert_int_ne(rmai_tlsf_grow(&p.t, BYTES_PER_STEP), 0);
        unchanged(&p, before);
        p.left = -1;
        grow(&p, BYTES_PER_STEP);
        healthy(&p);
    }
    destroy(&p);
}
END_TEST

START_TEST(a_denied_allocation_changes_nothing) {
    /* A list, count or entry that is changed before the last thing that can fail. */
    static const struct {
        size_t alignment, size;
        long left; /* commits granted: the aligned ones need a piece where they start and one where they end */
    } denied[] = {{64, 3 * BYTES_PER_STEP, 0}, {MIB, 64, 0}, {MIB, BYTES_PER_STEP, 0}, {MIB, BYTES_PER_STEP, 1}};
    struct pool p;
    for (size_t i = 0; i < sizeof denied / sizeof denied[0]; i++) {
        create_full(&p, 4 * MIB);
        size_t first = give(&p, 64, UNIT);
        struct picture before = picture_of(&p);
        p.left = denied[i].left;
        ck_assert_uint_eq(rmai_tlsf_alloc(&p.t, denied[i].alignment, denied[i].size), RMAI_TLSF_DENIED);
        unchanged(&p, before);
        healthy(&p);
        p.left = -1;
        ck_assert_uint_eq(give(&p, denied[i].alignment, denied[i].size), rmai_max(UNIT, denied[i].alignment));
        take(&p, first);
        healthy(&p);
        destroy(&p);
    }
}
END_TEST

START_TEST(a_denied_resize_changes_nothing) {
    /* As above; a denied resize has a code of its own, since room behind the block would not help. */
    struct pool p;
    struct picture before;
    create_full(&p, 4 * MIB);
    give(&p, 64, 2 * MIB);
    before = picture_of(&p);
    p.left = 0;
    ck_assert_int_eq(rmai_tlsf_resize(&p.t, 0, 3 * MIB), -2); /* the free rest would start in a new piece */
    ck_assert_int_eq(rmai_tlsf_resize(&p.t, 0, MIB), -2);
    unchanged(&p, before);
    resize(&p, 0, 4 * MIB); /* leaves no rest, so asks for nothing */
    before = picture_of(&p);
    ck_assert_int_eq(rmai_tlsf_resize(&p.t, 0, 3 * MIB), -2);
    unchanged(&p, before);
    p.left = -1;
    resize(&p, 0, 3 * MIB);
    destroy(&p);
}
END_TEST

/* A pool with two free blocks of one class (39936..40959 units), of which the second in the list alone holds FITS
 * units. The rest of it would start in a piece of the table that is not committed. */
#define FITS 39937

static size_t create_pair(struct pool *p) {
    size_t large, small;
    create_full(p, 6 * MIB);
    give(p, 64, 500 * UNIT);
    large = give(p, 64, 40959 * UNIT);
    give(p, 64, UNIT);
    small = give(p, 64, 39936 * UNIT);
    while (rmai_tlsf_alloc(&p->t, 64, 100 * UNIT) < RMAI_TLSF_DENIED) continue;
    take(p, large);
    take(p, small);
    ck_assert(!is_ready(p, (large / UNIT + FITS) / UNITS_PER_STEP));
    return large;
}

START_TEST(a_denial_leaves_what_allocating_and_freeing_leaves) {
    /* One PE is denied what the others got, and they give it back: lists in another order would give other offsets
     * ever after. The block is found by the look at its own class, which moves it to the front. */
    struct pool denied, granted;
    size_t large = create_pair(&denied);
    ck_assert_uint_eq(create_pair(&granted), large);
    denied.left = 0;
    ck_assert_uint_eq(rmai_tlsf_alloc(&denied.t, 64, FITS * UNIT), RMAI_TLSF_DENIED);
    healthy(&denied);
    denied.left = -1;
    ck_assert_uint_eq(give(&granted, 64, FITS * UNIT), large);
    take(&granted, large);
    same_pictures(picture_of(&denied), picture_of(&granted), 0);
    ck_assert_uint_eq(give(&denied, 64, FITS * UNIT), large);
    destroy(&denied);
    destroy(&granted);
}
END_TEST

START_TEST(a_denied_resize_leaves_what_resizing_and_undoing_leaves) {
    /* As above, for a block that was resized in one pool and set back: the free block behind it is not the first of its
     * list, and comes back as the first where it was changed. */
    struct pool denied, granted;
    create_pair(&denied);
    create_pair(&granted);
    denied.left = 0;
    ck_assert_int_eq(rmai_tlsf_resize(&denied.t, 0, 2000 * UNIT), -2); /* the rest would start in a new piece */
    healthy(&denied);
    resize(&granted, 0, 2000 * UNIT);
    resize(&granted, 0, 500 * UNIT);
    same_pictures(picture_of(&denied), picture_of(&granted), 0);
    destroy(&denied);
    destroy(&granted);
}
END_TEST

/* Steps that two pools take together. What one of them is denied the other gives back. */
struct twins {
    struct pool a, b; /* b is refused at times */
    size_t live[4096], n_live;
    size_t denials;
    struct rng r;
};

static void give_twins(struct twins *w, size_t alignment, size_t size) {
    size_t a = rmai_tlsf_alloc(&w->a.t, alignment, size), b = rmai_tlsf_alloc(&w->b.t, alignment, size), need;
    if (b == RMAI_TLSF_DENIED) {
        REQUIRE(a < RMAI_TLSF_DENIED, "one is denied where the other finds nothing");
        take(&w->a, a);
        same_pictures(picture_of(&w->a), picture_of(&w->b), 0);
        w->denials++;
        return;
    }
    REQUIRE(a == b, "offsets %zd and %zd", (ssize_t)a, (ssize_t)b);
    if (a != RMAI_TLSF_FULL) {
        w->live[w->n_live++] = a;
        return;
    }
    need = rmai_tlsf_need(&w->a.t, alignment, size);
    REQUIRE(need == rmai_tlsf_need(&w->b.t, alignment, size), "needs differ");
    if (!need || need > w->a.max - w->a.t.state->n_units * UNIT) return;
    if (rmai_tlsf_prepare(&w->a.t) != 0 || rmai_tlsf_prepare(&w->b.t) != 0) return;
    grow(&w->a, need);
    grow(&w->b, need);
}

static void resize_twins(struct twins *w, size_t offset, size_t size) {
    size_t old;
    REQUIRE(rmai_tlsf_live(&w->a.t, offset, &old), "live");
    int a = rmai_tlsf_resize(&w->a.t, offset, size), b = rmai_tlsf_resize(&w->b.t, offset, size);
    if (b == -2 && a == 0) {
        REQUIRE(rmai_tlsf_resize(&w->a.t, offset, old) == 0, "back to what it was");
        w->denials++;
        return;
    }
    REQUIRE(a == b, "resize gave %d and %d", a, b);
}

static void play_twins(struct twins *w, int with_resize) {
    unsigned long n = operations / 50;
    for (unsigned long i = 0; i < n; i++) {
        if (i % 2000 == 0) {
            if (i) {
                healthy(&w->a);
                healthy(&w->b);
                same_pictures(picture_of(&w->a), picture_of(&w->b), 0);
                destroy(&w->a);
                destroy(&w->b);
            }
            create(&w->a, 64 * BYTES_PER_STEP);
            create(&w->b, 64 * BYTES_PER_STEP);
            w->b.chance.state = next_of(&w->r);
            w->b.refuse = 2;
            w->n_live = 0;
        }
        size_t k = w->n_live ? below(&w->r, w->n_live) : 0,
               size = 1 + below(&w->r, (size_t)1 << (6 + below(&w->r, 14)));
        size_t what = below(&w->r, 10);
        if (what < 5 && w->n_live < 4096) {
            give_twins(w, (size_t)1 << below(&w->r, 15), size);
        } else if (what == 9 && with_resize && w->n_live) {
            resize_twins(w, w->live[k], size);
        } else if (w->n_live) {
            take(&w->a, w->live[k]);
            take(&w->b, w->live[k]);
            w->live[k] = w->live[--w->n_live];
        }
    }
    ck_assert_uint_gt(w->denials, n / 10000);
    destroy(&w->a);
    destroy(&w->b);
}

START_TEST(pools_with_one_history_give_the_same_offsets_though_one_denies) {
    /* Anything that the allocator does differently because of what happened in one process only. */
    static struct twins w;
    w.r.state = seed;
    play_twins(&w, 0);
}
END_TEST

START_TEST(pools_stay_alike_when_a_denied_resize_is_undone) {
    /* A resize that succeeded in one pool, was denied in the other and is taken back in the first: the free block
     * behind must end up at the same place of its list in both. */
    static struct twins w;
    w.r.state = seed + 1;
    play_twins(&w, 1);
}
END_TEST

START_TEST(a_second_view_at_another_address_sees_the_same_pool) {
    /* A pointer, or anything else of one process, in the state that processes share. */
    size_t max = MIB, room = rmai_tlsf_room(max), size, offset;
    int file = memfd_create("room", 0);
    struct rmai_tlsf one, two;
    struct pool p = {.room_size = room, .left = -1};
    char *second;
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, (off_t)room), 0);
    p.room = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    second = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert(p.room != MAP_FAILED && second != MAP_FAILED && p.room != second);
    ck_assert_int_eq(rmai_tlsf_create(&one, p.room, max, commit, &p), 0);
    ck_assert_int_eq(rmai_tlsf_grow(&one, max), 0);
    offset = rmai_tlsf_alloc(&one, 64, 1000);
    rmai_tlsf_attach(&two, second, max, commit, &p);
    ck_assert_int_eq(rmai_tlsf_live(&two, offset, &size), 1);
    ck_assert_uint_eq(size, 1000);
    ck_assert_ptr_null(rmai_tlsf_check(&two));
    ck_assert_int_eq(rmai_tlsf_free(&two, offset), 0);
    ck_assert_int_eq(rmai_tlsf_live(&one, offset, NULL), 0);
    ck_assert_ptr_null(rmai_tlsf_check(&one));
    munmap(p.room, room);
    munmap(second, room);
    close(file);
}
END_TEST

/* ---- what is at an offset ---- */

static void expect_where(const struct pool *p, size_t at, enum rmai_tlsf_kind kind, size_t offset, size_t size) {
    struct rmai_tlsf_block b = {SIZE_MAX, SIZE_MAX, -1};
    enum rmai_tlsf_kind got = rmai_tlsf_where(&p->t, at, &b);
    REQUIRE(got == kind, "at %zu: kind %d, not %d", at, (int)got, (int)kind);
    REQUIRE(rmai_tlsf_live(&p->t, at, NULL) == (kind == RMAI_TLSF_LIVE), "at %zu: live", at);
    if (kind == RMAI_TLSF_OUTSIDE) return;
    REQUIRE(b.offset == offset && b.size == size, "at %zu: %zu bytes at %zu", at, b.size, b.offset);
    REQUIRE(b.live == (kind != RMAI_TLSF_FREED), "at %zu: live %d", at, b.live);
}

START_TEST(where_and_live_tell_what_stands_at_an_offset) {
    /* Texts that name the wrong block, and a base that is taken for none or the other way round. */
    struct pool p;
    size_t a, b, c;
    create(&p, MIB);
    grow(&p, 100 * UNIT);
    a = give(&p, 64, 100);
    b = give(&p, 64, 1000);
    c = give(&p, 64, 64);
    take(&p, b);
    expect_where(&p, a, RMAI_TLSF_LIVE, a, 100);
    expect_where(&p, a + 1, RMAI_TLSF_INSIDE, a, 100);
    expect_where(&p, a + 64, RMAI_TLSF_INSIDE, a, 100);
    expect_where(&p, a + 99, RMAI_TLSF_INSIDE, a, 100);
    expect_where(&p, a + 127, RMAI_TLSF_INSIDE, a, 100); /* the rest of its last unit */
    expect_where(&p, b, RMAI_TLSF_FREED, b, 16 * UNIT);
    expect_where(&p, b + 64, RMAI_TLSF_FREED, b, 16 * UNIT);
    expect_where(&p, b + 1023, RMAI_TLSF_FREED, b, 16 * UNIT);
    expect_where(&p, c, RMAI_TLSF_LIVE, c, 64);
    expect_where(&p, c + 64, RMAI_TLSF_FREED, c + 64, (100 - 2 - 16 - 1) * UNIT);
    expect_where(&p, 100 * UNIT - 1, RMAI_TLSF_FREED, c + 64, (100 - 2 - 16 - 1) * UNIT);
    expect_where(&p, 100 * UNIT, RMAI_TLSF_OUTSIDE, 0, 0);
    expect_where(&p, MIB, RMAI_TLSF_OUTSIDE, 0, 0);
    expect_where(&p, (size_t)1 << 38, RMAI_TLSF_OUTSIDE, 0, 0); /* whose unit is 0 in 32 bits */
    expect_where(&p, SIZE_MAX, RMAI_TLSF_OUTSIDE, 0, 0);
    expect_where(&p, SIZE_MAX - 63, RMAI_TLSF_OUTSIDE, 0, 0);
    destroy(&p);
}
END_TEST

START_TEST(a_free_of_anything_but_a_live_base_changes_nothing) {
    /* Interior, freed, merged, foreign and never allocated offsets that are taken for a block. */
    struct pool p;
    size_t a, b, c, big;
    create_full(&p, 100 * UNIT);
    a = give(&p, 64, 10 * UNIT);
    b = give(&p, 64, 10 * UNIT);
    c = give(&p, 64, 10 * UNIT);
    take(&p, a);
    take(&p, b); /* merges into a's block */
    const size_t bad[] = {a,
                          b,
                          a + UNIT,
                          b + UNIT,
                          c + 1,
                          c + 63,
                          c + UNIT,
                          c + 9 * UNIT,
                          c + 10 * UNIT,
                          99 * UNIT,
                          100 * UNIT,
                          101 * UNIT,
                          c + ((size_t)1 << 38),
                          SIZE_MAX,
                          SIZE_MAX - 63};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct picture before = picture_of(&p);
        ck_assert_int_eq(rmai_tlsf_free(&p.t, bad[i]), -1);
        unchanged(&p, before);
    }
    big = give(&p, 64, 20 * UNIT);
    ck_assert_uint_eq(big, a);
    ck_assert_int_eq(rmai_tlsf_free(&p.t, b), -1); /* was a base once, is inside a block now */
    take(&p, big);
    ck_assert_int_eq(rmai_tlsf_free(&p.t, big), -1);
    healthy(&p);
    destroy(&p);
}
END_TEST

START_TEST(the_counts_follow_and_the_peak_stays) {
    /* Used, peak and block counts that miss a free, a resize or a rest. */
    struct pool p;
    const struct rmai_tlsf_state *s;
    size_t a, b;
    create_full(&p, 100 * UNIT);
    s = p.t.state;
    a = give(&p, 64, 30 * UNIT);
    b = give(&p, 64, 20 * UNIT - 1);
    ck_assert_uint_eq(s->used_units, 50);
    ck_assert_uint_eq(s->n_used, 2);
    take(&p, a);
    ck_assert_uint_eq(s->used_units, 20);
    ck_assert_uint_eq(s->peak_units, 50);
    ck_assert_uint_eq(s->n_used, 1);
    ck_assert_uint_eq(s->n_free, 2);
    resize(&p, b, 45 * UNIT);
    ck_assert_uint_eq(s->used_units, 45);
    ck_assert_uint_eq(s->peak_units, 50);
    resize(&p, b, 60 * UNIT);
    ck_assert_uint_eq(s->peak_units, 60);
    resize(&p, b, UNIT);
    ck_assert_uint_eq(s->used_units, 1);
    ck_assert_uint_eq(s->peak_units, 60);
    ck_assert_uint_eq(s->n_growths, 1);
    destroy(&p);
}
END_TEST

/* ---- rmai_tlsf_check itself ---- */

#define DAMAGE(field, value)                                                                                           \
    do {                                                                                                               \
        __typeof__(field) *at = &(field), old = *at;                                                                   \
        *at = (__typeof__(field))(value);                                                                              \
        REQUIRE(*at != old, "%s was that already", #field " = " #value);                                               \
        REQUIRE(rmai_tlsf_check(t) != NULL, "%s passes", #field " = " #value);                                         \
        *at = old;                                                                                                     \
        REQUIRE(rmai_tlsf_check(t) == NULL, "%s was not undone", #field " = " #value);                                 \
    } while (0)

/* Units: 0..9 live, 10..14 free, 15..24 live, 25..29 free (in one list with 10), 30..39 live, 40..79 free, 80..99 live.
 */
static void create_sample(struct pool *p) {
    static const size_t units[] = {10, 5, 10, 5, 10, 40, 20};
    size_t offset[7];
    create(p, 4 * BYTES_PER_STEP);
    grow(p, 100 * UNIT);
    for (int i = 0; i < 7; i++) offset[i] = give(p, 64, units[i] * UNIT - (size_t)i);
    take(p, offset[1]);
    take(p, offset[3]);
    take(p, offset[5]);
    healthy(p);
}

START_TEST(check_finds_damage_to_each_kind_of_field) {
    /* A check that looks away: then the random test proves nothing. */
    struct pool p;
    create_sample(&p);
    const struct rmai_tlsf *t = &p.t;
    struct rmai_tlsf_state *s = t->state;
    struct rmai_tlsf_unit *u = t->unit;
    DAMAGE(s->n_units, 99);
    DAMAGE(s->n_units, 101);
    DAMAGE(s->n_units, 0);
    DAMAGE(s->max_units, 99);
    DAMAGE(s->last, 19);
    DAMAGE(s->last, 0);
    DAMAGE(s->rows, 0);
    DAMAGE(s->rows, s->rows | 1u << 20);
    DAMAGE(s->rows, s->rows & ~1u);
    DAMAGE(s->columns[0], s->columns[0] | 1u << 7);
    DAMAGE(s->columns[0], 0);
    DAMAGE(s->columns[9], 1);
    DAMAGE(s->head[5], NIL);
    DAMAGE(s->head[5], 10);   /* past the head */
    DAMAGE(s->head[5], 40);   /* a free block of another size */
    DAMAGE(s->head[5], 15);   /* a live block */
    DAMAGE(s->head[5], 12);   /* inside a block */
    DAMAGE(s->head[5], 3000); /* outside the pool */
    DAMAGE(s->head[6], 25);
    DAMAGE(s->head[5 * RMAI_TLSF_COLUMNS], 40);
    DAMAGE(s->used_units, 51);
    DAMAGE(s->peak_units, 49);
    DAMAGE(s->n_used, 5);
    DAMAGE(s->n_free, 2);
    DAMAGE(s->n_free, 4);
    for (uint32_t b = 0; b < 100; b += b % 15 == 0 ? 10 : 5) {
        if (!u[b].size) continue;
        DAMAGE(u[b].size, 0);
        DAMAGE(u[b].size, u[b].size + 1);
        DAMAGE(u[b].size, u[b].size - 1);
        DAMAGE(u[b].size, NIL);
        DAMAGE(u[b].prev, u[b].prev + 1);
        if (u[b].next == USED) {
            DAMAGE(u[b].next, NIL);
            DAMAGE(u[b].next, 10);
            DAMAGE(u[b].back, 64);
            DAMAGE(u[b].back, NIL);
        } else {
            DAMAGE(u[b].next, USED);
            DAMAGE(u[b].next, b);
            DAMAGE(u[b].next, u[b].next == NIL ? 40 : NIL);
            DAMAGE(u[b].next, 2000);
            DAMAGE(u[b].back, u[b].back == NIL ? 40 : NIL);
            DAMAGE(u[b].back, b);
        }
    }
    for (uint32_t b = 1; b < 100; b++) {
        if (u[b].size) continue;
        DAMAGE(u[b].size, 1);
        DAMAGE(u[b].prev, 1);
        DAMAGE(u[b].next, 1);
        DAMAGE(u[b].back, 1);
    }
    DAMAGE(t->ready[0], t->ready[0] & ~(uint64_t)1);
    destroy(&p);
}
END_TEST

START_TEST(check_finds_free_neighbours_that_were_not_merged) {
    /* The one invariant that no single field breaks: all else about the two blocks is right. */
    struct pool p;
    create_sample(&p);
    struct rmai_tlsf_unit *u = p.t.unit;
    uint32_t next = u[40].next;
    u[40].next = USED; /* for a moment the free block of 40 units looks live, so that its neighbour does not merge */
    take(&p, 80 * UNIT);
    u[40].next = next;
    ck_assert_str_eq(rmai_tlsf_check(&p.t), "free neighbours are merged");
    destroy(&p);
}
END_TEST

START_TEST(check_finds_a_free_block_in_no_list_and_in_a_wrong_one) {
    /* Lists that are consistent in themselves but not with the blocks. */
    struct pool p;
    create_sample(&p);
    struct rmai_tlsf_state *s = p.t.state;
    uint32_t row, column, class = 0;
    while (class < RMAI_TLSF_ROWS * RMAI_TLSF_COLUMNS && s->head[class] != 40) class ++;
    row = class / RMAI_TLSF_COLUMNS, column = class % RMAI_TLSF_COLUMNS;
    ck_assert_uint_lt(row, RMAI_TLSF_ROWS - 1);
    s->head[class] = NIL;
    s->columns[row] = 0;
    s->rows &= ~(1u << row);
    ck_assert_ptr_nonnull(rmai_tlsf_check(&p.t));
    s->head[class + RMAI_TLSF_COLUMNS] = 40;
    s->columns[row + 1] = 1u << column;
    s->rows |= 1u << (row + 1);
    ck_assert_ptr_nonnull(rmai_tlsf_check(&p.t));
    destroy(&p);
}
END_TEST

/* ---- against a model, at random ---- */

struct block {
    size_t offset, size;
};

struct model {
    struct pool p;
    struct rng r;
    uint32_t *start;      /* a word for each unit: 1 + number of the live block that starts there, or 0 */
    unsigned char *taken; /* a byte for each unit: 1 in a live block */
    struct block *live;
    size_t n_live, units, used, peak;
    size_t check_credit, scan_credit; /* what linear looks may cost, saved up operation by operation */
    size_t n_full, n_denied, n_grown, n_bad, n_resized, n_checked;
};

static size_t units_of(size_t bytes) { return (bytes + UNIT - 1) / UNIT; }

static size_t some_size(struct model *m) {
    size_t most = rmai_max(m->p.max / 4, UNIT), size;
    switch (below(&m->r, 16)) {
        case 0: size = 1 + below(&m->r, 1 * MIB); break;
        case 1: size = (size_t)64 << below(&m->r, 12); break;
        case 2: size = ((size_t)64 << below(&m->r, 12)) + below(&m->r, 130) - 63; break;
        case 3:
        case 4:
        case 5: size = 1 + below(&m->r, 16 * KIB); break;
        case 6:
        case 7:
        case 8: size = UNIT * (1 + below(&m->r, 80)); break;
        default: size = 1 + below(&m->r, 512); break;
    }
    return size <= most ? size : 1 + size % most;
}

static size_t some_alignment(struct model *m) {
    return one_in(&m->r, 4) ? (size_t)1 << below(&m->r, one_in(&m->r, 4) ? 18 : 11) : UNIT;
}

static void mark(struct model *m, size_t offset, size_t size, unsigned char value) {
    size_t at = offset / UNIT, n = units_of(size);
    REQUIRE(offset % UNIT == 0 && at < m->units && n <= m->units - at, "%zu bytes at %zu", size, offset);
    REQUIRE(!memchr(m->taken + at, value, n), "%zu bytes at %zu: overlap", size, offset);
    memset(m->taken + at, value, n);
    if (value) {
        m->used += n;
        m->peak = rmai_max(m->peak, m->used);
    } else {
        m->used -= n;
    }
}

static void add(struct model *m, size_t offset, size_t size) {
    mark(m, offset, size, 1);
    m->live[m->n_live++] = (struct block){offset, size};
    m->start[offset / UNIT] = (uint32_t)m->n_live;
}

static void drop(struct model *m, size_t k) {
    struct block b = m->live[k];
    mark(m, b.offset, b.size, 0);
    m->start[b.offset / UNIT] = 0;
    m->live[k] = m->live[--m->n_live];
    if (k < m->n_live) m->start[m->live[k].offset / UNIT] = (uint32_t)k + 1;
}

static void counts_agree(const struct model *m) {
    const struct rmai_tlsf_state *s = m->p.t.state;
    REQUIRE(s->n_units == m->units && s->used_units == m->used && s->n_used == m->n_live,
            "%zu used, %zu live; said %zu, %zu", m->used, m->n_live, s->used_units, s->n_used);
    REQUIRE(s->peak_units >= s->used_units && s->peak_units == m->peak, "peak %zu; said %zu", m->peak, s->peak_units);
}

/* FULL is wrong if a free run holds the request rounded up to a class, which adds less than 1/32. */
static void full_is_right(struct model *m, size_t alignment, size_t size) {
    size_t units = units_of(size) + (alignment > UNIT ? alignment / UNIT - 1 : 0), run = 0, longest = 0;
    m->n_full++;
    if (m->scan_credit < m->units) return;
    m->scan_credit = 0;
    for (size_t i = 0; i < m->units; i++) {
        run = m->taken[i] ? 0 : run + 1;
        longest = rmai_max(longest, run);
    }
    REQUIRE(longest < units + (units < 32 ? 0 : units / 32 + 1),
            "alloc(%zu, %zu) is full, but %zu units in a row are free", alignment, size, longest);
}

static void random_alloc(struct model *m) {
    size_t alignment = some_alignment(m), size = some_size(m), offset = rmai_tlsf_alloc(&m->p.t, alignment, size), need;
    size_t free_before = m->p.t.state->n_free;
    if (offset == RMAI_TLSF_FULL) {
        full_is_right(m, alignment, size);
        need = rmai_tlsf_need(&m->p.t, alignment, size);
        REQUIRE(need && need % UNIT == 0, "need(%zu, %zu) is %zu", alignment, size, need);
        if (need > m->p.max - m->units * UNIT || one_in(&m->r, 2)) return;
        if (rmai_tlsf_prepare(&m->p.t) != 0) return;
        need += below(&m->r, (m->p.max - m->units * UNIT - need) / UNIT / 16 + 1) * UNIT;
        m->p.left = 0;
        grow(&m->p, need);
        m->p.left = -1;
        m->units += need / UNIT;
        m->n_grown++;
        free_before = m->p.t.state->n_free;
        offset = rmai_tlsf_alloc(&m->p.t, alignment, size);
        REQUIRE(offset != RMAI_TLSF_FULL, "alloc(%zu, %zu) is full after growing by %zu", alignment, size, need);
    }
    if (offset == RMAI_TLSF_DENIED) {
        REQUIRE(m->p.t.state->n_free == free_before, "denied");
        m->n_denied++;
        return;
    }
    REQUIRE(offset % alignment == 0, "alloc(%zu, %zu) gave %zu", alignment, size, offset);
    add(m, offset, size);
}

static void random_free(struct model *m) {
    size_t k = below(&m->r, m->n_live), offset = m->live[k].offset;
    take(&m->p, offset);
    drop(m, k);
    if (one_in(&m->r, 8)) REQUIRE(rmai_tlsf_free(&m->p.t, offset) == -1, "freed twice: %zu", offset);
}

static void random_resize(struct model *m) {
    size_t k = below(&m->r, m->n_live), offset = m->live[k].offset, size = some_size(m), at = offset / UNIT;
    size_t old = units_of(m->live[k].size), n = units_of(size), end = at + old;
    int code = rmai_tlsf_resize(&m->p.t, offset, size);
    while (end < m->units && end < at + n && !m->taken[end]) end++;
    REQUIRE((code == -1) == (end < at + n), "resize from %zu units to %zu gave %d", old, n, code);
    if (code == -2) m->n_denied++;
    if (code != 0) return;
    drop(m, k);
    add(m, offset, size);
    m->n_resized++;
}

static void random_bad_free(struct model *m) {
    size_t offset, size;
    switch (below(&m->r, 4)) {
        case 0: offset = below(&m->r, m->units + 16) * UNIT; break;
        case 1: offset = below(&m->r, m->units * UNIT + 1000); break;
        case 2: offset = (size_t)next_of(&m->r); break;
        default:
            if (!m->n_live) return;
            offset = m->live[below(&m->r, m->n_live)].offset + (one_in(&m->r, 2) ? UNIT : 1);
    }
    int live = offset % UNIT == 0 && offset / UNIT < m->units && m->start[offset / UNIT];
    REQUIRE(rmai_tlsf_live(&m->p.t, offset, &size) == live, "live(%zu) is not %d", offset, live);
    if (live)
        REQUIRE(size == m->live[m->start[offset / UNIT] - 1].size, "live(%zu) says %zu bytes", offset, size);
    else
        REQUIRE(rmai_tlsf_free(&m->p.t, offset) == -1, "free(%zu) of no live base", offset);
    m->n_bad += !live;
}

static void random_where(struct model *m) {
    size_t offset = below(&m->r, m->units * UNIT + UNIT), at = offset / UNIT, from = at, to = at;
    if (at >= m->units) {
        expect_where(&m->p, offset, RMAI_TLSF_OUTSIDE, 0, 0);
    } else if (m->taken[at]) {
        while (!m->start[from]) from--;
        const struct block *b = &m->live[m->start[from] - 1];
        expect_where(&m->p, offset, b->offset == offset ? RMAI_TLSF_LIVE : RMAI_TLSF_INSIDE, b->offset, b->size);
    } else {
        while (from > 0 && !m->taken[from - 1]) from--;
        while (to < m->units && !m->taken[to]) to++;
        expect_where(&m->p, offset, RMAI_TLSF_FREED, from * UNIT, (to - from) * UNIT);
    }
}

static void start_round(struct model *m) {
    size_t max_units = ((size_t)16 << below(&m->r, 15)) + below(&m->r, 1000);
    create(&m->p, max_units * UNIT);
    m->p.refuse = one_in(&m->r, 3) ? 1 + below(&m->r, 8) : 0;
    m->p.chance.state = next_of(&m->r);
    m->start = calloc(max_units, sizeof *m->start);
    m->taken = calloc(max_units, 1);
    m->live = calloc(max_units, sizeof *m->live);
    REQUIRE(m->start && m->taken && m->live, "memory for %zu units", max_units);
    m->n_live = m->units = m->used = m->peak = 0;
}

static void end_round(struct model *m) {
    while (m->n_live) random_free(m);
    counts_agree(m);
    healthy(&m->p);
    REQUIRE(m->p.t.state->n_free == (m->units > 0), "%zu free blocks at the end", m->p.t.state->n_free);
    destroy(&m->p);
    free(m->start);
    free(m->taken);
    free(m->live);
}

START_TEST(a_model_agrees_with_every_operation) {
    /* Anything in which the allocator differs from a map of bytes: overlap, bounds, alignment, sizes, counts, blocks
     * that a bad free changes, FULL where there is room, and whatever rmai_tlsf_check finds. */
    static struct model m;
    size_t giving = 50, round_left = 0, phase_left = 0;
    m.r.state = seed + 2;
    for (unsigned long i = 0; i < operations; i++) {
        if (round_left-- == 0) {
            if (i) end_round(&m);
            start_round(&m);
            round_left = 1000 + below(&m.r, 60000);
        }
        if (phase_left-- == 0) { /* times of filling and times of emptying */
            phase_left = 1 + below(&m.r, 1 + m.p.max / UNIT / 4);
            giving = 30 + below(&m.r, 40);
        }
        size_t what = below(&m.r, 110);
        if (what < giving || m.n_live == 0)
            random_alloc(&m);
        else if (what < 96)
            random_free(&m);
        else if (what < 104)
            random_resize(&m);
        else
            random_bad_free(&m);
        counts_agree(&m);
        m.check_credit += 40;
        m.scan_credit += 10;
        if (m.check_credit > m.units) {
            m.check_credit = 0;
            healthy(&m.p);
            random_where(&m);
            m.n_checked++;
        }
    }
    end_round(&m);
    printf("check_tlsf: %zu growths, %zu times full, %zu denied, %zu resized, %zu bad frees, %zu checks\n", m.n_grown,
           m.n_full, m.n_denied, m.n_resized, m.n_bad, m.n_checked);
    fflush(stdout);
    if (operations >= 1000000)
        REQUIRE(m.n_grown && m.n_full && m.n_denied && m.n_resized && m.n_bad, "something never came up");
}
END_TEST

/* ---- all of it ---- */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif

static void read_environment(void) {
    const char *text = getenv("RMA_TEST_OPERATIONS"), *wrap = getenv("RMA_TEST_WRAP"), *why = "";
    operations = 10000000;
#ifdef SANITIZED
    operations = 1000000;
    why = " (fewer: sanitizers)";
#endif
    if (wrap && *wrap) {
        operations = 50000;
        why = " (fewer: RMA_TEST_WRAP)";
    }
    if (text && *text) {
        operations = strtoul(text, NULL, 10);
        why = " (RMA_TEST_OPERATIONS)";
    }
    text = getenv("RMA_TEST_SEED");
    seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
    if (text && *text) seed = strtoul(text, NULL, 0);
    printf("check_tlsf: %lu random operations%s, RMA_TEST_SEED=%llu\n", operations, why, (unsigned long long)seed);
    fflush(stdout);
}

static Suite *suite(void) {
    Suite *s = suite_create("tlsf");
    TCase *fixed = tcase_create("fixed"), *check = tcase_create("check"), *random = tcase_create("random");
    tcase_set_timeout(fixed, 120);
    tcase_add_loop_test(fixed, every_unit_is_given_once_and_all_merge_again, 0, 4);
    tcase_add_loop_test(fixed, a_freed_block_merges_with_the_free_neighbours_it_has, 0, 6);
    tcase_add_test(fixed, growth_merges_with_a_free_end_and_only_with_that);
    tcase_add_test(fixed, blocks_are_aligned_and_what_lies_before_them_is_not_lost);
    tcase_add_test(fixed, alignments_up_to_a_gib_hold);
    tcase_add_test(fixed, sizes_come_back_as_they_were_asked_for);
    tcase_add_test(fixed, resize_moves_the_border_to_what_is_behind);
    tcase_add_test(fixed, resize_without_room_changes_nothing);
    tcase_add_test(fixed, need_is_what_makes_the_allocation_succeed);
    tcase_add_test(fixed, need_counts_what_is_free_at_the_end);
    tcase_add_test(fixed, a_block_that_fits_exactly_is_found_in_its_own_class);
    tcase_add_test(fixed, the_look_at_the_own_class_is_bounded);
    tcase_add_test(fixed, a_request_takes_the_smallest_class_that_fits);
    const char *wrap = getenv("RMA_TEST_WRAP");
    if (!wrap || !*wrap) /* valgrind has no address space for a table of 64 GiB */
        tcase_add_test(fixed, the_largest_pool_works_to_its_last_byte);
    tcase_add_test(fixed, an_empty_pool_says_full_and_what_it_needs);
    tcase_add_test(fixed, the_table_is_committed_where_blocks_start_and_only_once);
    tcase_add_test(fixed, after_prepare_grow_asks_for_nothing);
    tcase_add_test(fixed, a_denied_create_prepare_or_growth_changes_nothing);
    tcase_add_test(fixed, a_denied_allocation_changes_nothing);
    tcase_add_test(fixed, a_denied_resize_changes_nothing);
    tcase_add_test(fixed, a_denial_leaves_what_allocating_and_freeing_leaves);
    tcase_add_test(fixed, a_denied_resize_leaves_what_resizing_and_undoing_leaves);
    tcase_add_test(fixed, a_second_view_at_another_address_sees_the_same_pool);
    tcase_add_test(fixed, where_and_live_tell_what_stands_at_an_offset);
    tcase_add_test(fixed, a_free_of_anything_but_a_live_base_changes_nothing);
    tcase_add_test(fixed, the_counts_follow_and_the_peak_stays);
    suite_add_tcase(s, fixed);
    tcase_set_timeout(check, 120);
    tcase_add_test(check, check_finds_damage_to_each_kind_of_field);
    tcase_add_test(check, check_finds_free_neighbours_that_were_not_merged);
    tcase_add_test(check, check_finds_a_free_block_in_no_list_and_in_a_wrong_one);
    suite_add_tcase(s, check);
    tcase_set_timeout(random, 300 + (double)operations / 10000); /* to end what hangs, not to measure */
    tcase_add_test(random, pools_with_one_history_give_the_same_offsets_though_one_denies);
    tcase_add_test(random, pools_stay_alike_when_a_denied_resize_is_undone);
    tcase_add_test(random, a_model_agrees_with_every_operation);
    suite_add_tcase(s, random);
    return s;
}

int main(void) {
    SRunner *runner;
    int failed;
    read_environment();
    runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
