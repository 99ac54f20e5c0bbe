/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock whose holder may die, between processes that share memory, and what one process may know about another and
 * access in it.
 *
 * Broken by two holders at once; by a dead holder whose lock nobody takes over, or several do, or one without being
 * told; by a takeover from a living holder; by a process that counts as dead while it lives, or as alive when only its
 * exit status is left; and by inaccessible memory that is touched, or not recognized.
 *
 *     RMA_TEST_WRAP   if not empty, everything is some ten times slower: fewer turns */
#include "config.h"

#include "base/lock.h"
#include "base/process.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE 300 /* seconds: more than anything here takes, however busy the machine */
#define MOST     6

static unsigned turns = 20000, rounds = 30;

static void *shared_memory(size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(p != MAP_FAILED);
    return p;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

/* Waits for a condition that another process makes true. Also in children, where Check cannot be told. */
#define UNTIL(condition)                                                                                               \
    do {                                                                                                               \
        time_t end = time(NULL) + DEADLINE;                                                                            \
        while (!(condition)) {                                                                                         \
            if (time(NULL) > end) {                                                                                    \
                fprintf(stderr, "never: %s\n", #condition);                                                            \
                abort();                                                                                               \
            }                                                                                                          \
            nap();                                                                                                     \
        }                                                                                                              \
    } while (0)

/* ---- children ---- */

static pid_t child[MOST];

static pid_t start(int (*body)(void *context, uint32_t q), void *context, uint32_t q) {
    pid_t id = fork();
    ck_assert_int_ge(id, 0);
    if (id == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* none outlives the test */
        _exit(body(context, q));
    }
    child[q] = id;
    return id;
}

static void join(uint32_t q) {
    int status;
    while (waitpid(child[q], &status, 0) < 0) ck_assert_int_eq(errno, EINTR);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child %u: status %#x", q, (unsigned)status);
}

static void end(pid_t id) {
    kill(id, SIGKILL);
    while (waitpid(id, NULL, 0) < 0) ck_assert_int_eq(errno, EINTR);
}

/* Until it is dead, and its status still to be asked for. */
static void until_dead(pid_t id) {
    siginfo_t info;
    while (waitid(P_PID, (id_t)id, &info, WEXITED | WNOWAIT) < 0) ck_assert_int_eq(errno, EINTR);
}

/* ---- the lock ---- */

struct shared {
    struct rmai_lock lock;
    _Atomic int pid[MOST];      /* by number */
    _Atomic int64_t told[MOST]; /* what rmai_lock returned; -2: it has not yet */
    _Atomic unsigned asked, inside, go;
    _Atomic int hold;       /* who takes the lock keeps it until killed */
    unsigned long count[2]; /* plain */
};

static int dead(void *context, uint32_t who) {
    struct shared *s = context;
    atomic_fetch_add(&s->asked, 1);
    return rmai_process_gone(atomic_load(&s->pid[who]));
}

static int never_dead(void *context, uint32_t who) {
    (void)who;
    atomic_fetch_add(&((struct shared *)context)->asked, 1);
    return 0;
}

static int count(void *context, uint32_t q) {
    struct shared *s = context;
    for (unsigned i = 0; i < turns; i++) {
        if (rmai_lock(&s->lock, q, never_dead, s) != -1) return 1;
        if (atomic_load_explicit(&s->lock.holder, memory_order_relaxed) != q + 1) return 2;
        if (atomic_fetch_add_explicit(&s->inside, 1, memory_order_relaxed) != 0) return 3;
        s->count[0]++;
        if (i % 512 == 0) sched_yield(); /* others find it held for a time slice */
        s->count[1]--;
        atomic_fetch_sub_explicit(&s->inside, 1, memory_order_relaxed);
        rmai_unlock(&s->lock);
    }
    return 0;
}

START_TEST(one_at_a_time) {
    /* Plain counters, in a lock that does not exclude or does not order, lose some of the turns. */
    struct shared *s = shared_memory(sizeof *s);
    for (uint32_t q = 0; q < MOST; q++) start(count, s, q);
    for (uint32_t q = 0; q < MOST; q++) join(q);
    ck_assert_uint_eq(s->count[0], (unsigned long)turns * MOST);
    ck_assert_uint_eq(s->count[1], 0ul - (unsigned long)turns * MOST);
    ck_assert_uint_eq(s->lock.holder, 0);
}
END_TEST

static void *count_as_zero(void *context) { return (void *)(intptr_t)count(context, 0); }

START_TEST(threads_may_share_a_number) {
    /* A lock that takes its own number for a lock that is held already. */
    struct shared *s = shared_memory(sizeof *s);
    pthread_t thread[3];
    void *code;
    for (int i = 0; i < 3; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, count_as_zero, s), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_join(thread[i], &code), 0);
        ck_assert_int_eq((int)(intptr_t)code, 0);
    }
    ck_assert_uint_eq(s->count[0], (unsigned long)turns * 3);
    ck_assert_uint_eq(s->lock.holder, 0);
}
END_TEST

