/* SPDX-License-Identifier: BSD-3-Clause */
/* Which PEs meet in a collective. Groups of the same members are one group, whose collectives are counted: so the
 * records of all members can be compared. */
#ifndef TRACE_GROUP_H
#define TRACE_GROUP_H

#include <stdint.h>

struct trace_group_of {
    uint64_t hash; /* of the members, in order */
    uint32_t n_meetings;
    int n;
    int *pes; /* NULL: PE i is i */
    struct trace_group_of *next;
};

/* trace_world: all PEs. trace_team: those of a team that exists. trace_set: of an active set. NULL: no memory, or no
 * such team. trace_team_gone: the handle is no team any more. */
struct trace_group_of *trace_world(void);
struct trace_group_of *trace_team(const void *team);
struct trace_group_of *trace_set(int start, int log_stride, int size);
void trace_team_gone(const void *team);

/* trace_group_of_pes: the group of these n PEs of the job; frees pes. */
struct trace_group_of *trace_group_of_pes(int *pes, int n);

/* trace_group_pe: member i, as a number in the job; -1: none. */
int trace_group_pe(const struct trace_group_of *g, int i);

/* trace_context_made: a context of a team. trace_context_gone: it no longer exists. trace_context_pe: PE number pe of
 * the team of a context; -1: unknown. Only for contexts whose PEs the inlined calls do not know (rma_inline.h). */
void trace_context_made(const void *ctx, const void *team);
void trace_context_gone(const void *ctx);
int trace_context_pe(const void *ctx, int pe);

/* trace_heap_changed records how much of the heaps is in use. */
void trace_heap_changed(void);

#endif
