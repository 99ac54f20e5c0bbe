/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting, and the barrier that is built on it, between threads and between processes that share memory. Broken by a
 * thread that is not woken, which shows as a passed deadline, and by a thread that continues too early, which shows as
 * a number that is not there yet.
 *
 *     RMA_TEST_WRAP   if not empty, everything is some ten times slower: fewer turns */
#include "config.h"

#include "rma.h"
#include "base/clock.h"
#include "base/crowd.h"
#include "base/wait.h"
#include "runtime/node/barrier.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE 300 /* seconds: more than anything here takes, however busy the machine */
#define MOST     8

static const struct rmai_patience none = {0}, some = {.polls = 200, .yields = 2}, much = {.polls = 2000, .yields = 10};
static unsigned turns = 50000, epochs = 3000;

/* ---- shared memory, processes ---- */

static void *shared_memory(size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(p != MAP_FAILED);
    return p;
}

static pid_t child[MOST];
static int n_children;

/* The child runs body(context, q) and ends with its value: 0 is good. One that hangs is ended by its alarm. */
static void start(int (*body)(void *context, int q), void *context, int q) {
    pid_t id = fork();
    ck_assert_int_ge(id, 0);
    if (id == 0) {
        _exit(body(context, q));
    }
    child[n_children++] = id;
}

/* Waits for all, and ends those that wait for one that failed. */
static void join(void) {
    int bad = 0, status, left = n_children;
    while (left > 0) {
        pid_t id = waitpid(-1, &status, 0);
        int q = 0;
        if (id < 0 && errno == EINTR) continue;
        ck_assert_int_gt(id, 0);
        while (q < n_children && child[q] != id) q++;
        ck_assert_int_lt(q, n_children);
        child[q] = 0;
        left--;
        if (bad || status == 0) continue;
        bad = status;
        for (int i = 0; i < n_children; i++)
            if (child[i]) kill(child[i], SIGKILL);
    }
    n_children = 0;
    ck_assert_msg(!WIFSIGNALED(bad), "signal %d (%d: not woken in %d s)", WTERMSIG(bad), SIGALRM, DEADLINE);
    ck_assert_int_eq(WEXITSTATUS(bad), 0);
}

static void store(struct rmai_event *e, uint32_t value) {
    atomic_store_explicit(&e->value, value, memory_order_release);
}

/* Waits for a condition that another thread or process makes true. */
#define UNTIL(condition)                                                                                               \
    do {                                                                                                               \
        time_t end = time(NULL) + DEADLINE;                                                                            \
        while (!(condition)) {                                                                                         \
            ck_assert_msg(time(NULL) < end, "never: %s", #condition);                                                  \
            sched_yield();                                                                                             \
        }                                                                                                              \
    } while (0)

/* ---- one event ---- */

START_TEST(a_changed_value_is_returned_at_once) {
    /* A wait that sleeps first and looks later, or that stays counted among the sleepers. */
    struct rmai_event e = {5, 0};
    const struct rmai_patience *all[] = {&none, &some, &much};
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(rmai_wait(&e, 4, all[i]), 5);
        ck_assert_uint_eq(rmai_wait(&e, UINT32_MAX, all[i]), 5);
        ck_assert_uint_eq(rmai_wait(&e, 6, all[i]), 5);
        rmai_wake(&e);
        ck_assert_uint_eq(e.sleepers, 0);
        ck_assert_uint_eq(e.value, 5);
    }
}
END_TEST

struct pair {
    _Alignas(RMAI_APART) struct rmai_event ping;
    _Alignas(RMAI_APART) struct rmai_event pong;
    const struct rmai_patience *patience;
    unsigned turns;
    _Alignas(RMAI_APART) uint32_t data; /* plain: written and read in turn */
};

