/* SPDX-License-Identifier: BSD-3-Clause */
/* Every PE reaches attached memory, to the byte and to its ends, as long as it is attached and no longer.
 *
 * Broken by an address that is computed from the wrong region, by peers that wait for an owner that sleeps or computes,
 * by atomics of the owner and of its thread that are not atomic towards each other, by a bound that admits one byte too
 * many, by a detach that returns during an access, by an old pointer that names new memory, and by memory that the
 * owner has protected or unmapped: this must be an error of the call, and kill no PE. On 3 PEs the system forbids
 * process_vm_readv(2) and process_vm_writev(2) between processes, on 5 altogether, as sandboxes do: the results are the
 * same. */
#include "job.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define GUARD    64 /* bytes beside each region that nobody may touch */
#define HEAD     64 /* bytes at the start of each region for WORDS words, wherever it is aligned */
#define WORDS    5
#define MANY     20000
#define HAMMERED 6000
#define N(array) (sizeof array / sizeof array[0])

enum kind { MALLOCED, MAPPED, STACK, STATIC, KINDS };
static const char *const kind_names[KINDS] = {"malloc'ed", "mapped", "stack", "static"};
static const size_t sizes[KINDS] = {10007, 2 * 65536 + 8197, 6011, 5003}; /* the second has three granules */

/* Symmetric. */
static struct board {
    rma_gptr_t start[KINDS]; /* of this PE's regions */
    rma_gptr_t word[KINDS];  /* the first aligned word in each */
    uint64_t finished;       /* peers that are done with this owner */
    uint64_t sum[KINDS][JOB_PES_MAX];
    uint64_t swapped[KINDS]; /* what has been put in by swaps, minus what they gave back */
    rma_gptr_t some[4];      /* of the phase */
    rma_gptr_t hammered;
} * board;

static int forbidden; /* 1: between processes, 2: altogether */

