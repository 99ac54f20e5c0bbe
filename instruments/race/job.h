/* SPDX-License-Identifier: BSD-3-Clause */
/* What the race detector knows of the job, and the shared memory in which all PEs of the host record their accesses.
 *
 * The memory is one sparse file without a name (memfd_create): PE 0 creates it, the others open it through /proc. It is
 * not in /dev/shm, which may be small, and it vanishes when the job ends. Its parts:
 *
 *     header         counts, reported races, allocated blocks, places in shared libraries
 *     versions       what a thread knew when it told others (clock.h)
 *     operations     what each of the latest remote operations told (clock.h)
 *     groups         what PEs told each other in collectives (group.h)
 *     long lists     accesses of words that have more accesses than a cell can hold (shadow.h)
 *     cells          the accesses of each 8 bytes of each PE's space and global variables (shadow.h)
 *     strips         accesses of larger blocks of them (shadow.h)
 *
 * On several hosts each has this memory for its own PEs (remote.h).
 *
 * In a program of MPI windows a PE is a rank of MPI_COMM_WORLD. Instead of the cells of spaces the memory has:
 *
 *     windows        the memory of each window, for reports (mpi_memory.h)
 *     channels       what messages told (mpi_channels.h)
 *     arenas         which parts of each process's address space have shared cells
 *     exposed        these cells (shadow.h) */
#ifndef RACE_JOB_H
#define RACE_JOB_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "instruments/race/options.h"

#define RACE_PES_MOST    128  /* the clocks of n PEs have n + 3 n * n numbers */
#define RACE_BLOCKS_MOST 4096 /* allocated blocks of a PE that a report can name */
#define RACE_PLACES_MOST 16384
#define RACE_CALL_MOST   48
#define RACE_PAIRS_MOST  4096 /* pairs of places that can be reported, once each */
#define RACE_HUGE_PAGE   ((uintptr_t)2 << 20)
#define RACE_LOCKS       1024 /* for cells; each in its own cache line */

/* Offsets of attached memory in global pointers (rma_inline.h). */
#define RACE_ATTACHED     ((uint64_t)3 << 38)
#define RACE_ATTACHED_LEN ((uint64_t)1 << 38)

/* A block of the symmetric or of a local heap, or attached memory. */
struct race_block {
    uint64_t offset; /* from the first byte of the PE's space, or as in global pointers */
    uint64_t size;   /* 0: no block */
    uint32_t place;  /* where it was allocated */
    uint32_t kind;   /* enum race_block_kind */
};
enum race_block_kind { RACE_SYMMETRIC, RACE_LOCAL, RACE_REGION };

/* A place in the program that is not an offset in the main program, or from which the library was called. */
struct race_place {
    uint64_t pc;    /* an address of process `pe`; for calls from the main program an offset in the program */
    uint32_t pe;    /* the PE, or RACE_MAIN */
    uint32_t ready; /* set last, by a release store */
    char call[RACE_CALL_MOST]; /* the library's function that was called there, or "" */
};
#define RACE_MAIN UINT32_MAX

/* Exposed memory: an arena is a part of a process's address space, aligned to its size, that has shared cells because a
 * window of MPI has memory there. */
#define RACE_ARENA_SHIFT 30
#define RACE_ARENA       ((uintptr_t)1 << RACE_ARENA_SHIFT)
#define RACE_ARENAS_ALL  ((size_t)1 << (47 - RACE_ARENA_SHIFT)) /* in an address space */
#define RACE_ARENAS_MOST 256                                    /* of a process that have cells */

#define RACE_COMM_IDS 4096

struct race_wording;

struct race_header {
    uint64_t nonce;                 /* equal to that in its maker's message if this is the right file */
    uint32_t n_actors;              /* on several hosts all numbers: others use the rest */
    uint32_t of_host;               /* on several hosts: how many actors this one has added */
    uint32_t races;                 /* reported races */
    uint32_t past_ends;             /* reported operations past a block's end */
    uint32_t threads;               /* set once a PE has created a thread */
    uint32_t locked;                /* set once a PE has had a lock */
    uint32_t strips[RACE_PES_MOST]; /* the count at which a PE's first thread recorded a strip last */
    uint32_t long_lists;
    uint32_t free_list; /* 1 + the first free block of long lists */
    uint32_t free_lock;
    uint32_t window_ids;                   /* the last number of a window of MPI */
    uint64_t comm_ids[RACE_COMM_IDS / 64]; /* the numbers of communicators that are in use */
    uintptr_t programs[RACE_PES_MOST];     /* where each process has the main program */
    uint32_t ended;                        /* images of coarrays that have ended */
    uint64_t spaces[RACE_PES_MOST];        /* where each PE has its space, and its global variables, in its process */
    uint64_t statics[RACE_PES_MOST];
    uint8_t suppressions_used[RACE_SUPPRESSIONS_MOST];
    uint64_t pairs[RACE_PAIRS_MOST];
    struct {
        _Alignas(64) uint32_t word;
    } locks[RACE_LOCKS];
    struct race_place places[RACE_PLACES_MOST];
    struct race_block blocks[RACE_PES_MOST][RACE_BLOCKS_MOST];
};

