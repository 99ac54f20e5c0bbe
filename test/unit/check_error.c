/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors: what is recorded, who sees it, and how the default handler ends the process. Tests that end a process or
 * write to stderr run in a child. */
#include "config.h"

#include "base/error.h"

#include <check.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_MAX 1023 /* error.h: a text is cut at so many bytes */

static char x2000[2001];

static void setup(void) { memset(x2000, 'x', sizeof x2000 - 1); }

/* ---- texts ---- */

START_TEST(error_records_code_and_text) {
    /* A code that is not returned, or a text that is not formatted. */
    ck_assert_str_eq(rma_last_error(), "");
    ck_assert_int_eq(rma_last_code(), RMA_SUCCESS);
    ck_assert_int_eq(rmai_error(RMA_ERR_PE, "rma_put: PE %d is outside 0..%d", 7, 3), RMA_ERR_PE);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_PE);
    ck_assert_str_eq(rma_last_error(), "rma_put: PE 7 is outside 0..3");
    ck_assert_int_eq(rmai_error(RMA_ERR_ARG, "%s", ""), RMA_ERR_ARG);
    ck_assert_str_eq(rma_last_error(), "");
    ck_assert_int_eq(rma_last_code(), RMA_ERR_ARG);
}
END_TEST

START_TEST(add_and_prefix_keep_what_was_recorded) {
    /* A layer that overwrites what the one below knew, or its code. */
    rmai_error(RMA_ERR_NO_MEM, "%d bytes asked for", 5);
    ck_assert_int_eq(rmai_error_add(", %s", "none there"), RMA_ERR_NO_MEM);
    ck_assert_str_eq(rma_last_error(), "5 bytes asked for, none there");
    ck_assert_int_eq(rmai_error_prefix("rma_%s: ", "malloc"), RMA_ERR_NO_MEM);
    ck_assert_str_eq(rma_last_error(), "rma_malloc: 5 bytes asked for, none there");
    ck_assert_int_eq(rma_last_code(), RMA_ERR_NO_MEM);
}
END_TEST

START_TEST(percent_signs_in_arguments_are_text) {
    /* A text that is taken for a format a second time, when it gets a prefix or is shown. */
    rmai_error(RMA_ERR_SETTING, "RMA_HEAP_MAX=%s", "50%n%s");
    rmai_error_prefix("%s: ", "100%d");
    rmai_error_add("%s", "%");
    ck_assert_str_eq(rma_last_error(), "100%d: RMA_HEAP_MAX=50%n%s%");
}
END_TEST

START_TEST(a_text_may_quote_the_text_before_it) {
    /* A text that is formatted into the place from which its arguments are read: callers wrap what a lower layer has
     * recorded, as rmai_reserve does with MPI's words. */
    rmai_error(RMA_ERR_MPI, "MPI_Win_allocate_shared failed: out of memory");
    rmai_error(RMA_ERR_NO_MEM, "rma_init: cannot reserve %d heaps: %s", 4, rma_last_error());
    ck_assert_str_eq(rma_last_error(),
                     "rma_init: cannot reserve 4 heaps: MPI_Win_allocate_shared failed: out of memory");
}
END_TEST

START_TEST(texts_are_cut_at_1023_bytes) {
    /* A write past the text, or a text without its final zero. */
    rmai_error(RMA_ERR_ARG, "%s", x2000);
    ck_assert_uint_eq(strlen(rma_last_error()), TEXT_MAX);
    rmai_error_add("%s", "more");
    ck_assert_uint_eq(strlen(rma_last_error()), TEXT_MAX);
    rmai_error_prefix("%s: ", "rma_put");
    ck_assert_uint_eq(strlen(rma_last_error()), TEXT_MAX);
    ck_assert_int_eq(strncmp(rma_last_error(), "rma_put: xxxx", 13), 0);
    rmai_error_prefix("%s", x2000);
    ck_assert_uint_eq(strlen(rma_last_error()), TEXT_MAX);
    ck_assert_int_eq(rma_last_error()[8], 'x');

    rmai_error(RMA_ERR_ARG, "%.*s", TEXT_MAX - 2, x2000);
    rmai_error_add("%s", "abc"); /* of which there is room for two */
    ck_assert_uint_eq(strlen(rma_last_error()), TEXT_MAX);
    ck_assert_str_eq(rma_last_error() + TEXT_MAX - 3, "xab");
    ck_assert_int_eq(rma_last_code(), RMA_ERR_ARG);
}
END_TEST

