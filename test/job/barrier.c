/* SPDX-License-Identifier: BSD-3-Clause */
/* No PE leaves a barrier before all PEs have arrived, and afterwards every PE sees all earlier stores.
 *
 * Broken by a barrier that counts wrongly, that lets a fast PE pass twice, that loses a wake-up (a late PE finds the
 * others asleep: then the deadline passes), or that does not release or acquire. PEs record their arrivals in a file
 * that all PEs map, so that PEs of different simulated nodes observe each other without the library. */
#include "job.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <sys/mman.h>

struct board {
    _Alignas(64) _Atomic uint32_t come[JOB_PES_MAX]; /* newest epoch that each PE has begun */
};

static struct board *board; /* null where the PEs have no common file system */

static void open_board(void) {
    char path[256] = "";
    const char *dir = getenv("TMPDIR");
    int file = -1, have, all;
    if (job.me == 0) {
        snprintf(path, sizeof path, "%s/barrier.XXXXXX", dir && dir[0] && strlen(dir) < 200 ? dir : "/tmp");
        file = mkstemp(path);
        CHECK(file >= 0 && ftruncate(file, sizeof *board) == 0, "no file %s", path);
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (job.me != 0) file = open(path, O_RDWR);
    have = file >= 0;
    if (have) {
        board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (board == MAP_FAILED) have = 0;
        close(file);
    }
    MPI_Allreduce(&have, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (job.me == 0) unlink(path);
    if (all) return;
    board = NULL;
    if (job.me == 0) printf("no common file: PEs watch each other by their words only\n");
}

/* Now and then one PE, or all but one, come late: by the time the others sleep, or just when they lie down. */
static void dawdle(uint64_t *random) {
    uint64_t draw = job_random(random); /* the same on each PE */
    int late = (int)(draw >> 8) % job.n;
    if (draw % 64 == 0 && job.me == late) job_sleep((long)(draw >> 16) % 500);
    if (draw % 64 == 1 && job.me != late) job_sleep((long)(draw >> 16) % 300);
    if (draw % 64 == 2)
        for (uint64_t i = draw >> 16 & 0xfff; job.me == late && i > 0; i--) atomic_signal_fence(memory_order_seq_cst);
}

int main(void) {
    job_start();
    open_board();
    /* words[epoch & 1][pe] of PE q is what pe has put to q before that barrier, by plain copies and plain stores. */
    uint32_t(*words)[JOB_PES_MAX] = rma_calloc(2, sizeof *words);
    uint64_t random = job_stream(0);
    uint32_t epochs = (uint32_t)(job.one_node ? job_rounds(2000, 400) : job_rounds(500, 150));
    CHECK(words != NULL, "%s", rma_last_error());

    for (uint32_t e = 1; e <= epochs; e++) {
        dawdle(&random);
        for (int pe = 0; pe < job.n; pe++) OK(rma_put(&words[e & 1][job.me], &e, sizeof e, pe));
        if (board) atomic_store_explicit(&board->come[job.me], e, memory_order_relaxed);
        OK(rma_barrier_all());
        for (int pe = 0; pe < job.n; pe++)
            CHECK(words[e & 1][pe] == e, "after barrier %u PE %d's word is %u", e, pe, words[e & 1][pe]);
        for (int pe = 0; board && pe < job.n; pe++) {
            uint32_t come = atomic_load_explicit(&board->come[pe], memory_order_relaxed);
            CHECK(come == e || come == e + 1, "this PE has left barrier %u while PE %d is before barrier %u", e, pe,
                  come);
        }
    }

    /* It may stand among other collective calls. */
    for (int i = 0; i < 20; i++) {
        void *block = rma_malloc(64);
        CHECK(block != NULL, "%s", rma_last_error());
        for (int k = i % 3; k >= 0; k--) OK(rma_barrier_all());
        OK(rma_free(block));
    }
    OK(rma_free(words));
    return job_end();
}
