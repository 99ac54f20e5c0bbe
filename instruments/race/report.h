/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of racing accesses: one for each pair of places, by the PE that finds it. */
#ifndef RACE_REPORT_H
#define RACE_REPORT_H

#include "instruments/race/events.h"
#include "instruments/race/shadow.h"

/* race_report: `old` and the access of bytes `mask` at `where` by `who` race. what: enum race_what. */
void race_report(const struct race_record *old, race_epoch mask, race_epoch kind, int what, uint32_t place,
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
    uint32_t sort;             /* of an operation of MPI windows: enum race_sort (mpi_report.h) */
    race_epoch access;
    const char *call;
    char by[80]; /* " by CALL", or "" */
    char place[256], function[256];
};

/* An access of an image, for the words of a report. */
struct race_caf_side {
    int image, write, atomic;
    const char *call; /* "" for a load or store */
    const char *place, *function;
};

/* How reports word a race of two images of a program with coarrays (race_job.images). */
struct race_images {
    /* Words for a byte of a coarray: "a(5)[2]". Returns 0 if there is none at that place. name: the variable's name
     * alone, for suppressions, in name_room bytes. */
    int (*variable)(struct race_where where, char *text, size_t room, char *name, size_t name_room);
    void (*say)(const struct race_caf_side *now, const struct race_caf_side *old, const char *memory, size_t bytes);
};

/* How reports name what another interface has (race_job.wording). */
struct race_wording {
    const char *pe;                /* what a PE is called */
    const char *nothing_completes; /* follows "not completed", if both accesses are the same PE's */
    /* Describes memory of a PE, and writes its bare name. Returns 0 if it is no memory that the interface knows. */
    int (*memory)(struct race_where where, char *text, size_t room, char *name, size_t name_room);
    /* For the report's first line: why two atomics race, or "". */
    const char *(*cause)(const struct race_side *old, const struct race_side *now);
    void (*advice)(const struct race_side *old, const struct race_side *now, char *text, size_t room);
};

#endif
