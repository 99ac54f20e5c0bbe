/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs that do not make the same collective call with the same arguments all get an error with both values and their
 * PEs, and the heap is as if nothing had been called.
 *
 * Broken by a PE that succeeds while the others fail, or the reverse (then their heaps differ, as the next offsets
 * show), by memory that a PE has committed for itself and keeps, by mixed-up values or PEs, and by a PE that waits for
 * ever for one that has given up.
 */
#include "job.h"

static int odd;              /* the PE that differs */
static char *first, *second; /* two symmetric blocks, of 300 and 500 bytes */

#define MINE (job.me == odd)

/* PE 0 speaks for the others, unless it is the odd one. */
static const char *pair(unsigned long long ours, unsigned long long theirs) {
    int other = odd == 0 ? 1 : 0;
    unsigned long long low = ours < theirs ? ours : theirs, high = ours < theirs ? theirs : ours;
    return job_text("is %llu on PE %d, but %llu on PE %d", low, low == theirs ? odd : other, high,
                    high == theirs ? odd : other);
}

/* The heap is as before: both blocks stand, and the next ones lie at the same offset on each PE. */
static void as_before(void) {
    static uint64_t place;
    uint64_t *block = rma_malloc(200), here;
    CHECK(block != NULL, "%s", rma_last_error());
    here = rma_gptr(block, job.me) & 0xffffffffffu;
    if (!place) place = here;
    CHECK(here == place, "the next block lies at %#llx, before at %#llx", (unsigned long long)here,
          (unsigned long long)place);
    *block = here;
    OK(rma_broadcast(RMA_TEAM_WORLD, block, block, 8, odd));
    CHECK(*block == here, "the next block lies at %#llx, on PE %d at %#llx", (unsigned long long)here, odd,
          (unsigned long long)*block);
    OK(rma_free(block));
    CHECK(job_differs(first, 0, 300, 1) == 300 && job_differs(second, 0, 500, 2) == 500, "a block has changed");
}

#define MISMATCHED(name, call, ...)                                                                                    \
    do {                                                                                                               \
        EXPECT(name, call, RMA_ERR_MISMATCH, __VA_ARGS__);                                                             \
        as_before();                                                                                                   \
    } while (0)
#define MISMATCHED_NULL(name, call, ...)                                                                               \
    do {                                                                                                               \
        EXPECT_ZERO(name, (call) != NULL, RMA_ERR_MISMATCH, __VA_ARGS__);                                              \
        as_before();                                                                                                   \
    } while (0)

static void arguments(void) {
    size_t huge = (size_t)1 << 40;
    MISMATCHED_NULL("rma_malloc", rma_malloc(MINE ? 200 : 100), "size", pair(100, 200));
    MISMATCHED_NULL("rma_malloc", rma_malloc(MINE ? 100 : 200), "size", pair(200, 100));
    MISMATCHED_NULL("rma_malloc", rma_malloc(MINE ? 0 : 100), "size", pair(100, 0));
    MISMATCHED_NULL("rma_malloc", rma_malloc(MINE ? huge : 100), "size", pair(100, huge));
    MISMATCHED_NULL("rma_malloc", rma_malloc(MINE ? 65 : 64), "size", pair(64, 65));
    MISMATCHED_NULL("rma_calloc", rma_calloc(MINE ? 7 : 6, 10), "size", pair(60, 70));
    MISMATCHED_NULL("rma_calloc", rma_calloc(MINE ? SIZE_MAX : 3, 2), "size", pair(6, SIZE_MAX));
    MISMATCHED_NULL("rma_aligned_alloc", rma_aligned_alloc(MINE ? 256 : 128, 64), "alignment", pair(128, 256));
    MISMATCHED_NULL("rma_aligned_alloc", rma_aligned_alloc(128, MINE ? 1 : 2), "size", pair(2, 1));
    MISMATCHED_NULL("rma_realloc", rma_realloc(first, MINE ? 3000 : 2000), "new size", pair(2000, 3000));
    MISMATCHED_NULL("rma_realloc", rma_realloc(first, MINE ? 10 : 20), "new size", pair(20, 10));
    MISMATCHED_NULL("rma_realloc", rma_realloc(MINE ? first : second, 100), "block");
    MISMATCHED_NULL("rma_realloc", rma_realloc(MINE ? NULL : second, 100), "block");
    MISMATCHED("rma_free", rma_free(MINE ? first : second), "block");
    MISMATCHED("rma_free", rma_free(MINE ? NULL : second), "block");
    MISMATCHED("rma_free", rma_free(MINE ? first : NULL), "block");
}

static size_t committed(void) {
    struct rma_heap_stats stats;
    OK(rma_heap_stats(RMA_HEAP_SYMMETRIC, &stats));
    return stats.committed;
}

/* A PE commits memory before it knows what the others ask for; it gives that back. */
static void growth(void) {
    const size_t before = committed(), mib = (size_t)1 << 20;
    MISMATCHED_NULL("rma_malloc", rma_malloc(MINE ? 8 * mib : 100), "size", pair(100, 8 * mib));
    MISMATCHED_NULL("rma_malloc", rma_malloc(MINE ? 8 * mib : 9 * mib), "size", pair(9 * mib, 8 * mib));
    MISMATCHED_NULL("rma_malloc", rma_malloc(MINE ? 100 : 8 * mib), "size", pair(8 * mib, 100));
    CHECK(committed() < before + mib, "%zu bytes are committed, before %zu", committed(), before);
}

