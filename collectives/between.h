/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives among the PEs of a group on several nodes, by messages (runtime/net/group). Every PE of the group makes
 * the call; each call waits and serves other PEs meanwhile, and returns RMA_SUCCESS or the recorded error of
 * `call`, RMA_ERR_MPI or RMA_ERR_MISMATCH (runtime/net/group.h). */
#ifndef RMAI_BETWEEN_H
#define RMAI_BETWEEN_H

#include <stddef.h>

struct rmai_group;
struct rmai_group_messages;
struct rmai_kernel;

/* rmai_between_broadcast: len bytes go from source on number `root` (only root's source matters) to dest on the others.
 * The root's dest may be source; its content after the call is undefined. The caller passes *under_way without
 * messages. On return the data have arrived, but messages that read source or dest may be under way: rmai_group_finish
 * waits for them. */
int rmai_between_broadcast(struct rmai_group *g, const char *call, void *dest, const void *source, size_t len, int root,
                           struct rmai_group_messages *under_way);

/* rmai_between_allgather: number i's block is [at[i], at[i + 1]) of data. Before the call each PE has its own block
 * there, afterwards all blocks. rmai_between_allgather_alike: the same for consecutive blocks of len bytes each. */
int rmai_between_allgather(struct rmai_group *g, const char *call, char *data, const size_t *at);
int rmai_between_allgather_alike(struct rmai_group *g, const char *call, void *data, size_t len);

/* rmai_between_gather: number `root` gets the blocks of all PEs in dest, in the order of their numbers; each PE's
 * source is one block of len bytes. dest counts on the root only; source may be dest there, or its place in dest.
 * rmai_between_scatter: each PE gets its block of len bytes of the root's source in dest. room: as below. */
int rmai_between_gather(struct rmai_group *g, const char *call, char *dest, const char *source, size_t len, int root,
                        char *room);
int rmai_between_scatter(struct rmai_group *g, const char *call, char *dest, const char *source, size_t len, int root,
                         char *room);

/* The size of the room that the following calls need beside data. The room must be aligned for the type. */
#define RMAI_BETWEEN_ROOM ((size_t)1 << 20)

/* rmai_between_reduce: replace the n elements at data by the sum over all PEs (or the kernel's other operation). All
 * PEs get the same bits. size: bytes of an element. */
int rmai_between_reduce(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, char *data, size_t n,
                        size_t size, char *room);

/* rmai_between_reduce_root: the same on number `root`; the data of the other PEs are undefined afterwards. */
int rmai_between_reduce_root(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, char *data,
                             size_t n, size_t size, int root, char *room);

/* rmai_between_scan: replace the elements by the sum over the PEs with smaller numbers, with this PE's own elements
 * (inclusive) or without (exclusive: number 0 receives nothing, and its data stay). */
enum rmai_scan { RMAI_INCLUSIVE, RMAI_EXCLUSIVE };
int rmai_between_scan(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, enum rmai_scan kind,
                      char *data, size_t n, size_t size, char *room);

#endif
