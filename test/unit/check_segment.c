/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments on a reservation of one PE that is mapped here, without MPI: the offsets of a space's parts, when and how
 * much is committed, the error text if a commit fails, and what is at an address.
 *
 * A commit fails if a page is not mapped at all, as it does if /dev/shm is full. Kernels that cannot commit on request
 * (before 5.14) cannot report this failure; then the tests that need it pass without checking, and print that. */
#include "config.h"

#include "heap/attached.h"
#include "heap/segment.h"
#include "base/error.h"
#include "base/process.h"
#include "base/topology.h"
#include "rma.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB      ((size_t)1024)
#define MIB      (KIB * KIB)
#define GIB      (MIB * KIB)
#define TIB      (GIB * KIB)
#define N(array) (sizeof array / sizeof array[0])

static void ck_text_has(const char *text, const char *part) {
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" lacks \"%s\"", text, part);
}

/* ---- one space with one segment ---- */

struct space {
    struct rmai_reservation reservation;
    struct rmai_segment segment;
    struct rmai_holes holes;
    char *table, *base;
};

static void map(struct rmai_reservation *r, size_t stride) {
    *r = (struct rmai_reservation){.stride = stride, .n_slots = 1, .window = MPI_WIN_NULL};
    r->mapped = r->node_base =
        mmap(NULL, stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(r->node_base != MAP_FAILED);
}

static void create(struct space *p, size_t max) {
    size_t room = rmai_tlsf_room(max);
    map(&p->reservation, room + max);
    p->table = p->reservation.node_base;
    p->base = p->table + room;
    ck_assert_int_eq(
        rmai_segment_create(&p->segment, &p->reservation, p->table, p->base, max, "test heap", "RMA_TEST_MAX"),
        RMA_SUCCESS);
    p->holes.n = 0;
    p->segment.holes = &p->holes;
}

static void destroy(struct space *p) { ck_assert_int_eq(rmai_unreserve(&p->reservation, "rma_finalize"), RMA_SUCCESS); }

static void extend(struct space *p, size_t bytes) {
    size_t got = 0;
    ck_assert_int_eq(rmai_segment_commit(&p->segment, bytes, &got), RMA_SUCCESS);
    ck_assert_uint_ge(got, bytes);
    rmai_segment_extend(&p->segment, bytes);
}

static void *give(struct space *p, size_t size) {
    int full = -1;
    char *block = rmai_segment_alloc(&p->segment, "rma_alloc_mem", 64, size, &full);
    ck_assert_msg(block != NULL, "no block of %zu bytes", size);
    ck_assert_int_eq(full, 0);
    return block;
}

static int commit_can_fail(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int can = rmai_process_populate(p, page, 1) == 0;
    munmap(p, page);
    if (!can) printf("check_segment: this kernel has no MADV_POPULATE_WRITE: no look at commits that fail\n");
    return can;
}

/* Pages of [start, start + len) that are in memory. */
static size_t resident(const void *start, size_t len) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
    unsigned char *in = malloc(len / page);
    ck_assert_ptr_nonnull(in);
    ck_assert_int_eq(mincore((void *)(uintptr_t)start, len, in), 0);
    for (size_t i = 0; i < len / page; i++) n += in[i] & 1;
    free(in);
    return n;
}

/* 1 if the page of this address is in memory. */
static int in_memory(const char *at) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return resident((const char *)((uintptr_t)at / page * page), page) == 1;
}

/* ---- layout ---- */

START_TEST(the_parts_of_a_space_lie_apart_and_in_order) {
    /* A table that is shorter than its heap needs, a part that begins inside a page, a maximum that shrinks. */
    static const size_t max[] = {0,         1,         64,        4096,      65535,   65536, 65537,
                                 256 * KIB, MIB - 1,   MIB,       3 * MIB,   GIB - 1, GIB,   24 * GIB + 4096,
                                 100 * GIB, 255 * GIB, 256 * GIB, 300 * GIB, 5 * TIB};
    for (size_t i = 0; i < N(max); i++)
        for (size_t j = 0; j < N(max); j++) {
            struct rmai_layout l;
            size_t most = RMAI_TLSF_MAX / RMAI_PAGE * RMAI_PAGE;
            rmai_layout(&l, max[i], max[j], 1000 * (i + j));
            ck_assert_uint_ge(l.symmetric_max, rmai_min(max[i], most));
            ck_assert_uint_ge(l.local_max, rmai_min(max[j], most));
            ck_assert_uint_le(l.symmetric_max, rmai_min(rmai_max(max[i], 1) + RMAI_PAGE - 1, most));
            ck_assert_uint_le(l.local_max, rmai_min(rmai_max(max[j], 1) + RMAI_PAGE - 1, most));
            ck_assert_uint_ge(l.statics, RMAI_HEADER_ROOM);
            ck_assert_uint_ge(l.statics_max, 1000 * (i + j));
            ck_assert_uint_ge(l.symmetric_table, l.statics + l.statics_max);
            ck_assert_uint_ge(l.symmetric, l.symmetric_table + rmai_tlsf_room(l.symmetric_max));
            ck_assert_uint_ge(l.local_table, l.symmetric + l.symmetric_max);
            ck_assert_uint_ge(l.local, l.local_table + rmai_tlsf_room(l.local_max));
            ck_assert_uint_ge(l.guest_max, l.local_max / 2);
            ck_assert_uint_ge(l.guest_table, l.local + l.local_max);
            ck_assert_uint_ge(l.guest, l.guest_table + rmai_tlsf_room(l.guest_max));
            ck_assert_uint_ge(l.attached, l.guest + l.guest_max);
            ck_assert_uint_ge(l.stride, l.attached + rmai_attached_room());
            ck_assert_uint_eq((l.statics | l.symmetric_table | l.symmetric | l.local_table | l.local) % RMAI_PAGE, 0);
            ck_assert_uint_eq((l.guest_table | l.guest | l.attached | l.stride) % RMAI_PAGE, 0);
            ck_assert_uint_eq((l.symmetric_max | l.local_max) % RMAI_PAGE, 0);
            /* Tables are a quarter of their heaps; the rest does not grow with them. */
            ck_assert_uint_le(l.stride,
                              (l.symmetric_max + l.local_max + l.guest_max) / 4 * 5 + rmai_attached_room() + 16 * MIB);
        }
}
END_TEST

