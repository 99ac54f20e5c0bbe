/* SPDX-License-Identifier: BSD-3-Clause */
/* SVG needs no library: it is lines of text. Overlapping objects are drawn in this order: nodes, pauses, PEs, arrows,
 * words.
 */
#include "config.h"

#include "test/sim/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TEXT_ROOM  1024
#define LABEL_MOST 80 /* characters of a text that are shown at its PE's line */

/* Pixels. A character of a label, 10 pixels high, is some 5.1 wide, 5.6 if it is bold. */
#define ROW_HEIGHT   17
#define PAUSE_HEIGHT 26
#define AXIS         104 /* the line at which times stand */
#define FIRST_PE     170
#define LABEL_WIDTH  450 /* of LABEL_MOST characters */
#define STUB         46  /* of an arrow whose other end is not in the picture */
#define TOO_LONG     10  /* a pause is longer than so many medians of the times between events */

enum condition { RUNS, STOPPED, DEAD };

struct kept {
    struct sim_trace event;
    char text[TEXT_ROOM];
};

/* An event in the picture. */
struct row {
    const struct kept *kept;
    uint64_t order;   /* in which the events came */
    uint64_t pause;   /* before this event; 0: none that is marked */
    struct row *peer; /* the other end of the message, or NULL */
    int y;
};

struct lane {
    int pe, x;
    enum condition condition; /* at the bottom */
};

struct sim_picture {
    size_t bytes; /* of all this memory */
    int most, n_pes_most;
    uint64_t n_seen;       /* events of this run; number i is in kept[i % most] */
    struct kept *kept;     /* for each of `most` events, */
    struct row *row;       /* likewise, while the picture is written */
    struct row **sent;     /* likewise: the rows of SIM_SENDS, by number of the message */
    uint64_t *interval;    /* likewise */
    struct lane *lane;     /* for each PE */
    int *lane_of;          /* for each PE: its number in `lane`; -1: it is not drawn */
    unsigned char *before; /* for each PE: its condition before the first event that is kept */
};

/* ---- keeping events ---- */

struct sim_picture *sim_picture_open(int n_events, int n_pes_most) {
    const size_t n = (size_t)n_events, pes = (size_t)n_pes_most;
    const size_t bytes = sizeof(struct sim_picture) +
                         n * (sizeof(struct kept) + sizeof(struct row) + sizeof(struct row *) + sizeof(uint64_t)) +
                         pes * (sizeof(struct lane) + sizeof(int) + 1);
    struct sim_picture *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    p->bytes = bytes;
    p->most = n_events;
    p->n_pes_most = n_pes_most;
    p->kept = (struct kept *)(p + 1);
    p->row = (struct row *)(p->kept + n);
    p->sent = (struct row **)(p->row + n);
    p->interval = (uint64_t *)(p->sent + n);
    p->lane = (struct lane *)(p->interval + n);
    p->lane_of = (int *)(p->lane + pes);
    p->before = (unsigned char *)(p->lane_of + pes);
    return p;
}

void sim_picture_close(struct sim_picture *p) { munmap(p, p->bytes); }

void sim_picture_clear(struct sim_picture *p) {
    p->n_seen = 0;
    memset(p->before, RUNS, (size_t)p->n_pes_most);
}

/* The words are those of test/sim/network.c. */
static enum condition condition_after(const struct sim_trace *e, enum condition before) {
    if (e->kind != SIM_SAYS) return before;
    if (strcmp(e->text, "dies") == 0) return DEAD;
    if (strcmp(e->text, "stops") == 0) return STOPPED;
    if (strcmp(e->text, "goes on") == 0) return RUNS;
    return before;
}

static int is_fault(const struct sim_trace *e) {
    static const char *const words[] = {"FAILURE ", "dies", "stops", "is cut off", "ends the job", "was not woken"};
    for (size_t i = 0; e->kind == SIM_SAYS && i < sizeof words / sizeof *words; i++)
        if (strncmp(e->text, words[i], strlen(words[i])) == 0) return 1;
    return 0;
}