static void *other_thread(void *unused) {
    (void)unused;
    ck_assert_str_eq(rma_last_error(), "");
    ck_assert_int_eq(rma_last_code(), RMA_SUCCESS);
    rmai_error(RMA_ERR_PE, "the other's");
    ck_assert_str_eq(rma_last_error(), "the other's");
    return NULL;
}

START_TEST(each_thread_has_its_own_error) {
    /* One text for all threads: a thread would read what another has done wrong. */
    pthread_t thread;
    rmai_error(RMA_ERR_BASE, "mine");
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_str_eq(rma_last_error(), "mine");
    ck_assert_int_eq(rma_last_code(), RMA_ERR_BASE);
}
END_TEST

START_TEST(strerror_knows_each_code_and_takes_any) {
    /* Two codes with one meaning, a code that was added without words, a value outside that is an index somewhere. */
    static const int unknown[] = {-1, RMA_ERR_SYSTEM + 1, 1000, INT_MIN, INT_MAX};
    const char *none = rma_strerror(unknown[0]);
    ck_assert_str_eq(rma_strerror(RMA_SUCCESS), "success");
    ck_assert_uint_gt(strlen(none), 0);
    for (int a = RMA_SUCCESS; a <= RMA_ERR_SYSTEM; a++) {
        ck_assert_uint_gt(strlen(rma_strerror(a)), 0);
        ck_assert_str_ne(rma_strerror(a), none);
        for (int b = RMA_SUCCESS; b < a; b++) ck_assert_str_ne(rma_strerror(a), rma_strerror(b));
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) ck_assert_str_eq(rma_strerror(unknown[i]), none);
}
END_TEST

/* ---- handlers ---- */

static int shown, shown_code;
static char shown_text[2048];

static void show(int code, const char *text) {
    shown++;
    shown_code = code;
    snprintf(shown_text, sizeof shown_text, "%s", text);
}

static void other_handler(int code, const char *text) {
    (void)code, (void)text;
    shown += 100;
}

START_TEST(set_errhandler_gives_back_the_one_before) {
    /* A library that cannot put back what its caller had installed. */
    ck_assert(rma_set_errhandler(NULL) == rma_errors_abort); /* the default */
    ck_assert(rma_set_errhandler(show) == rma_errors_abort);
    ck_assert(rma_set_errhandler(NULL) == show); /* a null handler leaves it */
    ck_assert(rma_set_errhandler(NULL) == show);
    ck_assert(rma_set_errhandler(rma_errors_return) == show);
    ck_assert(rma_set_errhandler(other_handler) == rma_errors_return);
}
END_TEST

START_TEST(a_raised_error_is_shown_once_with_code_and_text) {
    /* A handler that is called by each layer, or sees only the innermost layer's words. */
    rma_set_errhandler(show);
    rmai_error(RMA_ERR_PE, "PE 9");
    rmai_error_prefix("rma_get: ");
    ck_assert_int_eq(shown, 0); /* recording is not raising */
    ck_assert_int_eq(rmai_raise(RMA_ERR_PE), RMA_ERR_PE);
    ck_assert_int_eq(shown, 1);
    ck_assert_int_eq(shown_code, RMA_ERR_PE);
    ck_assert_str_eq(shown_text, "rma_get: PE 9");
    rma_set_errhandler(other_handler);
    ck_assert_int_eq(rmai_raise(RMA_ERR_STATE), RMA_ERR_STATE);
    ck_assert_int_eq(shown, 101);
}
END_TEST

START_TEST(success_and_exhaustion_are_not_raised) {
    /* A program that lives with RMA_ERR_NO_MEM, and is aborted for it. */
    rma_set_errhandler(show);
    rmai_error(RMA_ERR_NO_MEM, "full");
    ck_assert_int_eq(rmai_raise(RMA_ERR_NO_MEM), RMA_ERR_NO_MEM);
    ck_assert_int_eq(rmai_raise(RMA_SUCCESS), RMA_SUCCESS);
    ck_assert_int_eq(shown, 0);
    for (int code = RMA_ERR_ARG; code <= RMA_ERR_SYSTEM; code++) ck_assert_int_eq(rmai_raise(code), code);
    ck_assert_int_eq(shown, RMA_ERR_SYSTEM - 1);
}
END_TEST