/* One side of a rally. Each value must be the next one, with the data that was written before it. */
static int rally(struct pair *p, struct rmai_event *mine, struct rmai_event *theirs, uint32_t first) {
    for (uint32_t i = 1; i <= p->turns; i++) {
        uint32_t expected = 2 * i - 1 + first, value;
        if (!first) {
            p->data = expected;
            store(theirs, i);
            rmai_wake(theirs);
        }
        value = rmai_wait(mine, i - 1, p->patience);
        if (value != i) return 1;
        if (p->data != (first ? 2 * i - 1 : 2 * i)) return 2;
        if (first) {
            p->data = 2 * i;
            store(theirs, i);
            rmai_wake(theirs);
        }
    }
    return 0;
}

static int ping_side(void *p, int q) {
    (void)q;
    return rally(p, &((struct pair *)p)->pong, &((struct pair *)p)->ping, 0);
}

static int pong_side(void *p, int q) {
    (void)q;
    return rally(p, &((struct pair *)p)->ping, &((struct pair *)p)->pong, 1);
}

static void *pong_thread(void *p) { return (void *)(intptr_t)pong_side(p, 0); }

/* No polls of its own, but those of a crowd: a process that is started has a copy, with the same file. */
static struct rmai_crowd crowd;
static const struct rmai_patience in_crowd = {.yields = 2, .crowd = &crowd};

static const struct rmai_patience *patience_of(int i) {
    if (i == 3 && !crowd.polls) rmai_crowd_open(&crowd, 1, 1000);
    return i == 0 ? &none : i == 1 ? &some : i == 2 ? &much : &in_crowd;
}

START_TEST(no_turn_is_lost_between_threads) {
    /* A wake-up that is lost between the sleeper's last look and its sleep, or that comes before its value. */
    static struct pair p;
    pthread_t thread;
    void *code;
    p.patience = patience_of(_i);
    p.turns = turns;
    ck_assert_int_eq(pthread_create(&thread, NULL, pong_thread, &p), 0);
    ck_assert_int_eq(ping_side(&p, 0), 0);
    ck_assert_int_eq(pthread_join(thread, &code), 0);
    ck_assert_int_eq((int)(intptr_t)code, 0);
    ck_assert_uint_eq(p.ping.sleepers | p.pong.sleepers, 0);
}
END_TEST

START_TEST(no_turn_is_lost_between_processes) {
    /* As above; and a futex that is private to one process, so that the other's wake-up finds nobody. */
    struct pair *p = shared_memory(sizeof *p);
    p->patience = patience_of(_i);
    p->turns = turns;
    start(ping_side, p, 0);
    start(pong_side, p, 1);
    join();
    ck_assert_uint_eq(p->ping.sleepers | p->pong.sleepers, 0);
}
END_TEST

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* 20, as many times more as test/run finds the machine to be slow. */
static uint32_t rounds(void) {
    const char *slow = getenv("CK_TIMEOUT_MULTIPLIER");
    const int times = slow ? atoi(slow) : 1;
    return 20 * (uint32_t)(times > 1 ? times : 1);
}

static int wait_rounds(void *context, int q) {
    struct rmai_event *e = context;
    (void)q;
    for (uint32_t i = 0; i < rounds(); i++) {
        if (rmai_wait(&e[0], i, &none) != i + 1) return 1;
        store(&e[1], i + 1);
    }
    return 0;
}

START_TEST(a_sleeper_that_the_waker_missed_wakes_by_itself) {
    /* rmai_wake has no fence: it can find nobody asleep where somebody has just gone to sleep. Here it is not called at
     * all, some 50 us after the sleeper has announced itself. Where this process lost its processor in between, the
     * first sleep was over already, and a wake-up is due: but not each time. Five are enough, and the others are woken.
     */
    struct rmai_event *e = shared_memory(2 * sizeof *e);
    int by_itself = 0;
    start(wait_rounds, e, 0);
    for (uint32_t i = 0; i < rounds(); i++) {
        double asleep, missed;
        while (!atomic_load(&e[0].sleepers)) rmai_pause();
        asleep = seconds();
        while (seconds() < asleep + 50e-6) continue;
        store(&e[0], i + 1);
        missed = seconds();
        while (by_itself < 5 && atomic_load(&e[1].value) == i && seconds() < missed + 1) sched_yield();
        if (by_itself < 5 && atomic_load(&e[1].value) != i)
            by_itself++;
        else
            rmai_wake(&e[0]);
        UNTIL(atomic_load(&e[1].value) == i + 1);
    }
    join();
    ck_assert_int_ge(by_itself, 5);
}
END_TEST

