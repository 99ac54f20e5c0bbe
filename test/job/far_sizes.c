/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of every length move all bytes and no others, in both directions, between memory of every kind.
 *
 * Broken at the limits between two ways to move bytes, by odd addresses, by padding that is written, by mixed-up pieces
 * of a long transfer, by long transfers that wait for each other in a ring, by a source that is read after a blocking
 * put has returned, and by data that are missing after a quiet. On 4 PEs everything that can go through MPI's window
 * does. */
#include "job.h"

#include <mpi.h>

#define GUARD   64 /* bytes beside each that nobody may touch */
#define AROUND  (2 * GUARD + 16)
#define LONG    (((size_t)1 << 20) + 1)
#define LONGEST ((size_t)20 << 20) /* where there is room for it */

static const size_t sizes[] = {0, 1, 7, 8, 9, 63, 64, 100, 1000, 4095, 4096, 4097, 8192, 65536 + 3, LONG, LONGEST};
#define N_SIZES (sizeof sizes / sizeof sizes[0])

/* The first two are named by address, all of them by global pointer. */
enum kind { SYMMETRIC, STATIC, LOCAL, ATTACHED, KINDS };
static const char *const kind_names[KINDS] = {"the symmetric heap", "a global variable", "a local heap",
                                              "attached memory"};

enum how { BLOCKING, NONBLOCKING, BY_GPTR, HOWS };

static unsigned char variable[LONG + AROUND];
static unsigned char *memory[KINDS]; /* this PE's */
static size_t room[KINDS];           /* bytes of each, the same on all PEs */
static rma_gptr_t start[JOB_PES_MAX][KINDS];
static unsigned char *from, *to; /* this PE's own buffers, of any length and what is around */

/* One transfer of each origin: to the next PE or to PE 0, where it has the part of the memory that is its own. */
struct move {
    size_t len, turn;
    enum how how;
    int to_one;
};

static int target_of(const struct move *m, int origin) { return m->to_one ? 0 : (origin + 1) % job.n; }

static size_t place(const struct move *m, int kind, int origin) {
    size_t part = m->to_one ? room[kind] / (size_t)job.n * (size_t)origin : 0;
    return part + GUARD + 1 + (m->turn + (size_t)kind) % 4 * 2 - part % 2;
}

static int fits(const struct move *m, int kind) {
    return m->len + AROUND <= room[kind] / (m->to_one ? (size_t)job.n : 1) &&
           (m->len < LONGEST || m->how == NONBLOCKING);
}

static uint64_t key_of(const struct move *m, int kind, int pe, int owner) {
    return (uint64_t)m->len << 32 | (uint64_t)pe << 8 | (uint64_t)(kind * 8 + (int)m->how * 2 + owner);
}

static void check_guards(const unsigned char *p, size_t len, const char *where) {
    for (size_t i = 0; i < GUARD; i++)
        CHECK(p[-1 - (ptrdiff_t)i] == 0xa5 && p[len + i] == 0xa5, "%zu bytes beside %zu bytes in %s", i + 1, len,
              where);
}

static void put(const struct move *m, int kind, size_t at, const void *source, int pe) {
    if (m->how == BY_GPTR || kind >= LOCAL)
        OK(rma_gptr_put(start[pe][kind] + at, source, m->len));
    else if (m->how == NONBLOCKING)
        OK(rma_put_nbi(memory[kind] + at, source, m->len, pe));
    else
        OK(rma_put(memory[kind] + at, source, m->len, pe));
}

/* Into the own buffer, at an odd place too, and compared. */
static void get(const struct move *m, int kind, size_t at, int pe, uint64_t key) {
    unsigned char *dest = to + GUARD + 1 + (m->turn + (size_t)kind / 2) % 8;
    size_t wrong;
    memset(dest - GUARD, 0xa5, m->len + 2 * GUARD);
    if (m->how == BY_GPTR || kind >= LOCAL)
        OK(rma_gptr_get(dest, start[pe][kind] + at, m->len));
    else if (m->how == NONBLOCKING)
        OK(rma_get_nbi(dest, memory[kind] + at, m->len, pe));
    else
        OK(rma_get(dest, memory[kind] + at, m->len, pe));
    if (m->how == NONBLOCKING) OK(rma_quiet());
    wrong = job_differs(dest, 0, m->len, key);
    CHECK(wrong == m->len, "byte %zu of %zu got from %s of PE %d", wrong, m->len, kind_names[kind], pe);
    check_guards(dest, m->len, "the buffer of a get");
}