/* An actor (clock.h) whose number does not follow from the PEs' numbers. */
struct race_actor {
    int pe;
    uint32_t kind; /* enum race_kind */
    uint32_t of;   /* a flow: its thread's actor; a thread: its number in its process */
    int in_context;
    uint32_t sort; /* for reports of programs of MPI windows: what completes its operations (mpi_report.h) */
};

/* How far a flow's operations have come, for reports: up to which one a quiet of a thread that knew of it has completed
 * it, and a fence has ordered it; and the last one that a quiet of thread `by` did not concern, since that thread did
 * not know of it. */
struct race_progress {
    uint32_t completed, fenced, missed, by;
};

struct race_job {
    int on;                             /* 1: detection is on */
    int native;                         /* 1: the program has put by a native call */
    int strict_atomics;                 /* 1: OpenSHMEM's atomics are atomic only within a family (clock.h) */
    int ends_alone;                     /* 1: a PE may end without the others: an image of coarrays */
    const struct race_wording *wording; /* report.h; NULL: the program has OpenSHMEM's or librma's calls */
    int my_pe, n_pes;
    int hosts, host; /* the number of hosts, and this one's number */
    int *host_of;    /* of each PE; NULL: all are on one host */
    int *leaders;    /* the lowest PE of each host */
    struct race_header *header;
    char *map; /* the whole file */
    size_t map_len;
    size_t clocks; /* numbers in a clock: the largest number of actors */
    struct race_actor *actors;
    struct race_progress *progress; /* of each flow */
    uint32_t *versions;
    uint32_t *version_tags;
    uint32_t history; /* how many versions of each PE and operations of each actor are kept */
    struct race_operation *operations;
    char *groups;      /* group.h */
    char *lock_clocks; /* group.h */
    char *events;      /* group.h */
    struct race_list *lists;
    struct race_cell *cells; /* of PE 0's space */
    size_t cells_stride;     /* from one PE's cells to the next's, in cells */
    struct race_cell *statics_cells;
    size_t statics_stride;
    struct race_strip *strips;  /* of the memory of `cells` and `statics_cells`; NULL: none */
    uint64_t *others;           /* of each page of it: epochs (shadow.h) */
    size_t stripped;            /* bytes of these cells */
    struct race_cell *attached; /* of PE 0's attached memory; NULL: no room for these cells */
    uint32_t arenas;            /* of each process; 0: the program has no windows of MPI */
    size_t exposed_len;         /* bytes */
    struct race_cell *exposed;  /* the cells of the first process's first arena */
    uint16_t *arena_of;         /* for each process and part of its address space: 1 + its arena, or 0 */
    struct race_named_window *named_windows;
    struct race_channel *channels;
    uintptr_t space;  /* own space: heaps, as mapped here */
    uintptr_t spaces; /* the spaces of the node's PEs, one after the other */
    size_t spaces_len;
    uintptr_t *space_of;          /* the space of each PE of the job; 0: the PE is on another node */
    size_t stride;                /* bytes of each space */
    size_t symmetric;             /* offset of its symmetric heap */
    const size_t *symmetric_size; /* how much of the symmetric heap is committed */
    size_t local, guest;          /* offsets of its local heap, and of the part in which other PEs allocate */
    int node_n_pes;
    int *node_pes;     /* their PE numbers */
    uintptr_t statics; /* the program's global variables */
    size_t statics_len;
    size_t second, second_len;      /* their second mapping in the PE's space; 0: none */
    uintptr_t program, program_end; /* the main program's code and data */
    uintptr_t program_len;          /* how much of it has places that are offsets (places.h) */
    uintptr_t cxx, cxx_end;         /* C++'s library, or 0 */
    uintptr_t program_bias;         /* an address of the program minus its address in the file */
};

extern struct race_job race_job;

/* race_open is called after the library has been initialized: it maps the memory and starts the detection, or says why
 * it cannot. race_close prints the number of races and ends the detection. All PEs call both. */
void race_open(void);
void race_close(void);

/* race_seconds: seconds since some moment in the past, by CLOCK_MONOTONIC. */
static inline double race_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
