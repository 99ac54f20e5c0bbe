/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watch/siblings.h"
#include "base/clock.h"
#include "base/process.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANCESTORS_MOST 16
#define SEARCH_LAPSES  15.0 /* seconds after which a miss in an earlier search no longer counts */

/* ---- the launcher's variables in the environment ---- */

/* The variables in which a launcher gives a process its rank, with "=", and the number of processes. */
struct launcher_names {
    const char *rank, *size;
};

/* The facts about this process from the environment. A thread of the program reads them once (rmai_siblings_prepare):
 * MPI_Init may change the environment while the watchdog searches for others. */
static struct {
    int read;
    const struct launcher_names *names; /* NULL: none is known */
    char job[256];                      /* PMIx's name of the job, with "PMIX_NAMESPACE=", or "" */
    int size, here;                     /* PEs of the job, INT_MAX: not known; PEs of this host, 0: not known */
    int tasks, task;                    /* srun's number of tasks, and this one's number */
    int pmi;                            /* descriptor of the connection with the launcher, or -1 */
    int me;                             /* this process's rank, or -1 */
    char listed[4096];                  /* ranks of this host, as srun lists them */
} told;

/* Returns NULL if there are none. A resource manager may have set its own variables for the launcher: so those come
 * last. */
static const struct launcher_names *find_names(void) {
    static const struct launcher_names all[] = {{"PMI_RANK=", "PMI_SIZE"},
                                                {"OMPI_COMM_WORLD_RANK=", "OMPI_COMM_WORLD_SIZE"},
                                                {"PMIX_RANK=", "SLURM_STEP_NUM_TASKS"},
                                                {"PALS_RANKID=", "PALS_NRANKS"},
                                                {"SLURM_PROCID=", "SLURM_STEP_NUM_TASKS"}};
    char name[32];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(name, sizeof name, "%.*s", (int)strlen(all[i].rank) - 1, all[i].rank);
        if (getenv(name)) return &all[i];
    }
    return NULL;
}

static int rank_of(int pid);

void rmai_siblings_prepare(void) {
    const char *job, *listed;
    if (told.read) return;
    told.read = 1;
    job = getenv("PMIX_NAMESPACE");
    listed = getenv("SLURM_GTIDS");
    told.names = find_names();
    if (job) snprintf(told.job, sizeof told.job, "PMIX_NAMESPACE=%s", job);
    told.size = told.names ? rmai_environment_number(told.names->size, INT_MAX) : INT_MAX;
    told.here = rmai_environment_number("MPI_LOCALNRANKS", rmai_environment_number("OMPI_COMM_WORLD_LOCAL_SIZE", 0));
    told.tasks = rmai_environment_number("SLURM_STEP_NUM_TASKS", -1);
    told.task = rmai_environment_number("SLURM_PROCID", -1);
    told.pmi = rmai_environment_number("PMI_FD", -1);
    if (listed && strlen(listed) < sizeof told.listed) strcpy(told.listed, listed);
    told.me = rank_of(getpid());
}

/* ---- processes ---- */

/* The rank in a process's environment, or -1; also -1 for a process of another job, if the launcher names jobs.
 *
 * The environment is memory of that process, and there is no way to read it that does not take the lock of its address
 * space. A process that hangs in the kernel may hold that for ever, and the thread that searches would hang with it. So
 * a process in which a thread hangs counts as one without a rank: it may be starting, so no PE is taken for dead
 * meanwhile. It may still begin to hang between the check and the read: nothing can exclude that. */
static int rank_of(int pid) {
    char path[32], *entry = NULL;
    size_t room = 0;
    int rank = -1, other_job = 0;
    FILE *f;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    if (!told.names || (pid != getpid() && rmai_process_hangs(pid)) || !(f = fopen(path, "re"))) return -1;
    while ((rank < 0 || told.job[0]) && getdelim(&entry, &room, 0, f) > 0) {
        if (rank < 0 && strncmp(entry, told.names->rank, strlen(told.names->rank)) == 0)
            rank = atoi(entry + strlen(told.names->rank));
        if (told.job[0] && strncmp(entry, "PMIX_NAMESPACE=", strlen("PMIX_NAMESPACE=")) == 0)
            other_job = strncmp(entry, told.job, sizeof told.job - 1) != 0;
    }
    free(entry);
    fclose(f);
    return other_job ? -1 : rank;
}

