/* SPDX-License-Identifier: BSD-3-Clause */
/* With RMA_HEAP_CHECK=full a write past the end of a block, or before it, is reported when any PE frees the block; and
 * a correct program gets no report.
 *
 * Broken by a call that frees without a check, by a red zone that is misplaced after a change of size, by a check of a
 * block that another PE frees concurrently, and by a block that is lost by the error.
 *
 * With RMA_TEST_LEAK=what (test/check-heap-check.sh) it leaks memory for the report at the end, or writes to freed
 * memory. */
#include "job.h"

#include <mpi.h>

#define ZONE    64
#define LARGEST 4096 /* bytes of a block that is overrun */
#define RED     0xf3
#define NEW     0xa5
#define OLD     0xdf

static const unsigned char wrong = 0x11;

static int all_are(const void *at, int byte, size_t n) {
    const unsigned char *p = at;
    for (size_t i = 0; i < n; i++)
        if (p[i] != byte) return 0;
    return 1;
}

static rma_gptr_t of_next(rma_gptr_t g) {
    rma_gptr_t all[JOB_PES_MAX];
    MPI_Allgather(&g, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    return all[job_any(1)];
}

/* Of any PE, of this node by load and store. */
static int all_there_are(rma_gptr_t g, int byte, size_t n) {
    char bytes[LARGEST], *at = rma_gptr_ptr(g);
    if (!at) OK(rma_gptr_get(bytes, g, n));
    return all_are(at ? at : bytes, byte, n);
}

static void write_there(rma_gptr_t g, int byte, size_t n) {
    char bytes[LARGEST], *at = rma_gptr_ptr(g);
    memset(at ? at : bytes, byte, n);
    if (!at) OK(rma_gptr_put(g, bytes, n));
    OK(rma_quiet());
}

static char *local(size_t size) {
    char *at;
    OK(rma_alloc_mem(size, &at));
    CHECK(all_are(at, NEW, size) && all_are(at + size, RED, ZONE), "a new block of %zu bytes", size);
    return at;
}

/* ---- overruns of the local heap ---- */

/* n bytes wrong from byte `from` behind the end. The block stays until it is repaired. Only on the node it has an
 * address by which to give it back, that others are told. */
static void overrun(rma_gptr_t g, int by_gptr, size_t size, size_t from, size_t n) {
    char *at = rma_gptr_ptr(g);
    const char *block = job_text("the block of %zu byte%s at %s", size, size == 1 ? "" : "s",
                                 at ? job_text("%p was overrun", (void *)at) : "");
    const char *byte = job_text("was overrun: byte %zu past its end is %#x", from, wrong);
    CHECK((at != NULL) == rma_on_node(rma_gptr_pe(g)), "%p for PE %d", (void *)at, rma_gptr_pe(g));
    if (!at) by_gptr = 1;
    write_there(g, 7, size);
    write_there(g + size + from, wrong, n);
    for (int again = 0; again < 2; again++) {
        if (by_gptr)
            EXPECT("rma_gptr_free", rma_gptr_free(g), RMA_ERR_ADDRESS, block, byte);
        else
            EXPECT("rma_free_mem", rma_free_mem(at), RMA_ERR_ADDRESS, block, byte);
    }
    CHECK(all_there_are(g, 7, size) && all_there_are(g + size + from, wrong, n), "an error changed the block");
    write_there(g + size, RED, ZONE);
    if (by_gptr)
        OK(rma_gptr_free(g));
    else
        OK(rma_free_mem(at));
}

static void overruns(void) {
    static const size_t sizes[] = {1, 63, 64, 65, 100, 128, 1000, LARGEST};
    static const struct { size_t from, n; } parts[] = {{0, 1}, {0, ZONE}, {ZONE - 1, 1}, {17, 5}};
    struct rma_heap_stats s;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            for (int by_gptr = 0; by_gptr < 2; by_gptr++) {
                size_t size = sizes[i];
                char *at = local(size);
                rma_gptr_t g = rma_gptr(at, job.me);
                overrun(g, by_gptr, size, parts[k].from, parts[k].n);
                CHECK(all_are(at, OLD, size), "an own block is not overwritten when it is given back");

                g = of_next(rma_gptr(local(size), job.me)); /* also a meeting */
                overrun(g, by_gptr, size, parts[k].from, parts[k].n);

                for (int other = 0; other < 2; other++) {
                    OK(rma_alloc_mem_on(other ? job_any(1) : job.me, size, &g));
                    CHECK(all_there_are(g, NEW, size) && all_there_are(g + size, RED, ZONE), "a new block of %zu bytes",
                          size);
                    overrun(g, by_gptr, size, parts[k].from, parts[k].n);
                }
                OK(rma_barrier_all());
            }
    OK(rma_heap_stats(RMA_HEAP_LOCAL, &s));
    CHECK(s.n_used == s.n_returned, "%zu blocks are used, %zu returned", s.n_used, s.n_returned);
}

static void underruns(void) {
    char *a, *b, *c;
    void *none;
    CHECK(rma_alloc_mem((size_t)1 << 40, &none) == RMA_ERR_NO_MEM, "1 TiB");
    a = local(128), b = local(256), c = local(64);
    CHECK(b == a + 128 + ZONE && c == b + 256 + ZONE, "no neighbours: %p, %p, %p", (void *)a, (void *)b, (void *)c);
    for (size_t before = 1; before <= ZONE; before += ZONE - 1) {
        b[-(ptrdiff_t)before] = (char)wrong;
        EXPECT("rma_free_mem", rma_free_mem(b), RMA_ERR_ADDRESS,
               job_text("byte %zu before the block at %p is %#x", before, (void *)b, wrong), "underrun",
               job_text("block of 128 bytes at %p was overrun", (void *)a));
        EXPECT("rma_gptr_free", rma_gptr_free(rma_gptr(b, job.me)), RMA_ERR_ADDRESS,
               job_text("byte %zu before", before));
        b[-(ptrdiff_t)before] = (char)RED;
    }
    OK(rma_free_mem(b));
    OK(rma_free_mem(c));
    OK(rma_free_mem(a));
}

/* What others have given back is overwritten when its owner takes it. */
static void poison(void) {
    char *at = local(777);
    void *none;
    rma_gptr_t theirs = of_next(rma_gptr(at, job.me)), guest;
    OK(rma_gptr_free(theirs));
    OK(rma_alloc_mem_on(job.me, 333, &guest));
    OK(rma_gptr_free(guest));
    OK(rma_barrier_all());
    CHECK(rma_alloc_mem((size_t)1 << 40, &none) == RMA_ERR_NO_MEM, "1 TiB");
    CHECK(all_are(at, OLD, 777), "a returned block is not overwritten");
    CHECK(rma_alloc_mem_on(job.me, (size_t)1 << 40, &guest) == RMA_ERR_NO_MEM, "1 TiB");
    OK(rma_alloc_mem_on(job.me, 333, &guest));
    CHECK(all_are(rma_gptr_ptr(guest), NEW, 333), "a block that is used again");
    OK(rma_gptr_free(guest));
    OK(rma_barrier_all());
}

static void hints(void) {
    struct rma_hints hints = {.zero = 1, .alignment = 4096, .numa_node = -1};
    char *at;
    OK(rma_alloc_mem_hints(1000, &hints, &at));
    CHECK((uintptr_t)at % 4096 == 0 && all_are(at, 0, 1000) && all_are(at + 1000, RED, ZONE), "a zeroed block");
    overrun(rma_gptr(at, job.me), 0, 1000, 0, 1);
}

/* Sizes to which the red zone can not be added any more. */
static void far_too_much(void) {
    struct rma_heap_stats before, after;
    rma_gptr_t g = 5;
    void *base = &g;
    OK(rma_heap_stats(RMA_HEAP_LOCAL, &before));
    for (size_t less = 0; less < 130; less += less < 62 ? 31 : 1) {
        EXPECT("rma_alloc_mem", rma_alloc_mem(SIZE_MAX - less, &base), RMA_ERR_NO_MEM, "requested", "RMA_LOCAL_MAX");
        EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(job.me, SIZE_MAX - less, &g), RMA_ERR_NO_MEM, "requested",
               "RMA_LOCAL_MAX");
        EXPECT_ZERO("rma_malloc", rma_malloc(SIZE_MAX - less) != NULL, RMA_ERR_NO_MEM, "requested", "RMA_HEAP_MAX");
    }
    CHECK(g == 5 && base == &g, "a failure wrote");
    OK(rma_heap_stats(RMA_HEAP_LOCAL, &after));
    CHECK(after.size == before.size, "a failure made the heap grow from %zu to %zu bytes", before.size, after.size);
}