static int forbid(int how) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, how == 2 ? UINT32_MAX : (uint32_t)getpid(), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {N(code), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Waits for all PEs of the job, asleep where processors are few. */
static void meet(void) { OK(rma_barrier_all()); }

static rma_gptr_t told(const rma_gptr_t *word, int pe) {
    return (rma_gptr_t)rma_atomic_fetch((const uint64_t *)word, pe);
}

/* rma_attach that leaves the last error as it was. */
static rma_gptr_t attach(void *base, size_t size) {
    rma_gptr_t g = 12345;
    rma_on_node(INT_MIN);
    job_raised.count = 0;
    OK(rma_attach(base, size, &g));
    CHECK(job_raised.count == 0, "the error handler was called: %s", job_raised.text);
    CHECK(rma_last_code() == RMA_ERR_PE, "a call that succeeded left an error: %s", rma_last_error());
    CHECK(g != RMA_GPTR_NULL && rma_gptr_pe(g) == job.me, "%#llx", (unsigned long long)g);
    return g;
}

/* ---- four kinds of memory, worked on by all ---- */

struct region {
    unsigned char *base;
    size_t size;
    rma_gptr_t g;
};

static uint64_t key_of(int pe, int kind) { return (uint64_t)(pe * KINDS + kind); }
static size_t part_of(int kind) { return (sizes[kind] - HEAD) / (size_t)job.n; }
static size_t part_start(int kind) { return HEAD + part_of(kind) * (size_t)job.me; }

/* The region lies at an odd place in a block that has GUARD bytes before and after it. */
static struct region open_region(unsigned char *block, int kind) {
    struct region r = {block + GUARD, sizes[kind], RMA_GPTR_NULL};
    memset(block, 0xa5, GUARD + r.size + GUARD);
    job_fill(r.base, 0, r.size, key_of(job.me, kind));
    r.g = attach(r.base, r.size);
    board->start[kind] = r.g;
    board->word[kind] = r.g + (8 - (uintptr_t)r.base % 8) % 8;
    return r;
}

static void check_guards(const struct region *r, int kind) {
    for (int i = 1; i <= GUARD; i++)
        CHECK(r->base[-i] == 0xa5 && r->base[r->size + (size_t)i - 1] == 0xa5, "%d bytes beside %s memory", i,
              kind_names[kind]);
}

/* This PE's part of each peer's regions. Not static: what is static is in shared memory, on every PE. */
#define MODEL ((size_t)40000)
static unsigned char (*model)[KINDS][MODEL];

static size_t part_length(int kind) { return part_of(kind) < MODEL ? part_of(kind) : MODEL; }

static void random_transfers(int q, long turns) {
    static unsigned char buffer[MODEL];
    uint64_t random = job_stream((uint64_t)(job.me * JOB_PES_MAX + q) << 8 ^ (uint64_t)turns);
    rma_gptr_t start[KINDS];
    for (int kind = 0; kind < KINDS; kind++) start[kind] = told(&board->start[kind], q) + part_start(kind);
    for (; turns > 0; turns--) {
        int kind = (int)job_below(&random, KINDS);
        size_t most = part_length(kind), len = job_length(&random, most), at = job_below(&random, most - len + 1);
        rma_gptr_t g = start[kind] + at;
        if (turns & 1) {
            job_fill(buffer, 0, len, job_random(&random));
            job_order(q);
            OK(rma_gptr_put(g, buffer, len));
            memcpy(model[q][kind] + at, buffer, len);
        } else {
            memset(buffer, 0x5a, len);
            job_settle(q);
            OK(rma_gptr_get(buffer, g, len));
            CHECK(memcmp(buffer, model[q][kind] + at, len) == 0, "%zu bytes at %zu of PE %d's %s memory", len, at, q,
                  kind_names[kind]);
        }
    }
    OK(rma_quiet());
}

/* Each word is for other operations. What comes back is looked at here, what remains by the owner. */
static void count_atomics(int q, int kind, uint64_t turns) {
    rma_gptr_t w = told(&board->word[kind], q);
    uint64_t mine = 1ull << job.me, in = 0, out = 0, old;
    for (uint64_t i = 0; i < turns; i++) {
        rma_gptr_atomic_fetch_add(w, (uint64_t)job.me + 1);
        for (uint64_t seen = rma_gptr_atomic_fetch(w);
             (old = rma_gptr_atomic_compare_swap(w, seen, seen + (1ull << 32))) != seen;)
            seen = old;

        old = rma_gptr_atomic_fetch_or(w + 8, mine);
        CHECK(!(old & mine), "turn %d: the own bit came from nowhere: %#llx", (int)i, (unsigned long long)old);
        old = rma_gptr_atomic_fetch_and(w + 8, ~mine);
        CHECK(old & mine, "turn %d: the own bit is lost: %#llx", (int)i, (unsigned long long)old);

        old = rma_gptr_atomic_fetch_xor(w + 16, mine);
        CHECK(!(old & mine) == !(i & 1), "turn %d: the own bit is not as it was left: %#llx", (int)i,
              (unsigned long long)old);

        in += (uint64_t)job.me << 32 | (i + 1);
        out += rma_gptr_atomic_swap(w + 24, (uint64_t)job.me << 32 | (i + 1));

        OK(rma_gptr_atomic_set(w + 32, (uint64_t)(job.me + 1) << 32 | i));
        job_settle(q);
        old = rma_gptr_atomic_fetch(w + 32);
        CHECK(old >> 32 && old >> 32 <= (uint64_t)job.n && (uint32_t)old < turns, "nobody has set %#llx",
              (unsigned long long)old);
    }
    rma_gptr_atomic_fetch_or(w + 8, mine << 32);
    OK(rma_atomic_add(&board->swapped[kind], in - out, q));
}

/* Until the peers are done with this PE's memory it does not enter the library but to look at a word of its own. */
static void stay_away(int computes, uint64_t peers) {
    volatile uint64_t sum = 0;
    while (__atomic_load_n(&board->finished, __ATOMIC_ACQUIRE) != peers) {
        for (int i = 0; computes && i < 20000; i++) sum = sum + (uint64_t)i;
        job_sleep(computes ? 10 : 1000);
    }
}

enum { SLEEPS, COMPUTES, TAKES_PART, MODES };

static void one_owner(int q, int mode, const struct region *r) {
    int own = q == job.me;
    uint64_t turns = (uint64_t)job_far_rounds(60, 11, 7) | 1, who = 0, bits = 0;
    long transfers = job_far_rounds(400, 60, 60);
    if (own) {
        board->finished = 0;
        for (int kind = 0; kind < KINDS; kind++) {
            memset(r[kind].base + (board->word[kind] - r[kind].g), 0, WORDS * 8);
            board->swapped[kind] = 0;
        }
    }
    meet();
    if (!own || mode == TAKES_PART) {
        random_transfers(q, transfers);
        for (int kind = 0; kind < KINDS; kind++) count_atomics(q, kind, turns);
        OK(rma_atomic_add(&board->finished, (uint64_t)1, q));
    }
    if (own) stay_away(mode == COMPUTES, (uint64_t)job.n - (mode != TAKES_PART));
    meet();
    if (!own) return;
    for (int pe = 0; pe < job.n; pe++) {
        if (pe == q && mode != TAKES_PART) continue;
        who += ((uint64_t)pe + 1) + (1ull << 32);
        bits |= 1ull << pe;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t word[WORDS];
        memcpy(word, r[kind].base + (board->word[kind] - r[kind].g), sizeof word);
        CHECK(word[0] == who * turns, "%s: the sum is %#llx, not %#llx", kind_names[kind], (unsigned long long)word[0],
              (unsigned long long)(who * turns));
        CHECK(word[1] == bits << 32, "%s: the bits are %#llx, not %#llx", kind_names[kind], (unsigned long long)word[1],
              (unsigned long long)bits << 32);
        CHECK(word[2] == bits, "%s: the flipped bits are %#llx", kind_names[kind], (unsigned long long)word[2]);
        CHECK(word[3] == board->swapped[kind], "%s: of what was swapped in, %#llx is left, not %#llx", kind_names[kind],
              (unsigned long long)word[3], (unsigned long long)board->swapped[kind]);
        check_guards(&r[kind], kind);
    }
}

static uint64_t sum_of(const unsigned char *p, size_t len) {
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++) sum = sum * 31 + p[i];
    return sum;
}

