/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock between an owner and a guest.
 *
 * Broken if both are inside at once, if one does not see the other's stores, by a guest that waits, and by an owner
 * that does not wait for the guest, or waits for ever.
 *
 *     RMA_TEST_WRAP   if not empty, everything is some ten times slower: fewer turns */
#include "config.h"

#include "base/biased.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE 300 /* seconds: more than anything here takes, however busy the machine */

static unsigned turns = 1000000, visits = 2000;

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

/* Waits for a condition that another thread makes true. */
#define UNTIL(condition)                                                                                               \
    do {                                                                                                               \
        const time_t end_ = time(NULL) + DEADLINE;                                                                     \
        while (!(condition)) {                                                                                         \
            ck_assert_msg(time(NULL) < end_, "never: %s", #condition);                                                 \
            nap();                                                                                                     \
        }                                                                                                              \
    } while (0)

struct shared {
    struct rmai_biased lock;
    unsigned long count[2]; /* plain: only who is in touches them, and they are the same when nobody is */
    _Atomic int through;    /* the owner is */
    _Atomic int step;       /* of two threads by turns */
    int mistakes, visits;   /* the guest's */
};

/* Who is in does this; 1 if nobody else was in the middle of it. */
static int count_one(struct shared *s) {
    const int good = s->count[0] == s->count[1];
    s->count[0]++;
    s->count[1]++;
    return good;
}

/* Visits again and again until the owner is through, and so many times at least. Between two visits it yields: under
 * valgrind only one thread runs at a time, and a thread gives way only in a system call. The other one is that of
 * rmai_biased_visit, where the owner cannot enter. */
static void *visit_on(void *context) {
    struct shared *s = context;
    while (!atomic_load_explicit(&s->through, memory_order_relaxed) || s->visits < (int)visits) {
        if (!rmai_biased_visit(&s->lock)) continue;
        s->mistakes += !count_one(s);
        s->visits++;
        if (s->visits % 64 == 0) sched_yield();
        rmai_biased_end_visit(&s->lock);
        sched_yield();
    }
    return NULL;
}

static struct shared *new_shared(void) {
    struct shared *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    return s;
}

static pthread_t start(void *(*body)(void *context), struct shared *s) {
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, body, s), 0);
    return thread;
}

START_TEST(one_at_a_time) {
    /* _i: the owner enters, enters again where it is in, or tries to enter. */
    struct shared *s = new_shared();
    const pthread_t guest = start(visit_on, s);
    unsigned long entered = 0, mistakes = 0;
    while (entered < turns) {
        if (_i == 2) {
            if (!rmai_biased_try_enter(&s->lock)) continue;
        } else {
            rmai_biased_enter(&s->lock);
        }
        if (_i == 1) rmai_biased_enter(&s->lock);
        mistakes += !count_one(s);
        if (_i == 1) rmai_biased_leave(&s->lock);
        rmai_biased_leave(&s->lock);
        entered++;
    }
    atomic_store_explicit(&s->through, 1, memory_order_relaxed);
    ck_assert_int_eq(pthread_join(guest, NULL), 0);
    ck_assert_uint_eq(mistakes, 0);
    ck_assert_int_eq(s->mistakes, 0);
    ck_assert_uint_eq(s->count[0], entered + (unsigned long)s->visits);
    ck_assert_uint_eq(s->count[1], s->count[0]);
    ck_assert_uint_eq(rmai_biased_inside(&s->lock), 0);
    ck_assert_uint_eq(s->lock.guest, 0);
    ck_assert_uint_eq(s->lock.wanted, 0);
    free(s);
}
END_TEST

START_TEST(nobody_gets_in_while_the_other_one_is) {
    /* One thread plays both: a guest's visit that waits, or a try that gets in, would show. */
    struct rmai_biased b = {0};
    ck_assert_int_eq(rmai_biased_try_enter(&b), 1);
    ck_assert_int_eq(rmai_biased_try_enter(&b), 0); /* the owner itself is in */
    ck_assert_uint_eq(rmai_biased_inside(&b), 1);
    ck_assert_int_eq(rmai_biased_visit(&b), 0);
    ck_assert_uint_eq(b.guest, 0);
    rmai_biased_enter(&b);
    ck_assert_uint_eq(rmai_biased_inside(&b), 2);
    rmai_biased_leave(&b);
    ck_assert_uint_eq(rmai_biased_inside(&b), 1);
    ck_assert_int_eq(rmai_biased_visit(&b), 0); /* after the inner leave, too */
    rmai_biased_leave(&b);
    ck_assert_int_eq(rmai_biased_visit(&b), 1);
    ck_assert_int_eq(rmai_biased_try_enter(&b), 0);
    ck_assert_uint_eq(rmai_biased_inside(&b), 0);
    rmai_biased_end_visit(&b);
    ck_assert_int_eq(rmai_biased_try_enter(&b), 1);
    rmai_biased_leave(&b);
    ck_assert_int_eq(rmai_biased_visit(&b), 1);
    rmai_biased_end_visit(&b);
}
END_TEST