/* ---- the symmetric heap ---- */

/* All PEs fail, the one with the damage says where. */
static void symmetric_overrun(char *at, size_t size, int pe) {
    for (int resize = 0; resize < 2; resize++) {
        const char *words = pe == job.me ? job_text("the block of %zu byte%s at %p was overrun: byte 3 past", size,
                                                    size == 1 ? "" : "s", (void *)at)
                                         : job_text("PE %d", pe);
        if (pe == job.me) at[size + 3] = (char)wrong;
        if (resize)
            EXPECT_ZERO("rma_realloc", rma_realloc(at, size + 1) != NULL, RMA_ERR_ADDRESS, words);
        else
            EXPECT("rma_free", rma_free(at), RMA_ERR_ADDRESS, words);
        if (pe == job.me) at[size + 3] = (char)RED;
    }
}

static void symmetric(void) {
    static const size_t sizes[] = {64, 65, 1000, 10, 5000, 4936, 200, 1};
    struct rma_heap_stats s;
    char *at = rma_malloc(100), *wall = rma_malloc(10), *old;
    size_t size = 100, kept;
    CHECK(at && wall, "%s", rma_last_error());
    CHECK(all_are(at, NEW, 100) && all_are(at + 100, RED, ZONE), "a new block");
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
        size_t next = sizes[i % (sizeof sizes / sizeof *sizes)];
        symmetric_overrun(at, size, (int)i % job.n);
        job_fill(at, 0, size, i);
        old = at;
        at = rma_realloc(at, next);
        kept = size < next ? size : next;
        CHECK(at != NULL, "%s", rma_last_error());
        CHECK(job_differs(at, 0, kept, i) == kept, "from %zu to %zu bytes: the contents", size, next);
        CHECK(all_are(at + next, RED, ZONE), "from %zu to %zu bytes: the red zone", size, next);
        if (at != old) CHECK(all_are(old, OLD, size), "from %zu to %zu bytes: the old block", size, next);
        size = next;
        if (i == 7) {
            OK(rma_free(wall)); /* from here on in place, more often */
            wall = NULL;
        }
    }
    old = rma_calloc(100, 3);
    CHECK(old && all_are(old, 0, 300) && all_are(old + 300, RED, ZONE), "a zeroed block");
    symmetric_overrun(old, 300, job.n - 1);
    OK(rma_free(old));
    CHECK(all_are(old, OLD, 300), "a freed block");
    OK(rma_free(at));
    OK(rma_heap_stats(RMA_HEAP_SYMMETRIC, &s));
    CHECK(s.used == 0 && s.n_used == 0, "%zu bytes are used", s.used);
}

