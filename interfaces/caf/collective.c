/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective subroutines, in three ways:
 * - Short data travel with a barrier: images that share processors show them to each other (rmai_caf_show, sync.h),
 *   other teams whose size is a power of two exchange them (rmai_caf_exchange).
 * - librma broadcasts, and reduces what it can: sums, minima and maxima of the types that C has.
 * - This module reduces other types, characters, and by the user's operations: the images exchange parts, each reduces
 *   its own part over all images, in their order, and the results are collected.
 * A collective call of librma waits for all images, and would wait for ever for one that has left. So the images first
 * execute a barrier that notices such images (rmai_caf_sync_saying). */
#include "config.h"

#include "interfaces/caf/collective.h"
#include "interfaces/caf/sync.h"
#include "interfaces/caf/team.h"

#include <stdlib.h>
#include <string.h>

static inline void copy_few(void *to, const void *from, size_t len) {
    if (len == 8)
        memcpy(to, from, 8);
    else if (len)
        memcpy(to, from, len);
}

/* A broadcast by rmai_caf_exchange. After round k the images whose numbers differ from that of the source at most in
 * the bits 0 to k have the data. */
struct spread {
    int distance; /* me ^ source */
    size_t len;
};

static void take_if_new(void *mine, const void *theirs, int round, const void *context) {
    const struct spread *s = context;
    if (s->distance >> round == 1) copy_few(mine, theirs, s->len);
}

void rmai_caf_broadcast(struct rmai_caf_result r, void *data, size_t len, int source) {
    struct rmai_caf_team *team = rmai_caf.team;
    if (rmai_caf_pe(r, "CO_BROADCAST", team, source) < 0) return;
    const uint64_t says = rmai_caf_says(RMAI_CAF_BROADCAST, source, len);
    if (rmai_caf_shows(team, len)) {
        if (!rmai_caf_show(r, "CO_BROADCAST", says, data, team->me == source - 1 ? len : 0)) return;
        if (team->me != source - 1) copy_few(data, rmai_caf_shown(source - 1), len);
    } else if (rmai_caf_can_exchange(team->n, len)) {
        struct spread s = {.distance = team->me ^ (source - 1), .len = len};
        struct rmai_caf_parcel parcel = {.says = says};
        copy_few(parcel.data, data, len);
        if (!rmai_caf_exchange(r, "CO_BROADCAST", team, &parcel, len, take_if_new, &s)) return;
        copy_few(data, parcel.data, len);
    } else {
        if (!rmai_caf_sync_saying(r, "CO_BROADCAST", team, says)) return;
        rmai_caf_must(rma_broadcast(team->native, data, data, len, source - 1));
    }
    rmai_caf_done(r);
}

/* ---- reductions by librma ---- */

/* clang-format off */
#define NATIVE(OP, TYPE, CTYPE)                                                                                        \
    return root < 0 ? rma_##OP##_reduce_##TYPE(team, (CTYPE *)data, (const CTYPE *)data, n)                            \
                    : rma_##OP##_reduce_root_##TYPE(team, (CTYPE *)data, (const CTYPE *)data, n, root);
#define NATIVE_NUMBERS(OP)                                                                                             \
    case 10 * RMAI_CAF_INTEGER + 1: NATIVE(OP, int8, int8_t)                                                           \
    case 10 * RMAI_CAF_INTEGER + 2: NATIVE(OP, int16, int16_t)                                                         \
    case 10 * RMAI_CAF_INTEGER + 4: NATIVE(OP, int32, int32_t)                                                         \
    case 10 * RMAI_CAF_INTEGER + 8: NATIVE(OP, int64, int64_t)                                                         \
    case 10 * RMAI_CAF_REAL + 4: NATIVE(OP, float, float)                                                              \
    case 10 * RMAI_CAF_REAL + 8: NATIVE(OP, double, double)
/* clang-format on */

#define NO_NATIVE (-1)

/* Returns NO_NATIVE if librma does not have the operation for the type. */
static int reduce_natively(rma_team *team, enum rmai_caf_collective op, struct rmai_caf_type type, void *data, size_t n,
                           int root) {
    int what = type.kind < 10 ? 10 * type.type + type.kind : 0;
    switch (op) {
        case RMAI_CAF_SUM:
            switch (what) {
                NATIVE_NUMBERS(sum)
                case 10 * RMAI_CAF_COMPLEX + 4: NATIVE(sum, complexf, rma_complexf_)
                case 10 * RMAI_CAF_COMPLEX + 8: NATIVE(sum, complexd, rma_complexd_)
                default: return NO_NATIVE;
            }
        case RMAI_CAF_MIN:
            switch (what) {
                NATIVE_NUMBERS(min)
                default: return NO_NATIVE;
            }
        case RMAI_CAF_MAX:
            switch (what) {
                NATIVE_NUMBERS(max)
                default: return NO_NATIVE;
            }
        default: return NO_NATIVE;
    }
}

