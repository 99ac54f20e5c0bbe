/* SPDX-License-Identifier: BSD-3-Clause */
/* A global pointer is the same word on every PE, names the same byte for each of them, and is refused if it names none.
 *
 * Broken by a conversion that depends on where a PE has mapped the heaps, by a peer that does not see how far a local
 * heap has grown, by a bound that is off by one byte at either end, by an atomic that does not exclude the one by
 * address, and by a wrong pointer that is accessed instead of refused. */
#include "job.h"

#include <mpi.h>

#define PE_SHIFT    40 /* rma.h: the owner in the upper 24 bits, the offset in the lower 40 */
#define OFFSET_MASK (((rma_gptr_t)1 << PE_SHIFT) - 1)
#define ROOM        5000

static rma_gptr_t with_pe(rma_gptr_t g, int pe) { return (g & OFFSET_MASK) | (rma_gptr_t)pe << PE_SHIFT; }

static void conversions(char *block, char *alone) {
    rma_gptr_t mine[2] = {rma_gptr(block + 17, job.me), rma_gptr(alone + 17, job.me)}, all[JOB_PES_MAX][2];
    MPI_Allgather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int pe = 0; pe < job.n; pe++) {
        rma_gptr_t g = rma_gptr(block + 17, pe);
        CHECK(g == all[pe][0], "%#llx here, %#llx on PE %d", (unsigned long long)g, (unsigned long long)all[pe][0], pe);
        CHECK(g == with_pe(mine[0], pe), "%#llx of PE %d, %#llx of this one", (unsigned long long)g, pe,
              (unsigned long long)mine[0]);
        CHECK(rma_gptr_pe(g) == pe && rma_gptr_pe(all[pe][1]) == pe, "PE %d", rma_gptr_pe(g));
        CHECK(g + 5 == rma_gptr(block + 22, pe), "g + k names k bytes further");
        QUIETLY(rma_gptr_ptr(g), rma_ptr(block + 17, pe));
        if (rma_on_node(pe))
            CHECK(rma_gptr_ptr(all[pe][1]) != NULL, "PE %d's local heap", pe);
        else
            QUIETLY(rma_gptr_ptr(all[pe][1]), NULL);
    }
    CHECK(rma_gptr_ptr(mine[0]) == block + 17 && rma_gptr_ptr(mine[1]) == alone + 17, "not the own addresses");
    for (int pe = 0; pe < job.n; pe++) QUIETLY(rma_gptr(NULL, pe), RMA_GPTR_NULL);
    QUIETLY(rma_gptr_ptr(RMA_GPTR_NULL), NULL);
    OK(rma_barrier_all());
}

/* Each PE owns the part of every PE's two blocks that has its number; both kinds against a model of one's own. */
static void transfers(char *block, const rma_gptr_t *alone) {
    static char model[2][JOB_PES_MAX][ROOM];
    char buffer[ROOM];
    uint64_t random = job_stream((uint64_t)job.me);
    for (int pe = 0; pe < job.n; pe++)
        for (int kind = 0; kind < 2; kind++) {
            rma_gptr_t g = kind ? alone[pe] : rma_gptr(block, pe);
            OK(rma_gptr_put(g + (size_t)job.me * ROOM, memset(model[kind][pe], 0, ROOM), ROOM));
        }
    for (long turn = job_far_rounds(6000, 2000, 800); turn > 0; turn--) {
        int pe = (int)job_below(&random, (size_t)job.n), kind = (int)job_below(&random, 2);
        size_t len = job_length(&random, ROOM), at = job_below(&random, ROOM - len + 1);
        rma_gptr_t g = (kind ? alone[pe] : rma_gptr(block, pe)) + (size_t)job.me * ROOM + at;
        char *there = model[kind][pe] + at;
        if (turn & 1) {
            job_fill(buffer, 0, len, (uint64_t)turn);
            job_order(pe);
            OK(rma_gptr_put(g, buffer, len));
            memcpy(there, buffer, len);
        } else {
            job_settle(pe);
            OK(rma_gptr_get(buffer, g, len));
            CHECK(memcmp(buffer, there, len) == 0, "%zu bytes at %zu of PE %d's %s heap", len, at, pe,
                  kind ? "local" : "symmetric");
        }
        if (len >= 16) { /* lengths that the compiler knows */
            job_order(pe);
            OK(rma_gptr_put(g, &turn, sizeof turn));
            job_settle(pe);
            OK(rma_gptr_get(buffer, g, sizeof turn));
            memcpy(there, &turn, sizeof turn);
            CHECK(memcmp(buffer, &turn, sizeof turn) == 0, "8 bytes");
        }
    }
    OK(rma_barrier_all());
}

