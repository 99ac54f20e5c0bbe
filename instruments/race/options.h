/* SPDX-License-Identifier: BSD-3-Clause */
/* RMA_RACE: the user's settings of the detector. */
#ifndef RACE_OPTIONS_H
#define RACE_OPTIONS_H

#include <stdint.h>

struct race_options {
    int on;
    int exitcode;       /* after races, of a PE that would have ended with 0; 0: do not change it */
    uint32_t history;   /* how many operations of each flow, and versions of each PE's knowledge, are kept */
    int nodes;          /* 1: each node counts as a host (remote.h) */
    int strict_atomics; /* 1: report atomics that the specification leaves undefined, though librma executes them */
};

/* race_options_read reads RMA_RACE. It reports what it does not understand, and what contradicts an earlier word, once
 * (on PE 0), and ignores it. */
void race_options_read(struct race_options *o, int pe);

/* race_options_wanted: whether RMA_RACE leaves the detector on. May be called before race_options_read. */
int race_options_wanted(void);

/* race_say prints one message by one write: "librma race: ..." */
void race_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* race_suppressed: whether a line of the suppressions file matches one of the texts: FILE:LINE and functions of both
 * places, and the variable. It sets the `used` of all lines that do. race_suppressions_unused names the others. Both
 * leave out the lines after the first RACE_SUPPRESSIONS_MOST. */
#define RACE_SUPPRESSIONS_MOST 1024
int race_suppressed(const char *const places[2], const char *const functions[2], const char *variable, uint8_t *used);
void race_suppressions_unused(const uint8_t *used);

#endif