/* ---- giving back all at once ---- */

#define MANY 128

/* Neighbours in memory, given back by two PEs at a time: nobody has done anything wrong, and nothing is told. And each
 * by all PEs: one of them succeeds, the others hear that it is none. */
static void at_once(void) {
    rma_gptr_t *blocks = rma_malloc(MANY * sizeof *blocks), mine[MANY];
    long *freed = rma_malloc(sizeof *freed);
    rma_errhandler *handler = rma_set_errhandler(rma_errors_return);
    CHECK(blocks && freed, "%s", rma_last_error());
    for (long round = job_far_rounds(600, 200, 4 * job.n); round > 0; round--) {
        int owner = (int)(round / 2 % job.n), twice = round & 1;
        long n = 0;
        if (job.me == owner) {
            *freed = 0;
            for (size_t i = 0; i < MANY; i++) {
                char *at;
                OK(rma_alloc_mem(1 + i % 100, &at));
                blocks[i] = rma_gptr(at, job.me);
            }
        }
        OK(rma_barrier_all());
        OK(rma_get(mine, blocks, sizeof mine, owner));
        for (size_t i = 0; i < MANY; i++) {
            int code, from = (int)(i / (1 + (size_t)round % 3)) % job.n;
            if (!twice && from != job.me) continue;
            code = rma_gptr_free(mine[i]);
            n += code == RMA_SUCCESS;
            CHECK(code == RMA_SUCCESS || (twice && code == RMA_ERR_BASE), "block %zu of PE %d, given back %s: %s", i,
                  owner, twice ? "by all PEs" : "once", rma_last_error());
        }
        rma_atomic_add(freed, n, owner);
        OK(rma_barrier_all());
        CHECK(job.me != owner || *freed == MANY, "%d blocks were given back %ld times", MANY, *freed);
    }
    rma_set_errhandler(handler);
    OK(rma_free(freed));
    OK(rma_free(blocks));
}

