/* SPDX-License-Identifier: BSD-3-Clause */
/* There is advice on a place only if it takes a considerable share of a PE's time (the constants below) in more than
 * one event, and if the record shows the cause. If the machine was busy, so that the times are unreliable, there is
 * none, and a note says so. */
#include "config.h"

#include "instruments/trace/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "instruments/trace/memory.h"

#define RUN_SHARE  0.05 /* of a PE's time */
#define WAIT_SHARE 0.1
#define MEET_SHARE 0.1
#define LOCK_SHARE 0.1
#define LEAST      1e6 /* nanoseconds: below, nothing is worth advice */
#define SMALL      256 /* bytes */
#define EVENTS     2   /* waits or meetings at a place: below, they may be chance */
#define DELAYED    0.1 /* of a PE's time for which it waits for a processor: from then on times say little */

static void add(struct trace_lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct trace_lines *l, const char *format, ...) {
    va_list args;
    if (l->n == TRACE_LINES) return;
    va_start(args, format);
    vsnprintf(l->line[l->n++], sizeof l->line[0], format, args);
    va_end(args);
}

static const char *time_text(char text[32], double ns) {
    if (ns < 999.5)
        snprintf(text, 32, "%.0f ns", ns);
    else if (ns < 999.5e3)
        snprintf(text, 32, "%.3g us", ns / 1e3);
    else if (ns < 999.5e6)
        snprintf(text, 32, "%.3g ms", ns / 1e6);
    else
        snprintf(text, 32, "%.2f s", ns / 1e9);
    return text;
}

static const char *bytes_text(char text[32], double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;
    while (bytes >= 1024 && i < 4) bytes /= 1024, i++;
    snprintf(text, 32, i ? "%.1f %s" : "%.0f %s", bytes, i == 0 && bytes == 1 ? "byte" : units[i]);
    return text;
}

static double elapsed(const struct trace_record *r, int pe) { return r->pes[pe].finish - r->pes[pe].begin; }

static int percent(double part, double whole) { return whole > 0 ? (int)(100 * part / whole + 0.5) : 0; }

/* ---- the summary ---- */

static int by_ns(const void *a, const void *b) {
    const struct trace_place *const *x = a, *const *y = b;
    return (*x)->ns > (*y)->ns ? -1 : (*x)->ns < (*y)->ns;
}

static void add_times(const struct trace_record *r, struct trace_lines *l) {
    double sum[TRACE_CLASSES] = {0}, all = 0, in_calls = 0;
    for (int pe = 0; pe < r->n_pes; pe++) {
        const struct trace_pe *p = &r->pes[pe];
        if (!p->present) continue;
        all += elapsed(r, pe) * (p->threads ? p->threads : 1);
        for (int i = 0; i < TRACE_CLASSES; i++) sum[i] += p->ns[i];
    }
    for (int i = 0; i < TRACE_CLASSES; i++) in_calls += sum[i];
    add(l, "time of all PEs: %d %% computing, %d %% moving data, %d %% waiting, %d %% in collectives",
        percent(all - in_calls, all), percent(sum[TRACE_MOVING], all), percent(sum[TRACE_WAITING], all),
        percent(sum[TRACE_MEETING], all));
}

static void add_traffic(const struct trace_record *r, struct trace_lines *l) {
    uint64_t puts = 0, gets = 0, atomics = 0, best = 0;
    double put_bytes = 0, get_bytes = 0, off = 0, all = 0;
    int from = -1, to = -1;
    char a[32], b[32];
    uint64_t *row = trace_need(calloc((size_t)r->n_pes, sizeof *row));
    for (int pe = 0; pe < r->n_pes; pe++) {
        const struct trace_pe *p = &r->pes[pe];
        puts += p->puts, gets += p->gets, atomics += p->atomics;
        put_bytes += (double)p->put_bytes, get_bytes += (double)p->get_bytes;
        memset(row, 0, (size_t)r->n_pes * sizeof *row);
        for (size_t i = 0; i < p->n_cells; i++)
            for (int k = 0; k < TRACE_GROUP && (int)p->cells[i].cells.first + k < r->n_pes; k++)
                if (r->places[p->cells[i].place].kind <= TRACE_SIGNAL)
                    row[(int)p->cells[i].cells.first + k] += p->cells[i].cells.cell[k].bytes;
        for (int k = 0; k < r->n_pes; k++) {
            all += (double)row[k];
            if (r->pes[k].present && r->pes[k].head.node != p->head.node) off += (double)row[k];
            if (row[k] > best && k != pe) best = row[k], from = pe, to = k;
        }
    }
    free(row);
    add(l, "puts: %llu, %s; gets: %llu, %s; atomics: %llu", (unsigned long long)puts, bytes_text(a, put_bytes),
        (unsigned long long)gets, bytes_text(b, get_bytes), (unsigned long long)atomics);
    if (best && r->n_nodes > 1)
        add(l, "most bytes: PE %d and PE %d, %s; %d %% of all bytes cross nodes", from, to, bytes_text(a, (double)best),
            percent(off, all));
    else if (best)
        add(l, "most bytes: PE %d and PE %d, %s", from, to, bytes_text(a, (double)best));
}

