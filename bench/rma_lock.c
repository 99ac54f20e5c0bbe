/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_lock.c: the cost of an uncontended lock, the time of its hand-over from one PE to the next, and its turns when
 * all PEs want it at once.
 *
 * Hand-overs are measured one by one. The holder waits until all others have requested the lock and had time to begin
 * waiting, records the time, and releases the lock; the next holder also records the time. Afterwards the former tells
 * the latter its time, so meanwhile only the lock moves between the two. The limits are batons, measured in the same
 * way: a word on which the next PE spins, and one on which it sleeps in the kernel, as it must if PEs outnumber
 * processors.
 *
 * The lock has its home on PE 1, so that between nodes it is off-node for PE 0. */
#include "bench.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RMA, RAW, FETCH_ADD, FUTEX, MPI, N_METHODS };

#define APART       128   /* no cache or prefetcher moves more at once */
#define LOCKS       16    /* for each PE: enough that one of them has the wanted home */
#define SAMPLES     65536 /* hand-overs of a batch that are kept */
#define HOLD        5e-6  /* seconds in which the next PE begins to wait */
#define HOLD_ASLEEP 50e-6 /* seconds in which the next PE goes to sleep */
#define REST        1e-6  /* seconds in which the next PE notices */
#define SPINS_MOST  65536 /* polls of a baton before a yield: longer than a hold */
#define WORDS       3     /* words that the lock guards */

/* On each PE. */
struct board {
    _Alignas(APART) uint64_t baton;          /* the turn that this PE has been given; the PE spins on this word */
    _Alignas(APART) uint32_t futex;          /* the turn's lower half; the PE sleeps on this word */
    _Alignas(APART) uint64_t count;          /* for atomics without a lock */
    _Alignas(APART) uint64_t guarded[WORDS]; /* from here on only PE 0's is used. Each counts the turns of all PEs */
    _Alignas(APART) uint64_t asked;          /* turns of this batch that PEs are about to request */
    _Alignas(APART) uint64_t turn;           /* turns that have begun; also guarded */
    _Alignas(APART) uint64_t told;           /* turns whose end is known */
    double released;                         /* the end of the newest of these turns */
    _Alignas(APART) double sample[SAMPLES];
};

/* A lock on its own cache lines. */
struct apart {
    _Alignas(APART) rma_lock_t lock;
};

static struct apart *locks;
static rma_lock_t *lock;      /* one of them */
static int home;              /* the PE of its home */
static struct board *board;   /* this PE's */
static struct board *board_0; /* PE 0's by load and store; null off-node, as are: */
static struct board *board_home;
static struct board *board_next; /* that of the PE that gets the baton from this PE */
static rma_team *pair;           /* PE 0 and PE 1 */
static rma_team *players;        /* the PEs that take turns in this row: PE 0 and those after it */
static uint64_t n_players;
static double clock_cost;
static uint64_t increments;     /* of each guarded word, by all PEs */
static uint64_t mpi_increments; /* of each guarded word in the window, by all PEs */
static uint64_t *mpi_guarded;   /* this PE's part of the window; only PE 0's is used */
static MPI_Win window;          /* the window whose locks MPI's column takes */
static size_t wrong;            /* wrong values that this PE has found */

/* The uncontended lock. */

BENCH_LOOP(run_lock, BENCH_RMA(rma_set_lock(lock)); BENCH_RMA(rma_clear_lock(lock)))

static void test(void) {
    if (rma_test_lock(lock))
        BENCH_RMA(rma_clear_lock(lock));
    else
        wrong++;
}
BENCH_LOOP(run_test, test())

BENCH_LOOP(run_mpi_lock, BENCH_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home, 0, window));
           BENCH_MPI(MPI_Win_unlock(home, window)))

/* The two atomics that every queue lock needs: one takes the queue's end, the other gives it back if nobody has come.
 * The word is on the same PE as the lock's. */