/* ---- many sleepers, and what wakes without a reason ---- */

static int sleep_through(void *context, int q) {
    struct rmai_event *e = context;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t value = rmai_wait(&e[0], i, &none);
        if (value != i + 1) return 1;
        atomic_fetch_add(&e[1].value, 1);
        rmai_wake(&e[1]);
    }
    (void)q;
    return 0;
}

START_TEST(a_wake_reaches_all_who_sleep) {
    /* One of several sleepers is woken, and the others wait for ever. */
    struct rmai_event *e = shared_memory(2 * sizeof *e);
    for (int q = 0; q < MOST - 1; q++) start(sleep_through, e, q);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t done = 0;
        UNTIL(atomic_load(&e[0].sleepers) == MOST - 1);
        store(&e[0], i + 1);
        rmai_wake(&e[0]);
        while (done != (i + 1) * (MOST - 1)) done = rmai_wait(&e[1], done, &none);
    }
    join();
    ck_assert_uint_eq(e[0].sleepers | e[1].sleepers, 0);
}
END_TEST

static int doze_once(void *context, int q) {
    struct rmai_event *e = context;
    rmai_doze(&e[0], q == 0 ? 1000000000L * 10 * DEADLINE : 1000000L);
    atomic_store(&e[1 + q].value, 1);
    return 0;
}

START_TEST(a_thread_that_wakes_by_itself_does_not_hide_one_that_dozes) {
    struct rmai_event *e = shared_memory(3 * sizeof *e);
    start(doze_once, e, 0);
    UNTIL(atomic_load(&e[0].sleepers) == 1);
    start(doze_once, e, 1);
    UNTIL(atomic_load(&e[2].value) == 1);
    rmai_rouse_dozers(&e[0]);
    UNTIL(atomic_load(&e[1].value) == 1);
    join();
}
END_TEST

static void on_signal(int number) { (void)number; }

static int wait_for_one(void *context, int q) {
    struct rmai_event *e = context;
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART: the sleep ends with EINTR */
    (void)q;
    sigaction(SIGUSR1, &action, NULL);
    atomic_store(&e[1].value, 1);
    return rmai_wait(&e[0], 0, &none) == 1 ? 0 : 1;
}

START_TEST(wake_ups_without_a_new_value_are_slept_through) {
    /* A wait that returns because the kernel did: after a signal, after a wake-up for nothing. */
    struct rmai_event *e = shared_memory(2 * sizeof *e);
    start(wait_for_one, e, 0);
    UNTIL(atomic_load(&e[1].value) == 1 && atomic_load(&e[0].sleepers) == 1);
    for (int i = 0; i < 2000; i++) {
        if (i % 2)
            rmai_wake(&e[0]);
        else
            kill(child[0], SIGUSR1);
        if (i % 50 == 0) sched_yield();
        ck_assert_int_eq(waitpid(child[0], NULL, WNOHANG), 0);
    }
    store(&e[0], 1);
    rmai_wake(&e[0]);
    join();
    ck_assert_uint_eq(e[0].sleepers, 0);
}
END_TEST

static int hand_back(void *context, int q) {
    const struct rmai_patience endless = {.polls = UINT_MAX};
    struct pair *p = context;
    for (uint32_t i = 1; i <= 100; i++) {
        struct rmai_event *mine = q ? &p->ping : &p->pong, *theirs = q ? &p->pong : &p->ping;
        if (!q) store(theirs, i);
        if (rmai_wait(mine, i - 1, &endless) != i) return 1;
        if (q) store(theirs, i); /* nobody is woken: nobody may sleep */
        if (atomic_load(&mine->sleepers) || atomic_load(&theirs->sleepers)) return 2;
    }
    return 0;
}