/* Stays in until the owner wants the lock, and a while longer. */
static void *stay_in(void *context) {
    struct shared *s = context;
    while (!rmai_biased_visit(&s->lock)) nap();
    atomic_store(&s->step, 1);
    while (!atomic_load(&s->lock.wanted)) nap();
    for (int i = 0; i < 20; i++) nap(); /* the owner sleeps by now */
    s->count[0]++;
    atomic_store(&s->step, 2);
    rmai_biased_end_visit(&s->lock);
    return NULL;
}

START_TEST(an_owner_waits_for_a_guest_that_sleeps) {
    struct shared *s = new_shared();
    const pthread_t guest = start(stay_in, s);
    UNTIL(atomic_load(&s->step) == 1);
    ck_assert_int_eq(rmai_biased_try_enter(&s->lock), 0);
    ck_assert_uint_eq(s->lock.wanted, 0);
    rmai_biased_enter(&s->lock);
    ck_assert_int_eq(atomic_load(&s->step), 2);
    ck_assert_uint_eq(s->count[0], 1);
    ck_assert_uint_eq(s->lock.wanted, 0);
    ck_assert_uint_eq(rmai_biased_inside(&s->lock), 1);
    rmai_biased_leave(&s->lock);
    ck_assert_int_eq(pthread_join(guest, NULL), 0);
    free(s);
}
END_TEST

/* The second owner. */
static void *own_for_a_while(void *context) {
    struct shared *s = context;
    for (unsigned i = 0; i < turns / 10; i++) {
        rmai_biased_enter(&s->lock);
        s->mistakes += !count_one(s);
        rmai_biased_leave(&s->lock);
    }
    return NULL;
}

START_TEST(another_thread_may_become_the_owner) {
    /* The threads of a program below RMA_THREAD_MULTIPLE, which are in the library one after the other. */
    struct shared *s = new_shared();
    unsigned long mistakes = 0;
    const pthread_t guest = start(visit_on, s);
    for (int i = 0; i < 5; i++) {
        pthread_t second;
        rmai_biased_enter(&s->lock);
        mistakes += !count_one(s);
        rmai_biased_leave(&s->lock);
        second = start(own_for_a_while, s);
        ck_assert_int_eq(pthread_join(second, NULL), 0);
    }
    atomic_store_explicit(&s->through, 1, memory_order_relaxed);
    ck_assert_int_eq(pthread_join(guest, NULL), 0);
    ck_assert_uint_eq(mistakes, 0);
    ck_assert_int_eq(s->mistakes, 0);
    ck_assert_uint_eq(s->count[0], 5 + 5 * (turns / 10) + (unsigned long)s->visits);
    free(s);
}
END_TEST

/* After membarrier has been forbidden, as a sandbox does. 0: it does not work then; 77: it cannot be forbidden. */
static int forbid_membarrier(void) {
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return 77;
    return rmai_biased_works();
}

START_TEST(without_the_kernel_s_barrier_it_does_not_work) {
    int status;
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) _exit(forbid_membarrier());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        puts("check_biased: no system call can be forbidden here");
        return;
    }
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

int main(void) {
    Suite *s = suite_create("biased");
    TCase *locks = tcase_create("locks"), *kernel = tcase_create("kernel");
    const char *wrap = getenv("RMA_TEST_WRAP");
    SRunner *runner;
    int failed;
    tcase_add_test(kernel, without_the_kernel_s_barrier_it_does_not_work);
    suite_add_tcase(s, kernel);
    if (wrap && *wrap) {
        turns = 20000;
        visits = 50;
        printf("check_biased: %u turns and %u visits only (RMA_TEST_WRAP)\n", turns, visits);
        fflush(stdout);
    }
    if (rmai_biased_works()) {
        tcase_set_timeout(locks, 2 * DEADLINE);
        tcase_add_loop_test(locks, one_at_a_time, 0, 3);
        tcase_add_test(locks, nobody_gets_in_while_the_other_one_is);
        tcase_add_test(locks, an_owner_waits_for_a_guest_that_sleeps);
        tcase_add_test(locks, another_thread_may_become_the_owner);
        suite_add_tcase(s, locks);
    } else {
        puts("check_biased: the kernel makes no barrier for others here (membarrier): the lock is not used");
        fflush(stdout);
    }
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