BENCH_INLINE void give_back(uint64_t *word) {
    uint64_t mine = 1;
    wrong += !__atomic_compare_exchange_n(word, &mine, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

BENCH_LOOP(run_exchange, wrong += __atomic_exchange_n(&board_home->count, 1, __ATOMIC_ACQ_REL) != 0;
           give_back(&board_home->count))

static void take_and_give_back(uint64_t *word) {
    uint64_t nobody = 0;
    wrong += !__atomic_compare_exchange_n(word, &nobody, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    give_back(word);
}
BENCH_LOOP(run_compare_swap, take_and_give_back(&board_home->count))

BENCH_LOOP(add_near, __atomic_fetch_add(&board_home->count, 1, __ATOMIC_ACQ_REL))
BENCH_LOOP(add_far, rma_atomic_fetch_add(&board->count, 1, home))

static double run_fetch_add(long n) {
    if (!board_home) return add_far(n);
    double seconds = add_near(n);
    __atomic_store_n(&board_home->count, 0, __ATOMIC_RELEASE); /* as the others expect it */
    return seconds;
}

/* Turns of a batch, from 0 on. take waits for this PE's turn, pass ends it; only batons need its number. */

/* All players together; this clears the state of the previous batch. */
static void begin(void) {
    board->baton = 0;
    board->futex = 0;
    board->asked = board->turn = board->told = 0;
    BENCH_RMA(rma_team_sync(players));
}

static void take_lock(uint64_t turn) {
    (void)turn;
    BENCH_RMA(rma_set_lock(lock));
}

static void pass_lock(uint64_t turn) {
    (void)turn;
    BENCH_RMA(rma_clear_lock(lock));
}

static void take_baton(uint64_t turn) {
    /* Pairs with the release in pass_baton: this PE sees what was done before. There is no pause, which would notice
     * the baton later. */
    for (unsigned spins = 0; __atomic_load_n(&board->baton, __ATOMIC_ACQUIRE) < turn; spins++)
        if (spins > SPINS_MOST) sched_yield();
}

static void pass_baton(uint64_t turn) { __atomic_store_n(&board_next->baton, turn + 1, __ATOMIC_RELEASE); }

/* Not FUTEX_PRIVATE: PEs are processes. */
static void take_futex(uint64_t turn) {
    uint32_t seen;
    /* Pairs with the release in pass_futex. A batch has less than 2^31 turns. */
    while ((seen = __atomic_load_n(&board->futex, __ATOMIC_ACQUIRE)) < (uint32_t)turn)
        syscall(SYS_futex, &board->futex, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void pass_futex(uint64_t turn) {
    __atomic_store_n(&board_next->futex, (uint32_t)turn + 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &board_next->futex, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* One hand-over after the other. */

static void spin_for(double seconds) {
    for (double end = rma_wtime() + seconds; rma_wtime() < end;) continue;
}

/* n turns of each player. On PE 0 the median of the times from the end of a turn to the beginning of the next, times n.
 */
BENCH_INLINE double hand_over(long n, double hold, void (*take)(uint64_t turn), void (*pass)(uint64_t turn)) {
    uint64_t all = (uint64_t)n * n_players, samples = all - 1 < SAMPLES ? all - 1 : SAMPLES;
    begin();
    for (uint64_t mine = (uint64_t)bench.pe; mine < all; mine += n_players) {
        __atomic_fetch_add(&board_0->asked, 1, __ATOMIC_RELAXED);
        take(mine);
        double time = rma_wtime();
        uint64_t turn = board_0->turn++; /* this PE's, unless another PE was late to request the lock */
        if (turn > 0) {
            bench_wait_flag(&board_0->told, turn);
            board_0->sample[(turn - 1) % SAMPLES] = time - board_0->released - clock_cost;
        }
        bench_wait_flag(&board_0->asked, turn + n_players);
        spin_for(hold);
        time = rma_wtime();
        pass(turn);
        spin_for(REST);
        board_0->released = time;
        /* Pairs with the acquire of the PE that has the next turn, and of PE 0 in the end: it sees the time and all
         * samples so far.
         */
        __atomic_store_n(&board_0->told, turn + 1, __ATOMIC_RELEASE);
    }
    __atomic_fetch_add(&board_0->asked, all + n_players,
                       __ATOMIC_RELAXED); /* from now on nobody need wait for this PE */
    if (bench.pe != 0) return 0;
    bench_wait_flag(&board->told, all);
    wrong += board->turn != all;
    return bench_median(board->sample, (int)samples) * (double)n;
}

static double hand_over_lock(long n) { return hand_over(n, bench.crowded ? HOLD_ASLEEP : HOLD, take_lock, pass_lock); }

static double hand_over_baton(long n) { return hand_over(n, HOLD, take_baton, pass_baton); }

static double hand_over_futex(long n) { return hand_over(n, HOLD_ASLEEP, take_futex, pass_futex); }

/* The contended lock. */

BENCH_INLINE void add_guarded(void) {
    uint64_t word[WORDS];
    BENCH_RMA(rma_get(word, board->guarded, sizeof word, 0));
    for (int k = 0; k < WORDS; k++) word[k]++;
    BENCH_RMA(rma_put(board->guarded, word, sizeof word, 0));
}

static void wait_for_all_to_ask(void) {
    while (rma_atomic_fetch(&board->asked, 0) < n_players) {
        BENCH_RMA(rma_progress());
        if (bench.crowded) sched_yield();
    }
}

/* One untimed turn of each player, the first of which waits until all have requested the lock; then n more. From then
 * on the queue is full, except for PEs that lose their processor between a turn and their next request: the others go
 * on without them. */
BENCH_INLINE double contend(long n, void (*take)(uint64_t turn), void (*pass)(uint64_t turn)) {
    uint64_t all = (uint64_t)(n + 1) * n_players;
    double start = 0;
    begin();
    BENCH_RMA(rma_atomic_inc(&board->asked, 0));
    BENCH_RMA(rma_quiet());
    for (uint64_t mine = (uint64_t)bench.pe; mine < all; mine += n_players) {
        take(mine);
        add_guarded();
        if (mine < n_players) {
            wait_for_all_to_ask();
            start = rma_wtime();
        }
        pass(mine);
    }
    increments += all;
    return (rma_wtime() - start) / (double)n_players;
}

static double contend_lock(long n) { return contend(n, take_lock, pass_lock); }

static double contend_baton(long n) { return contend(n, take_baton, pass_baton); }

static double contend_futex(long n) { return contend(n, take_futex, pass_futex); }

/* MPI's lock of PE 0's part of the window has no visible queue: all begin together, n turns each. */
static double contend_mpi(long n) {
    BENCH_MPI(MPI_Barrier(MPI_COMM_WORLD));
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        uint64_t word[WORDS];
        BENCH_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
        BENCH_MPI(MPI_Get(word, WORDS, MPI_UINT64_T, 0, 0, WORDS, MPI_UINT64_T, window));
        BENCH_MPI(MPI_Win_flush(0, window));
        for (int k = 0; k < WORDS; k++) word[k]++;
        BENCH_MPI(MPI_Put(word, WORDS, MPI_UINT64_T, 0, 0, WORDS, MPI_UINT64_T, window));
        BENCH_MPI(MPI_Win_unlock(0, window));
    }
    mpi_increments += (uint64_t)n * n_players;
    return (rma_wtime() - start) / (double)n_players;
}

/* Checks. */

/* Afterwards the last PE finds the lock free. */
static size_t check_free(const struct bench_method *m) {
    size_t before = wrong;
    if (bench_calls_run(m)) m->run(10);
    bench_sync();
    if (bench.pe == bench.n_pes - 1) run_test(1);
    bench_sync();
    return wrong - before;
}

/* Wrong words, on PE 0. Collective. */
static size_t check_sums(void) {
    size_t bad = 0;
    bench_sync();
    for (int k = 0; bench.pe == 0 && k < WORDS; k++) bad += rma_g(&board->guarded[k], 0) != increments;
    BENCH_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, bench.pe, 0, window)); /* an epoch in which loads see other PEs' puts */
    for (int k = 0; bench.pe == 0 && k < WORDS; k++) bad += mpi_guarded[k] != mpi_increments;
    BENCH_MPI(MPI_Win_unlock(bench.pe, window));
    bench_sync();
    return bad;
}

static size_t check_contended(const struct bench_method *m) {
    m->run(10);
    return check_sums();
}

/* Rows. */

enum row { LOCK, TEST, HANDOVER, HANDOVER_ALL, CONTENDED };

#define HAND_OVER                                                                                                      \
    { hand_over_lock, hand_over_baton, NULL, hand_over_futex, NULL }
static const struct bench_row rows[] = {
    [LOCK] = {"lock", {run_lock, run_exchange, run_fetch_add, NULL, run_mpi_lock}, 0},
    [TEST] = {"test", {run_test, run_compare_swap, run_fetch_add, NULL, NULL}, 0},
    [HANDOVER] = {"handover", HAND_OVER, 0},
    [HANDOVER_ALL] = {"handover_all", HAND_OVER, 0},
    [CONTENDED] = {"contended", {contend_lock, contend_baton, NULL, contend_futex, contend_mpi}, 0},
    {0},
};

/* Leaves out what cannot be measured. */
static void before(struct bench_method *methods) {
    const enum row row = (enum row)bench.row;
    bool near = !bench_agree(bench.pe == 0 && !board_home); /* PE 0 and the lock's home */
    bool one_node = rma_n_nodes() == 1 && bench.n_pes > 1;
    bool hands = row == HANDOVER ? bench.n_pes > 1 && near : bench.n_pes > 2 && one_node && !bench.crowded;
    players = row == HANDOVER ? pair : RMA_TEAM_WORLD;
    n_players = row == HANDOVER && bench.n_pes > 2 ? 2 : (uint64_t)bench.n_pes;
    board_next = rma_ptr(board, (int)((uint64_t)(bench.pe + 1) % n_players));
    for (int i = 0; i < N_METHODS; i++) {
        methods[i].check = row == CONTENDED ? check_contended : check_free;
        methods[i].callers = row <= TEST ? BENCH_ORIGINS : row == HANDOVER ? BENCH_BOTH : BENCH_ALL;
        if ((row == HANDOVER || row == HANDOVER_ALL) && !hands) methods[i].run = NULL;
    }
    if (row <= TEST ? !near : bench.crowded || (row == CONTENDED && !one_node)) methods[RAW].run = NULL;
    if (row == CONTENDED && !one_node) methods[FUTEX].run = NULL;
}

/* A lock's home is the PE whose copy changes when another PE takes the lock. */
static void choose_lock(void) {
    const rma_lock_t unused = RMA_LOCK_INIT;
    int n = LOCKS * bench.n_pes, found = 0;
    home = bench.n_pes > 1;
    for (int i = 0; bench.pe == 0 && i < n; i++) BENCH_RMA(rma_set_lock(&locks[i].lock));
    BENCH_RMA(rma_barrier_all());
    for (int i = 0; bench.pe == home && i < n && !found; i++)
        if (home == 0 || memcmp(&locks[i].lock, &unused, sizeof unused) != 0) found = i + 1;
    found = bench_agree(found);
    for (int i = 0; bench.pe == 0 && i < n; i++) BENCH_RMA(rma_clear_lock(&locks[i].lock));
    BENCH_RMA(rma_barrier_all());
    if (!found) bench_refuse(1, "none of %d locks has its home on PE %d", n, home);
    lock = &locks[found - 1].lock;
}

static void open_all(void) {
    locks = bench_symmetric(APART, (size_t)(LOCKS * bench.n_pes) * sizeof *locks);
    board = bench_symmetric(APART, sizeof *board);
    clock_cost = bench_clock_cost();
    BENCH_RMA(rma_barrier_all());
    choose_lock();
    board_0 = rma_ptr(board, 0);
    board_home = rma_ptr(board, home);
    BENCH_MPI(MPI_Win_allocate(WORDS * sizeof *mpi_guarded, sizeof *mpi_guarded, MPI_INFO_NULL, MPI_COMM_WORLD,
                               &mpi_guarded, &window));
    memset(mpi_guarded, 0, WORDS * sizeof *mpi_guarded);
    bench_sync();
    if (bench.n_pes > 1) BENCH_RMA(rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, 2, &pair));
}

static void close_all(void) {
    size_t bad = check_sums();
    if (bad > 0)
        fprintf(stderr, "rma_lock: %zu of %d words under a lock or a baton are not %llu\n", bad, WORDS,
                (unsigned long long)increments);
    if (bench_agree(bad + wrong > 0)) bench.failed = true;
    BENCH_MPI(MPI_Win_free(&window));
    BENCH_RMA(rma_team_destroy(pair));
    BENCH_RMA(rma_free(board));
    BENCH_RMA(rma_free(locks));
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [RMA] = {.name = "Latency (ns)"},          [RAW] = {.name = "raw (ns)"},
        [FETCH_ADD] = {.name = "fetch_add (ns)"},  [FUTEX] = {.name = "futex (ns)"},
        [MPI] = {.name = "MPI (ns)", .mpi = true}, {0},
    };
    static const struct bench_ratio ratios[] = {
        {"rma/raw", RMA, {RAW, -1}},
        {"rma/fetch_add", RMA, {FETCH_ADD, -1}},
        {"rma/futex", RMA, {FUTEX, -1}},
        {"MPI/rma", MPI, {RMA, -1}},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "lock latency",
        .note = "PE 0 alone, PE 0 and PE 1, all PEs; the lock's home is PE 1",
        .help =
            "Time of a lock and of what it is made of:\n"
            "  Latency (ns)    librma\n"
            "  raw (ns)        the least that it takes on a node; '-' off-node, and of the last three rows where PEs "
            "outnumber\n"
            "                  processors\n"
            "  fetch_add (ns)  of the first two rows: one atomic on a word of the lock's home; off-node by "
            "rma_atomic_fetch_add\n"
            "  futex (ns)      of the last three: a word on which the next PE sleeps; '-' off-node\n"
            "  MPI (ns)        MPI_Win_lock, exclusive, and MPI_Win_unlock; in the last row with MPI_Get, "
            "MPI_Win_flush and\n"
            "                  MPI_Put of the words between; '-' in the others\n"
            "The rows:\n"
            "  lock          PE 0: rma_set_lock, rma_clear_lock, nobody else wants it; raw: exchange, "
            "compare-and-swap\n"
            "  test          the same with rma_test_lock; raw: two compare-and-swaps\n"
            "  handover      from rma_clear_lock by PE 0 or 1 to the return of rma_set_lock in the other, which "
            "waits;\n"
            "                raw, futex: the same with a word that the other one spins or sleeps on; '-' off-node\n"
            "  handover_all  the same with all PEs in turn; '-' unless 3 or more, on one node, each with a processor\n"
            "  contended     a turn of one PE, which adds to three words of PE 0, while all want the lock;\n"
            "                raw, futex: the same in turn by such a word\n"
            "1.5 at most is asked of rma/raw of handover, and 5 of rma/futex of contended.",
        .methods = methods,
        .ratios = ratios,
        .rows = rows,
        .first = "Row",
        .value = BENCH_NS,
        .budget = 20e-3,
        .begin = open_all,
        .before = before,
        .end = close_all,
    };
    return bench_main(argc, argv, &spec);
}
