/* SPDX-License-Identifier: BSD-3-Clause */
/* What the race detector knows of the job, and the memory in which all PEs of the host write what they access.
 *
 * The memory is one sparse file without a name (memfd_create): PE 0 makes it, the others open it through /proc. It is
 * no file of /dev/shm, whose size may be small, and nothing is left of it when the job ends. Its parts:
 *
 *     header         counts, which races have been reported, blocks that were allocated, places in shared libraries
 *     versions       what a thread knew when it told others of it (clock.h)
 *     operations     for each remote operation of the last ones, what it told (clock.h)
 *     groups         what PEs told each other in collectives (group.h)
 *     long lists     accesses of words that have more than one cell holds (shadow.h)
 *     cells          the accesses of each 8 bytes of each PE's space and global variables (shadow.h) */
#ifndef RACE_JOB_H
#define RACE_JOB_H

#include <stddef.h>
#include <stdint.h>

#define RACE_PES_MOST    128  /* the clocks of n PEs have n + 3 n * n numbers */
#define RACE_BLOCKS_MOST 4096 /* allocated blocks of a PE that a report can name */
#define RACE_PLACES_MOST 16384
#define RACE_CALL_MOST   48
#define RACE_PAIRS_MOST  4096 /* pairs of places that are reported, once each */
#define RACE_LOCKS       1024 /* for cells; each in a cache line of its own */

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

/* A place in the program that is no offset in the main program, or one from which the library was called. */
struct race_place {
    uint64_t pc;               /* an address of process `pe`; for calls from the main program an offset in it */
    uint32_t pe;               /* the PE, or RACE_MAIN */
    uint32_t ready;            /* set last, by a release store */
    char call[RACE_CALL_MOST]; /* the library's function that was called there, or "" */
};
#define RACE_MAIN UINT32_MAX

struct race_header {
    uint64_t nonce; /* the same as in PE 0's message: this is the right file */
    uint32_t n_actors;
    uint32_t races;   /* reported */
    uint32_t threads; /* set once a PE has made a thread */
    uint32_t long_lists;
    uint32_t free_list; /* 1 + the first block of long lists that is free */
    uint32_t free_lock;
    uint64_t pairs[RACE_PAIRS_MOST];
    struct {
        _Alignas(64) uint32_t word;
    } locks[RACE_LOCKS];
    struct race_place places[RACE_PLACES_MOST];
    struct race_block blocks[RACE_PES_MOST][RACE_BLOCKS_MOST];
};

struct race_job {
    int on;     /* races are looked for */
    int native; /* the program has put by a native call */
    int my_pe, n_pes;
    struct race_header *header;
    char *map; /* the whole file */
    size_t map_len;
    size_t clocks;    /* numbers in a clock: actors there may be */
    uint32_t *actors; /* of each: its PE << 2 | its kind */
    uint32_t *versions;
    uint32_t *version_tags;
    uint32_t history; /* versions of each PE, and operations of each actor, that are kept */
    struct race_operation *operations;
    char *groups;      /* group.h */
    char *lock_clocks; /* group.h */
    struct race_list *lists;
    struct race_cell *cells; /* of PE 0's space */
    size_t cells_stride;     /* from one PE's cells to the next's, in cells */
    struct race_cell *statics_cells;
    size_t statics_stride;
    struct race_cell *attached; /* of PE 0's attached memory; NULL: there is no room for them */
    uintptr_t space;            /* own space: heaps, as mapped here */
    uintptr_t spaces;           /* those of the node's PEs, one after the other */
    size_t spaces_len;
    uintptr_t *space_of;          /* of each PE of the job; 0: it is on another node */
    size_t stride;                /* bytes of each space */
    size_t symmetric;             /* where its symmetric heap begins */
    const size_t *symmetric_size; /* how much of it is committed */
    size_t local, guest;          /* where its local heap begins, and the part of it in which others allocate */
    int node_n_pes;
    int *node_pes;     /* their PE numbers */
    uintptr_t statics; /* the program's global variables */
    size_t statics_len;
    size_t second, second_len;      /* where they are mapped a second time in the PE's space; 0: nowhere */
    uintptr_t program, program_end; /* the main program's code and data */
    uintptr_t cxx, cxx_end;         /* C++'s library, if there */
    uintptr_t program_bias;         /* its addresses here are those of its file and this */
};

extern struct race_job race_job;

/* race_open is called when the library has been initialized: it maps the memory and starts to look for races, or says
 * why it does not. race_close prints the number of races; no access is looked at after it. All PEs call both. */
void race_open(void);
void race_close(void);

#endif
