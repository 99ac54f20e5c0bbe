/* SPDX-License-Identifier: BSD-3-Clause */
/* Life cycle, queries, and calls that belong nowhere else. */
#include "config.h"

#include "interfaces/shmem/setup.h"
#include "interfaces/shmem/define.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int init_references;      /* calls of init without their finalize so far */
static int started_by_start_pes; /* 1: started by start_pes. Returning from main then finalizes */
static int asked_level;          /* the highest thread level that was requested */
static pid_t init_process;       /* the process that called init: a child made by fork must not finalize */

/* The launcher ends the job of a program that fails. So a failing process must not wait for other PEs here. */
static void end_at_exit(int status, void *unused) {
    (void)unused;
    if (getpid() != init_process) return;
    if (init_references > 0 && started_by_start_pes && status == 0) pshmem_finalize();
    if (init_references == 0) rmai_shmem_mpi_at_exit();
}

/* A program that exits with 0 without shmem_finalize has succeeded; so the library finalizes for it, together with all
 * PEs. This is a destructor, since functions that the program registered before shmem_init may still finalize (the
 * destructor of runtime/life/exit.c runs next). */
__attribute__((destructor(102))) static void end_for_program(void) {
    if (init_references == 0 || !rma_exits_normally_()) return;
    while (init_references > 0) pshmem_finalize();
    rmai_shmem_mpi_at_exit();
}

static int start_shmem(const char *call, int requested, int *provided) {
    const int late = !init_references && rma_reach_.running;
    int code = init_references ? RMA_SUCCESS : rmai_shmem_environment_begin(call);
    if (code != RMA_SUCCESS) return code;
    rma_call_as_(call);
    rmai_shmem_mpi_begin();
    code = rma_init_thread(requested, provided);
    rmai_shmem_mpi_end(call, init_references || code == RMA_SUCCESS);
    rma_call_as_(NULL);
    if (late && code == RMA_SUCCESS) rmai_shmem_environment_late(call);
    if (!init_references) rmai_shmem_environment_end();
    if (code != RMA_SUCCESS) return code;
    if (requested > asked_level) asked_level = requested;
    if (init_references++ == 0) rmai_shmem_environment_inform();
    if (init_process != getpid()) {
        init_process = getpid();
        on_exit(end_at_exit, NULL);
    }
    return RMA_SUCCESS;
}

int rmai_shmem_threads(void) { return asked_level == SHMEM_THREAD_MULTIPLE; }

void pshmem_init(void) { start_shmem("shmem_init", SHMEM_THREAD_SINGLE, NULL); }

int pshmem_init_thread(int requested, int *provided) { return start_shmem("shmem_init_thread", requested, provided); }

void pstart_pes(int npes) {
    (void)npes; /* the launcher decides the number of PEs */
    if (init_references) return;
    started_by_start_pes = 1;
    start_shmem("start_pes", SHMEM_THREAD_SINGLE, NULL);
}

void pshmem_finalize(void) {
    static const char call[] = "shmem_finalize";
    if (init_references == 0) {
        /* Finalize without any init is an error; a second finalize is not. */
        if (init_process) rma_tolerate_(RMA_ERR_STATE, RMA_UNDEFINED_FINALIZE_);
        rma_fail_(RMA_ERR_STATE, "%s: called more often than shmem_init", call);
        rma_tolerate_(RMA_SUCCESS, RMA_UNDEFINED_FINALIZE_);
        return;
    }
    rma_call_as_(call);
    if (!rma_only_reference_()) rma_barrier_all(); /* each finalize is a barrier; the last one includes its own */
    rmai_shmem_mpi_begin();
    rma_finalize();
    init_references--;
    rmai_shmem_mpi_end(call, init_references > 0);
    rma_call_as_(NULL);
}

void pshmem_query_initialized(int *initialized) { *initialized = init_references > 0; }

void pshmem_query_thread(int *provided) {
    if (rma_initialized())
        *provided = rma_level_();
    else
        rma_fail_(RMA_ERR_STATE, "shmem_query_thread: called before shmem_init or after shmem_finalize");
}

void pshmem_global_exit(int status) { rma_exit_(status); }

int pshmem_pe_accessible(int pe) { return pe >= 0 && pe < rma_n_pes(); }

/* A symmetric address is accessible on all PEs if it is on this one. */
int pshmem_addr_accessible(const void *addr, int pe) {
    return pshmem_pe_accessible(pe) && rma_ptr(addr, rma_my_pe()) != NULL;
}

void *pshmem_ptr(const void *dest, int pe) {
    rma_call_as_("shmem_ptr");
    return rmai_shmem_end_ptr(rma_ptr(dest, pe));
}

void pshmem_info_get_version(int *major, int *minor) {
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

void pshmem_info_get_name(char *name) { strcpy(name, SHMEM_VENDOR_STRING); }

/* Does nothing: a tool may define it instead. */
void pshmem_pcontrol(int level, ...) { (void)level; }

int p_my_pe(void) { return pshmem_my_pe(); }
int p_num_pes(void) { return pshmem_n_pes(); }

SHMEM_SETUP_CALLS_(ALIAS)
