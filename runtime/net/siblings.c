/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/siblings.h"
#include "base/clock.h"
#include "base/process.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANCESTORS_MOST 16
#define LOOK_LAPSES    15.0 /* seconds after which what an earlier look has missed says nothing */

/* ---- what launchers tell in the environment ---- */

/* By which variable a launcher tells a process its rank, with "=", and the number of processes. */
struct launcher_names {
    const char *rank, *size;
};

/* What the environment tells of this process. Read once, by a thread of the program (rmai_siblings_prepare): MPI_Init
 * may change the environment while a watching thread looks for others. */
static struct {
    int read;
    const struct launcher_names *names; /* NULL: none is known */
    char job[256];                      /* PMIx's name of the job, with "PMIX_NAMESPACE=", or "" */
    int size, here;                     /* PEs of the job, INT_MAX: not known; of this host, 0: not known */
    int tasks, task;                    /* of srun: number, and this one's */
    int pmi;                            /* descriptor of the connection with the launcher, or -1 */
    int me;                             /* this process's rank, or -1 */
    char listed[4096];                  /* ranks of this host, as srun lists them */
} told;

/* NULL if there is none. A resource manager may have set its own for the launcher: so those come last. */
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

/* The rank in a process's environment, or -1; -1 too for a process of another job, where the launcher names jobs.
 *
 * The environment is memory of that process, and there is no way to read it that does not take the lock of its address
 * space. A process that hangs in the kernel may hold that for ever, and the thread that looks for it would hang with
 * it. So a process in which a thread hangs counts as one without a rank: that is one that may be starting, and no PE is
 * taken for dead for it. Between the two looks a process may still begin to hang: that cannot be excluded. */
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

/* Of these it is known that they start all PEs of a host as their children. */
static int is_known_launcher(int pid) {
    static const char *const names[] = {"slurmstepd", "hydra_pmi_proxy", "orted", "orterun", "prted", "prterun"};
    char path[32], name[32] = "";
    FILE *f;
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    if (!(f = fopen(path, "re"))) return 0;
    if (!fgets(name, sizeof name, f)) name[0] = 0;
    fclose(f);
    name[strcspn(name, "\n")] = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return 1;
    return 0;
}

/* The launcher's process on this host, from which `pid` descends. A launcher has a rank itself if a process of a job
 * has started it. 1, or 0: `pid` was left by the process that started it, or is in a container. */
static int launcher_of(int pid) {
    int parent = rmai_process_parent(pid);
    for (int i = 0; i < ANCESTORS_MOST && parent > 1 && rank_of(parent) >= 0 && !is_known_launcher(parent); i++)
        parent = rmai_process_parent(parent);
    return parent;
}

int rmai_sibling_me(void) { return told.me; }

/* Calls visit for each process of the host, in no order. */
static void visit_processes(void (*visit)(void *context, int pid), void *context) {
    DIR *all = opendir("/proc");
    struct dirent *one;
    while (all && (one = readdir(all)) != NULL)
        if (isdigit((unsigned char)one->d_name[0])) visit(context, atoi(one->d_name));
    if (all) closedir(all);
}

/* Text that grows to a list, and the number of its entries. */
struct list {
    char *text;
    size_t room, used;
    int n;
};

static void add_to_list(struct list *l, const char *entry) {
    if (l->used < l->room)
        l->used += (size_t)snprintf(l->text + l->used, l->room - l->used, "%s%s", l->n ? ", " : "", entry);
    l->n++;
}

/* ---- stopped ---- */

struct stopped_search {
    int launcher;
    struct list list;
};

static void add_if_stopped(void *context, int pid) {
    struct stopped_search *s = context;
    char entry[96];
    int rank;
    if (rmai_process_state(pid) != RMAI_PROCESS_STOPPED || (rank = rank_of(pid)) < 0 || launcher_of(pid) != s->launcher)
        return;
    snprintf(entry, sizeof entry, "PE %d is stopped (process %d of this host)", rank, pid);
    add_to_list(&s->list, entry);
}

int rmai_siblings_stopped(char *text, size_t room) {
    struct stopped_search s = {.launcher = launcher_of(getpid()), .list = {.text = text, .room = room}};
    *text = 0;
    visit_processes(add_if_stopped, &s);
    return s.list.n;
}

/* ---- dead ---- */

/* A PE of this host, of which a process has been seen, or which the launcher should have started. */
struct sibling {
    int rank, seen, present; /* present: in the look that is being made */
    int pid;                 /* the launcher's child that has this rank */
    double missing;          /* since when (rmai_wtime), or 0 */
};

