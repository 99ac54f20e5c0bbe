/* SPDX-License-Identifier: BSD-3-Clause */
/* near: epochs of a team's PEs on one node, with threads as PEs, so that ThreadSanitizer sees all of them. Broken by an
 * ordering that is too weak, by a slot or a bounce buffer that is written while another PE may still read it, by a
 * buffer that is released before all have read it, and by a lost wake-up.
 *
 * All PEs draw the same turns: one tells all others by a note, by a bounce buffer, or where its buffer is; or all do,
 * and meet. Whoever reads finds what belongs to the turn; whoever was read writes anew at once. Some rest now and then,
 * so that others run ahead as far as they can. Now and then it is suddenly 2^30 turns later: numbers of turns wrap, and
 * old ones must not be taken for new ones.
 *
 *     near PES flat|tree|counter [TURNS]
 *
 * counter: PEs are taken to share processors, and sleep at once. test/check-tsan.sh builds and runs it; it is also
 * right, and quicker, without the sanitizer. */
#include "config.h"

#include "runtime/node/mailbox.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PES_MOST   32
#define WORDS      (RMAI_BOUNCE_BYTES / sizeof(uint64_t))
#define NOTE_WORDS (RMAI_NOTE / sizeof(uint64_t))

static int n_pes, meeting;
static unsigned long turns = 20000;
static struct rmai_mailbox *mailbox[PES_MOST];
static uint64_t buffer[PES_MOST][WORDS]; /* what a PE tells of, and does not copy */
static pthread_barrier_t all;
static const struct rmai_patience roomy = {.polls = 100, .yields = 4}, crowded = {.yields = 2};

