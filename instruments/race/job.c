/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/job.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "instruments/race/clock.h"
#include "instruments/race/contexts.h"
#include "instruments/race/group.h"
#include "instruments/race/host.h"
#include "instruments/race/linking.h"
#include "instruments/race/mpi_channels.h"
#include "instruments/race/mpi_memory.h"
#include "instruments/race/ompt.h"
#include "instruments/race/options.h"
#include "instruments/race/places.h"
#include "instruments/race/remote.h"
#include "instruments/race/report.h"
#include "instruments/race/runs.h"
#include "instruments/race/shadow.h"
#include "instruments/race/symbols.h"

struct race_job race_job;
static struct race_options options;

/* The largest mapping to request: the system has 128 TiB of address space. */
#define MAP_MOST ((size_t)1 << 45)

/* ---- memory to check ---- */

/* Finds the main program's code and data, its global variables among them, and C++'s library. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *arg) {
    uintptr_t lo = UINTPTR_MAX, hi = 0, first = UINTPTR_MAX, last = 0;
    int *libraries = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
        if (p->p_type != PT_LOAD) continue;
        if (from < lo) lo = from;
        if (to > hi) hi = to;
        if (!(p->p_flags & PF_W)) continue;
        if (from < first) first = from;
        if (to > last) last = to;
    }
    if ((*libraries)++) {
        if (info->dlpi_name && (strstr(info->dlpi_name, "/libstdc++.") || strstr(info->dlpi_name, "/libc++."))) {
            race_job.cxx = lo;
            race_job.cxx_end = hi;
        }
        return 0;
    }
    race_job.program = lo; /* the main program comes first */
    race_job.program_end = hi;
    race_job.program_len = hi - lo < RACE_TABLED ? hi - lo : RACE_TABLED;
    race_job.program_bias = info->dlpi_addr;
    if (first < last) {
        race_job.statics = first & ~(uintptr_t)4095;
        race_job.statics_len = last - race_job.statics;
    }
    return 0;
}

static int look_at_job(void) {
    int libraries = 0;
    if (race_host_describe()) return -1;
    dl_iterate_phdr(look_at_program, &libraries);
    race_host_second();
    return 0;
}

/* ---- the shared memory ---- */

/* Whether the shared memory has the cells of attached memory. They are by far its largest part, for which a limited
 * address space (ulimit -v, valgrind) may have no room. */
static int with_attached;

/* Sets where the parts begin. Returns the total length. */
static size_t lay_out(char *map) {
    size_t at = 0, n = (size_t)race_job.n_pes, page = 4096, cells;
#define PART(POINTER, BYTES)                                                                                           \
    do {                                                                                                               \
        if (map) POINTER = (void *)(map + at);                                                                         \
        at = (at + (BYTES) + page - 1) & ~(page - 1);                                                                  \
    } while (0)
    PART(race_job.header, sizeof(struct race_header));
    PART(race_job.actors, race_job.clocks * sizeof(struct race_actor));
    PART(race_job.progress, race_job.clocks * sizeof(struct race_progress));
    PART(race_job.version_tags, n * (race_job.history + 1) * sizeof(uint32_t));
    PART(race_job.versions, n * race_job.history * race_job.clocks * sizeof(uint32_t));
    PART(race_job.operations, race_job.clocks * race_job.history * sizeof(struct race_operation));
    PART(race_job.groups, RACE_GROUPS_MOST * (sizeof(uint64_t) + race_group_bytes()));
    PART(race_job.lock_clocks, RACE_LOCKS_MOST * race_lock_bytes());
    PART(race_job.events, RACE_EVENTS_MOST * race_event_bytes());
    PART(race_job.lists, (size_t)RACE_LISTS_MOST * sizeof(struct race_list));
    cells = at;
    PART(race_job.cells, n * race_job.cells_stride * sizeof(struct race_cell));
    PART(race_job.statics_cells, n * race_job.statics_stride * sizeof(struct race_cell));
    race_job.stripped = at - cells;
    if (!race_job.arenas) {
        const size_t bytes = race_job.stripped / sizeof(struct race_cell) * 8;
        PART(race_job.strips, bytes / RACE_STRIP * sizeof(struct race_strip));
        PART(race_job.others, bytes / RACE_PAGE * sizeof(race_epoch));
    }
    if (with_attached) PART(race_job.attached, n * RACE_ATTACHED_LEN / 8 * sizeof(struct race_cell));
    if (race_job.arenas) {
        race_job.exposed_len = n * race_job.arenas * (RACE_ARENA / 8) * sizeof(struct race_cell);
        PART(race_job.named_windows, RACE_NAMED_WINDOWS * sizeof(struct race_named_window));
        PART(race_job.channels, RACE_CHANNELS * sizeof(struct race_channel));
        PART(race_job.arena_of, n * RACE_ARENAS_ALL * sizeof(uint16_t));
        PART(race_job.exposed, n * race_job.arenas * (RACE_ARENA / 8) * sizeof(struct race_cell));
    }
    return at;
}