void trace_summary(const struct trace_record *r, struct trace_lines *l) {
    struct trace_place **top = trace_need(calloc(r->n_places + 1, sizeof *top));
    const struct trace_wait *most = NULL;
    uint64_t calls = 0;
    char a[32], b[32];
    for (int pe = 0; pe < r->n_pes; pe++) calls += r->pes[pe].calls;
    add(l, "%d PE%s on %d node%s, %s, %llu call%s from %u place%s", r->n_present, r->n_present == 1 ? "" : "s",
        r->n_nodes, r->n_nodes == 1 ? "" : "s", time_text(a, r->elapsed), (unsigned long long)calls,
        calls == 1 ? "" : "s", r->n_places, r->n_places == 1 ? "" : "s");
    if (!calls) {
        free(top);
        return;
    }
    add_times(r, l);
    add_traffic(r, l);
    for (uint32_t i = 0; i < r->n_places; i++) top[i] = &r->places[i];
    qsort(top, r->n_places, sizeof *top, by_ns);
    for (uint32_t i = 0; i < 3 && i < r->n_places && top[i]->ns > 0; i++)
        add(l, "%s %s: %llu call%s, %s, the longest %s%s", top[i]->where, top[i]->name,
            (unsigned long long)top[i]->count, top[i]->count == 1 ? "" : "s", time_text(a, top[i]->ns),
            time_text(b, top[i]->ns_most), i == 0 ? " (the costliest place)" : "");
    for (size_t i = 0; i < r->n_waits; i++)
        if (!most || r->waits[i].ns > most->ns) most = &r->waits[i];
    if (most && most->ns > 0)
        add(l, "longest waiting of one PE for another: PE %d for PE %d, %s at %s", most->pe, most->on,
            time_text(a, most->ns), r->places[most->place].where);
    free(top);
}

/* ---- what limits the record ---- */

/* The PE that has waited longest for a processor, and which share of its time, if that is so long that times say
 * little; else -1. */
static int delayed_pe(const struct trace_record *r, double *share) {
    int delayed = -1;
    *share = DELAYED;
    for (int pe = 0; pe < r->n_pes; pe++) {
        double mine = elapsed(r, pe) > 0 ? (double)r->pes[pe].end.delayed / elapsed(r, pe) : 0;
        if (r->pes[pe].present && mine > *share) *share = mine, delayed = pe;
    }
    return delayed;
}

void trace_notes(const struct trace_record *r, struct trace_lines *l) {
    int inlined = 0, delayed;
    unsigned unnamed = 0;
    double share;
    char a[32];
    for (int pe = 0; pe < r->n_pes; pe++)
        if (r->pes[pe].present) inlined |= r->pes[pe].head.inlined;
    for (uint32_t i = 0; i < r->n_places; i++) unnamed += !r->places[i].has_line && r->places[i].file[0] == '/';
    if (inlined)
        add(l, "the program has inlined calls, which are not seen: compile it with oshcc --trace or rmacc --trace");
    if (r->n_present < r->n_pes) add(l, "%d of %d PEs have left no record", r->n_pes - r->n_present, r->n_pes);
    if (r->n_ended < r->n_present)
        add(l, "%d of %d PEs have no end in their record: the counts may lack the last second, the timeline 50 ms",
            r->n_present - r->n_ended, r->n_pes);
    if (r->dropped)
        add(l, "the timeline lacks %llu events, for which there was no room; all counts are complete",
            (unsigned long long)r->dropped);
    if (r->n_nodes > 1 && r->clock_error >= 0)
        add(l, "the clocks of the nodes were compared with an error of at most %s",
            time_text(a, (double)r->clock_error));
    if (unnamed)
        add(l, "%u of %u places %s an offset in the program: %s", unnamed, r->n_places, unnamed == 1 ? "is" : "are",
            rmai_lines_lack());
    if ((delayed = delayed_pe(r, &share)) >= 0)
        add(l,
            "the machine was busy: PE %d waited %d %% of its time for a processor, so times say little, and there is "
            "no advice",
            delayed, (int)(100 * share));
}

