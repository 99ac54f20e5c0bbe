/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors: recording, passing on and reporting them. The function that first knows the cause words it with rmai_error
 * and returns the code. Each layer above passes the code on. Only the public entry calls rmai_raise, which shows a
 * caller's mistake to the error handler. Text and code are this thread's until its next error. */
#ifndef RMAI_ERROR_H
#define RMAI_ERROR_H

#include "base/attributes.h"
#include "rma.h"

#define RMAI_ERR_LAST RMA_ERR_SYSTEM /* the greatest code of enum rma_error */

/* rmai_error records code and text, cut at 1023 bytes, and returns code. */
int rmai_error(int code, const char *format, ...) RMAI_PRINTF(2, 3);

/* rmai_error_add appends to the last recorded text what a lower layer could not know. Returns the recorded code. */
int rmai_error_add(const char *format, ...) RMAI_PRINTF(1, 2);

/* rmai_error_prefix puts words (the public call's name) before the last recorded text. Returns the recorded code. */
int rmai_error_prefix(const char *format, ...) RMAI_PRINTF(1, 2);

/* rmai_raise passes the last recorded error to the error handler, unless code is RMA_SUCCESS or RMA_ERR_NO_MEM
 * (programs are expected to handle exhaustion), or the thread only records its errors. Returns code. */
int rmai_raise_(int code);
static inline int rmai_raise(int code) { return RMAI_LIKELY(code == RMA_SUCCESS) ? code : rmai_raise_(code); }

/* rmai_errhandler: the current handler. rmai_error_await_abort: a PE that has learnt of another PE's error calls it
 * before it reports that error itself. With rma_errors_abort the other PE is about to end the job, and its text has the
 * reason: so this PE waits for that end, for 5 seconds at most. With another handler it returns at once. */
rma_errhandler *rmai_errhandler(void);
void rmai_error_await_abort(void);

/* rmai_error_as: from this call until one with NULL, errors of this thread are raised as errors of `call` (a constant
 * string), whichever public call has worded them. It is for functions that forward to a public call, as those of
 * OpenSHMEM do.
 */
void rmai_error_as(const char *call);

/* rmai_error_of_mpi: 1 if that name is a call of MPI: the library of MPI's windows is the caller. */
int rmai_error_of_mpi(void);

/* rmai_error_name: `call`, or the name by which rmai_error_as has replaced it. rmai_error_of_shmem: 1 if that name is a
 * call of OpenSHMEM, whose users do not know the names of rma.h. */
const char *rmai_error_name(const char *call);
int rmai_error_of_shmem(const char *call);

/* rmai_error_tolerate: from this call until one with RMA_SUCCESS, raised errors of this thread with `code` do not reach
 * the error handler. The first one of each kind (0..31) in the process is printed as a note. */
void rmai_error_tolerate(int code, unsigned kind);

/* rmai_error_keep copies this thread's last error, and rmai_error_restore makes the copy the last error again. The two
 * enclose work that the library does for other PEs within a call. */
struct rmai_error_kept {
    int code;
    char text[1024];
};
void rmai_error_keep(struct rmai_error_kept *kept);
void rmai_error_restore(const struct rmai_error_kept *kept);

/* rmai_error_identity sets the words that rma_errors_abort prints before a text (PE and host), and the function that
 * ends the job. The runtime calls it at init; before that the process prints the text and exits. */
void rmai_error_identity(const char *who, void (*end_job)(int code));

/* rmai_error_who: these words; "" before they are set. */
const char *rmai_error_who(void);

/* rmai_error_place writes where the program has made the call of this error text (base/caller.h). Returns 0, and writes
 * nothing, if the cause is not in the program, or the caller is not. */
int rmai_error_place(int code, const char *text, char *line, size_t room);

/* rmai_s: the ending of a noun after the number n: 1 byte, 2 bytes. */
static inline const char *rmai_s(size_t n) { return n == 1 ? "" : "s"; }

/* rmai_note prints one line "librma: ..." to stderr: something that a user should know and that no call can return. */
void rmai_note(const char *format, ...) RMAI_PRINTF(1, 2);

#endif
