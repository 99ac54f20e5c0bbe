/* SPDX-License-Identifier: BSD-3-Clause */
/* An access to another node has the same result by messages and through a window: on memory that PEs attach and detach,
 * and heaps that grow, while others use them; with old or wrong pointers; with atomics on one word, on-node and
 * off-node.
 *
 * Each phase runs with RMA_WINDOW=dynamic, always and none, and with the library's own choice: the library is restarted
 * for each. More than two PEs try two of these, 4 others than 5.
 *
 * Broken by an access through a window to memory that its owner has detached (a byte changes after rma_detach has
 * returned), by one that counts on what another region had at the same offsets, by an atomic that some PEs do in
 * another way than others do it on the same word, by an access across the end of what MPI has as one piece of memory,
 * and by a range that is moved up to where it is found to be wrong. */
#include "job.h"

#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#define KIB    ((size_t)1 << 10)
#define MIB    ((size_t)1 << 20)
#define GUARD  64
#define WORDS  16 /* bytes at the start of a region: one word of 8 bytes, one of 4 */
#define UNUSED 0x77

static const struct mode {
    const char *name, *window;
    bool threads; /* a second thread of each PE accesses the others' memory, too */
} modes[] = {{"no window", "none", true},
             {"the library's choice", "auto", false},
             {"dynamic window", "dynamic", false},
             {"window always", "always", true}};
#define N(array) (sizeof array / sizeof array[0])

static const struct mode *mode;

static rma_gptr_t told(const rma_gptr_t *word, int pe) {
    return (rma_gptr_t)rma_atomic_fetch((const uint64_t *)word, pe);
}

static void tell(rma_gptr_t *word, rma_gptr_t g) { OK(rma_atomic_set((uint64_t *)word, g, job.me)); }

static void *private_memory(size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED, "no %zu bytes", size);
    return p;
}

static const char *gone(int pe) { return job_text("is in no region that PE %d has attached", pe); }

/* Returns 1 if the call has succeeded, 0 if it found the memory detached; nothing else may be. */
static int allowed(int code, int pe) {
    if (code == RMA_SUCCESS) return 1;
    CHECK(code == RMA_ERR_ADDRESS && strstr(rma_last_error(), gone(pe)), "code %d: %s", code, rma_last_error());
    return 0;
}

/* The first byte that is neither of these patterns, or len. */
static size_t is_neither(const unsigned char *p, size_t from, size_t len, uint64_t key, uint64_t other) {
    size_t at = 0, before;
    do {
        before = at;
        at += job_differs(p + at, from + at, len - at, key);
        at += job_differs(p + at, from + at, len - at, other);
    } while (at > before && at < len);
    return at;
}

static uint64_t key_of(rma_gptr_t g, int pe) { return g ^ (uint64_t)(pe + 1) << 50; }
#define OWNER_S 60 /* key_of(g, OWNER_S): what the owner has filled it with */

/* One PE's part of a region of this size. */
static size_t lane_of(size_t size) { return (size - WORDS) / (size_t)job.n; }
static size_t lane_start(size_t size, int pe) { return WORDS + (size_t)pe * lane_of(size); }

/* The first byte of the PE's part that neither the owner nor that PE has written, or its length. */
static size_t check_lane(const unsigned char *base, size_t size, rma_gptr_t g, int pe) {
    return is_neither(base + lane_start(size, pe), 0, lane_of(size), key_of(g, OWNER_S), key_of(g, pe));
}

/* ---- attached and detached in a storm ---- */

#define SLOTS 3
#define GENS  256
static const size_t slot_size[SLOTS] = {WORDS + 5003, WORDS + 200 * KIB + 11, WORDS + 600 * KIB + 3};

/* Symmetric. A slot's word is the pointer, of which the last bits are 0, and the number of times that it was attached
 * before. */
static struct storm {
    rma_gptr_t now[SLOTS], stale[SLOTS];
    uint32_t adds[JOB_PES_MAX][SLOTS][GENS][2]; /* that this PE has made, and that have succeeded, by owner */
} * storm;

struct slot {
    unsigned char *block, *base;
    rma_gptr_t g;
    unsigned gen; /* how often it was attached */
};
static struct slot slots[SLOTS];
static uint64_t final[SLOTS][GENS][2];

static void check_unused(const struct slot *s, size_t size) {
    const size_t all = GUARD + size + GUARD;
    for (size_t i = 0; i < all; i++)
        CHECK(s->block[i] == UNUSED, "byte %zu of %zu, in memory that is not attached, has become %#x (%s)", i, all,
              s->block[i], mode->name);
}

static void check_guards(const struct slot *s, size_t size) {
    for (size_t i = 0; i < GUARD; i++)
        CHECK(s->block[i] == UNUSED && s->base[size + i] == UNUSED, "%zu bytes beside a region (%s)", i, mode->name);
}