/* ---- writing to what was given back ---- */

/* What is written to a freed block is no longer there when the block is given again, which it is. */
static void given_again(const char *at, size_t size) {
    CHECK(all_are(at, NEW, size) && all_are(at + size, RED, ZONE), "a block that was damaged while it was free");
}

/* Which heap's block, and whether it is allocated again: by the same sizes in the same order it is the same block. */
static void write_to_freed(const char *heap, int again) {
    int last = job.n - 1;
    rma_gptr_t g = RMA_GPTR_NULL, guest;
    char *at = NULL;
    if (strcmp(heap, "symmetric") == 0) {
        CHECK((at = rma_malloc(300)) != NULL, "%s", rma_last_error());
        OK(rma_free(at));
        if (job.me == last) at[7] = (char)wrong;
        OK(rma_barrier_all());
        if (again) CHECK(rma_malloc(300) == at, "another block");
        if (again) given_again(at, 300);
        if (again) OK(rma_free(at));
    } else if (strcmp(heap, "resized") == 0) {
        CHECK((at = rma_malloc(64)) != NULL, "%s", rma_last_error());
        CHECK(rma_realloc(at, 1000) == at && rma_realloc(at, 64) == at, "not in place");
        if (job.me == last) at[500] = (char)wrong;
        if (again) CHECK(rma_realloc(at, 1000) == at, "not in place");
        OK(rma_free(at));
    } else if (strcmp(heap, "grown") == 0) { /* what growth brought, and nobody has had yet */
        CHECK((at = rma_malloc(100000)) != NULL, "%s", rma_last_error());
        OK(rma_free(at));
        CHECK((at = rma_malloc(300000)) != NULL, "%s", rma_last_error());
        if (job.me == last) at[300000 + 4096] = (char)wrong;
        if (again) CHECK(rma_realloc(at, 310000) == at, "not in place");
        OK(rma_free(at));
    } else if (strcmp(heap, "local") == 0 && job.me == last) {
        at = local(300);
        OK(rma_free_mem(at));
        at[7] = (char)wrong;
        if (again) CHECK(local(300) == at, "another block");
        if (again) OK(rma_free_mem(at));
    }
    if (strcmp(heap, "returned") == 0) { /* by another PE, and its owner has not looked yet */
        at = local(300);
        g = of_next(rma_gptr(at, job.me));
        OK(rma_gptr_free(g));
        OK(rma_barrier_all());
        if (job.me == last) at[7] = (char)wrong;
        if (again) given_again(local(300), 300);
        if (again) OK(rma_free_mem(at));
    }
    if (strcmp(heap, "guest") == 0 && job.me == last) {
        OK(rma_alloc_mem_on(last, 300, &guest));
        OK(rma_gptr_free(guest));
        *((char *)rma_gptr_ptr(guest) + 7) = (char)wrong;
        if (again) OK(rma_alloc_mem_on(last, 300, &g));
        if (again) CHECK(g == guest, "another block");
        if (again) OK(rma_gptr_free(g));
    }
}

