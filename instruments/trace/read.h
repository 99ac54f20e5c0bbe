/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a job, read. Times are nanoseconds since the first PE began, by PE 0's clock. */
#ifndef TRACE_READ_H
#define TRACE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/trace/format.h"

/* A place in the program that calls a function: the same for all PEs and threads. */
struct trace_place {
    const char *file; /* of the program or library */
    uint64_t offset;  /* of the return address in it */
    char name[TRACE_NAME];
    unsigned kind;
    int polled;         /* calls of it are polls (trace_reads) */
    char where[160];    /* "halo.c:71", or "program+0x1234" */
    int has_line;       /* it is the former */
    char function[120]; /* in which it is, or "" */
    /* The sums over all PEs. times: histogram by powers of two of nanoseconds. */
    uint64_t count, bytes, lengths[TRACE_LENGTHS], times[TRACE_TIMES];
    double ns, ns_most; /* the longest call */
    double pe_ns;       /* of the PE that spends most here, */
    int pe;
    uint64_t run_most, run_calls; /* of that PE whose runs take longest */
    double run_ns;
    int run_pe;
    /* What the comparison of the PEs finds (match.h). */
    double waited;                     /* of `ns` */
    double wait_ns, wait_computing;    /* of the PE that waits longest here for one PE: how long, and how much of it */
    int wait_pe, wait_on;              /* the other computes */
    uint64_t wait_times;               /* how often */
    double spread;                     /* collectives: sum of the times from the first entry to the last */
    uint64_t meetings, *last;          /* how many, and how often each PE was the last */
    double meeting_waited, *waited_by; /* longest sum of a PE's waits here; by PE */
};

struct trace_events {
    const struct trace_event *event;
    size_t n;
    int thread;
};

struct trace_cells_of { /* the cells of a place, sums over threads */
    uint32_t place;
    struct trace_cells cells;
};

struct trace_pe {
    int present, ended;
    struct trace_head head;
    struct trace_end end;
    int64_t clock_error; /* -1: unknown */
    const char *map;
    size_t map_len;
    double zero, per_tick; /* ns = zero + ticks * per_tick */
    double begin, finish;
    uint32_t *place, n_sites; /* the place of each site */
    struct trace_events *events;
    size_t n_events; /* chunks */
    uint64_t events_seen, calls;
    int threads;
    double ns[TRACE_CLASSES]; /* sums over threads */
    double waited;            /* in collectives and waits, for others */
    struct trace_cells_of *cells;
    size_t n_cells;
    uint64_t puts, put_bytes, gets, get_bytes, atomics;
};

struct trace_wait { /* PE `pe` waited for PE `on` */
    uint32_t place;
    int pe, on;
    double ns, computing; /* computing: how long of it the other was in no call; -1: not yet known */
    double start, end;
    uint64_t times; /* of a sum: of how many waits */
};

struct trace_flow { /* from an operation to the wait that it ended */
    const struct trace_event *from, *to;
    int from_pe, to_pe, from_thread, to_thread;
};

struct trace_record {
    int n_pes, n_present, n_ended, n_finalized, n_nodes;
    struct trace_pe *pes;
    struct trace_place *places;
    uint32_t n_places;
    struct trace_wait *waits;
    size_t n_waits;
    struct trace_flow *flows;
    size_t n_flows;
    double elapsed; /* of the longest PE */
    int64_t clock_error;
    uint64_t dropped;
};

/* trace_read reads the parts. Returns NULL, with the reason in why, if there are none. */
struct trace_record *trace_read(const char *file, char *why, size_t room);

/* trace_ns_at: when that was. */
static inline double trace_ns_at(const struct trace_pe *p, uint64_t ticks) {
    return p->zero + (double)ticks * p->per_tick;
}

#endif
