/* SPDX-License-Identifier: BSD-3-Clause */
/* Exhausted memory gives a code or a null pointer with the reason, on every PE, and nothing else changes.
 *
 * Broken by a limit that one PE does not respect, by a failure that leaves a block on some PE (offsets then differ) or
 * loses memory (the whole heap can no longer be allocated), by an output that is written after a failure, and by memory
 * that is granted but cannot be touched.
 *
 * With RMA_TEST_SHM=1 (test/check-small-shm.sh) the limit is /dev/shm itself, of 64 MiB. With RMA_TEST_GROUP=bytes
 * (test/check-cgroup.sh) it is that of the control group in which all PEs are, with RMA_TEST_MEMORY=bytes
 * (test/check-small-shm.sh) the node's memory: there the kernel kills a PE instead of refusing memory. With
 * RMA_TEST_LIMITED=1 the heaps also have limits, which are far larger. */
#include "job.h"

#include <sys/statvfs.h>

#define MIB    ((size_t)1 << 20)
#define BLOCKS 4096

static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static uint64_t key_of(int pe, size_t block) { return (uint64_t)pe << 32 | block; }

static void check_blocks(size_t n, int pe) {
    for (size_t b = 0; b < n; b++)
        CHECK(!blocks[b] || job_differs(blocks[b], 0, sizes[b], key_of(pe, b)) == sizes[b], "block %zu of %zu bytes", b,
              sizes[b]);
}

static void shuffle(size_t n, uint64_t *random) {
    for (size_t b = n; b > 1; b--) {
        size_t other = job_below(random, b), size = sizes[b - 1];
        void *block = blocks[b - 1];
        blocks[b - 1] = blocks[other], blocks[other] = block;
        sizes[b - 1] = sizes[other], sizes[other] = size;
    }
}

/* ---- the symmetric heap, of at most 4 MiB: PE 0 was told 4, the others 8, and the smallest counts ---- */

static void too_much(void) {
    void *kept = rma_malloc(1000);
    CHECK(kept != NULL, "%s", rma_last_error());
    job_fill(kept, 0, 1000, 1);
    EXPECT_ZERO("rma_malloc", rma_malloc(8 * MIB) != NULL, RMA_ERR_NO_MEM, "8 MiB", "at most 4 MiB", "RMA_HEAP_MAX");
    EXPECT_ZERO("rma_malloc", rma_malloc(4 * MIB) != NULL, RMA_ERR_NO_MEM, "4 MiB requested", "RMA_HEAP_MAX");
    EXPECT_ZERO("rma_malloc", rma_malloc(SIZE_MAX) != NULL, RMA_ERR_NO_MEM, "RMA_HEAP_MAX");
    EXPECT_ZERO("rma_malloc", rma_malloc(SIZE_MAX - 100) != NULL, RMA_ERR_NO_MEM, "RMA_HEAP_MAX");
    EXPECT_ZERO("rma_calloc", rma_calloc(8, MIB) != NULL, RMA_ERR_NO_MEM, "8 MiB", "RMA_HEAP_MAX");
    EXPECT_ZERO("rma_calloc", rma_calloc(SIZE_MAX, 2) != NULL, RMA_ERR_NO_MEM,
                job_text("count %zu times size 2 overflows", SIZE_MAX));
    EXPECT_ZERO("rma_calloc", rma_calloc((size_t)1 << 32, (size_t)1 << 32) != NULL, RMA_ERR_NO_MEM, "overflows");
    EXPECT_ZERO("rma_aligned_alloc", rma_aligned_alloc((size_t)1 << 30, 64) != NULL, RMA_ERR_NO_MEM, "RMA_HEAP_MAX");
    EXPECT_ZERO("rma_realloc", rma_realloc(kept, 8 * MIB) != NULL, RMA_ERR_NO_MEM, "8 MiB", "RMA_HEAP_MAX");
    EXPECT_ZERO("rma_realloc", rma_realloc(NULL, 8 * MIB) != NULL, RMA_ERR_NO_MEM, "8 MiB", "RMA_HEAP_MAX");
    CHECK(job_differs(kept, 0, 1000, 1) == 1000, "the block that could not grow has changed");
    /* Whoever has not looked at the result learns where the null pointer comes from. */
    EXPECT("rma_put", rma_put(NULL, kept, 8, job.me), RMA_ERR_ADDRESS, "dest is a null pointer: an earlier ",
           "rma_realloc of 8 MiB had no memory");
    OK(rma_free(kept));
}