/* ---- past the end, in the last unit of the block: found without RMA_HEAP_CHECK ---- */

/* Growing and shrinking in place leave no red byte in the block, and none behind that is not red. */
static void overrun_slack(const char *how) {
    char *at = rma_malloc(100);
    CHECK(at != NULL, "%s", rma_last_error());
    if (strcmp(how, "realloc") == 0 || strcmp(how, "nowhere") == 0) {
        CHECK(rma_realloc(at, 110) == at && rma_realloc(at, 500) == at && rma_realloc(at, 100) == at, "not in place");
        memset(at, RED - 1, 100);
        OK(rma_barrier_all()); /* each PE has marked what is behind the block */
    }
    if (job.me == 0 && strcmp(how, "nowhere") != 0) OK(rma_put(at + 105, &wrong, 1, job.n - 1));
    OK(rma_barrier_all());
    if (strcmp(how, "realloc") == 0) at = rma_realloc(at, 120);
    if (strcmp(how, "end") != 0) OK(rma_free(at));
}

/* ---- writes to freed blocks and behind blocks of whole lines: found without RMA_HEAP_CHECK ---- */

/* PE 0 puts a wrong byte to the last PE. In what follows no PE does anything wrong, and it tells of the byte. */
static void write_to_canary(const char *how) {
    char *first = rma_malloc(10), *at = rma_malloc(300), *wall = rma_malloc(10), *more[40];
    const int past = strncmp(how, "past", 4) == 0;
    CHECK(at == first + 64 && wall == at + 320, "no neighbours: %s", rma_last_error());
    if (strcmp(how, "middle") == 0) OK(rma_free(first));
    if (past)
        at = rma_malloc(8000);
    else
        OK(rma_free(at));
    OK(rma_barrier_all()); /* each PE has written its pattern */
    if (job.me == 0) OK(rma_put(at + (past ? 8000 : 7), &wrong, 1, job.n - 1));
    OK(rma_barrier_all());
    if (strcmp(how, "free") == 0) OK(rma_free(first));
    if (strcmp(how, "malloc") == 0) CHECK(rma_malloc(300) == at, "another block");
    if (strcmp(how, "middle") == 0) CHECK(rma_malloc(380) == first, "another block");
    if (strcmp(how, "past-malloc") == 0) CHECK(rma_malloc(10) == at + 8000, "another block");
    if (strcmp(how, "past-realloc") == 0) CHECK(rma_realloc(at, 9000) == at, "not in place");
    if (strcmp(how, "replaced") == 0) {
        for (size_t i = 0; i < sizeof more / sizeof *more; i++) more[i] = rma_malloc(1000);
        for (size_t i = 0; i < sizeof more / sizeof *more; i++) OK(rma_free(more[i]));
    }
}

