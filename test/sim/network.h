/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated network: N PEs in one process, whose messages take virtual time (LogGP: A. Alexandrov, M. Ionescu, K.
 * Schauser, C. Scheiman, "LogGP: incorporating long messages into the LogP model", 1995). A seed decides every delay
 * and whose turn it is. Messages of one PE to another arrive in the order in which they were sent, as MPI keeps them;
 * all others may overtake each other. It may have MPI's windows (test/sim/windows). PEs may stop, continue or die, and
 * links may be cut.
 *
 * Two layers use it: a bare struct rmai_net for each PE (test/sim/bare), or the whole library (test/sim/whole). */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attributes.h"
#include "runtime/transport/transport.h"
#include "test/sim/scheduler.h"

struct sim;
struct sim_operation;
struct sim_message;
struct sim_link;
struct sim_options;
struct sim_pe;
struct sim_windows;

/* What stands on the network and has state of its own for each PE. */
struct sim_layer {
    void (*begin)(struct sim_pe *pe, const struct sim_options *options); /* pe: the first of them */
    void (*turn)(struct sim_pe *pe);                                     /* a turn of this PE begins */
    void (*describe)(struct sim_pe *pe, char *text, size_t room);        /* what the PE waits for */
    int (*may_miss_wakeup)(const void *word);      /* its changes need not wake (sim_missed_wakeup) */
    int (*is_unwatched)(const char *call, int pe); /* nobody would see that this flush of a window lasts */
    void (*close)(struct sim_pe *pe);
    void (*end)(void);
};

/* Nanoseconds of virtual time. All 0: messages arrive at once. */
struct sim_times {
    uint64_t send, receive;   /* that a PE computes for a message which it sends, or takes: LogGP's o */
    uint64_t latency, jitter; /* a message takes latency + [0, jitter]: L */
    uint64_t gap;             /* between two messages of a PE, at least: g */
    uint64_t kib;             /* for each 1024 bytes: G */
    size_t eager;             /* bytes; longer messages wait for their receive, and their sender with them */
};

enum sim_injected {
    SIM_DIES,
    SIM_STOPS, /* it computes nothing and takes nothing, until */
    SIM_GOES_ON,
    SIM_CUT, /* messages of `pe` to `other`, and the other way, get lost */
};

/* What happens to a PE from outside. */
struct sim_injection {
    uint64_t time; /* since the first PE has called sim_begin_injections */
    enum sim_injected what;
    int pe, other;
};

/* One event, for logs and pictures. */
enum sim_kind {
    SIM_SENDS,   /* pe has sent message `message` of len bytes and this tag to `other` */
    SIM_ARRIVES, /* it has arrived at pe, from `other` */
    SIM_LOST,    /* it got lost on its way to pe */
    SIM_SAYS     /* text, by sim_log or by the library */
};
struct sim_trace {
    uint64_t time;
    int pe;
    enum sim_kind kind;
    int other, tag;
    uint64_t message;
    size_t len;
    const char *text;
};

/* MPI's windows. */
struct sim_windows_options {
    int there;                         /* the network has them */
    int needs_target[RMAI_WINDOWS][2]; /* puts, gets: done only when the target drives progress */
    int near;                          /* nodes are on one machine */
    int cuts_words;                    /* where a processor copies, and no adapter, a word may come in parts */
    uint64_t spread;                   /* a piece of an access may take so much longer than a message */
    int shifts; /* puts into PE 0's part of the fixed one come a byte too far (MPICH 4.0.2 with UCX 1.13 or later) */
    int refuses_dynamic;  /* nobody can make the dynamic one */
    unsigned attach_most; /* regions that a PE can attach */
};

struct sim_options {
    int n_pes;
    uint64_t seed;
    struct sim_times times;
    uint64_t quiet; /* PEs are stuck when for so long nothing but idle polls has happened; 0: a second */
    uint64_t limit; /* they are stuck, too, when the run has taken so long; 0: a minute */
    /* Nanoseconds between two polls of a waiting PE: the first time, which doubles, and the last; 0: 20 and 20480. A
     * message ends the time, what another PE of the node stores does not. */
    uint64_t poll_first, poll_last;
    int failing_pe;           /* of this PE, */
    unsigned failing_receive; /* this receive fails, counted from 1; 0: none does */
    const struct sim_injection *injection;
    int n_injections;
    void (*trace)(void *context, const struct sim_trace *event); /* or NULL */
    void *trace_context;
    const struct sim_layer *layer;
    int threads;   /* the library's threads run, as tasks; else it cannot make any */
    size_t memory; /* of test/sim/bare: bytes of each PE */
    struct sim_windows_options windows;
    /* Of test/sim/whole: */
    int node_pes;                /* PEs of a node, the last one may have fewer; 0: one */
    int crowded;                 /* PEs find that they are more than processors */
    const char *const *settings; /* "RMA_SPIN=0", ..., NULL; or NULL */
};

