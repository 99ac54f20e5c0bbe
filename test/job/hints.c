/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_alloc_mem_hints meets the guaranteed hints (alignment, zeroes, separate pages), says truly which others it has
 * met, and always returns a normal block.
 *
 * Broken by an alignment of the wrong base, by missing zeroes, on the assumption that new pages are zero, by a
 * neighbour on a bound or huge page, and by a hint that counts as granted without effect. */
#include "job.h"

#define KIB  ((size_t)1 << 10)
#define MIB  ((size_t)1 << 20)
#define SOME 8

static size_t page, huge; /* huge: 0 if the system has none */

static struct rma_hints asked(size_t alignment, int zero, int numa_node, int huge_pages) {
    struct rma_hints hints = RMA_HINTS_NONE;
    hints.alignment = alignment;
    hints.zero = zero;
    hints.numa_node = numa_node;
    hints.huge_pages = huge_pages;
    hints.granted = -1;
    return hints;
}

/* A block like any other: it can be written, has a global pointer, and is given back once. */
static void use(char *at, size_t size, uint64_t key) {
    rma_gptr_t g = rma_gptr(at, job.me);
    char end[16];
    size_t len = size < sizeof end ? size : sizeof end;
    job_fill(at, 0, size, key);
    CHECK(rma_gptr_ptr(g) == at && rma_gptr_ptr(g + size - 1) == at + size - 1, "%zu bytes at %p", size, (void *)at);
    OK(rma_gptr_get(end, g + size - len, len));
    CHECK(job_differs(end, size - len, len, key) == len, "the end of %zu bytes", size);
    CHECK(job_differs(at, 0, size, key) == size, "%zu bytes", size);
}

static void alignments(void) {
    char *at[SOME], *spacer[SOME], *first = NULL;
    for (size_t alignment = 64; alignment <= MIB; alignment *= 2) {
        int n = alignment > 64 * KIB ? 1 : SOME; /* of /dev/shm */
        for (int i = 0; i < n; i++) {
            struct rma_hints hints = asked(i & 1 ? 0 : alignment, 0, -1, 0);
            size_t size = 1 + (size_t)i * 100;
            OK(rma_alloc_mem(64, &spacer[i]));
            if (!first) first = spacer[i];
            OK(rma_alloc_mem_hints(size, &hints, &at[i]));
            CHECK(hints.granted == 0, "granted %d where nothing was asked for", hints.granted);
            CHECK((uintptr_t)at[i] % (i & 1              ? 64
                                      : alignment < page ? alignment
                                                         : page) ==
                      0,
                  "%p for %zu", (void *)at[i], alignment);
            /* Beyond a page it is the offset's: the heap begins at its first block. */
            CHECK(i & 1 || (size_t)(at[i] - first) % alignment == 0, "offset %td for %zu", at[i] - first, alignment);
            use(at[i], size, (uint64_t)alignment + (uint64_t)i);
        }
        for (int i = 0; i < n; i++) {
            CHECK(job_differs(at[i], 0, 1 + (size_t)i * 100, (uint64_t)alignment + (uint64_t)i) == 1 + (size_t)i * 100,
                  "a neighbour wrote into a block aligned to %zu", alignment);
            OK(rma_free_mem(at[i]));
            OK(rma_free_mem(spacer[i]));
        }
    }
}

/* Over memory that was used before, of small sizes and of large ones. */
static void zeroes(void) {
    static const size_t sizes[] = {1, 63, 64, 100, 1000, 1024, 1025, 5000, 64 << 10, 300 << 10};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int numa = -1; numa <= 0; numa++) {
            struct rma_hints hints = asked(0, 1, numa, 0);
            char *at[SOME];
            for (int k = 0; k < SOME; k++) {
                OK(rma_alloc_mem(sizes[i], &at[k]));
                memset(at[k], 0xff, sizes[i]);
            }
            for (int k = 0; k < SOME; k++) OK(rma_free_mem(at[k]));
            for (int k = 0; k < (numa < 0 ? SOME : 2); k++) {
                OK(rma_alloc_mem_hints(sizes[i], &hints, &at[k]));
                for (size_t b = 0; b < sizes[i]; b++)
                    CHECK(at[k][b] == 0, "byte %zu of %zu is %d (node %d)", b, sizes[i], at[k][b], numa);
                use(at[k], sizes[i], i);
            }
            for (int k = 0; k < (numa < 0 ? SOME : 2); k++) OK(rma_free_mem(at[k]));
            /* All of it dirty, for the next size. */
            OK(rma_alloc_mem(MIB, &at[0]));
            memset(at[0], 0xff, MIB);
            OK(rma_free_mem(at[0]));
        }
}