/* Takes the lock, tells what it was told, and gives it back, or keeps it if it is the first of those that `hold` asks
 * for.
 */
static int wait_for_it(void *context, uint32_t q) {
    struct shared *s = context;
    atomic_store(&s->pid[q], getpid());
    UNTIL(atomic_load(&s->go));
    atomic_store(&s->told[q], rmai_lock(&s->lock, q, dead, s));
    if (atomic_fetch_sub(&s->hold, 1) > 0)
        for (;;) pause();
    if (atomic_fetch_add(&s->inside, 1) != 0) return 3;
    s->count[0]++;
    sched_yield();
    atomic_fetch_sub(&s->inside, 1);
    rmai_unlock(&s->lock);
    return 0;
}

START_TEST(a_dead_holder_is_taken_over_once_and_named) {
    /* The others wait until the holder is killed; one of them is told its number, and the others only get the lock.
     * With two who die, the second while it has the lock from the first, each is named once. Dead is one that nobody
     * has asked for its status (as a launcher leaves it), or of which nothing is left. */
    int deaths = 1 + _i % 2, reaped = _i / 2;
    for (unsigned round = 0; round < rounds; round++) {
        struct shared *s = shared_memory(sizeof *s);
        unsigned named[MOST] = {0}, survivors = 0;
        int killed[MOST] = {0};
        for (int q = 0; q < MOST; q++) s->told[q] = -2;
        atomic_store(&s->hold, deaths);
        for (uint32_t q = 0; q < MOST; q++) start(wait_for_it, s, q);
        for (int q = 0; q < MOST; q++) UNTIL(atomic_load(&s->pid[q]));
        atomic_store(&s->go, 1);
        for (int death = 0; death < deaths; death++) {
            UNTIL(atomic_load(&s->hold) == deaths - 1 - death);
            uint32_t victim = atomic_load(&s->lock.holder) - 1;
            ck_assert_uint_lt(victim, MOST);
            ck_assert_int_eq(killed[victim], 0);
            /* Alive, it is asked for, and left alone. */
            unsigned before = atomic_load(&s->asked);
            UNTIL(round % 4 || atomic_load(&s->asked) >= before + 3);
            ck_assert_uint_eq(atomic_load(&s->lock.holder), victim + 1);
            kill(child[victim], SIGKILL);
            until_dead(child[victim]);
            if (reaped) end(child[victim]);
            killed[victim] = 1;
        }
        for (uint32_t q = 0; q < MOST; q++)
            if (!killed[q]) {
                join(q);
                survivors++;
            }
        for (uint32_t q = 0; q < MOST; q++) {
            int64_t told = atomic_load(&s->told[q]);
            if (killed[q] && !reaped) end(child[q]);
            ck_assert_int_ge(told, -1);
            ck_assert_int_lt(told, MOST);
            if (told >= 0) named[told]++;
        }
        for (int q = 0; q < MOST; q++)
            ck_assert_msg(named[q] == (unsigned)killed[q], "number %d: named %u times", q, named[q]);
        ck_assert_uint_eq(s->count[0], survivors);
        ck_assert_uint_eq(s->lock.holder, 0);
        munmap(s, sizeof *s);
    }
}
END_TEST

