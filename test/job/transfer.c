/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get move exactly the bytes that they are told to, whole or strided, of any length, between any two places.
 *
 * Broken by a copy that is one byte short or long, by an offset that is computed for another PE, by a stride or element
 * size that is mixed up between the two sides, and by different results for lengths that the compiler knows and for
 * others. A model has the expected contents of each PE's memory; at the end both PEs compare all of it. */
#include "job.h"

#define ROOM ((size_t)40000) /* bytes of each PE that belong to one origin */

static unsigned char *room;                    /* symmetric: ROOM for each PE */
static unsigned char model[JOB_PES_MAX][ROOM]; /* what this PE's part on each must be */
static unsigned char source[ROOM], dest[2 * ROOM];

static unsigned char *mine(size_t at) { return room + ROOM * (size_t)job.me + at; }

/* ---- whole ---- */

static void put(int pe, size_t at, size_t len, int how) {
    const unsigned char *from = source + job_mix(at + len) % (ROOM - len + 1);
    job_order(pe);
    OK(how ? rma_put(mine(at), from, len, pe) : rma_put_nbi(mine(at), from, len, pe));
    if (!how) OK(rma_quiet());
    memcpy(model[pe] + at, from, len);
}

static void get(int pe, size_t at, size_t len, int how) {
    unsigned char *to = dest + 64 + job_mix(at ^ len) % 64;
    memset(to - 64, 0xa5, len + 128);
    job_settle(pe);
    OK(how ? rma_get(to, mine(at), len, pe) : rma_get_nbi(to, mine(at), len, pe));
    if (!how) OK(rma_quiet());
    CHECK(memcmp(to, model[pe] + at, len) == 0, "%zu bytes at %zu of PE %d", len, at, pe);
    for (int i = 0; i < 64; i++)
        CHECK(to[i - 64] == 0xa5 && to[len + (size_t)i] == 0xa5, "a get of %zu bytes wrote beside its dest", len);
}

static void random_transfers(void) {
    uint64_t random = job_stream((uint64_t)job.me);
    for (long i = job_far_rounds(20000, 6000, 1500); i > 0; i--) {
        int pe = (int)job_below(&random, (size_t)job.n), how = (int)job_below(&random, 4);
        size_t len = job_length(&random, ROOM), at = job_below(&random, ROOM - len + 1);
        if (how & 2)
            put(pe, at, len, how & 1);
        else
            get(pe, at, len, how & 1);
    }
}

/* Lengths that are constants where the call is compiled: each becomes code of its own. */
#define CONSTANT(len)                                                                                                  \
    do {                                                                                                               \
        for (size_t at = 0; at < 9; at += rma_on_node(pe) ? 1 : 4) {                                                   \
            OK(rma_put(mine(at), source + 1, len, pe));                                                                \
            memcpy(model[pe] + at, source + 1, len);                                                                   \
            memset(dest, 0xa5, (len) + 1);                                                                             \
            job_settle(pe);                                                                                            \
            OK(rma_get(dest, mine(at), len, pe));                                                                      \
            CHECK(memcmp(dest, model[pe] + at, len) == 0 && dest[len] == 0xa5, "%d bytes at %zu", (int)(len), at);     \
        }                                                                                                              \
    } while (0)

static void constant_lengths(int pe) {
    CONSTANT(1);
    CONSTANT(2);
    CONSTANT(3);
    CONSTANT(4);
    CONSTANT(7);
    CONSTANT(8);
    CONSTANT(12);
    CONSTANT(16);
    CONSTANT(31);
    CONSTANT(64);
    CONSTANT(100);
    CONSTANT(512);
    CONSTANT(4095);
    CONSTANT(4096);
    CONSTANT(4097);
    CONSTANT(30000);
    OK(rma_put(mine(0), source, 0, pe));
    OK(rma_get(dest, mine(0), 0, pe));
}

/* ---- strided ---- */

