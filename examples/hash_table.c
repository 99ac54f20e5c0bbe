/* SPDX-License-Identifier: BSD-3-Clause */
/* hash_table: all PEs count words in one table that is distributed over all of them.
 *
 *     mpiexec -n 4 ./hash_table [words] [--ops=N] [--buckets=N]
 *
 * A word is a number here; its hash tells the PE and the bucket. A bucket is the head of a list of entries, linked by
 * global pointers. Entries are on the PE of their bucket, whichever PE creates them (rma_alloc_mem_on), so the table is
 * spread as evenly as the hash is, and the owner never takes part.
 *
 * Phases, with a barrier between them:
 *   insert  the upper half of the words, each by one PE: a new entry is linked at its bucket's head by a
 *           compare-and-swap
 *   count   each PE draws words, the lower ones much more often, and adds 1 to the count of each. Several PEs find at
 *           the same time that a word of the lower half is new; exactly one entry for it must result
 *   lookup  each PE looks up random words, and compares with counts that it computes from the draws of all PEs
 *   delete  each PE deletes the words of the next PE's buckets. As no other PE uses these, plain puts will do
 * Nothing is deleted while others search; linked_list shows how that can be done. */
#include <inttypes.h>
#include <rma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t next;  /* rma_gptr_t of the following entry of the bucket, null for the last */
    uint64_t word;  /* next and word are constant while several PEs use the table */
    uint64_t count; /* changed by atomics */
};

/* A PE's view of the table, and of its work. */
struct table {
    uint64_t *heads;          /* symmetric: for each of this PE's buckets the rma_gptr_t of its first entry */
    long words, ops, buckets; /* different words; operations and buckets per PE */
    int me, n;
};

/* A bucket: heads[bucket] on pe. */
struct place {
    int pe;
    long bucket;
};

/* Prints the text with its number, such as the word, and the library's last error. */
static _Noreturn void die(const char *what, uint64_t number) {
    fprintf(stderr, "hash_table: PE %d: %s %" PRIu64 ". %s\n", rma_my_pe(), what, number, rma_last_error());
    rma_abort(1);
}

/* The finalizer of splitmix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The i-th word that PE pe draws: a function of both numbers, so that every PE can check every other. The cube makes
 * small numbers frequent, as some words are in texts. */
static uint64_t draw(const struct table *t, int pe, long i) {
    uint64_t random = scramble((uint64_t)pe << 40 | (uint64_t)i);
    double fraction = (double)(random >> 11) * 0x1p-53;
    return (uint64_t)(fraction * fraction * fraction * (double)t->words);
}

static struct place place_of(const struct table *t, uint64_t word) {
    uint64_t hash = scramble(word + 1), n = (uint64_t)t->n;
    return (struct place){(int)(hash % n), (long)(hash / n % (uint64_t)t->buckets)};
}

/* The entry of word, searched from `from` up to but not including `end`; null if there is none. */
static rma_gptr_t search(rma_gptr_t from, rma_gptr_t end, uint64_t word) {
    struct entry e;
    for (rma_gptr_t at = from; at != end; at = e.next) {
        /* Not the count, which others change. `from` was fetched, an acquire: pairs with the swap in add(). */
        rma_gptr_get(&e, at, offsetof(struct entry, count));
        if (e.word == word) return at;
    }
    return RMA_GPTR_NULL;
}

