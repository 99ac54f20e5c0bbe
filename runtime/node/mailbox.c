/* SPDX-License-Identifier: BSD-3-Clause */
/* Three ways to meet:
 *   flat     each PE posts in its own line and polls all others' lines: one hand-over deep, n lines for each PE
 *   tree     a PE posts when those below it have posted; then the gates open from the top down: 2 log8 n deep, 8 lines
 *            for each PE
 *   counter  PEs share processors: the last PE to arrive opens one gate. Each other PE gives up its processor once, and
 * is woken once */
#include "config.h"

#include "runtime/node/mailbox.h"
#include "base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BRANCHES 8

_Static_assert(sizeof(struct rmai_mailbox) == (3 + RMAI_BOUNCE_BUFFERS) * 4096,
               "a mailbox is slots, a page of flags, and bounce buffers");
_Static_assert(sizeof(struct rmai_slot) == 128, "a slot is a line, and the one that is fetched with it");

size_t rmai_mailbox_at(int number) { return RMAI_MAILBOXES_AT + (size_t)number * sizeof(struct rmai_mailbox); }

/* ---- opening ---- */

/* Returns the number of near PEs. */
static int find_near_pes(const struct rmai_job *job, struct rmai_mailboxes *near, const int *index_of) {
    int n = 0;
    for (int q = 0; q < job->node_n_pes; q++) {
        int k;
        if (index_of[q] < 0) continue;
        /* Insertion sort: the node's PEs are in descending order if the team descends. */
        for (k = n++; k > 0 && near->index[k - 1] > index_of[q]; k--) {
            near->index[k] = near->index[k - 1];
            near->mailbox[k] = near->mailbox[k - 1];
        }
        near->index[k] = index_of[q];
        near->mailbox[k] = (struct rmai_mailbox *)(void *)(rmai_job_space(job, q) + near->at);
    }
    return n;
}

static size_t count_near_pes(const struct rmai_job *job, const int *index_of) {
    size_t n = 0;
    for (int q = 0; q < job->node_n_pes; q++) n += index_of[q] >= 0;
    return n;
}

int rmai_mailbox_open(struct rmai_mailboxes *near, const struct rmai_job *job, const struct rmai_patience *patience,
                      const char *call, int number, const int *index_of, int crowded) {
    const struct rmai_choice *choice = &job->settings.collectives;
    const size_t n = count_near_pes(job, index_of);
    *near = (struct rmai_mailboxes){.patience = patience, .at = rmai_mailbox_at(number)};
    near->mailbox = malloc(n * (sizeof *near->mailbox + sizeof *near->index));
    if (!near->mailbox)
        return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for the %zu PEs of a team on this node", call, n);
    near->index = (int *)(void *)(near->mailbox + n);
    near->n = find_near_pes(job, near, index_of);
    near->me = rmai_mailbox_number(near, index_of[job->node_my_pe]);
    assert(near->n == (int)n && near->me >= 0 && "this PE is one of the team's");
    near->mine = near->mailbox[near->me];
    near->shape = crowded ? RMAI_CROWDED : n <= 2 ? RMAI_PAIR : RMAI_ROOMY;
    near->meeting = rmai_takes(choice, RMAI_MEET_COUNTER, near->shape, n) ? RMAI_COUNTER
                    : rmai_takes(choice, RMAI_MEET_TREE, near->shape, n)  ? RMAI_TREE
                                                                          : RMAI_FLAT;
    return RMA_SUCCESS;
}

void rmai_mailbox_clear(struct rmai_mailbox *mine) {
    for (int i = 0; i < RMAI_SLOTS; i++) atomic_store_explicit(&mine->slot[i].posted.value, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->through.value, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->gate.value, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->sleepers, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->wake_epoch, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->failed, RMA_SUCCESS, memory_order_relaxed);
}

void rmai_mailbox_close(struct rmai_mailboxes *near) {
    free(near->mailbox);
    *near = (struct rmai_mailboxes){0};
}

int rmai_mailbox_number(const struct rmai_mailboxes *near, int i) { return rmai_find(near->index, near->n, i); }

/* ---- epochs ---- */

static inline uint32_t poll_event(const struct rmai_mailboxes *near, struct rmai_event *e, uint32_t epoch) {
    return rmai_poll_event(e, epoch, near->shape == RMAI_CROWDED ? 0 : RMAI_EVENT_POLLS);
}

/* Its number in the job. */
static int pe_of(const struct rmai_mailboxes *near, int i) {
    return ((const struct rmai_facts *)(const void *)((const char *)near->mailbox[i] - near->at))->pe;
}

/* Describes a wait for near PE i, or for any of the near PEs if i is ANY_NEAR. */
#define ANY_NEAR (-1)
static struct rmai_stall describe_stall(const struct rmai_mailboxes *near, int i) {
    if (!near->patience->late) return (struct rmai_stall){0};
    return (struct rmai_stall){.call = near->call,
                               .awaited = i == ANY_NEAR ? RMAI_AWAITED_TEAM : RMAI_AWAITED_PE,
                               .by_call = 1,
                               .pe = pe_of(near, i == ANY_NEAR ? 0 : i),
                               .team = near->team,
                               .meeting = near->team};
}

