/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_stats counts each operation once, for the path that it took, and its bytes.
 *
 * Broken by a path that is not counted or counted twice, by pieces that are counted instead of the whole, and by
 * inlined calls that escape the count although RMA_STATS=yes: run-job's environment does not have this setting, so this
 * program sets it. */
#include "job.h"

#define TIMES 50
#define SMALL ((size_t)24)
#define LONG  ((size_t)20000)

/* What the numbers have grown by since `before`, on all ways together, and those of one way alone. */
static struct rma_stats before;

static struct rma_stats now(void) {
    struct rma_stats s;
    OK(rma_stats(&s));
    return s;
}

#define GREW(s, way, field, want)                                                                                      \
    CHECK((s).path[way].field - before.path[way].field == (uint64_t)(want),                                            \
          #way ": " #field " has grown by %llu, not %llu",                                                             \
          (unsigned long long)((s).path[way].field - before.path[way].field), (unsigned long long)(want))

/* To another node it is the library's choice which of the two ways a put or get goes. */
static void check_target(int pe, long *word, char *block, char *mine) {
    const int near = rma_on_node(pe);
    struct rma_stats s;
    uint64_t puts = 0, bytes = 0, gets = 0, atomics = 0;
    before = now();
    for (int i = 0; i < TIMES; i++) {
        OK(rma_put(block, mine, SMALL, pe));
        OK(rma_put_nbi(block + LONG, mine, LONG, pe));
        OK(rma_quiet());
        OK(rma_get(mine, block, SMALL, pe));
        OK(rma_p(word + 1, (long)i, pe));
        rma_atomic_fetch_add(word, 1L, pe);
        OK(rma_atomic_inc(word, pe));
        OK(rma_quiet());
    }
    s = now();
    if (near) {
        GREW(s, RMA_PATH_MEMORY, puts, 3 * TIMES);
        GREW(s, RMA_PATH_MEMORY, put_bytes, (SMALL + LONG + sizeof(long)) * TIMES);
        GREW(s, RMA_PATH_MEMORY, gets, TIMES);
        GREW(s, RMA_PATH_MEMORY, get_bytes, SMALL * TIMES);
        GREW(s, RMA_PATH_MEMORY, atomics, 2 * TIMES);
    } else {
        GREW(s, RMA_PATH_MEMORY, puts, 0);
        GREW(s, RMA_PATH_MEMORY, atomics, 0);
        CHECK(s.waited > before.waited, "no quiet has waited");
        CHECK(s.messages_sent > before.messages_sent, "no message has been sent");
    }
    for (int way = near ? RMA_PATH_KERNEL : RMA_PATH_WINDOW; way < RMA_PATHS; way++) {
        puts += s.path[way].puts - before.path[way].puts;
        bytes += s.path[way].put_bytes - before.path[way].put_bytes;
        gets += s.path[way].gets - before.path[way].gets;
        atomics += s.path[way].atomics - before.path[way].atomics;
    }
    CHECK(puts == (near ? 0 : 3 * TIMES), "PE %d: %llu puts the other ways", pe, (unsigned long long)puts);
    CHECK(bytes == (near ? 0 : (SMALL + LONG + sizeof(long)) * TIMES), "PE %d: %llu bytes", pe,
          (unsigned long long)bytes);
    CHECK(gets == (near ? 0 : TIMES), "PE %d: %llu gets", pe, (unsigned long long)gets);
    CHECK(atomics == (near ? 0 : 2 * TIMES), "PE %d: %llu atomics", pe, (unsigned long long)atomics);
}

/* What is done in a context counts as all else, while the context is there and when it has ended. */
static void check_context(int pe, long *word) {
    rma_ctx *ctx;
    struct rma_stats s;
    uint64_t puts, gets;
    OK(rma_ctx_create(RMA_CTX_PRIVATE, &ctx));
    before = now();
    for (int i = 0; i < TIMES; i++) {
        OK(rma_ctx_p(ctx, word + 1, (long)i, pe));
        rma_ctx_g(ctx, word + 1, pe);
    }
    for (int ended = 0; ended < 2; ended++) {
        s = now();
        puts = gets = 0;
        for (int way = 0; way < RMA_PATHS; way++) {
            puts += s.path[way].puts - before.path[way].puts;
            gets += s.path[way].gets - before.path[way].gets;
        }
        CHECK(puts == TIMES && gets == TIMES, "PE %d, in a context%s: %llu puts, %llu gets", pe,
              ended ? " that has ended" : "", (unsigned long long)puts, (unsigned long long)gets);
        if (!ended) OK(rma_ctx_destroy(ctx));
    }
}

/* A peer's own memory: by the kernel, and by a thread of its owner. */
static void check_attached(void) {
    static rma_gptr_t *all;
    static long private_words[8];
    long *words = malloc(sizeof private_words), got;
    struct rma_stats s;
    CHECK(words != NULL, "no memory");
    memset(words, 0, sizeof private_words);
    all = rma_calloc((size_t)job.n, sizeof *all);
    OK(rma_attach(words, sizeof private_words, &all[job.me]));
    for (int pe = 0; pe < job.n; pe++) OK(rma_put(&all[job.me], &all[job.me], sizeof *all, pe));
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++) {
        if (pe == job.me || !rma_on_node(pe)) continue;
        before = now();
        OK(rma_gptr_get(&got, all[pe], sizeof got));
        OK(rma_gptr_atomic_add(all[pe], 1));
        s = now();
        GREW(s, RMA_PATH_KERNEL, gets, 1);
        GREW(s, RMA_PATH_KERNEL, get_bytes, sizeof got);
        GREW(s, RMA_PATH_OWNER, atomics, 1);
    }
    OK(rma_barrier_all());
    OK(rma_detach(words));
    free(words);
    OK(rma_free(all));
}

int main(void) {
    long *word;
    char *block, *mine;
    struct rma_stats s;
    setenv("RMA_STATS", "yes", 1);
    job_start();
    word = rma_calloc(2, sizeof *word);
    block = rma_malloc(2 * LONG);
    mine = calloc(1, LONG);
    CHECK(word && block && mine, "%s", rma_last_error());
    DOING("counting by target");
    for (int pe = 0; pe < job.n; pe++) {
        check_target((job.me + pe) % job.n, word, block, mine);
        check_context((job.me + pe) % job.n, word);
        OK(rma_barrier_all());
    }
    CHECK(*word == 2L * TIMES * job.n, "the word is %ld", *word);
    DOING("counting attached memory");
    check_attached();
    s = now();
    if (rma_n_nodes() > 1) CHECK(s.served > 0 && s.messages_heard > 0, "nothing was served");
    OK(rma_stats_reset());
    s = now();
    CHECK(s.path[RMA_PATH_MEMORY].puts == 0 && s.path[RMA_PATH_REQUEST].put_bytes == 0, "the numbers are not 0 again");
    EXPECT("rma_stats", rma_stats(NULL), RMA_ERR_ARG, "stats is a null pointer");
    free(mine);
    OK(rma_free(block));
    OK(rma_free(word));
    OK(rma_finalize());
    return 0;
}
