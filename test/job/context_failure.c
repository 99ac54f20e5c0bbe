/* SPDX-License-Identifier: BSD-3-Clause */
/* If an operation fails on another node after its call has returned, the next completion of its context reports this
 * once, and no other context does.
 *
 * Broken by an error that is kept with another context, that is reported twice or by any first call, that loses other
 * operations of the context, or that is forgotten when the context ends. A program's own mistakes are never found so
 * late: a symmetric range is checked before the message leaves. But the owner needs memory to receive long data. So
 * this program is linked with the library's objects, whose malloc refuses small blocks on request. */
#include "job.h"

#include <mpi.h>
#include <stdatomic.h>

#define VICTIM 0
#define LONG   ((size_t)40000)
#define SMALL  512 /* blocks of up to so many bytes are not to be had; messages are larger */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
static _Atomic int exhausted, refusals;

void *__wrap_malloc(size_t size) {
    if (atomic_load(&exhausted) && size <= SMALL) {
        atomic_fetch_add(&refusals, 1);
        return NULL;
    }
    return __real_malloc(size);
}

static unsigned char *area; /* symmetric: LONG bytes for each origin */
static uint64_t *words;     /* symmetric: two for each origin, of which both have the same value */
static unsigned char source[LONG], dest[LONG];
static rma_team *pair; /* all PEs, backwards: the victim is the last */

/* The victim has no memory from here on, or again: between two meetings, in which this PE does nothing. */
static void meet_with(int without) {
    OK(rma_barrier_all());
    if (job.me == VICTIM) atomic_store(&exhausted, without);
    OK(rma_barrier_all());
}

static rma_ctx *context(void) {
    rma_ctx *ctx;
    OK(rma_team_create_ctx(pair, 0, &ctx));
    return ctx;
}

static unsigned char *mine(void) { return area + (size_t)job.me * LONG; }

/* Begins something that fails. */
static void fail(rma_ctx *ctx, bool get) {
    const int victim = job.n - 1 - VICTIM;
    OK(get ? rma_ctx_get_nbi(ctx, dest, mine(), LONG, victim) : rma_ctx_put_nbi(ctx, mine(), source, LONG, victim));
}

/* Everything else goes on, to the victim, too; by the time that it has answered, the error is here. */
static void works(rma_ctx *ctx, uint64_t value) {
    const int victim = ctx == RMA_CTX_DEFAULT ? VICTIM : job.n - 1 - VICTIM;
    uint64_t old = 1;
    OK(rma_ctx_put_nbi(ctx, &words[2 * job.me], &value, sizeof value, victim));
    CHECK(rma_ctx_atomic_swap(ctx, &words[2 * job.me + 1], value, victim) == value - 1, "an atomic");
    OK(rma_ctx_quiet(ctx));
    OK(rma_ctx_get(ctx, &old, &words[2 * job.me], sizeof old, victim));
    CHECK(old == value, "%llu was put, %llu is there", (unsigned long long)value, (unsigned long long)old);
}

static uint64_t words_there(void) { return rma_atomic_fetch(&words[2 * job.me + 1], VICTIM); }

#define TELLS(name, call) EXPECT(name, call, RMA_ERR_NO_MEM, "PE 0", "memory")