/* A stack of all PEs: the head is a word of the symmetric heap of PE 0, the elements lie in the local heaps, pushed
 * by compare-and-swap of global pointers. All are found, each once. */
struct element {
    rma_gptr_t next;
    uint64_t maker, number;
};

static void one_stack(void) {
    rma_gptr_t *head = rma_calloc(1, sizeof *head), at;
    uint64_t n = (uint64_t)job_far_rounds(2000, 1000, 150), found[JOB_PES_MAX] = {0}, sum[JOB_PES_MAX] = {0};
    struct element *mine, e;
    rma_gptr_t first, shared;
    CHECK(head != NULL, "%s", rma_last_error());
    OK(rma_alloc_mem(n * sizeof *mine, &mine));
    first = rma_gptr(mine, job.me);
    shared = rma_gptr(head, 0);
    OK(rma_barrier_all());
    for (uint64_t i = 0; i < n; i++) {
        rma_gptr_t g = first + i * sizeof *mine, seen = rma_gptr_atomic_fetch(shared);
        mine[i] = (struct element){.maker = (uint64_t)job.me, .number = i};
        do mine[i].next = at = seen;
        while ((seen = rma_gptr_atomic_compare_swap(shared, at, g)) != at);
    }
    OK(rma_barrier_all());
    for (at = rma_gptr_atomic_fetch(shared); at != RMA_GPTR_NULL; at = e.next) {
        OK(rma_gptr_get(&e, at, sizeof e));
        CHECK((int)e.maker == rma_gptr_pe(at) && e.number < n, "element %llu of PE %llu", (unsigned long long)e.number,
              (unsigned long long)e.maker);
        CHECK(found[e.maker]++ < n, "PE %llu has too many", (unsigned long long)e.maker);
        sum[e.maker] += e.number;
    }
    for (int pe = 0; pe < job.n; pe++)
        CHECK(found[pe] == n && sum[pe] == n * (n - 1) / 2, "%llu elements of PE %d", (unsigned long long)found[pe],
              pe);
    OK(rma_barrier_all());
    OK(rma_free_mem(mine));
    OK(rma_free(head));
}

/* The 64-bit atomics, each on both kinds, alone with the word; that they are the same as on addresses is in atomics. */
static void atomics(rma_gptr_t g) {
    OK(rma_gptr_atomic_set(g, 5));
    job_settle(rma_gptr_pe(g));
    CHECK(rma_gptr_atomic_fetch(g) == 5, "set");
    CHECK(rma_gptr_atomic_swap(g, UINT64_MAX) == 5, "swap");
    CHECK(rma_gptr_atomic_compare_swap(g, 5, 6) == UINT64_MAX, "a compare_swap that fails");
    CHECK(rma_gptr_atomic_fetch(g) == UINT64_MAX, "it wrote");
    CHECK(rma_gptr_atomic_compare_swap(g, UINT64_MAX, 6) == UINT64_MAX, "a compare_swap that succeeds");
    CHECK(rma_gptr_atomic_fetch(g) == 6, "it did not write");
    CHECK(rma_gptr_atomic_fetch_add(g, UINT64_MAX) == 6 && rma_gptr_atomic_fetch(g) == 5, "fetch_add");
}

/* Each PE's local heap grows by itself, far beyond what was committed at first. All PEs reach all of it as soon as they
 * have been told, by an atomic, where it is; there is no call by them or with them. */
#define STEPS 6

