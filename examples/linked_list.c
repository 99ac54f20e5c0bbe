/* SPDX-License-Identifier: BSD-3-Clause */
/* linked_list: all PEs insert, search and remove in one sorted list at once; a node is on the PE that inserted it.
 *
 *     mpiexec -n 4 ./linked_list [elements per PE] [--ops=N] [--range=N]
 *
 * The list is the lock-free one of T. Harris, "A pragmatic implementation of non-blocking linked-lists", DISC 2001, in
 * the form of M. Michael, "High performance dynamic lock-free hash tables and list-based sets", SPAA 2002. Blocks are
 * aligned to 64 bytes, so the lowest bit of a global pointer is free. If it is set in a node's own `next`, the node is
 * removed: from then on no compare-and-swap on that word succeeds, so nobody links a node after a removed one.
 *
 * PEs that reached a node before its removal may still read it. So it waits in a bag, and goes back to its owner's heap
 * (rma_gptr_free) when nobody can hold it any more: epochs, after K. Fraser, "Practical lock-freedom", University of
 * Cambridge, 2004.
 *
 * Phases, with a barrier between them:
 *   alone  PE 0 inserts a tenth of its elements: the time of an insert without rivals, in a heap that need not grow
 *   grow   all insert ascending keys, dealt out round-robin, each searching from the node that it inserted last: the
 * list becomes long, but each search stays short mix    all insert, remove and search random keys 1..range at the
 * list's front, so that they meet drain  all take the first node until none is left */
#include <inttypes.h>
#include <limits.h>
#include <rma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMOVED  UINT64_C(1) /* in node.next: this node is removed */
#define PATIENCE 64          /* operations between two tries to give nodes back */

/* `next` comes first, so that a node's global pointer is that of its `next`. */
struct node {
    uint64_t next;   /* rma_gptr_t of the following node, null for the last; and the bit REMOVED */
    uint64_t key;    /* from 1, ascending in the list; constant while others can reach the node */
    uint64_t in_bag; /* rma_gptr_t of the following node in a bag: only for the PE whose bag it is */
};

/* Symmetric. Words that many PEs write have their own cache lines. */
struct shared {
    _Alignas(64) uint64_t head;   /* PE 0's: as a node's next, never REMOVED */
    _Alignas(64) uint64_t epoch;  /* PE 0's: from 1, changed by read-modify-writes only */
    _Alignas(64) uint64_t inside; /* each PE's: the epoch that it saw when it entered the list; 0: it is outside */
    _Alignas(64) long taken;      /* PE 0's: nodes that the drain has removed */
};

/* Nodes that this PE has unlinked. */
struct bag {
    rma_gptr_t first;
    uint64_t epoch; /* the epoch in which the bag was closed, after its last node was unlinked */
};

/* A PE's view of the list, and of its work. */
struct list {
    struct shared *shared;
    rma_gptr_t head;
    int me, n;
    struct bag open, closed;
    long left;                 /* how often this PE has left the list */
    long elements, ops, range; /* elements and operations per PE; keys of the mix */
    long *balance;             /* symmetric: of key, element (key - 1) / n on PE (key - 1) % n: inserts less removes */
};

/* Where a key is or would be: the word prev points to cur, the first node whose key is not below it. */
struct place {
    rma_gptr_t prev, cur;
    uint64_t key; /* cur's, or UINT64_MAX if cur is null */
};

/* Prints the text with its number, such as the key, and the library's last error. */
static _Noreturn void die(const char *what, uint64_t number) {
    fprintf(stderr, "linked_list: PE %d: %s %" PRIu64 ". %s\n", rma_my_pe(), what, number, rma_last_error());
    rma_abort(1);
}

/* ---- Giving nodes back ----
 *
 * Claim: once the epoch is 2 more than that of a closed bag, no PE holds a node of the bag. Let that bag's epoch be e.
 *   1. The nodes were unlinked before reclaim()'s fetch-add on the epoch, which saw e. The PE that then changed e to
 * e+1 did so by a read-modify-write of the same word, so it has seen them unlinked; so has every PE that has seen e+1.
 *   2. The PE that changed e+1 to e+2 has read each PE's `inside` after seeing e+1, in advance(), and found
 *      - e+1: that PE entered having seen e+1, so by 1. it did not find the nodes any more; or
 *      - 0: what that PE did inside before is over, and comes before e+2; if it enters again, its swap comes after
 *        advance()'s fetch-add on the same word, and so, by 1. again, after the unlinking.
 * Swap and fetch-add, not set and fetch: from a store to a later load of another word there is no order, so a PE could
 * walk the list while its `inside` still looks 0 to others (docs/memory-model.md, "Store buffering"). */

