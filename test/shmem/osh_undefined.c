/* SPDX-License-Identifier: BSD-3-Clause */
/* Usage that the specification leaves undefined, and other libraries accept, does not end the job: the call does
 * nothing, or returns a null pointer, and one note on stderr reports each kind. With RMA_CHECK=yes it is an error like
 * any other (osh_misuse.c).
 *
 * Broken by an error that is raised, by a note for each call or for none, by a result that is written, and by a PE that
 * waits for others. */
#include "osh.h"

#include <stdint.h>

static int raised;
static FILE *notes;

static void handler(int code, const char *words) {
    fprintf(stdout, "PE %d: error %d: %s\n", me, code, words);
    raised++;
}

/* From here on stderr goes to a file that is read at the end. */
static int catch_notes(void) {
    int own = dup(2);
    notes = tmpfile();
    CHECK(own >= 0 && notes && dup2(fileno(notes), 2) == 2, "no file for the notes");
    return own;
}

/* Lines of the notes with these words. */
static int noted(const char *words) {
    char line[1200];
    int lines = 0;
    rewind(notes);
    while (fgets(line, sizeof line, notes)) lines += strstr(line, words) != NULL;
    return lines;
}

/* Of a set of one PE, which is another one. */
static void strange_sets(void) {
    static long sync[SHMEM_SYNC_SIZE];
    static int value[4] = {1, 2, 3, 4}, to[4], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    DOING("active sets of others");
    shmem_barrier(next(), 0, 1, sync);
    shmem_sync(next(), 0, 1, sync);
    shmem_broadcast32(to, value, 4, 0, next(), 0, 1, sync);
    shmem_fcollect32(to, value, 4, next(), 0, 1, sync);
    shmem_collect32(to, value, 4, next(), 0, 1, sync);
    shmem_alltoall32(to, value, 4, next(), 0, 1, sync);
    shmem_alltoalls32(to, value, 1, 1, 4, next(), 0, 1, sync);
    shmem_int_sum_to_all(to, value, 4, next(), 0, 1, work, sync);
    for (int i = 0; i < 4; i++) CHECK(to[i] == 0, "dest is written: %d", to[i]);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++) CHECK(sync[i] == 0, "pSync is written");
}

static void memory(void) {
    static const size_t alignments[] = {0, 3, 12, 100, SIZE_MAX, (size_t)1 << 40};
    static long word = 5;
    char *block = shmem_malloc(64), *hinted;
    CHECK(block != NULL, "no memory");
    DOING("memory");
    for (int turn = 0; turn < 2; turn++) {
        hinted = shmem_malloc_with_hints(64, 0x70 | SHMEM_MALLOC_SIGNAL_REMOTE);
        CHECK(hinted && shmem_addr_accessible(hinted, me), "hints");
        shmem_free(hinted);
        for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
            CHECK(shmem_align(alignments[i], 8) == NULL, "alignment %zu", alignments[i]);
            CHECK(shmemalign(alignments[i], 8) == NULL, "alignment %zu", alignments[i]);
        }
        memset(block, 77, 64);
        CHECK(shmem_realloc(&word, 800) == NULL && shrealloc(&word, 800) == NULL, "a variable");
        CHECK(shmem_realloc(block + 8, 800) == NULL && shrealloc(block + 8, 800) == NULL, "inside a block");
        for (int i = 0; i < 64; i++) CHECK(block[i] == 77, "the block is written");
        CHECK(word == 5, "the variable is written");
    }
    shmem_free(block);
}

/* dest is followed by source, and has room for the blocks of half of the PEs. Source is then the place of the block of
 * PE n / 2, which may be there. */
static void short_dest(void) {
    enum { EACH = 4, MOST = 64 };
    static int both[EACH * MOST + EACH];
    int *source = both + EACH * (n / 2);
    DOING("a collect that runs into source");
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < EACH; i++) source[i] = 100 * me + i;
        CHECK(shmem_int_collect(SHMEM_TEAM_WORLD, both, source, EACH) == 0, "a result");
        /* What comes before source is there. */
        for (int i = 0; i < EACH * (n / 2); i++)
            CHECK(both[i] == 100 * (i / EACH) + i % EACH, "element %d is %d", i, both[i]);
        shmem_barrier_all();
    }
}

int main(void) {
    int running = 1, own;
    rma_set_errhandler(handler);
    start();
    own = catch_notes();
    if (n > 1) strange_sets();
    memory();
    short_dest();
    DOING("ending");
    shmem_barrier_all();
    shmem_finalize();
    shmem_finalize();
    shmem_finalize();
    shmem_query_initialized(&running);
    fflush(stderr);
    dup2(own, 2);
    if (raised || running || noted("is not in the active set") != (n > 1) || noted("hints") != 1 ||
        noted("so the call returns NULL") != 1 || noted("shmem_align: alignment 0") != 1 || noted("alignment") != 1 ||
        noted("shmem_realloc:") != 1 || noted("realloc") != 1 || noted("more often than shmem_init") != 1 ||
        noted("shmem_int_collect: dest") != (me != n / 2) || noted("overlap") != (me != n / 2) ||
        noted("RMA_CHECK=1") != 4 + (n > 1) + (me != n / 2)) {
        char line[1200];
        fprintf(stderr, "PE %d of %d: %d errors, running: %d, and these notes:\n", me, n, raised, running);
        rewind(notes);
        while (fgets(line, sizeof line, notes)) fputs(line, stderr);
        return 1;
    }
    return 0;
}
