/* SPDX-License-Identifier: BSD-3-Clause */
/* The reservation: address space for the heaps of all PEs of a node. Each PE maps it once; only committed parts have
 * memory. Each PE maps it so that its own symmetric heap begins at the address that the PEs of the job have agreed on:
 * then a symmetric object has the same address on all of them.
 *
 *     node_base                    + stride                      + 2 * stride
 *     | PE 0's space               | PE 1's space                | ...
 *
 * The PEs of a node have every space mapped from the start, so a PE commits more of its own space without a call from
 * the others. MPI_Win_allocate_shared is called in this module only. */
#ifndef RMAI_RESERVE_H
#define RMAI_RESERVE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/cgroup.h"

struct rmai_reservation {
    char *node_base;          /* page-aligned; at different addresses in different processes */
    char *mapped;             /* what this module has mapped: node_base, or NULL if that is MPI's mapping */
    char *room;               /* addresses set aside for that mapping until it is made; else NULL */
    size_t stride;            /* a multiple of RMAI_PAGE */
    int n_slots;              /* PEs of the node */
    MPI_Win window;           /* MPI_WIN_NULL if MPI did not make the memory: a node of one PE, or a file of our own */
    struct rmai_cgroup group; /* the control group whose memory limit this process's commits respect */
    _Atomic size_t *begun;    /* shared by the PEs of the node: bytes that they are about to touch. NULL if nobody else
                                 commits. The caller sets it after rmai_reserve */
};

/* rmai_reserve aligns a process's own heap to this, if the system has the address space. */
#define RMAI_ADDRESS_ALIGNMENT ((size_t)1 << 30)

/* A room is address space for the spaces of a node: stride bytes for each of n_slots PEs. The heap of PE number `slot`
 * of the node, `heap` bytes from the start of its space, has an address of a fixed list there, which is the same in
 * every process. rmai_rooms_find returns which of the RMAI_ROOMS rooms are free in this process: bit i of the result is
 * room i. Large rooms overlap, so it keeps none. rmai_room_take sets room i aside and returns it, or NULL if other
 * memory of this process is in the way. */
#define RMAI_ROOMS 3
unsigned rmai_rooms_find(size_t stride, int n_slots, int slot, size_t heap);
char *rmai_room_take(int i, size_t stride, int n_slots, int slot, size_t heap);

/* rmai_reserve maps stride bytes for each process of node (collective over it): in `room`, from rmai_room_take, which
 * now belongs to the reservation. If room is NULL, or the system refuses a mapping there, it chooses the addresses: the
 * one `heap` bytes (a multiple of RMAI_HEAP_ALIGNMENT) from the start of this process's space is then a multiple of
 * RMAI_ADDRESS_ALIGNMENT, or, if the system refuses that, of a smaller power of two, at least a page. The space is
 * zero, and must be committed before it is touched. If the system refuses so much address space, the same call with a
 * smaller stride may succeed: every process of node gets the same answer. Only RMA_ERR_MPI may occur on some processes
 * alone; then the others have a reservation that is of no use, and the caller must agree with them on that. Returns
 * RMA_SUCCESS, RMA_ERR_NO_MEM, RMA_ERR_MPI. */
int rmai_reserve(struct rmai_reservation *r, MPI_Comm node, size_t stride, size_t heap, char *room);

/* rmai_unreserve unmaps what rmai_reserve has mapped, even if that was only a part (collective as rmai_reserve was).
 * call: the public call that errors name. */
int rmai_unreserve(struct rmai_reservation *r, const char *call);

/* rmai_commit makes [start, start + len), rounded outward to pages, safe to touch: backed by memory, and zero where it
 * was not committed before. Any process may commit any part, and several processes may commit at once: those that share
 * `begun` never take more together than there is. 64 MiB of the node's memory and of a control group's stay free, or a
 * 64th if that is less. If memory, /dev/shm or the process's control group cannot give that much, it commits nothing,
 * and the error says how much was asked for, how much there is, and what to do. Returns RMA_SUCCESS or RMA_ERR_NO_MEM.
 */
int rmai_commit(const struct rmai_reservation *r, void *start, size_t len);

/* rmai_commit_sparing is rmai_commit for memory without a limit of its own: it leaves 6 % or 256 MiB, whichever is
 * more, but at most a quarter, of the node's memory and of /dev/shm to the system and to MPI, which dies of SIGBUS if
 * /dev/shm is full. The error names `setting`, which sets such a limit. */
int rmai_commit_sparing(const struct rmai_reservation *r, void *start, size_t len, const char *setting);

/* rmai_commit_possible: 1 if each process of the node could commit `bytes` now. */
int rmai_commit_possible(const struct rmai_reservation *r, size_t bytes);

/* rmai_uncommit gives back the whole pages in [start, start + len): afterwards they are as if never committed. */
void rmai_uncommit(const struct rmai_reservation *r, void *start, size_t len);

/* rmai_commit_headroom writes how much could still be committed ("/dev/shm has 3 MiB free of 64 MiB, ..."), for the
 * error text of a PE when another PE could not commit. Returns text. */
#define RMAI_HEADROOM_TEXT 640
const char *rmai_commit_headroom(const struct rmai_reservation *r, char text[RMAI_HEADROOM_TEXT]);

#endif
