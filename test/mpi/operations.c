/* SPDX-License-Identifier: BSD-3-Clause */
/* Each predefined datatype with each predefined operation: the pairs that MPI defines (MPI 4.0, section 6.9.2) give
 * what C computes in that type, and the others are MPI_ERR_OP and change nothing. Then MPI_Compare_and_swap of each
 * type that MPI allows for it. Broken by a type that is taken for another, by an operation on unsigned numbers that
 * takes them for signed, by a path for elements that are not aligned that differs from the one for those that are, and
 * by a swap that needs memory around its word. */
#include "check.h"

#include <stddef.h>

#define COUNT 8  /* elements of an array */
#define MOST  32 /* bytes of the longest element */

enum op { MAX, MIN, SUM, PROD, LAND, BAND, LOR, BOR, LXOR, BXOR, MINLOC, MAXLOC, REPLACE, NO_OP, OPS };
static MPI_Op op_handle(enum op op) {
    const MPI_Op all[OPS] = {MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                             MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    return all[op];
}
static const char *const op_names[OPS] = {"MAX", "MIN",  "SUM",  "PROD",   "LAND",   "BAND",    "LOR",
                                          "BOR", "LXOR", "BXOR", "MINLOC", "MAXLOC", "REPLACE", "NO_OP"};

#define NUMBERS (1u << MAX | 1u << MIN | 1u << SUM | 1u << PROD)
#define TRUTHS  (1u << LAND | 1u << LOR | 1u << LXOR)
#define BITS    (1u << BAND | 1u << BOR | 1u << BXOR)
#define SUMS    (1u << SUM | 1u << PROD)
#define PLACES  (1u << MINLOC | 1u << MAXLOC)
#define COPIES  (1u << REPLACE | 1u << NO_OP)

/* ---- arithmetic ---- */

/* What C does with the elements of a type. `there` and `mine` are the i-th values of the target and of the origin. */
struct kind {
    size_t size; /* sizeof */
    void (*value)(void *to, int i, int mine);
    void (*apply)(enum op op, void *there, const void *mine);
    int (*same)(const void *a, const void *b);
};

typedef unsigned __int128 wide; /* in which no sum of integers overflows, and no product but in its upper bits */

/* The value at place i of a list: the origin's values are the target's, three places further. */
static int place(int i, int mine) { return (i + (mine ? 3 : 0)) % COUNT; }

#define INTEGER_KIND(NAME, TYPE)                                                                                       \
    static void NAME##_value(void *to, int i, int mine) {                                                              \
        const uint64_t top = (uint64_t)1 << (8 * sizeof(TYPE) - 1) % 64;                                               \
        const uint64_t list[COUNT] = {0, 1, ~(uint64_t)0, 5, top, top - 1, 0x5a5a5a5a5a5a5a5a, 3};                     \
        const TYPE value = (TYPE)list[place(i, mine)];                                                                 \
        memcpy(to, &value, sizeof value);                                                                              \
    }                                                                                                                  \
    static void NAME##_apply(enum op op, void *there, const void *mine) {                                              \
        TYPE a, b;                                                                                                     \
        memcpy(&a, there, sizeof a);                                                                                   \
        memcpy(&b, mine, sizeof b);                                                                                    \
        switch (op) {                                                                                                  \
            case MAX: a = a > b ? a : b; break;                                                                        \
            case MIN: a = a < b ? a : b; break;                                                                        \
            case SUM: a = (TYPE)((wide)a + (wide)b); break;                                                            \
            case PROD: a = (TYPE)((wide)a * (wide)b); break;                                                           \
            case LAND: a = a && b; break;                                                                              \
            case LOR: a = a || b; break;                                                                               \
            case LXOR: a = !a != !b; break;                                                                            \
            case BAND: a = (TYPE)(a & b); break;                                                                       \
            case BOR: a = (TYPE)(a | b); break;                                                                        \
            case BXOR: a = (TYPE)(a ^ b); break;                                                                       \
            case REPLACE: a = b; break;                                                                                \
            default: break;                                                                                            \
        }                                                                                                              \
        memcpy(there, &a, sizeof a);                                                                                   \
    }                                                                                                                  \
    static int NAME##_same(const void *a, const void *b) { return memcmp(a, b, sizeof(TYPE)) == 0; }                   \
    static const struct kind NAME = {sizeof(TYPE), NAME##_value, NAME##_apply, NAME##_same};

/* Truth values are 0 and 1. */
#define LOGICAL_KIND(NAME, NUMBER)                                                                                     \
    static void NAME##_value(void *to, int i, int mine) {                                                              \
        const uint64_t value = (uint64_t)(mine ? i : i / 2) % 2;                                                       \
        memcpy(to, &value, NUMBER.size); /* little-endian */                                                           \
    }                                                                                                                  \
    static const struct kind NAME = {sizeof(NAME##_size), NAME##_value, NUMBER##_apply, NUMBER##_same};

/* All sums and products of these are exact, so no order of operations changes them. EPS is lost in a shorter type. */
#define FLOATS(EPS)                                                                                                    \
    { 0, 1, -1, 1 + (EPS), -2.5, 3, 0.5, -1 - (EPS) }

#define FLOAT_KIND(NAME, TYPE, EPS)                                                                                    \
    static void NAME##_value(void *to, int i, int mine) {                                                              \
        const TYPE list[COUNT] = FLOATS((TYPE)(EPS));                                                                  \
        memcpy(to, &list[place(i, mine)], sizeof *list);                                                               \
    }                                                                                                                  \
    static void NAME##_apply(enum op op, void *there, const void *mine) {                                              \
        TYPE a, b;                                                                                                     \
        memcpy(&a, there, sizeof a);                                                                                   \
        memcpy(&b, mine, sizeof b);                                                                                    \
        switch (op) {                                                                                                  \
            case MAX: a = a > b ? a : b; break;                                                                        \
            case MIN: a = a < b ? a : b; break;                                                                        \
            case SUM: a += b; break;                                                                                   \
            case PROD: a *= b; break;                                                                                  \
            case REPLACE: a = b; break;                                                                                \
            default: break;                                                                                            \
        }                                                                                                              \
        memcpy(there, &a, sizeof a);                                                                                   \
    }                                                                                                                  \
    static int NAME##_same(const void *a, const void *b) {                                                             \
        TYPE x, y;                                                                                                     \
        memcpy(&x, a, sizeof x);                                                                                       \
        memcpy(&y, b, sizeof y);                                                                                       \
        return x == y;                                                                                                 \
    }                                                                                                                  \
    static const struct kind NAME = {sizeof(TYPE), NAME##_value, NAME##_apply, NAME##_same};

/* A pair of two parts, which C and Fortran lay out alike. */
#define COMPLEX_KIND(NAME, TYPE, EPS)                                                                                  \
    static void NAME##_value(void *to, int i, int mine) {                                                              \
        const TYPE list[COUNT] = FLOATS((TYPE)(EPS));                                                                  \
        const TYPE value[2] = {list[place(i, mine)], list[place(i + 2, mine)]};                                        \
        memcpy(to, value, sizeof value);                                                                               \
    }                                                                                                                  \
    static void NAME##_apply(enum op op, void *there, const void *mine) {                                              \
        TYPE a[2], b[2];                                                                                               \
        memcpy(a, there, sizeof a);                                                                                    \
        memcpy(b, mine, sizeof b);                                                                                     \
        if (op == SUM) {                                                                                               \
            a[0] += b[0], a[1] += b[1];                                                                                \
        } else if (op == PROD) {                                                                                       \
            const TYPE real = a[0] * b[0] - a[1] * b[1];                                                               \
            a[1] = a[0] * b[1] + a[1] * b[0];                                                                          \
            a[0] = real;                                                                                               \
        } else if (op == REPLACE) {                                                                                    \
            memcpy(a, b, sizeof a);                                                                                    \
        }                                                                                                              \
        memcpy(there, a, sizeof a);                                                                                    \
    }                                                                                                                  \
    static int NAME##_same(const void *a, const void *b) {                                                             \
        TYPE x[2], y[2];                                                                                               \
        memcpy(x, a, sizeof x);                                                                                        \
        memcpy(y, b, sizeof y);                                                                                        \
        return x[0] == y[0] && x[1] == y[1];                                                                           \
    }                                                                                                                  \
    static const struct kind NAME = {2 * sizeof(TYPE), NAME##_value, NAME##_apply, NAME##_same};

/* A value and an index. Some values are equal: then the smaller index wins. */
#define PAIR_KIND(NAME, TYPE, INDEX)                                                                                   \
    struct NAME##_pair {                                                                                               \
        TYPE value;                                                                                                    \
        INDEX index;                                                                                                   \
    };                                                                                                                 \
    static void NAME##_value(void *to, int i, int mine) {                                                              \
        const TYPE list[COUNT] = {0, 1, -1, 7, 7, -3, 100, 2};                                                         \
        struct NAME##_pair p;                                                                                          \
        memset(&p, mine ? 0x44 : 0, sizeof p);                                                                         \
        p.value = list[place(i, mine && i % 3 != 0)];                                                                  \
        p.index = (INDEX)(mine ? COUNT - i % COUNT : 3);                                                               \
        memcpy(to, &p, sizeof p);                                                                                      \
    }                                                                                                                  \
    static void NAME##_apply(enum op op, void *there, const void *mine) {                                              \
        struct NAME##_pair a, b;                                                                                       \
        memcpy(&a, there, sizeof a);                                                                                   \
        memcpy(&b, mine, sizeof b);                                                                                    \
        if (op == REPLACE || (op == MINLOC && b.value < a.value) || (op == MAXLOC && b.value > a.value) ||             \
            ((op == MINLOC || op == MAXLOC) && b.value == a.value && b.index < a.index)) {                             \
            memcpy(there, &b.value, sizeof b.value);                                                                   \
            memcpy((char *)there + offsetof(struct NAME##_pair, index), &b.index, sizeof b.index);                     \
        }                                                                                                              \
    }                                                                                                                  \
    static int NAME##_same(const void *a, const void *b) {                                                             \
        struct NAME##_pair x, y;                                                                                       \
        memcpy(&x, a, sizeof x);                                                                                       \
        memcpy(&y, b, sizeof y);                                                                                       \
        return x.value == y.value && x.index == y.index;                                                               \
    }                                                                                                                  \
    static const struct kind NAME = {sizeof(struct NAME##_pair), NAME##_value, NAME##_apply, NAME##_same};

INTEGER_KIND(int_1, int8_t)
INTEGER_KIND(int_2, int16_t)
INTEGER_KIND(int_4, int32_t)
INTEGER_KIND(int_8, int64_t)
INTEGER_KIND(int_16, __int128)
INTEGER_KIND(uint_1, uint8_t)
INTEGER_KIND(uint_2, uint16_t)
INTEGER_KIND(uint_4, uint32_t)
INTEGER_KIND(uint_8, uint64_t)
typedef int8_t logical_1_size;
typedef int16_t logical_2_size;
typedef int32_t logical_4_size;
typedef int64_t logical_8_size;
LOGICAL_KIND(logical_1, int_1)
LOGICAL_KIND(logical_2, int_2)
LOGICAL_KIND(logical_4, int_4)
LOGICAL_KIND(logical_8, int_8)
FLOAT_KIND(float_4, float, 0x1p-18)
FLOAT_KIND(float_8, double, 0x1p-45)
FLOAT_KIND(float_long, long double, 0x1p-58L)
FLOAT_KIND(float_16, _Float128, 0x1p-100)
#if defined MPI_REAL2 && defined MPI_COMPLEX4 && defined __FLT16_MANT_DIG__
FLOAT_KIND(float_2, _Float16, 0x1p-8)
COMPLEX_KIND(complex_4, _Float16, 0x1p-8)
#endif
COMPLEX_KIND(complex_8, float, 0x1p-18)
COMPLEX_KIND(complex_16, double, 0x1p-45)
COMPLEX_KIND(complex_long, long double, 0x1p-58L)
COMPLEX_KIND(complex_32, _Float128, 0x1p-100)
PAIR_KIND(short_int, short, int)
PAIR_KIND(int_int, int, int)
PAIR_KIND(long_int, long, int)
PAIR_KIND(float_int, float, int)
PAIR_KIND(double_int, double, int)
PAIR_KIND(long_double_int, long double, int)
PAIR_KIND(float_float, float, float)
PAIR_KIND(double_double, double, double)

/* ---- types ---- */

enum group { C_INTEGER, FORTRAN_INTEGER, FLOATING, LOGICAL, COMPLEX, BYTE, MULTI, PAIR, OTHER };

/* The operations that MPI defines for a group. REPLACE and NO_OP are for all types. */
static const unsigned defined[] = {NUMBERS | TRUTHS | BITS, NUMBERS | BITS, NUMBERS, TRUTHS, SUMS, BITS,
                                   NUMBERS | BITS,          PLACES,         0};

struct type {
    const char *name;
    MPI_Datatype handle;
    enum group group;
    const struct kind *kind;
    unsigned extra; /* more operations, which MPICH takes; they give what its MPI_Reduce_local gives */
    int unnamed;    /* of MPI_Type_create_f90_real and its relatives */
};

#define ROOM 100
static struct type types[ROOM];
static int n_types;

/* Enters a type, unless this MPI does not have it. `kinds` are those of its class; the size chooses one. */
static void enter(const char *name, MPI_Datatype handle, enum group group, const struct kind *const *kinds,
                  unsigned extra) {
    MPI_Aint lb, extent = 0;
    if (handle == MPI_DATATYPE_NULL) return;
    MPI_Type_get_extent(handle, &lb, &extent);
    if (extent == 0) return;
    while (*kinds && (*kinds)->size != (size_t)extent) kinds++;
    if (!*kinds) fprintf(stderr, "%s has an extent of %ld bytes\n", name, (long)extent);
    CHECK(*kinds != NULL && n_types < ROOM);
    types[n_types++] = (struct type){name, handle, group, *kinds, extra, strstr(name, "f90") != NULL};
}

#define ENTER(TYPE, GROUP, KINDS, EXTRA) enter(#TYPE, TYPE, GROUP, KINDS, EXTRA)
#define ONE(KIND)                                                                                                      \
    (const struct kind *const[]) { &KIND, NULL }

static void enter_f90(const struct kind *const *integers, const struct kind *const *reals,
                      const struct kind *const *complexes) {
    const int digits[] = {2, 4, 9, 18};
    MPI_Datatype t;
    for (int i = 0; i < 4; i++) {
        MPI_Type_create_f90_integer(digits[i], &t);
        enter("MPI_Type_create_f90_integer", t, FORTRAN_INTEGER, integers, TRUTHS);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Type_create_f90_real(i ? 15 : 6, i ? 300 : 30, &t);
        enter("MPI_Type_create_f90_real", t, FLOATING, reals, 0);
        MPI_Type_create_f90_complex(i ? 15 : 6, i ? 300 : 30, &t);
        enter("MPI_Type_create_f90_complex", t, COMPLEX, complexes, 0);
    }
    for (int size = 4; size <= 8; size *= 2) {
        MPI_Type_match_size(MPI_TYPECLASS_INTEGER, size, &t);
        enter("MPI_Type_match_size, integer", t, FORTRAN_INTEGER, integers, TRUTHS);
        MPI_Type_match_size(MPI_TYPECLASS_REAL, size, &t);
        enter("MPI_Type_match_size, real", t, FLOATING, reals, 0);
        MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 2 * size, &t);
        enter("MPI_Type_match_size, complex", t, COMPLEX, complexes, 0);
    }
}

static void enter_all(void) {
    const struct kind *const ints[] = {&int_1, &int_2, &int_4, &int_8, &int_16, NULL};
    const struct kind *const uints[] = {&uint_1, &uint_2, &uint_4, &uint_8, NULL};
    const struct kind *const logicals[] = {&logical_1, &logical_2, &logical_4, &logical_8, NULL};
    const struct kind *const reals[] = {&float_4, &float_8, &float_16, NULL};
    const struct kind *const complexes[] = {&complex_8, &complex_16, &complex_32, NULL};
    const unsigned all = NUMBERS | TRUTHS | BITS;
    ENTER(MPI_SIGNED_CHAR, C_INTEGER, ints, 0);
    ENTER(MPI_SHORT, C_INTEGER, ints, 0);
    ENTER(MPI_INT, C_INTEGER, ints, 0);
    ENTER(MPI_LONG, C_INTEGER, ints, 0);
    ENTER(MPI_LONG_LONG, C_INTEGER, ints, 0);
    ENTER(MPI_LONG_LONG_INT, C_INTEGER, ints, 0);
    ENTER(MPI_UNSIGNED_CHAR, C_INTEGER, uints, 0);
    ENTER(MPI_UNSIGNED_SHORT, C_INTEGER, uints, 0);
    ENTER(MPI_UNSIGNED, C_INTEGER, uints, 0);
    ENTER(MPI_UNSIGNED_LONG, C_INTEGER, uints, 0);
    ENTER(MPI_UNSIGNED_LONG_LONG, C_INTEGER, uints, 0);
    ENTER(MPI_INT8_T, C_INTEGER, ints, 0);
    ENTER(MPI_INT16_T, C_INTEGER, ints, 0);
    ENTER(MPI_INT32_T, C_INTEGER, ints, 0);
    ENTER(MPI_INT64_T, C_INTEGER, ints, 0);
    ENTER(MPI_UINT8_T, C_INTEGER, uints, 0);
    ENTER(MPI_UINT16_T, C_INTEGER, uints, 0);
    ENTER(MPI_UINT32_T, C_INTEGER, uints, 0);
    ENTER(MPI_UINT64_T, C_INTEGER, uints, 0);
    ENTER(MPI_CHAR, OTHER, ints, all);
    ENTER(MPI_CHARACTER, OTHER, ints, all);
    ENTER(MPI_WCHAR, OTHER, ints, 0);
    ENTER(MPI_PACKED, OTHER, uints, 0);
    ENTER(MPI_BYTE, BYTE, uints, 0);
    ENTER(MPI_AINT, MULTI, ints, TRUTHS);
    ENTER(MPI_OFFSET, MULTI, ints, TRUTHS);
    ENTER(MPI_COUNT, MULTI, ints, TRUTHS);
    ENTER(MPI_INTEGER, FORTRAN_INTEGER, ints, TRUTHS);
    ENTER(MPI_INTEGER1, FORTRAN_INTEGER, ints, TRUTHS);
    ENTER(MPI_INTEGER2, FORTRAN_INTEGER, ints, TRUTHS);
    ENTER(MPI_INTEGER4, FORTRAN_INTEGER, ints, TRUTHS);
    ENTER(MPI_INTEGER8, FORTRAN_INTEGER, ints, TRUTHS);
#ifdef MPI_INTEGER16
    ENTER(MPI_INTEGER16, FORTRAN_INTEGER, ints, TRUTHS);
#endif
    ENTER(MPI_FLOAT, FLOATING, ONE(float_4), 0);
    ENTER(MPI_DOUBLE, FLOATING, ONE(float_8), 0);
    ENTER(MPI_LONG_DOUBLE, FLOATING, ONE(float_long), 0);
    ENTER(MPI_REAL, FLOATING, reals, 0);
    ENTER(MPI_DOUBLE_PRECISION, FLOATING, reals, 0);
    ENTER(MPI_REAL4, FLOATING, reals, 0);
    ENTER(MPI_REAL8, FLOATING, reals, 0);
    ENTER(MPI_REAL16, FLOATING, reals, 0);
    ENTER(MPI_C_BOOL, LOGICAL, logicals, 0);
    ENTER(MPI_CXX_BOOL, LOGICAL, logicals, 0);
    ENTER(MPI_LOGICAL, LOGICAL, logicals, 0);
    ENTER(MPI_C_FLOAT_COMPLEX, COMPLEX, ONE(complex_8), 0);
    ENTER(MPI_C_COMPLEX, COMPLEX, ONE(complex_8), 0);
    ENTER(MPI_C_DOUBLE_COMPLEX, COMPLEX, ONE(complex_16), 0);
    ENTER(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, ONE(complex_long), 0);
    ENTER(MPI_CXX_FLOAT_COMPLEX, COMPLEX, ONE(complex_8), 0);
    ENTER(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, ONE(complex_16), 0);
    ENTER(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, ONE(complex_long), 0);
    ENTER(MPI_COMPLEX, COMPLEX, complexes, 0);
    ENTER(MPI_DOUBLE_COMPLEX, COMPLEX, complexes, 0);
    ENTER(MPI_COMPLEX8, COMPLEX, complexes, 0);
    ENTER(MPI_COMPLEX16, COMPLEX, complexes, 0);
    ENTER(MPI_COMPLEX32, COMPLEX, complexes, 0);
    ENTER(MPI_SHORT_INT, PAIR, ONE(short_int), 0);
    ENTER(MPI_2INT, PAIR, ONE(int_int), 0);
    ENTER(MPI_LONG_INT, PAIR, ONE(long_int), 0);
    ENTER(MPI_FLOAT_INT, PAIR, ONE(float_int), 0);
    ENTER(MPI_DOUBLE_INT, PAIR, ONE(double_int), 0);
    ENTER(MPI_LONG_DOUBLE_INT, PAIR, ONE(long_double_int), 0);
    ENTER(MPI_2INTEGER, PAIR, ONE(int_int), 0);
    ENTER(MPI_2REAL, PAIR, ONE(float_float), 0);
    ENTER(MPI_2DOUBLE_PRECISION, PAIR, ONE(double_double), 0);
#if defined MPI_REAL2 && defined MPI_COMPLEX4 && defined __FLT16_MANT_DIG__
    ENTER(MPI_REAL2, FLOATING, ONE(float_2), 0);
    ENTER(MPI_COMPLEX4, COMPLEX, ONE(complex_4), 0);
#endif
#ifdef MPIX_C_FLOAT16
    if (on_librma()) ENTER(MPIX_C_FLOAT16, OTHER, uints, 0); /* MPICH aborts at any accumulate */
#endif
    enter_f90(ints, reals, complexes);
}

/* ---- the table ---- */

static int wrong, handled, handled_class;

static void handle_error(MPI_Win *win, int *code, ...) {
    (void)win;
    handled++;
    handled_class = class_of(*code);
}

/* Each access of a type has a slot of its own in the window: so all of them are made in one epoch. */
enum form { ACCUMULATE, ACCUMULATE_1, GET_ACCUMULATE, GET_ACCUMULATE_1, FETCH_AND_OP, FORMS };
static const char *const form_names[FORMS] = {"Accumulate", "Accumulate-1", "Get_accumulate", "Get_accumulate-1",
                                              "Fetch_and_op"};
static const int places[] = {64, 65, 68}; /* aligned, odd, and aligned to 4 bytes */
#define PLACE_COUNT 3
#define SLOT        (64 + 64 + COUNT * MOST)
#define SLOTS       (OPS * FORMS * PLACE_COUNT)

/* Faults are counted and collected, so that a run shows all of them. */
enum fault { REFUSED, ACCEPTED, OTHER_CLASS, TARGET, RESULT, FAULTS };
static const char *const fault_names[FAULTS] = {"is refused", "is accepted",
                                                "is not MPI_ERR_OP by the window's handler",
                                                "leaves wrong data at the target", "returns wrong data"};
static struct { unsigned ops, forms, places; } faults[FAULTS];

static void report(enum fault f, enum op op, enum form form, int p) {
    wrong++;
    faults[f].ops |= 1u << op;
    faults[f].forms |= 1u << form;
    faults[f].places |= 1u << p;
}

static void print_names(const char *const *names, int count, unsigned mask) {
    for (int i = 0; i < count; i++)
        if (mask & 1u << i) fprintf(stderr, " %s", names[i]);
}

static void print_faults(const char *type, int to) {
    static const char *const place_names[PLACE_COUNT] = {"aligned", "odd", "4-aligned"};
    for (int f = 0; f < FAULTS; f++) {
        if (!faults[f].ops) continue;
        fprintf(stderr, "process %d of %d to %d: %s %s:", rank, n, to, type, fault_names[f]);
        print_names(op_names, OPS, faults[f].ops);
        fprintf(stderr, " in");
        print_names(form_names, FORMS, faults[f].forms);
        fprintf(stderr, " at");
        print_names(place_names, PLACE_COUNT, faults[f].places);
        fprintf(stderr, "\n");
    }
    memset(faults, 0, sizeof faults);
}

static char origin[COUNT * MOST] __attribute__((aligned(64)));
static char before[SLOTS * SLOT] __attribute__((aligned(64)));
static char expected[SLOTS * SLOT] __attribute__((aligned(64)));
static char after[SLOTS * SLOT] __attribute__((aligned(64)));
static char results[SLOTS * SLOT] __attribute__((aligned(64)));

static char refused[SLOTS]; /* calls that ought to work: the rest of their slots is not compared */

static int count_of(enum form form) { return form == ACCUMULATE || form == GET_ACCUMULATE ? COUNT : 1; }

/* The first value of a call: that of one element has the top bit of an unsigned number. */
static int first_of(enum form form) { return count_of(form) == 1 ? 4 : 0; }

static int call_of(enum form form, const struct type *t, enum op o, char *result, int to, int at, MPI_Win win) {
    const int count = count_of(form);
    const MPI_Op op = op_handle(o);
    const MPI_Datatype h = t->handle;
    /* MPI_NO_OP reads no origin. MPICH 4.0 packs its elements all the same. */
    const char *mine = origin + (size_t)first_of(form) * t->kind->size;
    const void *from = o == NO_OP && on_librma() ? NULL : mine;
    if (form == FETCH_AND_OP) return MPI_Fetch_and_op(from, result, h, to, at, op, win);
    if (form <= ACCUMULATE_1) return MPI_Accumulate(mine, count, h, to, at, count, h, op, win);
    return MPI_Get_accumulate(from, from ? count : 0, h, result, count, h, to, at, count, h, op, win);
}

/* Whether MPI alone gives what the table says. MPICH 4.0 has no operation for MPI_COMPLEX32, takes MPI_REAL16 for a
 * long double, compares unsigned numbers as signed ones, and has no MPI_Fetch_and_op for MPI_Type_create_f90_real and
 * its relatives. */
static int on_mpi(const struct type *t, enum op op, enum form form) {
    if (on_librma()) return 1;
    if (t->unnamed && form == FETCH_AND_OP) return 0;
    if (op == REPLACE || op == NO_OP) return 1;
    if (t->kind == &complex_32 || t->kind == &float_16) return 0;
    return !((op == MAX || op == MIN) &&
             (t->kind == &uint_1 || t->kind == &uint_2 || t->kind == &uint_4 || t->kind == &uint_8));
}

enum verdict { WORKS, FAILS, UNTESTED };

static enum verdict verdict_of(const struct type *t, enum op op, enum form form) {
    const unsigned mask = 1u << op;
    if (op == NO_OP && form <= ACCUMULATE_1) return on_librma() ? FAILS : UNTESTED;
    if ((defined[t->group] | COPIES) & mask) return on_mpi(t, op, form) ? WORKS : UNTESTED;
#if defined MPICH && MPICH_NUMVERSION < 40100000
    if (t->extra & mask && t->kind == &float_16) return UNTESTED; /* numbers of a type that they are not */
    if (t->extra & mask) return !on_librma() && t->unnamed && form == FETCH_AND_OP ? UNTESTED : WORKS;
#else
    if (t->extra & mask) return UNTESTED;
#endif
    return on_librma() ? FAILS : UNTESTED; /* MPICH aborts at some of them */
}

/* The pairs of a type and an operation that MPICH has beyond the standard give what its own reduction gives. */
static void expect(const struct type *t, enum op op, char *there, int first, int count) {
    const size_t size = t->kind->size;
    const char *mine = origin + (size_t)first * size;
    if ((defined[t->group] | COPIES) & 1u << op) {
        for (int i = 0; i < count; i++) t->kind->apply(op, there + (size_t)i * size, mine + (size_t)i * size);
    } else {
        char values[COUNT * MOST] __attribute__((aligned(64)));
        memcpy(values, there, (size_t)count * size);
        CHECK(MPI_Reduce_local(mine, values, count, t->handle, op_handle(op)) == MPI_SUCCESS);
        memcpy(there, values, (size_t)count * size);
    }
}

/* 1 if all elements are the same, and everything around them, gaps included, is as it was. On MPI alone gaps may
 * change: MPICH copies whole pairs. */
static int slot_is(const struct type *t, const char *slot, const char *wanted, int at, int count) {
    const size_t size = t->kind->size;
    for (int i = 0; i < count; i++) {
        const size_t k = (size_t)at + (size_t)i * size;
        if (!t->kind->same(slot + k, wanted + k)) return 0;
        if (t->group == PAIR && on_librma() && t->kind != &long_double_int && memcmp(slot + k, wanted + k, size) != 0)
            return 0;
    }
    return memcmp(slot, wanted, (size_t)at) == 0 &&
           memcmp(slot + at + (size_t)count * size, wanted + at + (size_t)count * size,
                  SLOT - (size_t)at - (size_t)count * size) == 0;
}

static void try_call(const struct type *t, enum op op, enum form form, int place_number, int to, MPI_Win win) {
    const int slot = (int)(op * FORMS + form) * PLACE_COUNT + place_number, at = places[place_number];
    const enum verdict verdict = verdict_of(t, op, form);
    int code, errors = handled;
    if (verdict == UNTESTED) return;
    code = call_of(form, t, op, results + slot * SLOT + 64, to, slot * SLOT + at, win);
    if (verdict == FAILS && (handled != errors + 1 || class_of(code) != MPI_ERR_OP || handled_class != MPI_ERR_OP))
        report(code == MPI_SUCCESS ? ACCEPTED : OTHER_CLASS, op, form, place_number);
    if (verdict == WORKS && code != MPI_SUCCESS) {
        report(REFUSED, op, form, place_number);
        refused[slot] = 1;
    } else if (verdict == WORKS) {
        expect(t, op, expected + slot * SLOT + at, first_of(form), count_of(form));
    }
}

static void compare_slot(const struct type *t, enum op op, enum form form, int place_number) {
    const int slot = (int)(op * FORMS + form) * PLACE_COUNT + place_number, at = places[place_number];
    const int count = count_of(form);
    char got[SLOT];
    if (refused[slot]) return;
    if (!slot_is(t, after + slot * SLOT, expected + slot * SLOT, at, count)) report(TARGET, op, form, place_number);
    if (form <= ACCUMULATE_1 || verdict_of(t, op, form) != WORKS) {
        for (int i = 0; i < SLOT; i++)
            if (results[slot * SLOT + i] != 0x22) {
                report(RESULT, op, form, place_number);
                return;
            }
        return;
    }
    memset(got, 0x22, sizeof got);
    memcpy(got + 64, before + slot * SLOT + at, (size_t)count * t->kind->size);
    if (t->group == PAIR) { /* the gaps of a result keep what the buffer had */
        for (int i = 0; i < count; i++) {
            char pair[MOST];
            memset(pair, 0x22, sizeof pair);
            t->kind->apply(REPLACE, pair, got + 64 + (size_t)i * t->kind->size);
            memcpy(got + 64 + (size_t)i * t->kind->size, pair, t->kind->size);
        }
    }
    if (!slot_is(t, results + slot * SLOT, got, 64, count)) report(RESULT, op, form, place_number);
}

#define EACH_CALL                                                                                                      \
    for (enum op op = 0; op < OPS; op++)                                                                               \
        for (enum form form = 0; form < FORMS; form++)                                                                 \
            for (int p = 0; p < PLACE_COUNT; p++)

static void try_type(const struct type *t, int to, MPI_Win win) {
    const size_t size = t->kind->size;
    for (int i = 0; i < COUNT; i++) t->kind->value(origin + (size_t)i * size, i, 1);
    memset(before, 0x11, sizeof before);
    EACH_CALL {
        char *slot = before + ((int)(op * FORMS + form) * PLACE_COUNT + p) * SLOT;
        for (int i = 0; i < COUNT; i++) t->kind->value(slot + places[p] + (size_t)i * size, i + first_of(form), 0);
    }
    memcpy(expected, before, sizeof expected);
    memset(results, 0x22, sizeof results);
    memset(refused, 0, sizeof refused);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put(before, sizeof before, MPI_BYTE, to, 0, sizeof before, MPI_BYTE, win);
    MPI_Win_flush(to, win);
    EACH_CALL try_call(t, op, form, p, to, win);
    MPI_Win_flush(to, win);
    MPI_Get(after, sizeof after, MPI_BYTE, to, 0, sizeof after, MPI_BYTE, win);
    MPI_Win_unlock(to, win);
    EACH_CALL compare_slot(t, op, form, p);
    print_faults(t->name, to);
}

static void multiply(void *in, void *inout, int *len, MPI_Datatype *type) {
    (void)in, (void)inout, (void)len, (void)type;
}

/* A program's own operation, and a derived type for MPI_Fetch_and_op. On librma only: the standard leaves open what a
 * mistake does. */
static void try_mistakes(int to, MPI_Win win) {
    const int one = 1;
    const MPI_Aint zero = 0;
    const MPI_Datatype mpi_int = MPI_INT;
    MPI_Datatype derived[5];
    MPI_Op op;
    int x[2] = {1, 2}, y[2] = {0, 0};
    MPI_Type_contiguous(1, MPI_INT, &derived[0]);
    MPI_Type_contiguous(2, MPI_INT, &derived[1]);
    MPI_Type_dup(MPI_INT, &derived[2]);
    MPI_Type_create_resized(MPI_INT, 0, 4, &derived[3]);
    MPI_Type_create_struct(1, &one, &zero, &mpi_int, &derived[4]);
    MPI_Op_create(multiply, 1, &op);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put(y, 2, MPI_INT, to, 0, 2, MPI_INT, win);
    MPI_Win_flush(to, win);
    handled = 0;
    for (int i = 0; i < 5; i++) {
        MPI_Type_commit(&derived[i]);
        for (enum op o = SUM; o <= NO_OP; o += NO_OP - SUM)
            if (class_of(MPI_Fetch_and_op(x, y, derived[i], to, 0, op_handle(o), win)) != MPI_ERR_TYPE)
                report(ACCEPTED, o, FETCH_AND_OP, 0);
        print_faults("a derived type", to);
        if (class_of(MPI_Compare_and_swap(x, y, y + 1, derived[i], to, 0, win)) != MPI_ERR_TYPE)
            fprintf(stderr, "MPI_Compare_and_swap of derived type %d is not MPI_ERR_TYPE\n", i), wrong++;
        MPI_Type_free(&derived[i]);
    }
    CHECK(class_of(MPI_Accumulate(x, 1, MPI_INT, to, 0, 1, MPI_INT, op, win)) == MPI_ERR_OP);
    CHECK(class_of(MPI_Get_accumulate(x, 2, MPI_INT, y, 2, MPI_INT, to, 0, 2, MPI_INT, op, win)) == MPI_ERR_OP);
    CHECK(class_of(MPI_Fetch_and_op(x, y, MPI_INT, to, 0, op, win)) == MPI_ERR_OP);
    CHECK(wrong || handled == 5 * 3 + 3);
    CHECK(wrong || (y[0] == 0 && y[1] == 0));
    y[0] = y[1] = -1;
    MPI_Get(y, 2, MPI_INT, to, 0, 2, MPI_INT, win);
    MPI_Win_unlock(to, win);
    CHECK(wrong || (y[0] == 0 && y[1] == 0));
    MPI_Op_free(&op);
}

static void whole_table(void) {
    MPI_Errhandler handler;
    MPI_Win win;
    char *memory;
    MPI_Win_allocate(sizeof before, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_create_errhandler(handle_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    for (int i = 0; i < n_types; i++) {
        try_type(&types[i], (rank + 1) % n, win);
        if (n > 2) try_type(&types[i], (rank + n - 1) % n, win);
    }
    try_type(&types[2], rank, win);
    if (on_librma()) try_mistakes((rank + 1) % n, win);
    MPI_Win_free(&win);
}

int main(void) {
    begin();
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    enter_all();
    whole_table();
    CHECK(wrong == 0);
    return end();
}
