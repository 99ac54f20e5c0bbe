/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library learns about other processes from the kernel.
 *
 * Broken by a process that hangs in the kernel unnoticed: the watching thread would read its environment, and also
 * hang; by a process that hangs only briefly and still counts as hanging afterwards; by processes of two hosts that
 * count as one host's; by a process that ends before its last words are read; and by threads of libraries that count
 * as the program's. */
#include "config.h"

#include "base/process.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE 60 /* seconds */

/* The parent of a vfork waits within the kernel, as for a disk, until its child ends. */
static void *hang(void *unused) {
    (void)unused;
    if (vfork() == 0) {
        pause();
        _exit(0);
    }
    return NULL;
}

/* An emulator may make a fork of it, whose parent does not wait and has other memory than the child. */
static int vfork_is_real(void) {
    static volatile int seen;
    pid_t pid;
    seen = 0;
    pid = vfork();
    if (pid == 0) {
        seen = 1;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    return seen;
}

static pid_t start(int in_a_thread) {
    const pid_t pid = fork();
    pthread_t thread;
    ck_assert_int_ge(pid, 0);
    if (pid > 0) return pid;
    setpgid(0, 0);
    if (!in_a_thread)
        hang(NULL);
    else if (pthread_create(&thread, NULL, hang, NULL) == 0)
        pthread_join(thread, NULL);
    pause();
    _exit(0);
}

static int hangs_in_time(pid_t pid) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < DEADLINE * 100; i++) {
        if (rmai_process_hangs(pid)) return 1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

START_TEST(a_process_that_hangs_is_known) {
    pid_t pid;
    if (!vfork_is_real()) {
        puts("vfork is a fork here: no process can be made to hang");
        return;
    }
    pid = start(_i);
    ck_assert(hangs_in_time(pid));
    ck_assert_int_eq(rmai_process_state(pid), RMAI_PROCESS_LIVES);
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert(!rmai_process_hangs(pid));
    ck_assert_int_eq(rmai_process_state(pid), RMAI_PROCESS_GONE);
}
END_TEST

START_TEST(a_process_that_sleeps_does_not_hang) {
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        pause();
        _exit(0);
    }
    ck_assert(!rmai_process_hangs(getpid()));
    kill(pid, SIGSTOP);
    ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
    ck_assert(!rmai_process_hangs(pid));
    ck_assert_int_eq(rmai_process_state(pid), RMAI_PROCESS_STOPPED);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
END_TEST

/* Its child is of the same host; one in a namespace of its own is not. */
START_TEST(a_host_is_its_namespaces) {
    const unsigned host = rmai_process_host();
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) _exit(rmai_process_host() == host ? 0 : 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (unshare(CLONE_NEWUSER) != 0 && unshare(CLONE_NEWUTS) != 0) _exit(2); /* this user may have none */
        _exit(rmai_process_host() != host ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 1);
}
END_TEST

/* The reader takes longer than the moment in which a launcher passes text on; it may take longer than the writer waits
 * only if it loses its processor each time. */
START_TEST(a_process_waits_until_its_words_are_read) {
    const struct timespec late = {.tv_nsec = 200000000};
    int drained = 0;
    for (int turn = 0; turn < 5 && !drained; turn++) {
        int words[2], status;
        char text[6];
        pid_t pid;
        ck_assert_int_eq(pipe(words), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            int left = 0;
            if (dup2(words[1], STDERR_FILENO) < 0 || write(STDERR_FILENO, "reason", 6) != 6) _exit(2);
            rmai_process_let_read();
            _exit(ioctl(words[0], FIONREAD, &left) == 0 && left == 0 ? 0 : 1);
        }
        nanosleep(&late, NULL);
        ck_assert_int_eq(read(words[0], text, sizeof text), sizeof text);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 2);
        drained = WEXITSTATUS(status) == 0;
        close(words[0]);
        close(words[1]);
    }
    ck_assert(drained);
}
END_TEST

static atomic_int named, over;

static void *work_as(void *name) {
    pthread_setname_np(pthread_self(), name);
    named = 1;
    while (!over) usleep(1000);
    return NULL;
}

/* The first thread counts, and one of the program's; none of the library's, and not UCX's `fuse`. */
static struct {
    char *name;
    int count;
} threads[] = {{"program", 2}, {RMAI_THREAD_NAME, 1}, {"fuse", 1}};

START_TEST(threads_of_libraries_are_not_the_programs) {
    pthread_t thread;
    int number[2];
    named = over = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, work_as, threads[_i].name), 0);
    while (!named) usleep(1000);
    ck_assert_msg(rmai_process_threads(number, 2) == threads[_i].count, "%s", threads[_i].name);
    over = 1;
    pthread_join(thread, NULL);
}
END_TEST

int main(void) {
    const char *wrap = getenv("RMA_TEST_WRAP");
    Suite *s = suite_create("process");
    TCase *state = tcase_create("state"), *host = tcase_create("host");
    SRunner *runner;
    int failed;
    tcase_set_timeout(state, 300);
    if (!wrap || !*wrap) /* valgrind makes a fork of a vfork */
        tcase_add_loop_test(state, a_process_that_hangs_is_known, 0, 2);
    tcase_add_test(state, a_process_that_sleeps_does_not_hang);
    tcase_add_test(state, a_process_waits_until_its_words_are_read);
    tcase_add_loop_test(state, threads_of_libraries_are_not_the_programs, 0, 3);
    suite_add_tcase(s, state);
    tcase_add_test(host, a_host_is_its_namespaces);
    suite_add_tcase(s, host);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