START_TEST(a_larger_maximum_never_gives_a_smaller_space) {
    /* Rounding that is not monotone: rma_init shrinks the maxima until the space fits, and would never end. */
    struct rmai_layout before, l;
    rmai_layout(&before, 0, MIB, 0);
    for (size_t max = 1; max < 4 * TIB; max += 1 + max / 7) {
        rmai_layout(&l, max, MIB, 0);
        ck_assert_uint_ge(l.stride, before.stride);
        ck_assert_uint_ge(l.symmetric_max, before.symmetric_max);
        before = l;
    }
    rmai_layout(&before, MIB, 0, 0);
    for (size_t max = 1; max < 4 * TIB; max += 1 + max / 7) {
        rmai_layout(&l, MIB, max, 0);
        ck_assert_uint_ge(l.stride, before.stride);
        ck_assert_uint_ge(l.local_max, before.local_max);
        before = l;
    }
    for (size_t max = 256 * GIB; max > MIB; max /= 2) { /* a part of what came out gives less */
        rmai_layout(&before, max, max, 0);
        rmai_layout(&l, before.symmetric_max / 4 * 3, before.local_max / 4 * 3, 0);
        ck_assert_uint_lt(l.stride, before.stride);
    }
}
END_TEST

/* ---- commit ---- */

START_TEST(committed_memory_is_there_and_zero_and_stays) {
    /* A range that is not rounded outward to pages, or that is cleared by a second commit. */
    struct rmai_reservation r;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    map(&r, MIB);
    ck_assert_uint_eq(resident(r.node_base, MIB), 0);
    ck_assert_int_eq(rmai_commit(&r, r.node_base, 0), RMA_SUCCESS);
    ck_assert_uint_eq(resident(r.node_base, MIB), 0);
    ck_assert_int_eq(rmai_commit(&r, r.node_base + page - 1, 2), RMA_SUCCESS);
    ck_assert_uint_eq(resident(r.node_base, 2 * page), 2);
    for (size_t i = 0; i < 2 * page; i++) ck_assert_int_eq(r.node_base[i], 0);
    memset(r.node_base, 'x', 2 * page);
    ck_assert_int_eq(rmai_commit(&r, r.node_base, 3 * page), RMA_SUCCESS);
    ck_assert_uint_eq(resident(r.node_base, 3 * page), 3);
    for (size_t i = 0; i < 2 * page; i++) ck_assert_int_eq(r.node_base[i], 'x');
    ck_assert_int_eq(rmai_unreserve(&r, "rma_finalize"), RMA_SUCCESS);
}
END_TEST

START_TEST(each_room_that_is_free_by_itself_is_found) {
    const size_t strides[] = {GIB, 8 * TIB, 24 * TIB, 32 * TIB}; /* from 20 TiB on two of the rooms overlap */
    const char *wrap = getenv("RMA_TEST_WRAP");                  /* valgrind keeps tables for the whole of a mapping */
    for (size_t s = 0; s < (wrap && *wrap ? 1 : N(strides)); s++) {
        unsigned alone = 0;
        for (int i = 0; i < RMAI_ROOMS; i++) {
            char *room = rmai_room_take(i, strides[s], 1, 0, MIB);
            if (!room) continue;
            ck_assert_ptr_null(rmai_room_take(i, strides[s], 1, 0, MIB));
            ck_assert_int_eq(munmap(room, strides[s]), 0);
            alone |= 1u << i;
        }
        ck_assert_msg(rmai_rooms_find(strides[s], 1, 0, MIB) == alone, "%zu bytes: %#x, alone %#x", strides[s],
                      rmai_rooms_find(strides[s], 1, 0, MIB), alone);
    }
}
END_TEST