/* The odd PE has strayed into another call: both calls are named, and who is in which. */
#define STRAYED(my_name, my_call, their_name, their_call)                                                              \
    do {                                                                                                               \
        const char *text;                                                                                              \
        job_expect_begin("");                                                                                          \
        CHECK(!(MINE ? (my_call) : (their_call)), "PE %d is alone in " my_name, odd);                                  \
        text = rma_last_error();                                                                                       \
        CHECK(rma_last_code() == RMA_ERR_MISMATCH && job_raised.count == 1, "%s", text);                               \
        CHECK(strstr(text, job_text("PE %d is in " my_name, odd)) || strstr(text, job_text("PE %d in " my_name, odd)), \
              "names not PE %d in " my_name ": %s", odd, text);                                                        \
        CHECK(strstr(text, "in " their_name), "names not " their_name ": %s", text);                                   \
        as_before();                                                                                                   \
    } while (0)

static void calls(void) {
    STRAYED("rma_calloc", rma_calloc(1, 100) != NULL, "rma_malloc", rma_malloc(100) != NULL);
    STRAYED("rma_malloc", rma_malloc(100) != NULL, "rma_realloc", rma_realloc(first, 100) != NULL);
    STRAYED("rma_free", rma_free(first) == RMA_SUCCESS, "rma_malloc", rma_malloc(100) != NULL);
    STRAYED("rma_calloc", rma_calloc(1, 100) != NULL, "rma_aligned_alloc", rma_aligned_alloc(64, 100) != NULL);
    STRAYED("rma_realloc", rma_realloc(first, 0) != NULL, "rma_free", rma_free(first) == RMA_SUCCESS);

    /* A barrier has no arguments to compare: who is in it goes on, and the others are told. */
    if (!job.one_node) return;
    if (MINE)
        OK(rma_barrier_all());
    else
        EXPECT_ZERO("rma_malloc", rma_malloc(100) != NULL, RMA_ERR_MISMATCH, "another collective call",
                    job_text("; PE %d is in rma_barrier_all", odd));
    as_before();
}

/* What is wrong by itself on one PE fails there with that, and on the others too, naming the PE. */
#define ALONE(name, code, mine, theirs, ...)                                                                           \
    do {                                                                                                               \
        if (MINE) {                                                                                                    \
            EXPECT_ZERO(name, mine, code, __VA_ARGS__);                                                                \
        } else {                                                                                                       \
            job_expect_begin(name);                                                                                    \
            CHECK(!(theirs), "PE %d has failed, this one not", odd);                                                   \
            CHECK(rma_last_code() == (code) || rma_last_code() == RMA_ERR_MISMATCH, "code %d: %s", rma_last_code(),    \
                  rma_last_error());                                                                                   \
            CHECK(strncmp(rma_last_error(), name ":", sizeof name) == 0, "names not " name ": %s", rma_last_error());  \
            CHECK(strstr(rma_last_error(), job_text("PE %d", odd)), "names not PE %d: %s", odd, rma_last_error());     \
            CHECK(job_raised.count == 1, "the error handler was called %d times", job_raised.count);                   \
        }                                                                                                              \
        as_before();                                                                                                   \
    } while (0)

static void alone(void) {
    char stack[8] = {0};
    ALONE("rma_aligned_alloc", RMA_ERR_ARG, rma_aligned_alloc(3, 64) != NULL, rma_aligned_alloc(64, 64) != NULL,
          "alignment 3");
    ALONE("rma_free", RMA_ERR_BASE, rma_free(stack) == RMA_SUCCESS, rma_free(first) == RMA_SUCCESS, "not a block");
    ALONE("rma_free", RMA_ERR_BASE, rma_free(first + 64) == RMA_SUCCESS, rma_free(first) == RMA_SUCCESS,
          "64 bytes into the block of 300");
    ALONE("rma_realloc", RMA_ERR_BASE, rma_realloc(first + 64, 100) != NULL, rma_realloc(first, 100) != NULL,
          "64 bytes into the block of 300");
}

int main(void) {
    job_start();
    if (job.n == 1) job_skip("needs several PEs: one PE agrees with itself");
    first = rma_malloc(300);
    second = rma_malloc(500);
    CHECK(first && second, "%s", rma_last_error());
    job_fill(first, 0, 300, 1);
    job_fill(second, 0, 500, 2);
    for (int turn = 0; turn < (job.n > 2 ? 3 : 2); turn++) {
        odd = turn == 0 ? job.n - 1 : turn == 1 ? 0 : job.n / 2;
        DOING("different arguments");
        arguments();
        DOING("different sizes beyond the heap's");
        growth();
        DOING("different calls");
        calls();
        DOING("one wrong argument");
        alone();
    }
    OK(rma_free(second));
    OK(rma_free(first));
    return job_end();
}