static void give_up(const char *format, ...) RMAI_PRINTF(1, 2);
static void give_up(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "near: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Word k of what PE i tells in a turn. */
static uint64_t word(unsigned long turn, int i, size_t k) { return mix((uint64_t)turn << 20 ^ (uint64_t)i << 12 ^ k); }

static void write_words(uint64_t *to, size_t n, unsigned long turn, int i) {
    for (size_t k = 0; k < n; k++) to[k] = word(turn, i, k);
}

static void read_words(const uint64_t *from, size_t n, unsigned long turn, int i, int me, const char *what) {
    for (size_t k = 0; k < n; k++)
        if (from[k] != word(turn, i, k))
            give_up("turn %lu, %s: PE %d finds another word %zu of PE %d", turn, what, me, k, i);
}

static void one_tells(struct rmai_mailboxes *near, unsigned long turn, int root, int bounced) {
    const size_t n = bounced ? 20 : NOTE_WORDS, len = n * sizeof(uint64_t);
    rmai_mailbox_begin(near, near->me == root, len);
    if (near->me == root) {
        write_words(bounced ? rmai_mailbox_bounce(near, root) : rmai_mailbox_note(near, root), n, turn, root);
        rmai_mailbox_post(near);
    } else {
        rmai_mailbox_hear(near, root);
        read_words(bounced ? rmai_mailbox_bounce(near, root) : rmai_mailbox_note(near, root), n, turn, root, near->me,
                   bounced ? "a bounce buffer" : "a note");
    }
    rmai_mailbox_through(near);
}

static void one_shows(struct rmai_mailboxes *near, unsigned long turn, int root) {
    rmai_mailbox_begin(near, near->me == root, 0);
    if (near->me == root) {
        write_words(buffer[root], WORDS / 8, turn, root);
        rmai_mailbox_post(near);
        rmai_mailbox_through(near);
        rmai_mailbox_await(near);
        buffer[root][0] = 0;
    } else {
        rmai_mailbox_hear(near, root);
        read_words(buffer[root], WORDS / 8, turn, root, near->me, "a buffer");
        rmai_mailbox_through(near);
    }
}

static void all_tell(struct rmai_mailboxes *near, unsigned long turn, int bounced) {
    const size_t n = bounced ? 30 : 3;
    rmai_mailbox_begin(near, 1, n * sizeof(uint64_t));
    write_words(bounced ? rmai_mailbox_bounce(near, near->me) : rmai_mailbox_note(near, near->me), n, turn, near->me);
    rmai_mailbox_meet(near);
    for (int i = 0; i < near->n; i++)
        read_words(bounced ? rmai_mailbox_bounce(near, i) : rmai_mailbox_note(near, i), n, turn, i, near->me,
                   "a meeting");
    rmai_mailbox_through(near);
}

static void all_show(struct rmai_mailboxes *near, unsigned long turn) {
    rmai_mailbox_begin(near, 1, 0);
    write_words(buffer[near->me], WORDS / 16, turn, near->me);
    rmai_mailbox_meet(near);
    for (int i = 0; i < near->n; i++) read_words(buffer[i], WORDS / 16, turn, i, near->me, "a meeting over buffers");
    rmai_mailbox_leave(near);
    buffer[near->me][1] = 0;
}

/* As if 2^30 turns had been, in none of which this PE has posted. */
static void much_later(struct rmai_mailboxes *near) {
    uint32_t now = (near->epoch / (1u << 30) + 1) * (1u << 30) - 2;
    pthread_barrier_wait(&all);
    near->epoch = near->known = now;
    atomic_store(&near->mine->through.value, now);
    pthread_barrier_wait(&all);
}

static void *pe(void *arg) {
    struct rmai_mailboxes near = {.n = n_pes, .me = (int)(uintptr_t)arg, .mailbox = mailbox, .meeting = 0};
    uint64_t own = mix((uint64_t)near.me + 77);
    near.mine = mailbox[near.me];
    near.shape = meeting == RMAI_COUNTER ? RMAI_CROWDED : n_pes == 2 ? RMAI_PAIR : RMAI_ROOMY;
    near.meeting = meeting == RMAI_COUNTER ? RMAI_COUNTER : meeting == RMAI_TREE ? RMAI_TREE : RMAI_FLAT;
    near.patience = meeting == RMAI_COUNTER ? &crowded : &roomy;
    near.epoch = near.known = (uint32_t)-300; /* so that turns wrap */
    for (unsigned long turn = 0; turn < turns; turn++) {
        uint64_t drawn = mix(turn / 40 + 5), r = mix(turn + 1000); /* kinds come in runs */
        int root = (int)(r % (unsigned)n_pes);
        own = mix(own + turn);
        if (turn % 500 == 499) much_later(&near);
        if (own % 512 == 0) sched_yield();
        if (own % 4096 == 1) usleep(200);
        if (turn / 500 % 4 != 3) drawn = 5; /* long times in which PE 0 alone posts */
        switch (drawn % 8) {
            case 0: rmai_mailbox_sync(&near); break;
            case 1: one_shows(&near, turn, root); break;
            case 2: all_show(&near, turn); break;
            case 3: all_tell(&near, turn, (int)(r >> 20 & 1)); break;
            case 4: one_tells(&near, turn, root, 1); break;
            case 5: one_tells(&near, turn, 0, 0); break;
            case 6: one_tells(&near, turn, 0, (int)(r >> 20 & 1)); break;
            default: one_tells(&near, turn, root, 0); break;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    static const char *const names[] = {[RMAI_FLAT] = "flat", [RMAI_TREE] = "tree", [RMAI_COUNTER] = "counter"};
    pthread_t thread[PES_MOST];
    n_pes = argc > 1 ? atoi(argv[1]) : 0;
    meeting = -1;
    for (int i = 0; argc > 2 && i < 3; i++)
        if (strcmp(argv[2], names[i]) == 0) meeting = i;
    if (n_pes < 1 || n_pes > PES_MOST || meeting < 0) give_up("usage: near PES flat|tree|counter [TURNS]");
    if (argc > 3) turns = strtoul(argv[3], NULL, 10);
    if (pthread_barrier_init(&all, NULL, (unsigned)n_pes) != 0) give_up("pthread_barrier_init");
    for (int i = 0; i < n_pes; i++) {
        mailbox[i] = aligned_alloc(4096, sizeof *mailbox[i]);
        if (!mailbox[i]) give_up("no memory");
        memset(mailbox[i], 0, sizeof *mailbox[i]);
        /* As if 2^32 - 300 turns had been. */
        for (int s = 0; s < RMAI_SLOTS; s++) atomic_store(&mailbox[i]->slot[s].posted.value, (uint32_t)-300);
        atomic_store(&mailbox[i]->through.value, (uint32_t)-300);
        atomic_store(&mailbox[i]->gate.value, (uint32_t)-300);
    }
    for (int i = 0; i < n_pes; i++)
        if (pthread_create(&thread[i], NULL, pe, (void *)(uintptr_t)i) != 0) give_up("pthread_create");
    for (int i = 0; i < n_pes; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < n_pes; i++) free(mailbox[i]);
    printf("near: %lu turns of %d PEs, %s\n", turns, n_pes, names[meeting]);
    return 0;
}