/* No other block on the pages of this one. */
static void alone(const char *at, size_t size, size_t unit) {
    char *other[SOME];
    uintptr_t from = (uintptr_t)at / unit * unit, to = ((uintptr_t)at + size + unit - 1) / unit * unit;
    for (int k = 0; k < SOME; k++) {
        OK(rma_alloc_mem(64, &other[k]));
        CHECK((uintptr_t)other[k] + 64 <= from || (uintptr_t)other[k] >= to, "%p is on a page of %zu bytes at %p",
              (void *)other[k], size, (const void *)at);
    }
    for (int k = 0; k < SOME; k++) OK(rma_free_mem(other[k]));
}

static void numa(void) {
    static const size_t sizes[] = {1, 4096, 4097, 100000};
    char *before;
    OK(rma_alloc_mem(64, &before)); /* so that blocks do not begin at pages by themselves */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct rma_hints hints = asked(0, 0, 0, 0);
        char *at;
        OK(rma_alloc_mem_hints(sizes[i], &hints, &at));
        CHECK(hints.granted == 0 || hints.granted == RMA_GRANTED_NUMA, "granted %d", hints.granted);
        CHECK((uintptr_t)at % page == 0, "%p is no page", (void *)at);
        use(at, sizes[i], i);
        alone(at, sizes[i], page);
        CHECK(job_differs(at, 0, sizes[i], i) == sizes[i], "a neighbour wrote into it");
        OK(rma_free_mem(at));
    }
    OK(rma_free_mem(before));
}

/* KiB of huge pages in [from, to), as the kernel counts them. */
static size_t huge_kib(uintptr_t from, uintptr_t to) {
    char line[512];
    size_t sum = 0;
    unsigned long long start = 0, end = 0, kib;
    FILE *f = fopen("/proc/self/smaps", "r");
    CHECK(f != NULL, "no /proc/self/smaps");
    while (fgets(line, sizeof line, f)) {
        unsigned long long a, b;
        char rest;
        if (sscanf(line, "%llx-%llx %c", &a, &b, &rest) == 3) start = a, end = b;
        if (start >= to || end <= from) continue;
        if (sscanf(line, "AnonHugePages: %llu kB", &kib) == 1 || sscanf(line, "ShmemPmdMapped: %llu kB", &kib) == 1 ||
            sscanf(line, "FilePmdMapped: %llu kB", &kib) == 1)
            sum += (size_t)kib;
    }
    fclose(f);
    return sum;
}

static void huge_pages(void) {
    static const size_t sizes[] = {2 << 20, 1, 3 << 20};
    char *before;
    size_t n = sizeof sizes / sizeof *sizes;
    OK(rma_alloc_mem(64, &before));
    /* Some 4 MiB of /dev/shm each. */
    if (job_room() < 12 * MIB) n = job.near == 0 && job_room() * (size_t)job.n > 20 * MIB;
    for (size_t i = 0; i < n; i++) {
        struct rma_hints hints = asked(0, (int)i & 1, -1, 1);
        size_t unit = huge ? huge : page, room = (sizes[i] + unit - 1) / unit * unit;
        uint64_t key = 77 + i;
        char *at;
        OK(rma_alloc_mem_hints(sizes[i], &hints, &at));
        CHECK(hints.granted == 0 || hints.granted == RMA_GRANTED_HUGE, "granted %d", hints.granted);
        CHECK(!hints.zero || at[0] == 0, "not zeroed");
        use(at, sizes[i], key);
        /* Neighbours would not be on its pages if they were huge. */
        CHECK((uintptr_t)at % page == 0, "%p is no page", (void *)at);
        alone(at, sizes[i], page);
        if (hints.granted & RMA_GRANTED_HUGE) {
            size_t kib = huge ? huge_kib((uintptr_t)at, (uintptr_t)at + room) : 0;
            CHECK(huge != 0, "granted huge pages, and the system has none");
            CHECK(kib * KIB >= room, "granted huge pages for %zu bytes at %p, but %zu KiB are", sizes[i], (void *)at,
                  kib);
            alone(at, sizes[i], huge);
        }
        CHECK(job_differs(at, 0, sizes[i], key) == sizes[i], "a neighbour wrote into it");
        OK(rma_free_mem(at));
    }
    OK(rma_free_mem(before));
}

