/* SPDX-License-Identifier: BSD-3-Clause */
/* Every mistake that rma.h names is noticed before anything is touched, and reported with the call and the value.
 *
 * Broken by a missing check, by a sum or product that wraps around and looks small, by a PE number that the on-node
 * arithmetic mistakes for another one, by a text without the value, by an error handler that is called twice or not at
 * all, and by a byte that changes anyway: at the end all memory is compared. */
#include "job.h"

#define ROOM ((size_t)10000)

static char *block;  /* symmetric, between two others */
static char *behind; /* the first byte that may not be touched */
static char statics[64];

/* All single-sided calls on one remote range, each refused with this code and words. */
static void range_refused(char *remote, size_t len, int pe, int code, const char *words, const char *also) {
    char here[16] = "unchanged";
    EXPECT("rma_put", rma_put(remote, here, len, pe), code, words, also);
    EXPECT("rma_get", rma_get(here, remote, len, pe), code, words, also);
    EXPECT("rma_put_nbi", rma_put_nbi(remote, here, len, pe), code, words, also);
    EXPECT("rma_get_nbi", rma_get_nbi(here, remote, len, pe), code, words, also);
    EXPECT("rma_iput", rma_iput(remote, here, 1, 1, 1, len, pe), code, words, also);
    EXPECT("rma_iget", rma_iget(here, remote, 1, 1, 1, len, pe), code, words, also);
    CHECK(strcmp(here, "unchanged") == 0, "a refused get wrote");
}