static int take_and_die(void *context, uint32_t q) {
    struct shared *s = context;
    atomic_store(&s->pid[q], getpid());
    for (unsigned i = 0;; i++) {
        rmai_lock(&s->lock, q, dead, s);
        s->count[0]++;
        s->count[1]++;
        rmai_unlock(&s->lock);
        if (i % 64 == 0) nap();
    }
    return 0;
}

START_TEST(killed_anywhere_it_leaves_a_lock_that_works) {
    /* Killed before, in or after the lock, at no chosen moment: who comes next gets it, and is told if work is half
     * done. */
    struct shared *s = shared_memory(sizeof *s);
    for (unsigned round = 0; round < 3 * rounds; round++) {
        int64_t told;
        unsigned long before = s->count[0];
        atomic_store(&s->pid[1], 0);
        start(take_and_die, s, 1);
        UNTIL(atomic_load(&s->pid[1]));
        while (*(volatile unsigned long *)&s->count[0] == before) nap();
        for (unsigned i = round * 37 % 1000; i > 0; i--) (void)getppid();
        kill(child[1], SIGKILL);
        told = rmai_lock(&s->lock, 0, dead, s);
        ck_assert_int_ge(told, -1);
        ck_assert_int_le(told, 1);
        ck_assert_int_ne(told, 0);
        if (told == -1) {
            /* Nothing is half done, unless it was killed after it gave the lock back. */
            ck_assert_uint_eq(s->count[0], s->count[1]);
        } else {
            ck_assert_uint_le(s->count[0] - s->count[1], 1);
            s->count[1] = s->count[0];
        }
        rmai_unlock(&s->lock);
        end(child[1]);
    }
}
END_TEST

/* ---- alive or gone ---- */

static int stay(void *context, uint32_t q) {
    (void)q;
    if (context) prctl(PR_SET_NAME, context);
    for (;;) pause();
    return 0;
}

START_TEST(gone_is_who_has_no_more_than_an_exit_status) {
    /* A zombie that kill(2) still finds; a name that looks like the end of the name and a state. */
    char name[] = "a) Z (b) X";
    int status;
    pid_t id = start(stay, name, 0);
    ck_assert_int_eq(rmai_process_gone(getpid()), 0);
    ck_assert_int_eq(rmai_process_gone(getppid()), 0);
    ck_assert_int_eq(rmai_process_gone(1), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(rmai_process_gone(id), 0);
        nap();
    }
    kill(id, SIGSTOP);
    ck_assert_int_eq(waitpid(id, &status, WUNTRACED), id);
    ck_assert_int_eq(rmai_process_gone(id), 0);
    kill(id, SIGKILL);
    until_dead(id);
    ck_assert_int_eq(kill(id, 0), 0);
    ck_assert_int_eq(rmai_process_gone(id), 1);
    end(id);
    ck_assert_int_eq(rmai_process_gone(id), 1);
    ck_assert_int_eq(rmai_process_gone(0x7ffffff0), 1); /* more than the system has */
}
END_TEST

static void *outlive(void *ready) {
    usleep(1000);
    atomic_store((_Atomic int *)ready, 1);
    for (;;) pause();
    return NULL;
}

static int leave_a_thread(void *ready, uint32_t q) {
    pthread_t thread;
    (void)q;
    if (pthread_create(&thread, NULL, outlive, ready) != 0) return 1;
    pthread_exit(NULL);
}

static char state_of(pid_t id) {
    char path[32], line[512] = {0};
    FILE *f;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    f = fopen(path, "r");
    ck_assert(f != NULL);
    ck_assert(fgets(line, sizeof line, f) != NULL);
    fclose(f);
    return strrchr(line, ')')[2];
}

