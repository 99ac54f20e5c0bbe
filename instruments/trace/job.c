/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a recording. PEs speak to each other only at its two ends, by librma's calls under their second names. */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/trace/job.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "instruments/trace/clocks.h"
#include "instruments/trace/merge.h"
#include "instruments/trace/native.h"
#include "instruments/trace/options.h"
#include "instruments/trace/part.h"
#include "instruments/trace/program.h"
#include "instruments/trace/record.h"
#include "instruments/trace/say.h"

#define PIECE ((size_t)1 << 20) /* in which parts travel to PE 0 */

struct trace_job trace_job;

static struct trace_options options;
static int begun, tried;
static pid_t process; /* a child that the PE forks must not write */
static char path[4096];
static uint64_t delayed_before;

/* For collectives, whose data are in the symmetric heap. */
struct message {
    long wanted, all_wanted;
    long failed, any_failed;
    uint64_t id, all_id;
};
#define EXCHANGE(m) ((struct trace_exchange *)(void *)((m) + 1)) /* of trace_clocks_room bytes */

static struct message *new_message(void) {
    size_t len = sizeof(struct message) + trace_clocks_room();
    struct message *m = prma_malloc(len);
    if (m) {
        memset(m, 0, len);
        prma_barrier_all();
    } else if (trace_job.my_pe == 0)
        trace_say("no symmetric memory for %zu bytes", len);
    return m;
}

/* ---- the beginning ---- */

/* The first is the program. */
static int look_at_module(struct dl_phdr_info *info, size_t size, void *seen) {
    uintptr_t code = (uintptr_t)&prma_my_pe;
    (void)size;
    if (!(*(int *)seen)++) trace_job.bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || code - begin >= info->dlpi_phdr[i].p_memsz) continue;
        trace_job.library = begin;
        trace_job.library_len = info->dlpi_phdr[i].p_memsz;
    }
    return 0;
}

static void look_at_job(void) {
    int seen = 0;
    trace_job.my_pe = prma_my_pe();
    trace_job.n_pes = prma_n_pes();
    trace_job.node = prma_team_translate_pe(RMA_TEAM_SHARED, 0, RMA_TEAM_WORLD);
    dl_iterate_phdr(look_at_module, &seen);
}

static void read_command(char *text, size_t room) {
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    for (ssize_t i = 0; i + 1 < n; i++)
        if (!text[i]) text[i] = ' ';
    text[n > 0 ? n : 0] = '\0';
}

/* The kernel trusts the processor's counter if it is its own clock. */
static void choose_clock(void) {
    char source[32] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (f && !fgets(source, sizeof source, f)) source[0] = '\0';
    if (f) fclose(f);
#if defined __x86_64__
    trace_counter = !strcmp(source, "tsc\n");
#elif defined __aarch64__
    trace_counter = !strcmp(source, "arch_sys_counter\n");
#endif
}

static int open_part(char *why, size_t room) {
    struct trace_head head = {.job = trace_job.id,
                              .pe = trace_job.my_pe,
                              .n_pes = trace_job.n_pes,
                              .node = trace_job.node,
                              .stats = rma_reach_.n_node == 0, /* every call comes to the library */
                              .inlined = trace_program_inlines(),
                              .ticks = trace_ticks(),
                              .heap = rma_reach_.base,
                              .heap_len = rma_reach_.size,
                              .limit = options.limit};
    int code;
    gethostname(head.host, sizeof head.host - 1);
    read_command(head.program, sizeof head.program);
    trace_part_name(options.file, trace_job.my_pe, path, sizeof path);
    code = trace_part_open(path, &head);
    if (code) snprintf(why, room, "cannot write %s: %s", path, strerror(code));
    return code ? -1 : 0;
}

/* Nanoseconds for which this process's first thread has waited for a processor; 0: the kernel does not tell. */
static uint64_t delayed(void) {
    unsigned long long run = 0, wait = 0;
    FILE *f = fopen("/proc/self/schedstat", "re");
    if (f && fscanf(f, "%llu %llu", &run, &wait) != 2) wait = 0;
    if (f) fclose(f);
    return wait;
}

/* Whether any PE has failed; the PEs that have say why. */
static int any_failed(struct message *m, int failed, const char *why) {
    m->failed = failed;
    prma_max_reduce_long(RMA_TEAM_WORLD, &m->any_failed, &m->failed, 1);
    if (m->any_failed && failed) trace_say("PE %d: RMA_TRACE: %s: nothing is recorded", trace_job.my_pe, why);
    return m->any_failed != 0;
}