/* ---- reductions by this module ---- */

/* NAME is a rmai_caf_combine: EXPRESSION computes a and b. */

#define COMBINE(NAME, TYPE, EXPRESSION)                                                                                \
    static void NAME(void *acc, const void *x, size_t n, const void *context) {                                        \
        (void)context;                                                                                                 \
        for (size_t i = 0; i < n; i++) {                                                                               \
            TYPE a, b;                                                                                                 \
            memcpy(&a, (char *)acc + i * sizeof a, sizeof a);                                                          \
            memcpy(&b, (const char *)x + i * sizeof b, sizeof b);                                                      \
            a = (EXPRESSION);                                                                                          \
            memcpy((char *)acc + i * sizeof a, &a, sizeof a);                                                          \
        }                                                                                                              \
    }
#define COMBINES(NAME, TYPE)                                                                                           \
    COMBINE(sum_##NAME, TYPE, a + b)                                                                                   \
    COMBINE(min_##NAME, TYPE, b < a ? b : a)                                                                           \
    COMBINE(max_##NAME, TYPE, b > a ? b : a)

typedef __int128 int128;
typedef long double real10;
#ifdef __SIZEOF_FLOAT128__
typedef __float128 real16;
#else
typedef long double real16;
#endif
COMBINES(int8, int8_t)
COMBINES(int16, int16_t)
COMBINES(int32, int32_t)
COMBINES(int64, int64_t)
COMBINES(int128, int128)
COMBINES(real4, float)
COMBINES(real8, double)
COMBINES(real10, real10)
COMBINES(real16, real16)

static int compare_characters(const char *a, const char *b, const struct rmai_caf_type *type) {
    if (type->kind == 1) return memcmp(a, b, type->elem);
    for (size_t i = 0; i < type->elem; i += 4) {
        uint32_t x, y;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

static void select_characters(void *acc, const void *x, size_t n, const struct rmai_caf_type *type, int sign) {
    for (size_t i = 0; i < n; i++) {
        char *a = (char *)acc + i * type->elem;
        const char *b = (const char *)x + i * type->elem;
        if (sign * compare_characters(b, a, type) > 0) memcpy(a, b, type->elem);
    }
}
static void min_characters(void *acc, const void *x, size_t n, const void *context) {
    select_characters(acc, x, n, context, -1);
}
static void max_characters(void *acc, const void *x, size_t n, const void *context) {
    select_characters(acc, x, n, context, 1);
}

/* The functions of one operation: entry i of the first row for integers of kind 2^i, of the second for reals of that
 * kind. Reals of kind 10 have a table of their own. */
#define ROW(OP)                                                                                                        \
    { {OP##_int8, OP##_int16, OP##_int32, OP##_int64, OP##_int128}, {NULL, NULL, OP##_real4, OP##_real8, OP##_real16}, }

/* Returns the function for an operation and a type, or NULL if the type does not have the operation. The function
 * takes a complex number as two real ones: *per is how many of its numbers an element has. */
static rmai_caf_combine *combine_of(enum rmai_caf_collective op, struct rmai_caf_type type, size_t *per) {
    static rmai_caf_combine *const numbers[3][2][5] = {
        [RMAI_CAF_SUM] = ROW(sum), [RMAI_CAF_MIN] = ROW(min), [RMAI_CAF_MAX] = ROW(max)};
    static rmai_caf_combine *const real10s[3] = {sum_real10, min_real10, max_real10};
    static rmai_caf_combine *const characters[3] = {NULL, min_characters, max_characters};
    int is_real = type.type == RMAI_CAF_REAL || type.type == RMAI_CAF_COMPLEX;
    *per = type.type == RMAI_CAF_COMPLEX ? 2 : 1;
    if (type.type == RMAI_CAF_CHARACTER) return characters[op];
    if ((!is_real && type.type != RMAI_CAF_INTEGER) || (*per == 2 && op != RMAI_CAF_SUM)) return NULL;
    if (is_real && type.kind == 10) return real10s[op];
    for (int i = 0; i < 5; i++)
        if (type.kind == 1 << i) return numbers[op][is_real][i];
    return NULL;
}

/* A reduction by rmai_caf_exchange. */
struct operation {
    rmai_caf_combine *combine;
    size_t n;
    const void *context;
    int me;
};

/* The image with the lower number stands on the left, so that all have the same result in the images' order. */
static void take_and_combine(void *mine, const void *theirs, int round, const void *context) {
    const struct operation *o = context;
    if (o->me >> round & 1) {
        char left[RMAI_CAF_BOX] __attribute__((aligned(16)));
        memcpy(left, theirs, sizeof left);
        o->combine(left, mine, o->n, o->context);
        memcpy(mine, left, sizeof left);
    } else {
        o->combine(mine, theirs, o->n, o->context);
    }
}

/* Combines what the images have shown, in their order. */
static void combine_shown(void *data, int images, size_t bytes, size_t n, rmai_caf_combine *combine,
                          const void *context) {
    copy_few(data, rmai_caf_shown(0), bytes);
    for (int i = 1; i < images; i++) combine(data, rmai_caf_shown(i), n, context);
}

#define SHORT_BYTES                                                                                                    \
    1024 /* if the data of all images together have at most this length, each image reduces all of them */

/* Image i reduces elements [i * each, (i + 1) * each), or every image reduces all n (all). */
static void reduce_here(struct rmai_caf_team *team, const char *statement, void *data, size_t n, size_t elem,
                        size_t per, int root, rmai_caf_combine *combine, const void *context) {
    size_t images = (size_t)team->n, each = (n + images - 1) / images;
    int all = n < images || n * elem <= SHORT_BYTES / images;
    if (all) each = n;
    size_t block = each * elem;
    char *parts = rmai_caf_memory(statement, 2 * images * block), *sent = parts + images * block;
    if (all) {
        rmai_caf_must(rma_fcollect(team->native, parts, data, block));
    } else {
        memcpy(sent, data, n * elem);
        memset(sent + n * elem, 0, images * block - n * elem);
        rmai_caf_must(rma_alltoall(team->native, parts, sent, block));
    }
    /* The last parts of n elements may be empty: the user's function sees only elements of the program. */
    size_t first = all ? 0 : each * (size_t)team->me, mine = first >= n ? 0 : n - first < each ? n - first : each;
    for (size_t i = 1; i < images; i++) combine(parts, parts + i * block, mine * per, context);
    if (all) {
        if (root < 0 || root == team->me) memcpy(data, parts, n * elem);
    } else if (root < 0) {
        rmai_caf_must(rma_fcollect(team->native, sent, parts, block));
        memcpy(data, sent, n * elem);
    } else {
        rmai_caf_must(rma_gather(team->native, sent, parts, block, root));
        if (root == team->me) memcpy(data, sent, n * elem);
    }
    free(parts);
}

void rmai_caf_reduce(struct rmai_caf_result r, const char *statement, enum rmai_caf_collective op, void *data, size_t n,
                     struct rmai_caf_type type, int result, rmai_caf_combine *combine, const void *context) {
    struct rmai_caf_team *team = rmai_caf.team;
    size_t per = 1, bytes = n * type.elem;
    const uint64_t says = rmai_caf_says(op, result, bytes);
    if (result != 0 && rmai_caf_pe(r, statement, team, result) < 0) return;
    if (op != RMAI_CAF_USER) {
        combine = combine_of(op, type, &per);
        context = &type;
        if (!combine) {
            rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s is not defined for gfortran's type %d of kind %d", statement,
                            type.type, type.kind);
            return;
        }
    }
    if (rmai_caf_shows(team, bytes)) {
        if (!rmai_caf_show(r, statement, says, data, bytes)) return;
        if (result == 0 || result - 1 == team->me) combine_shown(data, team->n, bytes, n * per, combine, context);
    } else if (rmai_caf_can_exchange(team->n, bytes)) {
        struct operation o = {.combine = combine, .n = n * per, .context = context, .me = team->me};
        struct rmai_caf_parcel parcel = {.says = says};
        copy_few(parcel.data, data, bytes);
        if (!rmai_caf_exchange(r, statement, team, &parcel, bytes, take_and_combine, &o)) return;
        if (result == 0 || result - 1 == team->me) copy_few(data, parcel.data, bytes);
    } else {
        if (!rmai_caf_sync_saying(r, statement, team, says)) return;
        if (n > 0 && reduce_natively(team->native, op, type, data, n, result - 1) == NO_NATIVE)
            reduce_here(team, statement, data, n, type.elem, per, result - 1, combine, context);
    }
    rmai_caf_done(r);
}