void sim_picture_add(void *picture, const struct sim_trace *event) {
    struct sim_picture *p = picture;
    struct kept *k = &p->kept[p->n_seen % (uint64_t)p->most];
    if (p->n_seen >= (uint64_t)p->most) {
        unsigned char *before = &p->before[k->event.pe];
        *before = (unsigned char)condition_after(&k->event, *before);
    }
    k->event = *event;
    k->event.text = k->text;
    snprintf(k->text, sizeof k->text, "%s", event->text ? event->text : "");
    p->n_seen++;
}

/* ---- what is where ---- */

struct drawing {
    struct sim_picture *p;
    const struct sim_picture_facts *facts;
    FILE *f;
    int n, n_lanes; /* rows, PEs */
    int width, top, bottom;
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->kept->event.time != y->kept->event.time) return x->kept->event.time < y->kept->event.time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_messages(const void *a, const void *b) {
    const uint64_t x = (*(struct row *const *)a)->kept->event.message,
                   y = (*(struct row *const *)b)->kept->event.message;
    return x < y ? -1 : x > y;
}

static int compare_times(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* By time: a PE may be ahead of the others, so events do not come in the order of their times. */
static void sort_rows(struct drawing *d) {
    struct sim_picture *p = d->p;
    const uint64_t first = p->n_seen > (uint64_t)p->most ? p->n_seen - (uint64_t)p->most : 0;
    d->n = (int)(p->n_seen - first);
    for (int i = 0; i < d->n; i++) {
        const uint64_t order = first + (uint64_t)i;
        p->row[i] = (struct row){.kept = &p->kept[order % (uint64_t)p->most], .order = order};
    }
    qsort(p->row, (size_t)d->n, sizeof *p->row, compare_rows);
}

static void match_messages(struct drawing *d) {
    struct sim_picture *p = d->p;
    size_t n_sent = 0;
    for (int i = 0; i < d->n; i++)
        if (p->row[i].kept->event.kind == SIM_SENDS) p->sent[n_sent++] = &p->row[i];
    qsort(p->sent, n_sent, sizeof *p->sent, compare_messages);
    for (int i = 0; i < d->n; i++) {
        struct row *r = &p->row[i], **found;
        const enum sim_kind kind = r->kept->event.kind;
        if (kind != SIM_ARRIVES && kind != SIM_LOST) continue;
        found = bsearch(&r, p->sent, n_sent, sizeof *p->sent, compare_messages);
        if (!found) continue;
        r->peer = *found;
        (*found)->peer = r;
    }
}

static void place_rows(struct drawing *d) {
    struct sim_picture *p = d->p;
    int n_intervals = 0;
    uint64_t median = 0;
    d->bottom = d->top + 12;
    for (int i = 1; i < d->n; i++) {
        const uint64_t interval = p->row[i].kept->event.time - p->row[i - 1].kept->event.time;
        if (interval) p->interval[n_intervals++] = interval;
    }
    qsort(p->interval, (size_t)n_intervals, sizeof *p->interval, compare_times);
    if (n_intervals) median = p->interval[n_intervals / 2];
    for (int i = 0; i < d->n; i++) {
        struct row *r = &p->row[i];
        const uint64_t interval = i ? r->kept->event.time - r[-1].kept->event.time : 0;
        if (interval / TOO_LONG > median) {
            r->pause = interval;
            d->bottom += PAUSE_HEIGHT;
        }
        d->bottom += ROW_HEIGHT;
        r->y = d->bottom;
    }
    d->bottom += 2 * ROW_HEIGHT;
}

static void place_pes(struct drawing *d) {
    struct sim_picture *p = d->p;
    const int n_pes = d->facts->n_pes, all = n_pes <= SIM_PICTURE_PES;
    int distance, middle;
    for (int pe = 0; pe < n_pes; pe++) p->lane_of[pe] = all ? 0 : -1;
    for (int i = 0; i < d->n && !all; i++) {
        const struct sim_trace *e = &p->row[i].kept->event;
        p->lane_of[e->pe] = 0;
        if (e->kind != SIM_SAYS) p->lane_of[e->other] = 0;
    }
    for (int pe = 0; pe < n_pes; pe++) {
        if (p->lane_of[pe] < 0) continue;
        p->lane_of[pe] = d->n_lanes;
        p->lane[d->n_lanes++] = (struct lane){.pe = pe, .condition = (enum condition)p->before[pe]};
    }
    distance = d->n_lanes <= 2 ? 400 : d->n_lanes <= 4 ? 210 : d->n_lanes <= 9 ? 140 : d->n_lanes <= 16 ? 100 : 64;
    for (int i = 0; i < d->n_lanes; i++) p->lane[i].x = FIRST_PE + i * distance;
    /* Texts of the left half stand to the right of their line, those of the right half to the left. */
    middle = FIRST_PE + (d->n_lanes - 1) / 2 * distance;
    d->width = FIRST_PE + (d->n_lanes > 0 ? d->n_lanes - 1 : 0) * distance + 70;
    if (d->width < middle + LABEL_WIDTH) d->width = middle + LABEL_WIDTH;
}

static const struct lane *lane_of(const struct drawing *d, int pe) { return &d->p->lane[d->p->lane_of[pe]]; }

static int in_left_half(const struct drawing *d, int pe) { return d->p->lane_of[pe] <= (d->n_lanes - 1) / 2; }

/* ---- words ---- */

/* Characters that XML does not take, or that are not ASCII, become question marks. */
static void write_text(FILE *f, const char *text, size_t most) {
    for (size_t i = 0; text[i] && i < most; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '<')
            fputs("&lt;", f);
        else if (c == '>')
            fputs("&gt;", f);
        else if (c == '&')
            fputs("&amp;", f);
        else if (c == '"')
            fputs("&quot;", f);
        else
            fputc(c == '\n' || c == '\t' ? ' ' : c < 0x20 || c > 0x7e ? '?' : c, f);
    }
}