/* Each peer's part as this PE sees it, and then this PE's parts by the sums that the origins tell. */
static void compare(const struct region *r) {
    static unsigned char buffer[MODEL];
    for (int q = 0; q < job.n; q++)
        for (int kind = 0; kind < KINDS; kind++) {
            size_t len = part_length(kind);
            OK(rma_gptr_get(buffer, told(&board->start[kind], q) + part_start(kind), len));
            CHECK(memcmp(buffer, model[q][kind], len) == 0, "PE %d's %s memory", q, kind_names[kind]);
            OK(rma_p(&board->sum[kind][job.me], sum_of(buffer, len), q));
        }
    meet();
    for (int q = 0; q < job.n; q++)
        for (int kind = 0; kind < KINDS; kind++) {
            const unsigned char *part = r[kind].base + HEAD + part_of(kind) * (size_t)q;
            CHECK(sum_of(part, part_length(kind)) == board->sum[kind][q], "what PE %d has written to %s memory", q,
                  kind_names[kind]);
        }
}

/* A word, a put and a get there are refused. */
static void refused(rma_gptr_t g, size_t len, int want, const char *words) {
    static unsigned char buffer[256];
    memset(buffer, 0x77, sizeof buffer);
    EXPECT("rma_gptr_put", rma_gptr_put(g, buffer, len), want, words);
    EXPECT("rma_gptr_get", rma_gptr_get(buffer, g, len), want, words);
    for (size_t i = 0; i < sizeof buffer; i++) CHECK(buffer[i] == 0x77, "a refused get wrote");
}

/* Each atomic that writes to g. */
static void refused_write(rma_gptr_t g, int want, const char *words) {
    EXPECT("rma_gptr_atomic_set", rma_gptr_atomic_set(g, 1), want, words);
    EXPECT_ZERO("rma_gptr_atomic_swap", rma_gptr_atomic_swap(g, 1), want, words);
    EXPECT_ZERO("rma_gptr_atomic_compare_swap", rma_gptr_atomic_compare_swap(g, 0, 1), want, words);
    EXPECT_ZERO("rma_gptr_atomic_fetch_add", rma_gptr_atomic_fetch_add(g, 1), want, words);
    EXPECT_ZERO("rma_gptr_atomic_fetch_and", rma_gptr_atomic_fetch_and(g, 1), want, words);
    EXPECT_ZERO("rma_gptr_atomic_fetch_or", rma_gptr_atomic_fetch_or(g, 1), want, words);
    EXPECT_ZERO("rma_gptr_atomic_fetch_xor", rma_gptr_atomic_fetch_xor(g, 1), want, words);
}

static void refused_word(rma_gptr_t g, int want, const char *words) {
    EXPECT_ZERO("rma_gptr_atomic_fetch", rma_gptr_atomic_fetch(g), want, words);
    refused_write(g, want, words);
}