static void random_strides(void) {
    static const size_t elements[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 64, 100};
    uint64_t random = job_stream(1000 + (uint64_t)job.me);
    for (long i = job_far_rounds(10000, 3000, 800); i > 0; i--) {
        int pe = (int)job_below(&random, (size_t)job.n);
        size_t elem = elements[job_below(&random, sizeof elements / sizeof elements[0])], n = job_length(&random, 60);
        size_t far = 1 + job_length(&random, 9),
               near = 1 + job_length(&random, 5); /* the remote stride, and this PE's */
        size_t span = n ? ((n - 1) * far + 1) * elem : 0, at = job_below(&random, ROOM - 60 * 9 * 100 / 2);
        if (at + span > ROOM || ((n ? n - 1 : 0) * near + 1) * elem > ROOM) continue;
        if (i & 1) {
            job_order(pe);
            OK(rma_iput(mine(at), source, (ptrdiff_t)far, (ptrdiff_t)near, elem, n, pe));
            for (size_t k = 0; k < n; k++) memcpy(model[pe] + at + k * far * elem, source + k * near * elem, elem);
        } else {
            size_t room_here = (n * near + 1) * elem;
            memset(dest, 0xa5, room_here);
            job_settle(pe);
            OK(rma_iget(dest, mine(at), (ptrdiff_t)near, (ptrdiff_t)far, elem, n, pe));
            for (size_t k = 0; k < room_here; k++) {
                size_t element = k / elem / near;
                int within = element < n && k / elem % near == 0;
                unsigned char want = within ? model[pe][at + element * far * elem + k % elem] : 0xa5;
                CHECK(dest[k] == want, "byte %zu of an iget of %zu elements of %zu bytes, strides %zu and %zu", k, n,
                      elem, near, far);
            }
        }
    }
}

/* ---- the end ---- */

/* This PE's part on each as it sees it, and the others' parts here as it sees them itself, by the sums that they tell.
 */
static void compare(void) {
    uint64_t *sums = rma_calloc((size_t)job.n, sizeof *sums);
    CHECK(sums != NULL, "%s", rma_last_error());
    for (int pe = 0; pe < job.n; pe++) {
        uint64_t sum = 0;
        job_settle(pe);
        OK(rma_get(dest, mine(0), ROOM, pe));
        for (size_t k = 0; k < ROOM; k++) {
            CHECK(dest[k] == model[pe][k], "byte %zu on PE %d is %d, not %d", k, pe, dest[k], model[pe][k]);
            sum = sum * 31 + model[pe][k];
        }
        OK(rma_p(&sums[job.me], sum, pe));
    }
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < ROOM; k++) sum = sum * 31 + room[ROOM * (size_t)pe + k];
        CHECK(sum == sums[pe], "PE %d's part of this PE's memory", pe);
    }
    OK(rma_free(sums));
}

static void long_block(void) {
    size_t most = (size_t)(job.slow       ? 4
                           : job.one_node ? 64
                                          : 24)
                  << 20,
           len = job_room() < most ? job_room() / 2 : most;
    unsigned char *block = rma_malloc(len);
    int last = job.n - 1;
    CHECK(block != NULL, "%s", rma_last_error());
    if (job.me == 0) {
        job_fill(block, 0, len, 7);
        OK(rma_put(block, block, job.n > 1 ? len : 0, last));
    }
    OK(rma_barrier_all());
    if (job.me == last)
        CHECK(job_differs(block, 0, len, 7) == len, "byte %zu of %zu", job_differs(block, 0, len, 7), len);
    OK(rma_free(block));
}

int main(void) {
    job_start();
    job_fill(source, 0, ROOM, 99 + (uint64_t)job.me);
    room = rma_calloc((size_t)job.n, ROOM);
    CHECK(room != NULL, "%s", rma_last_error());

    DOING("whole");
    for (int pe = 0; pe < job.n; pe++) constant_lengths(pe);
    random_transfers();
    DOING("strided");
    random_strides();
    DOING("comparing");
    compare();
    DOING("a long block");
    long_block();
    OK(rma_free(room));
    return job_end();
}
