/* SPDX-License-Identifier: BSD-3-Clause */
/* A segment: remotely accessible memory that grows by commit, with its allocator. A PE's space holds three segments,
 * and beside them a header, the program's global variables and the table of attached regions:
 *
 *     | header | statics | table, symmetric heap | table, local heap | table, guests' part | attached |
 *       3 MiB              1/4      1              1/4     1           1/8     1/2           144 MiB
 *                                                               (in units of the heaps' maxima)
 *
 * Guests are other PEs that allocate here. They have a separate pool: with one pool the lock between guests and owner
 * would cost the owner more than the allocation itself.
 *
 * A segment grows in three steps, so that PEs that must grow alike can agree in between: rmai_segment_want tells how
 * much is missing; rmai_segment_commit can fail, and changes nothing visible; rmai_segment_extend cannot fail.
 */
#ifndef RMAI_SEGMENT_H
#define RMAI_SEGMENT_H

#include <stddef.h>

#include "base/attributes.h"
#include "heap/quick.h"
#include "heap/reserve.h"
#include "heap/returned.h"
#include "heap/tlsf.h"
#include "heap/canary.h"
#include "rma.h"

#define RMAI_MAILBOXES_AT (4 * RMAI_PAGE)  /* in the header's room: mailboxes of teams (runtime/node/mailbox) */
#define RMAI_STRIPES_AT   (48 * RMAI_PAGE) /* locks of the node (base/update), in the room of its PE 0 */
#define RMAI_HEADER_ROOM  (49 * RMAI_PAGE) /* only the used part is committed */
#define RMAI_PROBE_ROOM   ((size_t)4096)   /* before the symmetric heap, for trials of the MPI window */

struct rmai_layout {
    size_t symmetric_table, symmetric, symmetric_max; /* offsets in a PE's space, and the heap's maximum */
    size_t local_table, local, local_max;
    size_t guest_table, guest, guest_max;
    size_t statics, statics_max; /* statics_max is 0 if the variables are not moved here */
    size_t attached;             /* rmai_attached_room() bytes */
    size_t stride;
};

/* rmai_layout computes the offsets of the parts of a space. statics: bytes of global variables to make room for. */
void rmai_layout(struct rmai_layout *l, size_t symmetric_max, size_t local_max, size_t statics);

/* Memory before and after a block of a large alignment is not committed until another block is allocated there. */
#define RMAI_HOLES 16

struct rmai_holes {
    int n;
    struct {
        size_t from, to; /* offsets in the segment, multiples of RMAI_PAGE; a hole contains only free blocks */
    } of[RMAI_HOLES];
};

struct rmai_segment {
    const char *name;    /* for error texts: "symmetric heap" */
    const char *setting; /* the setting that limits it */
    const struct rmai_reservation *reservation;
    char *base;
    size_t size; /* current size in bytes: all in the pool, and committed except for holes. If the holder may extend the
                    segment concurrently, read it by rmai_segment_size */
    size_t max;  /* largest size in bytes; size <= committed <= max */
    size_t committed;               /* bytes safe to touch, except the holes */
    struct rmai_holes *holes;       /* or NULL: there are none. Only for a segment without views */
    struct rmai_canaries *canaries; /* or NULL: there are none. Only for a segment with slack and without red zones */
    size_t guard; /* bytes of red zone after each block: 0, or RMAI_RED_ZONE with RMA_HEAP_CHECK=full */
    int slack;    /* 1: also where guard is 0, the rest of a block's last unit of 64 bytes is a red zone */
    int in_steps; /* 1: it grows to the end of a step (rmai_step_end), while there is memory */
    int spares;   /* 1: it has no limit, and leaves memory to others (rmai_commit_sparing) */
    int shared;   /* 1: peers may free blocks while the holder works */
    struct rmai_tlsf pool;
};

#define RMAI_RED_ZONE ((size_t)64)

/* A segment is attached to MPI's dynamic window in steps. Every PE can compute the steps' ends from an offset alone:
 * the length of a step is an eighth of its offset, as a power of two, within 256 KiB..64 MiB. rmai_step_size: the
 * length of the step that contains this offset. rmai_step_end: the end of that step.
 */
#define RMAI_STEP_LEAST ((size_t)256 << 10)
#define RMAI_STEP_MOST  ((size_t)64 << 20)
static inline size_t rmai_step_size(size_t offset) {
    size_t step = RMAI_STEP_LEAST;
    if (offset / 8 > step) step = (size_t)1 << (63 - __builtin_clzll(offset / 8));
    return step < RMAI_STEP_MOST ? step : RMAI_STEP_MOST;
}
static inline size_t rmai_step_end(size_t offset) {
    const size_t step = rmai_step_size(offset);
    return (offset / step + 1) * step;
}

/* rmai_segment_create sets up an empty segment of this PE. Returns RMA_SUCCESS or RMA_ERR_NO_MEM. */
int rmai_segment_create(struct rmai_segment *s, const struct rmai_reservation *r, void *table, void *base, size_t max,
                        const char *name, const char *setting);

/* rmai_segment_view creates a view of a segment with its present size, for another process or for the same one. The
 * view is valid as long as nobody else changes the segment. */
void rmai_segment_view(struct rmai_segment *s, const struct rmai_reservation *r, void *table, void *base, size_t max,
                       const char *name, const char *setting);

/* rmai_segment_want: by how many bytes the segment must grow for this allocation. If this exceeds the segment's
 * maximum, records RMA_ERR_NO_MEM and returns 0. */