/* enter: from here to leave() no node is freed that this PE can reach. */
static void enter(struct list *l) {
    uint64_t epoch = rma_atomic_fetch(&l->shared->epoch, 0); /* acquire: pairs with the swap in advance() */
    /* Pairs with the fetch-add in advance(): either that sees this swap, or this swap sees what that had seen. */
    rma_atomic_swap(&l->shared->inside, epoch, l->me);
}

/* advance: the next epoch, if each PE that is inside has seen this one. Waits for nobody. */
static void advance(struct list *l) {
    uint64_t epoch = rma_atomic_fetch(&l->shared->epoch, 0); /* acquire: pairs with the swap below, of another PE */
    for (int pe = 0; pe < l->n; pe++) {
        /* Adds 0, so that it is ordered with enter()'s swap; acquire: pairs with leave()'s set. */
        uint64_t inside = rma_atomic_fetch_add(&l->shared->inside, 0, pe);
        if (inside != 0 && inside != epoch) return;
    }
    /* Acquire: pairs with the fetch-add in reclaim(). Release: with the fetches of the epoch. */
    rma_atomic_compare_swap(&l->shared->epoch, epoch, epoch + 1, 0);
}

static void give_back(struct bag *bag) {
    rma_quiet(); /* completes this PE's puts to the nodes */
    for (rma_gptr_t node = bag->first, next = RMA_GPTR_NULL; node != RMA_GPTR_NULL; node = next) {
        rma_gptr_get(&next, node + offsetof(struct node, in_bag), sizeof next);
        if (rma_gptr_free(node) != RMA_SUCCESS) die("cannot give back node", node);
    }
    bag->first = RMA_GPTR_NULL;
}

/* reclaim: free the nodes of the closed bag if its time has come, and close the open bag. As long as some PE stays
 * inside, the open bag only grows. */
static void reclaim(struct list *l) {
    if (l->open.first == RMA_GPTR_NULL && l->closed.first == RMA_GPTR_NULL) return;
    advance(l);
    /* Acquire: pairs with the swap in advance(): this PE sees that nobody holds the nodes before it frees them. */
    if (rma_atomic_fetch(&l->shared->epoch, 0) < l->closed.epoch + 2) return;
    give_back(&l->closed);
    l->closed.first = l->open.first;
    /* Adds 0; release: the nodes are unlinked. Pairs with the swap in advance(). */
    l->closed.epoch = rma_atomic_fetch_add(&l->shared->epoch, 0, 0);
    l->open.first = RMA_GPTR_NULL;
}

static void leave(struct list *l) {
    /* Release: all accesses inside are over. Pairs with the fetch-add in advance(). */
    rma_atomic_set(&l->shared->inside, 0, l->me);
    if (++l->left % PATIENCE == 0) reclaim(l);
}

/* retire: called by the PE that has unlinked the node; only one PE has. */
static void retire(struct list *l, rma_gptr_t node) {
    rma_gptr_put(node + offsetof(struct node, in_bag), &l->open.first, sizeof l->open.first);
    l->open.first = node;
}

/* ---- The list: between enter() and leave() ---- */

/* find: the place of key. Unlinks the removed nodes that it meets on its way.
 * The search starts at `from`: l->head, or a node before the key that cannot have been freed, because this PE met it
 * after enter(), or because nobody removes it. If it is removed, the search starts at the head. */
static struct place find(struct list *l, rma_gptr_t from, uint64_t key) {
    for (;;) {
        uint64_t before = 0;
        struct place at = {from, rma_gptr_atomic_fetch(from), UINT64_MAX};
        if (at.cur & REMOVED) {
            from = l->head;
            continue;
        }
        for (;;) {
            if (at.cur == RMA_GPTR_NULL) return (struct place){at.prev, at.cur, UINT64_MAX};
            /* The pointer to cur was fetched, an acquire: pairs with the swap in insert(), which released the key. */
            uint64_t next = rma_gptr_atomic_fetch(at.cur);
            rma_gptr_get(&at.key, at.cur + offsetof(struct node, key), sizeof at.key);
            if (at.key <= before) die("a node was given back too early: out of order is key", at.key);
            if (next & REMOVED) {
                /* If this fails, prev is now removed or points elsewhere: start again. */
                if (rma_gptr_atomic_compare_swap(at.prev, at.cur, next & ~REMOVED) != at.cur) break;
                retire(l, at.cur);
                at.cur = next & ~REMOVED;
            } else {
                if (at.key >= key) return at;
                before = at.key;
                at.prev = at.cur;
                at.cur = next;
            }
        }
    }
}

