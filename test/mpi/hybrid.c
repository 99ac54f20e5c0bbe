/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of MPI's windows, OpenSHMEM and rma.h. Its arguments are the steps of its life, in their order:
 *
 *   mpi+ mpi-      MPI_Init (mpiM+: MPI_Init_thread with MPI_THREAD_MULTIPLE), MPI_Finalize
 *   shmem+ shmem-  shmem_init (shmemM+: shmem_init_thread with SHMEM_THREAD_MULTIPLE), shmem_finalize
 *   rma+ rma-      rma_init (rmaM+: rma_init_thread with RMA_THREAD_MULTIPLE), rma_finalize
 *   keep           makes a window that stays until `free`, and is used after each step
 *   self           sets an attribute of MPI_COMM_SELF, whose delete function uses that window and frees it: MPI calls
 * it first when it ends exit           ends the program here, with 0 bad-shmem, bad-shmem-static, bad-rma, bad-window
 * a mistake that ends the job returns        asks for RMA_ERRORS=return by rma_set_errhandler: no mistake of this
 * program ends the job
 *
 * After each step it uses all that is alive: puts, gets and atomics on global variables and on heaps, and windows over
 * all kinds of memory.
 *
 * Broken by a second interface whose calls do nothing or tell of no mistake, by one that ends with the first, and by a
 * count of starts and ends that is not balanced. */
#include <mpi.h>
#include <pthread.h>
#include <rma.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 64

static int me = -1, n, right, left; /* this process, all, and its neighbours in the ring */
static int has_shmem, has_rma, threads;
static long round_; /* counts what has been tried, so that data of an earlier try are not taken for new ones */

/* Global variables as targets, one in .data and some in .bss. */
static long initialized[N] = {1, 2, 3};
static long by_shmem[N], by_rma[N], by_window[N], counter, signal_word;
static long *shmem_heap, *rma_heap;