/* 1234567 as 1 234 567. */
static const char *group_digits(uint64_t number, char text[32]) {
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *to = text;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) *to++ = ' ';
        *to++ = digits[i];
    }
    *to = 0;
    return text;
}

/* ---- messages ---- */

struct message_class {
    int first_tag, last_tag;
    const char *name, *id, *colour;
};

/* Okabe and Ito's colours, which colour-blind readers can tell apart. Red is for faults. */
static const struct message_class classes[] = {
    {0, 0, "short message (tag 0)", "short", "#0072b2"},
    {1, 2048, "long data (tags 1 to 2048)", "long", "#009e73"},
    {20000, 29999, "group (tags from 20000)", "group", "#e08a00"},
    {30000, 30000, "agreement (tag 30000)", "agreement", "#b0559a"},
    {0, -1, "other tag", "other", "#444444"},
};
#define CLASSES (sizeof classes / sizeof *classes)

/* The sending is older than all that is kept, and an arrival does not tell its tag. */
static const struct message_class older = {0, -1, "sent earlier", "older", "#888888"};

static const struct message_class *class_of(int tag) {
    size_t i = 0;
    while (i + 1 < CLASSES && !(classes[i].first_tag <= tag && tag <= classes[i].last_tag)) i++;
    return &classes[i];
}

static void write_cross(const struct drawing *d, int x, int y) {
    fprintf(d->f, "<path class=\"cross\" d=\"M%d %dl10 10m0 -10l-10 10\"/>\n", x - 5, y - 5);
}

static void write_message_title(const struct drawing *d, const struct row *sent, const struct row *end) {
    const struct sim_trace *s = sent ? &sent->kept->event : NULL, *e = end ? &end->kept->event : NULL;
    const char *how = e && e->kind == SIM_LOST ? "lost at" : "arrived at";
    fprintf(d->f, "<title>message %llu", (unsigned long long)(s ? s : e)->message);
    if (s) fprintf(d->f, ": %zu bytes, tag %d", s->len, s->tag);
    fprintf(d->f, ", PE %d to PE %d; ", s ? s->pe : e->other, s ? s->other : e->pe);
    if (s)
        fprintf(d->f, "sent at %llu ns", (unsigned long long)s->time);
    else
        fputs("sent before the first event of the picture", d->f);
    if (e)
        fprintf(d->f, ", %s %llu ns", how, (unsigned long long)e->time);
    else
        fputs(", not arrived by the end", d->f);
    if (s && e) fprintf(d->f, ", after %llu ns", (unsigned long long)(e->time - s->time));
    fputs("</title>", d->f);
}