/* 1 for launchers that are known to start all PEs of a host as their children. */
static int is_known_launcher(int pid) {
    static const char *const names[] = {"slurmstepd", "hydra_pmi_proxy", "orted", "orterun", "prted", "prterun"};
    char name[RMAI_PROCESS_NAME];
    if (!rmai_process_name(pid, name)) return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return 1;
    return 0;
}

/* The launcher's process on this host, from which `pid` descends. A launcher has a rank itself if a process of a job
 * has started it. Returns 1 or 0 if the process that started `pid` has ended, or `pid` is in a container. */
static int launcher_of(int pid) {
    int parent = rmai_process_parent(pid);
    for (int i = 0; i < ANCESTORS_MOST && parent > 1 && rank_of(parent) >= 0 && !is_known_launcher(parent); i++)
        parent = rmai_process_parent(parent);
    return parent;
}

int rmai_sibling_me(void) { return told.me; }

/* Returns the next process of the host in the folder /proc, in no order; 0 if there is none, after closing the folder.
 */
static int next_process(DIR *all) {
    struct dirent *one;
    while (all && (one = readdir(all)) != NULL)
        if (isdigit((unsigned char)one->d_name[0])) return atoi(one->d_name);
    if (all) closedir(all);
    return 0;
}

/* Text that grows to a list, and the number of its entries. */
struct list {
    char *text;
    size_t room, used;
    int n;
};

/* pid: 0, this host has no process of the PE. */
static void add_to_list(struct list *l, int rank, const char *what, int pid) {
    char process[64] = "the launcher of this host has no process of it";
    if (pid) snprintf(process, sizeof process, "process %d of this host", pid);
    if (l->used < l->room)
        l->used += (size_t)snprintf(l->text + l->used, l->room - l->used, "%sPE %d %s (%s)", l->n ? ", " : "", rank,
                                    what, process);
    l->n++;
}

/* ---- stopped ---- */

int rmai_siblings_stopped(char *text, size_t room) {
    const int launcher = launcher_of(getpid());
    struct list list = {.text = text, .room = room};
    DIR *all = opendir("/proc");
    *text = 0;
    for (int pid, rank; (pid = next_process(all)) > 0;)
        if (rmai_process_state(pid) == RMAI_PROCESS_STOPPED && (rank = rank_of(pid)) >= 0 &&
            launcher_of(pid) == launcher)
            add_to_list(&list, rank, "is stopped", pid);
    return list.n;
}

/* ---- dead ---- */

/* A PE of this host: a process of it has been seen, or the launcher should have started it. */
struct sibling {
    int rank, seen, present; /* present: in the current search; */
    int has;                 /* and so is the file that is searched for */
    int pid;                 /* the launcher's child that has this rank */
    double missing;          /* since when (rmai_wtime), or 0 */
};

/* The results of all searches. This process has the same siblings for all its life. */
static struct {
    struct sibling *of;
    int n, room, expected; /* expected: it has those that the launcher should have started */
    double searched;       /* when (rmai_wtime) */
} siblings;

static struct sibling *find_sibling(int rank) {
    struct sibling *more;
    for (int i = 0; i < siblings.n; i++)
        if (siblings.of[i].rank == rank) return &siblings.of[i];
    if (siblings.n == siblings.room) {
        more = realloc(siblings.of, (size_t)(siblings.room + 64) * sizeof *more);
        if (!more) return NULL;
        siblings.of = more;
        siblings.room += 64;
    }
    siblings.of[siblings.n] = (struct sibling){.rank = rank};
    return &siblings.of[siblings.n++];
}

/* Enters the PEs that the launcher says it has started on this host: all, if it says so, or those that srun lists. */
static void expect_siblings(void) {
    const char *listed = told.listed;
    siblings.expected = 1;
    if (told.here == told.size)
        for (int r = 0; r < told.here; r++) find_sibling(r);
    /* If srun has started a launcher of another kind, srun lists that launcher's processes, which are not PEs. */
    if (told.here || told.task != told.me || told.tasks != told.size) return;
    for (char *end; isdigit((unsigned char)*listed); listed = *end == ',' ? end + 1 : end)
        find_sibling((int)strtol(listed, &end, 10));
}

/* Marks the PEs that have a process on the host. Returns 1 if a child of the launcher has no rank: it may become a PE.
 * A process that does not descend from a launcher may be a PE of this job: the process that started it may have ended.
 */