/* Adds value to the word's count; a new word has 0. */
static void add(struct table *t, uint64_t word, uint64_t value) {
    struct place p = place_of(t, word);
    rma_gptr_t head = rma_atomic_fetch(&t->heads[p.bucket], p.pe);
    rma_gptr_t found = search(head, RMA_GPTR_NULL, word), made = RMA_GPTR_NULL;
    while (found == RMA_GPTR_NULL) {
        struct entry e = {.next = head, .word = word, .count = value};
        if (made == RMA_GPTR_NULL && rma_alloc_mem_on(p.pe, sizeof e, &made) != RMA_SUCCESS) die("no entry for", word);
        rma_fence(); /* orders the put below after that of the previous iteration, which wrote to the same entry */
        rma_gptr_put(made, &e, sizeof e);
        /* Release: a PE that follows the pointer sees the entry. Pairs with the fetches of heads. */
        rma_gptr_t seen = rma_atomic_compare_swap(&t->heads[p.bucket], head, made, p.pe);
        if (seen == head) return;
        /* Other PEs were faster: is the word among the entries that they have linked before our old head? */
        found = search(seen, head, word);
        head = seen;
    }
    rma_gptr_atomic_fetch_add(found + offsetof(struct entry, count), value);
    if (made == RMA_GPTR_NULL) return;
    rma_quiet(); /* completes the put to the entry. No other PE has seen the entry, so it can be freed at once */
    if (rma_gptr_free(made) != RMA_SUCCESS) die("cannot give back the entry of", word);
}

/* The word's count; 0 if it is not in the table. */
static uint64_t look_up(const struct table *t, uint64_t word) {
    struct place p = place_of(t, word);
    rma_gptr_t found = search(rma_atomic_fetch(&t->heads[p.bucket], p.pe), RMA_GPTR_NULL, word);
    return found == RMA_GPTR_NULL ? 0 : rma_gptr_atomic_fetch(found + offsetof(struct entry, count));
}

/* Deletes the word, if it is there. Nobody else may use its bucket meanwhile. */
static void drop(struct table *t, uint64_t word) {
    struct place p = place_of(t, word);
    rma_gptr_t link = rma_gptr(&t->heads[p.bucket], p.pe), at = RMA_GPTR_NULL; /* link points to the word `at` */
    struct entry e;
    for (;; link = at) { /* `next` comes first in an entry, so that its global pointer is the entry's */
        rma_gptr_get(&at, link, sizeof at);
        if (at == RMA_GPTR_NULL) return;
        rma_gptr_get(&e, at, sizeof e);
        if (e.word == word) break;
    }
    rma_gptr_put(link, &e.next, sizeof e.next);
    rma_quiet(); /* `link` may lie in the entry that goes next */
    if (rma_gptr_free(at) != RMA_SUCCESS) die("cannot give back the entry of", word);
}

/* Entries on this PE, as the heap counts them: all blocks that are not freed. */
static uint64_t entries_here(void) {
    struct rma_heap_stats stats;
    if (rma_heap_stats(RMA_HEAP_GUEST, &stats) != RMA_SUCCESS) die("no statistics of heap", RMA_HEAP_GUEST);
    return stats.n_used - stats.n_returned;
}

static double barrier_time(void) {
    rma_barrier_all();
    return rma_wtime();
}