/* The arrow of a message that was sent in the picture. */
static void write_arrow(const struct drawing *d, const struct row *sent) {
    const struct sim_trace *e = &sent->kept->event;
    const struct row *end = sent->peer;
    const struct message_class *class = class_of(e->tag);
    const int lost = end && end->kept->event.kind == SIM_LOST;
    const int from = lane_of(d, e->pe)->x, way = lane_of(d, e->other)->x - from;
    const int to = from + way - (lost ? (way > 0 ? 14 : -14) : 0), y = end ? end->y : d->bottom - 4;
    fprintf(d->f, "<g class=\"message %s%s\" stroke=\"%s\">", class->id, end ? "" : " pending", class->colour);
    write_message_title(d, sent, end);
    if (way == 0)
        fprintf(d->f, "<path d=\"M%d %dC%d %d %d %d %d %d\"", from, sent->y, from + 40, sent->y, from + 40, y, from, y);
    else
        fprintf(d->f, "<path d=\"M%d %dL%d %d\"", from, sent->y, to, y);
    fprintf(d->f, "%s%s%s/></g>\n", lost ? "" : " marker-end=\"url(#", lost ? "" : class->id, lost ? "" : ")\"");
    if (lost) write_cross(d, to, y);
}

/* The end of a message whose sending is older: it comes from the side of its sender. */
static void write_stub(const struct drawing *d, const struct row *end) {
    const struct sim_trace *e = &end->kept->event;
    const int lost = e->kind == SIM_LOST, to = lane_of(d, e->pe)->x;
    const int side = lane_of(d, e->other)->x > to ? 1 : -1;
    fprintf(d->f, "<g class=\"message stub\" stroke=\"%s\">", older.colour);
    write_message_title(d, NULL, end);
    fprintf(d->f, "<path d=\"M%d %dL%d %d\"%s/></g>\n", to + side * STUB, end->y - 10, to + (lost ? side * 14 : 0),
            end->y, lost ? "" : " marker-end=\"url(#older)\"");
    if (lost) write_cross(d, to + side * 14, end->y);
}

static void write_arrows(const struct drawing *d) {
    for (int i = 0; i < d->n; i++) {
        const struct row *r = &d->p->row[i];
        if (r->kept->event.kind == SIM_SENDS) write_arrow(d, r);
        if (r->kept->event.kind != SIM_SAYS && r->kept->event.kind != SIM_SENDS && !r->peer) write_stub(d, r);
    }
}

/* ---- labels ---- */

static void write_label(const struct drawing *d, const struct row *r) {
    const struct sim_trace *e = &r->kept->event;
    const int says = e->kind == SIM_SAYS, x = lane_of(d, e->pe)->x;
    const int right = says || e->other == e->pe ? in_left_half(d, e->pe) : lane_of(d, e->other)->x > x;
    const char *anchor = right ? "start" : "end";
    if (says) {
        const int fault = is_fault(e);
        fprintf(d->f, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\" fill=\"%s\"/>\n", x, r->y, fault ? 4 : 2,
                fault ? "#c00000" : "#333");
        fprintf(d->f, "<text class=\"says%s\" x=\"%d\" y=\"%d\" text-anchor=\"%s\"><title>PE %d at %llu ns: ",
                fault ? " fault" : "", x + (right ? 7 : -7), r->y + 4, anchor, e->pe, (unsigned long long)e->time);
        write_text(d->f, e->text, TEXT_ROOM);
        fputs("</title>", d->f);
        write_text(d->f, e->text, LABEL_MOST);
        fprintf(d->f, "%s</text>\n", strlen(e->text) > LABEL_MOST ? "..." : "");
    } else if (e->kind == SIM_SENDS) {
        fprintf(d->f, "<text class=\"sends\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%zu B, tag %d</text>\n",
                x + (right ? 6 : -6), r->y - 2, anchor, e->len, e->tag);
    } else if (!r->peer) {
        fprintf(d->f, "<text class=\"sends\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">from PE %d</text>\n",
                x + (right ? STUB + 3 : -STUB - 3), r->y - 6, anchor, e->other);
    }
}