static int mark_present(int my_launcher) {
    DIR *all = opendir("/proc");
    int starting = 0;
    for (int pid; (pid = next_process(all)) > 0;) {
        struct sibling *s;
        int rank, parent, launcher;
        if (rmai_process_state(pid) == RMAI_PROCESS_GONE) continue;
        rank = rank_of(pid);
        parent = rmai_process_parent(pid);
        starting |= rank < 0 && parent == my_launcher;
        if (rank < 0 || rank >= told.size) continue;
        launcher = launcher_of(pid);
        if ((launcher > 1 && launcher != my_launcher) || !(s = find_sibling(rank))) continue;
        s->present = 1;
        if (launcher != my_launcher) continue;
        s->seen = 1;
        if (!s->pid || parent == my_launcher || rmai_process_state(s->pid) == RMAI_PROCESS_GONE) s->pid = pid;
    }
    return starting;
}

/* A living process may lose its rank: a program may overwrite its environment (to change its title), or nobody may read
 * it; and this process may be out of file descriptors. */
static int is_dead(struct sibling *s, int may_be_starting, double now) {
    if (s->present || (s->seen ? rmai_process_state(s->pid) != RMAI_PROCESS_GONE : may_be_starting)) {
        s->missing = 0;
        return 0;
    }
    if (s->missing <= 0) s->missing = now;
    return now >= s->missing + RMAI_SIBLING_DEATH;
}

/* If the launcher has pid 1, or there is none, this is a container: the other PEs may be in others. */
int rmai_siblings_dead(char *text, size_t room) {
    const int launcher = launcher_of(getpid());
    const double now = rmai_wtime();
    struct list list = {.text = text, .room = room};
    int may_be_starting;
    *text = 0;
    if (!told.names || told.me < 0 || launcher <= 1) return 0;
    if (!siblings.expected) expect_siblings();
    for (int i = 0; i < siblings.n; i++) {
        siblings.of[i].present = 0;
        if (now > siblings.searched + SEARCH_LAPSES) siblings.of[i].missing = 0;
    }
    siblings.searched = now;
    /* A PE whose process has never been seen may also have another parent than this one, or be in a container. */
    may_be_starting = mark_present(launcher) || !is_known_launcher(launcher);
    for (int i = 0; i < siblings.n; i++) {
        struct sibling *s = &siblings.of[i];
        if (s->rank != told.me && is_dead(s, may_be_starting, now)) add_to_list(&list, s->rank, "has died", s->pid);
    }
    return list.n;
}

/* ---- without a library ---- */

/* 1 if a file of which the path contains `name` is in the memory of process pid, or that is not known. The list of a
 * process's memory takes the same lock as its environment: see rank_of, which the caller has asked before. */
static int has_file(int pid, const char *name) {
    char path[32], *line = NULL;
    size_t room = 0;
    int has = 0, empty = 1;
    FILE *f;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    if (!(f = fopen(path, "re"))) return 1;
    for (; !has && getline(&line, &room, f) > 0; empty = 0) has = strstr(line, name) != NULL;
    free(line);
    fclose(f);
    return has || empty;
}

/* A PE may have several processes: a shell may have started its program. */
int rmai_sibling_without(const char *name, int *pid) {
    const int launcher = launcher_of(getpid());
    DIR *all = launcher > 1 ? opendir("/proc") : NULL;
    for (int i = 0; i < siblings.n; i++) siblings.of[i].present = siblings.of[i].has = 0;
    for (int one; (one = next_process(all)) > 0;) {
        struct sibling *s;
        const int rank = rank_of(one);
        if (rank < 0 || rank >= told.size || launcher_of(one) != launcher || !(s = find_sibling(rank))) continue;
        s->present = 1;
        s->pid = one;
        if (!s->has) s->has = has_file(one, name);
    }
    for (int i = 0; i < siblings.n; i++) {
        if (!siblings.of[i].present || siblings.of[i].has) continue;
        *pid = siblings.of[i].pid;
        return siblings.of[i].rank;
    }
    return -1;
}

/* ---- the end of the job ---- */

void rmai_siblings_abort(int code) {
    struct stat s;
    if (told.pmi >= 0 && fstat(told.pmi, &s) == 0 && S_ISSOCK(s.st_mode))
        dprintf(told.pmi, "cmd=abort exitcode=%d\n", code);
}
