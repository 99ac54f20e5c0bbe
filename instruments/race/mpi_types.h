/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes of MPI: which bytes data of a type touch. */
#ifndef RACE_MPI_TYPES_H
#define RACE_MPI_TYPES_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "instruments/race/clock.h"

/* A block: elements of `unit` bytes and of one class, at an offset from the beginning of the datum. */
struct race_block_of_type {
    ptrdiff_t offset;
    size_t len;
    uint32_t unit;
    enum race_element element;
};

struct race_datatype {
    ptrdiff_t extent;
    size_t size; /* bytes of data */
    int known;   /* 0: of a constructor that is not taken apart; its data are not checked */
    size_t n, room;
    struct race_block_of_type *blocks;
};

/* race_type_of: the type's blocks, or NULL. The result is valid until the type is freed. */
const struct race_datatype *race_type_of(MPI_Datatype type);

/* race_type_walk calls f for each piece of `count` data of the type that begin at `base`: contiguous elements of the
 * same class. most: at most so many bytes of data. */
typedef void race_type_visit(uintptr_t addr, size_t len, const struct race_block_of_type *block, void *arg);
void race_type_walk(const struct race_datatype *t, uintptr_t base, size_t count, size_t most, race_type_visit *f,
                    void *arg);

#endif
