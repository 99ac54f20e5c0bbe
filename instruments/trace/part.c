/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's threads never write: a thread of our own takes the events from their rings, at least 20 times a second,
 * and once a second writes the counts that have changed. If a job is killed, its parts lack these last moments.
 *
 * The events of a part are limited (struct trace_head). When half of the limit is used, only calls of at least 10
 * microseconds are written; from five eighths on, those of 100. The last quarter is for the events that the comparison
 * of the PEs needs. So the timeline of a long job reaches to its end. */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/trace/part.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "instruments/trace/job.h"
#include "instruments/trace/record.h"
#include "instruments/trace/say.h"

#define STEP 50000000 /* nanoseconds */

static struct {
    int fd;
    char path[4096];
    off_t len;
    int error; /* errno of the write that failed */
    pthread_t thread;
    int running;
    sem_t wake;
    int ending;
    uint32_t sites_written;
    uint64_t limit, events_len, recorded, dropped;
    uint64_t ticks;      /* at the beginning, */
    int64_t ns, counted; /* and the time then, and when the counts were written */
} part = {.fd = -1};

static pthread_mutex_t append_lock = PTHREAD_MUTEX_INITIALIZER;

static void append_named(enum trace_chunk_kind kind, int which, const void *data, size_t len) {
    struct trace_chunk c = {.magic = TRACE_MAGIC, .kind = (uint16_t)kind, .which = (uint16_t)which, .len = len};
    struct iovec v[2] = {{&c, sizeof c}, {(void *)(uintptr_t)data, len}};
    ssize_t done;
    pthread_mutex_lock(&append_lock);
    if (part.error || part.fd < 0) {
        pthread_mutex_unlock(&append_lock);
        return;
    }
    while ((done = pwritev(part.fd, v, 2, part.len)) < 0 && errno == EINTR) continue;
    if (done == (ssize_t)(sizeof c + len)) {
        part.len += done;
    } else {
        part.error = done < 0 ? errno : ENOSPC;
        if (ftruncate(part.fd, part.len)) done = 0; /* a chunk that is cut short ends the file anyway */
        trace_say("PE %d: cannot write %s: %s: no more is recorded", trace_job.my_pe, part.path, strerror(part.error));
    }
    pthread_mutex_unlock(&append_lock);
}
#define append(KIND, DATA) append_named(KIND, 0, DATA, sizeof *(DATA))

/* ---- events ---- */

/* Events below this many ticks are not written any more. */
static uint64_t least_span(void) {
    int64_t ns = trace_ns() - part.ns;
    double per_ns = ns > 0 ? (double)(trace_ticks() - part.ticks) / (double)ns : 1;
    if (part.events_len < part.limit / 2) return 0;
    if (part.events_len < part.limit / 8 * 5) return (uint64_t)(10e3 * per_ns);
    return part.events_len < part.limit / 4 * 3 ? (uint64_t)(100e3 * per_ns) : UINT64_MAX;
}

static void write_events(struct trace_thread *t) {
    static struct trace_event chosen[1024]; /* only one thread writes at a time */
    uint64_t head = __atomic_load_n(&t->head, __ATOMIC_ACQUIRE), least = least_span();
    while (t->tail < head) {
        size_t n = 0;
        uint64_t at = t->tail;
        for (; at < head && n < sizeof chosen / sizeof *chosen; at++) {
            const struct trace_event *e = &t->ring[at % TRACE_RING];
            if (e->span >= least || (trace_is_compared(e->kind) && part.events_len < part.limit))
                chosen[n++] = *e;
            else
                part.dropped++;
        }
        __atomic_store_n(&t->tail, at, __ATOMIC_RELEASE);
        if (n) append_named(TRACE_EVENTS, t->number, chosen, n * sizeof *chosen);
        if (part.error)
            part.dropped += n;
        else {
            part.recorded += n;
            part.events_len += n * sizeof *chosen;
        }
    }
}

/* ---- counts ---- */

static void write_sums(struct trace_thread *t, struct trace_sums *s) {
    size_t groups = ((size_t)trace_job.n_pes + TRACE_GROUP - 1) / TRACE_GROUP;
    uint64_t count = __atomic_load_n(&s->use.count, __ATOMIC_RELAXED);
    if (count == s->written) return;
    s->written = count;
    append_named(TRACE_USE, t->number, &s->use, sizeof s->use);
    for (size_t i = 0; i < groups; i++) {
        struct trace_group *g = __atomic_load_n(&s->groups[i], __ATOMIC_ACQUIRE);
        uint64_t calls = 0;
        for (int k = 0; g && k < TRACE_GROUP; k++) calls += g->cells.cell[k].count;
        if (!g || calls == g->written) continue;
        g->written = calls;
        append_named(TRACE_CELLS, t->number, &g->cells, sizeof g->cells);
    }
}