/* What the looks of all threads have seen: of PEs, which this process has once and for all. */
static struct {
    pthread_mutex_t lock;
    struct sibling *of;
    int n, room, expected; /* expected: those that the launcher should have started are in it */
    double looked;         /* when (rmai_wtime) */
} siblings = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* The PEs that the launcher says it has started on this host: all, where it says so, or those that srun lists. */
static void expect_siblings(int me) {
    const char *listed = told.listed;
    siblings.expected = 1;
    if (told.here == told.size)
        for (int r = 0; r < told.here; r++) find_sibling(r);
    /* Where a launcher of another kind has been started by srun, srun lists that one's processes, which are no PEs. */
    if (told.here || told.task != me || told.tasks != told.size) return;
    for (char *end; isdigit((unsigned char)*listed); listed = *end == ',' ? end + 1 : end)
        find_sibling((int)strtol(listed, &end, 10));
}

struct sibling_look {
    int launcher;
    int starting; /* a child of the launcher has no rank: it may become a PE */
};

/* A process that does not descend from a launcher may be a PE of this job: the process that started it may have ended.
 */
static void note_sibling(void *context, int pid) {
    struct sibling_look *look = context;
    struct sibling *s;
    int rank, parent, launcher;
    if (rmai_process_state(pid) == RMAI_PROCESS_GONE) return;
    rank = rank_of(pid);
    parent = rmai_process_parent(pid);
    if (rank < 0) {
        if (parent == look->launcher) look->starting = 1;
        return;
    }
    launcher = launcher_of(pid);
    if (rank >= told.size || (launcher > 1 && launcher != look->launcher) || !(s = find_sibling(rank))) return;
    s->present = 1;
    if (launcher != look->launcher) return;
    s->seen = 1;
    if (!s->pid || parent == look->launcher || rmai_process_state(s->pid) == RMAI_PROCESS_GONE) s->pid = pid;
}

/* A process that lives may lose its rank: a program may write over its environment (to change its title), or be one
 * that nobody may read; and this process may be out of file descriptors. */
static int is_dead(struct sibling *s, const struct sibling_look *look, int known_launcher, double now) {
    if (s->present || (s->seen ? rmai_process_state(s->pid) != RMAI_PROCESS_GONE : look->starting || !known_launcher)) {
        s->missing = 0;
        return 0;
    }
    if (s->missing <= 0) s->missing = now;
    return now >= s->missing + RMAI_SIBLING_DEATH;
}

/* A launcher with number 1, or none, is that of a container: the other PEs may be in others. */
static void look_for_dead(struct list *list, int me) {
    struct sibling_look look = {.launcher = launcher_of(getpid())};
    const double now = rmai_wtime();
    char entry[96];
    int known;
    if (look.launcher <= 1) return;
    /* Of a PE of which no process has been seen: it may have another parent than this one, or hide in a container. */
    known = is_known_launcher(look.launcher);
    for (int i = 0; i < siblings.n; i++) {
        siblings.of[i].present = 0;
        if (now > siblings.looked + LOOK_LAPSES) siblings.of[i].missing = 0;
    }
    siblings.looked = now;
    visit_processes(note_sibling, &look);
    for (int i = 0; i < siblings.n; i++) {
        const struct sibling *s = &siblings.of[i];
        if (s->rank == me || !is_dead(&siblings.of[i], &look, known, now)) continue;
        if (s->seen)
            snprintf(entry, sizeof entry, "PE %d has died (process %d of this host)", s->rank, s->pid);
        else
            snprintf(entry, sizeof entry, "PE %d has died (the launcher of this host has no process of it)", s->rank);
        add_to_list(list, entry);
    }
}

int rmai_siblings_dead(char *text, size_t room) {
    struct list list = {.text = text, .room = room};
    int me;
    *text = 0;
    if (!told.names || (me = rmai_sibling_me()) < 0) return 0;
    pthread_mutex_lock(&siblings.lock);
    if (!siblings.expected) expect_siblings(me);
    look_for_dead(&list, me);
    pthread_mutex_unlock(&siblings.lock);
    return list.n;
}

/* ---- the end of the job ---- */

void rmai_siblings_abort(int code) {
    struct stat s;
    if (told.pmi >= 0 && fstat(told.pmi, &s) == 0 && S_ISSOCK(s.st_mode))
        dprintf(told.pmi, "cmd=abort exitcode=%d\n", code);
}
