/* SPDX-License-Identifier: BSD-3-Clause */
/* The on-node test of rma_inline.h, which decides for every remote access: which PEs are on the node, and which ranges
 * are in the segment. The test fills in rma_reach_ by hand; the expected results come from plain division and
 * comparison. */
#include "config.h"

#include "rma.h"

#include <check.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_PES (1 << 24)
#define N(array) (sizeof array / sizeof array[0])

/* The inverse of an odd number modulo 2^32. Newton's iteration doubles the right bits: 1, 2, 4, 8, 16, 32. */
static uint32_t inverse_of(uint32_t odd) {
    uint32_t x = 1;
    for (int i = 0; i < 5; i++) x *= 2 - odd * x;
    ck_assert_uint_eq(x * odd, 1);
    return x;
}

static void reach(int first, int step, int n) {
    memset(&rma_reach_, 0, sizeof rma_reach_);
    rma_reach_.first = (uint32_t)first;
    rma_reach_.shift = (uint32_t)__builtin_ctz((unsigned)step);
    rma_reach_.inverse = inverse_of((uint32_t)step >> rma_reach_.shift);
    rma_reach_.n_node = (uint32_t)n;
    rma_reach_.size = RMA_SIZE_MIN_;
}

/* ---- PEs ---- */

static void look(int first, int step, int n, long long pe) {
    long long d = pe - first, quotient = d / step;
    uint32_t slot;
    int on_node;
    if (pe < INT_MIN || pe > INT_MAX) return;
    slot = rma_slot_((int)pe);
    on_node = d >= 0 && d % step == 0 && quotient < n;
    if ((slot < (uint32_t)n) != on_node || (on_node && slot != quotient))
        ck_abort_msg("first %d, step %d, n %d: PE %lld has slot %u", first, step, n, pe, slot);
}

static void look_around(int first, int step, int n, uint64_t *random) {
    long long last = first + (long long)(n - 1) * step;
    reach(first, step, n);
    for (long long d = -600; d <= 600; d++) {
        look(first, step, n, INT_MIN + d);
        look(first, step, n, INT_MAX + d);
        look(first, step, n, d);
        look(first, step, n, first + d);
        look(first, step, n, last + d);
        look(first, step, n, last + step + d);
        look(first, step, n, MOST_PES + d);
        look(first, step, n, d * step + first);
        look(first, step, n, d * step + last);
        look(first, step, n, (1ll << 31) - 1 + d * step);
        look(first, step, n, d * (1 << 22));
    }
    for (int i = 0; i < 2000; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        look(first, step, n, (int)(uint32_t)(*random >> 32));
        look(first, step, n, (long long)(*random >> 32) % (last + step));
        look(first, step, n, first + (long long)(*random >> 32) % n * step);
    }
}

START_TEST(a_slot_is_below_n_exactly_for_the_pes_of_the_progression) {
    /* A PE of another node that is taken for one of ours, whose memory would be read and written at a wrong address: by
     * a wrong inverse, a shift the wrong way, a remainder that is not noticed, a number that is negative or far too
     * large. */
    static const int steps[] = {1,
                                2,
                                3,
                                4,
                                5,
                                6,
                                7,
                                8,
                                9,
                                10,
                                12,
                                15,
                                16,
                                21,
                                24,
                                31,
                                32,
                                33,
                                48,
                                60,
                                63,
                                64,
                                65,
                                96,
                                100,
                                127,
                                128,
                                129,
                                255,
                                256,
                                384,
                                640,
                                1000,
                                1023,
                                1024,
                                1025,
                                32768,
                                65535,
                                65536,
                                65537,
                                99999,
                                1 << 20,
                                3 << 20,
                                5 << 21,
                                (1 << 23) - 1,
                                1 << 23,
                                (1 << 24) - 1};
    static const int counts[] = {1, 2, 3, 4, 5, 7, 8, 16, 64, 96, 127, 128, 1000, 4096, 65536, MOST_PES};
    uint64_t random = 1;
    for (size_t s = 0; s < N(steps); s++)
        for (size_t c = 0; c < N(counts); c++) {
            int step = steps[s], most = (MOST_PES - 1) / step + 1, n = counts[c] < most ? counts[c] : most;
            int end = MOST_PES - 1 - (n - 1) * step;
            const int firsts[] = {0, 1, step - 1, step, 1000, end / 2, end};
            for (size_t f = 0; f < N(firsts); f++)
                if (firsts[f] <= end) look_around(firsts[f], step, n, &random);
            if (counts[c] >= most) break;
        }
}
END_TEST

