/* SPDX-License-Identifier: BSD-3-Clause */
/* RMA_RACE: what the user wants of the detector. */
#ifndef RACE_OPTIONS_H
#define RACE_OPTIONS_H

#include <stdint.h>

struct race_options {
    int on;
    int exitcode;     /* of a PE that would have ended with 0, if there were races; 0: its own */
    uint32_t history; /* operations of each flow, and versions of each PE's knowledge, that are remembered */
    const char *suppressions;
};

/* race_options_read reads RMA_RACE. What it does not understand it says once (pe 0), and keeps the default. */
void race_options_read(struct race_options *o, int pe);

/* race_options_wanted: whether RMA_RACE leaves the detector on; before race_options_read. */
int race_options_wanted(void);

/* race_say writes one message, in one write: "librma race: ..." */
void race_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* race_suppressed: whether a line of the suppressions file fits one of the texts: FILE:LINE and functions of both
 * places, and the variable. */
int race_suppressed(const char *const places[2], const char *const functions[2], const char *variable);

#endif
