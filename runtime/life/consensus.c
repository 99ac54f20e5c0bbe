/* SPDX-License-Identifier: BSD-3-Clause */
/* All values are reduced with MIN; negate a value to get MAX. The two values x and -x tell whether all PEs have the
 * same x. */
#include "config.h"

#include "runtime/life/consensus.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/process.h"
#include "base/settings.h"
#include "heap/statics.h"
#include "runtime/net/progress_thread.h"
#include "runtime/transport/transport_mpi.h"
#include "runtime/world.h"

#include <limits.h>

/* A code as a number. The smallest number over all PEs tells which PE failed first, and how. */
static long outcome_number(const struct rmai_world *w, int code) {
    return code == RMA_SUCCESS ? LONG_MAX : (long)w->job.my_pe << 8 | code;
}

/* Returns the result for the smallest outcome of all PEs. Only the text of the first PE that failed is worth showing.
 */
static int verdict_of(struct rmai_world *w, long first) {
    int code = (int)(first & 0xff);
    if (first == LONG_MAX) return RMA_SUCCESS;
    w->failed_pe = (int)(first >> 8);
    return w->failed_pe == w->job.my_pe ? code : rmai_error(code, "rma_init: failed on PE %d", w->failed_pe);
}

/* Reduces n numbers over all PEs; the first one is the outcome. */
static int reduce_numbers(struct rmai_world *w, struct rmai_least *all, int n) {
    rmai_mpi_least(MPI_COMM_WORLD, all, n, "rma_init");
    return verdict_of(w, all[0].value);
}

int rmai_consensus(struct rmai_world *w, int code) {
    struct rmai_least all[1] = {{.value = outcome_number(w, code)}};
    return reduce_numbers(w, all, 1);
}

static int all_have_same(const struct rmai_least *x, const struct rmai_least *minus_x) {
    return x->value == -minus_x->value;
}

static long tool; /* this PE's number */
static struct {
    int differ;
    int pes[2];
} tools; /* as rma_tools_differ_ returns them */

void rma_tool_(long number) { tool = number; }

int rma_tools_differ_(int pes[2]) {
    pes[0] = tools.pes[0];
    pes[1] = tools.pes[1];
    return tools.differ;
}

static void compare_tools(const struct rmai_least *least, const struct rmai_least *minus) {
    tools.differ = all_have_same(least, minus) ? 0 : least->value ? 1 : 2;
    tools.pes[0] = least->pe;
    tools.pes[1] = minus->pe;
}

int rmai_consensus_facts(struct rmai_world *w, int code) {
    enum {
        OUTCOME,
        PROGRAM,
        PROGRAM_MINUS,
        STATICS,
        STATICS_MINUS,
        MACHINE,
        MACHINE_MINUS,
        HOST,
        HOST_MINUS,
        WATCHED,
        MPI_FIRST,
        TOOL,
        TOOL_MINUS,
        SETTINGS,
        NUMBERS = SETTINGS + RMAI_SETTINGS_NUMBERS
    };
    const long program = (long)(w->statics->program >> 1), statics = (long)w->statics->size;
    const long machine = (long)(rmai_transport_mpi_machine_id() >> 1), host = (long)(rmai_process_host() >> 1);
    struct rmai_least all[NUMBERS] = {[OUTCOME] = {.value = outcome_number(w, code)},
                                      [PROGRAM] = {.value = program},
                                      [PROGRAM_MINUS] = {.value = -program},
                                      [STATICS] = {.value = statics},
                                      [STATICS_MINUS] = {.value = -statics},
                                      [MACHINE] = {.value = machine},
                                      [MACHINE_MINUS] = {.value = -machine},
                                      [HOST] = {.value = host},
                                      [HOST_MINUS] = {.value = -host},
                                      [WATCHED] = {.value = w->job.mpi_multiple},
                                      [MPI_FIRST] = {.value = rmai_error_of_mpi()},
                                      [TOOL] = {.value = tool},
                                      [TOOL_MINUS] = {.value = -tool}};
    if (w->job.settings.progress == RMAI_PROGRESS_NONE) all[WATCHED].value = 0;
    rmai_settings_offer(&w->job.settings, &all[SETTINGS]);
    code = reduce_numbers(w, all, NUMBERS);
    if (code != RMA_SUCCESS) return code;
    rmai_settings_adopt(&w->job.settings, &all[SETTINGS]);
    w->job.statics_later = w->job.settings.statics;
    if (!statics || !all_have_same(&all[PROGRAM], &all[PROGRAM_MINUS]) ||
        !all_have_same(&all[STATICS], &all[STATICS_MINUS]))
        w->job.statics_later = RMAI_STATICS_OFF;
    w->job.mpi_first = (int)all[MPI_FIRST].value;
    w->job.statics_mode = w->job.mpi_first ? RMAI_STATICS_OFF : w->job.statics_later;
    w->job.one_machine = all_have_same(&all[MACHINE], &all[MACHINE_MINUS]);
    w->job.one_host = w->job.one_machine && all_have_same(&all[HOST], &all[HOST_MINUS]);
    w->job.all_progress = (int)all[WATCHED].value;
    compare_tools(&all[TOOL], &all[TOOL_MINUS]);
    return code;
}

