/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/job/launch.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/process.h"
#include "base/topology.h"
#include "rma.h"

#include <stdlib.h>
#include <string.h>

/* ---- MPI and the settings ---- */

int rmai_launch_mpi(struct rmai_job *job, int required, int *owns_mpi) {
    int initialized = 0, finalized = 0, provided = MPI_THREAD_SINGLE;
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int code = rmai_mpi(MPI_Initialized(&initialized), "rma_init", "MPI_Initialized");
    if (code == RMA_SUCCESS) code = rmai_mpi(MPI_Finalized(&finalized), "rma_init", "MPI_Finalized");
    if (code != RMA_SUCCESS) return code;
    if (finalized)
        return rmai_error(RMA_ERR_STATE,
                          "rma_init: called after MPI_Finalize: MPI cannot be started twice in a process");
    if (initialized) {
        rmai_mpi_or_end(MPI_Query_thread(&provided), "rma_init", "MPI_Query_thread");
    } else {
        /* More than the program asks for: our own thread calls MPI too. */
        code = rmai_mpi(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), "rma_init", "MPI_Init_thread");
        if (code != RMA_SUCCESS) return code;
        *owns_mpi = 1;
    }
    if (required == RMAI_LEVEL_UNSAID) required = *owns_mpi ? RMA_THREAD_SINGLE : RMA_THREAD_MULTIPLE;
    job->mpi_multiple = provided == MPI_THREAD_MULTIPLE;
    job->level = RMA_THREAD_SINGLE;
    for (int l = RMA_THREAD_SINGLE; l <= required; l++)
        if (levels[l] <= provided) job->level = l;
    job->my_pe = rmai_mpi_rank(MPI_COMM_WORLD, "rma_init");
    job->n_pes = rmai_mpi_size(MPI_COMM_WORLD, "rma_init");
    return RMA_SUCCESS;
}

/* The option with which Slurm's srun starts processes of this MPI as one world. */
#ifdef OPEN_MPI
#define SRUN_OPTION "--mpi=pmix"
#else
#define SRUN_OPTION "--mpi=pmi2"
#endif

/* Finds n processes that are each a world of one: another MPI's launcher has started them, or a resource manager
 * without ours. srun itself starts launchers on each node of an allocation: so srun's variable counts only if no
 * launcher has set its own. Without --mpi srun sets none; the shell of an allocation is not a step of several tasks. */
static int check_launcher(const struct rmai_job *job) {
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PALS_NRANKS"};
    static const char srun_size[] = "SLURM_STEP_NUM_TASKS";
    const int tasks = rmai_environment_number(srun_size, 0);
    const char *found = NULL;
    int launched = 0;
    if (job->n_pes > 1) return RMA_SUCCESS;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        launched |= getenv(sizes[i]) != NULL;
        if (!found && rmai_environment_number(sizes[i], 0) > 1) found = sizes[i];
    }
    /* The shell of `srun --pty` is one of several tasks, and may start a PE by hand. */
    if (!launched && tasks > 1 && !getenv("SLURM_PTY_PORT")) found = srun_size;
    if (!found) return RMA_SUCCESS;
    /* PMI_SIZE is srun's own, with the --mpi of another MPI. */
    if (tasks > 1 && rmai_environment_number(found, 0) == tasks &&
        (found == srun_size || strcmp(found, "PMI_SIZE") == 0))
        return rmai_error(
            RMA_ERR_LAUNCH,
            "rma_init: srun started %d processes (%s), but each is an MPI world of one: use srun " SRUN_OPTION
            ", or the mpiexec that belongs to the MPI of this program (%s); for jobs of one PE each, "
            "srun env -u %s",
            tasks, found, RMAI_MPIEXEC, found);
    return rmai_error(RMA_ERR_LAUNCH,
                      "rma_init: the launcher started %s processes (%s), but each is an MPI world of one: use the "
                      "mpiexec that belongs to the MPI of this program (%s)",
                      getenv(found), found, RMAI_MPIEXEC);
}

static int read_settings(struct rmai_job *job) {
    int code = rmai_settings_read(&job->settings, rmai_node_memory());
    if (job->settings.errors == RMAI_ERRORS_RETURN && rmai_errhandler() == rma_errors_abort)
        rma_set_errhandler(rma_errors_return);
    return code;
}

/* The PEs of this machine that share memory. */
static int find_machine(MPI_Comm *node) {
    int mpi_code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node);
    if (mpi_code != MPI_SUCCESS) *node = MPI_COMM_NULL;
    return rmai_mpi(mpi_code, "rma_init", "MPI_Comm_split_type");
}

/* Makes MPI's call in any case: the other PEs are in it. */
int rmai_launch_facts(struct rmai_job *job, MPI_Comm *node) {
    int found = find_machine(node), code = check_launcher(job);
    if (code == RMA_SUCCESS) code = read_settings(job);
    if (code == RMA_SUCCESS && job->n_pes > 1 << 24)
        code = rmai_error(RMA_ERR_LAUNCH, "rma_init: %d PEs: a global pointer names 2^24 at most", job->n_pes);
    return code == RMA_SUCCESS ? found : code;
}

/* ---- the node ---- */

/* RMA_NODE_PES: splits the machine's PEs into blocks, each a node. */
static int cut_machine(const struct rmai_job *job, MPI_Comm *node, int slot, int n) {
    MPI_Comm machine = *node;
    int code, freed;
    if (job->settings.node_pes == RMAI_AUTO || job->settings.node_pes >= n) return RMA_SUCCESS;
    code =
        rmai_mpi(MPI_Comm_split(machine, slot / (int)job->settings.node_pes, slot, node), "rma_init", "MPI_Comm_split");
    if (code != RMA_SUCCESS) *node = MPI_COMM_NULL;
    freed = rmai_mpi(MPI_Comm_free(&machine), "rma_init", "MPI_Comm_free");
    return code == RMA_SUCCESS ? freed : code;
}

/* From here on this library handles the errors of the node's communicator: heap/reserve tries calls that MPI may
 * refuse. */
static int find_node(struct rmai_job *job, MPI_Comm node) {
    int code = rmai_mpi(MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN), "rma_init", "MPI_Comm_set_errhandler");
    job->node_my_pe = rmai_mpi_rank(node, "rma_init");
    return code == RMA_SUCCESS ? rmai_mpi_members(node, &job->node_n_pes, &job->node_pes, "rma_init") : code;
}

int rmai_launch_node(struct rmai_job *job, MPI_Comm *node) {
    const int slot = rmai_mpi_rank(*node, "rma_init"), n = rmai_mpi_size(*node, "rma_init");
    int code = cut_machine(job, node, slot, n);
    if (code == RMA_SUCCESS) code = find_node(job, *node);
    rmai_affinity_describe(job->binding);
    return code;
}
