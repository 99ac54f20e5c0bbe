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

/* rmai_between_broadcast: len bytes go from source, which counts on number `root` only, to dest of the others; what it
 * does to the root's dest, which may be source, is not said. *under_way has no messages at first. On return the data
 * are there, and messages that read source or dest may be under way: rmai_group_finish waits for these. */
int rmai_between_broadcast(struct rmai_group *g, const char *call, void *dest, const void *source, size_t len, int root,
                           struct rmai_group_messages *under_way);

/* rmai_between_allgather: number i's block is [at[i], at[i + 1]) of data. Before, each PE has its own block there, and
 * after, all blocks. rmai_between_allgather_alike: the same for blocks of len bytes, one after the other. */
int rmai_between_allgather(struct rmai_group *g, const char *call, char *data, const size_t *at);
int rmai_between_allgather_alike(struct rmai_group *g, const char *call, void *data, size_t len);

/* rmai_between_gather: number `root` gets len bytes of source of each PE, in the order of their numbers, in dest, which
 * counts there only; there source may be dest, or its place in dest. rmai_between_scatter: each PE gets its block of
 * len bytes of the root's source in dest. room: as below. */
int rmai_between_gather(struct rmai_group *g, const char *call, char *dest, const char *source, size_t len, int root,
                        char *room);
int rmai_between_scatter(struct rmai_group *g, const char *call, char *dest, const char *source, size_t len, int root,
                         char *room);

/* The room that the following calls need beside data: at least so many bytes, aligned for the type. */
#define RMAI_BETWEEN_ROOM ((size_t)1 << 20)

/* rmai_between_reduce: the n elements at data become, on all PEs with the same bits, the sum (or what else the kernel
 * does) of those of all PEs. size: bytes of an element. */
int rmai_between_reduce(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, char *data, size_t n,
                        size_t size, char *room);

/* rmai_between_reduce_root: the same on number `root`; what the data of the others become is not said. */
int rmai_between_reduce_root(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, char *data,
                             size_t n, size_t size, int root, char *room);

/* rmai_between_scan: they become the sum of those of the PEs with smaller numbers, with their own ones (inclusive) or
 * without (exclusive: number 0 gets nothing, and its data stay). */
enum rmai_scan { RMAI_INCLUSIVE, RMAI_EXCLUSIVE };
int rmai_between_scan(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, enum rmai_scan kind,
                      char *data, size_t n, size_t size, char *room);

#endif