/* insert: a node for key, searching from `from` as find does. Returns it, or null if the key is there already. */
static rma_gptr_t insert(struct list *l, rma_gptr_t from, uint64_t key) {
    struct node *node = NULL;
    for (;;) {
        struct place at = find(l, from, key);
        if (at.key == key) {
            /* Freed at once: no other PE has seen the node. */
            if (rma_free_mem(node) != RMA_SUCCESS) die("cannot free the node of key", key);
            return RMA_GPTR_NULL;
        }
        if (!node && rma_alloc_mem(sizeof *node, &node) != RMA_SUCCESS) die("no node for key", key);
        *node = (struct node){.next = at.cur, .key = key};
        rma_gptr_t g = rma_gptr(node, l->me);
        /* Release: a PE that follows the pointer sees the fields. Pairs with the fetches in find(). */
        if (rma_gptr_atomic_compare_swap(at.prev, at.cur, g) == at.cur) return g;
    }
}

/* take: remove the node at a place. Returns false if another PE was faster. */
static bool take(struct list *l, struct place at) {
    uint64_t next = rma_gptr_atomic_fetch_or(at.cur, REMOVED);
    if (next & REMOVED) return false;
    if (rma_gptr_atomic_compare_swap(at.prev, at.cur, next) == at.cur)
        retire(l, at.cur);
    else
        find(l, l->head, at.key); /* unlinks it, unless somebody has */
    return true;
}

/* ---- Phases ---- */

/* Inserts elements from..to-1 of this PE after its node `last`, and returns the last one. Nobody removes them
 * meanwhile, so `last` stays valid between two visits of the list. */
static rma_gptr_t grow(struct list *l, rma_gptr_t last, long from, long to) {
    for (long i = from; i < to; i++) {
        enter(l);
        last = insert(l, last, (uint64_t)(1 + l->range + i * l->n + l->me));
        leave(l);
        if (last == RMA_GPTR_NULL) die("there before it was inserted: element", (uint64_t)i);
    }
    return last;
}

/* Makes the heap grow by n nodes, so that the time of inserts does not include the system's time for new pages. */
static void warm(long n) {
    struct node *all = NULL, *node;
    for (; n > 0; n--, all = node) {
        if (rma_alloc_mem(sizeof *node, &node) != RMA_SUCCESS) die("no node, still wanted:", (uint64_t)n);
        node->next = (uint64_t)(uintptr_t)all;
    }
    for (; all; all = node) {
        node = (struct node *)(uintptr_t)all->next;
        if (rma_free_mem(all) != RMA_SUCCESS) die("cannot free a node", 0);
    }
}

static void mix(struct list *l) {
    uint64_t state = (uint64_t)l->me + 1;
    for (long i = 0; i < l->ops; i++) {
        /* xorshift64*: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016. */
        state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
        uint64_t random = (state * UINT64_C(2685821657736338717)) >> 20;
        long slot = (long)(random / 3 % (uint64_t)l->range), change = 0;
        uint64_t key = (uint64_t)slot + 1;
        enter(l);
        if (random % 3 == 0) {
            change = insert(l, l->head, key) != RMA_GPTR_NULL;
        } else {
            struct place at = find(l, l->head, key);
            if (random % 3 == 1 && at.key == key) change = take(l, at) ? -1 : 0;
        }
        leave(l);
        if (change != 0) rma_atomic_add(&l->balance[slot / l->n], change, (int)(slot % l->n));
    }
}

static long drain(struct list *l) {
    for (long taken = 0;;) {
        enter(l);
        struct place at = find(l, l->head, 0);
        if (at.cur != RMA_GPTR_NULL) taken += take(l, at);
        leave(l);
        if (at.cur == RMA_GPTR_NULL) return taken;
    }
}

/* Walks the list while nobody changes it. Counts each PE's nodes in home[]; returns how many the mix has inserted. */
static long check(struct list *l, long *home) {
    long mixed = 0, elements = 0;
    char *present = calloc((size_t)l->range + 1, 1);
    if (!present) die("no memory for keys:", (uint64_t)l->range);
    struct node node = {.next = rma_gptr_atomic_fetch(l->head)};
    for (uint64_t before = 0; node.next != RMA_GPTR_NULL; before = node.key) {
        int pe = rma_gptr_pe(node.next);
        rma_gptr_get(&node, node.next, sizeof node);
        if (node.next & REMOVED) die("removed, but in the list: key", node.key);
        if (node.key <= before) die("out of order, or twice in the list: key", node.key);
        home[pe]++;
        if (node.key <= (uint64_t)l->range) {
            present[node.key] = 1;
            mixed++;
        } else {
            /* The PEs have dealt out the keys in turn, so there is no gap. */
            long turn = elements++;
            if (node.key != (uint64_t)(1 + l->range + turn) || pe != (int)(turn % l->n))
                die("another element should be where there is key", node.key);
        }
    }
    if (elements != l->elements * l->n) die("not all elements are in the list, but", (uint64_t)elements);
    for (long slot = 0; slot < l->range; slot++) {
        uint64_t key = (uint64_t)slot + 1;
        if (rma_g(&l->balance[slot / l->n], (int)(slot % l->n)) != present[key])
            die("inserts less removes are not what is in the list: key", key);
        if ((find(l, l->head, key).key == key) != present[key]) die("search is wrong: key", key);
    }
    free(present);
    return mixed;
}