static int add_module(struct dl_phdr_info *info, size_t size, void *file) {
    uintptr_t first = UINTPTR_MAX, last = 0;
    char program[4096];
    const char *name = info->dlpi_name;
    ssize_t n;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (begin < first) first = begin;
        if (begin + info->dlpi_phdr[i].p_memsz > last) last = begin + info->dlpi_phdr[i].p_memsz;
    }
    if (!name || !name[0]) {
        n = readlink("/proc/self/exe", program, sizeof program - 1);
        program[n > 0 ? n : 0] = '\0';
        name = ftell(file) == 0 ? program : "";
    }
    if (name[0] && last) fprintf(file, "%lx %lx %lx %s\n", first, last, (unsigned long)info->dlpi_addr, name);
    return 0;
}

static void write_modules(void) {
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f) return;
    dl_iterate_phdr(add_module, f);
    while (ftell(f) % 8) fputc('\n', f);
    fclose(f);
    append_named(TRACE_MODULES, 0, text, len);
    free(text);
}

static void write_counts(void) {
    const struct trace_site *s;
    uint32_t before = part.sites_written;
    for (; (s = trace_site_of(part.sites_written)); part.sites_written++) append(TRACE_SITES, s);
    if (part.sites_written != before) write_modules(); /* a site may be in a library that was loaded meanwhile */
    for (struct trace_thread *t = __atomic_load_n(&trace_threads, __ATOMIC_ACQUIRE); t; t = t->next)
        for (uint32_t i = 0; i < part.sites_written; i++) {
            struct trace_sums *sums = __atomic_load_n(&t->sums[i], __ATOMIC_ACQUIRE);
            if (sums) write_sums(t, sums);
        }
    part.counted = trace_ns();
}

static void write_all(int counts) {
    struct trace_clock now = {.ticks = trace_ticks(), .ns = trace_ns(), .error = -1};
    if (counts) write_counts();
    for (struct trace_thread *t = __atomic_load_n(&trace_threads, __ATOMIC_ACQUIRE); t; t = t->next) write_events(t);
    if (counts) append(TRACE_CLOCK, &now);
}

/* ---- the thread ---- */

void trace_part_wake(void) { sem_post(&part.wake); }

static void *run(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "rma_trace");
    while (!__atomic_load_n(&part.ending, __ATOMIC_ACQUIRE)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += STEP;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        sem_timedwait(&part.wake, &until);
        write_all(trace_ns() - part.counted >= 1000000000);
    }
    return NULL;
}

int trace_part_open(const char *path, const struct trace_head *head) {
    sigset_t all, before;
    int code;
    snprintf(part.path, sizeof part.path, "%s", path);
    part.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (part.fd < 0) return errno;
    part.limit = head->limit;
    part.ticks = head->ticks;
    part.ns = trace_ns();
    append(TRACE_HEAD, head);
    if (part.error) return part.error;
    sem_init(&part.wake, 0, 0);
    sigfillset(&all); /* signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&part.thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    part.running = code == 0;
    return code;
}

void trace_part_clock(const struct trace_clock *clock) { append(TRACE_CLOCK, clock); }

void trace_part_close(struct trace_end *end) {
    if (part.fd < 0) return;
    end->ticks = trace_ticks();
    if (part.running) {
        __atomic_store_n(&part.ending, 1, __ATOMIC_RELEASE);
        sem_post(&part.wake);
        pthread_join(part.thread, NULL);
        part.running = 0;
    }
    for (struct trace_thread *t = trace_threads; t; t = t->next) trace_record_flush(t);
    write_all(1);
    end->recorded = part.recorded;
    end->dropped = part.dropped;
    for (struct trace_thread *t = trace_threads; t; t = t->next) end->dropped += t->dropped;
    append(TRACE_END, end);
    if (close(part.fd) && !part.error)
        trace_say("PE %d: cannot write %s: %s", trace_job.my_pe, part.path, strerror(errno));
    part.fd = -1;
}