/* Waits for an event in near PE i's mailbox, which PE `from` (or ANY_NEAR) will post. A PE that may sleep announces
 * that in the mailbox's `sleepers`. That word is on a line apart from the events, and only PEs that may sleep write it:
 * so PE `from` reads it at no cost. A flag in the event's own line would cost a transfer: the waiting PE has that line,
 * and it would have to come back. */
static RMAI_COLD void wait_for_epoch_slowly(const struct rmai_mailboxes *near, int i, struct rmai_event *e,
                                            uint32_t epoch, uint32_t value, int from) {
    _Atomic uint32_t *sleepers = &near->mailbox[i]->sleepers;
    struct rmai_stall stall = describe_stall(near, from);
    assert(i >= 0 && i < near->n && from != near->me && "nobody waits for itself");
    /* Pairs with the load in publish_epoch; rmai_wait has the fence between this and its last load of the event. */
    atomic_fetch_add_explicit(sleepers, 1, memory_order_relaxed);
    while (!rmai_reached(value, epoch)) value = rmai_wait_watched(e, value, near->patience, &stall);
    rmai_wait_over(near->patience, &stall);
    atomic_fetch_sub_explicit(sleepers, 1, memory_order_relaxed);
}

static inline void wait_for_epoch(const struct rmai_mailboxes *near, int i, struct rmai_event *e, uint32_t epoch,
                                  int from) {
    uint32_t value = poll_event(near, e, epoch);
    if (!rmai_reached(value, epoch)) wait_for_epoch_slowly(near, i, e, epoch, value, from);
}

/* Publishes the present epoch in an event of this PE's mailbox, or of the first near PE's. */
static inline void publish_epoch(const struct rmai_mailboxes *near, struct rmai_mailbox *mailbox,
                                 struct rmai_event *e) {
    atomic_store_explicit(&e->value, near->epoch, memory_order_release);
    /* Orders the store before the load of `sleepers`, and pairs with rmai_wait's fence: here PEs go to sleep at once,
     * and none may be missed. */
    if (near->shape == RMAI_CROWDED) atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&mailbox->sleepers, memory_order_relaxed)) rmai_wake(e);
}

/* Waits until near PE i is through with `epoch`. PE i wakes sleepers when it is through with the epoch in `wake_epoch`,
 * not with each epoch before it. Two PEs may wait for different epochs, and the second then overwrites the epoch that
 * the first one has written: so each PE wakes by itself within a millisecond, and reads `through` again. */
static RMAI_COLD void wait_until_through_slowly(const struct rmai_mailboxes *near, int i, uint32_t epoch,
                                                uint32_t value) {
    struct rmai_mailbox *mailbox = near->mailbox[i];
    struct rmai_stall stall = describe_stall(near, i);
    atomic_store_explicit(&mailbox->wake_epoch, epoch, memory_order_relaxed);
    atomic_fetch_add_explicit(&mailbox->sleepers, 1, memory_order_relaxed);
    while (!rmai_reached(value, epoch)) {
        value = rmai_wait_a_while(&mailbox->through, value, near->patience);
        if (!rmai_reached(value, epoch) && near->patience->late) near->patience->late(near->patience->context, &stall);
    }
    rmai_wait_over(near->patience, &stall);
    atomic_fetch_sub_explicit(&mailbox->sleepers, 1, memory_order_relaxed);
}

static void wait_until_through(const struct rmai_mailboxes *near, int i, uint32_t epoch) {
    uint32_t value = poll_event(near, &near->mailbox[i]->through, epoch);
    if (!rmai_reached(value, epoch)) wait_until_through_slowly(near, i, epoch, value);
}

static void wait_until_all_through(struct rmai_mailboxes *near, uint32_t epoch) {
    for (int i = 0; i < near->n; i++)
        if (i != near->me) wait_until_through(near, i, epoch);
    assert(rmai_reached(near->epoch, epoch) && "known <= epoch");
    near->known = epoch;
}

/* Turns are compared within 2^31 of each other. A slot in which this PE has not posted for that long, since other PEs
 * were the roots, would seem to be ahead of the present epoch. So from time to time this PE replaces each old epoch by
 * a newer one that has also passed. Nobody waits for epochs that this PE has passed. */
static void raise_old_epochs(struct rmai_mailboxes *near) {
    const uint32_t old = near->epoch - RMAI_SLOTS - 1;
    struct rmai_event *gate = &near->mine->gate;
    for (int i = 0; i < RMAI_SLOTS; i++) {
        struct rmai_event *posted = &near->mine->slot[i].posted;
        if (!rmai_reached(atomic_load_explicit(&posted->value, memory_order_relaxed), old))
            atomic_store_explicit(&posted->value, old, memory_order_relaxed);
    }
    /* All are through with it: otherwise the PEs that posted in later epochs could not have posted. */
    if (!rmai_reached(near->known, old)) near->known = old;
    if (!rmai_reached(atomic_load_explicit(&gate->value, memory_order_relaxed), old))
        atomic_store_explicit(&gate->value, old, memory_order_relaxed);
}