/* What the host's first PE tells the others. */
struct message {
    uint64_t nonce;
    char path[64];
};

static void *map_file(int fd, size_t len, char *why, size_t room) {
    /* At a multiple of a huge page: shadow.c makes some. */
    const uintptr_t reserved =
        (uintptr_t)mmap(NULL, len + RACE_HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const uintptr_t at = (reserved + RACE_HUGE_PAGE - 1) & ~(RACE_HUGE_PAGE - 1);
    char *map = MAP_FAILED;
    if ((void *)reserved != MAP_FAILED)
        map = mmap((void *)at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
    if (map == MAP_FAILED) {
        snprintf(why, room, "%zu bytes of address space for the detector: %s", len, strerror(errno));
        return NULL;
    }
    madvise(map, len, MADV_DONTDUMP);
    return map;
}

/* The host's first PE creates the file. Returns its descriptor, which stays open until all PEs have opened the file, or
 * -1. */
static int make_file(size_t len, char *why, size_t room) {
    int fd = memfd_create("librma-race", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)len)) {
        snprintf(why, room, "a file of %zu bytes, sparse: %s", len, strerror(errno));
        if (fd >= 0) close(fd);
        return -1;
    }
    return fd;
}

static int share(size_t len, char *why, size_t room) {
    struct message message = {0}, *m = &message;
    const int maker = race_remote_leader(), first = race_pe_number(maker);
    const char *pe = race_pe_word();
    int fd = -1, ok;
    if (race_job.my_pe == maker) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        m->nonce = ((uint64_t)getpid() << 40) ^ (uint64_t)now.tv_nsec << 8 ^ (uint64_t)now.tv_sec << 34 ^ 1;
        fd = make_file(len, why, room);
        snprintf(m->path, sizeof m->path, "/proc/%d/fd/%d", (int)getpid(), fd);
        if (fd >= 0 && (race_job.map = map_file(fd, len, why, room))) {
            lay_out(race_job.map);
            race_job.header->nonce = m->nonce;
            race_job.header->n_actors = (uint32_t)(race_job.host_of ? race_job.clocks : RACE_STANDING(race_job.n_pes));
        }
    }
    if (race_job.host_of ? race_remote_from_leader(m, sizeof *m) : race_host_broadcast(m, sizeof *m))
        snprintf(why, room, "no memory");
    else if (race_job.my_pe != maker) {
        fd = open(m->path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            snprintf(why, room, "%s %d's %s: %s (is %s %d on another host, or in another container?)", pe, first,
                     m->path, strerror(errno), pe, first);
        else if ((race_job.map = map_file(fd, len, why, room))) {
            lay_out(race_job.map);
            /* On this host that process number may belong to an unrelated process, whose file is small. */
            if (lseek(fd, 0, SEEK_END) != (off_t)len || race_job.header->nonce != m->nonce) {
                snprintf(why, room, "%s is not %s %d's: %s %d is on another host", m->path, pe, first, pe, first);
                munmap(race_job.map, len);
                race_job.map = NULL;
            }
        }
    }
    ok = race_job.map != NULL;
    if (race_host_least(&ok, 1)) ok = 0;
    if (fd >= 0) close(fd);
    if (!ok && race_job.map) {
        munmap(race_job.map, len);
        race_job.map = NULL;
    }
    return ok;
}