/* The same for one value of each type; with p aligned for all of them. */
#define VALUE_REFUSED(NAME, TYPE)                                                                                      \
    EXPECT("rma_p_" #NAME, rma_p_##NAME((TYPE *)p, (TYPE)1, pe), code, words, also);                                   \
    EXPECT_ZERO("rma_g_" #NAME, rma_g_##NAME((TYPE *)p, pe) != 0, code, words, also);
#define ATOMIC_REFUSED(NAME, TYPE)                                                                                     \
    EXPECT_ZERO("rma_atomic_fetch_" #NAME, rma_atomic_fetch_##NAME((TYPE *)p, pe) != 0, code, words, also);            \
    EXPECT("rma_atomic_set_" #NAME, rma_atomic_set_##NAME((TYPE *)p, 1, pe), code, words, also);                       \
    EXPECT_ZERO("rma_atomic_swap_" #NAME, rma_atomic_swap_##NAME((TYPE *)p, 1, pe) != 0, code, words, also);           \
    EXPECT_ZERO("rma_atomic_compare_swap_" #NAME, rma_atomic_compare_swap_##NAME((TYPE *)p, 0, 1, pe) != 0, code,      \
                words, also);                                                                                          \
    EXPECT_ZERO("rma_atomic_fetch_add_" #NAME, rma_atomic_fetch_add_##NAME((TYPE *)p, 1, pe) != 0, code, words, also); \
    EXPECT("rma_atomic_add_" #NAME, rma_atomic_add_##NAME((TYPE *)p, 1, pe), code, words, also);                       \
    EXPECT("rma_atomic_fetch_nbi_" #NAME, rma_atomic_fetch_nbi_##NAME(&(TYPE){0}, (TYPE *)p, pe), code, words, also);  \
    EXPECT("rma_atomic_swap_nbi_" #NAME, rma_atomic_swap_nbi_##NAME(&(TYPE){0}, (TYPE *)p, 1, pe), code, words, also); \
    EXPECT("rma_atomic_compare_swap_nbi_" #NAME, rma_atomic_compare_swap_nbi_##NAME(&(TYPE){0}, (TYPE *)p, 0, 1, pe),  \
           code, words, also);                                                                                         \
    EXPECT("rma_atomic_fetch_add_nbi_" #NAME, rma_atomic_fetch_add_nbi_##NAME(&(TYPE){0}, (TYPE *)p, 1, pe), code,     \
           words, also);

static void atomics_refused(void *p, int pe, int code, const char *words, const char *also) {
    RMA_ATOMIC_TYPES(ATOMIC_REFUSED)
    RMA_ATOMIC_TYPE_ALIASES(ATOMIC_REFUSED)
    EXPECT("rma_put_signal", rma_put_signal(p, &(uint64_t){0}, 8, p, 1, RMA_SIGNAL_SET, pe), code, words, also);
    EXPECT("rma_put_signal", rma_put_signal(p, &(uint64_t){0}, 0, p, 1, RMA_SIGNAL_ADD, pe), code, words, also);
}

static void values_refused(void *p, int pe, int code, const char *words, const char *also) {
    RMA_TYPES(VALUE_REFUSED)
    RMA_TYPE_ALIASES(VALUE_REFUSED)
    atomics_refused(p, pe, code, words, also);
}

static void wrong_pes(void) {
    /* Beside the range, and numbers that are near after a wrap-around of 32 bits or a cut to fewer. */
    const int wrong[] = {-1, job.n, job.n + 1, -job.n, INT_MAX, INT_MIN, 1 << 24, (1 << 24) + job.me, 1 << 30, -65536};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int pe = wrong[i];
        const char *words = job_text("PE %d is outside 0..%d", pe, job.n - 1);
        range_refused(block, 8, pe, RMA_ERR_PE, words, "");
        range_refused(block, 0, pe, RMA_ERR_PE, words, "");
        values_refused(block, pe, RMA_ERR_PE, words, "");
        EXPECT_ZERO("rma_ptr", rma_ptr(block, pe) != NULL, RMA_ERR_PE, words);
        EXPECT_ZERO("rma_gptr", rma_gptr(block, pe) != 0, RMA_ERR_PE, words);
        EXPECT_ZERO("rma_on_node", rma_on_node(pe), RMA_ERR_PE, words);
        EXPECT("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, block, block, 8, pe), RMA_ERR_PE,
               job_text("root %d is outside", pe));
    }
    for (int pe = 0; pe < job.n; pe++) {
        for (int i = 0; i < 4; i++) OK(rma_put(block, block, 0, pe));
        EXPECT("rma_put_signal", rma_put_signal(block, block, 0, (uint64_t *)(void *)block, 1, 7, pe), RMA_ERR_ARG,
               "op 7");
    }
}

static void wrong_addresses(void) {
    char stack[64], *heap = malloc(64), *alone, *page = (char *)((uintptr_t)block & ~(uintptr_t)4095);
    OK(rma_alloc_mem(64, &alone));
    CHECK(heap != NULL, "no memory");
    memset(stack, 1, sizeof stack);
    memset(alone, 1, 64);
    for (int pe = 0; pe < job.n; pe++) {
        char *const nowhere[] = {
            stack, heap, alone, page - ((size_t)1 << 42), behind, behind + 64, behind + ((size_t)1 << 36)};
        for (size_t k = 0; k < sizeof nowhere / sizeof nowhere[0]; k++) {
            char *p = (char *)(((uintptr_t)nowhere[k] + 15) & ~(uintptr_t)15);
            range_refused(p, 8, pe, RMA_ERR_ADDRESS, job_text("%p with 8 bytes", (void *)p), "symmetric heap");
            values_refused(p, pe, RMA_ERR_ADDRESS, job_text("%p", (void *)p), "symmetric heap");
        }
        range_refused(NULL, 8, pe, RMA_ERR_ADDRESS, "is a null pointer", "");
        values_refused(NULL, pe, RMA_ERR_ADDRESS, "is a null pointer", "");
        range_refused(alone, 8, pe, RMA_ERR_ADDRESS, "local heap", "global pointer");
        if (pe != job.me && rma_on_node(pe)) { /* how this PE reaches the peer's copy is not how it names it */
            char *there = rma_ptr(block, pe);
            range_refused(there, 8, pe, RMA_ERR_ADDRESS, job_text("%p with 8 bytes", (void *)there), "symmetric heap");
        }

        /* Over the end, by one byte and by so many that the sum wraps around. */
        range_refused(behind - 7, 8, pe, RMA_ERR_ADDRESS, job_text("%p with 8 bytes", (void *)(behind - 7)), "ends at");
        range_refused(behind - 1, 2, pe, RMA_ERR_ADDRESS, "with 2 bytes", job_text("ends at %p", (void *)behind));
        range_refused(behind, 1, pe, RMA_ERR_ADDRESS, "with 1 byte is", "past the end");
        range_refused(block, (size_t)(behind - block) + 1, pe, RMA_ERR_ADDRESS,
                      job_text("with %zu bytes", (size_t)(behind - block) + 1), "into a live block of 10000 bytes");
        range_refused(block, SIZE_MAX, pe, RMA_ERR_ADDRESS, job_text("%zu bytes", SIZE_MAX), "");
        range_refused(block, SIZE_MAX - 63, pe, RMA_ERR_ADDRESS, job_text("%zu bytes", SIZE_MAX - 63), "");
        range_refused(block, (size_t)0 - (uintptr_t)block + 8, pe, RMA_ERR_ADDRESS,
                      job_text("%zu bytes", (size_t)0 - (uintptr_t)block + 8), "");
        range_refused(block, (size_t)1 << 63, pe, RMA_ERR_ADDRESS, job_text("%zu bytes", (size_t)1 << 63), "");
        range_refused(block, (size_t)1 << 40, pe, RMA_ERR_ADDRESS, job_text("%zu bytes", (size_t)1 << 40), "");

        /* Nothing may be put anywhere. */
        OK(rma_put(stack, stack, 0, pe));
        OK(rma_get(stack, stack, 0, pe));
        OK(rma_iput(stack, stack, 1, 1, 1, 0, pe));
        OK(rma_put(behind, stack, 0, pe));
    }
    for (int i = 0; i < 64; i++) CHECK(stack[i] == 1 && alone[i] == 1, "byte %d was touched", i);
    OK(rma_free_mem(alone));
    free(heap);
}

/* The caller's own buffer. Between PEs of the node what is inlined does not look at it. */
static void null_buffers(void) {
    void *volatile none = NULL; /* that no compiler sees through */
    const char *source = "source is a null pointer", *dest = "dest is a null pointer";
    for (int pe = 0; pe < job.n; pe++) {
        uint64_t *signal = (uint64_t *)(void *)block;
        rma_gptr_t g = rma_gptr(block, pe);
        EXPECT("rma_iput", rma_iput(block, none, 1, 1, 8, 2, pe), RMA_ERR_ARG, source);
        EXPECT("rma_iget", rma_iget(none, block, 1, 1, 8, 2, pe), RMA_ERR_ARG, dest);
        EXPECT("rma_iput_signal", rma_iput_signal(block, none, 1, 1, 8, 2, signal, 1, RMA_SIGNAL_SET, pe), RMA_ERR_ARG,
               source);
        OK(rma_iput(block, none, 1, 1, 8, 0, pe));
        if (rma_on_node(pe))
            continue; /* there 0 bytes at a null pointer are handed to memcpy, which C11 leaves undefined */
        OK(rma_put(block, none, 0, pe));
        OK(rma_get(none, block, 0, pe));
        OK(rma_gptr_put(g, none, 0));
        EXPECT("rma_put", rma_put(block, none, 8, pe), RMA_ERR_ARG, source);
        EXPECT("rma_get", rma_get(none, block, 8, pe), RMA_ERR_ARG, dest);
        EXPECT("rma_put_nbi", rma_put_nbi(block, none, 8000, pe), RMA_ERR_ARG, source);
        EXPECT("rma_get_nbi", rma_get_nbi(none, block, 8000, pe), RMA_ERR_ARG, dest);
        EXPECT("rma_put_signal", rma_put_signal(block, none, 8, signal, 1, RMA_SIGNAL_SET, pe), RMA_ERR_ARG, source);
        EXPECT("rma_gptr_put", rma_gptr_put(g, none, 8), RMA_ERR_ARG, source);
        EXPECT("rma_gptr_get", rma_gptr_get(none, g, 8), RMA_ERR_ARG, dest);
    }
}

static void wrong_strides(void) {
    char here[64];
    int pe = job_any(1);
    const ptrdiff_t low[] = {0, -1, PTRDIFF_MIN};
    size_t room = (size_t)(behind - block);
    job_fill(here, 0, sizeof here, 1);
    for (size_t i = 0; i < 3; i++) {
        ptrdiff_t s = low[i];
        const char *dest = job_text("dest_stride %td is below 1", s),
                   *source = job_text("source_stride %td is below 1", s);
        EXPECT("rma_iput", rma_iput(block, here, s, 1, 4, 2, pe), RMA_ERR_ARG, dest);
        EXPECT("rma_iput", rma_iput(block, here, 1, s, 4, 2, pe), RMA_ERR_ARG, source);
        EXPECT("rma_iget", rma_iget(here, block, s, 1, 4, 2, pe), RMA_ERR_ARG, dest);
        EXPECT("rma_iget", rma_iget(here, block, 1, s, 4, 2, pe), RMA_ERR_ARG, source);
        EXPECT("rma_iput", rma_iput(block, here, s, 1, 4, 0, pe), RMA_ERR_ARG, dest);
    }
    EXPECT("rma_iput_signal",
           rma_iput_signal(block, here, 0, 1, 4, 2, (uint64_t *)(void *)block, 1, RMA_SIGNAL_SET, pe), RMA_ERR_ARG,
           "dest_stride 0 is below 1");
    EXPECT("rma_iput", rma_iput(block, here, 1, 1, 0, 2, pe), RMA_ERR_ARG, "elem is 0");
    EXPECT("rma_iget", rma_iget(here, block, 1, 1, 0, 2, pe), RMA_ERR_ARG, "elem is 0");

    /* The last element's last byte decides: one too far, and products that wrap around to something small. */
    const struct {
        ptrdiff_t stride;
        size_t elem, n;
    } far[] = {{(ptrdiff_t)room, 1, 2},    {(ptrdiff_t)((room - 4) / 4 + 1), 4, 2},
               {PTRDIFF_MAX, 1, 2},        {PTRDIFF_MAX, 8, 2},
               {PTRDIFF_MAX, 2, 3},        {(ptrdiff_t)1 << 62, 4, 2},
               {(ptrdiff_t)1 << 61, 8, 2}, {(ptrdiff_t)1 << 32, 16, ((size_t)1 << 28) + 1},
               {1, 1, SIZE_MAX},           {1, 2, ((size_t)1 << 63) + 1},
               {3, 8, SIZE_MAX / 24 + 2},  {1, SIZE_MAX, 1},
               {1, SIZE_MAX, 2},           {2, (size_t)1 << 63, 2}};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        EXPECT("rma_iput", rma_iput(block, here, far[i].stride, 1, far[i].elem, far[i].n, pe), RMA_ERR_ADDRESS, "");
        EXPECT("rma_iget", rma_iget(here, block, 1, far[i].stride, far[i].elem, far[i].n, pe), RMA_ERR_ADDRESS, "");
    }
    CHECK(job_differs(here, 0, sizeof here, 1) == sizeof here, "a refused iget wrote");
    /* One element has no stride. */
    OK(rma_iget(here, block, 1, PTRDIFF_MAX, 8, 1, pe));
    OK(rma_iget(here, block, PTRDIFF_MAX, 1, 8, 1, pe));
}

static void unaligned(void) {
#define UNALIGNED(NAME, TYPE)                                                                                          \
    for (size_t k = 1; k < sizeof(TYPE); k++) {                                                                        \
        TYPE *p = (TYPE *)(void *)(block + k);                                                                         \
        const char *words = job_text("%p is not aligned to its %zu bytes", (void *)p, sizeof(TYPE)), *also = "";       \
        ATOMIC_REFUSED(NAME, TYPE)                                                                                     \
    }
    for (int pe = 0; pe < job.n; pe++) {
        int code = RMA_ERR_ADDRESS;
        RMA_ATOMIC_TYPES(UNALIGNED)
        RMA_ATOMIC_TYPE_ALIASES(UNALIGNED)
    }
}

/* Collective, so every PE makes the same mistake. */
static void wrong_blocks(void) {
    char stack[64], *alone, *theirs, *freed = rma_malloc(500), *heap = malloc(64);
    size_t far = (size_t)1 << 36;
    rma_gptr_t *exchange = rma_calloc((size_t)job.n, sizeof *exchange);
    CHECK(freed && exchange && heap, "%s", rma_last_error());
    OK(rma_alloc_mem(500, &alone));
    OK(rma_free(freed));
    struct {
        char *p;
        const char *words;
    } wrong[] = {{stack, "is not a block of the symmetric heap"},
                 {heap, "is not a block of the symmetric heap"},
                 {statics, "is not a block of the symmetric heap"},
                 {block + 64, "64 bytes into the block of 10000"},
                 {block + 1, "1 byte into the block of 10000"},
                 {block - 1, "into the block of 100 at"},
                 {behind, "is not a block of the symmetric heap"},
                 {behind + far, ""},
                 {freed, "freed already"},
                 {alone, "rma_free_mem frees it"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *value = job_text("%p", (void *)wrong[i].p);
        EXPECT("rma_free", rma_free(wrong[i].p), RMA_ERR_BASE, wrong[i].words, value);
        EXPECT_ZERO("rma_realloc", rma_realloc(wrong[i].p, 100) != NULL, RMA_ERR_BASE, wrong[i].words, value);
        EXPECT_ZERO("rma_realloc", rma_realloc(wrong[i].p, 0) != NULL, RMA_ERR_BASE, wrong[i].words, value);
        if (wrong[i].p != alone) EXPECT("rma_free_mem", rma_free_mem(wrong[i].p), RMA_ERR_BASE, value);
    }
    EXPECT("rma_free_mem", rma_free_mem(block), RMA_ERR_BASE, "rma_free frees it", job_text("%p", (void *)block));
    EXPECT("rma_free_mem", rma_free_mem(alone + 64), RMA_ERR_BASE, "64 bytes into the block of 500");
    EXPECT("rma_free_mem", rma_free_mem(alone + 1), RMA_ERR_BASE, "1 byte into the block of 500");

    /* Another PE's. */
    for (int pe = 0; pe < job.n; pe++) OK(rma_p(&exchange[job.me], rma_gptr(alone, job.me), pe));
    OK(rma_barrier_all());
    theirs = rma_gptr_ptr(exchange[job_next(1)]);
    if (job.n_near > 1) {
        const char *whose = job_text("of PE %d", job_next(1)), *value = job_text("%p", (void *)(theirs + 64));
        EXPECT("rma_free_mem", rma_free_mem(theirs + 64), RMA_ERR_BASE, whose, value, "interior");
        EXPECT("rma_free_mem", rma_free_mem(rma_ptr(block, job_next(1))), RMA_ERR_BASE, "in no local heap");
    }
    if (job.n > 1)
        EXPECT("rma_gptr_free", rma_gptr_free(exchange[job_any(1)] + 64), RMA_ERR_BASE,
               job_text("of PE %d", job_any(1)), "interior");
    OK(rma_barrier_all());
    OK(rma_free_mem(alone));
    EXPECT("rma_free_mem", rma_free_mem(alone), RMA_ERR_BASE, "freed already", job_text("%p", (void *)alone));
    OK(rma_free(exchange));
    EXPECT("rma_free", rma_free(exchange), RMA_ERR_BASE, "freed already", job_text("%p", (void *)exchange));
    QUIETLY(rma_free(NULL), RMA_SUCCESS);
    QUIETLY(rma_free_mem(NULL), RMA_SUCCESS);
    free(heap);
}

static void wrong_sizes(void) {
    const size_t alignments[] = {0, 3, 48, 96, ((size_t)1 << 30) + 1, (size_t)1 << 31, SIZE_MAX, (size_t)1 << 63};
    void *p = block;
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
        const char *words = job_text("alignment %zu is not a power of two", alignments[i]);
        EXPECT_ZERO("rma_aligned_alloc", rma_aligned_alloc(alignments[i], 64) != NULL, RMA_ERR_ARG, words);
        EXPECT_ZERO("rma_aligned_alloc", rma_aligned_alloc(alignments[i], 0) != NULL, RMA_ERR_ARG, words);
    }
    EXPECT("rma_alloc_mem", rma_alloc_mem(64, NULL), RMA_ERR_ARG, "null");
    EXPECT("rma_alloc_mem", rma_alloc_mem(0, NULL), RMA_ERR_ARG, "null");
    QUIETLY(rma_malloc(0), NULL);
    QUIETLY(rma_calloc(0, 8), NULL);
    QUIETLY(rma_calloc(8, 0), NULL);
    QUIETLY(rma_aligned_alloc(64, 0), NULL);
    QUIETLY(rma_realloc(NULL, 0), NULL);
    QUIETLY(rma_alloc_mem(0, &p), RMA_SUCCESS);
    CHECK(p == NULL, "a block of 0 bytes is %p", p);
}

static void handlers(void) {
    CHECK(rma_set_errhandler(NULL) == job_handler, "a null handler replaced the present one");
    CHECK(rma_set_errhandler(rma_errors_return) == job_handler, "not the one that was in force");
    job_raised.count = 0;
    CHECK(rma_put(block, block, 8, job.n) == RMA_ERR_PE && rma_last_code() == RMA_ERR_PE, "rma_errors_return");
    CHECK(job_raised.count == 0, "the handler of before was called");
    CHECK(rma_set_errhandler(job_handler) == rma_errors_return, "not the one that was in force");
    CHECK(strstr(rma_last_error(), "rma_put: PE"), "'%s'", rma_last_error());
    OK(rma_put(block, block, 0, 0));
    CHECK(strstr(rma_last_error(), "rma_put: PE"), "a success took the text of the last error away");
}

int main(void) {
    job_start();
    char *before = rma_malloc(100), *after;
    block = rma_malloc(ROOM);
    after = rma_malloc(100);
    CHECK(before && block && after, "%s", rma_last_error());
    job_fill(before, 0, 100, 1);
    job_fill(block, 0, ROOM, 2 + (uint64_t)job.me);
    job_fill(after, 0, 100, 3);
    /* The heap's end, as rma_ptr tells it: by halving, from the last byte that it reaches. */
    behind = block + ROOM;
    for (size_t step = (size_t)1 << 36; step; step /= 2)
        if (rma_ptr(behind + step - 1, job.me)) behind += step;
    CHECK(rma_ptr(behind - 1, job.me) && !rma_ptr(behind, job.me), "where does the heap end?");
    OK(rma_barrier_all());

    DOING("wrong PEs");
    wrong_pes();
    DOING("wrong addresses");
    wrong_addresses();
    DOING("null buffers");
    null_buffers();
    DOING("wrong strides");
    wrong_strides();
    DOING("unaligned atomics");
    unaligned();
    DOING("wrong blocks");
    wrong_blocks();
    DOING("wrong sizes");
    wrong_sizes();
    DOING("handlers");
    handlers();

    OK(rma_barrier_all());
    CHECK(job_differs(before, 0, 100, 1) == 100 && job_differs(after, 0, 100, 3) == 100, "a neighbour has changed");
    CHECK(job_differs(block, 0, ROOM, 2 + (uint64_t)job.me) == ROOM, "byte %zu has changed",
          job_differs(block, 0, ROOM, 2 + (uint64_t)job.me));
    OK(rma_free(after));
    OK(rma_free(block));
    OK(rma_free(before));
    return job_end();
}
