/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's text and program are page.html, which the assembler puts into this object. The numbers are JSON, in the
 * place of the line DATA. Up to PES_MOST PEs each have a row; in larger jobs a row is the sum of a group of
 * neighbouring PEs. */
#include "config.h"

#include "instruments/trace/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/trace/json.h"
#include "instruments/trace/memory.h"

#define PES_MOST    1024
#define SITES_SHOWN 60

__asm__(".pushsection .rodata\n"
        "trace_page_begin:\n"
        ".incbin \"" TRACE_PAGE_FILE "\"\n"
        "trace_page_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char trace_page_begin[], trace_page_end[];

static void write_lines(FILE *f, const char *name, const struct trace_lines *l) {
    fprintf(f, ",\"%s\":[", name);
    for (int i = 0; i < l->n; i++) {
        if (i) putc(',', f);
        trace_json_text(f, l->line[i]);
    }
    putc(']', f);
}

/* Of the group of PEs from first on. */
static void write_pe(const struct trace_record *r, int first, int group, FILE *f) {
    double sum[TRACE_CLASSES] = {0}, elapsed = 0, waited = 0;
    uint64_t n[6] = {0};
    for (int pe = first; pe < first + group && pe < r->n_pes; pe++) {
        const struct trace_pe *p = &r->pes[pe];
        double threads = p->threads > 1 ? p->threads : 1;
        elapsed += p->finish - p->begin;
        waited += p->waited;
        for (int i = 0; i < TRACE_CLASSES; i++) sum[i] += p->ns[i] / threads;
        n[0] += p->puts, n[1] += p->put_bytes, n[2] += p->gets, n[3] += p->get_bytes, n[4] += p->atomics;
        n[5] += p->calls;
    }
    fprintf(f, "[%.0f,%.0f,%.0f,%.0f,%.0f,%.0f", elapsed, sum[0], sum[1], sum[2], sum[3], waited);
    for (int i = 0; i < 6; i++) fprintf(f, ",%" PRIu64, n[i]);
    fprintf(f, ",%d]", r->pes[first].present);
}

struct pair {
    uint64_t puts, put_bytes, gets, get_bytes, atomics;
    double ns;
};

static void add_pair(struct pair *t, unsigned kind, const struct trace_cell *c, double per_tick) {
    t->ns += (double)c->ticks * per_tick;
    switch (kind) {
        case TRACE_PUT_SIGNAL:
        case TRACE_PUT_SIGNAL_NBI: t->atomics += c->count; /* fall through */
        case TRACE_PUT:
        case TRACE_PUT_NBI:
            t->puts += c->count;
            t->put_bytes += c->bytes;
            break;
        case TRACE_GET:
        case TRACE_GET_NBI:
            t->gets += c->count;
            t->get_bytes += c->bytes;
            break;
        default: t->atomics += c->count;
    }
}

/* A row of the matrix: the target and its six numbers, one target after the other. */
static void write_row(const struct trace_record *r, int first, int group, struct pair *row, int n, FILE *f) {
    int any = 0;
    memset(row, 0, (size_t)n * sizeof *row);
    for (int pe = first; pe < first + group && pe < r->n_pes; pe++)
        for (size_t i = 0; i < r->pes[pe].n_cells; i++) {
            const struct trace_cells_of *c = &r->pes[pe].cells[i];
            unsigned kind = r->places[c->place].kind;
            for (int k = 0; k < TRACE_GROUP && kind <= TRACE_SIGNAL; k++)
                if (c->cells.cell[k].count && (int)c->cells.first + k < r->n_pes)
                    add_pair(&row[((int)c->cells.first + k) / group], kind, &c->cells.cell[k], r->pes[pe].per_tick);
        }
    putc('[', f);
    for (int i = 0; i < n; i++)
        if (row[i].puts || row[i].gets || row[i].atomics)
            fprintf(f, "%s%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.0f", any++ ? "," : "", i,
                    row[i].puts, row[i].put_bytes, row[i].gets, row[i].get_bytes, row[i].atomics, row[i].ns);
    putc(']', f);
}

static int by_pair(const void *a, const void *b) {
    const struct trace_wait *x = a, *y = b;
    return x->pe != y->pe ? x->pe - y->pe : x->on - y->on;
}

/* Who waited for whom, over all places: PE, PE, time, and how much of it the other one computed. */
static void write_waits(const struct trace_record *r, int group, FILE *f) {
    struct trace_wait *w = trace_need(malloc((r->n_waits + 1) * sizeof *w));
    int any = 0;
    for (size_t i = 0; i < r->n_waits; i++) {
        w[i] = r->waits[i];
        w[i].pe /= group;
        w[i].on /= group;
    }
    if (r->n_waits) qsort(w, r->n_waits, sizeof *w, by_pair);
    fputs(",\"waits\":[", f);
    for (size_t i = 0, k; i < r->n_waits; i = k) {
        for (k = i + 1; k < r->n_waits && !by_pair(&w[i], &w[k]); k++) {
            w[i].ns += w[k].ns;
            w[i].computing += w[k].computing;
        }
        fprintf(f, "%s%d,%d,%.0f,%.0f", any++ ? "," : "", w[i].pe, w[i].on, w[i].ns, w[i].computing);
    }
    putc(']', f);
    free(w);
}

static int by_ns(const void *a, const void *b) {
    const struct trace_place *const *x = a, *const *y = b;
    return (*x)->ns > (*y)->ns ? -1 : (*x)->ns < (*y)->ns;
}

static void write_counts(FILE *f, const char *name, const uint64_t *counts, int n) {
    while (n > 0 && !counts[n - 1]) n--;
    fprintf(f, ",\"%s\":[", name);
    for (int i = 0; i < n; i++) fprintf(f, "%s%" PRIu64, i ? "," : "", counts[i]);
    putc(']', f);
}

static void write_sites(const struct trace_record *r, FILE *f) {
    struct trace_place **list = trace_need(calloc(r->n_places + 1, sizeof *list));
    for (uint32_t i = 0; i < r->n_places; i++) list[i] = &r->places[i];
    qsort(list, r->n_places, sizeof *list, by_ns);
    fprintf(f, ",\"allSites\":%u,\"sites\":[", r->n_places);
    for (uint32_t i = 0; i < r->n_places && i < SITES_SHOWN; i++) {
        const struct trace_place *p = list[i];
        fputs(i ? ",\n{\"at\":" : "\n{\"at\":", f);
        trace_json_text(f, p->where);
        fputs(",\"in\":", f);
        trace_json_text(f, p->function);
        fputs(",\"call\":", f);
        trace_json_text(f, p->name);
        fprintf(f,
                ",\"kind\":%d,\"count\":%" PRIu64 ",\"bytes\":%" PRIu64
                ",\"ns\":%.0f,\"most\":%.0f,\"pe\":%d,\"peNs\":%.0f,\"waited\":%.0f",
                (int)trace_class(p->kind), p->count, p->bytes, p->ns, p->ns_most, p->pe, p->pe_ns, p->waited);
        write_counts(f, "lengths", p->lengths, TRACE_LENGTHS);
        write_counts(f, "times", p->times, TRACE_TIMES);
        putc('}', f);
    }
    putc(']', f);
    free(list);
}

static void write_data(const struct trace_record *r, const struct trace_lines *advice, const struct trace_lines *notes,
                       FILE *f) {
    int group = (r->n_pes + PES_MOST - 1) / PES_MOST, n = (r->n_pes + group - 1) / group;
    struct pair *row = trace_need(calloc((size_t)n, sizeof *row));
    const char *program = "";
    for (int pe = r->n_pes; pe-- > 0;)
        if (r->pes[pe].present) program = r->pes[pe].head.program;
    fputs("{\"program\":", f);
    trace_json_text(f, program);
    fprintf(f,
            ",\"pes\":%d,\"group\":%d,\"n\":%d,\"nodes\":%d,\"elapsed\":%.0f,\"dropped\":%" PRIu64
            ",\"clockError\":%" PRId64,
            r->n_pes, group, n, r->n_nodes, r->elapsed, r->dropped, r->clock_error);
    write_lines(f, "advice", advice);
    write_lines(f, "notes", notes);
    fputs(",\"node\":[", f);
    for (int i = 0; i < n; i++) fprintf(f, "%s%d", i ? "," : "", r->pes[i * group].head.node);
    fputs("],\n\"time\":[", f);
    for (int i = 0; i < n; i++) {
        if (i) fputs(",\n", f);
        write_pe(r, i * group, group, f);
    }
    fputs("],\n\"rows\":[", f);
    for (int i = 0; i < n; i++) {
        if (i) fputs(",\n", f);
        write_row(r, i * group, group, row, n, f);
    }
    putc(']', f);
    write_waits(r, group, f);
    write_sites(r, f);
    fputs("}\n", f);
    free(row);
}

void trace_page(const struct trace_record *r, const struct trace_lines *advice, const struct trace_lines *notes,
                FILE *f) {
    const char *data = strstr(trace_page_begin, "\nDATA\n");
    if (!data) return;
    fwrite(trace_page_begin, 1, (size_t)(data + 1 - trace_page_begin), f);
    write_data(r, advice, notes, f);
    data += strlen("\nDATA\n");
    fwrite(data, 1, (size_t)(trace_page_end - data), f);
}
