/* SPDX-License-Identifier: BSD-3-Clause */
/* The format is described in "Trace Event Format" (Google, 2016): an array of objects whose "ph" tells their kind. X: a
 * call; M: names of tracks; s and f: an arrow's two ends; C: a counter. Times are microseconds. */
#include "config.h"

#include "instruments/trace/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/trace/memory.h"

#define EVENTS_MOST 400000 /* Perfetto opens such a file in a few seconds */

void trace_json_text(FILE *f, const char *text) {
    putc('"', f);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == '"' || *c == '\\' || *c == '<' || *c == '>' || *c == '&' || *c == 0x7f)
            fprintf(f, "\\u%04x", *c);
        else
            putc(*c, f);
    putc('"', f);
}

static const char *const class_names[TRACE_CLASSES] = {"moving", "waiting", "collective", "other"};

/* The shortest event that is written: powers of 2^(1/4) of ticks. */
static double choose_least(const struct trace_record *r) {
    uint64_t bins[256] = {0}, sum = 0;
    int i;
    for (int pe = 0; pe < r->n_pes; pe++)
        for (size_t k = 0; k < r->pes[pe].n_events; k++)
            for (size_t e = 0; e < r->pes[pe].events[k].n; e++) {
                double ns = (double)r->pes[pe].events[k].event[e].span * r->pes[pe].per_tick, edge = 1;
                for (i = 0; i < 255 && edge <= ns; i++) edge *= 1.189207115002721;
                bins[i]++;
            }
    for (i = 255; i > 0 && sum + bins[i] <= EVENTS_MOST; i--) sum += bins[i];
    if (i == 0) return 0;
    for (double edge = 1;; edge *= 1.189207115002721)
        if (i-- == 0) return edge;
}

struct writer {
    FILE *f;
    int any;
    double least;
    uint64_t left_out;
};

static void begin(struct writer *w) {
    fputs(w->any ? ",\n" : "\n", w->f);
    w->any = 1;
}

static void write_tracks(const struct trace_record *r, struct writer *w) {
    for (int pe = 0; pe < r->n_pes; pe++) {
        const struct trace_pe *p = &r->pes[pe];
        if (!p->present) continue;
        begin(w);
        fprintf(w->f, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":", pe);
        char name[100];
        snprintf(name, sizeof name, "PE %d (%s)", pe, p->head.host);
        trace_json_text(w->f, name);
        fputs("}}", w->f);
        begin(w);
        fprintf(w->f, "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":%d}}", pe, pe);
        for (int t = 0; t < p->threads; t++) {
            begin(w);
            fprintf(w->f,
                    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"thread %d\"}}",
                    pe, t, t);
        }
    }
}

static int in_job(const struct trace_record *r, int pe) { return pe >= 0 && pe < r->n_pes; }

/* Bytes under way by context; the last one stands for all contexts that are too many. */
#define CONTEXTS 64
static void write_counter(struct writer *w, int pe, double us, const char *name, uint64_t value) {
    begin(w);
    fprintf(w->f, "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%d,\"ts\":%.3f,\"args\":{\"bytes\":%" PRIu64 "}}", name, pe,
            us, value);
}

static void follow_bytes(struct writer *w, int pe, unsigned kind, const struct trace_event *e, double us,
                         uint64_t under_way[CONTEXTS]) {
    uint32_t i = trace_class(kind) == TRACE_MEETING ? 0 : e->more < CONTEXTS ? e->more : CONTEXTS - 1;
    uint64_t before = under_way[i], sum = 0;
    if (kind == TRACE_PUT_NBI || kind == TRACE_GET_NBI || kind == TRACE_PUT_SIGNAL_NBI)
        under_way[i] += e->bytes;
    else if (kind == TRACE_QUIET || kind == TRACE_COLLECTIVE)
        under_way[i] = 0;
    if (under_way[i] == before) return;
    for (int k = 0; k < CONTEXTS; k++) sum += under_way[k];
    write_counter(w, pe, us, "bytes under way", sum);
}

