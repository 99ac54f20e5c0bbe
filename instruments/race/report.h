/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of racing accesses: one for each pair of places, by the PE that finds it. */
#ifndef RACE_REPORT_H
#define RACE_REPORT_H

#include "instruments/race/events.h"
#include "instruments/race/shadow.h"

/* race_report: `old` and the access of bytes `mask` at `where` by `who` race. what: enum race_what. */
void race_report(const struct race_record *old, race_epoch mask, race_epoch kind, int what, uint32_t place,
                 const struct race_who *who, struct race_where where);

/* race_report_end: memory ends (RACE_FREES, RACE_LEAVES) while the operation uses `used` bytes of it, from `where` on.
 */
void race_report_end(const struct race_record *old, race_epoch mask, size_t used, int what, uint32_t place,
                     const struct race_who *who, struct race_where where);

/* race_pair_is_new: notes that the pair of places with this key is reported. Returns 0 if this host has it already. */
int race_pair_is_new(uint64_t key);

/* race_report_past_end: the call accesses `len` bytes from this offset of PE pe's symmetric heap on, the last `past` of
 * them after the end of the block in which they begin. */
void race_report_past_end(const struct race_call *c, int pe, uint64_t offset, size_t len, size_t past, int write);

/* One of the two accesses, in words. */
struct race_side {
    int pe, what; /* enum race_what */
    uint32_t thread;
    char who[48]; /* the PE and, in a job with threads, the thread's number there */
    enum race_kind kind;
    int in_context, completed; /* of an operation: not in the default context; its PE knows that it is complete */
    int fenced;                /* of an operation: its PE has called a fence for it */
    int missed;                /* of an operation: thread missed_by has called a quiet that does not concern it */
    uint32_t missed_by;
    uint32_t sort; /* of an operation of MPI windows: enum race_sort (mpi_report.h) */
    race_epoch access;
    const char *call;
    char by[80]; /* " by CALL", or "" */
    char place[256], function[256];
};

/* How messages and reports name what another interface has (race_job.wording). */
struct race_wording {
    const char *pe; /* what a PE is called, */
    int first;      /* and the number of PE 0 */
    const char
        *nothing_completes; /* follows "not completed", if both accesses are the same PE's; NULL: as for librma */
    /* Describes memory of a PE, and writes its bare name. Returns 0 if it is no memory that the interface knows. */
    int (*memory)(struct race_where where, char *text, size_t room, char *name, size_t name_room);
    /* For the report's first line: why two atomics race, or "". And what would order the two. NULL: as for librma. */
    const char *(*cause)(const struct race_side *old, const struct race_side *now);
    void (*advice)(const struct race_side *old, const struct race_side *now, char *text, size_t room);
    /* Prints the whole report of a race between two PEs. NULL: as for librma. */
    void (*say)(const struct race_side *old, const struct race_side *now, const char *memory, size_t bytes);
};

/* race_pe_word: "PE", or what the program's interface calls it. race_pe_number: the number that it gives to a PE. */
const char *race_pe_word(void);
int race_pe_number(int pe);

/* race_word_private describes private memory of this PE. */
void race_word_private(uintptr_t addr, char *text, size_t room);

static inline int race_is_atomic(const struct race_side *s) { return (s->access & RACE_KIND) != RACE_PLAIN; }

#endif