START_TEST(who_is_patient_does_not_sleep) {
    /* Polls that are not counted as they are set: no waker pays for a patient waiter, so none may need to. */
    struct pair *p = shared_memory(sizeof *p);
    start(hand_back, p, 0);
    start(hand_back, p, 1);
    join();
}
END_TEST

/* ---- the barrier ---- */

struct room {
    struct rmai_barrier_shared part[MOST];
    uint32_t n, epochs, first_epoch;
    int crowded, halves; /* halves: the second barrier, 2: and the first are in two halves */
    const struct rmai_patience *patience;
    struct {
        _Alignas(RMAI_APART) _Atomic uint32_t entered; /* barriers that this one has come to */
        uint32_t data;                                 /* plain: what it wrote before the last one */
    } at[MOST];
};

static const int pes[MOST] = {0}; /* nobody waits for so long that they are named */

static struct rmai_barrier_shared *part_of(void *context, uint32_t q) { return &((struct room *)context)->part[q]; }

static void loiter(uint32_t *random) {
    *random = *random * 1664525u + 1013904223u;
    if (*random >> 28 == 0) sched_yield();
    for (uint32_t i = *random >> 24; i > 128; i--) rmai_pause();
}

/* In halves, PE 0 hands down a code, which is another one in each barrier. 1: this PE has got it. */
static int come_together(struct rmai_barrier *b, int halves, uint32_t code) {
    if (!halves) {
        rmai_barrier_node(b, "test");
        return 1;
    }
    rmai_barrier_gather(b, "test");
    return rmai_barrier_release(b, "test", b->me == 0 ? (int)code : 0) == (int)code;
}

/* Each announces itself, meets the others, and must find them all announced: who passes early finds one that is not.
 * The data is read between two barriers by all and written by its owner only. */
static int visit(void *context, int q) {
    struct room *r = context;
    struct rmai_barrier b;
    uint32_t random = 17 + (uint32_t)q;
    rma_set_errhandler(rma_errors_return); /* else those that hear of a failure leave it to PE 0 to end the job */
    rmai_barrier_setup(&b, r->n, (uint32_t)q, pes, r->crowded, *r->patience, part_of, r);
    b.epoch = b.gathering = r->first_epoch;
    for (uint32_t i = 1; i <= r->epochs; i++) {
        r->at[q].data = i * 31 + (uint32_t)q;
        loiter(&random);
        atomic_store_explicit(&r->at[q].entered, 2 * i - 1, memory_order_relaxed);
        if (!come_together(&b, r->halves > 1, i % 3)) return 5;
        for (uint32_t p = 0; p < r->n; p++) {
            uint32_t entered = atomic_load_explicit(&r->at[p].entered, memory_order_relaxed);
            if (entered < 2 * i - 1) return 1;
            if (entered > 2 * i) return 2;
            if (r->at[p].data != i * 31 + p) return 3;
        }
        atomic_store_explicit(&r->at[q].entered, 2 * i, memory_order_relaxed);
        if (!come_together(&b, r->halves > 0, i % 5)) return 6;
    }
    return rmai_barrier_number(&b) == 2 * r->first_epoch + 2 * r->epochs ? 0 : 4;
}

static void meet(uint32_t n, int crowded, int halves, uint32_t first_epoch, uint32_t how_many) {
    struct room *r = shared_memory(sizeof *r);
    r->n = n;
    r->crowded = crowded;
    r->halves = halves;
    r->epochs = how_many;
    r->first_epoch = first_epoch;
    r->patience = crowded ? &none : n > 3 ? &some : &much;
    for (uint32_t q = 0; q < n; q++) {
        for (uint32_t k = 0; k < RMAI_BARRIER_ROUNDS; k++) store(&r->part[q].round[k].event, first_epoch);
        store(&r->part[q].gate.event, first_epoch);
        store(&r->part[q].gathered.event, first_epoch);
        store(&r->part[q].released.event, first_epoch);
    }
    for (uint32_t q = 0; q < n; q++) start(visit, r, (int)q);
    join();
    for (uint32_t q = 0; q < n; q++) {
        for (uint32_t k = 0; k < RMAI_BARRIER_ROUNDS; k++) ck_assert_uint_eq(r->part[q].round[k].event.sleepers, 0);
        ck_assert_uint_eq(r->part[q].gate.event.sleepers, 0);
        ck_assert_uint_eq(r->part[q].gathered.event.sleepers, 0);
        ck_assert_uint_eq(r->part[q].released.event.sleepers, 0);
        ck_assert_uint_eq(r->part[q].arrived, 0);
    }
    munmap(r, sizeof *r);
}