START_TEST(more_than_the_memory_is_refused_with_numbers) {
    /* A request that fills the machine before it fails, or fails without saying what there is. */
    struct rmai_reservation r;
    map(&r, MIB);
    rmai_error(RMA_ERR_ARG, "something else");
    ck_assert_int_eq(rmai_commit(&r, r.node_base, 512 * TIB), RMA_ERR_NO_MEM);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_NO_MEM);
    ck_text_has(rma_last_error(), "512 TiB");
    ck_text_has(rma_last_error(), "memory");
    ck_assert_uint_eq(resident(r.node_base, MIB), 0);
    r.n_slots = 2; /* shared spaces lie in /dev/shm, which is named if it has less than the node has memory */
    ck_assert_int_eq(rmai_commit(&r, r.node_base, 512 * TIB), RMA_ERR_NO_MEM);
    ck_text_has(rma_last_error(), "512 TiB");
    if (strstr(rma_last_error(), "/dev/shm"))
        ck_text_has(rma_last_error(), "size=");
    else
        ck_text_has(rma_last_error(), "memory");
    r.n_slots = 1;
    ck_assert_int_eq(rmai_unreserve(&r, "rma_finalize"), RMA_SUCCESS);
}
END_TEST

START_TEST(what_other_processes_have_begun_is_not_taken) {
    /* Processes that each take what is left for all. */
    struct rmai_reservation r;
    _Atomic size_t begun = 512 * TIB;
    map(&r, 8 * MIB);
    r.begun = &begun;
    r.n_slots = 2;
    ck_assert_int_eq(rmai_commit(&r, r.node_base, 4 * MIB), RMA_ERR_NO_MEM);
    ck_text_has(rma_last_error(), "4 MiB more needed by several PEs at once, but ");
    ck_assert_uint_eq(begun, 512 * TIB);
    ck_assert_uint_eq(resident(r.node_base, 8 * MIB), 0);
    begun = 4096;
    ck_assert_int_eq(rmai_commit(&r, r.node_base, 5 * MIB), RMA_SUCCESS);
    ck_assert_uint_eq(begun, 4096);
    ck_assert_uint_eq(resident(r.node_base, 8 * MIB), 5 * MIB / (size_t)sysconf(_SC_PAGESIZE));
    r.n_slots = 1;
    ck_assert_int_eq(rmai_unreserve(&r, "rma_finalize"), RMA_SUCCESS);
}
END_TEST

START_TEST(a_failed_commit_keeps_nothing_and_harms_nothing) {
    /* Pages that were committed before the failure and stay committed, since nobody knows of them; and a page at the
     * edge that was in use before, and is given back with them. */
    struct rmai_reservation r;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!commit_can_fail()) return;
    map(&r, MIB);
    ck_assert_int_eq(rmai_commit(&r, r.node_base, page), RMA_SUCCESS);
    memset(r.node_base, 'x', page);
    ck_assert_int_eq(munmap(r.node_base + 128 * KIB, page), 0);
    ck_assert_int_eq(rmai_commit(&r, r.node_base + page / 2, 256 * KIB), RMA_ERR_NO_MEM);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_NO_MEM);
    ck_assert_uint_eq(resident(r.node_base, 128 * KIB), 1);
    for (size_t i = 0; i < page; i++) ck_assert_int_eq(r.node_base[i], 'x');
    ck_assert_int_eq(rmai_commit(&r, r.node_base + page, page), RMA_SUCCESS);
    munmap(r.node_base, MIB);
}
END_TEST