static void attach_slot(int k) {
    struct slot *s = &slots[k];
    check_unused(s, slot_size[k]);
    memset(s->base, 0, WORDS);
    OK(rma_attach(s->base, slot_size[k], &s->g));
    CHECK((s->g & 0xffff) == 0, "%#llx", (unsigned long long)s->g);
    for (int pe = 0; pe < job.n; pe++)
        job_fill(s->base + lane_start(slot_size[k], pe), 0, lane_of(slot_size[k]), key_of(s->g, OWNER_S));
    tell(&storm->now[k], s->g | s->gen++);
}

static void check_lanes(const struct slot *s, int k) {
    for (int pe = 0; pe < job.n; pe++) {
        const size_t at = check_lane(s->base, slot_size[k], s->g, pe);
        CHECK(at == lane_of(slot_size[k]), "byte %zu of PE %d's part of slot %d (%s)", at, pe, k, mode->name);
    }
}

static void detach_slot(int k) {
    struct slot *s = &slots[k];
    uint32_t half;
    OK(rma_detach(s->base));
    check_guards(s, slot_size[k]);
    check_lanes(s, k);
    memcpy(&final[k][s->gen - 1][0], s->base, 8);
    memcpy(&half, s->base + 8, sizeof half);
    final[k][s->gen - 1][1] = half;
    memset(s->base, UNUSED, slot_size[k]);
    tell(&storm->now[k], RMA_GPTR_NULL);
    tell(&storm->stale[k], s->g);
    s->g = RMA_GPTR_NULL;
}

static void put_and_get_back(rma_gptr_t g, int q, size_t size, size_t at, size_t len, int back) {
    static _Thread_local unsigned char buffer[700 * KIB];
    const uint64_t key = key_of(g, job.me);
    job_fill(buffer, at, len, key);
    if (!allowed(rma_gptr_put(g + lane_start(size, job.me) + at, buffer, len), q)) return;
    if (!back) return;
    job_settle(q);
    memset(buffer, 0, len);
    if (!allowed(rma_gptr_get(buffer, g + lane_start(size, job.me) + at, len), q)) return;
    CHECK(job_differs(buffer, at, len, key) == len, "%zu bytes at %zu of %zu of PE %d: what was put is not there (%s)",
          len, at, size, q, mode->name);
}

static void get_of_anybody(rma_gptr_t g, int q, size_t size, size_t at, size_t len, int whose) {
    static _Thread_local unsigned char buffer[700 * KIB];
    if (!allowed(rma_gptr_get(buffer, g + lane_start(size, whose) + at, len), q)) return;
    CHECK(is_neither(buffer, at, len, key_of(g, OWNER_S), key_of(g, whose)) == len,
          "%zu bytes at %zu of %zu of PE %d (%s)", len, at, size, q, mode->name);
}

/* Without an old value they come in bursts, and may be under way when the call returns. */
static void count_in_region(rma_gptr_t g, int q, int k, unsigned gen, int half, int gets) {
    for (int i = gets ? 1 : 4; i > 0; i--) {
        int code;
        job_raised.count = 0;
        if (gets && half)
            rma_gptr_atomic_fetch_add_uint32(g + 8, 1);
        else if (gets)
            rma_gptr_atomic_fetch_add_uint64(g, 1);
        code = job_raised.count ? job_raised.code : RMA_SUCCESS;
        if (!gets) code = half ? rma_gptr_atomic_add_uint32(g + 8, 1) : rma_gptr_atomic_add_uint64(g, 1);
        if (!allowed(code, q)) return;
        __atomic_fetch_add(&storm->adds[q][k][gen][half], 1, __ATOMIC_RELAXED);
    }
}

static void use_stale(int q, int k) {
    const rma_gptr_t g = told(&storm->stale[k], q);
    unsigned char byte[9] = {1};
    if (g == RMA_GPTR_NULL) return;
    EXPECT("rma_gptr_put", rma_gptr_put(g, byte, sizeof byte), RMA_ERR_ADDRESS, gone(q));
    EXPECT("rma_gptr_get", rma_gptr_get(byte, g + slot_size[k] - 1, 1), RMA_ERR_ADDRESS, gone(q));
    EXPECT_ZERO("rma_gptr_atomic_fetch_add_uint64", rma_gptr_atomic_fetch_add_uint64(g, 1), RMA_ERR_ADDRESS, gone(q));
}

