/* SPDX-License-Identifier: BSD-3-Clause */
/* Not a test by itself, and not in the plan: what test/check-stall.sh and test/check-hosts.sh start, and look at from
 * outside.
 *
 *     stall                  communicates until somebody ends it, or cuts the network under it. PE 0 says "running"
 *                            when it has begun.
 *     stall WAIT HINDRANCE   the PEs wait for PE 1 in a call of the kind WAIT, and PE 1 does not come, for the reason
 *                            HINDRANCE
 *
 * WAIT: testlock (PE 0 tries a lock that PE 1 has, again and again, and the others wait for PE 0), test (PE 0 looks at
 * a word again and again), testany (the same), barrier, team (a team made by a split meets), collective, lock, wait,
 * any, signal, malloc, split, finalize, flood (all messages that
 * may be under way are, towards PE 1), put, get (of PE 1's memory, again and again; the script has them go
 * through MPI's window). HINDRANCE: stop (by SIGSTOP), die (by SIGKILL), late (it comes when the file that
 * STALL_UNTIL names is there), elsewhere (it is in another collective call for ever), crossed (it is in rma_team_sync
 * of another team, for ever), thread, signal, child (it waits for a word that a thread, a function for a signal or a
 * child process writes after some seconds; then it comes). If nobody ends the job it ends by itself.
 *
 * If puts or gets do not wait for a stopped PE 1, PE 0 says so, and continues PE 1; the job then passes. */
#include "job.h"

#include <pthread.h>
#include <signal.h>

#define ALONE     1000 /* accesses of a stopped PE's memory */
#define FORGOTTEN 600  /* seconds */
#define SOMETIMES 4 /* seconds: longer than RMA_STALL, which the script sets, after which a wrong report would come */
#define CULPRIT   1
#define BLOCK     16384 /* bytes: by the window it waits for the target, and is not sent as long data are */

static struct {
    long count;
    long word;
    long process; /* on PE 0: of PE 1 */
    uint64_t signal;
    rma_lock_t lock;
    char block[BLOCK];
} * shared;

static rma_team *team, *other;

static void communicate(void) {
    DOING("communicating until it is ended");
    for (long turn = 0;; turn++) {
        for (int step = 1; step <= job.n; step++)
            CHECK(rma_atomic_fetch_add(&shared->count, 1L, job_any(step)) >= turn, "turn %ld", turn);
        OK(rma_barrier_all());
    }
}

/* Stays out of the library until the script has seen what it waits for. */
static void stay_away(void) {
    const char *until = getenv("STALL_UNTIL");
    while (until && access(until, F_OK) != 0) job_sleep(10000);
}

static void *write_word(void *unused) {
    job_sleep(SOMETIMES * 1000000L);
    __atomic_store_n(&shared->word, 1L, __ATOMIC_RELEASE);
    return unused;
}

static void write_word_now(int number) {
    (void)number;
    __atomic_store_n(&shared->word, 1L, __ATOMIC_RELEASE);
}

/* What PE 1 does in place of coming. */
static void hinder(const char *hindrance) {
    long nothing = 0;
    if (strcmp(hindrance, "stop") == 0) raise(SIGSTOP);
    if (strcmp(hindrance, "die") == 0) raise(SIGKILL);
    if (strcmp(hindrance, "late") == 0) stay_away();
    if (strcmp(hindrance, "crossed") == 0) OK(rma_team_sync(other));
    if (strcmp(hindrance, "thread") == 0) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, write_word, NULL) == 0, "a thread");
        rma_wait_until(&shared->word, RMA_CMP_EQ, 1L);
        pthread_join(thread, NULL);
    }
    if (strcmp(hindrance, "signal") == 0) {
        signal(SIGALRM, write_word_now);
        alarm(SOMETIMES);
        rma_wait_until(&shared->word, RMA_CMP_EQ, 1L);
    }
    if (strcmp(hindrance, "child") == 0) {
        if (fork() == 0) {
            write_word(NULL);
            _exit(0);
        }
        rma_wait_until(&shared->word, RMA_CMP_EQ, 1L);
    }
    if (strcmp(hindrance, "elsewhere") == 0) OK(rma_broadcast(RMA_TEAM_WORLD, &nothing, &nothing, sizeof nothing, 0));
}

/* A context has 4 messages of up to 126 records under way at a PE at most, and all contexts together 1024: each asks
 * for less than it may, so that none waits before all 1024 are under way. */
#define RECORDS 500
static void flood(void) {
    for (;;) {
        rma_ctx *ctx;
        OK(rma_ctx_create(0, &ctx));
        for (int i = 0; i < RECORDS; i++) rma_ctx_atomic_add(ctx, &shared->count, 1L, CULPRIT);
    }
}

static int is_stopped(long process) {
    char path[64], state = 0;
    FILE *f;
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    if (f) fclose(f);
    return state == 'T';
}

