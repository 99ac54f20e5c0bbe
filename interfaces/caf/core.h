/* SPDX-License-Identifier: BSD-3-Clause */
/* What all modules of coarrays share: the images, the current team, and the words that other images write.
 *
 * interfaces/caf/ has two layers. The core (all files but gfortran*) knows images, teams, coarrays and transfers, and
 * no compiler. The files gfortran* know the compiler's names and descriptors, and call the core. A second compiler's
 * interface would be a second set of such files. */
#ifndef RMAI_CAF_CORE_H
#define RMAI_CAF_CORE_H

#include "base/attributes.h"
#include "rma.h"
#include "runtime/interfaces.h"

#include <stddef.h>
#include <stdint.h>

/* The standard's status values, as gfortran numbers them (ISO_FORTRAN_ENV). */
enum rmai_caf_stat {
    RMAI_CAF_OK = 0,
    RMAI_CAF_STAT_LOCKED = 1,
    RMAI_CAF_STAT_NOT_LOCKED = 0, /* STAT_UNLOCKED, which is 0 in gfortran */
    RMAI_CAF_STAT_LOCKED_OTHER = 2,
    RMAI_CAF_STAT_TWICE = 3, /* SYNC IMAGES with an image that is named twice: the value of OpenCoarrays */
    RMAI_CAF_STAT_NO_MEM = 5014,
    RMAI_CAF_STAT_ARGUMENT = 5015, /* a mistake for which the standard names no value */
    RMAI_CAF_STAT_STOPPED = 6000,
    RMAI_CAF_STAT_FAILED = 6001,
    RMAI_CAF_STAT_UNLOCKED_FAILED = 6002 /* for which gfortran has no name yet */
};

#define RMAI_CAF_TEAMS      64   /* teams that an image can be a member of at a time: bits of one word */
#define RMAI_CAF_ROUNDS     24   /* of a dissemination barrier: 2^24 images, as many PEs as a global pointer can name */
#define RMAI_CAF_LOCK_NODES 1024 /* locks that one image can hold or wait for at a time */

/* The bit that an image sets, when it leaves, in each word on which other images may wait for it. The word is then
 * larger than any count, so these waits end. */
#define RMAI_CAF_LEFT ((uint64_t)1 << 62)

#define RMAI_CAF_BOX       48 /* bytes of data that images exchange together with their arrival */
#define RMAI_CAF_EXCHANGES 8  /* rounds of such an exchange: 256 images */

/* What travels in such an exchange. */
struct rmai_caf_parcel {
    uint64_t says; /* which statement this is of (sync.h) */
    char data[RMAI_CAF_BOX] __attribute__((aligned(16)));
} __attribute__((aligned(64)));

/* The words of a team, on each of its images. */
struct rmai_caf_team_words {
    uint64_t epoch;                         /* how many barriers and exchanges this image has entered */
    uint64_t arrived[RMAI_CAF_ROUNDS];      /* how often the partner of each round has arrived at a barrier, */
    uint64_t exchanged[RMAI_CAF_EXCHANGES]; /* and at an exchange; plus RMAI_CAF_LEFT if the partner has left */
    /* What the partner of each round has sent. An image sends for the exchange after the next one only when this image
     * has finished the next one, so two sets of boxes are enough. Where images share processors, the first box of a set
     * is what this image shows to the others (rmai_caf_show). */
    struct rmai_caf_parcel box[2][RMAI_CAF_EXCHANGES];
    uint64_t said[2]; /* what the first partner says at a barrier, and at the next one; 0: nothing */
} __attribute__((aligned(128)));

/* An image in the queue of a lock (lock.c). */
struct rmai_caf_lock_node {
    uint64_t next; /* the next image in the queue, in the format of the lock's tail; 0: none yet */
    uint64_t
        granted; /* 0: wait. Else the image has the lock: the previous holder, from 1, and a bit if it has failed */
};

/* What an image shows to the others: a symmetric object. */
struct rmai_caf_image {
    uint64_t gone;        /* how many images have stopped or failed and told this image */
    uint64_t last_epoch;  /* of the initial team: its barrier that images entered when they left; 0: none has left */
    uint64_t status;      /* of this image: 0, RMAI_CAF_STAT_STOPPED or RMAI_CAF_STAT_FAILED */
    uint64_t self;        /* where this struct is in its own process: peers translate addresses by it (coarray.c), */
    uint64_t space;       /* and how many bytes from the beginning of its space on are librma's */
    uint64_t random_seed; /* made of the time of start; RANDOM_INIT uses that of image 1 */
    struct rmai_caf_team_words last; /* of the barrier at the end of the program */
    struct rmai_caf_team_words teams[RMAI_CAF_TEAMS];
    struct rmai_caf_lock_node lock_nodes[RMAI_CAF_LOCK_NODES];
};

struct rmai_caf_team;

/* Of each variable that the core changes, but for those of component and serve: test/sim has many images in one
 * process, and exchanges these sections when another image's turn begins. RMAI_CAF_TABLE is for a long array of zeros
 * that is used from the front on. */