START_TEST(every_pe_number_is_decided_right) {
    /* A number that the samples above jump over: all numbers up to twice the largest job, for a few nodes. */
    static const int nodes[][3] = {{0, 1, 5}, {3, 6, 100}, {1, 1 << 12, 4096}, {12345, 999, 16000}};
    for (size_t i = 0; i < N(nodes); i++) {
        const int first = nodes[i][0], step = nodes[i][1], n = nodes[i][2];
        long long q = 0;
        reach(first, step, n);
        for (int pe = -MOST_PES; pe < 2 * MOST_PES; pe++) {
            uint32_t slot = rma_slot_(pe);
            int on_node = q < n && pe == first + q * step;
            if ((slot < (uint32_t)n) != on_node || (on_node && slot != q))
                ck_abort_msg("first %d, step %d, n %d: PE %d has slot %u", first, step, n, pe, slot);
            q += on_node;
        }
        ck_assert_int_eq(q, n);
    }
}
END_TEST

START_TEST(before_init_nothing_is_reached) {
    /* Memory at address 0 that is taken for a heap by a call before rma_init. */
    memset(&rma_reach_, 0, sizeof rma_reach_);
    for (int pe = -3; pe < 3; pe++)
        for (size_t len = 0; len < 10000; len += 99) {
            ck_assert_ptr_null(rma_reach_ptr_(NULL, len, pe));
            ck_assert_ptr_null(rma_reach_ptr_(&pe, len, pe));
            ck_assert_ptr_null(rma_gptr_ptr_((rma_gptr_t)len, len));
        }
    ck_assert_ptr_null(rma_reach_ptr_(NULL, 1, 0));
}
END_TEST

/* ---- ranges: only addresses are computed, nothing is touched ---- */

#define BASE      ((uintptr_t)0x7000000000)
#define NODE_BASE ((uintptr_t)0x5000000000)
#define STRIDE    ((size_t)3 << 30)

static void reach_ranges(size_t size) {
    reach(10, 4, 3);
    rma_reach_.base = BASE;
    rma_reach_.node_base = NODE_BASE;
    rma_reach_.stride = STRIDE;
    rma_reach_.size = size;
    rma_reach_.slot = 1;
}

/* The range is in the segment if it begins and ends there, in numbers that do not wrap. */
static const void *expected(uintptr_t addr, size_t len, size_t slot) {
    uintptr_t end;
    if (__builtin_add_overflow(addr, len, &end) || addr < BASE || end > BASE + rma_reach_.size) return NULL;
    return (const void *)(NODE_BASE + slot * STRIDE + (addr - BASE));
}

