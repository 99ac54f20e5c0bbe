/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs: accesses of consecutive memory by one instruction, which are recorded together.
 *
 * Each access of a loop over an array continues the one before. gcc's programs for x86-64 see this without the cells
 * (inline.h): each call of a hook has a *site*, with the address of the last access of its run. An access that
 * continues the run only stores its address there. What has been accessed is recorded when the run ends, and before the
 * thread tells or learns anything (race_runs_settle). Until then no other actor can be ordered after these accesses,
 * and the thread's clock is the same as it was at each of them. So it makes no difference for the check when they are
 * recorded, and of two actors that race, the one that records later sees the other.
 *
 * Only the first thread of a process has runs, while it is the only one, and only in its own symmetric memory, heaps
 * and global variables.
 *
 * A signal handler may interrupt the program between the comparison and the store. So a site gets a new run only from a
 * frame that is not below the one that began the site's last run, unless no handler is running (runs.c). */
#ifndef RACE_RUNS_H
#define RACE_RUNS_H

#include <stddef.h>
#include <stdint.h>

/* Of each call of a hook; in the program, which has the size and the offset of `last`. */
struct race_site {
    uintptr_t last;  /* the last access of the run; 0: no run */
    uintptr_t from;  /* the first byte of the run that is not recorded */
    uintptr_t frame; /* of the function that began the run */
    uintptr_t seen;  /* the last access that was recorded by itself */
    uintptr_t pc;
    uint16_t in_row; /* how many of those were consecutive */
    uint16_t denied; /* how often a run could not begin */
    uint8_t size, write, listed, idle;
};
_Static_assert(sizeof(struct race_site) == 48 && offsetof(struct race_site, last) == 0, "as in inline.h");

/* race_runs_settle records what the runs have accessed. Before the calling thread's clock changes or is told, and
 * before memory's records are dropped. */
extern int race_n_runs;
void race_runs_record(void);
static inline void race_runs_settle(void) {
    if (__builtin_expect(race_n_runs, 0)) race_runs_record();
}

/* race_run_begins: from the next access on the site has a run, if that is possible. race_run_is_due: whether the site's
 * latest accesses, which were recorded one by one, justify it. */
void race_run_begins(struct race_site *site, uintptr_t addr, size_t size, int write, uintptr_t pc, uintptr_t frame);
#define RACE_IN_ROW 4
static inline int race_run_is_due(struct race_site *site, uintptr_t addr, size_t size) {
    const int next = site->seen + size == addr;
    site->seen = addr;
    site->in_row = next ? (uint16_t)(site->in_row + 1) : 0;
    return site->in_row >= RACE_IN_ROW;
}

/* race_runs_end: the process gets a second thread, or detection ends. There are no runs from now on. race_alone: 1
 * until then. */
void race_runs_end(void);
extern int race_alone;

/* race_runs_stranger: set by a thread of a library, which has no clock, when it runs the program's code: it might come
 * to a site. The runs end when the first thread records them next. */
extern int race_runs_stranger;

/* The cell of a get is often in no cache. So race_read_later records a read by a get some calls later, when the cell
 * has come: of another PE's memory, or by a blocking get. Until the thread tells something, or a quiet completes a
 * nonblocking get, no other actor can be ordered after it. race_late_settle records all such reads: before the thread's
 * next access of another PE's memory by other means, and before it tells or learns something. Only while race_alone is
 * 1. */
struct race_cell;
struct race_who;
struct race_where;
void race_read_later(struct race_cell *cell, uint64_t mask, uint64_t kind, uint32_t place, const struct race_who *who,
                     struct race_where where);
extern int race_n_late;
void race_late_record(void);
static inline void race_late_settle(void) {
    if (__builtin_expect(race_n_late, 0)) race_late_record();
}

/* race_settle_accesses: both, before the thread tells or learns something. */
static inline void race_settle_accesses(void) {
    race_runs_settle();
    race_late_settle();
}

#endif