static size_t step_size(int step) { return ((size_t)100 << 10) << (job.slow ? step / 2 : step); }

static void growth(void) {
    rma_gptr_t(*news)[STEPS] = rma_calloc((size_t)job.n, sizeof *news); /* of each PE */
    unsigned char *blocks[STEPS], byte = 0;
    CHECK(news != NULL, "%s", rma_last_error());
    for (int i = 0; i < STEPS; i++) {
        size_t size = step_size(i);
        OK(rma_alloc_mem(size, &blocks[i]));
        blocks[i][0] = blocks[i][size - 1] = (unsigned char)(10 * i + job.me);
        for (int pe = 0; pe < job.n; pe++) OK(rma_atomic_set(&news[job.me][i], rma_gptr(blocks[i], job.me), pe));
        for (int pe = 0; pe < job.n; pe++) {
            rma_gptr_t g;
            while ((g = rma_atomic_fetch(&news[pe][i], job.me)) == RMA_GPTR_NULL) job_pause();
            for (int end = 0; end < 2; end++) {
                OK(rma_gptr_get(&byte, g + (end ? size - 1 : 0), 1));
                CHECK(byte == (unsigned char)(10 * i + pe), "%s byte of PE %d's %zu is %d", end ? "last" : "first", pe,
                      size, byte);
            }
            byte = (unsigned char)(100 + job.me);
            OK(rma_gptr_put(g + size - 2 - (size_t)job.me, &byte, 1));
        }
    }
    OK(rma_barrier_all());
    for (int i = 0; i < STEPS; i++) {
        for (int pe = 0; pe < job.n; pe++)
            CHECK(blocks[i][step_size(i) - 2 - (size_t)pe] == 100 + pe, "PE %d wrote nothing into block %d", pe, i);
        OK(rma_free_mem(blocks[i]));
    }
    OK(rma_free(news));
}

/* Every use of g is refused with this code and these words. */
static void refused(rma_gptr_t g, int code, const char *words, size_t len) {
    char buffer[64] = {1, 2, 3}, before[64];
    const char *also = g ? job_text("%#llx", (unsigned long long)g) : "null";
    memcpy(before, buffer, sizeof before);
    EXPECT("rma_gptr_put", rma_gptr_put(g, buffer, len), code, words, also);
    EXPECT("rma_gptr_get", rma_gptr_get(buffer, g, len), code, words, also);
    CHECK(memcmp(buffer, before, sizeof before) == 0, "a refused get wrote");
    if (len != 8) return;
    EXPECT_ZERO("rma_gptr_atomic_fetch", rma_gptr_atomic_fetch(g), code, words, also);
    EXPECT("rma_gptr_atomic_set", rma_gptr_atomic_set(g, 1), code, words, also);
    EXPECT_ZERO("rma_gptr_atomic_swap", rma_gptr_atomic_swap(g, 1), code, words, also);
    EXPECT_ZERO("rma_gptr_atomic_compare_swap", rma_gptr_atomic_compare_swap(g, 0, 1), code, words, also);
    EXPECT_ZERO("rma_gptr_atomic_fetch_add", rma_gptr_atomic_fetch_add(g, 1), code, words, also);
    EXPECT_ZERO("rma_gptr_atomic_fetch_and", rma_gptr_atomic_fetch_and(g, 1), code, words, also);
    EXPECT_ZERO("rma_gptr_atomic_fetch_or", rma_gptr_atomic_fetch_or(g, 1), code, words, also);
    EXPECT_ZERO("rma_gptr_atomic_fetch_xor", rma_gptr_atomic_fetch_xor(g, 1), code, words, also);
}