/* Tries again without the cells of attached memory. */
static int share_less(size_t *len, char *why, size_t room) {
    if (!with_attached && !race_host_share_less()) return 0;
    with_attached = 0;
    race_job.attached = NULL;
    why[0] = 0;
    *len = lay_out(NULL);
    return share(*len, why, room);
}

/* ---- life cycle ---- */

/* PEs may have different environments. What one PE does not check, none can check, and the shared memory has the same
 * parts for all. Collective. */
static void agree_on_options(void) {
    int least[] = {options.on, (int)options.history, options.strict_atomics};
    if (race_host_least(least, 3)) return; /* share() will fail, too */
    options.on = least[0];
    options.history = (uint32_t)least[1];
    options.strict_atomics = least[2];
}

static int status_at_exit;
static pid_t process; /* the PE's process: a child that it forks must not report */
static void note_status(int status, void *arg) {
    (void)arg;
    status_at_exit = status;
}

/* Tells the user which loads and stores are not seen. */
static void say_what_is_not_seen(void) {
    char names[400];
    int n = race_symbols_uninstrumented(names, sizeof names);
    if (n < 0)
        race_say("the program was compiled without --race: its loads and stores are not seen, only its calls");
    else if (n > 0)
        race_say("compiled without --race: %s; %s loads and stores are not seen", names, n == 1 ? "its" : "their");
}

/* A program may initialize the library several times; only the last end matters. */
static int begun, tried;

void race_open(void) {
    char why[256] = "";
    struct race_thread *t;
    size_t len;
    begun++;
    if (tried || race_is_behind || !race_host_is_up()) return;
    tried = 1;
    race_options_read(&options, race_host_pe());
    race_inside++;
    if (!race_host_meet()) {
        race_inside--;
        return;
    }
    agree_on_options();
    if (!options.on && race_host_pe() == 0) race_say("RMA_RACE=no: no races are looked for");
    if (!options.on || look_at_job()) {
        race_inside--;
        return;
    }
    race_job.history = options.history;
    race_job.strict_atomics = options.strict_atomics;
    race_job.clocks = race_clocks(race_job.n_pes);
    race_host_limits(MAP_MOST);
    race_job.cells_stride = race_job.stride / 8;
    race_job.statics_stride = (race_job.statics_len + RACE_PAGE - 1) / RACE_PAGE * (RACE_PAGE / 8);
    with_attached = !race_job.arenas && (size_t)race_job.n_pes * RACE_ATTACHED_LEN * 4 <= MAP_MOST;
    len = lay_out(NULL);
    if (race_job.n_pes > RACE_PES_MOST) {
        if (race_job.my_pe == 0)
            race_say("%d %ss are more than the detector's limit of %d: race detection is off", race_job.n_pes,
                     race_pe_word(), RACE_PES_MOST);
    } else if (race_job.stride > MAP_MOST / 4 / (size_t)race_job.n_pes || len > 2 * MAP_MOST) {
        if (race_job.my_pe == 0)
            race_say("the heaps of %d %ss may grow to %zu bytes each, more than the detector can track: race detection "
                     "is off; smaller RMA_HEAP_MAX and RMA_LOCAL_MAX help",
                     race_job.n_pes, race_pe_word(), race_job.stride);
    } else if (race_remote_open(options.nodes, len)) {
        race_inside--;
        return; /* PE 0 has said why */
    } else if (share(len, why, sizeof why) || share_less(&len, why, sizeof why)) {
        race_job.map_len = len;
        race_remote_start();
        (void)race_context_of(NULL); /* before there are threads */
        t = race_thread_new(NULL);
        if (t) race_thread_adopt(t);
        on_exit(note_status, NULL);
        process = getpid();
        race_job.header->spaces[race_job.my_pe] = race_job.space;
        race_job.header->statics[race_job.my_pe] = race_job.statics;
        race_job.on = t != NULL;
        race_look_at(1);
        if (race_job.my_pe == 0) {
            say_what_is_not_seen();
            race_ompt_open();
        }
        race_job.header->programs[race_job.my_pe] = race_job.program;
        race_host_barrier();
    } else {
        if (why[0]) race_say("%s %d: %s", race_pe_word(), race_pe_number(race_job.my_pe), why);
        if (race_job.my_pe == 0)
            race_say("the %ss do not share the detector's memory%s: race detection is off", race_pe_word(),
                     race_host_covers_hosts() ? "" : " (for MPI's windows and coarrays all must be on one host)");
        race_remote_end();
    }
    race_inside--;
}