/* What this PE says of its call, in the slot that it will post. */
static inline void say_call(const struct rmai_mailboxes *near) {
    uint64_t *said = rmai_mailbox_slot(near, near->me)->said;
    said[0] = near->said[0];
    said[1] = near->said[1];
}

/* A PE that has to wait for room waits until there is room for several epochs: otherwise it would have to wait again in
 * the next one. */
void rmai_mailbox_begin(struct rmai_mailboxes *near, int posts, size_t len) {
    const uint32_t ahead = len > RMAI_NOTE ? RMAI_BOUNCE_BUFFERS : RMAI_SLOTS;
    near->epoch++;
    if (RMAI_UNLIKELY((near->epoch & ((1u << 30) - 1)) == 0)) raise_old_epochs(near);
    if (posts && !rmai_reached(near->known, near->epoch - ahead)) wait_until_all_through(near, near->epoch - ahead / 4);
    if (posts) say_call(near);
}

static RMAI_COLD void tell_difference(const struct rmai_mailboxes *near, int i) {
    if (near->differ)
        near->differ(near->call, near->said, pe_of(near, near->me), rmai_mailbox_slot(near, i)->said, pe_of(near, i));
}

/* After near PE i's post was heard. */
static inline void compare_call(const struct rmai_mailboxes *near, int i) {
    const uint64_t *said = rmai_mailbox_slot(near, i)->said;
    if (RMAI_UNLIKELY((said[0] ^ near->said[0]) | (said[1] ^ near->said[1]))) tell_difference(near, i);
}

void rmai_mailbox_post(struct rmai_mailboxes *near) {
    publish_epoch(near, near->mine, &rmai_mailbox_slot(near, near->me)->posted);
}

void rmai_mailbox_hear(struct rmai_mailboxes *near, int i) {
    if (i == near->me) return;
    wait_for_epoch(near, i, &rmai_mailbox_slot(near, i)->posted, near->epoch, i);
    compare_call(near, i);
}

static void meet_flat(struct rmai_mailboxes *near) {
    rmai_mailbox_post(near);
    for (int i = 0; i < near->n; i++) rmai_mailbox_hear(near, i);
}

static void meet_tree(struct rmai_mailboxes *near) {
    int first = near->me * BRANCHES + 1, above = (near->me - 1) / BRANCHES;
    for (int i = first; i < first + BRANCHES && i < near->n; i++) rmai_mailbox_hear(near, i);
    rmai_mailbox_post(near);
    if (near->me > 0) wait_for_epoch(near, above, &near->mailbox[above]->gate, near->epoch, above);
    if (first < near->n) publish_epoch(near, near->mine, &near->mine->gate);
}

static void meet_counter(struct rmai_mailboxes *near) {
    struct rmai_mailbox *first = near->mailbox[0];
    atomic_store_explicit(&rmai_mailbox_slot(near, near->me)->posted.value, near->epoch, memory_order_relaxed);
    /* Acquire and release: the last PE to arrive has seen what all before it wrote. The gate's release store hands that
     * on to the acquire loads of the PEs that wait at the gate. */
    if (atomic_fetch_add_explicit(&first->arrived, 1, memory_order_acq_rel) + 1 == (uint32_t)near->n) {
        /* No PE arrives in the next epoch before the gate opens. */
        atomic_store_explicit(&first->arrived, 0, memory_order_relaxed);
        publish_epoch(near, first, &first->gate);
    } else {
        wait_for_epoch(near, 0, &first->gate, near->epoch, ANY_NEAR);
    }
    compare_call(near, 0); /* each with the first: so all with each other */
}

void rmai_mailbox_meet(struct rmai_mailboxes *near) {
    switch (near->meeting) {
        case RMAI_FLAT: meet_flat(near); break;
        case RMAI_TREE: meet_tree(near); break;
        case RMAI_COUNTER: meet_counter(near); break;
    }
    near->known = near->epoch - 1; /* a PE that is in this epoch is through with the last one */
}

void rmai_mailbox_through(struct rmai_mailboxes *near) {
    struct rmai_mailbox *mine = near->mine;
    atomic_store_explicit(&mine->through.value, near->epoch, memory_order_release);
    if (near->shape == RMAI_CROWDED) atomic_thread_fence(memory_order_seq_cst);
    if (RMAI_UNLIKELY(atomic_load_explicit(&mine->sleepers, memory_order_relaxed)) &&
        rmai_reached(near->epoch, atomic_load_explicit(&mine->wake_epoch, memory_order_relaxed)))
        rmai_wake(&mine->through);
}

void rmai_mailbox_await(struct rmai_mailboxes *near) { wait_until_all_through(near, near->epoch); }

void rmai_mailbox_leave(struct rmai_mailboxes *near) {
    rmai_mailbox_through(near);
    if (near->meeting == RMAI_FLAT)
        rmai_mailbox_await(near);
    else
        rmai_mailbox_sync(near);
}

void rmai_mailbox_sync(struct rmai_mailboxes *near) {
    rmai_mailbox_begin(near, 1, 0);
    rmai_mailbox_meet(near);
    rmai_mailbox_through(near);
}