START_TEST(memory_without_a_limit_leaves_a_part_to_others) {
    /* A program that allocates until there is no more takes the memory of everybody. What is asked for here lies in the
     * part that is left to others; it could not be populated either, so that no bug takes it. */
    struct rmai_reservation r = {.n_slots = 1, .window = MPI_WIN_NULL};
    unsigned long long kib = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %llu kB", &kib) != 1) continue;
    if (f) fclose(f);
    r.stride = rmai_round_up((size_t)kib * KIB, MIB);
    if (r.stride < 4 * GIB) return;
    r.mapped = r.node_base = mmap(NULL, r.stride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(r.node_base != MAP_FAILED);
    ck_assert_int_eq(mprotect(r.node_base, MIB, PROT_READ | PROT_WRITE), 0);
    ck_assert_int_eq(rmai_commit_sparing(&r, r.node_base, r.stride - 128 * MIB, "RMA_TEST_MAX"), RMA_ERR_NO_MEM);
    ck_text_has(rma_last_error(), "the node's memory has");
    ck_text_has(rma_last_error(), "left to the system and to MPI, since RMA_TEST_MAX sets no limit");
    ck_assert_uint_eq(resident(r.node_base, MIB), 0);
    ck_assert_int_eq(rmai_commit_sparing(&r, r.node_base, MIB, "RMA_TEST_MAX"), RMA_SUCCESS);
    ck_assert_uint_eq(resident(r.node_base, MIB), MIB / (size_t)sysconf(_SC_PAGESIZE));
    ck_assert_int_eq(rmai_unreserve(&r, "rma_finalize"), RMA_SUCCESS);
}
END_TEST

/* ---- growing ---- */

START_TEST(a_segment_grows_and_gives_blocks_inside_itself) {
    /* Blocks outside what is committed, and a pool that is not as large as the segment says. */
    struct space p;
    int full = -1;
    create(&p, 4 * MIB);
    ck_assert_uint_eq(p.segment.size, 0);
    ck_assert_ptr_null(rmai_segment_alloc(&p.segment, "rma_alloc_mem", 64, 1000, &full));
    ck_assert_int_eq(full, 1);
    ck_assert_uint_eq(rmai_segment_want(&p.segment, 64, 1000), 1024);
    extend(&p, 1024);
    ck_assert_uint_eq(p.segment.size, 1024);
    ck_assert_ptr_eq(give(&p, 1000), p.base);
    memset(p.base, 'x', 1000);
    while (p.segment.size < 4 * MIB) {
        size_t size = p.segment.size, want = rmai_segment_want(&p.segment, 64, rmai_min(size, 4 * MIB - size));
        char *block;
        ck_assert_uint_gt(want, 0);
        extend(&p, want);
        ck_assert_uint_eq(p.segment.size, size + want);
        ck_assert_uint_le(p.segment.size, p.segment.committed);
        ck_assert_uint_le(p.segment.committed, p.segment.max);
        block = give(&p, rmai_min(size, 4 * MIB - size));
        ck_assert(block >= p.base && block + size <= p.base + p.segment.size);
        memset(block, 'y', rmai_min(size, 4 * MIB - size)); /* SIGBUS or SIGSEGV if it is not there */
        ck_assert_ptr_null(rmai_tlsf_check(&p.segment.pool));
    }
    for (int i = 0; i < 1000; i++) ck_assert_int_eq(p.base[i], 'x');
    destroy(&p);
}
END_TEST

START_TEST(commit_takes_an_eighth_within_bounds_so_that_growth_is_rare) {
    /* A commit for every block, or one that doubles a heap that is large already. The sizes are only claimed: a real
     * heap of a GiB would take as much memory. */
    static const struct {
        size_t size, want, got;
    } chunk[] = {{0, 64, 256 * KIB},
                 {0, 256 * KIB, 256 * KIB},
                 {0, 256 * KIB + 64, 320 * KIB},
                 {0, 3 * MIB, 3 * MIB},
                 {MIB, 64, 256 * KIB},
                 {4 * MIB, 64, 512 * KIB},
                 {8 * MIB, MIB - 64, MIB},
                 {8 * MIB, MIB + 64, MIB + 64 * KIB},
                 {200 * MIB, 64, 25 * MIB},
                 {512 * MIB, 64, 64 * MIB},
                 {GIB, 64, 64 * MIB},
                 {GIB, 80 * MIB, 80 * MIB},
                 {2 * GIB - 10 * MIB, 64, 10 * MIB}, /* up to the maximum */
                 {2 * GIB - 64 * KIB, 64 * KIB, 64 * KIB}};
    for (size_t i = 0; i < N(chunk); i++) {
        struct space p;
        size_t got = 77;
        create(&p, 2 * GIB);
        p.segment.size = p.segment.committed = chunk[i].size;
        ck_assert_int_eq(rmai_segment_commit(&p.segment, chunk[i].want, &got), RMA_SUCCESS);
        ck_assert_msg(got == chunk[i].got, "from %zu by %zu: %zu", chunk[i].size, chunk[i].want, got);
        ck_assert_uint_eq(p.segment.size, chunk[i].size); /* prepared, not done */
        ck_assert_uint_eq(p.segment.committed, chunk[i].size + got);
        ck_assert_uint_eq(resident(p.base + chunk[i].size, got), got / (size_t)sysconf(_SC_PAGESIZE));
        destroy(&p);
    }
}
END_TEST

START_TEST(a_step_ends_where_every_pe_knows_it_does) {
    /* A step whose end depends on the byte that is asked about, one that is longer than what lies before it, and one
     * that is no multiple of pages: what one PE attaches to MPI's window as a piece others take for two. */
    size_t step = 256 * KIB, before = 0;
    for (size_t start = 0, end; start < 3 * GIB; start = end) {
        end = rmai_step_end(start);
        ck_assert_uint_gt(end, start);
        step = end - start;
        ck_assert_uint_eq(step & (step - 1), 0);
        ck_assert_uint_ge(step, before);
        ck_assert_uint_ge(step, 256 * KIB);
        ck_assert_uint_le(step, 64 * MIB);
        ck_assert(step == 256 * KIB || step <= start / 8);
        ck_assert(step == 64 * MIB || 2 * step > start / 8);
        for (size_t i = 0; i <= 16; i++) ck_assert_uint_eq(rmai_step_end(start + i * (step / 16) - (i == 16)), end);
        before = step;
    }
    ck_assert_uint_eq(step, 64 * MIB);
    ck_assert_uint_eq(rmai_step_end(TIB), TIB + 64 * MIB);
}
END_TEST

START_TEST(a_heap_in_steps_grows_to_their_ends) {
    /* A heap that ends within a step: the rest of the step could never be attached. */
    static const struct {
        size_t size, want, got;
    } chunk[] = {{0, 64, 256 * KIB},
                 {0, 256 * KIB, 256 * KIB},
                 {0, 256 * KIB + 64, 512 * KIB},
                 {MIB, 64, 256 * KIB},
                 {MIB - 4 * KIB, 64, 256 * KIB + 4 * KIB}, /* from within a step, where memory was short once */
                 {4 * MIB, 64, 512 * KIB},
                 {8 * MIB, MIB + 64, 2 * MIB},
                 {200 * MIB, 64, 40 * MIB}, /* 25 MiB are wanted; steps have 16 MiB there */
                 {GIB, 64, 64 * MIB},
                 {2 * GIB - 10 * MIB, 64, 10 * MIB}}; /* the maximum is no end of a step */
    for (size_t i = 0; i < N(chunk); i++) {
        struct space p;
        size_t got = 77, end;
        create(&p, 2 * GIB);
        p.segment.in_steps = 1;
        p.segment.size = p.segment.committed = chunk[i].size;
        ck_assert_int_eq(rmai_segment_commit(&p.segment, chunk[i].want, &got), RMA_SUCCESS);
        ck_assert_msg(got == chunk[i].got, "from %zu by %zu: %zu", chunk[i].size, chunk[i].want, got);
        end = chunk[i].size + got;
        ck_assert_uint_eq(rmai_step_end(end - 1), end);
        ck_assert_uint_eq(p.segment.committed, end);
        destroy(&p);
    }
}
END_TEST

START_TEST(what_was_committed_and_not_used_is_given_first) {
    /* PEs extend by the least that any of them got. The others must not lose, or commit again, what they have. */
    struct space p;
    size_t got = 0;
    create(&p, 4 * MIB);
    ck_assert_int_eq(rmai_segment_commit(&p.segment, MIB, &got), RMA_SUCCESS);
    ck_assert_uint_eq(got, MIB);
    rmai_segment_extend(&p.segment, 128 * KIB);
    ck_assert_uint_eq(p.segment.size, 128 * KIB);
    ck_assert_int_eq(rmai_segment_commit(&p.segment, 64 * KIB, &got), RMA_SUCCESS);
    ck_assert_uint_eq(got, MIB - 128 * KIB);
    ck_assert_uint_eq(p.segment.committed, MIB);
    destroy(&p);
}
END_TEST

START_TEST(a_commit_that_fails_falls_back_to_what_is_wanted) {
    /* An allocation that fails because of memory which it did not ask for. */
    struct space p;
    size_t got = 77;
    if (!commit_can_fail()) return;
    create(&p, 4 * MIB);
    ck_assert_int_eq(munmap(p.base + 128 * KIB, 64 * KIB), 0);
    ck_assert_int_eq(rmai_segment_commit(&p.segment, 100 * KIB, &got), RMA_SUCCESS); /* 256 KiB would be usual */
    ck_assert_uint_eq(got, 128 * KIB);
    rmai_segment_extend(&p.segment, 100 * KIB);
    give(&p, 100 * KIB);
    ck_assert_int_eq(rmai_segment_commit(&p.segment, 64 * KIB, &got), RMA_ERR_NO_MEM);
    ck_assert_uint_eq(got, 0);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_NO_MEM);
    ck_assert_uint_eq(p.segment.size, 100 * KIB);
    ck_assert_uint_eq(p.segment.committed, 128 * KIB);
    ck_assert_ptr_null(rmai_tlsf_check(&p.segment.pool));
    munmap(p.reservation.node_base, p.reservation.stride);
}
END_TEST