/* The total comes last: the launcher reads each PE's standard error by itself, so each PE waits until it has read its
 * reports; not longer than 0.2 s, if the launcher does not read. */
static void wait_for_launcher(void) {
    struct stat st;
    int unread;
    if (fstat(STDERR_FILENO, &st) || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) return;
    for (int i = 0; i < 200 && !ioctl(STDERR_FILENO, FIONREAD, &unread) && unread > 0; i++) usleep(1000);
}

/* Whether this PE prints what concerns all. Images of coarrays end at different times. */
static int is_last(void) {
    if (!race_job.ends_alone) return race_job.my_pe == 0;
    return __atomic_add_fetch(&race_job.header->ended, 1, __ATOMIC_ACQ_REL) == (uint32_t)race_job.n_pes;
}

static void say_totals(void) {
    const uint32_t races = __atomic_load_n(&race_job.header->races, __ATOMIC_RELAXED);
    const uint32_t past_ends = __atomic_load_n(&race_job.header->past_ends, __ATOMIC_RELAXED);
    race_suppressions_unused(race_job.header->suppressions_used);
    if (past_ends) race_say("%u operation%s past the end of a block", past_ends, past_ends == 1 ? "" : "s");
    if (races) race_say("%u pair%s of places race%s", races, races == 1 ? "" : "s", races == 1 ? "s" : "");
}

void race_close(void) {
    int last;
    if (begun > 0) begun--;
    if (!race_job.on || begun > 0) return;
    race_runs_end();
    race_inside++;
    wait_for_launcher();
    /* Images that fail meet nobody. */
    if (!race_job.ends_alone) race_host_barrier();
    last = is_last();
    race_remote_end();
    if (last) say_totals();
    race_job.on = 0;
    race_look_at(0);
    race_inside--;
}

/* With the arguments of a function of on_exit: not if another library has ended the process with an error meanwhile. */
static void end_with_code(int status, void *unused) {
    (void)unused;
    if (status) return;
    if (race_job.on && !race_host_is_up() && is_last()) say_totals(); /* all PEs have met in the library's end */
    if (!options.exitcode) return;
    if (!race_job.header->races && !race_job.header->past_ends) return;
    fflush(NULL);
    race_ompt_end();
    _exit(options.exitcode);
}

/* A library's destructors run after the program's own, and after on_exit. This one runs before those of the libraries
 * that the program has left to end themselves, which wait for all PEs: if a PE left before, the launcher would end the
 * others. A function that on_exit takes now runs after all destructors. */
static __attribute__((destructor)) void end(void) {
    if (!race_job.map || status_at_exit || getpid() != process) return;
    /* Other hosts still ask this one, and only all know all races. */
    if (race_job.host_of && race_job.on && race_host_is_up()) {
        begun = 1;
        race_close();
    }
    if (race_job.on) {
        race_runs_end();
        wait_for_launcher();
    }
    if (!race_host_is_up() || on_exit(end_with_code, NULL)) end_with_code(0, NULL);
}
