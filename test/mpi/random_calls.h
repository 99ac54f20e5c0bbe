/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication calls of a step: drawn, computed in the model, issued by their origins, and checked. */
#ifndef TEST_MPI_RANDOM_CALLS_H
#define TEST_MPI_RANDOM_CALLS_H

#include "random_world.h"

enum kind { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, N_KINDS };

/* A buffer of the origin: what it contains, and what it must contain. */
struct buffer {
    char *real;
    uint8_t *image, *noise;
    size_t len;
    ptrdiff_t zero; /* where displacement 0 is */
    int null;       /* 1: MPI gets a null pointer, or MPI_BOTTOM */
};

struct call {
    struct call *next;
    enum kind kind;
    int window, origin, target; /* target: a process of the world, or -1: MPI_PROC_NULL */
    int basic;
    enum op op;
    struct side from, to, result; /* of the origin, of the target, of the result */
    struct side passed;           /* what MPI gets in the place of `from` or, for MPI_Get, of the result's side */
    size_t n;                     /* elements that move: one side may have room for more */
    ptrdiff_t at;                 /* of displacement 0 of `to`, for the model */
    MPI_Aint disp;
    struct buffer origin_buffer, result_buffer, compare_buffer;
    uint32_t number;
    uint16_t age;
    int request_form, count_form, free_early;
    MPI_Request request;
    int issued, pending;
    uint64_t preparation; /* the seed of what is prepared at the target */
};

/* What may be done in a window in this step. */
enum epoch_kind { FENCE, PSCW, LOCK, LOCK_ALL };

struct epoch {
    int window;
    enum epoch_kind kind;
    uint8_t allowed[MOST_PROCESSES][MOST_PROCESSES]; /* [origin][target] */
    uint8_t locked[MOST_PROCESSES][MOST_PROCESSES];
    uint16_t age[MOST_PROCESSES][MOST_PROCESSES]; /* counts completions at the target */
    enum { SHARED_LOCKS, ONE_LOCK, OWN_TARGETS } policy;
    int no_check, many_rounds, use_test;
    int asserts[MOST_PROCESSES][3];      /* of the opening, middle and closing fence; of posts: [0] */
    uint32_t is_written[MOST_PROCESSES]; /* a bit for each round */
    int round;
};

/* What this process does in a step, besides opening and closing epochs. */
enum action {
    ISSUE,
    WAIT,
    WAIT_ALL,
    LOCK_TARGET,
    UNLOCK_TARGET,
    FLUSH,
    FLUSH_ALL,
    FLUSH_LOCAL,
    FLUSH_LOCAL_ALL,
    SYNC,
    NEXT_ROUND
};
struct item {
    struct item *next;
    enum action action;
    int window, target, type, assert; /* target: a rank */
    struct call *call;
};

/* add_item: for process p. */
struct item *add_item(struct world *w, int p, enum action action, int window, int target);

/* unlock_for ends what lock a process has on a target. */
void unlock_for(struct world *w, struct epoch *e, int p, int t);

/* draw_call draws a call of an epoch, with those on the twin window if there is one. */
void draw_call(struct world *w, struct epoch *e, struct epoch *twin);

void issue_call(struct world *w, struct call *c);
/* complete_calls: the calls of this process on a window and target (-1: all) are complete here: compares their buffers,
 * and changes them. */
void complete_calls(struct world *w, int window, int target);
void wait_call(struct world *w, struct call *c);
/* check_call compares the buffers with the model. */
void check_call(struct world *w, struct call *c);
/* calls_on: the calls of this step that access a byte of a process's memory, in words. */
const char *calls_on(struct world *w, int segment, int process, size_t at);
const char *call_words(struct world *w, const struct call *c);

#endif