static const uint32_t sizes[] = {1, 2, 3, 5, 8};

START_TEST(nobody_leaves_a_barrier_before_all_have_come) {
    /* A partner that is computed wrong, a round too few, words of one epoch that are taken for those of the next. The
     * numbers are powers of two and others, with a processor for each and without; in one, in two halves, in turn. */
    meet(sizes[_i / 6], _i % 2, _i / 2 % 3, 0, epochs);
}
END_TEST

START_TEST(epochs_may_wrap) {
    /* A job that hangs, or does not wait, after 2^32 barriers: epochs that are compared as numbers. */
    meet(sizes[_i / 6], _i % 2, _i / 2 % 3, UINT32_MAX - 500, 500);
    meet(sizes[_i / 6], _i % 2, _i / 2 % 3, INT32_MAX - 500u, 500);
}
END_TEST

START_TEST(setup_takes_as_many_rounds_as_doublings) {
    /* A round too many costs each barrier a hand-over; one too few is a barrier that does not hold. */
    static struct room r;
    static const uint32_t rounds[] = {0, 0, 1, 2, 2, 3, 3, 3, 3};
    for (uint32_t n = 1; n <= MOST; n++)
        for (uint32_t me = 0; me < n; me++) {
            struct rmai_barrier b;
            rmai_barrier_setup(&b, n, me, pes, 0, some, part_of, &r);
            ck_assert_uint_eq(b.rounds, rounds[n]);
            ck_assert_uint_eq(b.epoch, 0);
            ck_assert_ptr_eq(b.mine, &r.part[me]);
            ck_assert_ptr_eq(b.first, &r.part[0]);
            for (uint32_t k = 0; k < b.rounds; k++) ck_assert_ptr_eq(b.partner[k], &r.part[(me + (1u << k)) % n]);
        }
}
END_TEST

static double nanoseconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* What counts ticks (runtime/net/flow) means microseconds by them, on every processor. Each reading of them is between
 * two of the clock, so that it does not matter for how long this thread does not run. */
START_TEST(ticks_are_neither_coarse_nor_too_fine) {
    const double before = nanoseconds_now();
    const uint64_t began = rmai_clock_ticks();
    const double from = nanoseconds_now();
    double to, after, ticks;
    while ((to = nanoseconds_now()) - from < 20e6) continue;
    ticks = (double)(rmai_clock_ticks() - began);
    after = nanoseconds_now();
    ck_assert_double_ge(ticks / (to - from), 0.09);
    ck_assert_double_le(ticks / (after - before), 6.0);
}
END_TEST

