/* SPDX-License-Identifier: BSD-3-Clause */
/* All PEs update the same words at once, by every operation and by every way to the word, and nothing is lost or done
 * twice.
 *
 * Broken by an update made of a load and a store, on one of the ways or between two of them (inlined, by the library,
 * by a thread of the owner, in a message); by an old value that is not the replaced one, so that two PEs believe that
 * they were first; by a minimum that increases; and by a loop that does not end, or loses a number, because of a NaN or
 * 0.0 and -0.0. Each PE's updates follow from its number, so the owner can compute the totals by itself. */
#include "job.h"

#include <math.h>

#define BITS     24 /* that each PE sets or clears together with all others; above them, one for each PE */
#define OWN_BITS 8

/* As RMA_ATOMIC_FLOAT_TYPES, in whose expansion the generic macros do not work. */
#define FLOATS(X)            X(float, float) X(double, double)
#define ONE_MORE(NAME, TYPE) +1
_Static_assert((FLOATS(ONE_MORE)) == (RMA_ATOMIC_FLOAT_TYPES(ONE_MORE)), "the types of RMA_ATOMIC_FLOAT_TYPES");

/* One word for each kind of update. Words of one type are neighbours. */
#define INTEGER_WORDS(NAME, TYPE)                                                                                      \
    struct {                                                                                                           \
        TYPE added, counted, drawn, set, cleared, turned, least, most;                                                 \
    } of_##NAME;
#define FLOAT_WORDS(NAME, TYPE)                                                                                        \
    struct {                                                                                                           \
        TYPE added, drawn, least, most, bottom, top, zero;                                                             \
    } of_##NAME;
struct words {
    RMA_GPTR_ATOMIC_TYPES(INTEGER_WORDS)
    FLOATS(FLOAT_WORDS)
};

/* Where they are: on PE 0, by global pointer, and by address where addr is not null. */
struct place {
    struct words *addr;
    rma_gptr_t g;
};

/* What a PE has been told by the fetching forms, and tells PE 0. */
struct told {
    uint64_t drawn;  /* sum of the numbers that it drew */
    uint64_t firsts; /* bits that it was the first to set, and to clear */
};

static struct words variable;
static struct told *told; /* symmetric, one for each PE */
static long rounds;

static uint64_t number(int pe, long i, unsigned salt) {
    return job_mix(job.seed << 56 ^ (uint64_t)pe << 40 ^ (uint64_t)i << 8 ^ salt);
}

