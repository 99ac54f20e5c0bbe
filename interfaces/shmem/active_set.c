/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of active sets (deprecated), in the words of pSync. A set is the PEs start, start + 2^log, ..., about
 * which a PE knows only what each call says. All that the members share beforehand is pSync, a symmetric array of
 * zeros. A team of librma cannot be used: PEs that do not make this call would have to take part in its creation, and a
 * program may use any number of active sets. So everything is done with pSync, in the caller's own call:
 *
 *     meet: every source can be read -> each PE gets what it needs -> meet: nobody reads any more
 *
 * Members meet by dissemination: in round k PE i adds 1 to pSync[k] of PE i + 2^k, waits until its own pSync[k] is not
 * 0, and subtracts 1. The words are counters: a PE that is already in the set's next meeting counts for that meeting,
 * and each word is 0 again when every addition has been subtracted. Data move by gets, not by puts: a PE knows where
 * its own data go, and a slow PE does not delay access to another's memory.
 *
 * An active set of all PEs is the world, for which librma's collectives are faster. It is treated like any other set
 * only if several threads may be in such calls at the same time: librma requires collectives one after the other, in
 * the same order on each PE. */
#include "config.h"

#include "interfaces/shmem/define.h"
#include "interfaces/shmem/setup.h"

#include <string.h>

#define ROUNDS    24 /* a job has at most 2^24 PEs */
#define LENGTH_AT ROUNDS
#define PIECE     4096

_Static_assert(SHMEM_SYNC_SIZE > LENGTH_AT && SHMEM_SYNC_VALUE == 0,
               "pSync has a counter for each round and a length, all 0 at first");

struct set {
    int start, step, n, me; /* PE i of the set is start + i * step, i < n; this one is number me */
    int world;              /* 1: the set is all PEs, and the collectives of rma.h may be used */
    long *sync;
};

static int pe_of_set(const struct set *s, int i) { return s->start + i * s->step; }

/* Checks the arguments and fills in s. Returns 1; then errors carry the name `call` until leave_set. Returns 0 after an
 * error. */
static int enter_set(struct set *s, const char *call, int start, int log, int size, long *sync) {
    const long long n = rma_initialized() ? rma_n_pes() : 0, step = log >= 0 && log < 31 ? 1LL << log : 0;
    const int me = n ? rma_my_pe() : 0;
    /* OpenSHMEM is not initialized: rma_quiet_slow_ words the error. */
    if (n == 0)
        rma_quiet_slow_(call, RMA_CTX_DEFAULT);
    else if (step == 0)
        rma_fail_(RMA_ERR_ARG, "%s: logPE_stride %d is outside 0..30", call, log);
    else if (size < 1)
        rma_fail_(RMA_ERR_ARG, "%s: PE_size %d is below 1", call, size);
    else if (start < 0 || start + (size - 1) * step >= n)
        rma_fail_(RMA_ERR_PE, "%s: PE_start %d, logPE_stride %d, PE_size %d: PE %lld is outside 0..%lld", call, start,
                  log, size, start < 0 ? start : start + (size - 1) * step, n - 1);
    else if ((me - start) % step != 0 || me < start || (me - start) / step >= size) {
        rma_tolerate_(RMA_ERR_PE, RMA_UNDEFINED_ACTIVE_SET_);
        rma_fail_(RMA_ERR_PE,
                  "%s: PE_start %d, logPE_stride %d, PE_size %d: the calling PE %d is not in the active set", call,
                  start, log, size, me);
        rma_tolerate_(RMA_SUCCESS, RMA_UNDEFINED_ACTIVE_SET_);
    } else if (!sync)
        rma_fail_(RMA_ERR_ADDRESS, "%s: pSync is a null pointer", call);
    else if (((uintptr_t)sync & (sizeof *sync - 1)) || !rma_ptr(sync, me) || !rma_ptr(sync + LENGTH_AT, me))
        rma_fail_(RMA_ERR_ADDRESS, "%s: pSync %p is no symmetric array of %d long", call, (void *)sync,
                  SHMEM_SYNC_SIZE);
    else {
        *s = (struct set){start, (int)step, size, (int)((me - start) / step), 0, sync};
        s->world = size == n && !rmai_shmem_threads();
        rma_call_as_(call);
        return 1;
    }
    return 0;
}

static void leave_set(void) { rma_call_as_(NULL); }

/* Meets the other members. Quiet at the end: additions for which others wait have then left this PE, even if it only
 * computes from here on. */