struct sim_report {
    uint64_t time;             /* when the last PE was through */
    uint64_t messages;         /* that were sent, */
    uint64_t bytes;            /* and their bytes */
    uint64_t rounds;           /* messages of the longest chain of which each was sent after the one before was taken */
    unsigned unread;           /* messages to one PE that it had not received, at most */
    int stuck;                 /* PEs that wait for what nobody will send */
    int left;                  /* operations that are not done, and messages that nobody has received, in the end */
    uint64_t steps;            /* turns of PEs, and messages that have arrived */
    uint64_t missed_wakeups;   /* sleeps in the kernel that ended by themselves although the word had changed before */
    int ended;                 /* 1 + the PE that has ended the job, by rma_abort or an error; 0: none */
    char why[1024];            /* its words, or those of sim_fail */
    uint64_t inside;           /* bit i: MPI held PE i, in a merge or by a lost PE in a flush, as the job was ended */
    uint64_t injections_begun; /* when; 0: not yet */
    int failed; /* sim_fail has been called: the run has ended there, and what follows counts for nothing */
};

struct sim_pe {
    struct sim *sim;
    int me;
    int dead, stopped;
    int merging, flushing;  /* tasks of it in a call of the transport that takes all PEs, or waits for a flush */
    struct sim_task *tasks; /* the first one made is the last */
    void *layer;            /* what the layer keeps of it */
    unsigned n_receives;
    struct sim_operation *posted;   /* receives that wait for a message, oldest first */
    struct sim_message *unexpected; /* messages that wait for a receive, oldest first */
    unsigned n_unread;              /* messages to this PE that it has not received, on their way or there */
    uint64_t n_sent, n_taken;       /* messages that this PE has sent, and that it has received */
    uint64_t departs;               /* when its next message may leave */
    uint64_t depth;                 /* the longest chain of messages that has come here */
    struct sim_link *links;         /* to the PEs that this one has sent to, or that are cut off */
    size_t n_links;
    struct sim_operation *operations; /* sends and receives whose tokens are not none, */
    int n_operations;                 /* and how many */
    struct sim_windows *windows;      /* NULL: the network has none */
};

/* The transport of a PE. */
struct sim_transport {
    struct rmai_transport transport; /* first: its operations get this struct */
    struct sim_pe *pe;
};
void sim_transport_open(struct sim_transport *t, struct sim_pe *pe);
static inline struct sim_pe *sim_pe_of(const struct rmai_transport *t) {
    return ((const struct sim_transport *)(const void *)t)->pe;
}

/* sim_merge: all PEs merge what each has, by messages (dissemination): `take` adds another PE's bytes to this one's, in
 * any order, and maybe twice. Returns RMA_SUCCESS or RMA_ERR_MPI. */
int sim_merge(struct rmai_transport *t, int tag, void *mine, size_t bytes,
              void (*take)(void *mine, const void *other, size_t bytes));

/* What each PE does. It returns with nothing of its own under way. */
typedef void sim_program(struct sim_pe *pe, void *context);

/* sim_run runs program on each PE to its end, or until nobody can go on. Memory that is not there ends the process. */
struct sim_report sim_run(const struct sim_options *options, sim_program *program, void *context);

/* The PE whose turn it is; sim_of: PE number i of the same run. */
struct sim_pe *sim_here(void);
struct sim_pe *sim_of(struct sim_pe *pe, int i);
const struct sim_options *sim_options_of(const struct sim_pe *pe);

/* sim_scheduler_of: that of the run. sim_now: the time of the task whose turn it is, or else of the event. */
struct sim_scheduler *sim_scheduler_of(struct sim_pe *pe);
uint64_t sim_now(struct sim_pe *pe);

int sim_link_is_cut(const struct sim_pe *pe, int to);
int sim_is_cut_short(const struct sim_pe *pe); /* the run has ended while programs were under way */

/* sim_fail ends the run, which has shown a fault. sim_end_job ends it because the library wants that. sim_log writes a
 * line into the log, if there is one. sim_sleep: the PE computes for so many nanoseconds, and does not serve others
 * meanwhile. */
_Noreturn void sim_fail(struct sim_pe *pe, const char *format, ...) RMAI_PRINTF(2, 3);
_Noreturn void sim_end_job(struct sim_pe *pe, const char *why);
void sim_log(struct sim_pe *pe, const char *format, ...) RMAI_PRINTF(2, 3);
/* sim_expect: `what` has returned code, which must be RMA_SUCCESS. Where something is injected, another code may come
 * of that: then the program ends the job, as the error handler does that programs have if they install no other one. */
void sim_expect(struct sim_pe *pe, const char *what, int code);
void sim_sleep(struct sim_pe *pe, uint64_t time);

void sim_begin_injections(struct sim_pe *pe);

/* sim_add_task: another task of the PE. */
struct sim_task *sim_add_task(struct sim_pe *pe, void (*run)(void *context), void *context);

/* sim_kernel_begin (test/sim/kernel.c): nobody sleeps. */
void sim_kernel_begin(void);

/* sim_overwritten: the network has stored there, which wakes nobody: sleeps there end by themselves. */
void sim_overwritten(const void *at, size_t len);

/* sim_missed_wakeup counts a sleep on `word` that ended by itself although the word had changed. */
void sim_missed_wakeup(struct sim_pe *pe, const void *word);

/* sim_gather waits, without a message and outside of all that is simulated, until every PE is in it; all go on at the
 * same time, and count from there: *now gets what the run has counted so far, and the rounds since the last gathering,
 * which begin at 0 again. */
void sim_gather(struct sim_pe *pe, struct sim_report *now);

#endif
