/* SPDX-License-Identifier: BSD-3-Clause */
/* Coarrays and components: where their memory is, on each image. */
#ifndef RMAI_CAF_COARRAY_H
#define RMAI_CAF_COARRAY_H

#include "interfaces/caf/core.h"
#include "interfaces/caf/team.h"

struct rmai_caf_variable;

/* A coarray: the compiler's token is a pointer to it.
 *
 *   where  base                                             memory
 *   NULL   the same symmetric address on all images         the symmetric heap: coarrays of the initial team
 *   set    this image's own; image i of team has where[i]   the local heap: coarrays of other teams */
struct rmai_caf_coarray {
    char *base;
    size_t size;
    rma_gptr_t first; /* the global pointer of base on PE 0, if it is symmetric */
    rma_gptr_t *where;
    int is_plain;        /* 1: elements of an intrinsic type, in which there are no pointers */
    int is_static_array; /* 1: of more than one element */
    int lent; /* 1: no coarray, but the variables of an accessor (gfortran_accessors.c); base is where they are */
    struct rmai_caf_team *team;         /* of `where` */
    struct rmai_caf_variable *variable; /* the program's, of an allocatable coarray; or NULL */
    struct rmai_caf_coarray *next;      /* of the team's */
};

/* The files of a compiler's interface keep what it says of a variable. rmai_caf_variable_clear makes the program's
 * variable of the coarray one that is not allocated; returns 0 if it cannot find it. rmai_caf_variable_gone is called
 * before a coarray with `variable` goes. */
int rmai_caf_variable_clear(const struct rmai_caf_coarray *c);
void rmai_caf_variable_gone(struct rmai_caf_coarray *c);

/* A byte of some image. */
struct rmai_caf_place {
    char *near;       /* its address here, if load and store reach it, else NULL */
    rma_gptr_t far;   /* its global pointer, or RMA_GPTR_NULL if it is in no memory of librma's: */
    uint64_t foreign; /* its address in the image's own process then */
    int pe;
    int known; /* 1: of a coarray, and checked; its owner need not check it */
};

/* rmai_caf_coarray_make makes a coarray of size bytes on each image of the current team; zero: clear it. Collective.
 * Returns NULL after it has reported an error. rmai_caf_coarray_lives: 1 if there is a coarray at that address. */
struct rmai_caf_coarray *rmai_caf_coarray_make(struct rmai_caf_result r, size_t size, int zero);
int rmai_caf_coarray_lives(const void *address);

/* rmai_caf_coarray_free is DEALLOCATE, which is collective. It reports the result; the memory is gone in any case.
 * rmai_caf_coarray_free_all frees what was allocated in team. */
void rmai_caf_coarray_free(struct rmai_caf_result r, struct rmai_caf_coarray *c);
void rmai_caf_coarray_free_all(struct rmai_caf_team *team);

/* rmai_caf_place_slow: as rmai_caf_place, for all cases. */
struct rmai_caf_place rmai_caf_place_slow(const struct rmai_caf_coarray *c, size_t offset, int pe);

/* rmai_caf_place returns the place of byte `offset` of the coarray on pe. */
static inline struct rmai_caf_place rmai_caf_place(const struct rmai_caf_coarray *c, size_t offset, int pe) {
    if (__builtin_expect(!c->where, 1)) {
        char *near = rma_reach_ptr_(c->base + offset, 1, pe);
        if (near)
            return (struct rmai_caf_place){
                .near = near, .far = c->first + ((rma_gptr_t)(uint32_t)pe << 40) + offset, .pe = pe};
    }
    return rmai_caf_place_slow(c, offset, pe);
}

/* rmai_caf_holds: 1 if bytes [offset, offset + len) lie in the coarray. An offset before its first byte has wrapped. */
static inline int rmai_caf_holds(const struct rmai_caf_coarray *c, size_t offset, size_t len) {
    return offset <= c->size && len <= c->size - offset;
}

/* rmai_caf_place_of returns the place of an address in the process of pe, which pe's memory holds. */
struct rmai_caf_place rmai_caf_place_of(int pe, uint64_t address);

/* rmai_caf_place_at returns the place `bytes` further. */
static inline struct rmai_caf_place rmai_caf_place_at(struct rmai_caf_place p, ptrdiff_t bytes) {
    if (p.near) p.near += bytes;
    if (p.far) p.far += (rma_gptr_t)bytes;
    p.foreign += (uint64_t)bytes;
    return p;
}

#endif