/* ---- PEs, nodes, time ---- */

static void write_nodes(const struct drawing *d) {
    const int node_pes = d->facts->node_pes;
    const struct lane *lane = d->p->lane;
    int first = 0;
    if (node_pes <= 1) return;
    for (int i = 1; i <= d->n_lanes; i++) {
        const int node = lane[first].pe / node_pes;
        if (i < d->n_lanes && lane[i].pe / node_pes == node) continue;
        fprintf(d->f,
                "<rect class=\"node\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n"
                "<text class=\"node-name\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">node %d</text>\n",
                lane[first].x - 26, d->top - 40, lane[i - 1].x - lane[first].x + 52, d->bottom - d->top + 72,
                (lane[first].x + lane[i - 1].x) / 2, d->top - 26, node);
        first = i;
    }
}

static void write_pauses(const struct drawing *d) {
    char digits[32];
    for (int i = 0; i < d->n; i++) {
        const struct row *r = &d->p->row[i];
        const int y = r->y - ROW_HEIGHT / 2 - PAUSE_HEIGHT;
        if (!r->pause) continue;
        fprintf(d->f, "<rect class=\"pause\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", y + 4, d->width,
                PAUSE_HEIGHT - 8);
        fprintf(d->f, "<path class=\"zigzag\" d=\"M%d %dl-5 4l10 5l-10 5l5 4\"/>\n", AXIS, y + 4);
        fprintf(d->f, "<text class=\"pause-time\" x=\"%d\" y=\"%d\">+ %s</text>\n", AXIS - 8, y + PAUSE_HEIGHT / 2 + 4,
                group_digits(r->pause, digits));
    }
}

static void write_line(const struct drawing *d, int x, int from, int to, enum condition condition) {
    static const char *const names[] = {"runs", "stopped", "dead"};
    fprintf(d->f, "<path class=\"%s\" d=\"M%d %dV%d\"/>\n", names[condition], x, from, to);
}

static void write_pe(const struct drawing *d, struct lane *lane) {
    static const char *const names[] = {"", ", stopped", ", dead"};
    int from = d->top;
    fprintf(d->f, "<g class=\"pe\" id=\"pe%d\">\n", lane->pe);
    fprintf(d->f, "<text class=\"name%s\" x=\"%d\" y=\"%d\">PE %d%s</text>\n", lane->condition == RUNS ? "" : " fault",
            lane->x, d->top - 8, lane->pe, names[lane->condition]);
    for (int i = 0; i < d->n; i++) {
        const struct row *r = &d->p->row[i];
        const enum condition after =
            r->kept->event.pe == lane->pe ? condition_after(&r->kept->event, lane->condition) : lane->condition;
        if (after == lane->condition) continue;
        write_line(d, lane->x, from, r->y, lane->condition);
        lane->condition = after;
        from = r->y;
    }
    write_line(d, lane->x, from, d->bottom, lane->condition);
    fprintf(d->f, "<text class=\"name%s\" x=\"%d\" y=\"%d\">PE %d%s</text>\n</g>\n",
            lane->condition == RUNS ? "" : " fault", lane->x, d->bottom + 18, lane->pe, names[lane->condition]);
}

