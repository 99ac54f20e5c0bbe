/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog: one thread that notices long waits inside MPI. A call of MPI that waits does not tell for which PEs it
 * waits, and MPICH lets no other thread of the process into MPI meanwhile. A PE that is stopped, or whose host is lost,
 * would hang all others there without a message. There are three kinds of such waits:
 *
 *   sections   initializing and finalizing MPI, splitting communicators, making windows: between rmai_watchdog_begin
 *              and rmai_watchdog_end, one at a time
 *   flushes    of MPI's windows, by any thread, which notes each in memory (runtime/net/flush)
 *   notes      calls of MPI that the program makes, and that a library above this one notes (struct rma_note_)
 *
 * The thread never waits inside MPI. It runs while there is a section, a window or notes. After RMA_STALL seconds it
 * reports which call does not return, and which PEs of this host are stopped. RMA_TIMEOUT seconds later it ends the
 * process, and so the job. If a PE of this host has died (runtime/watch/siblings) the thread ends the job within
 * seconds. An error of MPI on one PE can leave the others in a call of MPI for ever: so a PE whose own error the others
 * do not know yet (base/mpi) reports that error. */
#ifndef RMAI_WATCHDOG_H
#define RMAI_WATCHDOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct rma_note_;
struct rmai_net;
struct rmai_watch;

/* Where the other PEs are when a PE enters a section. */
enum rmai_peers {
    RMAI_PEERS_LATE,  /* they may come late, or work for long in it: the job ends only for a known reason */
    RMAI_PEERS_MET,   /* all have met before it */
    RMAI_PEERS_LEAVE, /* all have met before it, and end after it: a PE that is gone may have ended in order */
    RMAI_PEERS_FREE   /* they compute for as long as the program likes: only a known reason is reported */
};

/* A section: the public call; the call of MPI, or the step of the public call. */
struct rmai_section {
    const char *call, *what; /* call: NULL, no section lasts */
    enum rmai_peers peers;
    unsigned number; /* sections are numbered from 1 */
};

struct rmai_watchdog {
    struct rmai_watch *watch; /* by it other PEs learn in which call this PE waits */
    long stall, timeout;      /* seconds: the settings; both 0: nothing is watched */
    int users;                /* a section, the windows, the notes: the thread runs while there are any */
    int running;              /* the thread exists; if it could not be started nothing is watched, which is no error */
    _Atomic uint32_t ending;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    struct rmai_section section;
    struct rmai_net *net;          /* the net whose flushes are watched, or NULL */
    const struct rma_note_ *notes; /* n_notes of them, or NULL */
    int n_notes;
    int published; /* a flush or a noted call has been published to other PEs */
};

/* rmai_watchdog_open reads from the environment which PE this is and what the settings are (an error in them is left to
 * others). Nothing else runs yet: rma_init calls it first. */
void rmai_watchdog_open(struct rmai_watchdog *w, struct rmai_watch *watch);

/* rmai_watchdog_begin begins a section. rmai_watchdog_step begins its next step, and restarts its time.
 * rmai_watchdog_end ends it. */
void rmai_watchdog_begin(struct rmai_watchdog *w, const char *call, const char *what, enum rmai_peers peers);
void rmai_watchdog_step(struct rmai_watchdog *w, const char *what, enum rmai_peers peers);
void rmai_watchdog_end(struct rmai_watchdog *w);

/* rmai_watchdog_flushes starts watching the flushes of the net's windows, if it has any. With NULL it stops that: then
 * the thread no longer uses the net or the PE's shared memory. */
void rmai_watchdog_flushes(struct rmai_watchdog *w, struct rmai_net *net);

/* rmai_watchdog_notes starts watching these notes, and with n 0 stops that. Call it while the library runs. */
void rmai_watchdog_notes(struct rmai_watchdog *w, const struct rma_note_ *notes, int n);

#endif