size_t rmai_segment_want(const struct rmai_segment *s, size_t alignment, size_t size);

/* rmai_segment_commit prepares an extension by `want` bytes, or by more: an eighth of the present size, within 256
 * KiB..64 MiB, so that growth is rare. *got: the bytes by which the segment may now be extended. Returns RMA_SUCCESS,
 * or RMA_ERR_NO_MEM with *got 0. */
int rmai_segment_commit(struct rmai_segment *s, size_t want, size_t *got);

/* rmai_segment_commit_aligned does the same for a block of size bytes at a multiple of alignment; `want` is the result
 * of rmai_segment_want for it. It does not commit the memory before and after the block, if that is much. */
int rmai_segment_commit_aligned(struct rmai_segment *s, size_t alignment, size_t size, size_t want, size_t *got);

/* rmai_segment_uncommit releases memory that rmai_segment_commit has committed and rmai_segment_extend has not used:
 * for PEs that decide not to extend together. */
void rmai_segment_uncommit(struct rmai_segment *s);

/* rmai_segment_extend adds bytes to the pool, at most as many as rmai_segment_commit has granted. With red zones it
 * fills the new bytes with poison, as all free memory. */
void rmai_segment_extend(struct rmai_segment *s, size_t bytes);

/* rmai_segment_alloc allocates a block without growing the segment. It returns NULL if there is none: *full is then 1
 * if growing would help, or 0 if memory for the table, or for a hole, is exhausted (recorded). With red zones a note
 * that names `call` reports a write to the memory while it was free; the call still returns the block, whose old
 * content does not matter. */
void *rmai_segment_alloc(struct rmai_segment *s, const char *call, size_t alignment, size_t size, int *full);

/* rmai_segment_live: 1 if block is the base of a live block, with its size. Any PE may call it at any time. */
int rmai_segment_live(const struct rmai_segment *s, const void *block, size_t *size);

/* rmai_segment_free frees the live block, or returns -1 if no live block is there. `call` is for the notes about
 * canaries. rmai_segment_give_back does the same for a PE that does not hold the segment: it puts the block on
 * the list. */
int rmai_segment_free(struct rmai_segment *s, const char *call, void *block);
int rmai_segment_give_back(struct rmai_segment *s, struct rmai_returned *list, void *block);

/* rmai_segment_resize: as rmai_tlsf_resize, but -2 also if a hole could not be committed; it touches no byte of the
 * block. Call rmai_segment_remark as soon as it is certain that the block keeps the new size: it writes the red zone
 * after the new end, fills the block's new bytes, and poisons the bytes that the block has given up. */
int rmai_segment_resize(struct rmai_segment *s, void *block, size_t size);
void rmai_segment_remark(struct rmai_segment *s, const char *call, void *block, size_t old);

/* rmai_segment_drain frees the blocks that other PEs have put on the list, or parks them in `quick` if that is not
 * NULL. Returns the number of blocks. */
size_t rmai_segment_drain(struct rmai_segment *s, struct rmai_returned *list, struct rmai_quick *quick);

/* rmai_segment_intact checks the red zone after the live block and, if the caller holds the segment, the red zone
 * before it. Returns RMA_SUCCESS, or records RMA_ERR_ADDRESS for `call`, with the byte that was overwritten. Without
 * red zones it always returns RMA_SUCCESS. */
int rmai_segment_intact(const struct rmai_segment *s, const char *call, const void *block, int held);

/* rmai_segment_overrun prints a note for `call` if the slack behind a live block of this size was overwritten: also
 * without RMA_HEAP_CHECK=full, with which rmai_segment_intact has told more. rmai_segment_overruns does so for the
 * first blocks of the segment, as many as it can look at in a moment, and for the canaries. */
void rmai_segment_note_overrun(const struct rmai_segment *s, const char *call, const void *block, size_t size);
static inline void rmai_segment_overrun(const struct rmai_segment *s, const char *call, const void *block,
                                        size_t size) {
    if (size % RMAI_TLSF_UNIT && s->slack && !s->guard) rmai_segment_note_overrun(s, call, block, size);
}
void rmai_segment_overruns(const struct rmai_segment *s, const char *call);

/* rmai_segment_report prints notes about the live blocks (at most `leaks` of them, and their sum; none if `leaks` is
 * 0), the damaged red zones, and the free blocks that were written to. Each line begins with `who`. Returns the number
 * of live blocks. */
size_t rmai_segment_report(const struct rmai_segment *s, const char *who, size_t leaks);

/* rmai_segment_stats fills all members but n_returned. */
void rmai_segment_stats(const struct rmai_segment *s, struct rma_heap_stats *stats);

/* rmai_segment_bad_base records RMA_ERR_BASE for call(block): the text says what is there instead of a block's base.
 * Returns the code. */
int rmai_segment_bad_base(const struct rmai_segment *s, const char *call, const void *block);

/* rmai_segment_describe writes which block of the segment contains addr, or is the last before it. */
void rmai_segment_describe(const struct rmai_segment *s, const void *addr, char *text, size_t room);

/* rmai_segment_size: the segment's current size. Any thread may call it, even while another thread extends the
 * segment. */
static inline size_t rmai_segment_size(const struct rmai_segment *s) {
    return __atomic_load_n(&s->size, __ATOMIC_RELAXED);
}

/* rmai_segment_holds: 1 if addr is in the segment's address space, committed or not. */
static inline int rmai_segment_holds(const struct rmai_segment *s, const void *addr) {
    return (size_t)((const char *)addr - s->base) < s->max;
}

#endif