static void write_times(const struct drawing *d) {
    char digits[32];
    const struct row *before = NULL;
    fprintf(d->f, "<path class=\"axis\" d=\"M%d %dV%d\"/>\n<text class=\"time\" x=\"%d\" y=\"%d\">ns</text>\n", AXIS,
            d->top, d->bottom, AXIS - 8, d->top - 8);
    for (int i = 0; i < d->n; i++) {
        const struct row *r = &d->p->row[i];
        fprintf(d->f, "<path class=\"guide\" d=\"M%d %dH%d\"/>\n", AXIS, r->y, lane_of(d, r->kept->event.pe)->x);
        if (before && before->kept->event.time == r->kept->event.time) {
            fprintf(d->f, "<path class=\"same-time\" d=\"M%d %dV%d\"/>\n", AXIS, before->y, r->y);
        } else {
            fprintf(d->f, "<text class=\"time\" x=\"%d\" y=\"%d\">%s</text>\n", AXIS - 8, r->y + 4,
                    group_digits(r->kept->event.time, digits));
            before = r;
        }
    }
}

/* ---- the head of the picture ---- */

static void write_style(const struct drawing *d) {
    fputs("<style>\n"
          "text{font-family:'DejaVu Sans',Verdana,Helvetica,sans-serif;font-size:10px;fill:#222}\n"
          ".title{font-size:15px;font-weight:bold}.about{font-size:11px;fill:#555}\n"
          ".name{font-size:12px;font-weight:bold;text-anchor:middle}\n"
          ".time,.pause-time{text-anchor:end;fill:#555}.pause-time{font-style:italic}\n"
          ".says,.sends{stroke:#fff;stroke-width:3;stroke-linejoin:round;paint-order:stroke}\n"
          ".sends{font-size:9px}.fault{fill:#c00000;font-weight:bold}\n"
          ".runs,.axis{stroke:#555;stroke-width:1.4}.axis{stroke-width:.8}\n"
          ".stopped{stroke:#c00000;stroke-width:2;stroke-dasharray:2 4}\n"
          ".dead{stroke:#c00000;stroke-width:1;stroke-dasharray:1 6}\n"
          ".same-time{stroke:#555;stroke-width:4}"
          ".guide{stroke:#e4e4e4;stroke-width:1}\n"
          ".node{fill:#f3f6fa;stroke:#9fb3c8}.node-name{fill:#4a6580;font-size:11px}\n"
          ".pause{fill:#dddddd;fill-opacity:.55}.zigzag{fill:none;stroke:#555}\n"
          ".message path{fill:none;stroke-width:1.3}.pending path{stroke-dasharray:6 4}\n"
          ".cross{stroke:#c00000;stroke-width:2.4;fill:none}\n"
          "</style>\n<defs>\n",
          d->f);
    for (size_t i = 0; i <= CLASSES; i++) {
        const struct message_class *class = i < CLASSES ? &classes[i] : &older;
        fprintf(d->f,
                "<marker id=\"%s\" viewBox=\"0 0 10 8\" refX=\"10\" refY=\"4\" markerWidth=\"8\" markerHeight=\"6.4\" "
                "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L10 4L0 8z\" fill=\"%s\" "
                "stroke=\"none\"/></marker>\n",
                class->id, class->colour);
    }
    fputs("</defs>\n", d->f);
}

/* The legend goes on in another line where the picture ends. */
struct legend {
    int x, y;
};

static void write_legend_entry(const struct drawing *d, struct legend *at, const char *colour, const char *kind,
                               const char *id, const char *name) {
    const int lost = strcmp(kind, "lost") == 0, width = 56 + (int)strlen(name) * 56 / 10;
    if (at->x > 12 && at->x + width > d->width) *at = (struct legend){12, at->y + 18};
    fprintf(d->f, "<g class=\"legend %s\" stroke=\"%s\"><path fill=\"none\" stroke-width=\"1.6\"%s d=\"M%d %dh26\"",
            kind, colour, strcmp(kind, "pending") == 0 ? " stroke-dasharray=\"6 4\"" : "", at->x, at->y - 4);
    if (lost)
        fputs("/></g>", d->f);
    else
        fprintf(d->f, " marker-end=\"url(#%s)\"/></g>", id);
    if (lost) write_cross(d, at->x + 26, at->y - 4);
    fprintf(d->f, "<text x=\"%d\" y=\"%d\">%s</text>\n", at->x + 36, at->y, name);
    at->x += width;
}