/* Fills the heap with blocks of random sizes, the same on each PE, and empties it in random order. */
static void fill_and_empty(void) {
    uint64_t random = job_stream(0), told[2], mine[2] = {0, 0};
    uint64_t *common = rma_malloc(sizeof told);
    size_t n, bytes = 0;
    void *whole, *there, *buffer = malloc(4 * MIB);
    CHECK(common && buffer, "%s", rma_last_error());
    for (n = 0; n < BLOCKS; n++) {
        size_t size = 1 + job_length(&random, 256 << 10);
        blocks[n] = rma_malloc(size);
        sizes[n] = size;
        if (!blocks[n]) break;
        job_fill(blocks[n], 0, size, key_of(job.me, n));
        bytes += size;
        mine[1] = job_mix(mine[1] ^ (rma_gptr(blocks[n], job.me) & 0xffffffffffu));
    }
    CHECK(n < BLOCKS && rma_last_code() == RMA_ERR_NO_MEM && strstr(rma_last_error(), "RMA_HEAP_MAX"), "%zu blocks: %s",
          n, rma_last_error());
    CHECK(bytes > 3 * MIB, "exhausted by %zu blocks of %zu bytes in all", n, bytes);
    mine[0] = n;

    /* The same blocks on each PE. */
    for (int root = 0; root<job.n; root += job.n> 1 ? job.n - 1 : 1) {
        if (job.me == root) memcpy(common, mine, sizeof mine);
        OK(rma_broadcast(RMA_TEAM_WORLD, common, common, sizeof told, root));
        memcpy(told, common, sizeof told);
        CHECK(told[0] == mine[0] && told[1] == mine[1], "PE %d has %llu blocks, this one %llu, or at other offsets",
              root, (unsigned long long)told[0], (unsigned long long)mine[0]);
        OK(rma_barrier_all());
    }
    check_blocks(n, job.me);
    OK(rma_free(common));
    shuffle(n, &random);
    for (size_t b = 0; b < n; b++) OK(rma_free(blocks[b]));

    /* Nothing is lost: all of it is one block again, and is memory to the last byte. */
    whole = rma_malloc(4 * MIB);
    CHECK(whole != NULL, "%s", rma_last_error());
    OK(rma_barrier_all());
    there = rma_ptr(whole, job_any(1));
    CHECK((there != NULL) == rma_on_node(job_any(1)), "%p for PE %d", there, job_any(1));
    job_fill(there ? there : buffer, 0, 4 * MIB, 5);
    if (!there) OK(rma_put(whole, buffer, 4 * MIB, job_any(1)));
    OK(rma_barrier_all());
    CHECK(job_differs(whole, 0, 4 * MIB, 5) == 4 * MIB, "the whole heap does not hold what was put there");
    EXPECT_ZERO("rma_malloc", rma_malloc(1) != NULL, RMA_ERR_NO_MEM, "RMA_HEAP_MAX");
    OK(rma_free(whole));
    free(buffer);
}

/* ---- the local heap, of at most 2 MiB: each PE for itself, at once, with sizes of its own ---- */

static void local(void) {
    uint64_t random = job_stream(1 + (uint64_t)job.me);
    void *untouched = &random, *base = untouched;
    size_t n, bytes = 0;
    EXPECT("rma_alloc_mem", rma_alloc_mem(3 * MIB, &base), RMA_ERR_NO_MEM, "3 MiB", "at most 2 MiB", "RMA_LOCAL_MAX");
    EXPECT("rma_alloc_mem", rma_alloc_mem(SIZE_MAX, &base), RMA_ERR_NO_MEM, "RMA_LOCAL_MAX");
    CHECK(base == untouched, "rma_alloc_mem failed and wrote %p", base);
    for (n = 0; n < BLOCKS; n++) {
        size_t size = 1 + job_length(&random, 64 << 10);
        if (rma_alloc_mem(size, &base) != RMA_SUCCESS) break;
        job_fill(base, 0, size, key_of(job.me, n));
        blocks[n] = base;
        sizes[n] = size;
        bytes += size;
    }
    CHECK(n < BLOCKS && rma_last_code() == RMA_ERR_NO_MEM && strstr(rma_last_error(), "RMA_LOCAL_MAX"),
          "%zu blocks: %s", n, rma_last_error());
    CHECK(bytes > 3 * MIB / 2, "exhausted by %zu blocks of %zu bytes in all", n, bytes);
    check_blocks(n, job.me);
    shuffle(n, &random);
    for (size_t b = 0; b < n; b++) OK(rma_free_mem(blocks[b]));
    OK(rma_alloc_mem(2 * MIB, &base));
    memset(base, 1, 2 * MIB);
    OK(rma_free_mem(base));
}