START_TEST(a_process_lives_as_long_as_one_of_its_threads) {
    /* The main thread has ended by pthread_exit, and the system calls that a zombie. */
    _Atomic int *ready = shared_memory(sizeof *ready);
    pid_t id = start(leave_a_thread, (void *)ready, 0);
    UNTIL(atomic_load(ready) && state_of(id) == 'Z');
    ck_assert_int_eq(rmai_process_gone(id), 0);
    end(id);
    ck_assert_int_eq(rmai_process_gone(id), 1);
}
END_TEST

/* ---- another's memory ---- */

/* Private memory at the same address in parent and child. */
#define PAGES 40
static struct {
    char *p;
    size_t page;
    _Atomic int *phase; /* shared */
} there;

static char byte_of(size_t i) { return (char)(i * 7 + i / 251); }

/* What the parent puts is byte_of(i + 1) at [3, 9 pages + 17), and pieces of what fails at the end of pages 9, 19
 * and 29. */
static int as_written(size_t i) {
    size_t in = i / there.page;
    if (in == 9 || in == 10 || in == 19 || in == 20 || in == 29) return 1;
    return there.p[i] == byte_of(i >= 3 && in < 9 ? i + 1 : i);
}

static int own_memory(void *context, uint32_t q) {
    size_t page = there.page;
    char *p = there.p;
    (void)context, (void)q;
    rmai_process_admit();
    for (size_t i = 0; i < PAGES * page; i++) p[i] = byte_of(i);
    if (munmap(p + 10 * page, page) || mprotect(p + 20 * page, page, PROT_NONE) ||
        mprotect(p + 30 * page, page, PROT_READ))
        return 1;
    atomic_store(there.phase, 1);
    UNTIL(atomic_load(there.phase) == 2);
    for (size_t i = 0; i < PAGES * page; i++)
        if (!as_written(i)) return 2;
    return 0;
}

/* Some containers forbid these calls, and qemu's user mode has none. The library then asks the owner's thread. */
static int kernel_copies(void) {
    char from = 1, to = 0;
    if (rmai_process_read(getpid(), &to, (uintptr_t)&from, 1) == RMAI_PROCESS_DONE) return 1;
    puts("check_lock: the kernel copies nothing between processes here: a test is left out");
    return 0;
}