static void meet_set(const struct set *s) {
    const int self = pe_of_set(s, s->me);
    for (int k = 0; 1LL << k < s->n; k++) {
        rma_atomic_add_long(&s->sync[k], 1, pe_of_set(s, (int)((s->me + (1LL << k)) % s->n)));
        rma_wait_until_long(&s->sync[k], RMA_CMP_GE, 1);
        rma_atomic_add_long(&s->sync[k], -1, self);
    }
    rma_quiet();
}

/* Sets *len to the bytes of one PE's part, nelems * size. Returns 0 after an error: the total of all parts overflows.
 */
static int part_bytes(const struct set *s, const char *call, size_t nelems, size_t size, size_t *len) {
    size_t all;
    if (!__builtin_mul_overflow(nelems, size, len) && !__builtin_mul_overflow(*len, (size_t)s->n, &all)) return 1;
    rma_fail_(RMA_ERR_ARG, "%s: nelems %zu of %zu bytes for %d PEs overflows", call, nelems, size, s->n);
    leave_set();
    return 0;
}

/* ---- meeting ---- */

void pshmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync) {
    struct set s;
    if (!enter_set(&s, "shmem_barrier", PE_start, logPE_stride, PE_size, pSync)) return;
    if (s.world) {
        rma_barrier_all();
    } else {
        rma_quiet();
        meet_set(&s);
    }
    leave_set();
}

void pshmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync) {
    struct set s;
    if (!enter_set(&s, "shmem_sync", PE_start, logPE_stride, PE_size, pSync)) return;
    if (s.world)
        rma_sync_all();
    else
        meet_set(&s);
    leave_set();
}

/* ---- moving ---- */

/* Unlike in the broadcast of a team, the root's dest stays as it is. */
static void broadcast_in_set(const struct set *s, const char *call, void *dest, const void *source, size_t nelems,
                             size_t size, int root) {
    size_t len;
    if (!part_bytes(s, call, nelems, size, &len)) return;
    if (root < 0 || root >= s->n) {
        rma_fail_(RMA_ERR_PE, "%s: PE_root %d is outside 0..%d of the active set", call, root, s->n - 1);
    } else if (s->world) {
        rma_broadcast(RMA_TEAM_WORLD, s->me == root ? (void *)(uintptr_t)source : dest, source, len, root);
    } else {
        meet_set(s);
        if (s->me != root) rma_get(dest, source, len, pe_of_set(s, root));
        meet_set(s);
    }
    leave_set();
}

static void fcollect_in_set(const struct set *s, const char *call, void *dest, const void *source, size_t nelems,
                            size_t size) {
    size_t len;
    if (!part_bytes(s, call, nelems, size, &len)) return;
    if (s->world) {
        rma_fcollect(RMA_TEAM_WORLD, dest, source, len);
    } else {
        meet_set(s);
        for (int k = 0, i = s->me; k < s->n; k++, i = i + 1 < s->n ? i + 1 : 0)
            rma_get((char *)dest + (size_t)i * len, source, len, pe_of_set(s, i));
        meet_set(s);
    }
    leave_set();
}

/* Each PE publishes its length in a word of its own, which nobody reads after the second meeting. */
static void collect_in_set(const struct set *s, const char *call, void *dest, const void *source, size_t nelems,
                           size_t size) {
    size_t len, at = 0;
    if (!part_bytes(s, call, nelems, size, &len)) return;
    if (s->world) {
        rma_collect(RMA_TEAM_WORLD, dest, source, len);
        leave_set();
        return;
    }
    __atomic_store_n(&s->sync[LENGTH_AT], (long)len, __ATOMIC_RELEASE);
    meet_set(s);
    for (int i = 0; i < s->n; i++) {
        const int pe = pe_of_set(s, i);
        const size_t its = (size_t)rma_g_long(&s->sync[LENGTH_AT], pe);
        rma_get((char *)dest + at, source, its, pe);
        at += its;
    }
    meet_set(s);
    __atomic_store_n(&s->sync[LENGTH_AT], SHMEM_SYNC_VALUE, __ATOMIC_RELAXED);
    leave_set();
}

static void alltoall_in_set(const struct set *s, const char *call, void *dest, const void *source, size_t nelems,
                            size_t size) {
    size_t len;
    if (!part_bytes(s, call, nelems, size, &len)) return;
    if (s->world) {
        rma_alltoall(RMA_TEAM_WORLD, dest, source, len);
    } else {
        meet_set(s);
        for (int k = 0, i = s->me; k < s->n; k++, i = i + 1 < s->n ? i + 1 : 0)
            rma_get((char *)dest + (size_t)i * len, (const char *)source + (size_t)s->me * len, len, pe_of_set(s, i));
        meet_set(s);
    }
    leave_set();
}