/* What fails, fails the same way every time, and costs nothing that would add up. */
static void again_and_again(void) {
    long *word = rma_calloc(1, sizeof *word);
    CHECK(word != NULL, "%s", rma_last_error());
    for (int i = 0; i < 20; i++) {
        CHECK(rma_malloc(5 * MIB) == NULL && rma_last_code() == RMA_ERR_NO_MEM, "%s", rma_last_error());
        OK(rma_p(word, (long)i, job_any(1)));
        OK(rma_barrier_all());
        CHECK(*word == i, "%ld", *word);
        OK(rma_barrier_all());
    }
    OK(rma_free(word));
}

/* ---- a small /dev/shm ---- */

static size_t shm_free(void) {
    struct statvfs s;
    CHECK(statvfs("/dev/shm", &s) == 0, "no /dev/shm");
    return (size_t)s.f_bavail * s.f_frsize;
}

static size_t shm_size(void) {
    struct statvfs s;
    CHECK(statvfs("/dev/shm", &s) == 0, "no /dev/shm");
    return (size_t)s.f_blocks * s.f_frsize;
}

static const char *culprit = "/dev/shm"; /* what runs out, as texts name it */

static void told_why(const char *call) {
    CHECK(rma_last_code() == RMA_ERR_NO_MEM, "%s: %s", call, rma_last_error());
    CHECK(strncmp(rma_last_error(), call, strlen(call)) == 0, "names not %s: %s", call, rma_last_error());
    CHECK(strstr(rma_last_error(), culprit), "names not %s: %s", culprit, rma_last_error());
}

/* Allocates together until there is no more. Returns how many blocks there are. */
static size_t fill_together(size_t size) {
    size_t n = 0;
    for (; n < BLOCKS && (blocks[n] = rma_malloc(size)) != NULL; n++) memset(blocks[n], 1, size);
    CHECK(n < BLOCKS, "%zu blocks of %zu bytes", n, size);
    told_why("rma_malloc");
    OK(rma_barrier_all());
    return n;
}

/* Without a limit the heaps leave a quarter of a small /dev/shm to the system and to MPI, but for the allocators'
 * tables, and say so. */
static void told_of_rest(const char *setting) {
    CHECK(strstr(rma_last_error(), "to the system and to MPI") && strstr(rma_last_error(), setting), "%s",
          rma_last_error());
    CHECK(shm_free() + MIB >= shm_size() / 4, "%zu bytes free of %zu", shm_free(), shm_size());
    OK(rma_barrier_all());
}

/* With a limit they take what the limit says. */
static void limited_shm(void) {
    size_t n;
    CHECK(job.n_near > 1, "only PEs that share memory use /dev/shm");
    DOING("a limit beyond /dev/shm");
    n = fill_together(256 << 10);
    CHECK(shm_free() < shm_size() / 8, "%zu bytes free of %zu", shm_free(), shm_size());
    CHECK(!strstr(rma_last_error(), "to the system and to MPI"), "%s", rma_last_error());
    OK(rma_barrier_all());
    while (n > 0) OK(rma_free(blocks[--n]));
}

static void small_shm(void) {
    size_t before, size = 40 * MIB;
    char *block;
    CHECK(job.n_near > 1, "only PEs that share memory use /dev/shm");
    OK(rma_barrier_all());
    before = shm_free();
    CHECK(before < 70 * MIB, "/dev/shm has %zu bytes free: this test fills it", before);
    OK(rma_barrier_all());

    DOING("more than all of it");
    block = rma_malloc(100 * MIB);
    CHECK(block == NULL, "100 MiB out of %zu", before);
    told_why("rma_malloc");

    /* There is room for one PE's share, not for all: whoever is first gets it, and must give it back. */
    DOING("more than all can have");
    for (int i = 0; i < 5; i++) {
        block = rma_malloc(size);
        CHECK(block == NULL, "%d times %zu bytes out of %zu", job.n_near, size, before);
        CHECK(rma_last_code() == RMA_ERR_NO_MEM, "%s", rma_last_error());
        told_why("rma_malloc");
        OK(rma_barrier_all());
        CHECK(shm_free() + MIB >= before, "%zu bytes free, %zu before the failure", shm_free(), before);
        OK(rma_barrier_all());
    }

    DOING("less");
    size = before / (size_t)job.n_near / 2;
    block = rma_malloc(size);
    CHECK(block != NULL, "%s", rma_last_error());
    job_fill(block, 0, size, (uint64_t)job.me);
    OK(rma_barrier_all());
    CHECK(job_differs(rma_ptr(block, job_next(1)), 0, size, (uint64_t)job_next(1)) == size, "the peer's block");
    OK(rma_free(block));

    DOING("the local heaps, until there is no more");
    for (size = MIB;;) {
        char *base;
        if (rma_alloc_mem(size, &base) != RMA_SUCCESS) break;
        memset(base, 1, size);
    }
    told_why("rma_alloc_mem");
    OK(rma_barrier_all());
    told_of_rest("RMA_LOCAL_MAX");
    DOING("the symmetric heap, until there is no more");
    for (size_t n = fill_together(MIB); n > 0;) {
        told_of_rest("RMA_HEAP_MAX");
        while (n > 0) OK(rma_free(blocks[--n]));
    }
    block = rma_malloc(before / (size_t)job.n_near / 2);
    CHECK(block != NULL, "what has been given is still there: %s", rma_last_error());
    memset(block, 1, before / (size_t)job.n_near / 2);
    OK(rma_free(block));
}