START_TEST(what_is_committed_already_needs_no_memory) {
    /* As above, where all that is wanted lies in what was committed before: no memory is needed for it at all. */
    struct space p;
    size_t got = 0;
    if (!commit_can_fail()) return;
    create(&p, 4 * MIB);
    ck_assert_int_eq(rmai_segment_commit(&p.segment, 128 * KIB, &got), RMA_SUCCESS);
    ck_assert_uint_eq(got, 256 * KIB);
    rmai_segment_extend(&p.segment, 64 * KIB);
    ck_assert_int_eq(munmap(p.base + 256 * KIB, 64 * KIB), 0); /* from here on there is no more */
    ck_assert_int_eq(rmai_segment_commit(&p.segment, 64 * KIB, &got), RMA_SUCCESS);
    ck_assert_uint_eq(got, 192 * KIB);
    munmap(p.reservation.node_base, p.reservation.stride);
}
END_TEST

START_TEST(the_gap_before_an_aligned_block_is_committed_when_it_is_used) {
    /* A GiB of memory for one block at a multiple of a GiB; a block in memory that is not committed: where /dev/shm is
     * full the process dies. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct space p;
    struct rma_heap_stats stats;
    char *block[200], *far;
    size_t got = 0, want;
    int full = -1;
    create(&p, 4 * GIB);
    extend(&p, MIB);
    give(&p, 100);
    want = rmai_segment_want(&p.segment, GIB, 1000);
    ck_assert_int_eq(rmai_segment_commit_aligned(&p.segment, GIB, 1000, want, &got), RMA_SUCCESS);
    ck_assert_uint_ge(got, want);
    rmai_segment_extend(&p.segment, got);
    far = rmai_segment_alloc(&p.segment, "rma_alloc_mem", GIB, 1000, &full);
    ck_assert_ptr_eq(far, p.base + GIB);
    ck_assert(in_memory(far) && in_memory(far + 999));
    ck_assert_uint_eq(resident(p.base, 2 * MIB), MIB / page);
    ck_assert_uint_le(resident(p.base + GIB, p.segment.size - GIB), 2 * MIB / page);
    rmai_segment_stats(&p.segment, &stats);
    ck_assert_uint_le(stats.committed, 4 * MIB);
    /* Small blocks, one that is aligned within the gap, one that is resized into it. */
    for (size_t i = 0; i < N(block); i++) {
        block[i] = rmai_segment_alloc(&p.segment, "rma_alloc_mem", i % 20 ? 64 : 4 * MIB << i / 50, 20 * KIB, &full);
        ck_assert_ptr_nonnull(block[i]);
        ck_assert(block[i] + 20 * KIB < p.base + p.segment.size);
        for (size_t at = 0; at < 20 * KIB; at += page) ck_assert(in_memory(block[i] + at));
        ck_assert(in_memory(block[i] + 20 * KIB - 1));
        if (i == 100) {
            ck_assert_int_eq(rmai_segment_resize(&p.segment, block[i], 3 * MIB), 0);
            for (size_t at = 0; at < 3 * MIB; at += page) ck_assert(in_memory(block[i] + at));
        }
    }
    ck_assert_uint_le(resident(p.base, p.segment.size), 20 * MIB / page);
    rmai_segment_stats(&p.segment, &stats);
    ck_assert_uint_ge(stats.committed, 200 * 20 * KIB);
    ck_assert_uint_le(stats.committed, 20 * MIB);
    ck_assert_ptr_null(rmai_tlsf_check(&p.segment.pool));
    destroy(&p);
}
END_TEST