static void use_slot(uint64_t *random, int q) {
    const int k = (int)job_below(random, 8), slot = k < 4 ? 0 : k < 7 ? 1 : 2;
    const rma_gptr_t word = told(&storm->now[slot], q), g = word & ~(rma_gptr_t)0xffff;
    const size_t len = job_length(random, lane_of(slot_size[slot])),
                 at = job_below(random, lane_of(slot_size[slot]) - len + 1);
    const unsigned what = (unsigned)job_below(random, 8);
    if (g == RMA_GPTR_NULL) return;
    switch (what) {
        case 0:
        case 1: put_and_get_back(g, q, slot_size[slot], at, len, (int)what); break;
        case 2: put_and_get_back(g, q, slot_size[slot], 0, lane_of(slot_size[slot]), 1); break;
        case 3: get_of_anybody(g, q, slot_size[slot], at, len, (int)job_below(random, (size_t)job.n)); break;
        case 4: use_stale(q, slot); break;
        default: count_in_region(g, q, slot, (unsigned)(word & 0xffff), what & 1, at & 1);
    }
}

static void check_counts(void) {
    static uint32_t adds[SLOTS][GENS][2];
    uint64_t sum[SLOTS][GENS][2] = {{{0}}};
    for (int pe = 0; pe < job.n; pe++) {
        OK(rma_get(adds, storm->adds[job.me], sizeof adds, pe));
        for (size_t i = 0; i < sizeof adds / sizeof(uint32_t); i++) (&sum[0][0][0])[i] += (&adds[0][0][0])[i];
    }
    for (int k = 0; k < SLOTS; k++)
        for (unsigned gen = 0; gen < slots[k].gen; gen++)
            for (int half = 0; half < 2; half++)
                CHECK(sum[k][gen][half] == final[k][gen][half],
                      "slot %d, attached for the %u. time, word %d: %llu adds have succeeded, %llu are there (%s)", k,
                      gen + 1, half, (unsigned long long)sum[k][gen][half], (unsigned long long) final[k][gen][half],
                      mode->name);
}

static int storm_is_over;

/* Not this PE's own memory: the PE knows best when it detaches that, and does not wait for itself. */
static void *second_thread(void *nothing) {
    uint64_t random = job_stream(300 + (uint64_t)job.me);
    while (!__atomic_load_n(&storm_is_over, __ATOMIC_ACQUIRE))
        use_slot(&random, job_any(1 + (int)job_below(&random, (size_t)job.n - 1)));
    return nothing;
}

static void attach_and_detach_in_a_storm(long turns) {
    pthread_t second;
    uint64_t random = job_stream((uint64_t)job.me);
    for (int k = 0; k < SLOTS; k++) {
        slots[k] = (struct slot){.block = malloc(GUARD + slot_size[k] + GUARD)};
        CHECK(slots[k].block != NULL, "no memory");
        slots[k].base = slots[k].block + GUARD;
        memset(slots[k].block, UNUSED, GUARD + slot_size[k] + GUARD);
    }
    OK(rma_barrier_all());
    storm_is_over = 0;
    if (mode->threads) CHECK(pthread_create(&second, NULL, second_thread, NULL) == 0, "no thread");
    for (; turns > 0; turns--) {
        const int k = (int)job_below(&random, 2 * SLOTS);
        if (k < SLOTS && slots[k].g == RMA_GPTR_NULL && slots[k].gen < GENS)
            attach_slot(k);
        else if (k < SLOTS && slots[k].g != RMA_GPTR_NULL && turns % 3 == 0)
            detach_slot(k);
        for (int i = 0; i < 4; i++) use_slot(&random, job_any(1 + (int)job_below(&random, (size_t)job.n)));
    }
    __atomic_store_n(&storm_is_over, 1, __ATOMIC_RELEASE);
    if (mode->threads) CHECK(pthread_join(second, NULL) == 0, "the thread");
    for (int k = 0; k < SLOTS; k++) {
        if (slots[k].g != RMA_GPTR_NULL) detach_slot(k);
        check_unused(&slots[k], slot_size[k]);
    }
    OK(rma_barrier_all());
    for (int k = 0; k < SLOTS; k++) check_unused(&slots[k], slot_size[k]);
    check_counts();
    for (int k = 0; k < SLOTS; k++) free(slots[k].block);
}

/* ---- pointers that are old or wrong ---- */

static struct board {
    rma_gptr_t region[6];
    uint64_t word;
} * board; /* symmetric */

static unsigned char bytes[10 * MIB], copy[10 * MIB]; /* buffers, and sources of 0x5a */

static void nothing_has_moved(const unsigned char *p, size_t len, unsigned char is) {
    for (size_t i = 0; i < len; i++) CHECK(p[i] == is, "byte %zu has become %#x (%s)", i, p[i], mode->name);
}