/* A correct program: all PEs fill their blocks and those of the next PE, to the last byte. */
static void use_heap(void) {
    uint64_t r = job_stream(0);
    char *block[32] = {NULL};
    size_t size[32] = {0};
    unsigned char *bytes = malloc(20000);
    CHECK(bytes != NULL, "no memory");
    memset(bytes, wrong, 20000);
    for (int round = 0; round < 2000; round++) {
        const size_t i = job_below(&r, 32), step = job_below(&r, 3) ? 1 : 64, want = step * job_below(&r, 300) + step;
        switch (job_below(&r, 4)) {
            case 0:
                OK(rma_free(block[i]));
                block[i] = NULL;
                size[i] = 0;
                break;
            case 1:
                OK(rma_free(block[i]));
                block[i] = job_below(&r, 2) ? rma_calloc(1, want) : rma_aligned_alloc(4096, want);
                size[i] = want;
                break;
            default: block[i] = rma_realloc(block[i], want), size[i] = want;
        }
        CHECK(!size[i] == !block[i], "%s", rma_last_error());
        if (block[i]) memset(block[i], wrong, size[i]);
        if (round % 8 == 0) OK(rma_barrier_all());
        if (block[i]) OK(rma_put(block[i], bytes, size[i], job_any(1)));
        OK(rma_quiet());
    }
    free(bytes);
    OK(rma_barrier_all());
    for (size_t i = 0; i < 32; i++) OK(rma_free(block[i]));
}

/* ---- what is left behind ---- */

static void leave(const char *what) {
    char *own = malloc(100), *at = NULL;
    rma_gptr_t g;
    int last = job.n - 1;
    CHECK(own != NULL, "no memory");
    /* What all programs do, and what is no leak: returned by another, and not yet taken. */
    OK(rma_free(rma_malloc(1000)));
    OK(rma_alloc_mem(500, &at));
    g = of_next(rma_gptr(at, job.me));
    OK(rma_gptr_free(g));
    OK(rma_alloc_mem_on(job_any(1), 600, &g));
    OK(rma_gptr_free(g));
    OK(rma_attach(own, 100, &g));
    OK(rma_detach(own));
    OK(rma_barrier_all());

    if (strcmp(what, "symmetric") == 0) CHECK(rma_malloc(1234) && rma_calloc(2, 1000), "%s", rma_last_error());
    if (strcmp(what, "local") == 0 && job.me == last)
        for (size_t i = 1; i <= 3; i++) OK(rma_alloc_mem(i * 111, &at));
    if (strcmp(what, "guest") == 0 && job.me == 0) OK(rma_alloc_mem_on(last, 777, &g));
    if (strcmp(what, "many") == 0 && job.me == 0)
        for (size_t i = 0; i < 25; i++) OK(rma_alloc_mem(100, &at));
    if (strcmp(what, "attached") == 0 && job.me == last) OK(rma_attach(own, 100, &g));
    if (strcmp(what, "overrun") == 0 && job.me == last) {
        OK(rma_alloc_mem(99, &at));
        at[99 + 5] = (char)wrong;
    }
    if (strncmp(what, "slack-", 6) == 0) overrun_slack(what + 6);
    if (strncmp(what, "canary-", 7) == 0) write_to_canary(what + 7);
    if (strcmp(what, "use") == 0) use_heap();
    if (strncmp(what, "freed-", 6) == 0) write_to_freed(what + 6, 0);
    if (strncmp(what, "again-", 6) == 0) write_to_freed(what + 6, 1);
}

int main(void) {
    const char *what = getenv("RMA_TEST_LEAK"), *rank = getenv("PMI_RANK");
    setenv("RMA_HEAP_MAX", "2M", 1);
    setenv("RMA_LOCAL_MAX", "2M", 1);
    if (what) {
        job_start();
        DOING("leaving something");
        leave(what);
        return job_end();
    }
    /* One PE that wants it is enough. */
    setenv("RMA_HEAP_CHECK", !rank || atoi(rank) == 0 ? "full" : "none", 1);
    job_start();
    DOING("underruns");
    underruns();
    DOING("overruns");
    overruns();
    DOING("poison");
    poison();
    DOING("hints");
    hints();
    DOING("the symmetric heap");
    symmetric();
    DOING("giving back all at once");
    at_once();
    DOING("far too much");
    far_too_much();
    return job_end();
}