START_TEST(memory_of_another_process) {
    /* Too little copied, the wrong way, or a fault that is not told from a refusal. */
    size_t page = there.page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
    char *p = there.p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *here = malloc(size);
    uint64_t at = (uintptr_t)p;
    pid_t id;
    if (!kernel_copies()) return;
    ck_assert(p != MAP_FAILED && here);
    there.phase = shared_memory(sizeof *there.phase);
    memset(p, 0x55, size);
    id = start(own_memory, NULL, 0);
    UNTIL(atomic_load(there.phase) == 1);
    ck_assert_int_eq(rmai_process_read(id, here, at, 10 * page), RMAI_PROCESS_DONE);
    for (size_t i = 0; i < 10 * page; i++) ck_assert_msg(here[i] == byte_of(i), "byte %zu", i);
    memset(here, 1, size);
    ck_assert_int_eq(rmai_process_read(id, here + 5, at + 11 * page + 3, 1001), RMAI_PROCESS_DONE);
    for (size_t i = 0; i < 1001; i++) ck_assert_msg(here[5 + i] == byte_of(11 * page + 3 + i), "byte %zu", i);
    ck_assert(here[4] == 1 && here[5 + 1001] == 1);
    ck_assert_int_eq(rmai_process_read(id, here, at + 10 * page, 0), RMAI_PROCESS_DONE);
    ck_assert_int_eq(rmai_process_write(id, at + 10 * page, here, 0), RMAI_PROCESS_DONE);
    ck_assert_int_eq(rmai_process_read(id, here, at + 30 * page, page), RMAI_PROCESS_DONE); /* may be read */
    ck_assert(here[9] == byte_of(30 * page + 9));

    static const size_t bad[] = {10, 20};
    for (int i = 0; i < 2; i++) {
        uint64_t hole = at + bad[i] * page;
        ck_assert_int_eq(rmai_process_read(id, here, hole, 1), RMAI_PROCESS_FAULT);
        ck_assert_int_eq(rmai_process_read(id, here, hole + page - 1, 1), RMAI_PROCESS_FAULT);
        ck_assert_int_eq(rmai_process_read(id, here, hole - 1, 2), RMAI_PROCESS_FAULT);
        ck_assert_int_eq(rmai_process_read(id, here, hole - page, 3 * page), RMAI_PROCESS_FAULT);
        ck_assert_int_eq(rmai_process_read(id, here, hole - 1, 1), RMAI_PROCESS_DONE);
        ck_assert_int_eq(rmai_process_read(id, here, hole + page, 1), RMAI_PROCESS_DONE);
        ck_assert_int_eq(rmai_process_write(id, hole, here, 1), RMAI_PROCESS_FAULT);
        ck_assert_int_eq(rmai_process_write(id, hole - 1, here, 2), RMAI_PROCESS_FAULT);
    }
    ck_assert_int_eq(rmai_process_write(id, at + 30 * page, here, 8), RMAI_PROCESS_FAULT);
    ck_assert_int_eq(rmai_process_write(id, at + 30 * page - 8, here, 16), RMAI_PROCESS_FAULT);
    ck_assert_int_eq(rmai_process_write(id, at + 31 * page - 8, here, 16), RMAI_PROCESS_FAULT);
    ck_assert_int_eq(rmai_process_read(id, here, 0, 8), RMAI_PROCESS_FAULT);
    ck_assert_int_eq(rmai_process_read(id, here, UINT64_MAX - 4095, 8), RMAI_PROCESS_FAULT);

    for (size_t i = 0; i < size; i++) here[i] = byte_of(i + 1);
    ck_assert_int_eq(rmai_process_write(id, at + 3, here + 3, 9 * page + 14), RMAI_PROCESS_DONE);
    ck_assert_int_eq(rmai_process_read(id, here, at, 9 * page), RMAI_PROCESS_DONE);
    for (size_t i = 0; i < 9 * page; i++) ck_assert_msg(here[i] == byte_of(i < 3 ? i : i + 1), "byte %zu", i);
    for (size_t i = 0; i < size; i++) ck_assert_msg(p[i] == 0x55, "byte %zu here", i);
    atomic_store(there.phase, 2);
    join(0);
    ck_assert_int_eq(rmai_process_read(id, here, at, 8), RMAI_PROCESS_REFUSED); /* nobody there */
    ck_assert_int_eq(rmai_process_write(id, at, here, 8), RMAI_PROCESS_REFUSED);
    free(here);
    munmap(p, size);
}
END_TEST

/* Five pages: the second is unmapped, the third may be read, the fourth may not be touched. Returns 0, or a line. */
#define LOOK(condition)                                                                                                \
    if (!(condition)) return __LINE__
static int look_at_own_memory(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 5 * page;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LOOK(p != MAP_FAILED);
    memset(p, 0x55, size);
    LOOK(munmap(p + page, page) == 0 && mprotect(p + 2 * page, page, PROT_READ) == 0 &&
         mprotect(p + 3 * page, page, PROT_NONE) == 0);
    for (int write = 0; write < 2; write++) {
        LOOK(rmai_process_touchable(p, page, write));
        LOOK(rmai_process_touchable(p + page - 1, 1, write));
        LOOK(rmai_process_touchable(p + 4 * page, 8, write));
        LOOK(!rmai_process_touchable(p + page - 1, 2, write));
        LOOK(!rmai_process_touchable(p + page, 1, write));
        LOOK(!rmai_process_touchable(p, size, write));
        LOOK(!rmai_process_touchable(p + 3 * page, 8, write));
        LOOK(!rmai_process_touchable(p + 4 * page - 8, 16, write));
        LOOK(!rmai_process_touchable(NULL, 8, write));
        LOOK(rmai_process_touchable(p + 2 * page, page, write) == !write);
        LOOK(rmai_process_touchable(p + 3 * page - 8, 8, write) == !write);
    }
    for (size_t i = 0; i < page; i++) LOOK(p[i] == 0x55 && p[2 * page + i] == 0x55 && p[4 * page + i] == 0x55);
    munmap(p, size);
    return 0;
}