/* At the ends of every region, by every PE, also the owner. */
static void ends(const struct region *r) {
    for (int q = 0; q < job.n; q++)
        for (int kind = 0; kind < KINDS; kind++) {
            rma_gptr_t g = told(&board->start[kind], q), end = g + sizes[kind], w = told(&board->word[kind], q);
            const char *words = job_text("PE %d has attached", q);
            refused(end, 1, RMA_ERR_ADDRESS, words);
            refused(end - 1, 2, RMA_ERR_ADDRESS, words);
            refused(end - 100, 101, RMA_ERR_ADDRESS, words);
            refused(end + 30000, 1, RMA_ERR_ADDRESS, words);
            refused(g, sizes[kind] + 1, RMA_ERR_ADDRESS, words);
            refused(g, SIZE_MAX, RMA_ERR_ADDRESS, words);
            refused(g, SIZE_MAX - sizes[kind] + 1, RMA_ERR_ADDRESS, words);
            if (kind > 0) { /* before the first one are the heaps */
                refused(g - 1, 1, RMA_ERR_ADDRESS, words);
                refused(g - 1, 2, RMA_ERR_ADDRESS, words);
            }
            refused_word(w + (sizes[kind] / 8 + 1) * 8, RMA_ERR_ADDRESS, words);
            for (unsigned k = 1; k < 8; k++) refused_word(w + k, RMA_ERR_ADDRESS, "not aligned to 8");
            QUIETLY(rma_gptr_ptr(end), NULL);
        }
    meet();
    for (int kind = 0; kind < KINDS; kind++) check_guards(&r[kind], kind);
}

/* Both ways between addresses and global pointers. */
static void conversions(const struct region *r) {
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t at = 0; at < r[kind].size; at += at < 3 ? 1 : 997) {
            if (kind != STATIC) QUIETLY(rma_gptr(r[kind].base + at, job.me), r[kind].g + at);
            QUIETLY(rma_gptr_ptr(r[kind].g + at), r[kind].base + at);
        }
        if (kind == STATIC) continue; /* is symmetric too */
        EXPECT_ZERO("rma_gptr", rma_gptr(r[kind].base + r[kind].size, job.me) != 0, RMA_ERR_ADDRESS, "attached region");
        EXPECT_ZERO("rma_gptr", rma_gptr(r[kind].base - 1, job.me) != 0, RMA_ERR_ADDRESS, "attached region");
        for (int pe = 0; pe < job.n; pe++) {
            if (pe == job.me) continue;
            EXPECT_ZERO("rma_gptr", rma_gptr(r[kind].base, pe) != 0, RMA_ERR_ADDRESS, "attached");
            QUIETLY(rma_gptr_ptr(told(&board->start[kind], pe)), NULL);
        }
    }
}

/* Everything that is attached here is detached, refused to all from then on, and not touched by who tries. */
static void close_regions(struct region *r) {
    for (int kind = 0; kind < KINDS; kind++) {
        OK(rma_detach(r[kind].base));
        EXPECT("rma_detach", rma_detach(r[kind].base), RMA_ERR_BASE, job_text("%p", (void *)r[kind].base), "no region");
        job_fill(r[kind].base, 0, r[kind].size, 77);
        QUIETLY(rma_gptr_ptr(r[kind].g), NULL);
        if (kind != STATIC)
            EXPECT_ZERO("rma_gptr", rma_gptr(r[kind].base, job.me) != 0, RMA_ERR_ADDRESS, "attached region");
    }
    meet();
    for (int q = 0; q < job.n; q++)
        for (int kind = 0; kind < KINDS; kind++) {
            const char *words = job_text("PE %d has attached (any more)", q);
            refused(told(&board->start[kind], q), 8, RMA_ERR_ADDRESS, words);
            refused(told(&board->start[kind], q) + 100, 1, RMA_ERR_ADDRESS, words);
            refused_word(told(&board->word[kind], q), RMA_ERR_ADDRESS, words);
        }
    meet();
    for (int kind = 0; kind < KINDS; kind++)
        CHECK(job_differs(r[kind].base, 0, r[kind].size, 77) == r[kind].size, "%s memory has changed",
              kind_names[kind]);
}

