/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing the arguments that the PEs of a team give to a collective call. Each PE makes a statement, the PEs merge
 * their statements as they meet, and all of them find the same two PEs that differ. A team compares by
 * rmai_compare_in_team, all PEs of the job by runtime/agree. */
#ifndef RMAI_COMPARE_H
#define RMAI_COMPARE_H

#include <stdint.h>

struct rmai_team;
struct rmai_world;

/* The calls that compare their arguments. 0 stands for any call that compares nothing. */
enum rmai_collective {
    RMAI_CALL_OTHER,
    RMAI_CALL_SYNC,
    RMAI_CALL_MALLOC,
    RMAI_CALL_CALLOC,
    RMAI_CALL_ALIGNED_ALLOC,
    RMAI_CALL_REALLOC,
    RMAI_CALL_FREE,
    RMAI_CALL_EXPOSE,
    RMAI_CALL_UNEXPOSE,
    RMAI_CALL_SPLIT_STRIDED,
    RMAI_CALL_SPLIT_2D,
    RMAI_CALL_SPLIT_COLOR,
    RMAI_CALL_BROADCAST,
    RMAI_CALL_FCOLLECT,
    RMAI_CALL_COLLECT,
    RMAI_CALL_ALLTOALL,
    RMAI_CALL_ALLTOALLS,
    RMAI_CALL_ALLTOALLS_TO,   /* the same call's dest_stride, */
    RMAI_CALL_ALLTOALLS_FROM, /* and its source_stride */
    RMAI_CALL_REDUCE,
    RMAI_CALL_INSCAN,
    RMAI_CALL_EXSCAN,
    RMAI_CALL_REDUCE_ROOT,
    RMAI_CALL_GATHER,
    RMAI_CALL_SCATTER
};

/* The statement of one PE. All members except `pe` are compared, in this order; those that a call does not use are 0.
 * The table in compare.c has the names of `number` and `length` for errors. */
struct rmai_statement {
    uint8_t call;     /* enum rmai_collective */
    uint8_t code;     /* RMA_SUCCESS, or the error that this PE has recorded; then the rest is 0 */
    uint8_t op, type; /* of a reduction or a scan: places in struct rmai_words */
    int32_t pe;       /* the PE that states it */
    int32_t number[2];
    uint64_t length;
};

/* rmai_statement makes the statement of a call; the caller sets the other members next. */
static inline struct rmai_statement rmai_statement(enum rmai_collective call, int code, int pe) {
    return (struct rmai_statement){.call = (uint8_t)call, .code = (uint8_t)code, .pe = pe};
}

/* The least and the greatest statement of some PEs. If several PEs have stated the same, `pe` is the first of them. The
 * first member in which the two differ has different values on the two PEs. */
struct rmai_compared {
    struct rmai_statement low, high;
};

/* rmai_compared returns the comparison of one PE alone. rmai_compare_merge merges *other into *mine. Both may contain
 * the same PE: merging is idempotent. */
struct rmai_compared rmai_compared(const struct rmai_statement *s);
void rmai_compare_merge(struct rmai_compared *mine, const struct rmai_compared *other);

/* The words for `op` and `type`. */
struct rmai_words {
    const char *const *op, *const *type;
};

/* rmai_compare_verdict returns the result of the public call `call` when the statements of all PEs are merged: `code`,
 * if this PE has stated an error; or the error that another PE has stated; or RMA_ERR_MISMATCH with the argument, both
 * values and the PE of each; or RMA_SUCCESS. words may be NULL if no call states an operation. It records every error
 * that it returns except `code`. */
int rmai_compare_verdict(const struct rmai_compared *all, const char *call, int code, const struct rmai_words *words);

/* rmai_compare_in_team meets the PEs of a team (collective over it), compares their statements, and returns
 * rmai_compare_verdict's result, or RMA_ERR_MPI. It clears all bits of *bits that some PE has not set; bits may be
 * NULL. */
int rmai_compare_in_team(struct rmai_world *w, const char *call, struct rmai_team *t, const struct rmai_statement *mine,
                         const struct rmai_words *words, uint64_t *bits);

/* What a PE says of a call to the PEs of its node: its statement in two words, without code, PE and number[1]. */
static inline void rmai_statement_say(uint64_t said[2], const struct rmai_statement *s) {
    said[0] = s->call | (uint64_t)s->op << 8 | (uint64_t)s->type << 16 | (uint64_t)(uint32_t)s->number[0] << 32;
    said[1] = s->length;
}
static inline struct rmai_statement rmai_statement_said(const uint64_t said[2], int pe) {
    return (struct rmai_statement){.call = (uint8_t)said[0],
                                   .op = (uint8_t)(said[0] >> 8),
                                   .type = (uint8_t)(said[0] >> 16),
                                   .pe = pe,
                                   .number = {(int32_t)(said[0] >> 32)},
                                   .length = said[1]};
}

/* rmai_statement_mix adds a hash of 8 bits of what a statement has no room for. Values that differ by less than 89 have
 * different hashes (multiples of the golden ratio are far apart). */
static inline void rmai_statement_mix(uint64_t said[2], uint64_t value) {
    said[0] ^= (value * 0x9e3779b97f4a7c15u) >> 56 << 24;
}

/* rmai_compare_differ ends the job: two PEs of a node have said different statements (runtime/node/mailbox.h). No PE
 * can return from the call: others have read what it has posted. */
void rmai_compare_differ(const char *call, const uint64_t *mine, int my_pe, const uint64_t *theirs, int their_pe);

/* rmai_compare_error records RMA_ERR_MISMATCH: the argument `what` of `call` is `low` on one PE and `high` on another.
 */
int rmai_compare_error(const char *call, const char *what, const char *low, int low_pe, const char *high, int high_pe);

#endif
