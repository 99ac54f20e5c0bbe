/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/options.h"

int race_is_behind;

/* If another library has MPI's calls before this one, the program's do not come here, but those of the other library
 * may. Each process says so, but for those whose launcher has told them that they are not the first one. */
static __attribute__((constructor)) void check_place(void) {
    const char *rank = getenv("PMI_RANK");
    const void *first = dlsym(RTLD_DEFAULT, "MPI_Win_fence");
    Dl_info mine, theirs;
    if (!first || !dladdr(first, &theirs) || !dladdr((const void *)(uintptr_t)&calls_next, &mine)) return;
    if (theirs.dli_fbase == mine.dli_fbase) return;
    race_is_behind = 1;
    if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMIX_RANK");
    if ((!rank || !strcmp(rank, "0")) && race_options_wanted())
        race_say("the program calls MPI's functions in %s, which comes before the detector: no races are looked for; "
                 "link it with rma_mpicc --race, and name no library of MPI, or start it with rma_mpi",
                 theirs.dli_fname);
}