#define RMAI_CAF_STATE __attribute__((section("rmai_caf_state")))
#define RMAI_CAF_TABLE __attribute__((section("rmai_caf_tables")))

/* This image's state. me, n and the indices of pair and expected are numbers of PEs: image 1 is PE 0. */
struct rmai_caf {
    struct rmai_caf_image *self; /* symmetric; NULL before rmai_caf_start */
    rma_gptr_t first;            /* the global pointer of *self on PE 0 */
    uint64_t *pair;              /* symmetric, n words: how often image i has synchronized with this one */
    uint64_t *expected;          /* n words: how often this image has waited for image i */
    struct rmai_caf_team *team;  /* the current team */
    struct rmai_caf_team *initial;
    int updated; /* atomics are under way to the image on PE updated - 1: to none if it is 0, and if
                    it is RMAI_CAF_MANY to several */
    int me, n;
    int crowded; /* 1: all images are on one node, and share processors */
    int early;   /* 1: main may not have begun yet: constructors register coarrays */
};
extern struct rmai_caf rmai_caf;

/* rmai_caf_must begins error termination if a call of librma has run out of memory, which its error handler does not
 * see: most statements cannot report it otherwise, and would go on with wrong data. */
void rmai_caf_lost(void) __attribute__((noreturn));
static inline void rmai_caf_must(int code) {
    if (__builtin_expect(code != RMA_SUCCESS, 0)) rmai_caf_lost();
}

/* ---- image.c ---- */

/* rmai_caf_start starts librma, unless it runs. The first registration of a coarray calls it, which may be before
 * main. */
void rmai_caf_start(void);

/* rmai_caf_in_main is called by statements that a program executes after main has begun, if rmai_caf.early is set. */
void rmai_caf_in_main(void);

/* rmai_caf_leave tells the other images that this one has stopped or failed. */
void rmai_caf_leave(enum rmai_caf_stat status);

/* rmai_caf_finish is the normal termination of this image: it waits for all images and ends librma. */
void rmai_caf_finish(void);

/* rmai_caf_fail is FAIL IMAGE: the image no longer takes part, but its memory can be read until all others have
 * finished. */
void rmai_caf_fail(void) __attribute__((noreturn));

/* rmai_caf_signals is called before a signal of an image control statement to the image on `pe`: an image that has seen
 * the signal sees all atomics before it, to whomever. (A signal of librma also releases the puts.) rmai_caf_signalled
 * is called after the last of some signals, so that they leave now. */
#define RMAI_CAF_MANY (-1)
static inline void rmai_caf_signals(int pe) {
    if (__builtin_expect(rmai_caf.updated == 0 || rmai_caf.updated == 1 + pe, 1)) return;
    rmai_caf_must(rma_quiet());
    rmai_caf.updated = 0;
}
static inline void rmai_caf_signalled(void) {
    if (!rma_reach_.one_node) rma_send_gathered_();
}

/* rmai_caf_drive_progress is called in statements that a program executes in a loop until another image has done
 * something, after looking at a word of this node. It serves the images of other nodes, since there may be no progress
 * thread. */
static inline void rmai_caf_drive_progress(void) {
    if (!rma_reach_.one_node) rma_progress();
}

/* rmai_caf_status returns the status of the image on `pe`. */
enum rmai_caf_stat rmai_caf_status(int pe);

/* rmai_caf_wait waits until *word, which other images write, is at least `value`, and returns the word (acquire).
 * statement names the wait in reports of waits that take long. */
uint64_t rmai_caf_wait(const char *statement, uint64_t *word, uint64_t value);

/* ---- error.c ---- */

/* The variables of a statement's STAT= and ERRMSG=. Either pointer is NULL if the statement has no such variable. */
struct rmai_caf_result {
    int *stat;
    char *errmsg;
    size_t errmsg_len;
};

/* rmai_caf_report ends a statement that has failed. If the statement has STAT=, it writes the value and the message;
 * otherwise it prints the message to stderr and begins error termination. rmai_caf_done ends a statement that has
 * succeeded. */
void rmai_caf_report(struct rmai_caf_result r, enum rmai_caf_stat stat, const char *format, ...) RMAI_PRINTF(3, 4);
static inline void rmai_caf_done(struct rmai_caf_result r) {
    if (r.stat) *r.stat = RMAI_CAF_OK;
}
#define RMAI_CAF_NO_RESULT ((struct rmai_caf_result){0})

/* rmai_caf_error_stop ends the job with this exit code. */
void rmai_caf_error_stop(int code) __attribute__((noreturn));

/* rmai_caf_memory is malloc, and ends the job if there is no memory; rmai_caf_array does so for n times size bytes. */
void *rmai_caf_memory(const char *statement, size_t size);
static inline void *rmai_caf_array(const char *statement, size_t n, size_t size) {
    size_t bytes;
    return rmai_caf_memory(statement, __builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
}

#endif