START_TEST(a_face_has_its_own_call_named) {
    /* The native call's name in an error that a face's function has caused, a face's that stays, and one put where no
     * call's name stands. */
    setup();
    rma_set_errhandler(show);
    rmai_error_as("shmem_malloc");
    rmai_raise(rmai_error(RMA_ERR_MISMATCH, "rma_malloc: the size: is 8 on PE 0"));
    ck_assert_str_eq(rma_last_error(), "shmem_malloc: the size: is 8 on PE 0");
    ck_assert_str_eq(shown_text, "shmem_malloc: the size: is 8 on PE 0");
    rmai_raise(rmai_error(RMA_ERR_NO_MEM, "rma_malloc: 5 bytes"));
    ck_assert_str_eq(rma_last_error(), "shmem_malloc: 5 bytes");
    rmai_raise(rmai_error(RMA_ERR_SETTING, "rma_x and more: wrong"));
    ck_assert_str_eq(rma_last_error(), "rma_x and more: wrong");
    rmai_raise(rmai_error(RMA_ERR_ARG, "rma_%s: long", x2000));
    ck_assert_uint_eq(strlen(rma_last_error()), TEXT_MAX);
    ck_assert_str_eq(rmai_error_name("rma_put"), "shmem_malloc");
    rmai_error_as(NULL);
    rmai_raise(rmai_error(RMA_ERR_PE, "rma_put: PE 7"));
    ck_assert_str_eq(rma_last_error(), "rma_put: PE 7");
    ck_assert_str_eq(rmai_error_name("rma_put"), "rma_put");
}
END_TEST

START_TEST(errors_return_only_returns) {
    /* A program that asked for codes, and is ended or gets lines on its stderr. */
    rma_set_errhandler(rma_errors_return);
    rmai_error(RMA_ERR_ARG, "quiet");
    ck_assert_int_eq(rmai_raise(RMA_ERR_ARG), RMA_ERR_ARG);
    ck_assert_str_eq(rma_last_error(), "quiet");
}
END_TEST

static void *set_handler(void *unused) {
    (void)unused;
    rma_set_errhandler(show);
    return NULL;
}

START_TEST(the_handler_is_the_process_s) {
    /* A handler per thread: the one that the main thread installed would not be asked by the others. */
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, set_handler, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    rmai_raise(RMA_ERR_ARG);
    ck_assert_int_eq(shown, 1);
}
END_TEST

/* ---- what ends the process ---- */

static int pieces; /* in how many the last child has written its stderr */

