/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes, each with a description of its own: the list of its elements, in the order of the type map. */
#ifndef TEST_MPI_RANDOM_TYPES_H
#define TEST_MPI_RANDOM_TYPES_H

#include "random_ops.h"

struct element {
    ptrdiff_t at;
    int basic; /* its place in basics[] */
};

struct type {
    MPI_Datatype handle;
    int derived; /* 1: to be freed */
    size_t n;
    struct element *map;
    MPI_Aint extent;
    ptrdiff_t lo, hi; /* the first byte of data, and one past the last one */
    char *words;
    struct type *next; /* of those to be freed */
};

/* One side of a call: a count and a type. n: elements in all; lo, hi: as above, of all. */
struct side {
    MPI_Count count;
    struct type *type;
    size_t n;
    ptrdiff_t lo, hi;
};

/* A run of the signature: n elements of one predefined type. */
struct run {
    int basic;
    size_t n;
};

struct maker {
    struct draws *draws;
    struct store *store;
    int simple;        /* 1: only predefined types */
    struct type *made; /* the types of all sides, which free_types frees */
    int no_darray;     /* 1: no MPI_Type_create_darray */
    int no_nothing;    /* 1: no derived types without elements, but 0 elements of a predefined one */
    int aligned;       /* 1: each element is at a multiple of its extent, seen from the buffer */
};

/* make_side: a side with this signature: the runs, `times` times. */
struct side make_side(struct maker *m, const struct run *runs, int n_runs, size_t times);
/* disguise_side: another type and count for the same elements. */
struct side disguise_side(struct maker *m, const struct side *side);
/* make_plain_side: `count` elements of a predefined type. make_count_side: `count` of a type. */
struct side make_plain_side(struct maker *m, int basic, size_t count);
/* make_scattered: one element of MPI_Type_create_hindexed: runs of a predefined type at given places; `at` are the
 * model's numbers for them, `places` those of MPI. */
struct side make_scattered(struct maker *m, int basic, int n, const int *lengths, const ptrdiff_t *at,
                           const MPI_Aint *places);
/* move_side: count 1 of a type that has `side`'s elements `by` further. `place` is MPI's number for that. */
struct side move_side(struct maker *m, const struct side *side, ptrdiff_t by, MPI_Aint place);
void free_type(struct type *t);
void free_types(struct maker *m);

static inline ptrdiff_t side_element(const struct side *s, size_t i, int *basic) {
    const struct element *e = &s->type->map[i % s->type->n];
    *basic = e->basic;
    return (ptrdiff_t)(i / s->type->n) * s->type->extent + e->at;
}

#endif