/* What the owner has written is got, what is put is got back, and the owner finds it. */
static void move(const struct move *m) {
    int pe = target_of(m, job.me);
    for (int kind = 0; kind < KINDS; kind++)
        for (int origin = 0; origin < job.n; origin++) {
            unsigned char *p = memory[kind] + place(m, kind, origin);
            if (target_of(m, origin) != job.me || !fits(m, kind)) continue;
            memset(p - GUARD, 0xa5, m->len + 2 * GUARD);
            job_fill(p, 0, m->len, key_of(m, kind, origin, 1));
        }
    OK(rma_barrier_all());
    for (int kind = 0; kind < KINDS; kind++) {
        size_t at = place(m, kind, job.me);
        unsigned char *source = from + 1 + (m->turn + (size_t)kind) % 8;
        if (!fits(m, kind)) continue;
        get(m, kind, at, pe, key_of(m, kind, job.me, 1));
        job_fill(source, 0, m->len, key_of(m, kind, job.me, 0));
        put(m, kind, at, source, pe);
        if (m->how != NONBLOCKING) memset(source, 0xee, m->len);
        OK(rma_quiet());
        get(m, kind, at, pe, key_of(m, kind, job.me, 0));
    }
    OK(rma_barrier_all());
    for (int kind = 0; kind < KINDS; kind++)
        for (int origin = 0; origin < job.n; origin++) {
            const unsigned char *p = memory[kind] + place(m, kind, origin);
            size_t wrong;
            if (target_of(m, origin) != job.me || !fits(m, kind)) continue;
            wrong = job_differs(p, 0, m->len, key_of(m, kind, origin, 0));
            CHECK(wrong == m->len, "byte %zu of %zu that PE %d has put to %s", wrong, m->len, origin, kind_names[kind]);
            check_guards(p, m->len, kind_names[kind]);
        }
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    rma_gptr_t mine[KINDS];
    size_t most;
    if (size && atoi(size) == 4) setenv("RMA_WINDOW", "always", 0);
    job_start();
    most = !job.slow && job_room() >= LONGEST * 3 / 2 ? LONGEST : LONG;
    for (int kind = 0; kind < KINDS; kind++) room[kind] = (kind == SYMMETRIC ? most : LONG) + AROUND;
    memory[SYMMETRIC] = rma_malloc(room[SYMMETRIC]);
    memory[STATIC] = variable;
    OK(rma_alloc_mem(room[LOCAL], &memory[LOCAL]));
    memory[ATTACHED] = malloc(room[ATTACHED]);
    from = malloc(most + AROUND);
    to = malloc(most + AROUND);
    CHECK(memory[SYMMETRIC] && memory[ATTACHED] && from && to, "%s", rma_last_error());
    OK(rma_attach(memory[ATTACHED], room[ATTACHED], &mine[ATTACHED]));
    for (int kind = 0; kind < ATTACHED; kind++) mine[kind] = rma_gptr(memory[kind], job.me);
    MPI_Allgather(mine, KINDS, MPI_UINT64_T, start, KINDS, MPI_UINT64_T, MPI_COMM_WORLD);

    for (int to_one = 0; to_one < 2; to_one++)
        for (size_t i = 0; i < N_SIZES; i++)
            for (int how = 0; how < HOWS; how++) {
                struct move m = {sizes[i], i * HOWS + (size_t)how, (enum how)how, to_one};
                DOING(job_text("%zu bytes %s", m.len, to_one ? "to PE 0" : "round the ring"));
                move(&m);
            }
    OK(rma_barrier_all());
    OK(rma_detach(memory[ATTACHED]));
    OK(rma_free_mem(memory[LOCAL]));
    OK(rma_free(memory[SYMMETRIC]));
    free(memory[ATTACHED]);
    free(from);
    free(to);
    return job_end();
}