static void write_event(const struct trace_record *r, struct writer *w, int pe, int thread, const struct trace_event *e,
                        uint64_t under_way[CONTEXTS]) {
    const struct trace_pe *p = &r->pes[pe];
    const struct trace_place *s;
    double start = trace_ns_at(p, e->start), end = trace_ns_at(p, e->start + e->span);
    if (e->kind == TRACE_HEAP) write_counter(w, pe, start / 1e3, "heap in use", e->bytes);
    if (e->site >= p->n_sites) return;
    s = &r->places[p->place[e->site]];
    if (end - start < w->least) {
        w->left_out++;
        return;
    }
    begin(w);
    fprintf(w->f, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"%s\",\"name\":", pe, thread,
            start / 1e3, (end - start) / 1e3, class_names[trace_class(e->kind)]);
    trace_json_text(w->f, s->name);
    fputs(",\"args\":{\"at\":", w->f);
    trace_json_text(w->f, s->where);
    if (trace_class(s->kind) == TRACE_MEETING) {
        if (e->pe >= 0) fprintf(w->f, ",\"root\":%d", e->pe);
    } else if (in_job(r, e->pe))
        fprintf(w->f, ",\"pe\":%d", e->pe);
    else if (e->pe == -2)
        fputs(",\"pe\":\"several\"", w->f);
    if (e->bytes) fprintf(w->f, ",\"bytes\":%" PRIu64, e->bytes);
    if (e->count > 1)
        fprintf(w->f, ",\"calls\":%u,\"in calls us\":%.3f", e->count, (double)e->busy * p->per_tick / 1e3);
    if (e->more && trace_class(s->kind) == TRACE_MOVING) fprintf(w->f, ",\"context\":%u", e->more);
    fputs("}}", w->f);
    follow_bytes(w, pe, s->kind, e, end / 1e3, under_way);
}

static void write_flow(const struct trace_record *r, struct writer *w, size_t i) {
    const struct trace_flow *x = &r->flows[i];
    double from = trace_ns_at(&r->pes[x->from_pe], x->from->start);
    double to = trace_ns_at(&r->pes[x->to_pe], x->to->start + x->to->span);
    if ((double)x->from->span * r->pes[x->from_pe].per_tick < w->least ||
        (double)x->to->span * r->pes[x->to_pe].per_tick < w->least)
        return;
    begin(w);
    fprintf(w->f,
            "{\"ph\":\"s\",\"id\":%zu,\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"cat\":\"wait\",\"name\":\"ends a wait\"}", i,
            x->from_pe, x->from_thread, from / 1e3);
    begin(w);
    fprintf(w->f,
            "{\"ph\":\"f\",\"bp\":\"e\",\"id\":%zu,\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"cat\":\"wait\","
            "\"name\":\"ends a wait\"}",
            i, x->to_pe, x->to_thread, to / 1e3);
}

uint64_t trace_json(const struct trace_record *r, FILE *f) {
    struct writer w = {.f = f, .least = choose_least(r)};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
    write_tracks(r, &w);
    for (int pe = 0; pe < r->n_pes && !ferror(f); pe++) {
        uint64_t under_way[CONTEXTS] = {0};
        for (size_t i = 0; i < r->pes[pe].n_events; i++)
            for (size_t k = 0; k < r->pes[pe].events[i].n; k++)
                write_event(r, &w, pe, r->pes[pe].events[i].thread, &r->pes[pe].events[i].event[k], under_way);
    }
    for (size_t i = 0; i < r->n_flows && !ferror(f); i++) write_flow(r, &w, i);
    fprintf(f,
            "\n],\"otherData\":{\"PEs\":%d,\"nodes\":%d,\"events left out\":%" PRIu64 ",\"clock error ns\":%" PRId64
            "}}\n",
            r->n_pes, r->n_nodes, w.left_out + r->dropped, r->clock_error);
    return w.left_out;
}