static void mistakes(char *block, char *alone, char *first, const rma_gptr_t *peers) {
    rma_gptr_t here = rma_gptr(block, job.me), local = rma_gptr(alone, job.me), end, local_end, step;
    int stack = 0;

    refused(RMA_GPTR_NULL, RMA_ERR_ADDRESS, "null", 8);
    refused(with_pe(here, job.n), RMA_ERR_PE, job_text("PE %d, outside 0..%d", job.n, job.n - 1), 8);
    refused(with_pe(here, 0xffffff), RMA_ERR_PE, "PE 16777215, outside", 8);
    for (int pe = 0; pe < job.n; pe++) QUIETLY(rma_gptr_ptr(with_pe(here, pe)) != NULL, rma_on_node(pe));

    /* The ends of the heaps, found by halving: what rma_gptr_ptr can and cannot reach. */
    for (end = here, step = (rma_gptr_t)1 << 38; step; step /= 2)
        if (end + step < local && rma_gptr_ptr(end + step)) end += step;
    for (local_end = local, step = (rma_gptr_t)1 << 38; step; step /= 2)
        if ((local_end + step) >> PE_SHIFT == local >> PE_SHIFT && rma_gptr_ptr(local_end + step)) local_end += step;
    refused(end + 1, RMA_ERR_ADDRESS, "outside the heaps", 1);
    refused(end + 1, RMA_ERR_ADDRESS, "outside the heaps", 8);
    refused(end, RMA_ERR_ADDRESS, "with 2 bytes", 2);
    refused(here, RMA_ERR_ADDRESS, "outside the heaps", (size_t)(end - here) + 2);
    refused(here, RMA_ERR_ADDRESS, "outside the heaps", SIZE_MAX);
    refused(here, RMA_ERR_ADDRESS, "outside the heaps", SIZE_MAX - (size_t)(here & OFFSET_MASK) + 1);
    refused(local_end + 1, RMA_ERR_ADDRESS, "outside the heaps", 1);
    refused(local_end + 1, RMA_ERR_ADDRESS, "outside the heaps", 8);
    refused(local_end, RMA_ERR_ADDRESS, "with 2 bytes", 2);
    refused(local, RMA_ERR_ADDRESS, "outside the heaps", SIZE_MAX);
    refused(with_pe(OFFSET_MASK & ~(rma_gptr_t)7, job.me), RMA_ERR_ADDRESS, "in no region that", 8);
    refused(with_pe(((rma_gptr_t)3 << 38) - 8, job.me), RMA_ERR_ADDRESS, "outside the heaps", 8);
    refused(with_pe(64, job.me) | (job.me == 0 ? 8 : 0), RMA_ERR_ADDRESS, "outside the heaps", 8);
    refused(rma_gptr(first, job.me) - 8, RMA_ERR_ADDRESS, "outside the heaps", 8); /* the allocator's own memory */
    QUIETLY(rma_gptr_ptr(end + 1), NULL);
    QUIETLY(rma_gptr_ptr(local_end + 1), NULL);
    QUIETLY(rma_gptr_ptr(with_pe(here, job.n)), NULL);
    QUIETLY(rma_gptr_ptr(with_pe(64, job.me)), NULL);
    QUIETLY(rma_gptr_ptr(with_pe(OFFSET_MASK, job.me)), NULL);

    /* Another PE's ends are its own. */
    for (int pe = 0; pe < job.n; pe++) {
        if (pe == job.me) continue;
        refused(with_pe(end + 1, pe), RMA_ERR_ADDRESS, job_text("heaps of PE %d", pe), 8);
        refused(with_pe(64, pe) | (pe == 0 ? 8 : 0), RMA_ERR_ADDRESS, job_text("heaps of PE %d", pe), 8);
        refused(with_pe(((rma_gptr_t)3 << 38) - 8, pe), RMA_ERR_ADDRESS, job_text("heaps of PE %d", pe), 8);
        refused(with_pe(OFFSET_MASK & ~(rma_gptr_t)7, pe), RMA_ERR_ADDRESS, job_text("PE %d has attached", pe), 8);
        refused(peers[pe], RMA_ERR_ADDRESS, job_text("heaps of PE %d", pe), SIZE_MAX);
        refused(peers[pe], RMA_ERR_ADDRESS, job_text("heaps of PE %d", pe),
                SIZE_MAX - (size_t)(peers[pe] & OFFSET_MASK) + 1);
        EXPECT_ZERO("rma_gptr_atomic_fetch", rma_gptr_atomic_fetch(peers[pe] + 4), RMA_ERR_ADDRESS, "not aligned to 8");
        EXPECT("rma_gptr_atomic_set", rma_gptr_atomic_set(with_pe(here, pe) + 1, 1), RMA_ERR_ADDRESS,
               "not aligned to 8");
    }

    for (unsigned k = 1; k < 8; k++) {
        const char *words = "not aligned to 8";
        EXPECT_ZERO("rma_gptr_atomic_fetch", rma_gptr_atomic_fetch(here + k), RMA_ERR_ADDRESS, words);
        EXPECT("rma_gptr_atomic_set", rma_gptr_atomic_set(local + k, 1), RMA_ERR_ADDRESS, words);
        EXPECT_ZERO("rma_gptr_atomic_swap", rma_gptr_atomic_swap(here + k, 1), RMA_ERR_ADDRESS, words);
        EXPECT_ZERO("rma_gptr_atomic_compare_swap", rma_gptr_atomic_compare_swap(here + k, 0, 1), RMA_ERR_ADDRESS,
                    words);
        EXPECT_ZERO("rma_gptr_atomic_fetch_add", rma_gptr_atomic_fetch_add(local + k, 1), RMA_ERR_ADDRESS, words);
    }

    /* Making them. */
    EXPECT_ZERO("rma_gptr", rma_gptr(&stack, job.me) != 0, RMA_ERR_ADDRESS, job_text("%p", (void *)&stack),
                "in no heap, global variable");
    EXPECT_ZERO("rma_gptr", rma_gptr(block, job.n) != 0, RMA_ERR_PE, job_text("%d is outside 0..%d", job.n, job.n - 1));
    EXPECT_ZERO("rma_gptr", rma_gptr(block, -1) != 0, RMA_ERR_PE, "-1 is outside");
    for (int pe = 0; pe < job.n; pe++)
        if (pe != job.me)
            EXPECT_ZERO("rma_gptr", rma_gptr(alone, pe) != 0, RMA_ERR_ADDRESS, job_text("%p", (void *)alone),
                        job_text("attached memory of PE %d, not of PE %d", job.me, pe));
    if (job.n_near > 1) {
        void *theirs = rma_gptr_ptr(peers[job_next(1)]);
        EXPECT_ZERO("rma_gptr", rma_gptr(theirs, job.me) != 0, RMA_ERR_ADDRESS, "in no heap, global variable");
        EXPECT_ZERO("rma_gptr", rma_gptr(rma_ptr(block, job_next(1)), job.me) != 0, RMA_ERR_ADDRESS,
                    "in no heap, global variable");
    }
    OK(rma_gptr_put(here, &stack, 0));
    OK(rma_gptr_put(end, block, 1));
}