static void alltoalls_in_set(const struct set *s, const char *call, void *dest, const void *source, ptrdiff_t dst,
                             ptrdiff_t sst, size_t nelems, size_t size) {
    size_t len, to, from;
    if (dst < 1 || sst < 1) {
        rma_fail_(RMA_ERR_ARG, "%s: the strides dst %td and sst %td are not both at least 1", call, dst, sst);
        leave_set();
        return;
    }
    if (__builtin_mul_overflow(nelems, (size_t)dst, &to) || __builtin_mul_overflow(nelems, (size_t)sst, &from))
        to = from = (size_t)-1;
    if (!part_bytes(s, call, to > from ? to : from, size, &len)) return;
    if (s->world) {
        rma_alltoalls(RMA_TEAM_WORLD, dest, source, dst, sst, size, nelems);
    } else {
        meet_set(s);
        for (int k = 0, i = s->me; k < s->n; k++, i = i + 1 < s->n ? i + 1 : 0)
            rma_iget((char *)dest + (size_t)i * to * size, (const char *)source + (size_t)s->me * from * size, dst, sst,
                     size, nelems, pe_of_set(s, i));
        meet_set(s);
    }
    leave_set();
}

#define MOVES(BITS, SIZE)                                                                                              \
    void pshmem_broadcast##BITS(void *dest, const void *source, size_t nelems, int PE_root, SHMEM_SET_PARAMETERS_,     \
                                long *pSync) {                                                                         \
        ENTER(shmem_broadcast##BITS) broadcast_in_set(&s, call, dest, source, nelems, SIZE, PE_root);                  \
    }                                                                                                                  \
    void pshmem_collect##BITS(void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, long *pSync) {     \
        ENTER(shmem_collect##BITS) collect_in_set(&s, call, dest, source, nelems, SIZE);                               \
    }                                                                                                                  \
    void pshmem_fcollect##BITS(void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, long *pSync) {    \
        ENTER(shmem_fcollect##BITS) fcollect_in_set(&s, call, dest, source, nelems, SIZE);                             \
    }                                                                                                                  \
    void pshmem_alltoall##BITS(void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, long *pSync) {    \
        ENTER(shmem_alltoall##BITS) alltoall_in_set(&s, call, dest, source, nelems, SIZE);                             \
    }                                                                                                                  \
    void pshmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,           \
                                SHMEM_SET_PARAMETERS_, long *pSync) {                                                  \
        ENTER(shmem_alltoalls##BITS) alltoalls_in_set(&s, call, dest, source, dst, sst, nelems, SIZE);                 \
    }
#define ENTER(CALL)                                                                                                    \
    static const char call[] = #CALL;                                                                                  \
    struct set s;                                                                                                      \
    if (enter_set(&s, call, PE_start, logPE_stride, PE_size, pSync))
MOVES(32, 4)
MOVES(64, 8)

/* ---- reductions ---- */

/* into[i] = into[i] OP from[i]. */
typedef void operation(void *into, const void *from, size_t n);

/* Reduces the sources of all PEs in the order of the PEs, so that floating-point results are the same on each. */
static void fold_sources(const struct set *s, void *into, const void *source, size_t n, size_t size, operation *op) {
    _Alignas(16) char piece[PIECE];
    const size_t most = PIECE / size;
    rma_get(into, source, n * size, pe_of_set(s, 0));
    for (int i = 1; i < s->n; i++) {
        const void *there = rma_ptr(source, pe_of_set(s, i));
        if (there) {
            op(into, there, n);
            continue;
        }
        for (size_t done = 0, now; done < n; done += now) {
            now = n - done < most ? n - done : most;
            if (rma_get(piece, (const char *)source + done * size, now * size, pe_of_set(s, i)) != RMA_SUCCESS) return;
            op((char *)into + done * size, piece, now);
        }
    }
}

/* If source is dest, the result must not overwrite data that other PEs still read: it is kept in pWrk, which has room
 * for half of it. */
static void reduce_in_set(const struct set *s, void *dest, const void *source, size_t n, size_t size, void *work,
                          operation *op) {
    const size_t room = n / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? n / 2 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE;
    if (dest != source) {
        meet_set(s);
        fold_sources(s, dest, source, n, size, op);
        meet_set(s);
        return;
    }
    for (size_t done = 0, now; done < n; done += now) {
        const size_t at = done * size;
        now = n - done < room ? n - done : room;
        meet_set(s);
        fold_sources(s, work, (const char *)source + at, now, size, op);
        meet_set(s);
        memcpy((char *)dest + at, work, now * size);
    }
}

/* Checks the arguments of a reduction. If the whole span of source can be read on this PE, it can be read on each PE.
 * Returns 0 after an error. */
static int check_reduction(const char *call, const void *source, int nreduce, size_t size, const void *work,
                           const void *dest) {
    const int me = rma_my_pe();
    if (nreduce < 0)
        rma_fail_(RMA_ERR_ARG, "%s: nreduce %d is below 0", call, nreduce);
    else if (nreduce > 0 && !source)
        rma_fail_(RMA_ERR_ADDRESS, "%s: source is a null pointer", call);
    else if (nreduce > 0 && (!rma_ptr(source, me) || !rma_ptr((const char *)source + (size_t)nreduce * size - 1, me)))
        rma_fail_(RMA_ERR_ADDRESS, "%s: source %p with %d element%s of %zu bytes is in no symmetric object", call,
                  source, nreduce, nreduce == 1 ? "" : "s", size);
    else if (nreduce > 0 && !dest)
        rma_fail_(RMA_ERR_ARG, "%s: dest is a null pointer", call);
    else if (nreduce > 0 && dest == source && !work)
        rma_fail_(RMA_ERR_ARG, "%s: pWrk is a null pointer", call);
    else
        return 1;
    leave_set();
    return 0;
}

/* Integers wrap around. */
#define DO_AND(a, b)       a &= b
#define DO_OR(a, b)        a |= b
#define DO_XOR(a, b)       a ^= b
#define DO_MIN(a, b)       a = b < a ? b : a
#define DO_MAX(a, b)       a = b > a ? b : a
#define DO_SUM(a, b)       (void)__builtin_add_overflow(a, b, &a)
#define DO_PROD(a, b)      (void)__builtin_mul_overflow(a, b, &a)
#define DO_REAL_SUM(a, b)  a += b
#define DO_REAL_PROD(a, b) a *= b

#define TO_ALL(NAME, TYPE, RNAME, OP, DO)                                                                              \
    static void NAME##OP(void *into, const void *from, size_t n) {                                                     \
        TYPE *a = into;                                                                                                \
        const TYPE *b = from;                                                                                          \
        for (size_t i = 0; i < n; i++) DO(a[i], b[i]);                                                                 \
    }                                                                                                                  \
    void pshmem_##NAME##OP##_to_all(TYPE *dest, const TYPE *source, int nreduce, SHMEM_SET_PARAMETERS_, TYPE *pWrk,    \
                                    long *pSync) {                                                                     \
        ENTER(shmem_##NAME##OP##_to_all) {                                                                             \
            if (s.world && nreduce >= 0) {                                                                             \
                rma##OP##_reduce_##RNAME(RMA_TEAM_WORLD, dest, source, (size_t)nreduce);                               \
            } else {                                                                                                   \
                if (!check_reduction(call, source, nreduce, sizeof(TYPE), pWrk, dest)) return;                         \
                reduce_in_set(&s, dest, source, (size_t)nreduce, sizeof(TYPE), pWrk, NAME##OP);                        \
            }                                                                                                          \
            leave_set();                                                                                               \
        }                                                                                                              \
    }
#define BITS(X, NAME, TYPE, RNAME)                                                                                     \
    TO_ALL(NAME, TYPE, RNAME, _and, DO_AND)                                                                            \
    TO_ALL(NAME, TYPE, RNAME, _or, DO_OR)                                                                              \
    TO_ALL(NAME, TYPE, RNAME, _xor, DO_XOR)
#define LIMITS(X, NAME, TYPE, RNAME)                                                                                   \
    TO_ALL(NAME, TYPE, RNAME, _max, DO_MAX)                                                                            \
    TO_ALL(NAME, TYPE, RNAME, _min, DO_MIN)
#define SUMS(X, NAME, TYPE, RNAME)                                                                                     \
    TO_ALL(NAME, TYPE, RNAME, _sum, DO_SUM)                                                                            \
    TO_ALL(NAME, TYPE, RNAME, _prod, DO_PROD)
#define REAL_SUMS(X, NAME, TYPE, RNAME)                                                                                \
    TO_ALL(NAME, TYPE, RNAME, _sum, DO_REAL_SUM)                                                                       \
    TO_ALL(NAME, TYPE, RNAME, _prod, DO_REAL_PROD)
/* The compiler warns that a compound assignment to a short narrows; here this is intended. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
SHMEM_TO_ALL_BIT_TYPES_(BITS, )
#pragma GCC diagnostic pop
SHMEM_TO_ALL_TYPES_(LIMITS, )
SHMEM_TO_ALL_BIT_TYPES_(SUMS, )
SHMEM_REALS_(REAL_SUMS, )
SHMEM_COMPLEX_(REAL_SUMS, )

SHMEM_ACTIVE_SET_CALLS_(ALIAS)
