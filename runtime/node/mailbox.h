/* SPDX-License-Identifier: BSD-3-Clause */
/* Mailboxes: how the PEs of a team that share a node exchange data in collectives. The code calls these PEs the near
 * part of the team, or the near PEs.
 *
 * A collective consists of a few epochs. All near PEs count the same epochs, including those in which a PE publishes
 * nothing. Each PE has a mailbox, which only that PE writes: a ring of slots, one for each of the last epochs. To
 * publish data in an epoch, a PE writes them into that epoch's slot, and then posts the slot. The data are a few words
 * in the line of the slot's flag; or up to RMAI_BOUNCE_BYTES bytes in a bounce buffer, which belongs to the slot; or
 * the place of a buffer in the PE's space. Other PEs read the slot when they need it. A PE that will read no more slots
 * of an epoch is through with the epoch, and publishes that.
 *
 * No PE writes a slot before all near PEs are through with the epoch that used the slot before: otherwise it would
 * overwrite what a slow PE still reads. Mostly a PE knows that without reading anything, because it has heard from all
 * others in a later epoch. If it does not know, it reads their `through` words, now and then.
 *
 * Each post carries two words that say the posting PE's call and its arguments. A PE that hears other words than its
 * own is in another call, or has other arguments: what it would read is not what it expects.
 *
 * A PE that has heard a post sees what the posting PE wrote before it. A PE that has waited until another is through
 * sees what the other did before. Both are release stores that pair with acquire loads. */
#ifndef RMAI_MAILBOX_H
#define RMAI_MAILBOX_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/choice.h"
#include "base/wait.h"
#include "runtime/job/job.h"

struct rmai_team;

#define RMAI_SLOTS          64                /* how many epochs a PE may be ahead of another, */
#define RMAI_BOUNCE_BUFFERS 8                 /* and if it used a bounce buffer in the first of these epochs */
#define RMAI_BOUNCE_BYTES   ((size_t)4 << 10) /* of each bounce buffer */
#define RMAI_NOTE           96                /* bytes beside the flag; 32 of them are in the flag's line */

struct rmai_slot {
    _Alignas(RMAI_APART) struct rmai_event posted; /* the newest epoch that was posted in this slot */
    uint64_t word;                                 /* what a collective publishes of its data: an offset or a length */
    uint64_t said[2];                              /* what the owner says of its call */
    unsigned char note[RMAI_NOTE];
};

/* Fields that other PEs do not read in every epoch are apart from the slots, outside of the lines that their processors
 * prefetch. */
struct rmai_mailbox {
    struct rmai_slot slot[RMAI_SLOTS];
    _Alignas(4096) struct rmai_event through; /* the newest epoch that the owner is through with */
    /* The newest epoch that all have reached; the PE above in the tree writes it. */
    _Alignas(RMAI_APART) struct rmai_event gate;
    _Alignas(RMAI_APART) _Atomic uint32_t sleepers; /* PEs that may sleep on any of these events */
    _Atomic uint32_t wake_epoch;                    /* a sleeping PE waits until the owner is through with this epoch */
    /* In the first near PE's mailbox: how many PEs have arrived in this epoch. */
    _Alignas(RMAI_APART) _Atomic uint32_t arrived;
    /* In the first near PE's mailbox: RMA_SUCCESS, or the error after which that PE can work with the team's PEs of
     * other nodes no more. */
    _Alignas(RMAI_APART) _Atomic int failed;
    _Alignas(4096) unsigned char bounce[RMAI_BOUNCE_BUFFERS][RMAI_BOUNCE_BYTES];
};

struct rmai_mailboxes {
    int n, me;                     /* near PEs, and this PE's number among them */
    int *index;                    /* their numbers in the team, ascending */
    struct rmai_mailbox **mailbox; /* of each near PE */
    struct rmai_mailbox *mine;
    size_t at;      /* where the mailboxes are in the PEs' spaces */
    uint32_t epoch; /* the present epoch, or the last one */
    uint32_t known; /* the newest epoch with which this PE knows all near PEs to be through; <= epoch */
    enum rmai_shape shape;
    enum { RMAI_FLAT, RMAI_TREE, RMAI_COUNTER } meeting;
    const struct rmai_patience *patience;
    const struct rmai_team *team; /* for reports that an epoch takes long */
    const char *call;             /* the public call that the present epoch belongs to, */
    uint64_t said[2];             /* and what this PE says of it (rmai_statement_say) */
    /* Near PE i, PE `their_pe`, has said something else. NULL: it does not matter. */
    void (*differ)(const char *call, const uint64_t *mine, int my_pe, const uint64_t *theirs, int their_pe);
};

/* rmai_mailbox_at returns the offset of team number `number`'s mailbox in each PE's space. Before the first epoch each
 * near PE's mailbox must have memory and be zero (rmai_mailbox_clear), and then the near PEs must have met in some
 * other way. */