START_TEST(a_block_in_a_gap_that_cannot_be_committed_is_refused) {
    /* A block that is given although its memory is not there; or one that is lost when it is refused. */
    struct space p;
    size_t got = 0, want;
    int full = -1;
    if (!commit_can_fail()) return;
    create(&p, 64 * MIB);
    extend(&p, 256 * KIB);
    char *first = give(&p, 256 * KIB);
    want = rmai_segment_want(&p.segment, 32 * MIB, 64);
    ck_assert_int_eq(rmai_segment_commit_aligned(&p.segment, 32 * MIB, 64, want, &got), RMA_SUCCESS);
    rmai_segment_extend(&p.segment, got);
    ck_assert_ptr_nonnull(rmai_segment_alloc(&p.segment, "rma_alloc_mem", 32 * MIB, 64, &full));
    ck_assert_int_eq(munmap(p.base + MIB, MIB), 0);
    size_t used = p.segment.pool.state->used_units;
    ck_assert_ptr_null(rmai_segment_alloc(&p.segment, "rma_alloc_mem", 64, 10 * MIB, &full));
    ck_assert_int_eq(full, 0);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_NO_MEM);
    ck_assert_int_eq(rmai_segment_resize(&p.segment, first, 10 * MIB), -2);
    ck_assert_uint_eq(p.segment.pool.state->used_units, used);
    ck_assert_ptr_null(rmai_tlsf_check(&p.segment.pool));
    ck_assert_ptr_nonnull(rmai_segment_alloc(&p.segment, "rma_alloc_mem", 64, 100 * KIB, &full));
    munmap(p.reservation.node_base, p.reservation.stride);
}
END_TEST

START_TEST(beyond_the_maximum_the_text_names_the_setting) {
    /* A user who is told "out of memory" by a machine that has plenty. */
    static const size_t sizes[] = {MIB + 1, 2 * MIB, 100 * TIB, SIZE_MAX};
    struct space p;
    create(&p, MIB);
    extend(&p, 256 * KIB);
    give(&p, 128 * KIB);
    for (size_t i = 0; i < N(sizes); i++) {
        rmai_error(RMA_ERR_ARG, "something else");
        ck_assert_uint_eq(rmai_segment_want(&p.segment, 64, sizes[i]), 0);
        ck_assert_int_eq(rma_last_code(), RMA_ERR_NO_MEM);
        ck_text_has(rma_last_error(), "test heap");
        ck_text_has(rma_last_error(), "RMA_TEST_MAX");
        ck_text_has(rma_last_error(), "128 KiB"); /* used */
        ck_text_has(rma_last_error(), "1 MiB");   /* of at most */
    }
    ck_text_has(rma_last_error(), "16 EiB"); /* asked for */
    ck_assert_uint_gt(rmai_segment_want(&p.segment, 64, 512 * KIB), 0);
    destroy(&p);
}
END_TEST

START_TEST(a_heap_can_be_filled_to_its_maximum) {
    /* The last page of a heap that nobody gets, as a growth is rounded past the maximum. */
    struct space p;
    size_t n = 0;
    int full;
    create(&p, 65 * RMAI_PAGE);
    for (;;) {
        if (rmai_segment_alloc(&p.segment, "rma_alloc_mem", 64, RMAI_PAGE, &full)) {
            n++;
        } else {
            size_t got, want = rmai_segment_want(&p.segment, 64, RMAI_PAGE);
            ck_assert_int_eq(full, 1);
            if (!want) break;
            ck_assert_int_eq(rmai_segment_commit(&p.segment, want, &got), RMA_SUCCESS);
            rmai_segment_extend(&p.segment, got);
        }
    }
    ck_assert_uint_eq(n, 65);
    ck_assert_uint_eq(p.segment.size, p.segment.max);
    destroy(&p);
}
END_TEST