START_TEST(memory_of_its_own) {
    /* Memory of the own process, where a mistake is a signal. */
    ck_assert_int_eq(look_at_own_memory(), 0);
}
END_TEST

/* q is 0: under an emulator that takes all advice for a hint; 1: on a kernel that cannot populate pages. In both a
 * sandbox forbids process_vm_readv. */
static int look_without_populating(void *context, uint32_t q) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (q ? EINVAL : 0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    (void)context;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return 0;
    return look_at_own_memory() != 0;
}

START_TEST(memory_of_its_own_where_pages_cannot_be_populated) {
    /* A page that may be read and is taken for one that may be written: the owner ends by a signal. */
    start(look_without_populating, NULL, 0);
    join(0);
    start(look_without_populating, NULL, 1);
    join(1);
}
END_TEST

/* After process_vm_readv and process_vm_writev have been forbidden, as a sandbox does. */
static int refuse(void *context, uint32_t q) {
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    static char source[8] = "source", dest[8] = "dest";
    (void)context, (void)q;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return 0;
    if (rmai_process_read(getppid(), dest, (uintptr_t)source, 8) != RMAI_PROCESS_REFUSED) return 1;
    if (rmai_process_write(getppid(), (uintptr_t)dest, source, 8) != RMAI_PROCESS_REFUSED) return 2;
    if (strcmp(dest, "dest") != 0) return 3;
    if (!rmai_process_touchable(dest, 8, 1) || !rmai_process_touchable(source, 8, 0)) return 4;
    if (rmai_process_touchable(NULL, 8, 0) || rmai_process_touchable((void *)(uintptr_t)refuse, 1, 1)) return 5;
    return 0;
}

START_TEST(what_the_system_forbids_is_a_refusal) {
    start(refuse, NULL, 0);
    join(0);
}
END_TEST

int main(void) {
    Suite *s = suite_create("lock");
    TCase *locks = tcase_create("locks"), *processes = tcase_create("processes");
    const char *wrap = getenv("RMA_TEST_WRAP");
    SRunner *runner;
    int failed;
    if (wrap && *wrap) {
        turns = 1000;
        rounds = 4;
        printf("check_lock: %u turns and %u rounds only (RMA_TEST_WRAP)\n", turns, rounds);
        fflush(stdout);
    }
    tcase_set_timeout(locks, 2 * DEADLINE);
    tcase_add_test(locks, one_at_a_time);
    tcase_add_test(locks, threads_may_share_a_number);
    tcase_add_loop_test(locks, a_dead_holder_is_taken_over_once_and_named, 0, 4);
    tcase_add_test(locks, killed_anywhere_it_leaves_a_lock_that_works);
    suite_add_tcase(s, locks);
    tcase_set_timeout(processes, 2 * DEADLINE);
    tcase_add_test(processes, gone_is_who_has_no_more_than_an_exit_status);
    tcase_add_test(processes, a_process_lives_as_long_as_one_of_its_threads);
    tcase_add_test(processes, memory_of_another_process);
    tcase_add_test(processes, memory_of_its_own);
    tcase_add_test(processes, memory_of_its_own_where_pages_cannot_be_populated);
    tcase_add_test(processes, what_the_system_forbids_is_a_refusal);
    suite_add_tcase(s, processes);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
