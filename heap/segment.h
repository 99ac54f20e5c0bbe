/* SPDX-License-Identifier: BSD-3-Clause */
/* A segment: remotely accessible memory that grows by commit, with its allocator. A PE's space holds three, and beside
 * them a header, the program's global variables and the table of attached regions:
 *
 *     | header | statics | table, symmetric heap | table, local heap | table, guests' part | attached |
 *       3 MiB              1/4      1              1/4     1           1/8     1/2           144 MiB
 *                                                               (in units of the heaps' maxima)
 *
 * Guests are other PEs that allocate here. They have a pool of their own, since a lock between them and the owner would
 * cost the owner more than the allocation itself.
 *
 * Growing is in three steps, so that PEs that must grow alike can agree in between: what is wanted, commit
 * (can fail, changes nothing that anyone sees), extend (cannot fail). */
#ifndef RMAI_SEGMENT_H
#define RMAI_SEGMENT_H

#include <stddef.h>

#include "base/attributes.h"
#include "heap/quick.h"
#include "heap/reserve.h"
#include "heap/returned.h"
#include "heap/tlsf.h"
#include "rma.h"

#define RMAI_MAILBOXES_AT (4 * RMAI_PAGE)  /* in the header's room: mailboxes of teams (runtime/node/mailbox) */
#define RMAI_HEADER_ROOM  (48 * RMAI_PAGE) /* only what is used of it is committed */
#define RMAI_PROBE_ROOM   ((size_t)4096)   /* before the symmetric heap: MPI's window is tried out there */

struct rmai_layout {
    size_t symmetric_table, symmetric, symmetric_max; /* offsets in a PE's space, and the heap's maximum */
    size_t local_table, local, local_max;
    size_t guest_table, guest, guest_max;
    size_t statics, statics_max; /* 0 bytes where they are not moved here */
    size_t attached;             /* rmai_attached_room() bytes */
    size_t stride;
};

/* rmai_layout computes where the parts of a space lie. statics is the bytes of global variables to make room for. */
void rmai_layout(struct rmai_layout *l, size_t symmetric_max, size_t local_max, size_t statics);

struct rmai_segment {
    const char *name;    /* "symmetric heap": for texts */
    const char *setting; /* the setting that limits it */
    const struct rmai_reservation *reservation;
    char *base;
    size_t size; /* bytes extended to: all of them committed and in the pool; read by rmai_segment_size where the holder
                    may extend */
    size_t max;  /* bytes at most; size <= committed <= max */
    size_t committed; /* bytes safe to touch */
    size_t guard;     /* bytes of red zone behind each block: 0, or RMAI_RED_ZONE with RMA_HEAP_CHECK=full */
    int shared;       /* peers may give back blocks while the holder works */
    struct rmai_tlsf pool;
};

#define RMAI_RED_ZONE ((size_t)64)

/* rmai_segment_create sets up an empty segment of this PE. Returns RMA_SUCCESS or RMA_ERR_NO_MEM. */
int rmai_segment_create(struct rmai_segment *s, const struct rmai_reservation *r, void *table, void *base, size_t max,
                        const char *name, const char *setting);

/* rmai_segment_view is another process's view of a segment, or a later one of its own, with the present size. Valid as
 * long as nobody else changes the segment. */
void rmai_segment_view(struct rmai_segment *s, const struct rmai_reservation *r, void *table, void *base, size_t max,
                       const char *name, const char *setting);

/* rmai_segment_want: by how many bytes the segment must grow for this allocation; 0 after recording
 * RMA_ERR_NO_MEM if that is more than its maximum. */
size_t rmai_segment_want(const struct rmai_segment *s, size_t alignment, size_t size);

/* rmai_segment_commit prepares to extend by `want` bytes, or by more: an eighth of the present size within
 * 256 KiB..64 MiB, so that growth is rare. *got is by how much it may be extended now.
 * Returns RMA_SUCCESS or RMA_ERR_NO_MEM with *got 0. */
int rmai_segment_commit(struct rmai_segment *s, size_t want, size_t *got);

/* rmai_segment_uncommit gives back what commit gave and extend has not taken: where the PEs do not go on together. */
void rmai_segment_uncommit(struct rmai_segment *s);

/* rmai_segment_extend adds bytes, at most what commit gave, to the pool. With red zones all free memory is poison, also
 * what comes so. */
void rmai_segment_extend(struct rmai_segment *s, size_t bytes);

/* rmai_segment_alloc: a block, without growing. NULL: *full tells if growing would help (1), or if memory
 * for the table is exhausted (0, recorded). With red zones a note of `call` tells if somebody has written to the memory
 * while it was free; the block is given all the same, since what was written there is overwritten. */
void *rmai_segment_alloc(struct rmai_segment *s, const char *call, size_t alignment, size_t size, int *full);

/* rmai_segment_live: 1 if block is the base of a live block, with its size. Any PE, any time. */
int rmai_segment_live(const struct rmai_segment *s, const void *block, size_t *size);

/* rmai_segment_free gives back the live block; returns -1 if it is none. rmai_segment_give_back: the same for a PE that
 * does not hold the segment; the block goes on the list. */
int rmai_segment_free(struct rmai_segment *s, void *block);
int rmai_segment_give_back(struct rmai_segment *s, struct rmai_returned *list, void *block);

/* rmai_segment_resize: as rmai_tlsf_resize, and touches no byte of the block. rmai_segment_remark follows it, when the
 * block is sure to stay so: it puts the red zone behind the new end, new bytes of the program's before it, and poison
 * where the block no longer is. */
int rmai_segment_resize(struct rmai_segment *s, void *block, size_t size);
void rmai_segment_remark(struct rmai_segment *s, const char *call, void *block, size_t old);

/* rmai_segment_drain frees what others have given back by the list, or parks it in `quick` if that is not null. Returns
 * the number of blocks. */
size_t rmai_segment_drain(struct rmai_segment *s, struct rmai_returned *list, struct rmai_quick *quick);

/* rmai_segment_intact looks at the red zone behind the live block and, if the caller holds the segment, at the one
 * before it. Returns RMA_SUCCESS, or records RMA_ERR_ADDRESS for `call`: which byte was overwritten. Without red zones
 * always RMA_SUCCESS. */
int rmai_segment_intact(const struct rmai_segment *s, const char *call, const void *block, int held);

/* rmai_segment_report shows, by note, the live blocks (`leaks`: that many at most, and their sum; 0: none), the
 * damaged red zones, and the free blocks that somebody has written to. `who` begins each line. Returns the number of
 * live blocks. */
size_t rmai_segment_report(const struct rmai_segment *s, const char *who, size_t leaks);

/* rmai_segment_stats fills all but n_returned. */
void rmai_segment_stats(const struct rmai_segment *s, struct rma_heap_stats *stats);

/* rmai_segment_bad_base records RMA_ERR_BASE for call(block): what stands there instead. Returns the code. */
int rmai_segment_bad_base(const struct rmai_segment *s, const char *call, const void *block);

/* rmai_segment_describe writes which block of the segment is at or nearest before addr. */
void rmai_segment_describe(const struct rmai_segment *s, const void *addr, char *text, size_t room);

/* rmai_segment_size: bytes extended to. By any thread, also while another one extends the segment. */
static inline size_t rmai_segment_size(const struct rmai_segment *s) {
    return __atomic_load_n(&s->size, __ATOMIC_RELAXED);
}

/* rmai_segment_holds: 1 if addr lies in the segment's address space, committed or not. */
static inline int rmai_segment_holds(const struct rmai_segment *s, const void *addr) {
    return (size_t)((const char *)addr - s->base) < s->max;
}

#endif
