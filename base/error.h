/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors. The function that first knows the cause words it with rmai_error and returns the code. Each layer above hands
 * the code on. Only the public entry calls rmai_raise, which shows a caller's mistake to the error handler. Text and
 * code are this thread's until its next error. */
#ifndef RMAI_ERROR_H
#define RMAI_ERROR_H

#include "base/attributes.h"
#include "rma.h"

/* rmai_error records code and text, cut at 1023 bytes, and returns code. */
int rmai_error(int code, const char *format, ...) RMAI_PRINTF(2, 3);

/* rmai_error_add appends to the text recorded last what a lower layer could not know. Returns its code. */
int rmai_error_add(const char *format, ...) RMAI_PRINTF(1, 2);

/* rmai_error_prefix puts words (the public call's name) before the text recorded last. Returns its code. */
int rmai_error_prefix(const char *format, ...) RMAI_PRINTF(1, 2);

/* rmai_raise shows the error recorded last to the error handler, unless code is RMA_SUCCESS, or RMA_ERR_NO_MEM, which
 * programs are expected to handle. Returns code. */
int rmai_raise_(int code);
static inline int rmai_raise(int code) { return RMAI_LIKELY(code == RMA_SUCCESS) ? code : rmai_raise_(code); }

/* rmai_errhandler: the handler in force. */
rma_errhandler *rmai_errhandler(void);

/* rmai_error_as: until it is called with NULL, errors of this thread are raised as errors of `call` (a constant),
 * whatever public call has worded them. It is for a function that forwards to a public call, as those of OpenSHMEM do.
 */
void rmai_error_as(const char *call);

/* rmai_error_name: `call`, or the name that rmai_error_as has put in its place. rmai_error_of_shmem: 1 if that is a
 * call of OpenSHMEM, whose users do not know the names of rma.h. */
const char *rmai_error_name(const char *call);
int rmai_error_of_shmem(const char *call);

/* rmai_error_tolerate: until it is called with RMA_SUCCESS, errors of this thread with `code` do not reach the error
 * handler when they are raised. The first one of each kind (0..31) in the process is printed as a note. */
void rmai_error_tolerate(int code, unsigned kind);

/* rmai_error_keep copies this thread's last error, and rmai_error_restore makes the copy the last error again. They
 * stand around work that the library does for others within a call. */
struct rmai_error_kept {
    int code;
    char text[1024];
};
void rmai_error_keep(struct rmai_error_kept *kept);
void rmai_error_restore(const struct rmai_error_kept *kept);

/* rmai_error_identity sets the words that rma_errors_abort puts before a text (PE and host), and the function that ends
 * the job. The runtime calls it at init; before that the process prints the text and exits. */
void rmai_error_identity(const char *who, void (*end_job)(int code));

/* rmai_error_who: these words; "" before they are set. */
const char *rmai_error_who(void);

/* rmai_s: what a noun ends with after the number n: 1 byte, 2 bytes. */
static inline const char *rmai_s(size_t n) { return n == 1 ? "" : "s"; }

/* rmai_note prints one line "librma: ..." to stderr: what a user should know and no call can return. */
void rmai_note(const char *format, ...) RMAI_PRINTF(1, 2);

#endif