int main(void) {
    char *block, *alone, *first;
    rma_gptr_t peers[JOB_PES_MAX], mine;
    job_start();
    /* The local heaps differ, so that offsets in them do. */
    OK(rma_alloc_mem(64 + 4096 * (size_t)job.me, &first));
    block = rma_malloc(ROOM * (size_t)job.n);
    CHECK(block != NULL, "%s", rma_last_error());
    OK(rma_alloc_mem(ROOM * (size_t)job.n, &alone));
    mine = rma_gptr(alone, job.me);
    MPI_Allgather(&mine, 1, MPI_UINT64_T, peers, 1, MPI_UINT64_T, MPI_COMM_WORLD);

    DOING("converting");
    conversions(block, alone);
    DOING("putting and getting");
    transfers(block, peers);
    DOING("atomics");
    for (int pe = 0; pe < job.n; pe++) {
        atomics(rma_gptr(block, pe) + (size_t)job.me * 64);
        atomics(peers[pe] + (size_t)job.me * 64);
    }
    OK(rma_barrier_all());
    DOING("one stack");
    one_stack();
    DOING("mistakes");
    mistakes(block, alone, first, peers);
    OK(rma_barrier_all());
    DOING("growing");
    growth();
    OK(rma_free_mem(alone));
    OK(rma_free_mem(first));
    OK(rma_free(block));
    return job_end();
}
