/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI that wait for other PEs and cannot be asked whether they come: initializing, splitting communicators,
 * making windows. A PE that is stopped, or whose host is lost, would hang all others in there without a word. So a
 * thread that does not enter MPI watches such a section: after RMA_STALL seconds it says which call does not return,
 * and which PEs of this host are stopped; RMA_TIMEOUT seconds later it ends the process, and so the job. Where all PEs
 * have met before the section, it takes no second if all run. In the first step of rma_init they have not, and a PE may
 * come late; there a job is ended only if a stopped PE is found, or if MPI has failed here. An error of MPI on one PE
 * can leave the others in a call of MPI for ever: so a PE whose own error the others have not heard of (base/mpi) also
 * names it. If a PE of this host dies, the thread notices within seconds (runtime/net/siblings), and ends the job at
 * once. Time counts as in runtime/stall. */
#ifndef RMAI_BLOCKING_H
#define RMAI_BLOCKING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct rmai_settings;

enum rmai_blocking_kind {
    RMAI_BLOCKING_FIRST, /* PEs may come to the section late, or work for long in it */
    RMAI_BLOCKING_MET,   /* all PEs had met before it */
    RMAI_BLOCKING_LAST   /* all PEs had met before it, and end when they have left it: one that is gone may be well */
};

/* One section, in its caller's frame. */
struct rmai_blocking {
    const char *call;         /* the public call */
    const char *_Atomic what; /* the call of MPI, or the step of the public call */
    _Atomic uint32_t over;
    _Atomic(enum rmai_blocking_kind) kind;
    int running;          /* the thread exists */
    int ends_in_merge;    /* an error of MPI on this PE counts until the next merge: rmai_mpi_unheard */
    long stall, timeout;  /* seconds */
    double waited, said;  /* seconds: how long it lasts, and had lasted when that was said; 0: not yet */
    double look_for_dead; /* how long it had lasted when dead PEs were looked for */
    pthread_t thread;
};

/* rmai_blocking_begin begins to watch. settings: NULL before they are read. Without
 * a thread for it nothing is watched: that is no error. rmai_blocking_step: the section goes on with another call, and
 * its time begins anew. rmai_blocking_end ends the watch. */
void rmai_blocking_begin(struct rmai_blocking *b, const struct rmai_settings *settings, const char *call,
                         const char *what, enum rmai_blocking_kind kind);
void rmai_blocking_step(struct rmai_blocking *b, const char *what, enum rmai_blocking_kind kind);
void rmai_blocking_end(struct rmai_blocking *b);

/* rmai_blocking_look: the section has lasted for `seconds` more. For a thread of the caller's that watches it, with all
 * fields filled in but the last ones. */
void rmai_blocking_look(struct rmai_blocking *b, double seconds);

#endif
