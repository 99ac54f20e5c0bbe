/* SPDX-License-Identifier: BSD-3-Clause */
/* The life cycle: the program's MPI_Init starts librma, its MPI_Finalize ends it; and memory of MPI_Alloc_mem. */
#include "config.h"

#include "mpi/state.h"
#include "mpi/trial.h"
#include "mpi/window.h"
#include "runtime/layered.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *text) {
    fprintf(stderr, "rma_mpi: %s\n", text);
    fflush(stderr);
    _exit(RMA_EXIT_BASE + RMA_ERR_LAUNCH);
}

/* ---- is it the right MPI, and has each process this library? ---- */

/* The program may belong to another MPI than this library: its functions come first in the search order. */
static void check_mpi(void) {
#ifdef MPICH_VERSION
    static const char *const built_for = "MPICH";
#else
    static const char *const built_for = "Open MPI";
#endif
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", text[512];
    int len;
    if (PMPI_Get_library_version(version, &len) == MPI_SUCCESS && strstr(version, built_for)) return;
    version[strcspn(version, "\n,")] = 0;
    snprintf(text, sizeof text, "the program uses '%.100s', but this librma was built for %s", version, built_for);
    die(text);
}

/* 1 if the process has this library, -1 if that is not known. */
static int has_library(const char *pid) {
    char path[64], line[512];
    int found = 0;
    FILE *f;
    snprintf(path, sizeof path, "/proc/%.20s/maps", pid);
    if (!(f = fopen(path, "re"))) return -1;
    if (!fgets(line, sizeof line, f)) found = -1; /* the process has ended, or may not be looked into */
    while (!found && fgets(line, sizeof line, f)) found = strstr(line, "/librma_mpi.so") != NULL;
    fclose(f);
    return found;
}

/* The parent of process pid, or -1. */
static long parent_of(const char *pid) {
    char path[64], line[512], *end;
    long parent = -1;
    FILE *f;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (!(f = fopen(path, "re"))) return -1;
    if (fgets(line, sizeof line, f) && (end = strrchr(line, ')')) != NULL) sscanf(end, ") %*c %ld", &parent);
    fclose(f);
    return parent;
}

/* The launcher's rank of process pid, or -1. */
static int rank_of(const char *pid) {
    static const char *const names[] = {"PMI_RANK=", "OMPI_COMM_WORLD_RANK="};
    char path[64], *entry = NULL;
    size_t room = 0;
    int rank = -1;
    FILE *f;
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    if (!(f = fopen(path, "re"))) return -1;
    while (rank < 0 && getdelim(&entry, &room, 0, f) > 0)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strncmp(entry, names[i], strlen(names[i])) == 0) rank = atoi(entry + strlen(names[i]));
    free(entry);
    fclose(f);
    return rank;
}

/* A process of this job that runs without this library would make windows that nobody here knows: the job would hang.
 * MPI_Init has returned, so each process runs the program that it was started for. Those of this host are children of
 * one launcher. */
static void check_siblings(void) {
    DIR *all = opendir("/proc");
    struct dirent *one;
    char text[256];
    while (all && (one = readdir(all)) != NULL) {
        const char *pid = one->d_name;
        int rank;
        if (pid[0] < '1' || pid[0] > '9' || parent_of(pid) != getppid() || (rank = rank_of(pid)) < 0) continue;
        if (has_library(pid) != 0) continue;
        snprintf(text, sizeof text,
                 "process %d of the job (pid %.20s) was started without rma_mpi: start all of them with it", rank, pid);
        fprintf(stderr, "rma_mpi: %s\n", text);
        rma_exit_(RMA_EXIT_BASE + RMA_ERR_LAUNCH);
    }
    if (all) closedir(all);
}

/* ---- the life cycle ---- */

static int begin(void) {
    /* The variables of a program that does not know librma stay where they are. */
    const int set = !getenv("RMA_STATICS");
    int code;
    check_siblings();
    if (set) setenv("RMA_STATICS", "off", 1);
    rma_call_as_("MPI_Init");
    code = rma_init_thread(RMA_THREAD_MULTIPLE, NULL);
    if (set) unsetenv("RMA_STATICS");
    if (code == RMA_SUCCESS) code = rmai_wins_open();
    rma_call_as_(NULL);
    if (code != RMA_SUCCESS) {
        fprintf(stderr, "rma_mpi: %s\n", rma_last_error());
        rma_exit_(RMA_EXIT_BASE + code);
    }
    /* From here on errors of librma become errors of MPI's calls. */
    if (rma_set_errhandler(NULL) == rma_errors_abort) rma_set_errhandler(rma_errors_return);
    if (rma_windows_info_() && rma_my_pe() == 0 && rmai_mpi_shifts())
        fprintf(stderr,
                "rma_mpi: without rma_mpi, this MPI returns wrong data from windows whose memory does not begin "
                "at a multiple of 16 bytes, as in MPI_Win_allocate of a size that is no multiple of 16\n");
    rmai_win_running = 1;
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int given, code;
    check_mpi();
    /* librma serves other nodes in a thread of its own. */
    code = PMPI_Init_thread(argc, argv, required > MPI_THREAD_MULTIPLE ? required : MPI_THREAD_MULTIPLE, &given);
    if (provided) *provided = given;
    return code == MPI_SUCCESS ? begin() : code;
}

RMAI_MPI_API int MPI_Init(int *argc, char ***argv) { return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, NULL); }

RMAI_MPI_API int MPI_Finalize(void) {
    if (rmai_win_running) {
        rmai_win_running = 0;
        rmai_wins_close();
        rma_finalize();
    }
    return PMPI_Finalize();
}

RMAI_MPI_API int MPI_Abort(MPI_Comm comm, int code) {
    if (rmai_win_running) rma_aborting_();
    return PMPI_Abort(comm, code);
}

/* ---- memory ---- */

RMAI_MPI_API int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr) {
    if (!rmai_win_running || size < 0 || !baseptr) return PMPI_Alloc_mem(size, info, baseptr);
    /* Where the heap has no room, MPI may have. */
    return rma_alloc_mem(size ? (size_t)size : 1, baseptr) == RMA_SUCCESS ? MPI_SUCCESS
                                                                          : PMPI_Alloc_mem(size, info, baseptr);
}

RMAI_MPI_API int MPI_Free_mem(void *base) {
    if (!rma_is_own_block_(base)) return PMPI_Free_mem(base);
    if (rma_free_mem(base) == RMA_SUCCESS) return MPI_SUCCESS;
    fprintf(stderr, "rma_mpi: MPI_Free_mem: %s\n", rma_last_error());
    return MPI_ERR_BASE;
}
