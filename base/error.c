/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording is apart from raising: a code can travel up through layers that add what they know, and the
 * handler sees the whole text once. */
#include "config.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct rmai_error_kept last;

#define TEXT_SIZE sizeof last.text

/* The process's handler and identity: what the one world of the process is called when it fails. */
static _Atomic(rma_errhandler *) handler = rma_errors_abort;
static char identity[128];
static void (*end)(int code);

/* Put together aside: the arguments may be the present text. */
int rmai_error(int code, const char *format, ...) {
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    last.code = code;
    memcpy(last.text, text, sizeof text);
    return code;
}

int rmai_error_add(const char *format, ...) {
    char more[TEXT_SIZE];
    size_t used = strlen(last.text);
    va_list args;
    va_start(args, format);
    vsnprintf(more, sizeof more, format, args);
    va_end(args);
    snprintf(last.text + used, sizeof last.text - used, "%s", more);
    return last.code;
}

int rmai_error_prefix(const char *format, ...) {
    char words[TEXT_SIZE];
    size_t used;
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    used = strlen(words);
    snprintf(words + used, sizeof words - used, "%s", last.text);
    memcpy(last.text, words, sizeof words);
    return last.code;
}

/* Initial-exec: one store, where the general way to a thread's variable from a library is a call. */
static _Thread_local const char *called_as __attribute__((tls_model("initial-exec")));

void rmai_error_as(const char *call) { called_as = call; }

const char *rmai_error_name(const char *call) { return called_as ? called_as : call; }

int rmai_error_of_shmem(const char *call) { return strncmp(rmai_error_name(call), "rma_", 4) != 0; }

/* What stands before the first colon is the public call's name, unless another one's words have been taken. */
static void rename_call(void) {
    char text[TEXT_SIZE];
    size_t len = strspn(last.text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (strncmp(last.text, "rma_", 4) != 0 || last.text[len] != ':') return;
    snprintf(text, sizeof text, "%s%s", called_as, last.text + len);
    memcpy(last.text, text, sizeof text);
}

void rmai_error_keep(struct rmai_error_kept *kept) { *kept = last; }

void rmai_error_restore(const struct rmai_error_kept *kept) { last = *kept; }

int rmai_raise(int code) {
    if (code != RMA_SUCCESS && called_as) rename_call();
    if (code != RMA_SUCCESS && code != RMA_ERR_NO_MEM) rmai_errhandler()(code, last.text);
    return code;
}

void rmai_error_identity(const char *who, void (*end_job)(int code)) {
    snprintf(identity, sizeof identity, "%s", who);
    end = end_job;
}

const char *rmai_error_who(void) { return identity; }

void rmai_note(const char *format, ...) {
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "librma: %s\n", text);
}

const char *rma_last_error(void) { return last.text; }

int rma_last_code(void) { return last.code; }

void rma_errors_return(int code, const char *text) {
    (void)code;
    (void)text;
}

void rma_errors_abort(int code, const char *text) {
    if (identity[0])
        rmai_note("%s: %s (%s); aborting the job", identity, text, rma_strerror(code));
    else
        rmai_note("%s (%s)", text, rma_strerror(code));
    code = code > RMA_SUCCESS && code <= RMA_ERR_SYSTEM ? RMA_EXIT_BASE + code : RMA_EXIT_BASE;
    if (end) end(code);
    exit(code);
}

rma_errhandler *rmai_errhandler(void) { return atomic_load_explicit(&handler, memory_order_acquire); }

rma_errhandler *rma_set_errhandler(rma_errhandler *new_handler) {
    if (!new_handler) return rmai_errhandler();
    return atomic_exchange_explicit(&handler, new_handler, memory_order_acq_rel);
}

const char *rma_strerror(int code) {
    switch ((enum rma_error)code) {
        case RMA_SUCCESS: return "success";
        case RMA_ERR_ARG: return "invalid argument";
        case RMA_ERR_PE: return "PE out of range";
        case RMA_ERR_ADDRESS: return "address outside remotely accessible memory";
        case RMA_ERR_BASE: return "not the base of a live block";
        case RMA_ERR_NO_MEM: return "out of memory";
        case RMA_ERR_STATE: return "the call is not possible now";
        case RMA_ERR_MISMATCH: return "collective arguments differ between PEs";
        case RMA_ERR_SETTING: return "unusable setting";
        case RMA_ERR_LAUNCH: return "launcher does not fit the MPI library";
        case RMA_ERR_MPI: return "MPI failed";
        case RMA_ERR_SYSTEM: return "system call failed";
    }
    return "unknown error code";
}
