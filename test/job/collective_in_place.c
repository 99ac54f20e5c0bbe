/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of an exchange in place between nodes does not grow with its size: PEs without memory for a copy exchange
 * blocks of any size and with gaps. A team gets the memory that it needs at its first use, on all its PEs or on none.
 *
 * Broken by a copy of source, for which one PE may lack memory while the others wait; by a piece that is overwritten
 * before it has left, that is misplaced, or that is missing at the end; by source being dest only on some PEs; by
 * another order of a node's or team's PEs. This program is linked with the library's objects, whose malloc refuses long
 * blocks on request. */
#include "job.h"

#include <stdatomic.h>

#define SOME ((size_t)4096)   /* what an exchange may get */
#define MOST ((size_t)700000) /* bytes of one PE's block, with its gaps */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
static _Atomic int poor;

void *__wrap_malloc(size_t size) { return atomic_load(&poor) && size > SOME ? NULL : __real_malloc(size); }

/* Blocks of n elements of elem bytes, stride elements from one to the next; stride 0: rma_alltoall of elem bytes. */
static const struct shape {
    size_t elem, n;
    ptrdiff_t stride;
} shapes[] = {{1, 1, 0},  {8, 1, 0},    {1000, 1, 0},  {65536, 1, 0},  {65539, 1, 0}, {300007, 1, 0},
              {12, 1, 4}, {5, 5000, 3}, {8, 30000, 2}, {100001, 3, 2}, {32768, 9, 1}, {4097, 33, 4}};

static unsigned char *buffer, *other; /* other: source of those that are not in place */

static size_t at(const struct shape *s, int i, size_t k) {
    return ((size_t)i * s->n + k) * (size_t)(s->stride ? s->stride : 1) * s->elem;
}

/* What PE `from` has for PE `to`, and what is between. */
static uint64_t key_of(int from, int to, size_t turn) {
    return (uint64_t)turn << 32 | (uint64_t)from << 16 | (uint64_t)to;
}
static uint64_t gap_key(size_t turn) { return (uint64_t)turn << 32 | 0xffffffff; }

static void exchange(const struct job_group *g, const struct shape *s, size_t turn, bool in_place) {
    unsigned char *source = buffer;
    const size_t gap = s->stride ? (size_t)(s->stride - 1) * s->elem : 0, last = at(s, g->n - 1, s->n - 1);
    for (int i = 0; i < g->n; i++)
        for (size_t k = 0; k < s->n; k++) {
            job_fill(buffer + at(s, i, k), k * s->elem, s->elem, key_of(g->me, i, turn));
            if (at(s, i, k) < last) job_fill(buffer + at(s, i, k) + s->elem, at(s, i, k), gap, gap_key(turn));
        }
    if (!in_place) {
        memcpy(other, buffer, last + s->elem);
        for (int i = 0; i < g->n; i++)
            for (size_t k = 0; k < s->n; k++) memset(buffer + at(s, i, k), 0xee, s->elem);
        source = other;
    }
    if (s->stride)
        OK(rma_alltoalls(g->team, buffer, source, s->stride, s->stride, s->elem, s->n));
    else
        OK(rma_alltoall(g->team, buffer, source, s->elem));
    for (int i = 0; i < g->n; i++)
        for (size_t k = 0; k < s->n; k++) {
            CHECK(job_differs(buffer + at(s, i, k), k * s->elem, s->elem, key_of(i, g->me, turn)) == s->elem,
                  "%s, %zu of %zu bytes, %td apart: element %zu from %d", g->name, s->n, s->elem, s->stride, k, i);
            if (at(s, i, k) < last)
                CHECK(job_differs(buffer + at(s, i, k) + s->elem, at(s, i, k), gap, gap_key(turn)) == gap,
                      "a gap has changed");
        }
}

int main(void) {
    struct job_group groups[3];
    setenv("RMA_STATICS", "off", 1); /* the library's variables are the program's here */
    job_start();
    if (job.one_node) job_skip("needs PEs on several nodes (RMA_NODE_PES=1)");
    groups[0] = job_world();
    groups[1] = job_strided(&groups[0], "all backwards", job.n - 1, -1, job.n);
    groups[2] = job_strided(&groups[0], "the even ones", 0, 2, (job.n + 1) / 2);
    buffer = malloc((size_t)job.n * MOST);
    other = malloc((size_t)job.n * MOST);
    CHECK(buffer && other, "no memory");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        CHECK(at(&shapes[i], 1, 0) <= MOST && shapes[i].elem <= MOST, "raise MOST");

    DOING("a team's first exchange where one PE has no memory");
    atomic_store(&poor, job.me == 0);
    EXPECT("rma_alltoall", rma_alltoall(groups[1].team, buffer, buffer, 8), RMA_ERR_NO_MEM, "memory");
    atomic_store(&poor, 0);
    for (int i = 0; i < 3; i++)
        if (groups[i].me >= 0) exchange(&groups[i], &shapes[0], 0, true);

    DOING("exchanging without memory");
    atomic_store(&poor, 1);
    for (size_t turn = 0; turn < sizeof shapes / sizeof shapes[0]; turn++)
        for (int i = 0; i < 3; i++)
            if (groups[i].me >= 0) exchange(&groups[i], &shapes[turn], 1 + turn, true);
    DOING("exchanging where some PEs are in place");
    for (size_t turn = 0; turn < sizeof shapes / sizeof shapes[0]; turn++)
        exchange(&groups[1], &shapes[turn], 20 + turn, ((size_t)job.me + turn) % 2);
    DOING("exchanging where no PE is in place");
    for (size_t turn = 0; turn < sizeof shapes / sizeof shapes[0]; turn++)
        exchange(&groups[1], &shapes[turn], 40 + turn, false);
    atomic_store(&poor, 0);
    free(buffer);
    free(other);
    return job_end();
}