/* What the kernel would tell. */
static void tell(const struct rmai_crowd *c, const char *text) {
    ck_assert_int_eq(ftruncate(c->file, 0), 0);
    ck_assert_int_eq(pwrite(c->file, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* A crowd that reads a file of this test. */
static void open_told(struct rmai_crowd *c, int processors, unsigned polls) {
    char name[] = "/tmp/check_wait.XXXXXX";
    struct stat status;
    *c = (struct rmai_crowd){.file = mkstemp(name), .processors = processors, .polls = polls, .budget = polls};
    ck_assert_int_ge(c->file, 0);
    ck_assert_int_eq(fstat(c->file, &status), 0);
    c->device = status.st_dev;
    c->inode = status.st_ino;
    ck_assert_int_eq(unlink(name), 0);
}

/* A wait that is about to sleep may ask again after a while: 1 as soon as there is room. The answers in between must
 * be 0. */
static int thins_in_time(struct rmai_crowd *c) {
    const double end = seconds() + DEADLINE;
    while (!rmai_crowd_thins(c))
        if (seconds() > end) return 0;
    return 1;
}

START_TEST(a_crowd_has_room_while_its_threads_have_processors) {
    struct rmai_crowd c;
    unsigned polls = 0, rounds = 0, more;
    open_told(&c, 3, 1000);
    tell(&c, "0.10 0.20 0.30 4/99 1234\n");
    ck_assert_uint_eq(rmai_crowd_polls(&c, 0), 0); /* nobody has asked yet */
    ck_assert_int_eq(rmai_crowd_thins(&c), 0);
    ck_assert_uint_eq(rmai_crowd_polls(&c, 0), 0);
    tell(&c, "0.10 0.20 0.30 3/99 1234\n");
    ck_assert_int_eq(thins_in_time(&c), 1);
    ck_assert_int_eq(rmai_crowd_thins(&c), 0); /* it is no news: a wait that has polled enough sleeps */
    while ((more = rmai_crowd_polls(&c, polls)) > polls) polls = more, rounds++;
    ck_assert_uint_ge(polls, 1000);
    ck_assert_uint_gt(rounds, 1);
    polls = 0;
    while ((more = rmai_crowd_polls(&c, polls)) > polls) polls = more;
    ck_assert_uint_gt(polls, 0);
    ck_assert_uint_lt(polls, 1000); /* the next wait polls less, since the last one's polls did not suffice, */
    for (int i = 0; i < 1000; i++) ck_assert_uint_gt(rmai_crowd_polls(&c, 0), 0); /* and after many that ended */
    for (polls = 0; (more = rmai_crowd_polls(&c, polls)) > polls; polls = more) continue;
    ck_assert_uint_ge(polls, 1000); /* as much as the first */
    tell(&c, "0.10 0.20 0.30 12/99 1234\n");
    polls = rmai_crowd_polls(&c, 0);
    ck_assert_uint_eq(rmai_crowd_polls(&c, polls), polls); /* after its first polls it asks, and gives up */
    ck_assert_uint_eq(rmai_crowd_polls(&c, 0), 0);
    tell(&c, "0.10 0.20 0.30 1/99 1234\n");
    ck_assert_int_eq(thins_in_time(&c), 1);
    ck_assert_uint_gt(rmai_crowd_polls(&c, 0), 0);
    rmai_crowd_close(&c);
    ck_assert_uint_eq(rmai_crowd_polls(&c, 0), 0);
    ck_assert_int_eq(rmai_crowd_thins(&c), 0);
    rmai_crowd_close(&c);
}
END_TEST

START_TEST(a_crowd_that_knows_nothing_has_no_room) {
    static const char *const texts[] = {"", "0.10 0.20 0.30", "0.10 0.20 0.30 0/0 1", "0.10 0.20 0.30 -1/5 1",
                                        "a b c d/1"};
    struct rmai_crowd c;
    int file;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        open_told(&c, 1000, 1000);
        tell(&c, texts[i]);
        ck_assert_int_eq(rmai_crowd_thins(&c), 0);
        ck_assert_uint_eq(rmai_crowd_polls(&c, 0), 0);
        rmai_crowd_close(&c);
    }
    c = (struct rmai_crowd){.file = -1, .processors = 1000, .polls = 1000};
    ck_assert_int_eq(rmai_crowd_thins(&c), 0);
    c = (struct rmai_crowd){0};
    rmai_crowd_close(&c); /* must not close file 0, */
    ck_assert_int_ge(fcntl(0, F_GETFD), 0);
    rmai_crowd_open(&c, 1, 1000);
    if (c.file < 0) return;
    ck_assert_int_eq(dup2(0, c.file), c.file);
    file = c.file;
    rmai_crowd_close(&c); /* nor one that the program has opened in place of its own; but its own */
    ck_assert_int_ge(fcntl(file, F_GETFD), 0);
    close(file);
    rmai_crowd_open(&c, 1, 1000);
    file = c.file;
    rmai_crowd_close(&c);
    ck_assert_int_lt(fcntl(file, F_GETFD), 0);
}
END_TEST

/* If yields do not help, a few are left, and one that helps is worth several that do not. */
START_TEST(yields_that_help_are_repeated) {
    struct rmai_crowd c;
    unsigned most, least;
    rmai_crowd_open(&c, 1, 1000);
    most = rmai_crowd_yields(&c);
    for (int i = 0; i < 1000; i++) rmai_crowd_yielded(&c, 0);
    least = rmai_crowd_yields(&c);
    ck_assert_uint_gt(least, 0);
    ck_assert_uint_lt(least, most);
    rmai_crowd_yielded(&c, 1);
    ck_assert_uint_gt(rmai_crowd_yields(&c), least + 1);
    for (int i = 0; i < 1000; i++) rmai_crowd_yielded(&c, i % 2);
    ck_assert_uint_ge(rmai_crowd_yields(&c), most - 1);
    for (int i = 0; i < 1000; i++) rmai_crowd_yielded(&c, 1);
    ck_assert_uint_eq(rmai_crowd_yields(&c), most);
    rmai_crowd_close(&c);
}
END_TEST

/* The system's own file, where it is there: this thread runs, so there is never room on no processor, and on more
 * processors than the system has threads there is. */
START_TEST(the_kernel_tells_who_runs) {
    struct rmai_crowd c;
    rmai_crowd_open(&c, 0, 1000);
    ck_assert_int_eq(rmai_crowd_thins(&c), 0);
    if (c.file < 0) return;
    rmai_crowd_close(&c);
    rmai_crowd_open(&c, INT_MAX, 1000);
    ck_assert_int_eq(rmai_crowd_thins(&c), 1);
    ck_assert_uint_gt(rmai_crowd_polls(&c, 0), 0);
    rmai_crowd_close(&c);
}
END_TEST

int main(void) {
    Suite *s = suite_create("wait");
    TCase *events = tcase_create("events"), *barriers = tcase_create("barriers");
    const char *wrap = getenv("RMA_TEST_WRAP");
    SRunner *runner;
    int failed;
    if (wrap && *wrap) {
        turns = 2000;
        epochs = 200;
        printf("check_wait: %u turns and %u epochs only (RMA_TEST_WRAP)\n", turns, epochs);
        fflush(stdout);
    }
    tcase_set_timeout(events, 2 * DEADLINE);
    tcase_add_test(events, a_changed_value_is_returned_at_once);
    tcase_add_loop_test(events, no_turn_is_lost_between_threads, 0, 4);
    tcase_add_loop_test(events, no_turn_is_lost_between_processes, 0, 4);
    tcase_add_test(events, a_sleeper_that_the_waker_missed_wakes_by_itself);
    tcase_add_test(events, a_wake_reaches_all_who_sleep);
    tcase_add_test(events, a_thread_that_wakes_by_itself_does_not_hide_one_that_dozes);
    tcase_add_test(events, wake_ups_without_a_new_value_are_slept_through);
    tcase_add_test(events, who_is_patient_does_not_sleep);
    tcase_add_test(events, a_crowd_has_room_while_its_threads_have_processors);
    tcase_add_test(events, a_crowd_that_knows_nothing_has_no_room);
    tcase_add_test(events, yields_that_help_are_repeated);
    tcase_add_test(events, the_kernel_tells_who_runs);
    tcase_add_test(events, ticks_are_neither_coarse_nor_too_fine);
    suite_add_tcase(s, events);
    tcase_set_timeout(barriers, 3 * DEADLINE);
    tcase_add_test(barriers, setup_takes_as_many_rounds_as_doublings);
    tcase_add_loop_test(barriers, nobody_leaves_a_barrier_before_all_have_come, 0, 30);
    tcase_add_loop_test(barriers, epochs_may_wrap, 0, 30);
    suite_add_tcase(s, barriers);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