/* Runs body in a child; its stderr comes back in text, its exit code is returned, or -1 after a signal. */
static int in_child(void (*body)(void), char *text, size_t room) {
    int ends[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t child;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        _exit(99); /* not 0: a handler that came back is not a success */
    }
    close(ends[1]);
    for (pieces = 0; n < room - 1 && (got = read(ends[0], text + n, room - 1 - n)) > 0; pieces++) n += (size_t)got;
    text[n] = 0;
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static void raise_before_init(void) { rmai_raise(rmai_error(RMA_ERR_ADDRESS, "rma_put: %p is nowhere", (void *)64)); }

START_TEST(abort_before_init_prints_and_exits_with_the_code) {
    /* A process that goes on after an error nobody looked at, or ends without a word. */
    char text[4096];
    ck_assert_int_eq(in_child(raise_before_init, text, sizeof text), RMA_EXIT_BASE + RMA_ERR_ADDRESS);
    ck_assert(begins(text, "librma: rma_put: 0x40 is nowhere (address outside remotely accessible memory)\n"));
}
END_TEST

static void end_with_sum(int code) { _exit(code + 100); }

static void raise_in_a_job(void) {
    rmai_error_identity("PE 3 of 4 on node-a", end_with_sum);
    rmai_raise(rmai_error(RMA_ERR_PE, "rma_put: PE 9"));
}

START_TEST(abort_in_a_job_names_the_pe_and_ends_the_job) {
    /* A line that does not say which of a thousand PEs wrote it, and an exit that leaves the others waiting. */
    char text[4096];
    ck_assert_int_eq(in_child(raise_in_a_job, text, sizeof text), RMA_EXIT_BASE + RMA_ERR_PE + 100);
    ck_assert(begins(text, "librma: PE 3 of 4 on node-a: rma_put: PE 9 (PE out of range); aborting the job\n"));
    ck_assert(strstr(text, "\nlibrma: PE 3 of 4 on node-a: rma_put was called ") != NULL);
#if HAVE_ELFUTILS_LIBDWFL_H
    ck_assert(strstr(text, "rma_put was called at check_error.c:") != NULL);
#endif
}
END_TEST

static void come_back(int code) { (void)code; }

static void raise_where_the_job_does_not_end(void) {
    rmai_error_identity("PE 0", come_back);
    rmai_raise(rmai_error(RMA_ERR_MPI, "lost"));
}

START_TEST(abort_exits_even_if_ending_the_job_comes_back) {
    /* A failed call that returns to a program which does not look at codes. */
    char text[4096];
    ck_assert_int_eq(in_child(raise_where_the_job_does_not_end, text, sizeof text), RMA_EXIT_BASE + RMA_ERR_MPI);
}
END_TEST

static int code_to_end_with;
static void abort_with_code(void) { rma_errors_abort(code_to_end_with, "text"); }

START_TEST(exit_codes_of_aborts_are_nobody_else_s) {
    /* An RMA_ERR_SYSTEM of 11 that looks like a SIGSEGV, a code that is taken for a skipped test or a deadline, a 0, a
     * code cut to 8 bits. */
    static const int any[] = {0, -1, RMA_ERR_SYSTEM + 1, 256, 1000, INT_MIN, INT_MAX};
    char text[4096];
    for (code_to_end_with = RMA_ERR_ARG; code_to_end_with <= RMA_ERR_SYSTEM; code_to_end_with++) {
        int status = in_child(abort_with_code, text, sizeof text);
        ck_assert_int_eq(status, RMA_EXIT_BASE + code_to_end_with);
        ck_assert(status > 77 && status < 99);
    }
    for (size_t i = 0; i < sizeof any / sizeof any[0]; i++) {
        code_to_end_with = any[i];
        ck_assert_int_eq(in_child(abort_with_code, text, sizeof text), RMA_EXIT_BASE);
    }
}
END_TEST

static void note_much(void) {
    rmai_note("%s", x2000);
    rmai_note("%d PEs", 4);
}

START_TEST(a_note_is_one_line_of_stderr_whatever_its_length) {
    /* A line that runs into the next one, or a write past the note's buffer; and one that is written in pieces, between
     * which another PE may write. */
    char text[4096], *end;
    ck_assert_int_eq(in_child(note_much, text, sizeof text), 99);
    ck_assert_int_eq(strncmp(text, "librma: xxx", 11), 0);
    end = strchr(text, '\n');
    ck_assert_ptr_nonnull(end);
    ck_assert_str_eq(end + 1, "librma: 4 PEs\n");
    ck_assert_int_eq(pieces, 2);
}
END_TEST

int main(void) {
    Suite *s = suite_create("error");
    TCase *texts = tcase_create("texts"), *handlers = tcase_create("handlers"), *ends = tcase_create("ends");
    SRunner *runner;
    int failed;
    tcase_set_timeout(texts, 60);
    tcase_add_checked_fixture(texts, setup, NULL);
    tcase_add_test(texts, error_records_code_and_text);
    tcase_add_test(texts, add_and_prefix_keep_what_was_recorded);
    tcase_add_test(texts, percent_signs_in_arguments_are_text);
    tcase_add_test(texts, a_text_may_quote_the_text_before_it);
    tcase_add_test(texts, texts_are_cut_at_1023_bytes);
    tcase_add_test(texts, each_thread_has_its_own_error);
    tcase_add_test(texts, strerror_knows_each_code_and_takes_any);
    suite_add_tcase(s, texts);
    tcase_set_timeout(handlers, 60);
    tcase_add_test(handlers, set_errhandler_gives_back_the_one_before);
    tcase_add_test(handlers, a_raised_error_is_shown_once_with_code_and_text);
    tcase_add_test(handlers, success_and_exhaustion_are_not_raised);
    tcase_add_test(handlers, a_face_has_its_own_call_named);
    tcase_add_test(handlers, errors_return_only_returns);
    tcase_add_test(handlers, the_handler_is_the_process_s);
    suite_add_tcase(s, handlers);
    tcase_set_timeout(ends, 60);
    tcase_add_checked_fixture(ends, setup, NULL);
    tcase_add_test(ends, abort_before_init_prints_and_exits_with_the_code);
    tcase_add_test(ends, abort_in_a_job_names_the_pe_and_ends_the_job);
    tcase_add_test(ends, abort_exits_even_if_ending_the_job_comes_back);
    tcase_add_test(ends, exit_codes_of_aborts_are_nobody_else_s);
    tcase_add_test(ends, a_note_is_one_line_of_stderr_whatever_its_length);
    suite_add_tcase(s, ends);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