int rmai_consensus_nodes(struct rmai_world *w, int code, int *most) {
    struct rmai_least all[] = {{.value = outcome_number(w, code)}, {.value = -w->job.node_n_pes}};
    code = reduce_numbers(w, all, 2);
    *most = (int)-all[1].value;
    return code;
}

int rmai_consensus_rooms(struct rmai_world *w, int code, unsigned found, int *first) {
    struct rmai_least all[1 + RMAI_ROOMS] = {{.value = outcome_number(w, code)}};
    for (int i = 0; i < RMAI_ROOMS; i++) all[1 + i].value = found >> i & 1;
    code = reduce_numbers(w, all, 1 + RMAI_ROOMS);
    for (*first = 0; *first < RMAI_ROOMS && !all[1 + *first].value;) ++*first;
    return code;
}

int rmai_consensus_reserved(struct rmai_world *w, int code) {
    const uintptr_t own = code == RMA_SUCCESS ? (uintptr_t)rmai_job_space(&w->job, w->job.node_my_pe) : 0;
    const uintptr_t heap = own + w->job.layout.symmetric;
    struct rmai_least all[] = {{.value = outcome_number(w, code)},
                               {.value = (long)own},
                               {.value = -(long)own},
                               {.value = (long)(heap & -heap)}};
    code = reduce_numbers(w, all, 4);
    w->job.one_address = all_have_same(&all[1], &all[2]);
    w->job.heap_alignment = (size_t)all[3].value;
    w->job.heap_alignment_pe = all[3].pe;
    return code;
}

int rmai_consensus_crowded(struct rmai_world *w, int code, int crowded) {
    struct rmai_least all[] = {{.value = outcome_number(w, code)}, {.value = -crowded}};
    code = reduce_numbers(w, all, 2);
    w->job.crowded_somewhere = (int)-all[1].value;
    return code;
}

int rmai_consensus_moved(struct rmai_world *w, int code, int *moved) {
    struct rmai_least all[] = {{.value = outcome_number(w, code)}, {.value = *moved}};
    code = reduce_numbers(w, all, 2);
    *moved = (int)all[1].value;
    return code;
}

int rmai_consensus_level(struct rmai_world *w, int code, int *raises) {
    const int several = w->job.level == RMA_THREAD_MULTIPLE;
    struct rmai_least all[] = {{.value = outcome_number(w, code)}, {.value = -*raises}, {.value = -several}};
    code = reduce_numbers(w, all, 3);
    *raises = all[1].value != 0 && all[2].value == 0;
    return code;
}

int rmai_consensus_watched(struct rmai_world *w, int code) {
    enum { OUTCOME, RUNNING, IN_BLOCKS, IN_TURN, NUMBERS };
    struct rmai_least all[NUMBERS] = {[OUTCOME] = {.value = outcome_number(w, code)},
                                      [RUNNING] = {.value = w->progress_thread->running},
                                      [IN_BLOCKS] = {.value = rmai_placed(&w->job, RMAI_PLACED_IN_BLOCKS)},
                                      [IN_TURN] = {.value = rmai_placed(&w->job, RMAI_PLACED_IN_TURN)}};
    code = reduce_numbers(w, all, NUMBERS);
    w->job.all_progress = (int)all[RUNNING].value;
    w->job.placement = all[IN_BLOCKS].value ? RMAI_PLACED_IN_BLOCKS
                       : all[IN_TURN].value ? RMAI_PLACED_IN_TURN
                                            : RMAI_PLACED_ANYHOW;
    return code;
}