START_TEST(a_denied_table_page_is_no_full_heap) {
    /* A heap that cannot grow, because the allocator's own table could not. */
    struct space p;
    size_t size, pool_per_step = RMAI_TLSF_STEP / sizeof(struct rmai_tlsf_unit) * RMAI_TLSF_UNIT, offset;
    int full = -1;
    char *block;
    if (!commit_can_fail()) return;
    create(&p, 4 * MIB);
    extend(&p, MIB);
    offset = (size_t)((char *)p.segment.pool.unit - p.table) + 8 * RMAI_TLSF_STEP;
    ck_assert_int_eq(munmap(p.table + offset, RMAI_TLSF_STEP), 0);
    rmai_error(RMA_ERR_ARG, "something else");
    ck_assert_ptr_null(
        rmai_segment_alloc(&p.segment, "rma_alloc_mem", 64, 8 * pool_per_step, &full)); /* its rest starts there */
    ck_assert_int_eq(full, 0);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_NO_MEM);
    block = give(&p, 9 * pool_per_step); /* and this one's does not */
    ck_assert_int_eq(rmai_segment_live(&p.segment, block, &size), 1);
    ck_assert_uint_eq(size, 9 * pool_per_step);
    munmap(p.reservation.node_base, p.reservation.stride);
}
END_TEST

/* As qemu's user mode does: every madvise succeeds, and does nothing. 0: the pages are there all the same; 77: no
 * system call can be changed here. */
static int commit_without_advice(void) {
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    struct rmai_reservation r;
    size_t huge = rmai_huge_page();
    map(&r, 2 * MIB + 2 * huge);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return 77;
    if (madvise(r.node_base, MIB, -1) != 0) return 2;
    if (rmai_commit(&r, r.node_base, 256 * KIB) != RMA_SUCCESS) return 3;
    if (rmai_huge_advise((void *)rmai_round_up((uintptr_t)r.node_base + MIB, huge), huge)) return 4;
    return resident(r.node_base, 256 * KIB) == 256 * KIB / (size_t)sysconf(_SC_PAGESIZE) ? 0 : 5;
}

START_TEST(pages_are_there_where_the_kernel_takes_no_advice) {
    /* A commit that believes an emulator, memory whose first touch ends the process, and huge pages that are none. */
    int status;
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) _exit(commit_without_advice());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        puts("check_segment: no system call can be changed here");
    else
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(create_fails_where_the_table_cannot_begin) {
    /* A segment whose state is written to memory that is not there. */
    struct rmai_segment s;
    struct rmai_reservation r;
    if (!commit_can_fail()) return;
    map(&r, 2 * MIB);
    ck_assert_int_eq(munmap(r.node_base, 64 * KIB), 0);
    ck_assert_int_eq(rmai_segment_create(&s, &r, r.node_base, r.node_base + MIB, MIB, "test heap", "RMA_TEST_MAX"),
                     RMA_ERR_NO_MEM);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_NO_MEM);
    munmap(r.node_base, 2 * MIB);
}
END_TEST

/* ---- what stands at an address ---- */

START_TEST(holds_and_live_answer_for_any_address) {
    /* An address below the base whose offset wraps, or one that is reserved but not committed. */
    struct space p;
    size_t size = 0;
    char *a, *b, outside;
    create(&p, 4 * MIB);
    extend(&p, 256 * KIB);
    a = give(&p, 1000);
    b = give(&p, 100);
    rmai_tlsf_free(&p.segment.pool, (size_t)(b - p.base));
    ck_assert_int_eq(rmai_segment_live(&p.segment, a, &size), 1);
    ck_assert_uint_eq(size, 1000);
    ck_assert_int_eq(rmai_segment_live(&p.segment, a + 64, &size), 0);
    ck_assert_int_eq(rmai_segment_live(&p.segment, a + 1, &size), 0);
    ck_assert_int_eq(rmai_segment_live(&p.segment, b, &size), 0);
    ck_assert_int_eq(rmai_segment_live(&p.segment, p.base - 64, &size), 0);
    ck_assert_int_eq(rmai_segment_live(&p.segment, p.base + 300 * KIB, &size), 0);
    ck_assert_int_eq(rmai_segment_live(&p.segment, p.base + 4 * MIB, &size), 0);
    ck_assert_int_eq(rmai_segment_live(&p.segment, &outside, &size), 0);
    ck_assert_int_eq(rmai_segment_live(&p.segment, NULL, &size), 0);
    ck_assert_int_eq(rmai_segment_holds(&p.segment, p.base), 1);
    ck_assert_int_eq(rmai_segment_holds(&p.segment, p.base - 1), 0);
    ck_assert_int_eq(rmai_segment_holds(&p.segment, p.base + 4 * MIB - 1), 1);
    ck_assert_int_eq(rmai_segment_holds(&p.segment, p.base + 4 * MIB), 0);
    ck_assert_int_eq(rmai_segment_holds(&p.segment, NULL), 0);
    destroy(&p);
}
END_TEST

static void expect_bad_base(const struct rmai_segment *s, const void *block, const char *part) {
    char name[32];
    snprintf(name, sizeof name, "%p", block);
    rmai_error(RMA_ERR_ARG, "something else");
    ck_assert_int_eq(rmai_segment_bad_base(s, "rma_free", block), RMA_ERR_BASE);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_BASE);
    ck_assert_int_eq(strncmp(rma_last_error(), "rma_free: ", 10), 0);
    ck_text_has(rma_last_error(), name);
    ck_text_has(rma_last_error(), part);
}

