/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of the detector in programs of OpenSHMEM and native programs: librma. */
#include "config.h"

#include "instruments/race/host.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/job.h"
#include "instruments/race/native.h"
#include "instruments/race/options.h"
#include "instruments/race/report.h"

const char *const race_host_calls[] = {"shmem_init", "rma_init", "shmem_putmem", "rma_put", "_gfortran_caf_init", NULL};
const char race_host_remedy[] = "leave that library out, or start the program without rma_trace";

int race_host_is_up(void) { return prma_initialized() == 1; }
int race_host_pe(void) { return prma_my_pe(); }
void race_host_limits(size_t map_most) { (void)map_most; }
int race_host_share_less(void) { return 0; }
void race_host_abort(void) { prma_abort(EXIT_FAILURE); }
int race_host_covers_hosts(void) { return !race_job.ends_alone; }

int race_host_describe(void) {
    race_job.my_pe = prma_my_pe();
    race_job.n_pes = prma_n_pes();
    race_job.node_n_pes = prma_node_n_pes();
    race_job.stride = rma_reach_.stride;
    race_job.symmetric = rma_reach_.symmetric;
    race_job.symmetric_size = &rma_reach_.size;
    race_job.local = rma_reach_.local;
    race_job.guest = rma_reach_.guest;
    race_job.space = rma_reach_.base - rma_reach_.symmetric;
    race_job.spaces = rma_reach_.node_base - rma_reach_.symmetric;
    race_job.spaces_len = race_job.stride * (size_t)race_job.node_n_pes;
    race_job.node_pes = calloc((size_t)race_job.node_n_pes, sizeof *race_job.node_pes);
    race_job.space_of = calloc((size_t)race_job.n_pes, sizeof *race_job.space_of);
    if (!race_job.node_pes || !race_job.space_of) return -1;
    for (int q = 0; q < race_job.node_n_pes; q++) {
        race_job.node_pes[q] = prma_team_translate_pe(RMA_TEAM_SHARED, q, RMA_TEAM_WORLD);
        race_job.space_of[race_job.node_pes[q]] = race_job.spaces + (size_t)q * race_job.stride;
    }
    return 0;
}

/* Other PEs reach global variables by global pointers of another part of the space, where the PEs of the node have
 * mapped them a second time. */
void race_host_second(void) {
    /* The last page is always accessible; the first pages may be ones that the dynamic linker has made read-only. */
    const uintptr_t last = (race_job.statics + race_job.statics_len - 1) & ~(uintptr_t)63;
    if (!race_job.statics_len || !prma_ptr((void *)last, race_job.my_pe)) return;
    race_job.second =
        (prma_gptr((void *)last, race_job.my_pe) & (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1)) - (last - race_job.statics);
    race_job.second_len = race_job.statics_len;
}

void race_host_announce(void) {
    long number = 1;
    for (const char *p = "race " PACKAGE_VERSION; *p; p++) number = (number * 131 + *p) & 0x7fffffff;
    rma_tool_(number);
}

int race_host_meet(void) {
    int pes[2];
    const char *pe = race_pe_word();
    const int differ = rma_tools_differ_(pes);
    if (!differ || race_host_pe() != pes[1]) return !differ;
    if (differ == 2)
        race_say("%s %d has no race detector (was its program compiled with --race?): race detection is off", pe,
                 race_pe_number(pes[0]));
    else
        race_say("%s %d and %s %d have race detectors of different versions of librma: race detection is off", pe,
                 race_pe_number(pes[0]), pe, race_pe_number(pes[1]));
    return 0;
}

/* librma's collectives need symmetric memory. */
int race_host_broadcast(void *data, size_t len) {
    void *shared = prma_malloc(len);
    if (!shared) return -1;
    memcpy(shared, data, len);
    prma_broadcast(RMA_TEAM_WORLD, shared, shared, len, 0);
    memcpy(data, shared, len);
    prma_free(shared);
    return 0;
}

int race_host_least(int *values, int n) {
    const size_t len = (size_t)n * sizeof *values;
    int *own = prma_malloc(2 * len);
    if (!own) return -1;
    memcpy(own, values, len);
    prma_min_reduce_int(RMA_TEAM_WORLD, own + n, own, (size_t)n);
    memcpy(values, own + n, len);
    prma_free(own);
    return 0;
}

void race_host_barrier(void) { prma_barrier_all(); }