/* Multiples of 1/4 whose sums are exact; some are no number, but for the last of each PE. */
static double quarters(int pe, long i) { return ((double)(number(pe, i, 4) % 801) - 400) / 4; }
static double offered(int pe, long i) {
    return number(pe, i, 5) % 4 == 0 && i + 1 < rounds ? (double)NAN : quarters(pe, i);
}
static double unbounded(int pe, long i) {
    static const double values[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
    uint64_t k = number(pe, i, 6) % 5;
    return k < 3 ? values[k] : quarters(pe, i);
}
static double zero(int pe, long i) {
    static const double values[] = {(double)NAN, 0.0, -0.0};
    return values[number(pe, i, 7) % 3];
}

/* By turns the named call on the address, the generic one, and the one on the global pointer, each in one of its forms.
 */
enum form { PLAIN, FETCHING, LATER };
#define TURN(BY_NAME, GENERIC, BY_POINTER)                                                                             \
    do {                                                                                                               \
        unsigned turn = way++ % 3;                                                                                     \
        if (!p->addr || turn == 2) {                                                                                   \
            BY_POINTER;                                                                                                \
        } else if (turn) {                                                                                             \
            GENERIC;                                                                                                   \
        } else {                                                                                                       \
            BY_NAME;                                                                                                   \
        }                                                                                                              \
    } while (0)
#define AT(NAME, FIELD)    (&p->addr->of_##NAME.FIELD)
#define NAMED(NAME, FIELD) (p->g + offsetof(struct words, of_##NAME.FIELD))
#define UPDATE(NAME, FIELD, OP, value)                                                                                 \
    do {                                                                                                               \
        if (form == PLAIN)                                                                                             \
            TURN(OK(rma_atomic_##OP##_##NAME(AT(NAME, FIELD), value, 0)),                                              \
                 OK(rma_atomic_##OP(AT(NAME, FIELD), value, 0)),                                                       \
                 OK(rma_gptr_atomic_##OP##_##NAME(NAMED(NAME, FIELD), value)));                                        \
        else if (form == FETCHING)                                                                                     \
            TURN(old = rma_atomic_fetch_##OP##_##NAME(AT(NAME, FIELD), value, 0),                                      \
                 old = rma_atomic_fetch_##OP(AT(NAME, FIELD), value, 0),                                               \
                 old = rma_gptr_atomic_fetch_##OP##_##NAME(NAMED(NAME, FIELD), value));                                \
        else                                                                                                           \
            TURN(OK(rma_atomic_fetch_##OP##_nbi_##NAME(&old, AT(NAME, FIELD), value, 0)),                              \
                 OK(rma_atomic_fetch_##OP##_nbi(&old, AT(NAME, FIELD), value, 0)),                                     \
                 OK(rma_gptr_atomic_fetch_##OP##_nbi_##NAME(&old, NAMED(NAME, FIELD), value)));                        \
        if (form == LATER) OK(rma_quiet());                                                                            \
    } while (0)
#define INCREMENT(NAME, FIELD)                                                                                         \
    do {                                                                                                               \
        if (form == PLAIN)                                                                                             \
            TURN(OK(rma_atomic_inc_##NAME(AT(NAME, FIELD), 0)), OK(rma_atomic_inc(AT(NAME, FIELD), 0)),                \
                 OK(rma_gptr_atomic_inc_##NAME(NAMED(NAME, FIELD))));                                                  \
        else if (form == FETCHING)                                                                                     \
            TURN(old = rma_atomic_fetch_inc_##NAME(AT(NAME, FIELD), 0),                                                \
                 old = rma_atomic_fetch_inc(AT(NAME, FIELD), 0),                                                       \
                 old = rma_gptr_atomic_fetch_inc_##NAME(NAMED(NAME, FIELD)));                                          \
        else                                                                                                           \
            TURN(OK(rma_atomic_fetch_inc_nbi_##NAME(&old, AT(NAME, FIELD), 0)),                                        \
                 OK(rma_atomic_fetch_inc_nbi(&old, AT(NAME, FIELD), 0)),                                               \
                 OK(rma_gptr_atomic_fetch_inc_nbi_##NAME(&old, NAMED(NAME, FIELD))));                                  \
        if (form == LATER) OK(rma_quiet());                                                                            \
    } while (0)

/* What one PE does with the words of a type. A limit that it has read, or has moved itself, never comes back. */
#define ROUNDS(NAME, TYPE, BODY)                                                                                       \
    static void update_##NAME(const struct place *p, struct told *mine) {                                              \
        TYPE old = 0, lowest = 0, highest = 0;                                                                         \
        unsigned way = (unsigned)job.me;                                                                               \
        bool low = false, high = false;                                                                                \
        for (long i = 0; i < rounds; i++) {                                                                            \
            enum form form = (enum form)(number(job.me, i, 2) % 3);                                                    \
            BODY(NAME, TYPE)                                                                                           \
            form = i & 1 ? FETCHING : LATER;                                                                           \
            UPDATE(NAME, least, min, limit);                                                                           \
            CHECK(!low || old <= lowest, "the least " #TYPE " has grown");                                             \
            lowest = old <= limit || limit != limit ? old : limit;                                                     \
            low = lowest == lowest;                                                                                    \
            UPDATE(NAME, most, max, limit);                                                                            \
            CHECK(!high || old >= highest, "the greatest " #TYPE " has shrunk");                                       \
            highest = old >= limit || limit != limit ? old : limit;                                                    \
            high = highest == highest;                                                                                 \
            if (!job.one_node && rma_on_node(0) && i % 8 == 0) job_sleep(50); /* so that the others are at it, too */  \
        }                                                                                                              \
    }

#define INTEGER_BODY(NAME, TYPE)                                                                                       \
    const TYPE limit = (TYPE)number(job.me, i, 1), bit = (TYPE)((uint64_t)1 << i % BITS),                              \
               own = (TYPE)((uint64_t)1 << (BITS + job.me));                                                           \
    UPDATE(NAME, added, add, limit);                                                                                   \
    UPDATE(NAME, turned, xor, limit);                                                                                  \
    INCREMENT(NAME, counted);                                                                                          \
    form = i & 1 ? FETCHING : LATER;                                                                                   \
    INCREMENT(NAME, drawn);                                                                                            \
    mine->drawn += (uint64_t)old;                                                                                      \
    UPDATE(NAME, set, or, bit);                                                                                        \
    mine->firsts += !(old & bit);                                                                                      \
    UPDATE(NAME, cleared, and, (TYPE)~bit);                                                                            \
    mine->firsts += (old & bit) != 0;                                                                                  \
    if (job.me < OWN_BITS) {                                                                                           \
        UPDATE(NAME, set, or, own);                                                                                    \
        CHECK(!(old & own), "another PE has set this one's bit of " #TYPE);                                            \
        UPDATE(NAME, set, and, (TYPE)~own);                                                                            \
        CHECK(old &own, "another PE has cleared this one's bit of " #TYPE);                                            \
    }

#define FLOAT_BODY(NAME, TYPE)                                                                                         \
    const TYPE limit = (TYPE)offered(job.me, i);                                                                       \
    UPDATE(NAME, added, add, (TYPE)quarters(job.me, i));                                                               \
    UPDATE(NAME, bottom, min, (TYPE)unbounded(job.me, i));                                                             \
    UPDATE(NAME, top, max, (TYPE)unbounded(job.me, i));                                                                \
    if (i & 1)                                                                                                         \
        UPDATE(NAME, zero, min, (TYPE)zero(job.me, i));                                                                \
    else                                                                                                               \
        UPDATE(NAME, zero, max, (TYPE)zero(job.me, i));                                                                \
    form = i & 1 ? FETCHING : LATER;                                                                                   \
    UPDATE(NAME, drawn, add, 1);                                                                                       \
    mine->drawn += (uint64_t)old;

#define INTEGER_ROUNDS(NAME, TYPE) ROUNDS(NAME, TYPE, INTEGER_BODY)
#define FLOAT_ROUNDS(NAME, TYPE)   ROUNDS(NAME, TYPE, FLOAT_BODY)
RMA_GPTR_ATOMIC_TYPES(INTEGER_ROUNDS)
FLOATS(FLOAT_ROUNDS)

/* ---- the totals, by PE 0 ---- */

/* So far a, a number; b may be none. */
static double lesser(double a, double b) { return b < a ? b : a; }
static double greater(double a, double b) { return b > a ? b : a; }

static struct told sum_told(void) {
    struct told sum = {0, 0};
    for (int pe = 0; pe < job.n; pe++) {
        sum.drawn += told[pe].drawn;
        sum.firsts += told[pe].firsts;
    }
    return sum;
}

#define TOTAL(got, want, TEXT) CHECK((got) == (want), TEXT ": %Lg, not %Lg", (long double)(got), (long double)(want))

#define INTEGER_TOTALS(NAME, TYPE)                                                                                     \
    static void totals_##NAME(const struct words *w) {                                                                 \
        const uint64_t all = (uint64_t)rounds * (uint64_t)job.n, bits = ((uint64_t)1 << BITS) - 1;                     \
        const struct told sum = sum_told();                                                                            \
        TYPE added = 0, turned = 0, least = (TYPE)number(0, 0, 1), most = least;                                       \
        for (int pe = 0; pe < job.n; pe++)                                                                             \
            for (long i = 0; i < rounds; i++) {                                                                        \
                TYPE value = (TYPE)number(pe, i, 1);                                                                   \
                added = (TYPE)((uint64_t)added + (uint64_t)value);                                                     \
                turned ^= value;                                                                                       \
                least = value < least ? value : least;                                                                 \
                most = value > most ? value : most;                                                                    \
            }                                                                                                          \
        TOTAL(w->of_##NAME.added, added, "added to " #TYPE);                                                           \
        TOTAL(w->of_##NAME.turned, turned, "exclusive or of " #TYPE);                                                  \
        TOTAL(w->of_##NAME.counted, (TYPE)all, "increments of " #TYPE);                                                \
        TOTAL(w->of_##NAME.drawn, (TYPE)all, "fetching increments of " #TYPE);                                         \
        TOTAL(sum.drawn, all *(all - 1) / 2, "sum of the fetched numbers, " #TYPE);                                    \
        TOTAL(w->of_##NAME.set, (TYPE)bits, "bits set of " #TYPE);                                                     \
        TOTAL(w->of_##NAME.cleared, (TYPE)~bits, "bits cleared of " #TYPE);                                            \
        TOTAL(sum.firsts, (uint64_t)2 * BITS, "how often a PE was the first, " #TYPE);                                 \
        TOTAL(w->of_##NAME.least, least, "the least " #TYPE);                                                          \
        TOTAL(w->of_##NAME.most, most, "the greatest " #TYPE);                                                         \
    }

#define FLOAT_TOTALS(NAME, TYPE)                                                                                       \
    static void totals_##NAME(const struct words *w) {                                                                 \
        const uint64_t all = (uint64_t)rounds * (uint64_t)job.n;                                                       \
        double added = 0, least = INFINITY, most = -INFINITY, bottom = INFINITY, top = -INFINITY;                      \
        for (int pe = 0; pe < job.n; pe++)                                                                             \
            for (long i = 0; i < rounds; i++) {                                                                        \
                added += quarters(pe, i);                                                                              \
                least = lesser(least, offered(pe, i));                                                                 \
                most = greater(most, offered(pe, i));                                                                  \
                bottom = lesser(bottom, unbounded(pe, i));                                                             \
                top = greater(top, unbounded(pe, i));                                                                  \
            }                                                                                                          \
        TOTAL((double)w->of_##NAME.added, added, "added to " #TYPE);                                                   \
        TOTAL((double)w->of_##NAME.drawn, (double)all, "fetching additions to " #TYPE);                                \
        TOTAL(sum_told().drawn, all *(all - 1) / 2, "sum of the fetched numbers, " #TYPE);                             \
        TOTAL((double)w->of_##NAME.least, least, "the least " #TYPE);                                                  \
        TOTAL((double)w->of_##NAME.most, most, "the greatest " #TYPE);                                                 \
        TOTAL((double)w->of_##NAME.bottom, bottom, "the least " #TYPE " of infinite ones");                            \
        TOTAL((double)w->of_##NAME.top, top, "the greatest " #TYPE " of infinite ones");                               \
        TOTAL((double)w->of_##NAME.zero, 0.0, "a " #TYPE " of zeros");                                                 \
    }
RMA_GPTR_ATOMIC_TYPES(INTEGER_TOTALS)
FLOATS(FLOAT_TOTALS)

static void begin(struct words *w) {
    memset(w, 0, sizeof *w);
#define BEGIN_INTEGER(NAME, TYPE)                                                                                      \
    w->of_##NAME.cleared = (TYPE)-1;                                                                                   \
    w->of_##NAME.least = w->of_##NAME.most = (TYPE)number(0, 0, 1);
#define BEGIN_FLOAT(NAME, TYPE)                                                                                        \
    w->of_##NAME.least = w->of_##NAME.most = w->of_##NAME.bottom = w->of_##NAME.top = w->of_##NAME.zero = (TYPE)NAN;
    RMA_GPTR_ATOMIC_TYPES(BEGIN_INTEGER)
    FLOATS(BEGIN_FLOAT)
}

/* PE 0 looks at its words by `direct`. The barriers order its loads and stores with the atomics. */
static void everyone(const struct place *p, struct words *direct) {
    struct told mine;
    if (job.me == 0) begin(direct);
#define TYPE_TURN(NAME, TYPE)                                                                                          \
    DOING(#TYPE);                                                                                                      \
    mine = (struct told){0, 0};                                                                                        \
    OK(rma_barrier_all());                                                                                             \
    update_##NAME(p, &mine);                                                                                           \
    OK(rma_put(&told[job.me], &mine, sizeof mine, 0));                                                                 \
    OK(rma_barrier_all());                                                                                             \
    if (job.me == 0) totals_##NAME(direct);
    RMA_GPTR_ATOMIC_TYPES(TYPE_TURN)
    FLOATS(TYPE_TURN)
    OK(rma_barrier_all());
}

int main(void) {
    struct words *heap, *local, *attached;
    rma_gptr_t *named;
    job_start();
    rounds = job_far_rounds(2000, 1000, 60);
    if (rounds < BITS) rounds = BITS;
    heap = rma_calloc(1, sizeof *heap);
    told = rma_calloc((size_t)job.n, sizeof *told);
    named = rma_calloc(2, sizeof *named);
    attached = malloc(sizeof *attached);
    CHECK(heap && told && named && attached, "%s", rma_last_error());
    OK(rma_alloc_mem(sizeof *local, &local));
    named[0] = rma_gptr(local, job.me);
    OK(rma_attach(attached, sizeof *attached, &named[1]));
    OK(rma_barrier_all());
    OK(rma_broadcast(RMA_TEAM_WORLD, named, named, 2 * sizeof *named, 0));

    everyone(&(struct place){heap, rma_gptr(heap, 0)}, heap);
    everyone(&(struct place){&variable, rma_gptr(&variable, 0)}, &variable);
    everyone(&(struct place){NULL, named[0]}, local);
    rounds = job_far_rounds(200, 100, 60); /* each by a thread of PE 0 */
    if (rounds < BITS) rounds = BITS;
    everyone(&(struct place){NULL, named[1]}, attached);

    OK(rma_detach(attached));
    free(attached);
    OK(rma_free_mem(local));
    OK(rma_free(named));
    OK(rma_free(told));
    OK(rma_free(heap));
    return job_end();
}
