/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of entries that are found by a PE's number. They use open addressing by a hash of it, and are at most half
 * full. So a table grows with the PEs that this one deals with, not with the job. The owner of a table locks it. */
#ifndef RMAI_PE_TABLE_H
#define RMAI_PE_TABLE_H

#include <stddef.h>

/* All zero: empty. */
struct rmai_pe_table {
    int **entry; /* `room` places, a power of two: each is NULL, or points to an entry, which begins with its PE */
    unsigned n, room;
};

/* The place of pe in a table that is not empty: where its entry is, or would be. */
static inline int **rmai_pe_table_place_(int **entry, unsigned room, int pe) {
    unsigned i = (unsigned)pe * 2654435769u & (room - 1);
    while (entry[i] && *entry[i] != pe) i = (i + 1) & (room - 1);
    return &entry[i];
}

/* rmai_pe_table_get returns the entry of pe, or NULL. rmai_pe_table_find makes one of `size` bytes if there is none,
 * all zero except the PE; it returns NULL without memory. rmai_pe_table_close frees the table and its entries. */
static inline void *rmai_pe_table_get(const struct rmai_pe_table *t, int pe) {
    return t->room ? *rmai_pe_table_place_(t->entry, t->room, pe) : NULL;
}
void *rmai_pe_table_find(struct rmai_pe_table *t, int pe, size_t size);
void rmai_pe_table_close(struct rmai_pe_table *t);

#endif
