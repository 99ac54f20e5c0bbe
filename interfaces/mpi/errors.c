/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/comm.h"
#include "interfaces/mpi/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One error code of MPI for each class, made at its first use, and the text of the last error with that code. MPICH 4.0
 * does not find the texts of such codes, so this file has MPI_Error_string. */
#define CLASSES 128
static int codes[CLASSES];
static char texts[CLASSES][MPI_MAX_ERROR_STRING];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int code_of(int class, const char *text) {
    int code = class;
    pthread_mutex_lock(&mutex);
    if (class > 0 && class < CLASSES) {
        if (codes[class] == 0 && PMPI_Add_error_code(class, &codes[class]) != MPI_SUCCESS) codes[class] = 0;
        if (codes[class] != 0) code = codes[class];
        snprintf(texts[class], sizeof texts[class], "%s", text);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

RMAI_MPI_API int MPI_Error_string(int code, char *text, int *len) {
    int class, found = 0;
    pthread_mutex_lock(&mutex);
    for (class = 1; class < CLASSES && !found; class ++) {
        found = codes[class] != 0 && codes[class] == code;
        if (found) strcpy(text, texts[class]);
    }
    pthread_mutex_unlock(&mutex);
    if (!found) return PMPI_Error_string(code, text, len);
    *len = (int)strlen(text);
    return MPI_SUCCESS;
}

/* 1 if the handler ends the job. */
static int is_fatal(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
    if (handler == MPI_ERRORS_ABORT) return 1;
#endif
    return handler == MPI_ERRORS_ARE_FATAL;
}

/* Ends the whole job, whatever the communicator: MPICH's MPI_Abort of another communicator than MPI_COMM_WORLD waits
 * for messages of its processes, which may sleep in librma. */
static void abort_job(int code, const char *text) {
    int rank = -1, class = MPI_ERR_OTHER;
    char line[512];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rma_mpi: process %d: %s\n", rank, text);
    PMPI_Error_class(code, &class);
    if (class != MPI_ERR_OTHER && class != MPI_ERR_NO_MEM && rma_caller_text_(text, line, sizeof line))
        fprintf(stderr, "rma_mpi: process %d: %s\n", rank, line);
    rma_exit_(code);
}

/* Texts are cut to MPI_MAX_ERROR_STRING bytes, as MPI requires. */
#define FORMAT_TEXT(text, format)                                                                                      \
    va_list args;                                                                                                      \
    va_start(args, format);                                                                                            \
    vsnprintf(text, sizeof(text), format, args);                                                                       \
    va_end(args)

int rmai_win_error(struct rmai_win *w, int class, const char *format, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int code;
    FORMAT_TEXT(text, format);
    code = code_of(class, text);
    if (w->handler == MPI_ERRORS_RETURN) return code;
    if (w->handle) {
        MPI_Win handle = rmai_win_handle(w);
        w->handle(&handle, &code);
        return code;
    }
    abort_job(code, text);
    return code;
}

int rmai_win_comm_error(MPI_Comm comm, int class, const char *format, ...) {
    char text[MPI_MAX_ERROR_STRING];
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
    int code;
    FORMAT_TEXT(text, format);
    code = code_of(class, text);
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS || is_fatal(handler)) abort_job(code, text);
    if (handler != MPI_ERRORS_RETURN) PMPI_Comm_call_errhandler(comm, code);
    PMPI_Errhandler_free(&handler);
    return code;
}

void rmai_win_lost(const char *call, const char *function) {
    char text[MPI_MAX_ERROR_STRING];
    snprintf(text, sizeof text, "%s: %s has failed, and the other processes wait for this one", call, function);
    abort_job(MPI_ERR_OTHER, text);
}

int rmai_win_failed(struct rmai_win *w, int code) {
    int class = MPI_ERR_OTHER;
    if (code == RMA_SUCCESS) return MPI_SUCCESS;
    if (code == RMA_ERR_ADDRESS) class = MPI_ERR_RMA_RANGE;
    if (code == RMA_ERR_NO_MEM) class = MPI_ERR_NO_MEM;
    if (code == RMA_ERR_ARG) class = MPI_ERR_ARG;
    return rmai_win_error(w, class, "%s", rma_last_error());
}

/* ---- the program's error handlers ---- */

/* The program's error handlers. MPI has no call that returns the function of a handler, and the program may free a
 * handler that a window still has. */
struct handler {
    MPI_Errhandler handle;
    MPI_Win_errhandler_function *function;
    int uses, freed;
    struct handler *next;
};
static struct handler *handlers;

static struct handler **find_handler(MPI_Errhandler handle) {
    struct handler **h = &handlers;
    while (*h && (*h)->handle != handle) h = &(*h)->next;
    return h;
}

static int drop_handler(struct handler **at) {
    struct handler *h = *at;
    int code;
    if (h->uses > 0 || !h->freed) return MPI_SUCCESS;
    *at = h->next;
    code = PMPI_Errhandler_free(&h->handle);
    free(h);
    return code;
}

int rmai_win_handler_set(struct rmai_win *w, MPI_Errhandler handle) {
    const int own = handle == MPI_ERRORS_RETURN || is_fatal(handle) || handle == MPI_ERRHANDLER_NULL;
    struct handler **old, **new;
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&mutex);
    old = find_handler(w->handler);
    new = find_handler(handle);
    if (!own && !*new) {
        code = MPI_ERR_ARG;
    } else {
        if (*new) (*new)->uses++;
        w->handler = handle;
        w->handle = *new ? (*new)->function : NULL;
        if (*old) {
            (*old)->uses--;
            drop_handler(old);
        }
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

RMAI_MPI_API int MPI_Win_create_errhandler(MPI_Win_errhandler_function *function, MPI_Errhandler *handle) {
    int code = PMPI_Win_create_errhandler(function, handle);
    struct handler *h;
    if (code != MPI_SUCCESS) return code;
    h = malloc(sizeof *h);
    if (!h) {
        PMPI_Errhandler_free(handle);
        return rmai_win_comm_error(MPI_COMM_WORLD, MPI_ERR_NO_MEM, "MPI_Win_create_errhandler: no memory");
    }
    pthread_mutex_lock(&mutex);
    *h = (struct handler){*handle, function, 0, 0, handlers};
    handlers = h;
    pthread_mutex_unlock(&mutex);
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Errhandler_free(MPI_Errhandler *handle) {
    struct handler **h;
    int code;
    if (!handle) return PMPI_Errhandler_free(handle);
    pthread_mutex_lock(&mutex);
    h = find_handler(*handle);
    if (*h && (*h)->uses > 0 && (*h)->freed) {
        (*h)->uses--; /* of MPI_Win_get_errhandler */
        *handle = MPI_ERRHANDLER_NULL;
        code = drop_handler(h);
    } else if (*h) {
        (*h)->freed = 1;
        *handle = MPI_ERRHANDLER_NULL;
        code = drop_handler(h);
    } else {
        code = PMPI_Errhandler_free(handle);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

RMAI_MPI_API int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handle) {
    struct rmai_win *w = rmai_win_of(win);
    if (!w) return PMPI_Win_set_errhandler(win, handle);
    if (handle == MPI_ERRHANDLER_NULL || rmai_win_handler_set(w, handle) != MPI_SUCCESS)
        return rmai_win_error(w, MPI_ERR_ARG, "MPI_Win_set_errhandler: not an error handler of windows");
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *handle) {
    struct rmai_win *w = rmai_win_of(win);
    struct handler **h;
    if (!w) return PMPI_Win_get_errhandler(win, handle);
    if (!handle) return rmai_win_null(w, "MPI_Win_get_errhandler", "errhandler");
    pthread_mutex_lock(&mutex);
    h = find_handler(w->handler);
    if (*h) (*h)->uses++; /* the program frees what it gets here */
    *handle = w->handler;
    pthread_mutex_unlock(&mutex);
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Win_call_errhandler(MPI_Win win, int code) {
    struct rmai_win *w = rmai_win_of(win);
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    if (!w) return PMPI_Win_call_errhandler(win, code);
    if (w->handler == MPI_ERRORS_RETURN) return MPI_SUCCESS;
    if (w->handle) {
        w->handle(&win, &code);
        return MPI_SUCCESS;
    }
    MPI_Error_string(code, text, &len);
    abort_job(code, text);
    return MPI_SUCCESS;
}