/* Where the network does without the stopped PE, nobody waits for it: then the PE goes on. */
static void use_window(const char *wait) {
    static char mine[BLOCK];
    const long process = shared->process;
    for (int alone = 0; alone < ALONE; alone = is_stopped(process) ? alone + 1 : 0) {
        if (strcmp(wait, "put") == 0) OK(rma_put(shared->block, mine, sizeof mine, CULPRIT));
        if (strcmp(wait, "put") == 0) OK(rma_quiet());
        if (strcmp(wait, "get") == 0) OK(rma_get(mine, shared->block, sizeof mine, CULPRIT));
    }
    printf("without PE %d\n", CULPRIT);
    CHECK(kill((pid_t)process, SIGCONT) == 0, "process %ld", process);
}

static void test_sometimes(void) {
    const long process = shared->process;
    double until;
    while (!is_stopped(process)) job_sleep(1000);
    for (until = rma_wtime() + SOMETIMES; rma_wtime() < until; job_sleep(300000))
        for (int i = 0; i < 3000; i++) CHECK(!rma_test(&shared->word, RMA_CMP_EQ, 1L), "nobody writes the word");
    for (until = rma_wtime() + SOMETIMES; rma_wtime() < until; rma_atomic_add(&shared->word, -1L, job.me))
        for (int i = 0; i < 500; i++) CHECK(!rma_test(&shared->word, RMA_CMP_EQ, 1L), "the word counts down");
    CHECK(kill((pid_t)process, SIGCONT) == 0, "process %ld", process);
}

static void wait_for_culprit(const char *wait) {
    long sum = 1, all;
    if (strcmp(wait, "barrier") == 0) OK(rma_barrier_all());
    if (strcmp(wait, "team") == 0) OK(rma_team_sync(team));
    if (strcmp(wait, "collective") == 0) OK(rma_sum_reduce(RMA_TEAM_WORLD, &all, &sum, 1));
    if (strcmp(wait, "lock") == 0) OK(rma_set_lock(&shared->lock));
    while (strcmp(wait, "testlock") == 0 && job.me == 0 && !rma_test_lock(&shared->lock)) continue;
    if (strcmp(wait, "testlock") == 0) OK(rma_barrier_all());
    while (strcmp(wait, "test") == 0 && !rma_test(&shared->word, RMA_CMP_EQ, 1L)) continue;
    while (strcmp(wait, "testany") == 0 && rma_test_any(&shared->word, 1, NULL, RMA_CMP_EQ, 1L) != 0) continue;
    if (strcmp(wait, "sometimes") == 0) test_sometimes();
    if (strcmp(wait, "wait") == 0) rma_wait_until(&shared->word, RMA_CMP_EQ, 1L);
    if (strcmp(wait, "signal") == 0) CHECK(rma_signal_wait_until(&shared->signal, RMA_CMP_EQ, 1) == 1, "the signal");
    if (strcmp(wait, "any") == 0) CHECK(rma_wait_until_any(&shared->word, 1, NULL, RMA_CMP_EQ, 1L) == 0, "the word");
    if (strcmp(wait, "malloc") == 0) CHECK(rma_malloc(1000) != NULL, "%s", rma_last_error());
    if (strcmp(wait, "split") == 0) OK(rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, job.n, &other));
    if (strcmp(wait, "finalize") == 0) OK(rma_finalize());
    if (strcmp(wait, "flood") == 0) flood();
    if (strcmp(wait, "put") == 0 || strcmp(wait, "get") == 0) use_window(wait);
}

/* What PE 1 owes the others, when it does come. */
static void make_up(const char *wait) {
    if (strcmp(wait, "barrier") == 0 || strcmp(wait, "team") == 0 || strcmp(wait, "collective") == 0)
        wait_for_culprit(wait);
    if (strcmp(wait, "lock") == 0) OK(rma_clear_lock(&shared->lock));
    for (int pe = 0; pe < job.n; pe++) {
        rma_p(&shared->word, 1L, pe);
        OK(rma_signal_set(&shared->signal, 1, pe));
    }
}

int main(int argc, char **argv) {
    const char *level = getenv("STALL_LEVEL");
    int provided;
    job_begin();
    signal(SIGALRM, SIG_DFL); /* where there is a function for it, the library does not look for deadlocks */
    OK(rma_init_thread(level && strcmp(level, "multiple") == 0 ? RMA_THREAD_MULTIPLE : RMA_THREAD_SINGLE, &provided));
    job_look();
    alarm(job_deadline(FORGOTTEN));
    shared = rma_calloc(1, sizeof *shared);
    CHECK(shared != NULL, "%s", rma_last_error());
    OK(rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, job.n, &team));
    OK(rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, job.n, &other));
    if (argc > 2 && job.me == CULPRIT && strstr(argv[1], "lock")) OK(rma_set_lock(&shared->lock));
    if (job.me == CULPRIT) rma_p(&shared->process, (long)getpid(), 0);
    OK(rma_barrier_all());
    if (job.me == 0) {
        printf("running\n");
        fflush(stdout);
    }
    if (argc < 3) communicate();
    DOING(argv[1]);
    if (job.me == CULPRIT) {
        hinder(argv[2]);
        make_up(argv[1]);
    } else {
        wait_for_culprit(argv[1]);
        if (strcmp(argv[1], "lock") == 0) OK(rma_clear_lock(&shared->lock));
    }
    return job_end();
}