static void run(struct table *t) {
    /* entries[pe] and sums[pe], written by pe: entries on it, and the sum of their counts. */
    uint64_t *entries = rma_calloc((size_t)t->n * 2, sizeof *entries), *sums = entries + t->n;
    uint64_t *expected = calloc((size_t)t->words, sizeof *expected);
    t->heads = rma_calloc((size_t)t->buckets, sizeof *t->heads);
    if (!entries || !expected || !t->heads) die("no memory for words:", (uint64_t)t->words);
    for (int pe = 0; pe < t->n; pe++)
        for (long i = 0; i < t->ops; i++) expected[draw(t, pe, i)]++;
    uint64_t before = entries_here();

    long upper = t->words / 2;
    double start = barrier_time();
    for (long word = upper + t->me; word < t->words; word += t->n) add(t, (uint64_t)word, 0);
    double inserted = barrier_time();
    for (long i = 0; i < t->ops; i++) add(t, draw(t, t->me, i), 1);
    double counted = barrier_time();
    for (long i = 0; i < t->ops; i++) {
        uint64_t word = scramble((uint64_t)(i * t->n + t->me)) % (uint64_t)t->words;
        if (look_up(t, word) != expected[word]) die("wrong count of", word);
    }
    double looked = barrier_time();

    /* Each PE walks its own buckets; PE 0 compares the sums with what was drawn. */
    uint64_t here = 0, sum = 0;
    struct entry e;
    for (long b = 0; b < t->buckets; b++)
        for (rma_gptr_t at = rma_atomic_fetch(&t->heads[b], t->me); at != RMA_GPTR_NULL; at = e.next) {
            rma_gptr_get(&e, at, sizeof e);
            if (rma_gptr_pe(at) != t->me) die("on another PE than its bucket:", e.word);
            if (e.word >= (uint64_t)t->words || e.count != expected[e.word]) die("not as drawn:", e.word);
            here++;
            sum += e.count;
        }
    if (entries_here() - before != here) die("blocks in the heap are not what is in the table, but", entries_here());
    for (int pe = 0; pe < t->n; pe++) {
        rma_p(&entries[t->me], here, pe);
        rma_p(&sums[t->me], sum, pe);
    }
    rma_barrier_all();
    uint64_t all_entries = 0, total = 0, different = 0;
    for (int pe = 0; pe < t->n; pe++) all_entries += entries[pe], total += sums[pe];
    for (long word = 0; word < t->words; word++) different += word >= upper || expected[word] != 0;
    if (total != (uint64_t)(t->ops * t->n)) die("the counts' sum is not the number of additions, but", total);
    if (all_entries != different) die("words are missing or there twice; entries:", all_entries);

    double deleting = barrier_time();
    for (long word = 0; word < t->words; word++)
        if (place_of(t, (uint64_t)word).pe == (t->me + 1) % t->n) drop(t, (uint64_t)word);
    double deleted = barrier_time();
    for (long b = 0; b < t->buckets; b++)
        if (rma_atomic_fetch(&t->heads[b], t->me) != RMA_GPTR_NULL) die("not empty: bucket", (uint64_t)b);
    if (entries_here() != before) die("blocks left in the heap:", entries_here() - before);
    rma_barrier_all();

    if (t->me == 0) {
        double ops = (double)(t->ops * t->n), inserts = (double)(t->words - upper), deletes = (double)all_entries;
        printf("insert  %.0f words by %d PEs: %.0f/s\n", inserts, t->n, inserts / (inserted - start));
        printf("count   %.0f additions, %.0f new words: %.0f/s\n", ops, deletes - inserts, ops / (counted - inserted));
        printf("lookup  %.0f words: %.0f/s\n", ops, ops / (looked - counted));
        printf("delete  %.0f words: %.0f/s\n", deletes, deletes / (deleted - deleting));
        printf("entries by PE:");
        for (int pe = 0; pe < t->n; pe++) printf(" %" PRIu64, entries[pe]);
        printf("\nevery count right, every entry given back\n");
    }
    rma_free(t->heads);
    rma_free(entries);
    free(expected);
}

int main(int argc, char **argv) {
    if (rma_init() != RMA_SUCCESS) return 1;
    bool far = rma_n_nodes() > 1; /* an operation takes a hundred times longer between nodes */
    struct table table = {
        .me = rma_my_pe(), .n = rma_n_pes(), .words = far ? 2000 : 20000, .ops = far ? 1000 : 100000, .buckets = 4096};
    bool help = false, wrong = false;
    for (int i = 1; i < argc; i++) {
        char more;
        if (strcmp(argv[i], "--help") == 0)
            help = true;
        else if (sscanf(argv[i], "--ops=%ld%c", &table.ops, &more) != 1 &&
                 sscanf(argv[i], "--buckets=%ld%c", &table.buckets, &more) != 1 &&
                 sscanf(argv[i], "%ld%c", &table.words, &more) != 1)
            wrong = true;
    }
    if (table.words < 1 || table.ops < 0 || table.buckets < 1) wrong = true;
    int code = wrong ? 2 : 0;
    if (help || wrong) {
        if (table.me == 0)
            fprintf(wrong ? stderr : stdout,
                    "usage: hash_table [different words] [--ops=additions per PE] [--buckets=per PE]\n"
                    "defaults: 20000, 100000, 4096; on several nodes 2000, 1000, 4096\n");
    } else {
        run(&table);
    }
    rma_finalize();
    return code;
}