static void mistakes(void) {
    static const size_t bad[] = {1 + 64, 3, 48, 65535, ((size_t)1 << 30) + 1, (size_t)1 << 31, SIZE_MAX};
    struct rma_hints hints;
    void *base = &hints;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hints = asked(bad[i], 0, -1, 0);
        EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(10, &hints, &base), RMA_ERR_ARG,
               job_text("alignment %zu", bad[i]));
        EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(0, &hints, &base), RMA_ERR_ARG,
               job_text("alignment %zu", bad[i]));
        CHECK(hints.granted == -1, "a mistake wrote granted %d", hints.granted);
    }
    for (int node = -1000; node <= 1000000; node += node < 0 ? 998 : 999998) {
        hints = asked(0, 0, node, 0);
        if (node == 0) continue;
        EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(10, &hints, &base), RMA_ERR_ARG,
               job_text("no NUMA node %d", node));
        CHECK(hints.granted == -1, "a mistake wrote granted %d", hints.granted);
    }
    hints = asked(0, 0, INT_MAX, 0);
    EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(10, &hints, &base), RMA_ERR_ARG, "no NUMA node 2147483647");
    hints = asked(0, 0, -1, 0);
    EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(10, NULL, &base), RMA_ERR_ARG, "hints is a null pointer");
    EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(10, &hints, NULL), RMA_ERR_ARG, "base is a null pointer");
    for (int kind = 0; kind < 8; kind++) {
        hints = asked(kind & 1 ? (size_t)1 << 30 : 0, 1, kind & 2 ? 0 : -1, kind & 4);
        EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(SIZE_MAX, &hints, &base), RMA_ERR_NO_MEM, "RMA_LOCAL_MAX");
        EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(SIZE_MAX - huge, &hints, &base), RMA_ERR_NO_MEM,
               "RMA_LOCAL_MAX");
        EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(17 * MIB, &hints, &base), RMA_ERR_NO_MEM, "RMA_LOCAL_MAX");
        CHECK(hints.granted == -1 && base == &hints, "a failure wrote %d, %p", hints.granted, base);
    }
    /* Size 0: a null pointer, whatever is asked for. */
    hints = asked(4096, 1, 0, 1);
    OK(rma_alloc_mem_hints(0, &hints, &base));
    CHECK(base == NULL && hints.granted == 0, "size 0 gave %p, granted %d", base, hints.granted);
}

int main(void) {
    struct rma_heap_stats s;
    struct rma_hints none = RMA_HINTS_NONE;
    void *base;
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "r");
    unsigned long long size = 0;
    if (f) {
        if (fscanf(f, "%llu", &size) != 1) size = 0;
        fclose(f);
    }
    huge = (size_t)size;
    page = (size_t)sysconf(_SC_PAGESIZE);
    setenv("RMA_LOCAL_MAX", "16M", 1);
    unsetenv("RMA_HEAP_CHECK");
    job_begin();
    EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(10, &none, &base), RMA_ERR_STATE, "before rma_init");
    OK(rma_init());
    job_look();
    DOING("mistakes");
    mistakes();
    DOING("alignments");
    alignments();
    DOING("zeroes");
    zeroes();
    DOING("a NUMA node");
    numa();
    DOING("huge pages");
    huge_pages();
    OK(rma_heap_stats(RMA_HEAP_LOCAL, &s));
    CHECK(s.used == 0 && s.n_used == 0 && s.n_free == 1, "%zu bytes are used, %zu blocks are free", s.used, s.n_free);
    return job_end();
}