/* Two regions, side by side in memory and in offsets. */
#define SECOND 60008 /* bytes of the second one */
static void range_over_two_regions(int q) {
    const rma_gptr_t a = told(&board->region[0], q), b = told(&board->region[1], q);
    const size_t size = 64 * KIB;
    CHECK(b == a + size, "%#llx, %#llx", (unsigned long long)a, (unsigned long long)b);
    OK(rma_gptr_put(a, bytes, size));
    OK(rma_gptr_get(copy, b + SECOND - 3, 3));
    EXPECT("rma_gptr_put", rma_gptr_put(a + size - 4, bytes, 8), RMA_ERR_ADDRESS, gone(q));
    EXPECT("rma_gptr_get", rma_gptr_get(copy, a + size - 1, 2), RMA_ERR_ADDRESS, gone(q));
    EXPECT("rma_gptr_put", rma_gptr_put(a, bytes, size + 100), RMA_ERR_ADDRESS, gone(q));
    EXPECT("rma_gptr_get", rma_gptr_get(copy, a, size + 1), RMA_ERR_ADDRESS, gone(q));
    EXPECT("rma_gptr_get", rma_gptr_get(copy, b + SECOND, 1), RMA_ERR_ADDRESS, gone(q));
    EXPECT_ZERO("rma_gptr_atomic_fetch_uint64", rma_gptr_atomic_fetch_uint64(a + 4), RMA_ERR_ADDRESS,
                "not aligned to 8");
    EXPECT_ZERO("rma_gptr_atomic_fetch_uint64", rma_gptr_atomic_fetch_uint64(b + SECOND), RMA_ERR_ADDRESS, gone(q));
}

/* Longer than what goes at once. */
static void range_beyond_a_long_region(int q) {
    const rma_gptr_t g = told(&board->region[2], q);
    EXPECT("rma_gptr_put", rma_gptr_put(g, bytes, 9 * MIB + 1), RMA_ERR_ADDRESS, gone(q));
    EXPECT("rma_gptr_get", rma_gptr_get(copy, g + 1, 9 * MIB), RMA_ERR_ADDRESS, gone(q));
}

/* Attached, and then not mapped any more, or read-only, before anybody has used it. */
static void memory_that_is_not_there(int q) {
    const rma_gptr_t g = told(&board->region[3], q), readable = told(&board->region[4], q);
    EXPECT("rma_gptr_put", rma_gptr_put(g, bytes, 100), RMA_ERR_ADDRESS, "are not mapped there");
    EXPECT("rma_gptr_get", rma_gptr_get(copy, g + 5, 5000), RMA_ERR_ADDRESS, "are not mapped there");
    EXPECT_ZERO("rma_gptr_atomic_fetch_add_uint64", rma_gptr_atomic_fetch_add_uint64(g, 1), RMA_ERR_ADDRESS,
                "not mapped");
    EXPECT("rma_gptr_put", rma_gptr_put(readable, bytes, 100), RMA_ERR_ADDRESS, "or not for this access");
    OK(rma_gptr_get(copy, readable, 100));
    nothing_has_moved(copy, 100, 0);
}

static void bad_pointers(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *two = private_memory(128 * KIB), *nine = private_memory(10 * MIB), *not = private_memory(2 * page),
                  *readable = private_memory(page);
    OK(rma_attach(two, 64 * KIB, &board->region[0]));
    OK(rma_attach(two + 64 * KIB, SECOND, &board->region[1]));
    OK(rma_attach(nine, 9 * MIB, &board->region[2]));
    OK(rma_attach(not, 2 * page, &board->region[3]));
    OK(rma_attach(readable, page, &board->region[4]));
    CHECK(munmap(not, 2 * page) == 0 && mprotect(readable, page, PROT_READ) == 0, "munmap, mprotect");
    OK(rma_barrier_all());
    for (int i = 1; i < job.n; i++) {
        const int q = job_any(i);
        if (rma_on_node(q)) continue; /* test/job/attach.c */
        memset(bytes, 0x5a, sizeof bytes);
        range_over_two_regions(q);
        range_beyond_a_long_region(q);
        memory_that_is_not_there(q);
    }
    OK(rma_barrier_all());
    nothing_has_moved(nine, 10 * MIB, 0);
    nothing_has_moved(two + 64 * KIB, 64 * KIB, 0);
    OK(rma_detach(two));
    OK(rma_detach(two + 64 * KIB));
    OK(rma_detach(nine));
    OK(rma_detach(not ));
    OK(rma_detach(readable));
    munmap(two, 128 * KIB);
    munmap(nine, 10 * MIB);
    munmap(readable, page);
}

/* ---- the same address, the same offsets ---- */

#define GRANULE  ((rma_gptr_t)64 * KIB)
#define GRANULES ((rma_gptr_t)1 << 22)

static rma_gptr_t granule_of(rma_gptr_t g) { return ((g & ((1ull << 40) - 1)) - RMA_GPTR_ATTACHED_) / GRANULE; }

/* Offsets are given out in a circle. Regions of n granules that are not there but as address space move it on. */
static void move_circle(char *space, rma_gptr_t n) {
    rma_gptr_t g;
    if (n == 0) return;
    OK(rma_attach(space, n * GRANULE, &g));
    OK(rma_detach(space));
}