/* Blocks of the local heap that nobody has given back. */
static size_t live_blocks(struct rma_heap_stats *stats) {
    if (rma_heap_stats(RMA_HEAP_LOCAL, stats) != RMA_SUCCESS) die("no statistics of heap", RMA_HEAP_LOCAL);
    return stats->n_used - stats->n_returned;
}

static double barrier_time(void) {
    rma_barrier_all();
    return rma_wtime();
}

static void run(struct list *l) {
    struct rma_heap_stats stats;
    size_t live_before = live_blocks(&stats);
    long *home = calloc((size_t)l->n, sizeof *home);
    l->shared = rma_calloc(1, sizeof *l->shared);
    l->balance = rma_calloc((size_t)(l->range / l->n + 1), sizeof *l->balance);
    if (!home || !l->shared || !l->balance) die("no memory for keys:", (uint64_t)l->range);
    l->head = rma_gptr(&l->shared->head, 0);
    if (l->me == 0) rma_atomic_set(&l->shared->epoch, 1, 0);

    long alone = l->me == 0 ? l->elements / 10 : 0;
    warm(alone);
    double start = barrier_time();
    rma_gptr_t last = grow(l, l->head, 0, alone);
    double begun = rma_wtime(), growing = barrier_time();
    grow(l, last, alone, l->elements);
    double grown = barrier_time();
    mix(l);
    double mixed = barrier_time();
    long total = l->elements * l->n + check(l, home);
    live_blocks(&stats);
    double draining = barrier_time();
    rma_atomic_add(&l->shared->taken, drain(l), 0);
    double drained = barrier_time();

    /* Nobody is inside, and no node can be found any more: no epoch need pass. */
    give_back(&l->closed);
    give_back(&l->open);
    rma_barrier_all();
    if (rma_g(&l->shared->taken, 0) != total) die("not each node was taken once, of", (uint64_t)total);
    size_t live = live_blocks(&(struct rma_heap_stats){0});
    if (live != live_before) die("blocks left in the local heap:", live - live_before);
    rma_barrier_all();

    if (l->me == 0) {
        long ops = l->ops * l->n, inserts = l->elements * l->n - alone;
        printf("alone  %ld inserts: %.0f ns each\n", alone, alone ? (begun - start) * 1e9 / (double)alone : 0);
        printf("grow   %ld inserts by %d PEs: %.0f/s\n", inserts, l->n, (double)inserts / (grown - growing));
        printf("mix    %ld operations on %ld keys: %.0f/s\n", ops, l->range, (double)ops / (mixed - grown));
        printf("drain  %ld nodes: %.0f/s\n", total, (double)total / (drained - draining));
        printf("nodes before the drain, by PE:");
        for (int pe = 0; pe < l->n; pe++) printf(" %ld", home[pe]);
        printf("; local heap of PE 0: %zu KiB, grown %zu times\n", stats.size / 1024, stats.n_growths);
        printf("every key accounted for, every node given back\n");
    }
    rma_free(l->balance);
    rma_free(l->shared);
    free(home);
}

int main(int argc, char **argv) {
    if (rma_init() != RMA_SUCCESS) return 1;
    bool far = rma_n_nodes() > 1; /* an operation takes a hundred times longer between nodes */
    struct list list = {.me = rma_my_pe(),
                        .n = rma_n_pes(),
                        .elements = far ? 200 : 20000,
                        .ops = far ? 200 : 100000,
                        .range = far ? 32 : 128};
    bool help = false, wrong = false;
    for (int i = 1; i < argc; i++) {
        char more;
        if (strcmp(argv[i], "--help") == 0)
            help = true;
        else if (sscanf(argv[i], "--ops=%ld%c", &list.ops, &more) != 1 &&
                 sscanf(argv[i], "--range=%ld%c", &list.range, &more) != 1 &&
                 sscanf(argv[i], "%ld%c", &list.elements, &more) != 1)
            wrong = true;
    }
    if (list.elements < 0 || list.ops < 0 || list.range < 1 || list.range > INT_MAX) wrong = true;
    int code = wrong ? 2 : 0;
    if (help || wrong) {
        if (list.me == 0)
            fprintf(
                wrong ? stderr : stdout,
                "usage: linked_list [elements per PE] [--ops=operations per PE in the mix] [--range=keys of the mix]\n"
                "defaults: 20000, 100000, 128; on several nodes 200, 200, 32\n");
    } else {
        run(&list);
    }
    rma_finalize();
    return code;
}
