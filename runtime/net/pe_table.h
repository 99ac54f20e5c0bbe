/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of what is kept of a PE: open addressing by a hash of its number, at most half full. So a table grows with the
 * PEs that this one has to do with, not with those of the job. The owner of a table locks it. */
#ifndef RMAI_PE_TABLE_H
#define RMAI_PE_TABLE_H

#include <stddef.h>

/* All zero: empty. */
struct rmai_pe_table {
    int **entry; /* `room` places, a power of two: each is NULL, or points to an entry, which begins with its PE */
    unsigned n, room;
};

/* rmai_pe_table_find returns the entry of pe. If there is none, it makes one of `size` bytes, all zero but the PE;
 * NULL without memory. rmai_pe_table_close frees the table and its entries. */
void *rmai_pe_table_find(struct rmai_pe_table *t, int pe, size_t size);
void rmai_pe_table_close(struct rmai_pe_table *t);

#endif