/* ---- a control group, or a node, with little memory ---- */

/* How many blocks of so many bytes this PE can have beside those of the others, all of them at once. */
static size_t take_blocks(size_t size) {
    size_t n = 0;
    for (; n < BLOCKS && rma_alloc_mem(size, &blocks[n]) == RMA_SUCCESS; n++) memset(blocks[n], 1, size);
    CHECK(n < BLOCKS, "%zu blocks of %zu bytes", n, size);
    told_why("rma_alloc_mem");
    return n;
}

static void little_memory(size_t limit) {
    size_t share = limit / (size_t)job.n, had[2];
    char *block;
    DOING("more than all of it");
    CHECK(rma_malloc(limit) == NULL, "%zu bytes of %zu", limit, limit);
    told_why("rma_malloc");

    /* There is room for one PE's share, not for all of them, nor beside what MPI has. */
    DOING("more than all can have");
    for (int i = 0; i < 5; i++) {
        CHECK(rma_malloc(share) == NULL, "%d times %zu bytes of %zu", job.n, share, limit);
        told_why("rma_malloc");
    }

    DOING("less");
    block = rma_malloc(share / 3);
    CHECK(block != NULL, "%s", rma_last_error());
    job_fill(block, 0, share / 3, (uint64_t)job.me);
    OK(rma_barrier_all());

    /* The heap keeps what it had, so that the second time all is there already. */
    DOING("the local heaps, until there is no more");
    for (int i = 0; i < 2; i++) {
        had[i] = take_blocks(300000);
        OK(rma_barrier_all());
        for (size_t b = 0; b < had[i]; b++) OK(rma_free_mem(blocks[b]));
        OK(rma_barrier_all());
    }
    CHECK(had[1] >= had[0], "%zu blocks at first, then %zu", had[0], had[1]);
    DOING("the symmetric heap, until there is no more");
    for (size_t n = fill_together(MIB); n > 0;) OK(rma_free(blocks[--n]));
    CHECK(job_differs(block, 0, share / 3, (uint64_t)job.me) == share / 3, "the block has changed");
    OK(rma_free(block));
}

int main(void) {
    const char *rank = getenv("PMI_RANK"), *group = getenv("RMA_TEST_GROUP"), *memory = getenv("RMA_TEST_MEMORY");
    const int shm = getenv("RMA_TEST_SHM") != NULL, limited = getenv("RMA_TEST_LIMITED") != NULL;
    unsetenv("RMA_HEAP_MAX");
    unsetenv("RMA_LOCAL_MAX");
    if (limited) {
        setenv("RMA_HEAP_MAX", memory ? "1G" : "100M", 1);
        setenv("RMA_LOCAL_MAX", memory ? "1G" : "100M", 1);
    } else if (!shm && !group && !memory) {
        setenv("RMA_HEAP_MAX", !rank || atoi(rank) == 0 ? "4M" : "8M", 1);
        setenv("RMA_LOCAL_MAX", "2M", 1);
    }
    if (group) culprit = "control group";
    if (memory) culprit = "the node";
    job_start();
    if (shm || group || memory) {
        if (shm && limited) limited_shm();
        if (shm && !limited) small_shm();
        if (group || memory) little_memory(strtoul(group ? group : memory, NULL, 10));
        return job_end();
    }
    DOING("blocks that no heap can hold");
    too_much();
    DOING("filling the symmetric heap");
    fill_and_empty();
    DOING("filling the local heap");
    local();
    OK(rma_barrier_all());
    DOING("failing again and again");
    again_and_again();
    fill_and_empty();
    return job_end();
}
