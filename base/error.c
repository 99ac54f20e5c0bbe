/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording an error and raising it are separate steps. So a code can travel up through layers that add what they know,
 * and the handler sees the whole text once. */
#include "config.h"

#include "base/error.h"
#include "base/caller.h"
#include "base/process.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local struct rmai_error_kept last_error;

#define TEXT_SIZE sizeof last_error.text

/* The process's error handler, the process's name in error texts, and the function that ends the job. */
static _Atomic(rma_errhandler *) error_handler = rma_errors_abort;
static char error_identity[128];
static void (*end_job_function)(int code);

/* Formatted in a separate buffer, since the arguments may point into the current text. */
int rmai_error(int code, const char *format, ...) {
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    last_error.code = code;
    memcpy(last_error.text, text, sizeof text);
    return code;
}

int rmai_error_add(const char *format, ...) {
    char more[TEXT_SIZE];
    size_t used = strlen(last_error.text);
    va_list args;
    va_start(args, format);
    vsnprintf(more, sizeof more, format, args);
    va_end(args);
    snprintf(last_error.text + used, sizeof last_error.text - used, "%s", more);
    return last_error.code;
}

int rmai_error_prefix(const char *format, ...) {
    char words[TEXT_SIZE];
    size_t used;
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    used = strlen(words);
    snprintf(words + used, sizeof words - used, "%s", last_error.text);
    memcpy(last_error.text, words, sizeof words);
    return last_error.code;
}

/* Initial-exec: setting the variable costs one store. In the general model access to a thread-local variable of a
 * shared library costs a call.
 */
static _Thread_local const char *error_call_name __attribute__((tls_model("initial-exec")));

void rmai_error_as(const char *call) { error_call_name = call; }

const char *rmai_error_name(const char *call) { return error_call_name ? error_call_name : call; }

int rmai_error_of_mpi(void) { return error_call_name && strncmp(error_call_name, "MPI_", 4) == 0; }

int rmai_error_of_shmem(const char *call) { return strncmp(rmai_error_name(call), "rma_", 4) != 0; }

/* Replaces the public call's name, which stands before the first colon, by error_call_name. A text that begins
 * otherwise stays as it is. */
static void rename_failed_call(void) {
    char text[TEXT_SIZE];
    size_t len = strspn(last_error.text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (strncmp(last_error.text, "rma_", 4) != 0 || last_error.text[len] != ':') return;
    snprintf(text, sizeof text, "%s%s", error_call_name, last_error.text + len);
    memcpy(last_error.text, text, sizeof text);
}

static _Thread_local struct {
    int code;
    unsigned kind;
} tolerated;

void rmai_error_tolerate(int code, unsigned kind) {
    tolerated.code = code;
    tolerated.kind = kind;
}

/* Declared in runtime/interfaces.h, for the library that sets it. */
_Thread_local int rma_errors_recorded_ __attribute__((tls_model("initial-exec"), visibility("default")));

static void note_tolerated_error(void) {
    static _Atomic uint32_t noted; /* a bit for each kind */
    const uint32_t bit = UINT32_C(1) << tolerated.kind;
    if (atomic_fetch_or_explicit(&noted, bit, memory_order_relaxed) & bit) return;
    rmai_note("%s%s%s; ignored, and reported once (with RMA_CHECK=1 this is an error)", error_identity,
              error_identity[0] ? ": " : "", last_error.text);
}

/* While rmai_raise_ runs the error handler: its return address, in the public call or in that call's caller. */
static _Thread_local const void *raised_at;

void rmai_error_keep(struct rmai_error_kept *kept) { *kept = last_error; }

void rmai_error_restore(const struct rmai_error_kept *kept) { last_error = *kept; }

int rmai_raise_(int code) {
    if (error_call_name) rename_failed_call();
    if (rma_errors_recorded_) return code;
    if (code == tolerated.code)
        note_tolerated_error();
    else if (code != RMA_ERR_NO_MEM) {
        raised_at = __builtin_return_address(0);
        rmai_errhandler()(code, last_error.text);
        raised_at = NULL;
    }
    return code;
}

void rmai_error_identity(const char *who, void (*end_job)(int code)) {
    snprintf(error_identity, sizeof error_identity, "%s", who);
    end_job_function = end_job;
}

const char *rmai_error_who(void) { return error_identity; }

/* The line is written by one call: from glibc 2.37 on fprintf writes to stderr in pieces of 128 bytes, and other PEs
 * may write between these pieces. */
void rmai_note(const char *format, ...) {
    static const char start[] = "librma: ";
    char line[sizeof start + TEXT_SIZE];
    va_list args;
    memcpy(line, start, sizeof start);
    va_start(args, format);
    vsnprintf(line + sizeof start - 1, TEXT_SIZE, format, args);
    va_end(args);
    strcat(line, "\n");
    fputs(line, stderr);
}

const char *rma_last_error(void) { return last_error.text; }

int rma_last_code(void) { return last_error.code; }

void rma_errors_return(int code, const char *text) {
    (void)code;
    (void)text;
}

/* Whether the program can have made the mistake: not the machine, MPI, a PE that has died. */
static int is_of_program(int code) {
    return code == RMA_ERR_ARG || code == RMA_ERR_PE || code == RMA_ERR_ADDRESS || code == RMA_ERR_BASE ||
           code == RMA_ERR_STATE || code == RMA_ERR_MISMATCH;
}

int rmai_error_place(int code, const char *text, char *line, size_t room) {
    return is_of_program(code) && rmai_caller_text(raised_at, text, line, room);
}

/* The text comes first: finding the place may take a moment, in which another PE may end the job. */
void rma_errors_abort(int code, const char *text) {
    const char *who = error_identity, *colon = who[0] ? ": " : "";
    char line[512];
    rmai_note("%s%s%s (%s)%s", who, colon, text, rma_strerror(code), who[0] ? "; aborting the job" : "");
    if (rmai_error_place(code, text, line, sizeof line)) rmai_note("%s%s%s", who, colon, line);
    code = code > RMA_SUCCESS && code <= RMAI_ERR_LAST ? RMA_EXIT_BASE + code : RMA_EXIT_BASE;
    if (end_job_function) end_job_function(code);
    rmai_process_let_read();
    exit(code);
}

rma_errhandler *rmai_errhandler(void) { return atomic_load_explicit(&error_handler, memory_order_acquire); }

RMAI_COLD void rmai_error_await_abort(void) {
    if (rmai_errhandler() == rma_errors_abort) sleep(5);
}

rma_errhandler *rma_set_errhandler(rma_errhandler *new_handler) {
    if (!new_handler) return rmai_errhandler();
    return atomic_exchange_explicit(&error_handler, new_handler, memory_order_acq_rel);
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