START_TEST(a_bad_base_is_told_apart_as_interior_freed_or_foreign) {
    /* The wrong cause in a text sends its reader the wrong way. */
    struct space p;
    char *a, *b, outside, base[32];
    create(&p, 4 * MIB);
    extend(&p, 256 * KIB);
    a = give(&p, 1000);
    b = give(&p, 500);
    give(&p, 1);
    rmai_tlsf_free(&p.segment.pool, (size_t)(b - p.base));
    snprintf(base, sizeof base, "%p", (void *)a);
    expect_bad_base(&p.segment, a + 8, "8 bytes into the block of 1000");
    ck_text_has(rma_last_error(), base);
    expect_bad_base(&p.segment, a + 999, "999 bytes into the block of 1000");
    expect_bad_base(&p.segment, b, "freed already");
    ck_text_has(rma_last_error(), "test heap");
    expect_bad_base(&p.segment, b + 64, "freed already");
    expect_bad_base(&p.segment, p.base + 200 * KIB, "never allocated");
    expect_bad_base(&p.segment, p.base + 256 * KIB, "is not a block of the test heap");
    expect_bad_base(&p.segment, p.base - 64, "is not a block of the test heap");
    expect_bad_base(&p.segment, &outside, "is not a block of the test heap");
    ck_text_has(rma_last_error(), "262144 bytes");
    destroy(&p);
}
END_TEST

START_TEST(describe_names_the_block_around_an_address) {
    /* The text that is added to RMA_ERR_ADDRESS: how far a range reached past which block. */
    struct space p;
    char *a, text[256], base[32], end[32], tiny[8];
    create(&p, 4 * MIB);
    extend(&p, 256 * KIB);
    a = give(&p, 1000);
    snprintf(base, sizeof base, "%p", (void *)a);
    snprintf(end, sizeof end, "%p", (void *)(p.base + 256 * KIB));
    rmai_segment_describe(&p.segment, a + 900, text, sizeof text);
    ck_text_has(text, "900 bytes into a live block of 1000 bytes");
    ck_text_has(text, base);
    ck_text_has(text, end);
    ck_text_has(text, "test heap");
    rmai_segment_describe(&p.segment, a, text, sizeof text);
    ck_text_has(text, "0 bytes into a live block of 1000 bytes");
    rmai_segment_describe(&p.segment, p.base + 1024 + 5, text, sizeof text);
    ck_text_has(text, "5 bytes into a free block of 261120 bytes");
    rmai_segment_describe(&p.segment, p.base + 256 * KIB, text, sizeof text);
    ck_text_has(text, "past the end of the test heap (262144 bytes");
    memset(tiny, 'x', sizeof tiny);
    rmai_segment_describe(&p.segment, a, tiny, 4);
    ck_assert_uint_eq(strlen(tiny), 3);
    ck_assert_int_eq(tiny[4], 'x');
    destroy(&p);
}
END_TEST

int main(void) {
    Suite *s = suite_create("segment");
    TCase *layout = tcase_create("layout"), *commit = tcase_create("commit"), *growth = tcase_create("growth");
    TCase *addresses = tcase_create("addresses");
    SRunner *runner;
    int failed;
    tcase_set_timeout(layout, 60);
    tcase_add_test(layout, the_parts_of_a_space_lie_apart_and_in_order);
    tcase_add_test(layout, a_larger_maximum_never_gives_a_smaller_space);
    suite_add_tcase(s, layout);
    tcase_set_timeout(commit, 60);
    tcase_add_test(commit, committed_memory_is_there_and_zero_and_stays);
    tcase_add_test(commit, pages_are_there_where_the_kernel_takes_no_advice);
    tcase_add_test(commit, each_room_that_is_free_by_itself_is_found);
    tcase_add_test(commit, more_than_the_memory_is_refused_with_numbers);
    tcase_add_test(commit, what_other_processes_have_begun_is_not_taken);
    tcase_add_test(commit, a_failed_commit_keeps_nothing_and_harms_nothing);
    suite_add_tcase(s, commit);
    tcase_set_timeout(growth, 120);
    tcase_add_test(growth, memory_without_a_limit_leaves_a_part_to_others);
    tcase_add_test(growth, a_segment_grows_and_gives_blocks_inside_itself);
    tcase_add_test(growth, commit_takes_an_eighth_within_bounds_so_that_growth_is_rare);
    tcase_add_test(growth, a_step_ends_where_every_pe_knows_it_does);
    tcase_add_test(growth, a_heap_in_steps_grows_to_their_ends);
    tcase_add_test(growth, what_was_committed_and_not_used_is_given_first);
    tcase_add_test(growth, a_commit_that_fails_falls_back_to_what_is_wanted);
    tcase_add_test(growth, what_is_committed_already_needs_no_memory);
    tcase_add_test(growth, the_gap_before_an_aligned_block_is_committed_when_it_is_used);
    tcase_add_test(growth, a_block_in_a_gap_that_cannot_be_committed_is_refused);
    tcase_add_test(growth, beyond_the_maximum_the_text_names_the_setting);
    tcase_add_test(growth, a_heap_can_be_filled_to_its_maximum);
    tcase_add_test(growth, a_denied_table_page_is_no_full_heap);
    tcase_add_test(growth, create_fails_where_the_table_cannot_begin);
    suite_add_tcase(s, growth);
    tcase_set_timeout(addresses, 60);
    tcase_add_test(addresses, holds_and_live_answer_for_any_address);
    tcase_add_test(addresses, a_bad_base_is_told_apart_as_interior_freed_or_foreign);
    tcase_add_test(addresses, describe_names_the_block_around_an_address);
    suite_add_tcase(s, addresses);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