static void start(struct message *m) {
    char why[4300] = "";
    int wanted = trace_options_read(&options, getenv("RMA_TRACE"), why, sizeof why);
    m->wanted = wanted != 0;
    prma_min_reduce_long(RMA_TEAM_WORLD, &m->all_wanted, &m->wanted, 1); /* PEs may have different environments */
    if (!m->all_wanted) {
        if (m->wanted) trace_say("PE %d has RMA_TRACE, other PEs have not: nothing is recorded", trace_job.my_pe);
        return;
    }
    if (wanted < 0) {
        char reason[4400];
        snprintf(reason, sizeof reason, "%s: %s", getenv("RMA_TRACE"), why);
        strcpy(why, trace_job.my_pe == 0 ? reason : "");
    }
    if (wanted > 0 && trace_options_try(&options, why, sizeof why)) wanted = -1;
    if (any_failed(m, wanted < 0, why)) return;
    choose_clock();
    m->id = (uint64_t)getpid() << 40 ^ (uint64_t)trace_ns();
    prma_broadcast(RMA_TEAM_WORLD, &m->all_id, &m->id, sizeof m->id, 0);
    trace_job.id = m->all_id;
    wanted = open_part(why, sizeof why);
    if (any_failed(m, wanted < 0, why)) {
        trace_part_close(&(struct trace_end){0});
        unlink(path);
        return;
    }
    trace_clocks_compare(EXCHANGE(m));
    process = getpid();
    delayed_before = delayed();
    prma_barrier_all();
    trace_on = 1;
}

void trace_open(void) {
    struct message *m;
    begun++;
    if (tried || !rma_reach_.running) return;
    tried = 1;
    look_at_job();
    m = new_message();
    if (!m) return;
    start(m);
    prma_free(m);
    prma_stats_reset(); /* of what the program has not done */
}

/* ---- the end ---- */

/* Whether PE 0 can read PE pe's part, which that PE has closed. */
static int has_part(int pe) {
    struct {
        struct trace_chunk chunk;
        struct trace_head head;
    } first;
    char name[4096];
    int fd;
    ssize_t n;
    trace_part_name(options.file, pe, name, sizeof name);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    n = read(fd, &first, sizeof first);
    close(fd);
    return n == (ssize_t)sizeof first && first.head.job == trace_job.id && first.head.pe == pe;
}

/* Parts that are in a file system that PE 0 does not share travel to it in pieces, those of all PEs at once. */
struct travel {
    long len, len_most; /* of the piece; -1: no further piece */
    char piece[];
};

static void send_parts(void) {
    struct travel *t = prma_malloc(sizeof *t + PIECE + (size_t)trace_job.n_pes);
    char *missing = t ? t->piece + PIECE : NULL, *copy = NULL;
    int fd = -1;
    if (!t) return;
    for (int i = 0; trace_job.my_pe == 0 && i < trace_job.n_pes; i++) missing[i] = (char)!has_part(i);
    prma_broadcast(RMA_TEAM_WORLD, missing, missing, (size_t)trace_job.n_pes, 0);
    if (memchr(missing, 1, (size_t)trace_job.n_pes)) {
        if (missing[trace_job.my_pe]) fd = open(path, O_RDONLY | O_CLOEXEC);
        if (trace_job.my_pe == 0) copy = malloc(sizeof *t + PIECE);
        for (;;) {
            t->len = fd < 0 ? -1 : (long)read(fd, t->piece, PIECE);
            if (t->len == 0) t->len = -1;
            prma_max_reduce_long(RMA_TEAM_WORLD, &t->len_most, &t->len, 1);
            if (t->len_most < 0) break;
            for (int i = 1; copy && i < trace_job.n_pes; i++) {
                struct travel *from = (struct travel *)(void *)copy;
                char name[4096];
                FILE *f;
                if (!missing[i] || prma_get(from, t, sizeof *t + PIECE, i) || from->len < 0) continue;
                trace_part_name(options.file, i, name, sizeof name);
                f = fopen(name, missing[i] == 1 ? "we" : "ae");
                missing[i] = 2;
                if (!f || fwrite(from->piece, 1, (size_t)from->len, f) != (size_t)from->len)
                    trace_say("cannot write %s: %s", name, strerror(errno));
                if (f) fclose(f);
            }
            prma_barrier_all();
        }
        if (fd >= 0) {
            close(fd);
            unlink(path);
        }
        free(copy);
    }
    prma_free(t);
}

static void read_stats(uint64_t sums[5]) {
    struct rma_stats s;
    memset(sums, 0, 5 * sizeof *sums);
    if (prma_stats(&s) != RMA_SUCCESS) return;
    for (int p = 0; p < RMA_PATHS; p++) {
        sums[0] += s.path[p].puts;
        sums[1] += s.path[p].put_bytes;
        sums[2] += s.path[p].gets;
        sums[3] += s.path[p].get_bytes;
        sums[4] += s.path[p].atomics;
    }
}

int trace_close(void) {
    struct message *m;
    struct trace_end end_of_part = {.finalized = 1};
    if (begun > 0) begun--;
    if (!trace_on || begun > 0) return 0;
    trace_on = 0;
    read_stats(end_of_part.stats);
    end_of_part.delayed = delayed() - delayed_before;
    m = new_message();
    if (m) trace_clocks_compare(EXCHANGE(m));
    trace_part_close(&end_of_part);
    prma_barrier_all();
    send_parts();
    if (m) prma_free(m);
    return 1;
}

void trace_report(void) {
    if (trace_job.my_pe == 0) trace_merge(options.file, options.keep);
}

/* For a program that ends without finalizing. A library's destructors run after the program's own. */
static __attribute__((destructor)) void end(void) {
    if (!trace_on || getpid() != process) return;
    trace_on = 0;
    trace_part_close(&(struct trace_end){0});
    if (trace_job.my_pe == 0)
        trace_say("the program has not called finalize; `rma_trace --merge %s` makes the report", options.file);
}