size_t rmai_mailbox_at(int number);
void rmai_mailbox_clear(struct rmai_mailbox *mine);

/* rmai_mailbox_open finds the near PEs of team number `number`: index_of[q] is the number in the team of the node's PE
 * q, or -1. crowded: PEs share processors. Returns RMA_SUCCESS or records RMA_ERR_NO_MEM for `call`. rmai_mailbox_close
 * is called when no epoch is under way. */
int rmai_mailbox_open(struct rmai_mailboxes *near, const struct rmai_job *job, const struct rmai_patience *patience,
                      const char *call, int number, const int *index_of, int crowded);
void rmai_mailbox_close(struct rmai_mailboxes *near);

/* rmai_mailbox_number returns the number of the team's PE i among the near PEs, or -1. */
int rmai_mailbox_number(const struct rmai_mailboxes *near, int i);

/* ---- an epoch ---- */

/* rmai_mailbox_begin begins the next epoch. `posts`: this PE posts in it, `len` bytes in all. If so, it may write its
 * slot after this call, and the slot's bounce buffer if len bytes do not fit into the note. */
void rmai_mailbox_begin(struct rmai_mailboxes *near, int posts, size_t len);

/* The slot of near PE i in this epoch, the slot's note, and its bounce buffer. A PE may write its own from
 * rmai_mailbox_begin to rmai_mailbox_post, and may read others' from rmai_mailbox_hear to rmai_mailbox_through. */
static inline struct rmai_slot *rmai_mailbox_slot(const struct rmai_mailboxes *near, int i) {
    return &near->mailbox[i]->slot[near->epoch % RMAI_SLOTS];
}
static inline void *rmai_mailbox_note(const struct rmai_mailboxes *near, int i) {
    return rmai_mailbox_slot(near, i)->note;
}
static inline void *rmai_mailbox_bounce(const struct rmai_mailboxes *near, int i) {
    return near->mailbox[i]->bounce[near->epoch % RMAI_BOUNCE_BUFFERS];
}

/* rmai_mailbox_post publishes this PE's slot, which is complete. rmai_mailbox_hear waits until near PE i has posted. */
void rmai_mailbox_post(struct rmai_mailboxes *near);
void rmai_mailbox_hear(struct rmai_mailboxes *near, int i);

/* rmai_mailbox_prefetch_bounce: the next epoch is likely to publish len bytes as well. The processor prefetches the
 * lines of its bounce buffer, for writing. */
static inline void rmai_mailbox_prefetch_bounce(const struct rmai_mailboxes *near, size_t len) {
    char *next = (char *)near->mine->bounce[(near->epoch + 1) % RMAI_BOUNCE_BUFFERS];
    if (len <= RMAI_NOTE) return;
    for (size_t i = 0; i < len && i < RMAI_BOUNCE_BYTES; i += 64) {
#if defined __x86_64__
        /* Without -mprfchw the builtin would prefetch for reading. */
        __asm__ volatile("prefetchw %0" : : "m"(next[i]));
#else
        __builtin_prefetch(&next[i], 1, 3);
#endif
    }
}

/* rmai_mailbox_prefetch_post: near PE i, which this PE has just heard, may have posted in the next epoch already. The
 * processor prefetches the line of that post's flag, while this PE copies what it has heard. It is for broadcasts:
 * their root hears nobody, and may be ahead. A PE that has yet to write that post, as in a meeting, would lose the
 * line, and some nanoseconds to get it back. */
static inline void rmai_mailbox_prefetch_post(const struct rmai_mailboxes *near, int i) {
    __builtin_prefetch(&near->mailbox[i]->slot[(near->epoch + 1) % RMAI_SLOTS]);
}

/* rmai_mailbox_meet posts, and waits until all near PEs have posted; after it all slots of the epoch can be read. All
 * near PEs call it in this epoch. */
void rmai_mailbox_meet(struct rmai_mailboxes *near);

/* rmai_mailbox_through ends the epoch: this PE reads no slot of the epoch any more, and no buffer whose place was
 * posted in it. */
void rmai_mailbox_through(struct rmai_mailboxes *near);

/* rmai_mailbox_await waits until all near PEs are through with the present epoch; this PE must be through.
 * rmai_mailbox_leave: this PE is through, and waits until all near PEs are; all near PEs call it. */
void rmai_mailbox_await(struct rmai_mailboxes *near);
void rmai_mailbox_leave(struct rmai_mailboxes *near);

/* rmai_mailbox_sync is a whole epoch without data, in which all near PEs meet. */
void rmai_mailbox_sync(struct rmai_mailboxes *near);

/* ---- buffers of a posted place ---- */

/* rmai_mailbox_address returns the address in this process of an offset in near PE i's space. */
static inline char *rmai_mailbox_address(const struct rmai_mailboxes *near, int i, uint64_t offset) {
    return (char *)near->mailbox[i] - near->at + offset;
}

#endif
