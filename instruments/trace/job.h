/* SPDX-License-Identifier: BSD-3-Clause */
/* The job that is recorded, from rma_init to rma_finalize. */
#ifndef TRACE_JOB_H
#define TRACE_JOB_H

#include <stdint.h>

struct trace_job {
    int my_pe, n_pes;
    int node;                       /* the lowest PE of this node */
    uintptr_t bias;                 /* an address of the program minus that in its file */
    uint64_t id;                    /* as in struct trace_head */
    uintptr_t library, library_len; /* where librma's code is */
};
extern struct trace_job trace_job;

/* Whether librma itself calls from there. */
static inline int trace_is_library(uintptr_t pc) { return pc - trace_job.library < trace_job.library_len; }

/* trace_open is called after each successful init. If RMA_TRACE asks for it, recording begins, or PE 0 tells why it
 * cannot. Collective. trace_close is called before each finalize. The last one ends the recording, writes the rest, and
 * returns 1 if trace_report is to be called after the finalize: it makes PE 0's report. */
void trace_open(void);
int trace_close(void);
void trace_report(void);

#endif
