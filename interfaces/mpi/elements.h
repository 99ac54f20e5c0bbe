/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined datatypes and the predefined operations: which types an operation is for, and who computes it. There
 * is one entry for each predefined type, or for several that are the same. An accumulate asks this entry, and nobody
 * else decides by a size or a handle.
 */
#ifndef RMAI_MPI_ELEMENTS_H
#define RMAI_MPI_ELEMENTS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* The operations, in the order in which MPICH numbers them. SWAP is that of MPI_Compare_and_swap. */
enum rmai_win_op {
    RMAI_WIN_MAX,
    RMAI_WIN_MIN,
    RMAI_WIN_SUM,
    RMAI_WIN_PROD,
    RMAI_WIN_LAND,
    RMAI_WIN_BAND,
    RMAI_WIN_LOR,
    RMAI_WIN_BOR,
    RMAI_WIN_LXOR,
    RMAI_WIN_BXOR,
    RMAI_WIN_MINLOC,
    RMAI_WIN_MAXLOC,
    RMAI_WIN_REPLACE,
    RMAI_WIN_NO_OP,
    RMAI_WIN_SWAP,
    RMAI_WIN_OPS
};

/* there[i] = there[i] OP mine[i] for n packed elements. Neither array needs to be aligned. */
typedef void rmai_element_combine(enum rmai_win_op op, void *there, const void *mine, size_t n);

struct rmai_element {
    MPI_Datatype handle; /* MPI_DATATYPE_NULL: all types of `size` bytes with one combiner: */
    int f90;             /* MPI_COMBINER_F90_..., else MPI_COMBINER_NAMED */
    size_t size;         /* bytes of data */
    uint32_t ops;        /* a bit for each operation (enum rmai_win_op) that the type has */
    int native;    /* enum rma_type or one of base/inner_types.h, or -1: librma does not know it, so the window's lock
                      protects it */
    size_t align;  /* of a native element, in bytes: one that is not aligned is also protected by the window's lock */
    size_t gap_at; /* of a pair with a gap after its value: bytes of the value, else 0; */
    size_t index;  /* and where its index begins */
    rmai_element_combine *combine;   /* the operations that librma does not have for the type, or NULL */
    signed char word[RMAI_WIN_OPS];  /* enum rma_atomic_op_: the atomic that updates one element, or -1 */
    signed char array[RMAI_WIN_OPS]; /* enum rma_op or rma_pair_op_: the same for an array, or -1 */
};

/* rmai_element_of returns the entry of a predefined type, or NULL if it has no data. `combiner` is that of
 * MPI_Type_get_envelope: the types of MPI_Type_create_f90_real and its relatives are predefined, too, and known by
 * their sizes. Only one thread may be in it. */
const struct rmai_element *rmai_element_of(MPI_Datatype handle, int combiner, size_t size);

/* rmai_element_combine_packed does there[i] = there[i] OP mine[i] for n packed elements, by librma's kernels or by
 * e->combine. The arrays are aligned to 16 bytes or begin a multiple of the element's size after such a place. */
void rmai_element_combine_packed(const struct rmai_element *e, enum rmai_win_op op, void *there, const void *mine,
                                 size_t n);

/* MPI_SHORT_INT: librma knows the pair with its gap (RMA_PAIR_SHORT_), and other operations on it than on the types
 * without one. rmai_short_int_op: the number of the operation. rmai_short_ints_spread writes n pairs with gaps, rmai_
 * short_ints_pack without. */
#define RMAI_SHORT_INT_PACKED (sizeof(short) + sizeof(int))
#define RMAI_SHORT_INT_SPREAD (2 * sizeof(int))
int rmai_short_int_op(enum rmai_win_op op);
void rmai_short_ints_spread(void *spread, const char *packed, size_t n);
void rmai_short_ints_pack(char *packed, const void *spread, size_t n);

static inline int rmai_element_has(const struct rmai_element *e, enum rmai_win_op op) { return e->ops >> op & 1; }

/* rmai_win_op_of: the number of a predefined operation; RMAI_WIN_OPS for any other handle. */
static inline enum rmai_win_op rmai_win_op_of(MPI_Op op) {
#ifdef MPICH_VERSION
    _Static_assert(MPI_NO_OP - MPI_MAX == RMAI_WIN_NO_OP && MPI_SUM - MPI_MAX == RMAI_WIN_SUM &&
                       MPI_BXOR - MPI_MAX == RMAI_WIN_BXOR && MPI_REPLACE - MPI_MAX == RMAI_WIN_REPLACE,
                   "MPICH numbers the operations one after another");
    const unsigned i = (unsigned)op - (unsigned)MPI_MAX;
    return i <= RMAI_WIN_NO_OP ? (enum rmai_win_op)i : RMAI_WIN_OPS;
#else
    const MPI_Op all[] = {MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                          MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    for (int i = 0; i <= RMAI_WIN_NO_OP; i++)
        if (all[i] == op) return (enum rmai_win_op)i;
    return RMAI_WIN_OPS;
#endif
}

#endif
