/* SPDX-License-Identifier: BSD-3-Clause */
/* A broadcast brings the root's bytes to every PE, on every node, and nothing beside them; on return it is complete
 * everywhere and the buffers are free again.
 *
 * Broken by a root that is taken for a number within its node, by a node leader that hands on its own source, by
 * data left over from the call before, by a root that is let go before all have read (it writes its source at once), by
 * a PE that is let go before all have written (peers look at each other at once), and by a length cut or rounded. */
#include "job.h"

#define ROOM ((size_t)1 << 16)
#define GUARD 64

static void rounds(unsigned char *dest, unsigned char *source) {
    uint64_t random = job_stream(0); /* the same on each PE */
    long n = job.one_node ? job_rounds(600, 150) : job_rounds(200, 60);
    for (long i = 1; i <= n; i++) {
        int root = (int)job_below(&random, (size_t)job.n), in_place = (int)job_below(&random, 3) == 0;
        size_t len = job_length(&random, ROOM), at = GUARD + job_below(&random, ROOM - len + 1), wrong;
        size_t from = in_place ? at : GUARD + job_below(&random, ROOM - len + 1);
        unsigned char *to = dest + at, *origin = in_place ? to : source + from;
        uint64_t key = (uint64_t)i << 8 | (uint64_t)root, other = (uint64_t)i << 8 | 0x80 | (uint64_t)job.me;

        /* Every PE's own bytes before, so that a PE that gets nothing, or another's, is found out. */
        job_fill(to - GUARD, 0, len + 2 * GUARD, other);
        job_fill(origin, 0, len, job.me == root ? key : other + 1);
        OK(rma_broadcast(RMA_TEAM_WORLD, to, origin, len, root));
        if (!in_place) memset(origin, 0xee, len);

        wrong = job_differs(to, 0, len, key);
        CHECK(wrong == len, "round %ld: byte %zu of %zu from PE %d%s is wrong", i, wrong, len, root,
              in_place ? ", in place" : "");
        wrong = job_differs(to - GUARD, 0, GUARD, other);
        CHECK(wrong == GUARD, "round %ld: %zu bytes before dest have changed", i, GUARD - wrong);
        wrong = job_differs(to + len, GUARD + len, GUARD, other);
        CHECK(wrong == GUARD, "round %ld: byte %zu behind dest has changed", i, wrong);

        /* Complete everywhere: a peer's copy too, without any further meeting. */
        if (len) {
            unsigned char byte;
            size_t k = job_below(&random, len);
            OK(rma_get(&byte, to + k, 1, job_any(1)));
            CHECK(byte == job_byte(key, k), "round %ld: byte %zu of %zu on PE %d", i, k, len, job_any(1));
        }
        OK(rma_barrier_all()); /* the next round fills anew what a peer may still look at */
    }
}

static void long_one(void) {
    size_t len = job.slow ? ROOM : ((size_t)4 << 20) + 12345, wrong;
    unsigned char *block = rma_malloc(len);
    int root = job.n - 1;
    CHECK(block != NULL, "%s", rma_last_error());
    job_fill(block, 0, len, job.me == root ? 77 : 78);
    OK(rma_broadcast(RMA_TEAM_WORLD, block, block, len, root));
    wrong = job_differs(block, 0, len, 77);
    CHECK(wrong == len, "byte %zu of %zu is wrong", wrong, len);
    OK(rma_free(block));
}

static void mistakes(unsigned char *dest, unsigned char *source) {
    unsigned char here[8] = {0}, before[8];
    memcpy(before, dest, sizeof before);
    EXPECT("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, dest, source, 8, job.n), RMA_ERR_PE,
           job_text("root %d is outside 0..%d", job.n, job.n - 1));
    EXPECT("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, dest, source, 8, -1), RMA_ERR_PE, "root -1 is");
    EXPECT("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, here, source, 8, 0), RMA_ERR_ADDRESS, "dest", job_text("%p", (void *)here));
    EXPECT("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, dest, here, 8, 0), RMA_ERR_ADDRESS, "source", job_text("%p", (void *)here));
    EXPECT("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, dest, source, SIZE_MAX, 0), RMA_ERR_ADDRESS, "dest",
           job_text("%zu bytes", SIZE_MAX));
    CHECK(memcmp(dest, before, sizeof before) == 0, "a refused broadcast wrote");
    OK(rma_broadcast(RMA_TEAM_WORLD, dest, source, 0, job.n - 1));
    CHECK(memcmp(dest, before, sizeof before) == 0, "a broadcast of nothing wrote");
}

int main(void) {
    job_start();
    unsigned char *dest = rma_malloc(ROOM + 2 * GUARD), *source = rma_malloc(ROOM + 2 * GUARD);
    CHECK(dest && source, "%s", rma_last_error());
    DOING("random broadcasts");
    rounds(dest, source);
    DOING("a long broadcast");
    long_one();
    DOING("refused broadcasts");
    job_fill(dest, 0, 8, 1);
    mistakes(dest, source);
    OK(rma_free(source));
    OK(rma_free(dest));
    return job_end();
}