#define CHECK(...)                                                                                                     \
    do {                                                                                                               \
        if (!(__VA_ARGS__)) {                                                                                          \
            fprintf(stderr, "%s:%d: process %d of %d: not true: %s\n", __FILE__, __LINE__, me, n, #__VA_ARGS__);       \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static int mpi_is_alive(void) {
    int begun, ended;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

static void find_ring(int rank, int size) {
    CHECK(me < 0 || (rank == me && size == n));
    me = rank;
    n = size;
    right = (me + 1) % n;
    left = (me + n - 1) % n;
}

static int on_librma(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "librma_mpi");
}

/* What process p writes in this round. */
static long value_of(int p) { return 1000 * round_ + p; }

/* ---- OpenSHMEM ---- */

static void *add_by_shmem(void *unused) {
    (void)unused;
    for (int i = 0; i < 200; i++) {
        const long mine = i;
        shmem_long_atomic_add(&counter, 1, right);
        shmem_long_put_nbi(&by_shmem[N / 2 + i % 8], &mine, 1, right);
    }
    shmem_quiet();
    return NULL;
}

static void use_shmem(void) {
    const long mine = value_of(me);
    long block[4] = {mine, mine + 1, mine + 2, mine + 3};
    int started = 0, level = -1;
    shmem_query_initialized(&started);
    shmem_query_thread(&level);
    CHECK(started);
    CHECK(!threads || level == SHMEM_THREAD_MULTIPLE);
    CHECK(shmem_my_pe() == me && shmem_n_pes() == n);
    memset(by_shmem, 0, sizeof by_shmem);
    counter = 0;
    shmem_barrier_all();
    shmem_long_p(&by_shmem[0], mine, right);
    shmem_long_put(&by_shmem[1], block, 4, right);
    shmem_long_put_signal(&shmem_heap[0], block, 4, (uint64_t *)&signal_word, (uint64_t)round_, SHMEM_SIGNAL_SET,
                          right);
    shmem_long_p(&initialized[N - 1], mine, right);
    shmem_long_atomic_add(&counter, me + 1, 0);
    shmem_signal_wait_until((uint64_t *)&signal_word, SHMEM_CMP_EQ, (uint64_t)round_);
    shmem_barrier_all();
    CHECK(by_shmem[0] == value_of(left) && by_shmem[1] == value_of(left) && by_shmem[4] == value_of(left) + 3);
    CHECK(shmem_heap[0] == value_of(left) && shmem_heap[3] == value_of(left) + 3);
    CHECK(initialized[N - 1] == value_of(left) && initialized[0] == 1 && initialized[2] == 3);
    CHECK(me != 0 || counter == (long)n * (n + 1) / 2);
    CHECK(shmem_long_g(&by_shmem[0], right) == mine);
    shmem_barrier_all();
    counter = 0;
    shmem_barrier_all();
    if (threads) {
        pthread_t other[2];
        for (int i = 0; i < 2; i++) CHECK(pthread_create(&other[i], NULL, add_by_shmem, NULL) == 0);
        add_by_shmem(NULL);
        for (int i = 0; i < 2; i++) pthread_join(other[i], NULL);
        shmem_barrier_all();
        CHECK(counter == 600);
    }
    by_shmem[0] = me;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &by_shmem[9], &by_shmem[0], 1);
    CHECK(by_shmem[9] == (long)n * (n - 1) / 2);
    shmem_barrier_all();
}

/* ---- rma.h ---- */

static int errors_seen;
static void count_error(int code, const char *text) {
    (void)code, (void)text;
    errors_seen++;
}

static void use_rma(void) {
    const long mine = value_of(me);
    rma_errhandler *before;
    rma_gptr_t own, other;
    long *block;
    CHECK(rma_initialized() && rma_my_pe() == me && rma_n_pes() == n);
    memset(by_rma, 0, sizeof by_rma);
    rma_barrier_all();
    CHECK(rma_put(&by_rma[0], &mine, sizeof mine, right) == RMA_SUCCESS);
    CHECK(rma_put(&rma_heap[1], &mine, sizeof mine, right) == RMA_SUCCESS);
    rma_atomic_add_int64((int64_t *)&by_rma[1], me + 1, 0);
    rma_barrier_all();
    CHECK(by_rma[0] == value_of(left) && rma_heap[1] == value_of(left));
    CHECK(me != 0 || by_rma[1] == (long)n * (n + 1) / 2);
    /* A block of the local heap, through a global pointer. */
    CHECK(rma_alloc_mem(sizeof *block, &block) == RMA_SUCCESS);
    *block = 0;
    own = rma_gptr(block, me);
    CHECK(rma_put(&by_rma[2], &own, sizeof own, left) == RMA_SUCCESS);
    rma_barrier_all();
    memcpy(&other, &by_rma[2], sizeof other);
    CHECK(rma_gptr_put(other, &mine, sizeof mine) == RMA_SUCCESS);
    rma_barrier_all();
    CHECK(*block == value_of(left));
    CHECK(rma_free_mem(block) == RMA_SUCCESS);
    /* A mistake reaches the program's handler, and only that. */
    before = rma_set_errhandler(count_error);
    errors_seen = 0;
    CHECK(rma_put(&by_rma[0], &mine, sizeof mine, n) == RMA_ERR_PE && errors_seen == 1);
    rma_set_errhandler(before);
    rma_barrier_all();
}

/* ---- windows ---- */

/* Puts into, adds to and reads from the neighbour's part of a window over n longs at base. */
static void use_window(MPI_Win win, MPI_Comm comm, long *base) {
    const long mine = value_of(me), one = 1;
    long got = -1;
    int rank, size, to;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    to = (rank + 1) % size;
    MPI_Win_fence(0, win);
    base[0] = base[1] = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(base[0] % 1000 < n && base[0] / 1000 == round_);
    CHECK(rank != 0 || base[1] == size);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    MPI_Get(&got, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(to, win);
    CHECK(got == mine);
    MPI_Win_fence(0, win);
}

static void use_window_over(long *base, MPI_Comm comm) {
    MPI_Win win;
    MPI_Win_create(base, N * sizeof *base, sizeof *base, MPI_INFO_NULL, comm, &win);
    use_window(win, comm, base);
    MPI_Win_free(&win);
}

/* rma.h writes to memory of MPI_Win_allocate, which it did not allocate itself. */
static void put_to_window_memory(long *base) {
    rma_gptr_t own = rma_gptr(base, me), other;
    const long mine = value_of(me) + 7;
    MPI_Sendrecv(&own, 1, MPI_UINT64_T, left, 1, &other, 1, MPI_UINT64_T, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    rma_barrier_all();
    CHECK(rma_gptr_put(other, &mine, sizeof mine) == RMA_SUCCESS);
    rma_barrier_all();
    CHECK(base[0] == value_of(left) + 7);
}

/* A mistake of a window is told to the window's handler, and to no other. */
static void mistake_a_window(MPI_Win win) {
    const long mine = 1;
    rma_errhandler *before = rma_set_errhandler(count_error);
    int code, class;
    errors_seen = 0;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    code = MPI_Put(&mine, 1, MPI_LONG, n, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(right, win);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_RANK);
    if (on_librma() && round_ == 1 && me == 0) { /* this one librma finds, and MPI returns */
        char *block;
        MPI_Alloc_mem(64, MPI_INFO_NULL, &block);
        MPI_Error_class(MPI_Free_mem(block + 8), &class);
        CHECK(class == MPI_ERR_BASE);
        MPI_Free_mem(block);
    }
    CHECK(errors_seen == 0);
    rma_set_errhandler(before);
}

static MPI_Win kept = MPI_WIN_NULL;
static long *kept_base;

static void use_windows(void) {
    long *base, *block = calloc(N, sizeof *block);
    MPI_Comm half, same;
    MPI_Win win;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    find_ring(rank, size);
    MPI_Win_allocate(N * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    use_window(win, MPI_COMM_WORLD, base);
    if (has_rma && on_librma()) put_to_window_memory(base);
    mistake_a_window(win);
    MPI_Win_free(&win);
    use_window_over(block, MPI_COMM_WORLD);
    use_window_over(by_window, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    use_window_over(by_window, half);
    if (has_shmem) use_window_over(shmem_heap + 8, MPI_COMM_WORLD);
    if (has_rma) use_window_over(rma_heap + 8, half);
    if (has_shmem) use_window_over(&by_shmem[16], same);
    MPI_Comm_free(&half);
    MPI_Comm_free(&same);
    if (kept != MPI_WIN_NULL) use_window(kept, MPI_COMM_WORLD, kept_base);
    free(block);
}

/* All of MPI works in the delete functions of MPI_COMM_SELF's attributes (MPI-3.1, section 8.7.1). */
static int delete_self(MPI_Comm comm, int keyval, void *ran, void *extra) {
    char *block;
    (void)comm, (void)keyval, (void)extra;
    use_window(kept, MPI_COMM_WORLD, kept_base);
    CHECK(MPI_Win_free(&kept) == MPI_SUCCESS);
    CHECK(MPI_Alloc_mem(64, MPI_INFO_NULL, &block) == MPI_SUCCESS);
    memset(block, 1, 64);
    CHECK(MPI_Free_mem(block) == MPI_SUCCESS);
    *(int *)ran = 1;
    return MPI_SUCCESS;
}

static int self_set, self_ran;

static void set_attribute_of_self(void) {
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_self, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &self_ran);
    MPI_Comm_free_keyval(&keyval);
    self_set = 1;
}

/* ---- steps ---- */

static void use_all(int mpi) {
    round_++;
    if (has_shmem) use_shmem();
    if (has_rma) use_rma();
    if (mpi) use_windows();
    if (has_shmem) use_shmem();
}

static void begin_shmem(int level) {
    int given = level;
    if (level == SHMEM_THREAD_SINGLE)
        shmem_init();
    else
        CHECK(shmem_init_thread(level, &given) == 0 && given == level);
    threads = level == SHMEM_THREAD_MULTIPLE;
    find_ring(shmem_my_pe(), shmem_n_pes());
    shmem_heap = shmem_calloc(N + 8, sizeof *shmem_heap);
    CHECK(shmem_heap != NULL);
    has_shmem = 1;
}

static void begin_rma(int level) {
    int given = level;
    CHECK(has_shmem || !rma_initialized());
    CHECK((level == RMA_THREAD_SINGLE ? rma_init() : rma_init_thread(level, &given)) == RMA_SUCCESS);
    CHECK(given == level || !on_librma()); /* MPI alone gives what MPI_Init has asked for */
    find_ring(rma_my_pe(), rma_n_pes());
    rma_heap = rma_calloc(N + 8, sizeof *rma_heap);
    CHECK(rma_heap != NULL);
    has_rma = 1;
}

int main(int argc, char **argv) {
    int mpi = 0, given; /* 1: the program has called MPI_Init; -1: MPI_Finalize */
    for (int i = 1; i < argc; i++) {
        const char *step = argv[i];
        const long one = 1;
        if (!strcmp(step, "mpi+")) {
            MPI_Init(&argc, &argv);
            mpi = 1;
        } else if (!strcmp(step, "mpiM+")) {
            MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
            CHECK(given == (has_shmem && !threads && on_librma() ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE));
            mpi = 1;
        } else if (!strcmp(step, "mpi-")) {
            MPI_Finalize();
            mpi = -1;
        } else if (!strncmp(step, "shmem", 5) && strchr(step, '+')) {
            begin_shmem(step[5] == 'M' ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE);
        } else if (!strcmp(step, "shmem-")) {
            shmem_free(shmem_heap);
            shmem_finalize();
            has_shmem = threads = 0;
        } else if (!strncmp(step, "rma", 3) && strchr(step, '+')) {
            begin_rma(step[3] == 'M' ? RMA_THREAD_MULTIPLE : RMA_THREAD_SINGLE);
        } else if (!strcmp(step, "rma-")) {
            if (rma_initialized()) CHECK(rma_free(rma_heap) == RMA_SUCCESS);
            CHECK(rma_finalize() == RMA_SUCCESS);
            has_rma = 0;
        } else if (!strcmp(step, "keep")) {
            MPI_Win_allocate(N * sizeof *kept_base, sizeof *kept_base, MPI_INFO_NULL, MPI_COMM_WORLD, &kept_base,
                             &kept);
        } else if (!strcmp(step, "free")) {
            MPI_Win_free(&kept);
        } else if (!strcmp(step, "self")) {
            set_attribute_of_self();
        } else if (!strcmp(step, "exit")) {
            exit(0);
        } else if (!strcmp(step, "returns")) {
            rma_set_errhandler(rma_errors_return);
        } else if (!strcmp(step, "bad-shmem")) {
            shmem_long_p(&by_shmem[0], 1, 99);
        } else if (!strcmp(step, "bad-shmem-static")) {
            shmem_long_p(&by_shmem[0], 1, right);
        } else if (!strcmp(step, "bad-rma")) {
            rma_put(&by_rma[0], &one, sizeof one, 99);
        } else if (!strcmp(step, "bad-window")) {
            MPI_Win_lock(MPI_LOCK_SHARED, right, 0, kept);
            MPI_Put(&one, 1, MPI_LONG, right, N, 1, MPI_LONG, kept);
            MPI_Win_unlock(right, kept);
        } else {
            CHECK(!"a step");
        }
        /* MPI_Finalize before rma_finalize ends rma.h, too, unless OpenSHMEM puts it off. */
        if (has_rma && !rma_initialized()) has_rma = 0;
        /* An interface that has started MPI may leave it running, but the program does not know that. */
        use_all(mpi > 0 || (mpi == 0 && (has_shmem || has_rma) && mpi_is_alive()));
    }
    CHECK(self_ran == self_set);
    if (me == 0) puts("passed");
    return 0;
}
