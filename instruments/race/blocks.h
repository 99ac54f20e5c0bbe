/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of memory, as reports name them; and two mistakes with them: an operation that goes past a block's end, and
 * memory that ends (it is freed, or its function returns) while an operation still uses it. */
#ifndef RACE_BLOCKS_H
#define RACE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/race/clock.h"
#include "instruments/race/events.h"
#include "instruments/race/job.h"

/* Blocks of PE pe's heaps, by the offset in its space. local: the block is in a local heap; earlier accesses of the
 * memory do not count. race_freed: call it when no other PE can begin a new operation on the block. race_offset: the
 * offset of an address of this PE's space. */
void race_allocated(const struct race_call *c, int pe, uint64_t offset, size_t size, int local);
void race_freed(const struct race_call *c, int pe, uint64_t offset);
uint64_t race_offset(const void *base);

/* race_block_begins, race_block_ends: the same for a PE of this host, once the caller and the place are known.
 * race_allocated and race_freed ask other hosts to do this for their PEs. */
void race_block_begins(int pe, const struct race_block *block);
void race_block_ends(int pe, uint64_t offset, uint32_t place);

/* Attached memory, by its offset in global pointers. Does nothing for memory that is accessible anyway, which has
 * another kind of offset. */
void race_attached(const struct race_call *c, const void *base, size_t size, uint64_t offset);
void race_detached(const struct race_call *c, const void *base);

/* race_past_end: an operation on `len` bytes at this offset of PE pe's symmetric heap: reports it if it begins in a
 * block and goes past the block's end. */
void race_past_end(const struct race_call *c, int pe, uint64_t offset, size_t len, int write);

/* race_block_of: the block of PE pe that has this offset, or NULL. */
const struct race_block *race_block_of(int pe, uint64_t offset);

/* Private memory of the C library's allocator. race_private_freed: before it is released. race_private_block: the block
 * with this address; 0: none is known. */
struct race_private_block {
    uintptr_t base;
    size_t size;
    uint32_t place;
};
void race_private_allocated(const void *base, size_t size, const struct race_call *c);
void race_private_freed(const void *base, size_t size, const struct race_call *c);
int race_private_block(uintptr_t addr, struct race_private_block *b);

/* Buffers of pending operations on the calling thread's stack. race_stack_buffer: the calling thread's operation with
 * this epoch uses it. race_called, which every wrapper calls first, finds those that were in frames which have ended:
 * frame is the wrapper's. It returns pc. race_is_on_stack: whether the address is in the calling thread's stack. */
void race_stack_buffer(uintptr_t addr, size_t len, race_epoch epoch);
void race_frames_ended(uintptr_t pc, uintptr_t frame);
int race_is_on_stack(uintptr_t addr);
extern __thread uintptr_t race_lowest_buffer;
static inline uintptr_t race_called(uintptr_t pc, const void *frame) {
    if (__builtin_expect((uintptr_t)frame > race_lowest_buffer, 0)) race_frames_ended(pc, (uintptr_t)frame);
    return pc;
}

#endif