/* The length is a constant to the compiler in one set of calls and unknown in the other: they take different ways. */
#define LOOK_AT(addr, len)                                                                                             \
    do {                                                                                                               \
        for (int slot = 0; slot < 3; slot++)                                                                           \
            if (rma_reach_ptr_((const void *)(addr), len, 10 + 4 * slot) != expected(addr, len, (size_t)slot))         \
                ck_abort_msg("size %zu, offset %zd, length %zu (%s), slot %d", rma_reach_.size,                        \
                             (ssize_t)((addr)-BASE), (size_t)(len), #len, slot);                                       \
        if (rma_reach_ptr_((const void *)(addr), len, 11)) ck_abort_msg("a PE off the node is reached");               \
    } while (0)

static const size_t sizes[] = {RMA_SIZE_MIN_, RMA_SIZE_MIN_ + 64, 65536, 1 << 20, STRIDE / 2};

START_TEST(ranges_of_any_length_end_in_the_segment) {
    /* A length that is compared after it has been subtracted, so that it wraps; and each of the edges by one. */
    for (size_t s = 0; s < N(sizes); s++) {
        const size_t size = sizes[s];
        const size_t lens[] = {0,
                               1,
                               2,
                               3,
                               4,
                               7,
                               8,
                               9,
                               16,
                               63,
                               64,
                               65,
                               4095,
                               4096,
                               4097,
                               size / 2,
                               size - 1,
                               size,
                               size + 1,
                               2 * size,
                               STRIDE,
                               (size_t)1 << 63,
                               SIZE_MAX - size - 1,
                               SIZE_MAX - size,
                               SIZE_MAX - size + 1,
                               SIZE_MAX - 1,
                               SIZE_MAX,
                               0 - (size_t)4096,
                               0 - BASE,
                               0 - BASE - 1,
                               0 - BASE + size};
        reach_ranges(size);
        for (size_t l = 0; l < N(lens); l++) {
            volatile size_t hidden = lens[l]; /* or the compiler would know it after unrolling */
            const size_t len = hidden;
            const size_t ends[] = {0,      size,       size - len,      0 - len, size / 2,
                                   STRIDE, 0 - STRIDE, (size_t)1 << 63, 0 - BASE};
            for (size_t e = 0; e < N(ends); e++)
                for (size_t d = 0; d < 5; d++) LOOK_AT(BASE + ends[e] + d - 2, len);
        }
    }
}
END_TEST

START_TEST(ranges_of_constant_length_end_in_the_segment) {
    /* The shorter test for lengths that the compiler knows, which relies on the size being at least RMA_SIZE_MIN_. */
    for (size_t s = 0; s < N(sizes); s++) {
        const size_t size = sizes[s];
        const size_t ends[] = {
            0,         size,        size - 1,        size - 2,    size - 4,      size - 8,      size - 16,
            size - 64, size - 4095, size - 4096,     size - 4097, 0 - (size_t)1, 0 - (size_t)8, 0 - (size_t)4096,
            STRIDE,    0 - STRIDE,  (size_t)1 << 63, 0 - BASE};
        reach_ranges(size);
        for (size_t e = 0; e < N(ends); e++)
            for (size_t d = 0; d < 5; d++) {
                const uintptr_t at = BASE + ends[e] + d - 2;
                LOOK_AT(at, 0);
                LOOK_AT(at, 1);
                LOOK_AT(at, 2);
                LOOK_AT(at, 4);
                LOOK_AT(at, 8);
                LOOK_AT(at, 16);
                LOOK_AT(at, 64);
                LOOK_AT(at, 4095);
                LOOK_AT(at, 4096);
                LOOK_AT(at, 4097);
                LOOK_AT(at, 65536);
                LOOK_AT(at, SIZE_MAX);
            }
    }
}
END_TEST

START_TEST(the_own_copy_is_the_own_address) {
    /* A base and a node base that do not belong together. */
    reach(10, 4, 3);
    rma_reach_.node_base = NODE_BASE;
    rma_reach_.stride = STRIDE;
    rma_reach_.size = 1 << 20;
    for (size_t slot = 0; slot < 3; slot++) {
        rma_reach_.base = NODE_BASE + slot * STRIDE;
        for (size_t offset = 0; offset < 4096; offset += 64) {
            const void *addr = (const void *)(rma_reach_.base + offset);
            ck_assert_ptr_eq(rma_reach_ptr_(addr, 64, 10 + 4 * (int)slot), addr);
        }
    }
}
END_TEST

/* ---- global pointers: the first two words of each space say how far its local heap and the guests' part reach ---- */

#define SYMMETRIC ((size_t)1 << 16)
#define LOCAL     ((size_t)1 << 20)
#define GUEST     ((size_t)3 << 20)
#define SPACE     ((size_t)1 << 22)

static rma_gptr_t at(int pe, size_t offset) { return (rma_gptr_t)pe << RMA_GPTR_BITS_ | offset; }

START_TEST(global_pointers_reach_the_heaps_and_nothing_between) {
    /* The header, the tables or what is not committed yet, written through a global pointer that is wrong by a bit. */
    static const size_t extents[3] = {LOCAL, LOCAL + 4096, GUEST}; /* nothing, a page, all of it */
    static const size_t guests[3] = {GUEST + 4096, SPACE, GUEST};
    const size_t size = 8192;
    char *spaces = mmap(NULL, 3 * SPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(spaces != MAP_FAILED);
    reach(10, 4, 3);
    rma_reach_.base = (uintptr_t)spaces + SPACE + SYMMETRIC;
    rma_reach_.node_base = (uintptr_t)spaces + SYMMETRIC;
    rma_reach_.stride = SPACE;
    rma_reach_.size = size;
    rma_reach_.symmetric = SYMMETRIC;
    rma_reach_.local = LOCAL;
    rma_reach_.guest = GUEST;
    for (size_t slot = 0; slot < 3; slot++) {
        const size_t extent = extents[slot], guest = guests[slot], both[] = {extent, guest};
        const size_t lens[] = {0, 1, 8, 64, 4096, 8192, 8193, SPACE, (size_t)1 << 63, SIZE_MAX};
        const int pe = 10 + 4 * (int)slot;
        char *space = spaces + slot * SPACE;
        memcpy(space, both, sizeof both);
        for (size_t l = 0; l < N(lens); l++) {
            volatile size_t hidden = lens[l];
            const size_t len = hidden;
            const size_t ends[] = {2,
                                   SYMMETRIC,
                                   SYMMETRIC + size,
                                   SYMMETRIC + size - len,
                                   LOCAL,
                                   extent,
                                   extent - len,
                                   LOCAL - len,
                                   GUEST,
                                   GUEST - len,
                                   guest,
                                   guest - len,
                                   SPACE,
                                   (size_t)RMA_GPTR_ATTACHED_,
                                   ((size_t)1 << RMA_GPTR_BITS_) - 3};
            for (size_t e = 0; e < N(ends); e++)
                for (size_t d = 0; d < 5; d++) {
                    const size_t offset = (ends[e] + d - 2) & (((size_t)1 << RMA_GPTR_BITS_) - 1);
                    size_t end;
                    const int wraps = __builtin_add_overflow(offset, len, &end);
                    const int in = !wraps && ((offset >= SYMMETRIC && offset < LOCAL && end <= SYMMETRIC + size) ||
                                              (offset >= LOCAL && offset < GUEST && end <= extent) ||
                                              (offset >= GUEST && end <= guest));
                    void *there = rma_gptr_ptr_(at(pe, offset), len);
                    if (there != (in ? space + offset : NULL))
                        ck_abort_msg("slot %zu, offset %zu, length %zu: %p", slot, offset, len, there);
                    ck_assert_int_eq(rma_gptr_pe(at(pe, offset)), pe);
                }
        }
        ck_assert_ptr_null(rma_gptr_ptr_(at(pe + 1, SYMMETRIC), 8));
        ck_assert_ptr_null(rma_gptr_ptr_(at(MOST_PES - 1, SYMMETRIC), 8));
        ck_assert_int_eq(rma_gptr_pe(at(MOST_PES - 1, SYMMETRIC)), MOST_PES - 1);
    }
    ck_assert_ptr_null(rma_gptr_ptr_(RMA_GPTR_NULL, 1));
    munmap(spaces, 3 * SPACE);
}
END_TEST

int main(void) {
    Suite *s = suite_create("progression");
    TCase *pes = tcase_create("pes"), *ranges = tcase_create("ranges");
    SRunner *runner;
    int failed;
    tcase_set_timeout(pes, 300);
    tcase_add_test(pes, a_slot_is_below_n_exactly_for_the_pes_of_the_progression);
    tcase_add_test(pes, every_pe_number_is_decided_right);
    tcase_add_test(pes, before_init_nothing_is_reached);
    suite_add_tcase(s, pes);
    tcase_set_timeout(ranges, 120);
    tcase_add_test(ranges, ranges_of_any_length_end_in_the_segment);
    tcase_add_test(ranges, ranges_of_constant_length_end_in_the_segment);
    tcase_add_test(ranges, the_own_copy_is_the_own_address);
    tcase_add_test(ranges, global_pointers_reach_the_heaps_and_nothing_between);
    suite_add_tcase(s, ranges);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
