/* SPDX-License-Identifier: BSD-3-Clause */
/* The near part of a team: its PEs of this node, and the mailboxes by which they hand things to each other.
 *
 * A collective is a few turns. All near PEs count them alike, whether or not they have anything to say in one. Each has
 * a mailbox, on which only it writes: a ring of slots, one for each of the last turns. What a PE has to tell in a turn
 * it puts into that turn's slot, and posts it: a few words beside the flag that says so, in its line; up to RMAI_STAGE
 * bytes in a place of the slot's own; or where in its space the data are. Others look at the slot when they need it. A
 * PE says when it is through with a turn, which is when it looks at nobody's slot of that turn any more. Nobody posts
 * in a slot before all are through with the turn that had it before: mostly that is known without looking, because they
 * have been heard in a later turn; if not, it is looked up, now and then.
 *
 * What a PE wrote before it posted is seen by who has heard it, what it wrote before it was through, by who waits for
 * that: each is a store that releases and loads that acquire. */
#ifndef RMAI_MAILBOX_H
#define RMAI_MAILBOX_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/choice.h"
#include "base/wait.h"

struct rmai_world;
struct rmai_team;

#define RMAI_SLOTS  64                /* a PE may be so many turns ahead of another, */
#define RMAI_STAGES 8                 /* or so many, if it has staged something in the first of them */
#define RMAI_STAGE  ((size_t)4 << 10) /* bytes of a stage */
#define RMAI_NOTE   112               /* bytes beside the flag; 48 of them in its line */

struct rmai_slot {
    _Alignas(RMAI_APART) struct rmai_event posted; /* the newest turn that was */
    uint64_t word;                                 /* what a collective tells of its data */
    _Alignas(16) unsigned char note[RMAI_NOTE];
};

/* What peers do not read in each turn stands apart, out of the reach of what their processors fetch ahead. */
struct rmai_mailbox {
    struct rmai_slot slot[RMAI_SLOTS];
    _Alignas(4096) struct rmai_event through;       /* the newest turn that the PE is through with */
    _Alignas(RMAI_APART) struct rmai_event gate;    /* the newest turn that all, above in the tree, have reached */
    _Alignas(RMAI_APART) _Atomic uint32_t sleepers; /* PEs that may sleep on any of these events */
    _Atomic uint32_t wanted;                        /* the turn with which they want this PE to be through */
    _Alignas(RMAI_APART) _Atomic uint32_t arrived;  /* of the first near PE: how many have, this turn */
    _Alignas(4096) unsigned char stage[RMAI_STAGES][RMAI_STAGE];
};

struct rmai_mailboxes {
    int n, me;                     /* PEs, and this one's number among them */
    int *index;                    /* their numbers in the team, ascending */
    struct rmai_mailbox **mailbox; /* of each */
    struct rmai_mailbox *mine;
    size_t at;      /* where the mailboxes are in the PEs' spaces */
    uint32_t turn;  /* the present one, or the last */
    uint32_t known; /* all are through with this one, as far as this PE knows; <= turn */
    enum rmai_shape shape;
    enum { RMAI_FLAT, RMAI_TREE, RMAI_COUNTER } meeting;
    const struct rmai_patience *patience;
    const char *call; /* the public call that the present turn is of */
};

/* Where the mailbox of team number `number` is in each PE's space. It has to have memory, and to be zero
 * (rmai_mailbox_clear), before the near PEs meet, some other way, and begin their first turn. */
size_t rmai_mailbox_at(int number);
void rmai_mailbox_clear(struct rmai_mailbox *mine);

/* rmai_mailbox_open finds the near PEs of t, whose number is `number`. Returns RMA_SUCCESS or records RMA_ERR_NO_MEM.
 * rmai_mailbox_close: nothing is under way. */
int rmai_mailbox_open(struct rmai_world *w, const char *call, struct rmai_team *t, int number);
void rmai_mailbox_close(struct rmai_mailboxes *near);

/* rmai_mailbox_number: the near number of PE i of the team, or -1. */
int rmai_mailbox_number(const struct rmai_mailboxes *near, int i);

/* ---- a turn ---- */

/* rmai_mailbox_begin: the next turn. If this PE posts in it, a note and `len` bytes in all, its slot may now be
 * written, and its stage if they do not fit the note. */
void rmai_mailbox_begin(struct rmai_mailboxes *near, int posts, size_t len);

/* The note and the stage of near PE i's slot of this turn: the own may be written from begin to post, others' read from
 * hear to through. */
static inline struct rmai_slot *rmai_mailbox_slot(const struct rmai_mailboxes *near, int i) {
    return &near->mailbox[i]->slot[near->turn % RMAI_SLOTS];
}
static inline void *rmai_mailbox_note(const struct rmai_mailboxes *near, int i) {
    return rmai_mailbox_slot(near, i)->note;
}
static inline void *rmai_mailbox_stage(const struct rmai_mailboxes *near, int i) {
    return near->mailbox[i]->stage[near->turn % RMAI_STAGES];
}

/* rmai_mailbox_post: this PE's slot is as it shall be. rmai_mailbox_hear waits until near PE i has posted. */
void rmai_mailbox_post(struct rmai_mailboxes *near);
void rmai_mailbox_hear(struct rmai_mailboxes *near, int i);

/* rmai_mailbox_foresee: the next turn is likely to stage len bytes, too: the processor fetches the lines ahead, for
 * this PE alone. */
static inline void rmai_mailbox_foresee(const struct rmai_mailboxes *near, size_t len) {
    char *next = (char *)near->mine->stage[(near->turn + 1) % RMAI_STAGES];
    if (len <= RMAI_NOTE) return;
    for (size_t i = 0; i < len && i < RMAI_STAGE; i += 64) {
#if defined __x86_64__
        __asm__ volatile("prefetchw %0" : : "m"(next[i])); /* what the builtin becomes is a load's, without -mprfchw */
#else
        __builtin_prefetch(&next[i], 1, 3);
#endif
    }
}

/* rmai_mailbox_meet posts, and waits until all have: all slots of the turn can be read. All near PEs call it in this
 * turn.
 */
void rmai_mailbox_meet(struct rmai_mailboxes *near);

/* rmai_mailbox_through ends the turn: this PE looks at no slot of it, and at no buffer that was posted in it, any more.
 */
void rmai_mailbox_through(struct rmai_mailboxes *near);

/* rmai_mailbox_await waits until all are through with the present turn, which this PE is. rmai_mailbox_leave: this PE
 * is, and all are; all call it. */
void rmai_mailbox_await(struct rmai_mailboxes *near);
void rmai_mailbox_leave(struct rmai_mailboxes *near);

/* rmai_mailbox_sync: a turn in which all meet. */
void rmai_mailbox_sync(struct rmai_mailboxes *near);

/* ---- buffers of a posted place ---- */

/* rmai_mailbox_offset: where in this PE's space [addr, addr + len) is, for peers, or 0: it is in no memory that they
 * reach. Returns RMA_SUCCESS, or records RMA_ERR_ADDRESS: it begins in a heap, and passes the end of what that has. */
int rmai_mailbox_offset(struct rmai_world *w, const char *call, const char *argument, const void *addr, size_t len,
                        uint64_t *offset);

/* rmai_mailbox_address: such a place of near PE i, here. */
static inline char *rmai_mailbox_address(const struct rmai_mailboxes *near, int i, uint64_t offset) {
    return (char *)near->mailbox[i] - near->at + offset;
}

#endif
