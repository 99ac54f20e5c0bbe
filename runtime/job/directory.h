/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory of a PE: which of its memory is attached to MPI's dynamic window, and how far its heaps reach. PEs of
 * its node load it; PEs of other nodes read it through MPI's fixed window, or ask the PE. Each number may be read on
 * its own: an address never changes once it is not 0, the others only grow. */
#ifndef RMAI_DIRECTORY_H
#define RMAI_DIRECTORY_H

#include <stdint.h>

/* The two pools of a local heap: the owner's, and the one in which other PEs allocate. */
enum rmai_pool { RMAI_OWN, RMAI_GUEST, RMAI_POOLS };

/* The parts of a space that grow, and the global variables. */
enum rmai_part_kind { RMAI_PART_STATICS, RMAI_PART_SYMMETRIC, RMAI_PART_LOCAL, RMAI_PART_GUEST, RMAI_PARTS };

struct rmai_directory {
    uint64_t address[RMAI_PARTS];  /* of the part's first byte in the PE's process */
    uint64_t attached[RMAI_PARTS]; /* bytes of it, from the first one, that are attached */
    uint64_t extent[RMAI_POOLS];   /* as in its struct rmai_facts */
};

/* rmai_directory_read copies a directory to which its PE may write meanwhile. It reads the extents first: the PE
 * attaches memory before it publishes the extent. */
static inline void rmai_directory_read(struct rmai_directory *to, const struct rmai_directory *from) {
    for (int i = 0; i < RMAI_POOLS; i++) to->extent[i] = __atomic_load_n(&from->extent[i], __ATOMIC_ACQUIRE);
    for (int i = 0; i < RMAI_PARTS; i++) {
        to->attached[i] = __atomic_load_n(&from->attached[i], __ATOMIC_ACQUIRE);
        to->address[i] = __atomic_load_n(&from->address[i], __ATOMIC_ACQUIRE);
    }
}

#endif