/* ---- advice ---- */

static void about_runs(const struct trace_record *r, const struct trace_place *p, struct trace_lines *l) {
    char a[32];
    double whole = p->run_pe >= 0 ? elapsed(r, p->run_pe) : 0;
    if (p->kind != TRACE_GET || p->polled || p->run_ns < RUN_SHARE * whole || p->run_ns < LEAST ||
        p->bytes > SMALL * p->count)
        return;
    add(l,
        "%s: up to %llu blocking gets of %s in a row from one PE, %d %% of PE %d's time: one longer or strided get, "
        "or nonblocking gets and one quiet, would move the same data with less waiting",
        p->where, (unsigned long long)p->run_most, bytes_text(a, (double)p->bytes / (double)p->count),
        percent(p->run_ns, whole), p->run_pe);
}

static void about_waits(const struct trace_record *r, const struct trace_place *p, struct trace_lines *l) {
    double whole = p->wait_pe >= 0 ? elapsed(r, p->wait_pe) : 0;
    int computes = p->wait_computing > p->wait_ns / 2;
    if ((p->kind != TRACE_WAIT && !p->polled) || p->wait_times < EVENTS) return;
    if (p->wait_ns < WAIT_SHARE * whole || p->wait_ns < LEAST) return;
    add(l, "%s: the wait%s%s is %d %% of the time of PE %d, for PE %d, which %s: %s", p->where,
        p->polled ? " in a loop of " : "", p->polled ? p->name : "", percent(p->wait_ns, whole), p->wait_pe, p->wait_on,
        computes ? "computes meanwhile" : "is in calls of its own meanwhile",
        computes ? "give the first more to do before it waits, or let the other send earlier"
                 : "what it does there delays both");
}

static void about_meetings(const struct trace_record *r, const struct trace_place *p, struct trace_lines *l) {
    int late = 0, worst = 0;
    char a[32];
    if (p->meetings < EVENTS || !p->waited_by) return;
    for (int pe = 1; pe < r->n_pes; pe++) {
        if (p->last[pe] > p->last[late]) late = pe;
        if (p->waited_by[pe] > p->waited_by[worst]) worst = pe;
    }
    if (p->meeting_waited < MEET_SHARE * elapsed(r, worst) || p->meeting_waited < LEAST) return;
    time_text(a, p->spread / (double)p->meetings);
    if (p->last[late] * 10 >= p->meetings * 6)
        add(l,
            "%s: the PEs enter %s %s apart on average, which costs PE %d %d %% of its time; PE %d is the last in %llu "
            "of %llu: it has more work than the others",
            p->where, p->name, a, worst, percent(p->meeting_waited, elapsed(r, worst)), late,
            (unsigned long long)p->last[late], (unsigned long long)p->meetings);
    else
        add(l,
            "%s: the PEs enter %s %s apart on average, which costs PE %d %d %% of its time; no PE is the last most "
            "of the time: the work of each round is uneven",
            p->where, p->name, a, worst, percent(p->meeting_waited, elapsed(r, worst)));
}

static void about_locks(const struct trace_record *r, const struct trace_place *p, struct trace_lines *l) {
    double whole = p->pe >= 0 ? elapsed(r, p->pe) : 0;
    if (p->kind != TRACE_LOCK || p->count < EVENTS || p->pe_ns < LOCK_SHARE * whole || p->pe_ns < LEAST) return;
    add(l,
        "%s: PE %d spends %d %% of its time waiting for the lock: hold it for less, or use several locks, or atomics",
        p->where, p->pe, percent(p->pe_ns, whole));
}

static double weight(const struct trace_place *p) {
    return p->run_ns + p->wait_ns + p->meeting_waited + (p->kind == TRACE_LOCK ? p->pe_ns : 0);
}

static int by_weight(const void *a, const void *b) {
    double x = weight(*(struct trace_place *const *)a), y = weight(*(struct trace_place *const *)b);
    return x > y ? -1 : x < y;
}

void trace_advice(const struct trace_record *r, struct trace_lines *l) {
    struct trace_place **list;
    double share;
    if (delayed_pe(r, &share) >= 0) return;
    list = trace_need(calloc(r->n_places + 1, sizeof *list));
    for (uint32_t i = 0; i < r->n_places; i++) list[i] = &r->places[i];
    qsort(list, r->n_places, sizeof *list, by_weight);
    for (uint32_t i = 0; i < r->n_places && l->n < 8; i++) {
        about_runs(r, list[i], l);
        about_waits(r, list[i], l);
        about_meetings(r, list[i], l);
        about_locks(r, list[i], l);
    }
    free(list);
}