static void who_is_told(bool get) {
    const int victim = job.n - 1 - VICTIM, pes[] = {job.n - 1 - job.me, victim, victim}, by_number = VICTIM;
    rma_ctx *failing = context(), *sound = context();
    uint64_t n = words_there();
    DOING("who waits is told");
    TELLS("rma_ctx_put", rma_ctx_put(failing, mine(), source, LONG, victim));
    TELLS("rma_ctx_get", rma_ctx_get(failing, dest, mine(), LONG, victim));
    TELLS("rma_put", rma_put(mine(), source, LONG, VICTIM));
    OK(rma_ctx_quiet(failing));
    OK(rma_quiet());

    DOING("a quiet tells");
    fail(failing, get);
    works(sound, ++n);
    works(RMA_CTX_DEFAULT, ++n);
    OK(rma_quiet());
    OK(rma_pe_quiet(&by_number, 1));
    OK(rma_ctx_pe_quiet(sound, pes, 3));
    TELLS("rma_ctx_quiet", rma_ctx_quiet(failing));
    works(failing, ++n);
    OK(rma_ctx_quiet(failing));

    DOING("a fence tells");
    fail(failing, get);
    works(sound, ++n);
    TELLS("rma_ctx_fence", rma_ctx_fence(failing));
    OK(rma_ctx_fence(failing));

    DOING("a test tells");
    fail(failing, get);
    works(sound, ++n);
    job_expect_begin("rma_ctx_test_quiet");
    while (rma_last_code() == RMA_ERR_PE) {
        CHECK(!rma_ctx_test_quiet(failing), "an operation that failed is complete");
        job_pause();
    }
    job_expect_end(__FILE__, __LINE__, "rma_ctx_test_quiet(failing)", "rma_ctx_test_quiet", rma_last_code(),
                   RMA_ERR_NO_MEM, (const char *const[]){"PE 0", "memory", NULL});
    QUIETLY(rma_ctx_test_quiet(failing), 1);

    DOING("a pe_quiet tells");
    fail(failing, get);
    fail(failing, get);
    works(sound, ++n);
    TELLS("rma_ctx_pe_quiet", rma_ctx_pe_quiet(failing, &victim, 1));
    OK(rma_ctx_pe_quiet(failing, &victim, 1));
    OK(rma_ctx_quiet(failing));
    fail(failing, get);
    TELLS("rma_ctx_pe_fence", rma_ctx_pe_fence(failing, pes, 3));
    OK(rma_ctx_pe_fence(failing, pes, 3));

    DOING("each context has its own");
    fail(failing, get);
    fail(sound, !get);
    OK(rma_quiet());
    TELLS("rma_ctx_quiet", rma_ctx_quiet(sound));
    works(sound, ++n);
    TELLS("rma_ctx_quiet", rma_ctx_quiet(failing));

    DOING("the default context has one, too");
    OK(get ? rma_get_nbi(dest, mine(), LONG, VICTIM) : rma_put_nbi(mine(), source, LONG, VICTIM));
    works(sound, ++n);
    OK(rma_ctx_quiet(failing));
    TELLS("rma_quiet", rma_quiet());
    OK(rma_quiet());

    DOING("the end of a context tells");
    fail(failing, get);
    works(sound, ++n);
    TELLS("rma_ctx_destroy", rma_ctx_destroy(failing));
    EXPECT("rma_ctx_quiet", rma_ctx_quiet(failing), RMA_ERR_ARG, "destroyed");
    OK(rma_ctx_destroy(sound));
}

int main(void) {
    rma_ctx *ctx = RMA_CTX_INVALID, *last;
    bool far;
    int finalized = 0;
    /* The library's own variables are the program's here, and must stay where they are. */
    setenv("RMA_STATICS", "off", 1);
    /* What goes through the window needs nothing of the owner's. */
    setenv("RMA_WINDOW", "none", 1);
    job_start();
    far = !rma_on_node(VICTIM);
    if (job.one_node) job_skip("needs PEs on several nodes (RMA_NODE_PES=1)");
    area = rma_calloc((size_t)job.n, LONG);
    words = rma_calloc(2 * (size_t)job.n, sizeof *words);
    CHECK(area && words, "%s", rma_last_error());
    OK(rma_team_split_strided(RMA_TEAM_WORLD, job.n - 1, -1, job.n, &pair));
    job_fill(source, 0, LONG, 1 + (uint64_t)job.me);
    meet_with(1);
    for (int turn = 0; far && turn < 10; turn++) who_is_told(turn & 1);

    DOING("a collective call tells, and all PEs");
    for (int turn = 0; turn < 3; turn++) {
        void *block;
        if (far) OK(rma_put_nbi(mine(), source, LONG, VICTIM));
        EXPECT_ZERO("rma_malloc", rma_malloc(64) != NULL, RMA_ERR_NO_MEM, far ? "PE 0 failed" : "on PE ");
        block = rma_malloc(64);
        CHECK(block != NULL, "%s", rma_last_error());
        if (far) OK(rma_get_nbi(dest, mine(), LONG, VICTIM));
        EXPECT("rma_free", rma_free(block), RMA_ERR_NO_MEM, far ? "PE 0 failed" : "on PE ");
        OK(rma_free(block));
    }

    DOING("the end of a team tells");
    if (far) {
        fail(ctx = context(), false);
        TELLS("rma_team_destroy", rma_team_destroy(pair));
        EXPECT("rma_ctx_quiet", rma_ctx_quiet(ctx), RMA_ERR_ARG, "destroyed");
    } else {
        OK(rma_team_destroy(pair));
    }
    meet_with(0);
    CHECK(job.me != VICTIM || atomic_load(&refusals) > 0, "nothing has failed");

    DOING("with memory all is well");
    OK(rma_team_split_strided(RMA_TEAM_WORLD, job.n - 1, -1, job.n, &pair));
    last = context();
    for (int get = 0; get < 2; get++) {
        fail(last, get);
        OK(rma_ctx_quiet(last));
    }
    CHECK(job_differs(dest, 0, LONG, 1 + (uint64_t)job.me) == LONG, "what was put and got again");

    DOING("the end of the runtime tells");
    meet_with(1);
    if (far) {
        if (job.me % 2)
            fail(last, false);
        else
            OK(rma_put_nbi(mine(), source, LONG, VICTIM));
        TELLS("rma_finalize", rma_finalize());
    } else {
        OK(rma_finalize());
    }
    CHECK(rma_initialized() == 0, "it is running");
    MPI_Finalized(&finalized);
    CHECK(finalized, "MPI is running");
    return 0;
}