static void four_kinds(void) {
    static unsigned char statically[1 + GUARD + 5003 + GUARD];
    unsigned char on_stack[3 + GUARD + 6011 + GUARD];
    size_t mapped_size = 4 * 65536;
    unsigned char *block = malloc(5 + GUARD + sizes[MALLOCED] + GUARD);
    unsigned char *mapped = mmap(NULL, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct region r[KINDS];
    model = malloc((size_t)job.n * sizeof *model);
    CHECK(block && model && mapped != MAP_FAILED, "no memory");
    r[MALLOCED] = open_region(block + 5, MALLOCED);
    r[MAPPED] = open_region(mapped + 4096 - GUARD - 3, MAPPED);
    r[STACK] = open_region(on_stack + 3, STACK);
    r[STATIC] = open_region(statically + 1, STATIC);
    for (int q = 0; q < job.n; q++)
        for (int kind = 0; kind < KINDS; kind++)
            job_fill(model[q][kind], part_start(kind), part_length(kind), key_of(q, kind));
    meet();
    DOING("working on attached memory");
    for (int mode = 0; mode < MODES; mode++)
        for (int q = 0; q < job.n; q++) one_owner(q, (mode + q) % MODES, r);
    compare(r);
    DOING("at the ends");
    ends(r);
    conversions(r);
    DOING("detaching");
    close_regions(r);
    free(model);
    free(block);
    munmap(mapped, mapped_size);
}

/* ---- what is refused at once ---- */

static void mistakes(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 8 * page;
    rma_gptr_t g = 4711;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *heap = rma_malloc(1000),
         *local;
    char *there = rma_ptr(heap, job_next(1));
    CHECK(p != MAP_FAILED && heap, "no memory");
    OK(rma_alloc_mem(1000, &local));
    EXPECT("rma_attach", rma_attach(NULL, 10, &g), RMA_ERR_ARG, "base is a null pointer");
    EXPECT("rma_attach", rma_attach(p, 0, &g), RMA_ERR_ARG, "size is 0");
    EXPECT("rma_attach", rma_attach(p, 10, NULL), RMA_ERR_ARG, "g is a null pointer");
    EXPECT("rma_attach", rma_attach(p, SIZE_MAX, &g), RMA_ERR_ARG, "wrap");
    EXPECT("rma_attach", rma_attach(p, SIZE_MAX - (uintptr_t)p + 1, &g), RMA_ERR_ARG, "wrap");
    EXPECT("rma_attach", rma_attach(heap, 1000, &g), RMA_ERR_ARG, "overlap a heap");
    EXPECT("rma_attach", rma_attach(heap + 500, 1, &g), RMA_ERR_ARG, "overlap a heap");
    EXPECT("rma_attach", rma_attach(local, 1000, &g), RMA_ERR_ARG, "overlap a heap");
    EXPECT("rma_attach", rma_attach(there, 1000, &g), RMA_ERR_ARG, "overlap a heap");
    EXPECT("rma_attach", rma_attach((void *)page, 1, &g), RMA_ERR_ADDRESS, "mapped");
    CHECK(!strstr(rma_last_error(), "mapped:"), "a cause that is none: %s", rma_last_error()); /* msync says ENOMEM */
    CHECK(munmap(p + 4 * page, page) == 0, "munmap");
    EXPECT("rma_attach", rma_attach(p, size, &g), RMA_ERR_ADDRESS, job_text("%zu bytes at base %p", size, (void *)p),
           "mapped");
    EXPECT("rma_attach", rma_attach(p + 4 * page - 1, 2, &g), RMA_ERR_ADDRESS, "mapped");
    EXPECT("rma_attach", rma_attach(p + 5 * page - 1, 2, &g), RMA_ERR_ADDRESS, "mapped");
    EXPECT("rma_attach", rma_attach(p + 4 * page + 5, 1, &g), RMA_ERR_ADDRESS, "mapped");
    CHECK(g == 4711, "a refused call wrote %#llx", (unsigned long long)g);

    rma_gptr_t middle = attach(p + 1000, 1000), before, after;
    const struct {
        size_t from, to;
    } overlaps[] = {{1000, 2000}, {1000, 1001}, {1999, 2000}, {1500, 1600}, {900, 1001},  {0, 1500},
                    {1999, 2100}, {1500, 3000}, {999, 2001},  {0, 3000},    {1000, 2001}, {999, 2000}};
    for (size_t i = 0; i < N(overlaps); i++)
        EXPECT("rma_attach", rma_attach(p + overlaps[i].from, overlaps[i].to - overlaps[i].from, &g), RMA_ERR_ARG,
               job_text("%zu bytes at base %p", overlaps[i].to - overlaps[i].from, (void *)(p + overlaps[i].from)),
               "overlap");
    CHECK(g == 4711, "a refused call wrote %#llx", (unsigned long long)g);
    before = attach(p + 900, 100); /* neighbours do not overlap */
    after = attach(p + 2000, 1);
    EXPECT("rma_attach", rma_attach(p + 800, 1300, &g), RMA_ERR_ARG, "overlap");
    CHECK(rma_gptr_ptr(before + 99) == p + 999 && rma_gptr_ptr(middle) == p + 1000 && rma_gptr_ptr(after) == p + 2000,
          "neighbours are mixed up");
    EXPECT("rma_detach", rma_detach(p + 1001), RMA_ERR_BASE,
           job_text("%p is 1 byte into the region", (void *)(p + 1001)));
    EXPECT("rma_detach", rma_detach(p + 1999), RMA_ERR_BASE, "999 bytes into");
    EXPECT("rma_detach", rma_detach(p + 2001), RMA_ERR_BASE, "no region");
    EXPECT("rma_detach", rma_detach(p + 899), RMA_ERR_BASE, "no region");
    EXPECT("rma_detach", rma_detach(NULL), RMA_ERR_BASE, "no region");
    EXPECT("rma_detach", rma_detach(heap), RMA_ERR_BASE, "no region");
    EXPECT("rma_detach", rma_detach(local), RMA_ERR_BASE, "no region");
    OK(rma_detach(p + 1000));
    EXPECT("rma_detach", rma_detach(p + 1000), RMA_ERR_BASE, "no region");
    CHECK(rma_gptr_ptr(before) == p + 900 && rma_gptr_ptr(after) == p + 2000, "neighbours are gone");
    OK(rma_detach(p + 900));
    OK(rma_detach(p + 2000));

    /* More than there are offsets. Address space only, and the table of one PE. It may be read, since an emulator
     * (qemu's user mode) says of memory that may not be read that it is not mapped (mincore). */
    if (job.me == 0) {
        size_t large = (size_t)300 << 30;
        char *q = mmap(NULL, large, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (q != MAP_FAILED) {
            EXPECT("rma_attach", rma_attach(q, large, &g), RMA_ERR_NO_MEM, "GiB of offsets in all");
            CHECK(g == 4711, "a refused call wrote %#llx", (unsigned long long)g);
            munmap(q, large);
        }
    }
    meet();
    munmap(p, size);
    OK(rma_free_mem(local));
    OK(rma_free(heap));
}

/* ---- many small ones ---- */

/* Between this PE and pe, one in so many of the regions is worked on. */
static int step_with(int pe) { return forbidden || !rma_on_node(pe) ? 37 : 1; }

static void small_ones(void) {
    const int n = (int)(job.slow ? MANY / JOB_SLOWER : MANY);
    static size_t from[MANY + 1];
    static int order[MANY];
    uint64_t random = job_stream(500), own = job_stream(600 + (uint64_t)job.me); /* sizes are the same on all PEs */
    rma_gptr_t *all = rma_malloc((size_t)n * sizeof *all), *theirs = malloc((size_t)n * sizeof *theirs);
    unsigned char *arena, buffer[64];
    int other = job_any(1), step = step_with(other);
    for (int i = 0; i < n; i++) {
        from[i + 1] = from[i] + 1 + job_below(&random, 40);
        order[i] = i;
    }
    arena = malloc(from[n]);
    CHECK(all && theirs && arena, "no memory");
    job_fill(arena, 0, from[n], (uint64_t)job.me);
    for (int i = n - 1; i > 0; i--) {
        int k = (int)job_below(&own, (size_t)i + 1), swap = order[i];
        order[i] = order[k], order[k] = swap;
    }
    for (int i = 0; i < n; i++) all[order[i]] = attach(arena + from[order[i]], from[order[i] + 1] - from[order[i]]);
    for (int i = n - 1; i > 0; i--) {
        int k = (int)job_below(&own, (size_t)i + 1), swap = order[i];
        order[i] = order[k], order[k] = swap;
    }
    meet();
    OK(rma_get(theirs, all, (size_t)n * sizeof *all, other));
    for (int i = 0; i < n; i += step) {
        size_t len = from[i + 1] - from[i];
        OK(rma_gptr_get(buffer, theirs[i], len));
        CHECK(job_differs(buffer, from[i], len, (uint64_t)other) == len, "region %d of PE %d", i, other);
        if (i % 10) continue;
        for (size_t k = 0; k < len; k++) buffer[k] ^= 0xff;
        OK(rma_gptr_put(theirs[i], buffer, len));
    }
    meet();
    for (int i = 0; i < n; i += step_with(job_any(-1)))
        for (size_t at = from[i]; at < from[i + 1]; at++)
            CHECK(arena[at] == (job_byte((uint64_t)job.me, at) ^ (i % 10 ? 0 : 0xff)), "byte %zu, of region %d", at, i);
    for (int half = 0; half < 2; half++) {
        for (int i = half * n / 2; i < (half + 1) * n / 2; i++) {
            OK(rma_detach(arena + from[order[i]]));
            all[order[i]] = RMA_GPTR_NULL;
        }
        meet();
        for (int i = 0; i < n; i += 7 * step) {
            int gone = rma_g((uint64_t *)&all[i], other) == 0;
            if (gone)
                refused(theirs[i], 1, RMA_ERR_ADDRESS, "any more");
            else
                OK(rma_gptr_get(buffer, theirs[i], from[i + 1] - from[i]));
            CHECK(gone || !half, "region %d of PE %d is not detached", i, other);
        }
        meet();
    }
    free(arena);
    free(theirs);
    OK(rma_free(all));
}

/* ---- detached, and attached again ---- */

static void again(void) {
    static unsigned char buffer[1000];
    unsigned char *block = malloc(sizeof buffer);
    int other = job_any(1);
    CHECK(block != NULL, "no memory");
    board->some[0] = attach(block, sizeof buffer);
    OK(rma_detach(block));
    board->some[1] = attach(block, sizeof buffer);
    OK(rma_detach(block));
    board->some[2] = attach(block, sizeof buffer / 2);
    board->some[3] = attach(block + sizeof buffer / 2, sizeof buffer / 2);
    job_fill(block, 0, sizeof buffer, 5);
    meet();
    for (int i = 0; i < 2; i++) {
        refused(told(&board->some[i], other), 100, RMA_ERR_ADDRESS, "any more");
        refused(told(&board->some[i], job.me), 100, RMA_ERR_ADDRESS, "any more");
    }
    OK(rma_gptr_get(buffer, told(&board->some[2], other), sizeof buffer / 2));
    OK(rma_gptr_get(buffer + sizeof buffer / 2, told(&board->some[3], other), sizeof buffer / 2));
    CHECK(job_differs(buffer, 0, sizeof buffer, 5) == sizeof buffer, "the new pointer names something else");
    job_fill(buffer, 0, sizeof buffer / 2, 6);
    meet();
    OK(rma_gptr_put(told(&board->some[2], other), buffer, sizeof buffer / 2));
    refused(told(&board->some[0], other), 100, RMA_ERR_ADDRESS, "any more");
    meet();
    CHECK(job_differs(block, 0, sizeof buffer / 2, 6) == sizeof buffer / 2, "what was put by the new pointer");
    CHECK(job_differs(block + 500, 500, 500, 5) == 500, "the other half");
    OK(rma_detach(block));
    OK(rma_detach(block + 500));
    free(block);
}

/* ---- taken back from under those who write ---- */

#define NO_MORE ((rma_gptr_t)1)

/* PE 1 puts, 2 does atomics, 3 gets, and so on: with whatever pointer there is, until it is refused. */
static void hammer(int owner) {
    static unsigned char junk[HAMMERED];
    rma_gptr_t g, last = RMA_GPTR_NULL;
    uint64_t random = job_stream(900 + (uint64_t)job.me);
    memset(junk, 0xee, sizeof junk);
    while ((g = told(&board->hammered, owner)) != NO_MORE) {
        int code = RMA_SUCCESS;
        if (g == last || g == RMA_GPTR_NULL) {
            job_sleep(20);
            continue;
        }
        while (code == RMA_SUCCESS) {
            size_t at = job_below(&random, HAMMERED);
            switch (job.me % 3) {
                case 1: code = rma_gptr_put(at & 1 ? g : g + at, junk, at & 1 ? HAMMERED : HAMMERED - at); break;
                case 2: code = rma_gptr_atomic_set(g + at / 8 * 8, UINT64_MAX); break;
                default: code = rma_gptr_get(junk, g, HAMMERED);
            }
        }
        CHECK(code == RMA_ERR_ADDRESS, "%s", rma_last_error());
        last = g;
    }
}

/* New uses of the memory: none of its bytes changes once it has been taken back. */
static void take_back(long rounds) {
    unsigned char *p = aligned_alloc(8, HAMMERED);
    uint64_t random = job_stream(899);
    CHECK(p != NULL, "no memory");
    for (long round = 0; round < rounds; round++) {
        long changes = 0;
        memset(p, 0, HAMMERED);
        __atomic_store_n(&board->hammered, attach(p, HAMMERED), __ATOMIC_RELEASE);
        /* Until one of them is seen to be at work, so that the next ones are in the midst of it. */
        while (!changes) {
            for (size_t i = 0; i < HAMMERED; i += 8) changes += __atomic_load_n(p + i, __ATOMIC_RELAXED) != 0;
            job_sleep((long)job_below(&random, 60));
        }
        OK(rma_detach(p));
        memset(p, 0x11, HAMMERED);
        for (int look = 0; look < 3; look++) {
            for (size_t i = 0; i < HAMMERED; i++)
                CHECK(__atomic_load_n(p + i, __ATOMIC_RELAXED) == 0x11,
                      "round %ld, look %d: byte %zu became %#x after rma_detach", round, look, i, p[i]);
            job_sleep((long)job_below(&random, 100));
        }
    }
    __atomic_store_n(&board->hammered, NO_MORE, __ATOMIC_RELEASE);
    meet();
    for (size_t i = 0; i < HAMMERED; i++) CHECK(p[i] == 0x11, "byte %zu became %#x", i, p[i]);
    free(p);
}

static void detach_under_fire(void) {
    board->hammered = RMA_GPTR_NULL;
    meet();
    if (job.n > 1 && job.me == 0) {
        take_back(job_rounds(500, 100));
    } else {
        if (job.n > 1) hammer(0);
        meet();
    }
}

/* ---- protected, unmapped ---- */

static void protected_memory(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 4 * page;
    unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *buffer = malloc(2 * page);
    int other = job_any(1);
    rma_gptr_t g;
    CHECK(p != MAP_FAILED && buffer, "no memory");
    job_fill(p, 0, size, (uint64_t)job.me);
    g = board->some[0] = attach(p, size);
    CHECK(mprotect(p, 2 * page, PROT_READ) == 0 && mprotect(p + 2 * page, page, PROT_NONE) == 0, "mprotect");
    meet();
    g = told(&board->some[0], other);
    if (other != job.me) {
        const char *words = "not mapped there, or not for this access";
        const struct rma_block apart[2] = {{(ptrdiff_t)(3 * page), 8}, {8, 8}}, readable[2] = {{8, 8}, {64, 16}};
        const uint64_t ones[2] = {1, 1};
        uint64_t word, last, fetched[3];
        OK(rma_gptr_get(buffer, g, 2 * page));
        CHECK(job_differs(buffer, 0, 2 * page, (uint64_t)other) == 2 * page, "memory that may be read only");
        memcpy(&word, buffer + 8, 8);
        QUIETLY(rma_gptr_atomic_fetch(g + 8), word);
        EXPECT("rma_gptr_put", rma_gptr_put(g, buffer, 8), RMA_ERR_ADDRESS, words);
        EXPECT("rma_gptr_put", rma_gptr_put(g + 3, buffer, 2 * page - 3), RMA_ERR_ADDRESS, words);
        refused(g + 2 * page, 100, RMA_ERR_ADDRESS, words);
        refused(g + 3 * page - 100, 100, RMA_ERR_ADDRESS, words);
        refused_word(g + 2 * page, RMA_ERR_ADDRESS, words);
        DOING("updates of blocks, of which one may only be read");
        OK(rma_gptr_get(&last, g + 3 * page, 8));
        EXPECT("rma_gptr_accumulate_blocks",
               rma_gptr_accumulate_blocks(g, ones, apart, 2, NULL, 0, RMA_UINT64, RMA_OP_SUM, NULL), RMA_ERR_ADDRESS,
               words);
        OK(rma_gptr_get(&word, g + 3 * page, 8));
        CHECK(word == last, "the block that may be written has changed");
        OK(rma_gptr_get_accumulate_blocks(g, NULL, fetched, readable, 2, NULL, 0, NULL, 0, RMA_UINT64, RMA_OP_FETCH,
                                          NULL));
        CHECK(memcmp(fetched, buffer + 8, 8) == 0 && memcmp(fetched + 1, buffer + 64, 16) == 0, "what may be read");
        OK(rma_gptr_put(g + 3 * page, buffer, page));
        DOING("atomics that write to memory that may be read only");
        refused_write(g, RMA_ERR_ADDRESS, words);
    }
    meet();
    CHECK(job_differs(p, 0, 2 * page, (uint64_t)job.me) == 2 * page, "memory that may be read only has changed");
    if (other != job.me) CHECK(job_differs(p + 3 * page, 0, page, (uint64_t)job.me) == page, "the page behind");
    meet();
    CHECK(munmap(p, size) == 0, "munmap");
    meet();
    if (other != job.me) {
        refused(g, 100, RMA_ERR_ADDRESS, "not mapped there");
        refused_word(g, RMA_ERR_ADDRESS, "not mapped there");
    }
    meet();
    OK(rma_detach(p));
    free(buffer);
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    int n = size ? atoi(size) : 1;
    job_begin();
    if (n == 3 || n == 5) forbidden = forbid(n == 5 ? 2 : 1) ? n == 5 ? 2 : 1 : 0;
    if (forbidden)
        setenv("UCX_TLS", "^cma", 0); /* MPICH's transport would use it too, and wait for ever when it is refused */
    if (n == 5 && !forbidden) printf("attach: this system lets nobody forbid process_vm_readv: not tested\n");
    OK(rma_init());
    job_look();
    board = rma_calloc(1, sizeof *board);
    CHECK(board != NULL, "%s", rma_last_error());
    DOING("mistakes");
    mistakes();
    DOING("four kinds");
    four_kinds();
    DOING("many small regions");
    small_ones();
    DOING("attaching again");
    again();
    DOING("detaching under fire");
    detach_under_fire();
    DOING("protected memory");
    protected_memory();
    OK(rma_free(board));
    return job_end();
}