/* Of what occurs in the picture. */
static int write_legend(const struct drawing *d, int y) {
    struct legend at = {12, y};
    int seen[CLASSES] = {0}, lost = 0, pending = 0, stubs = 0;
    for (int i = 0; i < d->n; i++) {
        const struct row *r = &d->p->row[i];
        const struct sim_trace *e = &r->kept->event;
        if (e->kind == SIM_SENDS) seen[class_of(e->tag) - classes] = 1;
        pending |= e->kind == SIM_SENDS && !r->peer;
        lost |= e->kind == SIM_LOST;
        stubs |= (e->kind == SIM_LOST || e->kind == SIM_ARRIVES) && !r->peer;
    }
    for (size_t i = 0; i < CLASSES; i++)
        if (seen[i]) write_legend_entry(d, &at, classes[i].colour, "whole", classes[i].id, classes[i].name);
    if (stubs) write_legend_entry(d, &at, older.colour, "whole", older.id, "sent before the first event shown");
    if (pending) write_legend_entry(d, &at, "#444444", "pending", "other", "not arrived by the end");
    if (lost) write_legend_entry(d, &at, "#444444", "lost", "other", "lost");
    return at.y;
}

/* Breaks at spaces. Returns the y of the last line. */
static int write_end(const struct drawing *d, int y) {
    const char *text = d->facts->end;
    const size_t most = (size_t)(d->width - 24) * 10 / 72;
    while (text && *text) {
        size_t n = strlen(text);
        if (n > most)
            for (n = most; n > most / 2 && text[n] != ' '; n--) continue;
        y += 16;
        fprintf(d->f, "<text class=\"fault\" x=\"12\" y=\"%d\" style=\"font-size:11px\">", y);
        write_text(d->f, text, n);
        fputs("</text>\n", d->f);
        text += n + strspn(text + n, " ");
    }
    return y;
}

/* How far down the head goes is known only when it has been written, so it is written into memory first. */
static char *write_head(struct drawing *d) {
    char *text = NULL;
    size_t size = 0;
    int y = 42;
    FILE *const f = d->f;
    d->f = open_memstream(&text, &size);
    if (!d->f) return NULL;
    fputs("<text class=\"title\" x=\"12\" y=\"24\">", d->f);
    write_text(d->f, d->facts->title, TEXT_ROOM);
    fprintf(d->f, "</text>\n<text class=\"about\" x=\"12\" y=\"%d\">%d PEs", y, d->facts->n_pes);
    if (d->facts->node_pes > 1) fprintf(d->f, ", %d on a node", d->facts->node_pes);
    if (d->n_lanes < d->facts->n_pes) fprintf(d->f, " (%d have an event here)", d->n_lanes);
    fprintf(d->f, "; the last %d of %llu events; virtual time in nanoseconds</text>\n", d->n,
            (unsigned long long)d->p->n_seen);
    y = write_end(d, y);
    y = write_legend(d, y + 24);
    d->top = y + (d->facts->node_pes > 1 ? 60 : 36);
    fclose(d->f);
    d->f = f;
    return text;
}

int sim_picture_write(struct sim_picture *p, const struct sim_picture_facts *facts, FILE *f) {
    struct drawing d = {.p = p, .facts = facts, .f = f};
    char *head;
    int height;
    sort_rows(&d);
    match_messages(&d);
    place_pes(&d);
    head = write_head(&d);
    if (!head) return -1;
    place_rows(&d);
    height = d.bottom + 44;
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
            d.width, height, d.width, height);
    write_style(&d);
    fprintf(f, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n%s", d.width, height, head);
    free(head);
    write_nodes(&d);
    write_times(&d);
    write_pauses(&d);
    for (int i = 0; i < d.n_lanes; i++) write_pe(&d, &p->lane[i]);
    write_arrows(&d);
    for (int i = 0; i < d.n; i++) write_label(&d, &p->row[i]);
    fputs("</svg>\n", f);
    if (fflush(f) != 0 || ferror(f)) return -1;
    return 0;
}