static void use_word(int q, int slot, uint64_t before) {
    const rma_gptr_t g = told(&board->region[slot], q);
    uint64_t was;
    OK(rma_gptr_get(&was, g + 8, sizeof was));
    CHECK(was == before, "%llu, not %llu (%s)", (unsigned long long)was, (unsigned long long)before, mode->name);
    job_raised.count = 0;
    rma_gptr_atomic_fetch_add_uint64(g, before);
    CHECK(!job_raised.count, "%s", rma_last_error());
}

/* board->region[0] stays the same pointer, and names one piece of memory after the other; region[1] is the same piece
 * under one pointer after the other. */
static void same_address_and_same_offsets(void) {
    enum { TIMES = 3, PIECE = 64 * 1024 };
    const int owner = job.n - 1;
    char *space =
        mmap(NULL, GRANULES * GRANULE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *memory = private_memory((TIMES + 1) * PIECE);
    rma_gptr_t first = RMA_GPTR_NULL, old = RMA_GPTR_NULL;
    board->word = space != MAP_FAILED && job_room() > 64 * MIB;
    OK(rma_barrier_all());
    for (uint64_t turn = 0; turn < TIMES && rma_g(&board->word, owner); turn++) {
        unsigned char *fresh = memory + (1 + turn) * PIECE;
        if (job.me == owner) {
            OK(rma_attach(fresh, PIECE, &board->region[0]));
            move_circle(space, turn);
            OK(rma_attach(memory, PIECE, &board->region[1]));
            if (turn == 0) first = board->region[0];
            CHECK(board->region[0] == first && board->region[1] != old, "%#llx, %#llx",
                  (unsigned long long)board->region[0], (unsigned long long)board->region[1]);
            memset(fresh, 0, PIECE);
            ((uint64_t *)(void *)fresh)[1] = turn + 100;
            ((uint64_t *)(void *)memory)[1] = turn + 200;
        }
        OK(rma_barrier_all());
        if (old != RMA_GPTR_NULL && job.me != owner) {
            EXPECT("rma_gptr_put", rma_gptr_put(old, &turn, sizeof turn), RMA_ERR_ADDRESS, gone(owner));
            EXPECT_ZERO("rma_gptr_atomic_fetch_uint64", rma_gptr_atomic_fetch_uint64(old), RMA_ERR_ADDRESS,
                        gone(owner));
        }
        old = told(&board->region[1], owner);
        use_word(owner, 0, turn + 100);
        use_word(owner, 1, turn + 200);
        OK(rma_barrier_all());
        if (job.me != owner) continue;
        CHECK(*(uint64_t *)(void *)fresh == (turn + 100) * (uint64_t)job.n, "%llu (%s)",
              (unsigned long long)*(uint64_t *)(void *)fresh, mode->name);
        OK(rma_detach(fresh));
        OK(rma_detach(memory));
        for (uint64_t i = 1; i <= turn; i++)
            CHECK(*(uint64_t *)(void *)(memory + i * PIECE) == (i + 99) * (uint64_t)job.n, "an older region (%s)",
                  mode->name);
        move_circle(space, GRANULES - granule_of(old) - 1);
        move_circle(space, granule_of(first));
    }
    OK(rma_barrier_all());
    if (space != MAP_FAILED) munmap(space, GRANULES * GRANULE);
    munmap(memory, (TIMES + 1) * PIECE);
}

/* ---- heaps that grow ---- */

#define BLOCKS 8
static const size_t block_size[BLOCKS] = {WORDS + 40 * KIB,  WORDS + 300 * KIB + 5,  WORDS + 100 * KIB,
                                          WORDS + 3 * KIB,   WORDS + 900 * KIB + 13, WORDS + 200 * KIB,
                                          WORDS + 256 * KIB, WORDS + 700 * KIB};

static struct growth {
    rma_gptr_t block[BLOCKS];
    uint32_t adds[JOB_PES_MAX][BLOCKS]; /* that this PE has made, by owner */
} * growth;                             /* symmetric */

static void use_block(uint64_t *random, int q) {
    const int b = (int)job_below(random, BLOCKS), whose = (int)job_below(random, (size_t)job.n);
    const rma_gptr_t g = told(&growth->block[b], q);
    const size_t size = block_size[b], lane = lane_of(size), len = job_length(random, lane),
                 at = job_below(random, lane - len + 1);
    if (g == RMA_GPTR_NULL) return;
    put_and_get_back(g, q, size, at, len, (int)(len & 1));
    get_of_anybody(g, q, size, at, len, whose);
    rma_gptr_atomic_fetch_add_uint64(g, 1);
    OK(rma_gptr_atomic_add_uint64(g, 2));
    growth->adds[q][b] += 3;
}

static void local_heaps_grow(long turns) {
    uint64_t random = job_stream(100 + (uint64_t)job.me);
    unsigned char *block[BLOCKS];
    job_raised.count = 0;
    for (int b = 0; b < BLOCKS; b++) {
        rma_gptr_t g;
        OK(rma_alloc_mem(block_size[b], &block[b]));
        g = rma_gptr(block[b], job.me);
        memset(block[b], 0, WORDS);
        for (int pe = 0; pe < job.n; pe++)
            job_fill(block[b] + lane_start(block_size[b], pe), 0, lane_of(block_size[b]), key_of(g, OWNER_S));
        tell(&growth->block[b], g);
        for (long i = 0; i < turns; i++) use_block(&random, job_any(1 + (int)job_below(&random, (size_t)job.n)));
    }
    OK(rma_barrier_all());
    CHECK(job_raised.count == 0, "%s", job_raised.text);
    for (int b = 0; b < BLOCKS; b++) {
        const uint64_t sum = *(uint64_t *)(void *)block[b];
        uint64_t adds = 0;
        for (int pe = 0; pe < job.n; pe++) {
            const size_t at = check_lane(block[b], block_size[b], growth->block[b], pe);
            CHECK(at == lane_of(block_size[b]), "byte %zu of PE %d's part of block %d (%s)", at, pe, b, mode->name);
            adds += rma_g(&growth->adds[job.me][b], pe);
        }
        CHECK(sum == adds, "block %d: %llu was added, %llu is there (%s)", b, (unsigned long long)adds,
              (unsigned long long)sum, mode->name);
    }
    OK(rma_barrier_all());
    for (int b = 0; b < BLOCKS; b++) OK(rma_free_mem(block[b]));
}

/* What a PE has put stays on its way while the heap grows. */
static void the_symmetric_heap_grows(void) {
    enum { TIMES = 5 };
    unsigned char *block[TIMES], *from[TIMES];
    rma_ctx *ctx;
    OK(rma_team_create_ctx(RMA_TEAM_WORLD, 0, &ctx));
    for (int b = 0; b < TIMES; b++) {
        const size_t size = WORDS + 250 * KIB * (size_t)(b + 1), lane = lane_of(size);
        block[b] = rma_calloc(1, size);
        from[b] = malloc(lane);
        CHECK(block[b] && from[b], "%s", rma_last_error());
        job_fill(from[b], 0, lane, (uint64_t)(b * JOB_PES_MAX + job.me));
        for (int i = 0; i < job.n; i++) {
            const int q = job_any(i);
            OK(rma_ctx_put_nbi(ctx, block[b] + lane_start(size, job.me), from[b], lane, q));
            OK(rma_atomic_add((uint64_t *)(void *)block[b], (uint64_t)1, q));
            rma_gptr_atomic_fetch_add_uint64(rma_gptr(block[b], q), 1);
            if (b) rma_atomic_fetch_add((uint64_t *)(void *)block[b - 1], (uint64_t)1, q);
        }
    }
    OK(rma_ctx_quiet(ctx));
    OK(rma_barrier_all());
    for (int b = 0; b < TIMES; b++) {
        const size_t size = WORDS + 250 * KIB * (size_t)(b + 1), lane = lane_of(size);
        const uint64_t sum = *(uint64_t *)(void *)block[b], want = (uint64_t)job.n * (b + 1 < TIMES ? 3 : 2);
        CHECK(sum == want, "block %d: %llu, not %llu (%s)", b, (unsigned long long)sum, (unsigned long long)want,
              mode->name);
        for (int pe = 0; pe < job.n; pe++) {
            const size_t at = job_differs(block[b] + lane_start(size, pe), 0, lane, (uint64_t)(b * JOB_PES_MAX + pe));
            CHECK(at == lane, "byte %zu of what PE %d has put to block %d (%s)", at, pe, b, mode->name);
        }
        free(from[b]);
    }
    OK(rma_barrier_all());
    OK(rma_ctx_destroy(ctx));
    for (int b = TIMES; b-- > 0;) rma_free(block[b]);
}

/* Accesses across each place where a piece of the heap that MPI knows may end: they are all at multiples of 256 KiB. */
static void cross_steps(rma_gptr_t g, size_t size, int q) {
    static const size_t lengths[] = {2, 8, 4097, 70001, 600 * 1024};
    for (size_t at = 256 * KIB - g % (256 * KIB); at < size; at += 256 * KIB)
        for (size_t i = 0; i < N(lengths) - (at > 512 * KIB); i++) { /* the longest one at the first two */
            const size_t len = lengths[i], half = len / 2 < at ? len / 2 : at, start = at - half,
                         n = len < size - start ? len : size - start;
            job_fill(bytes, 0, n, at + i);
            job_order(q);
            OK(rma_gptr_put(g + start, bytes, n));
            job_settle(q);
            memset(copy, 0, n);
            OK(rma_gptr_get(copy, g + start, n));
            CHECK(memcmp(bytes, copy, n) == 0, "%zu bytes at %zu (%s)", n, start, mode->name);
        }
    job_fill(bytes, 0, size, g);
    job_order(q);
    OK(rma_gptr_put(g, bytes, size));
}

static void accesses_cross_steps(void) {
    const size_t size = 1536 * KIB + 77;
    const int next = job_any(1);
    unsigned char *local, *symmetric = rma_malloc(size);
    CHECK(symmetric != NULL, "%s", rma_last_error());
    OK(rma_alloc_mem(size, &local));
    board->region[0] = rma_gptr(local, job.me);
    OK(rma_barrier_all());
    cross_steps(told(&board->region[0], next), size, next);
    cross_steps(rma_gptr(symmetric, next), size, next);
    OK(rma_barrier_all());
    CHECK(job_differs(local, 0, size, rma_gptr(local, job.me)) == size, "a block of the local heap (%s)", mode->name);
    CHECK(job_differs(symmetric, 0, size, rma_gptr(symmetric, job.me)) == size, "a symmetric block (%s)", mode->name);
    OK(rma_free_mem(local));
    rma_free(symmetric);
}

/* ---- totals ---- */

enum place { SYMMETRIC, VARIABLE, LOCAL, GUEST, ATTACHED, PLACES };
static const char *const place_names[PLACES] = {"symmetric", "global variable", "local", "guest's", "attached"};
struct words {
    uint64_t added, counted, most;
    uint32_t small, spare;
};
static struct words variable; /* symmetric */

static struct totals {
    rma_gptr_t place[PLACES];
    struct words words;
} * totals; /* symmetric */

static void count_at(rma_gptr_t g, uint64_t turn) {
    uint64_t seen, was = rma_gptr_atomic_fetch_uint64(g + offsetof(struct words, counted));
    rma_gptr_atomic_fetch_add_uint64(g, turn);
    OK(rma_gptr_atomic_add_uint64(g, 1));
    OK(rma_gptr_atomic_inc_uint32(g + offsetof(struct words, small)));
    OK(rma_gptr_atomic_max_uint64(g + offsetof(struct words, most), turn * JOB_PES_MAX + (uint64_t)job.me));
    do {
        seen = was;
        was = rma_gptr_atomic_compare_swap_uint64(g + offsetof(struct words, counted), seen, seen + 1);
    } while (was != seen);
}

static void check_total(const struct words *w, int place, uint64_t turns) {
    const uint64_t all = turns * (uint64_t)job.n, most = (turns - 1) * JOB_PES_MAX + (uint64_t)job.n - 1;
    CHECK(w->added == all + (turns - 1) * turns / 2 * (uint64_t)job.n && w->counted == all && w->small == all &&
              w->most == most,
          "%s memory: %llu, %llu, %u, %llu; with %llu of each (%s)", place_names[place], (unsigned long long)w->added,
          (unsigned long long)w->counted, w->small, (unsigned long long)w->most, (unsigned long long)all, mode->name);
}

static void totals_are_exact(long turns) {
    const int next = job_any(1);
    struct words *local, *region = calloc(1, sizeof *region), guest;
    rma_gptr_t g, from;
    CHECK(region != NULL, "no memory");
    OK(rma_alloc_mem(sizeof *local, &local));
    memset(local, 0, sizeof *local);
    memset(&variable, 0, sizeof variable);
    totals->place[SYMMETRIC] = rma_gptr(&totals->words, job.me);
    totals->place[VARIABLE] = rma_gptr(&variable, job.me);
    totals->place[LOCAL] = rma_gptr(local, job.me);
    OK(rma_attach(region, sizeof *region, &totals->place[ATTACHED]));
    OK(rma_alloc_mem_on(next, sizeof guest, &g));
    memset(&guest, 0, sizeof guest);
    OK(rma_gptr_put(g, &guest, sizeof guest));
    OK(rma_p(&totals->place[GUEST], g, next));
    OK(rma_barrier_all());
    from = told(&totals->place[GUEST], job.me);
    for (long turn = 0; turn < turns; turn++)
        for (int i = 0; i < job.n; i++)
            for (int place = 0; place < PLACES; place++) {
                const int q = job_any(i + (int)turn);
                const rma_gptr_t there = told(&totals->place[place], q);
                if (there != RMA_GPTR_NULL) count_at(there, (uint64_t)turn);
            }
    OK(rma_barrier_all());
    OK(rma_gptr_get(&guest, from, sizeof guest));
    check_total(&totals->words, SYMMETRIC, (uint64_t)turns);
    if (totals->place[VARIABLE] != RMA_GPTR_NULL) check_total(&variable, VARIABLE, (uint64_t)turns);
    check_total(local, LOCAL, (uint64_t)turns);
    check_total(&guest, GUEST, (uint64_t)turns);
    check_total(region, ATTACHED, (uint64_t)turns);
    OK(rma_barrier_all());
    OK(rma_detach(region));
    OK(rma_gptr_free(g));
    OK(rma_free_mem(local));
    free(region);
}

/* ---- very many regions ---- */

#define ONE 128 /* bytes from one to the next; half of it is attached */

static void very_many_regions(long n, long turns) {
    uint64_t random = job_stream(200 + (uint64_t)job.me);
    rma_gptr_t *all = rma_malloc((size_t)n * sizeof *all);
    unsigned char *memory = NULL;
    CHECK(all != NULL, "%s", rma_last_error());
    if (job.me == 0) {
        CHECK((memory = malloc((size_t)n * ONE)) != NULL, "no memory");
        memset(memory, UNUSED, (size_t)n * ONE);
        for (long i = 0; i < n; i++) OK(rma_attach(memory + i * ONE, ONE / 2, &all[i]));
    }
    OK(rma_barrier_all());
    if (job.me != 0) OK(rma_get(all, all, (size_t)n * sizeof *all, 0));
    for (long i = 0; i < turns; i++) {
        const size_t k = job_below(&random, (size_t)n);
        const rma_gptr_t mine = all[k] + 8 * (unsigned)(job.me % 8);
        const uint64_t word = job_random(&random);
        uint64_t back = 0;
        OK(rma_gptr_put(mine, &word, sizeof word));
        job_settle(0);
        OK(rma_gptr_get(&back, mine, sizeof back));
        CHECK(back == word, "region %zu (%s)", k, mode->name);
    }
    OK(rma_barrier_all());
    if (job.me == 0) {
        for (long i = 0; i < n; i++) {
            OK(rma_detach(memory + i * ONE));
            memset(memory + i * ONE, UNUSED, ONE);
        }
    } else {
        for (long i = 0; i < turns; i++) {
            const uint64_t word = 1;
            allowed(rma_gptr_put(all[job_below(&random, (size_t)n)], &word, sizeof word), 0);
        }
    }
    OK(rma_barrier_all());
    if (job.me == 0)
        nothing_has_moved(memory, (size_t)n * ONE, UNUSED);
    else
        EXPECT("rma_gptr_put", rma_gptr_put(all[n / 2], &random, 8), RMA_ERR_ADDRESS, gone(0));
    free(memory);
    OK(rma_barrier_all());
    rma_free(all);
}

/* ---- */

static struct rma_stats stats_now(void) {
    struct rma_stats s;
    OK(rma_stats(&s));
    return s;
}

static void check_way(const struct rma_stats *before) {
    const struct rma_stats s = stats_now();
    const uint64_t moves = s.path[RMA_PATH_WINDOW].puts + s.path[RMA_PATH_WINDOW].gets -
                           before->path[RMA_PATH_WINDOW].puts - before->path[RMA_PATH_WINDOW].gets;
    if (strcmp(mode->window, "none") == 0)
        CHECK(moves == 0, "%llu puts and gets went through a window (%s)", (unsigned long long)moves, mode->name);
#ifdef MPICH_VERSION
    if (strcmp(mode->window, "dynamic") == 0 || strcmp(mode->window, "always") == 0)
        CHECK(moves > 0, "nothing went through a window (%s)", mode->name);
#endif
}

static void run(void) {
    const struct rma_stats before = stats_now();
    storm = rma_calloc(1, sizeof *storm);
    board = rma_calloc(1, sizeof *board);
    growth = rma_calloc(1, sizeof *growth);
    totals = rma_calloc(1, sizeof *totals);
    CHECK(storm && board && growth && totals, "%s", rma_last_error());
    DOING("attaching and detaching in a storm");
    attach_and_detach_in_a_storm(job_rounds(400, 70));
    DOING("using bad pointers");
    bad_pointers();
    DOING("attaching the same address and the same offsets");
    same_address_and_same_offsets();
    DOING("growing local heaps");
    local_heaps_grow(job_rounds(60, 10));
    DOING("growing the symmetric heap");
    the_symmetric_heap_grows();
    DOING("crossing steps");
    accesses_cross_steps();
    DOING("adding up");
    totals_are_exact(job_rounds(150, 20));
    DOING("attaching very many regions");
    very_many_regions(job.part == 1 ? 100000 : 2000, job_rounds(600, 100));
    check_way(&before);
}

int main(int argc, char **argv) {
    int level;
    job_begin();
    CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS, "MPI");
    MPI_Comm_size(MPI_COMM_WORLD, &job.n);
    for (size_t i = 0; i < N(modes); i++) {
        mode = &modes[i];
        if (job.n > 2 && i % 2 != (size_t)job.n % 2) continue;
        setenv("RMA_WINDOW", mode->window, 1);
        OK(rma_init_thread(mode->threads ? RMA_THREAD_MULTIPLE : RMA_THREAD_SINGLE, &level));
        job_look();
        if (job.one_node) job_skip("needs PEs on several nodes (RMA_NODE_PES=1)");
        run();
        OK(rma_finalize());
    }
    MPI_Finalize();
    return 0;
}
