/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings: one table of RMA_* environment variables. Values are read once, at init. A value that does not parse is an
 * error that quotes it. rma_info prints the table; man/write-settings writes docs/settings.md and man/rma.7 from it. */
#ifndef RMAI_SETTINGS_H
#define RMAI_SETTINGS_H

#include <stddef.h>

#include "base/choice.h"
#include "base/size.h"

enum rmai_heap_check { RMAI_CHECK_NONE, RMAI_CHECK_LEAKS, RMAI_CHECK_FULL };
enum rmai_statics_mode { RMAI_STATICS_REMAP, RMAI_STATICS_WINDOW, RMAI_STATICS_OFF };
enum rmai_progress { RMAI_PROGRESS_AUTO, RMAI_PROGRESS_THREAD, RMAI_PROGRESS_NONE };
enum rmai_window { RMAI_WINDOW_AUTO, RMAI_WINDOW_NONE, RMAI_WINDOW_ALWAYS, RMAI_WINDOW_DYNAMIC, RMAI_WINDOW_STATIC };
enum rmai_errors { RMAI_ERRORS_ABORT, RMAI_ERRORS_RETURN };

#define RMAI_AUTO              (-1L)
#define RMAI_SETTINGS_MAX      32 /* rows of the table at most */
#define RMAI_SETTING_VALUE_MAX 64 /* bytes of the longest list of words, including the final 0 */
#define RMAI_SETTINGS_NUMBERS  (RMAI_SETTINGS_MAX + RMAI_CHOICES)

struct rmai_least; /* base/mpi.h */

struct rmai_settings {
    size_t heap_max;                     /* limit of one PE's symmetric heap in bytes */
    size_t local_max;                    /* limit of one PE's local heap in bytes */
    int heap_unlimited, local_unlimited; /* 1: the limit is all of this node's memory, as by default */
    long spin;                           /* polls before a waiting PE yields, or RMAI_AUTO */
    long node_pes;                       /* largest number of PEs of a machine in one node, or RMAI_AUTO: all PEs */
    int errors;                          /* enum rmai_errors */
    int heap_check;                      /* enum rmai_heap_check */
    int statics;                         /* enum rmai_statics_mode */
    int progress;                        /* enum rmai_progress */
    int window;                          /* enum rmai_window */
    long stall;                          /* seconds that a PE waits for another PE before it reports this; 0: never */
    long timeout;                   /* seconds without a sign of life from an awaited PE until the job ends; 0: never */
    int stats;                      /* 1: count all operations, and print the sums at the end */
    int mpi_info;                   /* 1: rma_mpi prints who has each window */
    int check;                      /* 1: compare the arguments of collective calls */
    struct rmai_choice collectives; /* from which size on each algorithm is used */
    int finalize_helper;            /* 1: start runtime/watch/finalize_progress */
    int info;                       /* 1: print version, settings and layout at init */
    int of[RMAI_SETTINGS_MAX];      /* by row: the PE whose value is in force instead of this PE's own, or -1 */
};

/* rmai_settings_read fills s from the environment. memory is the node's memory in bytes: percentages refer to it, and
 * sizes must not exceed it. Returns RMA_SUCCESS, or RMA_ERR_SETTING: then only s->errors is set, if it could be
 * read. */
int rmai_settings_read(struct rmai_settings *s, size_t memory);

/* rmai_settings_quote: from this call until one with NULL, an error of setting `name` quotes `text`, "VARIABLE=VALUE",
 * from which the setting's value was derived. Both strings must live until then: only their addresses are kept. */
void rmai_settings_quote(const char *name, const char *text);

/* Agreement between PEs. The table says for each setting whether every PE has its own value, or the smallest or the
 * largest value of all PEs is in force. rmai_settings_offer writes this PE's values as RMAI_SETTINGS_NUMBERS numbers,
 * to be reduced with MIN over all PEs. rmai_settings_adopt puts the reduced numbers in force, and records the PEs that
 * they came from. */
void rmai_settings_offer(const struct rmai_settings *s, struct rmai_least *number);
void rmai_settings_adopt(struct rmai_settings *s, const struct rmai_least *number);

/* rmai_settings_print writes a row for each setting to `out` by put(out, line): name, value in force, where the value
 * comes from (the environment, the default, or another PE), help, and which PE's value counts. */
void rmai_settings_print(const struct rmai_settings *s, void (*put)(void *out, const char *line), void *out);

struct rmai_setting_value {
    const char *word, *help;
};

/* A row of the table in words, for manuals. Each text begins in lower case and has no full stop. */
struct rmai_setting_text {
    const char *name;
    const char *pattern; /* the forms of a value, separated by " | "; placeholders are in capitals */
    const char *initial;
    const char *help;
    const char *scope;                       /* which value is in force if PEs have different values */
    const struct rmai_setting_value *values; /* what the n_values values do */
    int n_values;
    char words[RMAI_SETTING_VALUE_MAX]; /* room for the pattern */
};

/* rmai_settings_describe writes the text of the i-th setting, from 0: among the settings for users or, if tuning is 1,
 * among those for tests and tuning. A setting that has values of both kinds is in both lists, each time with the values
 * of that kind. Returns 1, or 0 if the list has no i-th setting. */
int rmai_settings_describe(int tuning, size_t i, struct rmai_setting_text *text);

/* rmai_settings_stray writes to `note` what to print about the n-th (from 0) environment variable RMA_... that no row
 * of the table and no tool of the package knows: that the setting is gone, since which version, and what replaces it;
 * or that it is not a setting, and which setting may be meant. Returns 1, or 0 if there is no such variable. */
int rmai_settings_stray(int n, char *note, size_t size);

#endif
