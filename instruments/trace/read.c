/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/trace/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instruments/trace/memory.h"
#include "instruments/trace/names.h"
#include "instruments/trace/options.h"

void *trace_need(void *memory) {
    if (memory) return memory;
    fprintf(stderr, "rma_trace: no memory for the report\n");
    exit(1);
}

/* ---- one part ---- */

/* The next chunk at *at, or NULL at the end of the file or where it is cut. */
static const struct trace_chunk *next_chunk(const struct trace_pe *p, size_t *at) {
    const struct trace_chunk *c = (const void *)(p->map + *at);
    if (p->map_len - *at < sizeof *c || c->magic != TRACE_MAGIC || c->len % 8 || c->len > p->map_len - *at - sizeof *c)
        return NULL;
    *at += sizeof *c + c->len;
    return c;
}
#define PAYLOAD(c) ((const void *)((c) + 1))

static int map_part(struct trace_pe *p, const char *name) {
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    const struct trace_chunk *c;
    size_t at = 0;
    if (fd < 0) return 0;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        p->map_len = (size_t)st.st_size;
        p->map = mmap(NULL, p->map_len, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (!p->map || p->map == MAP_FAILED) return 0;
    c = next_chunk(p, &at);
    if (!c || c->kind != TRACE_HEAD || c->len != sizeof p->head) {
        munmap((void *)(uintptr_t)p->map, p->map_len);
        p->map = NULL;
        return 0;
    }
    memcpy(&p->head, PAYLOAD(c), sizeof p->head);
    return p->present = 1;
}

/* Ticks become times by the first and the last reading of the clocks; a PE's clock may drift against PE 0's. */
static void read_clocks(struct trace_pe *p) {
    struct trace_clock first = {0}, last = {0}, compared[2] = {{.error = -1}, {.error = -1}};
    const struct trace_chunk *c;
    double ahead[2], slope = 0;
    int n = 0;
    for (size_t at = 0; (c = next_chunk(p, &at));) {
        const struct trace_clock *k = PAYLOAD(c);
        if (c->kind != TRACE_CLOCK || c->len != sizeof *k) continue;
        if (!n++) first = *k;
        last = *k;
        if (k->error < 0) continue;
        if (compared[0].error < 0) compared[0] = *k;
        compared[1] = *k;
    }
    if (!n) first = last = (struct trace_clock){.ticks = p->head.ticks};
    p->per_tick = last.ticks > first.ticks ? (double)(last.ns - first.ns) / (double)(last.ticks - first.ticks) : 1;
    if (compared[1].ns > compared[0].ns)
        slope = (double)(compared[1].ahead - compared[0].ahead) / (double)(compared[1].ns - compared[0].ns);
    ahead[0] = (double)compared[0].ahead + slope * (double)(first.ns - compared[0].ns);
    ahead[1] = (double)compared[0].ahead + slope * (double)(last.ns - compared[0].ns);
    if (last.ticks > first.ticks) p->per_tick += (ahead[1] - ahead[0]) / (double)(last.ticks - first.ticks);
    p->zero = (double)first.ns + ahead[0] - (double)first.ticks * p->per_tick;
    p->clock_error = compared[1].error > compared[0].error ? compared[1].error : compared[0].error;
}

/* What the chunks say of a PE, by thread and site. The last ones count. */
struct latest {
    const struct trace_chunk *modules;
    const struct trace_site **sites;
    uint32_t n_sites;
    const struct trace_use **use;     /* [thread * n_sites + site] */
    const struct trace_cells **cells; /* of a thread, site and group */
    size_t n_cells, cells_room;
    int *cells_thread;
};

static void note_cells(struct latest *l, int thread, const struct trace_cells *new) {
    for (size_t i = l->n_cells; i-- > 0;)
        if (l->cells[i]->site == new->site && l->cells[i]->first == new->first && l->cells_thread[i] == thread) {
            l->cells[i] = new;
            return;
        }
    if (l->n_cells == l->cells_room) {
        l->cells_room = l->cells_room ? 2 * l->cells_room : 64;
        l->cells = trace_need(realloc(l->cells, l->cells_room * sizeof *l->cells));
        l->cells_thread = trace_need(realloc(l->cells_thread, l->cells_room * sizeof *l->cells_thread));
    }
    l->cells_thread[l->n_cells] = thread;
    l->cells[l->n_cells++] = new;
}

#define SITES_MOST 8192 /* a file may be damaged */
static void read_part(struct trace_pe *p, struct latest *l) {
    const struct trace_chunk *c;
    const struct trace_site *s;
    const struct trace_use *use;
    size_t room = 0;
    for (size_t at = 0; (c = next_chunk(p, &at));) {
        if (c->which >= p->threads && (c->kind == TRACE_EVENTS || c->kind == TRACE_USE)) p->threads = c->which + 1;
        s = PAYLOAD(c);
        if (c->kind == TRACE_SITES && c->len == sizeof *s && s->site >= l->n_sites && s->site < SITES_MOST)
            l->n_sites = s->site + 1;
    }
    l->sites = trace_need(calloc(l->n_sites + 1, sizeof *l->sites));
    l->use = trace_need(calloc((size_t)p->threads * l->n_sites + 1, sizeof *l->use));
    for (size_t at = 0; (c = next_chunk(p, &at));) {
        switch (c->kind) {
            case TRACE_MODULES: l->modules = c; break;
            case TRACE_SITES:
                s = PAYLOAD(c);
                if (c->len == sizeof *s && s->site < l->n_sites && s->kind < TRACE_KINDS) l->sites[s->site] = s;
                break;
            case TRACE_USE:
                use = PAYLOAD(c);
                if (c->len == sizeof *use && use->site < l->n_sites) l->use[c->which * l->n_sites + use->site] = use;
                break;
            case TRACE_CELLS:
                if (c->len == sizeof(struct trace_cells)) note_cells(l, c->which, PAYLOAD(c));
                break;
            case TRACE_EVENTS:
                if (p->n_events == room) {
                    room = room ? 2 * room : 64;
                    p->events = trace_need(realloc(p->events, room * sizeof *p->events));
                }
                p->events[p->n_events++] = (struct trace_events){
                    .event = PAYLOAD(c), .n = c->len / sizeof(struct trace_event), .thread = c->which};
                p->events_seen += c->len / sizeof(struct trace_event);
                break;
            case TRACE_END:
                if (c->len != sizeof p->end) break;
                memcpy(&p->end, PAYLOAD(c), sizeof p->end);
                p->ended = 1;
                break;
            default: break;
        }
    }
}

/* ---- places ---- */

static struct places { uint32_t *table, room; /* 1 + the place, by its hash */ } places;

static uint32_t place_of(struct trace_record *r, const char *file, uint64_t offset, const struct trace_site *s) {
    uint64_t hash = offset * 0x9e3779b97f4a7c15u;
    struct trace_place *p;
    uint32_t i;
    for (const char *c = s->name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    if (!places.table) places.table = trace_need(calloc(places.room = 1 << 16, sizeof *places.table));
    for (i = (uint32_t)(hash >> 32) % places.room; places.table[i]; i = (i + 1) % places.room) {
        p = &r->places[places.table[i] - 1];
        if (p->offset == offset && p->kind == s->kind && !strcmp(p->name, s->name) && !strcmp(p->file, file))
            return places.table[i] - 1;
    }
    if (r->n_places == places.room / 2) return r->n_places - 1; /* never seen: the last one takes all further ones */
    r->places = trace_need(realloc(r->places, (r->n_places + 1) * sizeof *r->places));
    p = &r->places[r->n_places];
    memset(p, 0, sizeof *p);
    p->file = trace_need(strdup(file));
    p->offset = offset;
    memcpy(p->name, s->name, sizeof p->name);
    p->name[sizeof p->name - 1] = '\0';
    p->kind = s->kind;
    p->pe = p->wait_pe = p->wait_on = p->run_pe = -1;
    places.table[i] = ++r->n_places;
    return r->n_places - 1;
}

/* The file that holds an address, by the lines of a TRACE_MODULES chunk. */
static void find_module(const struct trace_chunk *modules, uint64_t pc, char *file, size_t room, uint64_t *offset) {
    const char *at = modules ? PAYLOAD(modules) : NULL, *end = at + (modules ? modules->len : 0);
    snprintf(file, room, "?");
    *offset = pc;
    while (at && at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        unsigned long first, last, bias;
        int used = 0;
        char line[4300];
        if (!line_end) break;
        snprintf(line, sizeof line, "%.*s", (int)(line_end - at), at);
        if (sscanf(line, "%lx %lx %lx %n", &first, &last, &bias, &used) == 3 && pc >= first && pc < last) {
            snprintf(file, room, "%s", line + used);
            *offset = pc - bias;
            return;
        }
        at = line_end + 1;
    }
}

/* ---- sums ---- */

static void add_use(struct trace_record *r, struct trace_pe *p, int pe, uint32_t place, const struct trace_use *u,
                    double *pe_ns) {
    struct trace_place *s = &r->places[place];
    double ns = (double)u->ticks * p->per_tick, most = (double)u->ticks_most * p->per_tick;
    double run = (double)u->run_ticks * p->per_tick;
    s->count += u->count;
    s->bytes += u->bytes;
    s->ns += ns;
    if (most > s->ns_most) s->ns_most = most;
    for (int i = 0; i < TRACE_LENGTHS; i++) s->lengths[i] += u->lengths[i];
    for (int i = 0; i < TRACE_TIMES; i++) {
        double upper = i ? (double)((uint64_t)1 << i) * p->per_tick : 0;
        int k = 0;
        while (k < TRACE_TIMES - 1 && (double)((uint64_t)1 << k) < upper) k++;
        s->times[k] += u->times[i];
    }
    pe_ns[place] += ns;
    if (pe_ns[place] > s->pe_ns) s->pe_ns = pe_ns[place], s->pe = pe;
    if (run > s->run_ns) {
        s->run_ns = run;
        s->run_pe = pe;
        s->run_calls = u->run_calls;
        s->run_most = u->run_most;
    }
    if (u->poll_ticks) s->polled = 1;
    p->ns[trace_class(s->kind)] += ns - (double)u->poll_busy * p->per_tick;
    p->ns[TRACE_WAITING] += (double)u->poll_ticks * p->per_tick;
    p->calls += u->count;
    switch (s->kind) {
        case TRACE_PUT_SIGNAL:
        case TRACE_PUT_SIGNAL_NBI: p->atomics += u->count; /* fall through */
        case TRACE_PUT:
        case TRACE_PUT_NBI:
            p->puts += u->count;
            p->put_bytes += u->bytes;
            break;
        case TRACE_GET:
        case TRACE_GET_NBI:
            p->gets += u->count;
            p->get_bytes += u->bytes;
            break;
        case TRACE_FETCH:
        case TRACE_ATOMIC:
        case TRACE_SIGNAL: p->atomics += u->count; break;
        default: break;
    }
}

static void add_cells(struct trace_pe *p, uint32_t place, const struct trace_cells *c) {
    struct trace_cells_of *mine = NULL;
    for (size_t i = 0; i < p->n_cells && !mine; i++)
        if (p->cells[i].place == place && p->cells[i].cells.first == c->first) mine = &p->cells[i];
    if (!mine) {
        p->cells = trace_need(realloc(p->cells, (p->n_cells + 1) * sizeof *p->cells));
        mine = &p->cells[p->n_cells++];
        memset(mine, 0, sizeof *mine);
        mine->place = place;
        mine->cells.first = c->first;
    }
    for (int i = 0; i < TRACE_GROUP; i++) {
        mine->cells.cell[i].count += c->cell[i].count;
        mine->cells.cell[i].bytes += c->cell[i].bytes;
        mine->cells.cell[i].ticks += c->cell[i].ticks;
    }
}

static void find_places(struct trace_record *r, struct trace_pe *p, const struct latest *l) {
    p->n_sites = l->n_sites;
    p->place = trace_need(calloc(l->n_sites + 1, sizeof *p->place));
    for (uint32_t i = 0; i < l->n_sites; i++) {
        char file[4300];
        uint64_t offset;
        if (!l->sites[i]) continue;
        find_module(l->modules, l->sites[i]->pc, file, sizeof file, &offset);
        p->place[i] = place_of(r, file, offset, l->sites[i]);
    }
}

static int by_name(const void *a, const void *b) {
    const struct trace_place *x = *(struct trace_place *const *)a, *y = *(struct trace_place *const *)b;
    int order = strcmp(x->where, y->where);
    return order ? order : strcmp(x->name, y->name);
}

/* The compiler may have made several calls of one: for the user, equal lines and calls are one place. */
static void join_places(struct trace_record *r) {
    struct trace_place **list = trace_need(calloc(r->n_places + 1, sizeof *list)), *joined;
    uint32_t *new = trace_need(calloc(r->n_places + 1, sizeof *new)), n = 0;
    joined = trace_need(calloc(r->n_places + 1, sizeof *joined));
    for (uint32_t i = 0; i < r->n_places; i++) list[i] = &r->places[i];
    qsort(list, r->n_places, sizeof *list, by_name);
    for (uint32_t i = 0; i < r->n_places; i++) {
        if (i == 0 || by_name(&list[i - 1], &list[i])) joined[n++] = *list[i];
        new[list[i] - r->places] = n - 1;
    }
    for (int pe = 0; pe < r->n_pes; pe++)
        for (uint32_t i = 0; i < r->pes[pe].n_sites && r->n_places; i++) r->pes[pe].place[i] = new[r->pes[pe].place[i]];
    free(list);
    free(new);
    free(r->places);
    r->places = joined;
    r->n_places = n;
}

static void sum_part(struct trace_record *r, int pe, struct latest *l) {
    struct trace_pe *p = &r->pes[pe];
    double *pe_ns = trace_need(calloc(r->n_places + 1, sizeof *pe_ns));
    for (int t = 0; t < p->threads; t++)
        for (uint32_t i = 0; i < l->n_sites; i++) {
            const struct trace_use *use = l->use[(uint32_t)t * l->n_sites + i];
            if (l->sites[i] && use) add_use(r, p, pe, p->place[i], use, pe_ns);
        }
    for (size_t i = 0; i < l->n_cells; i++)
        if (l->cells[i]->site < l->n_sites && l->sites[l->cells[i]->site] && l->cells[i]->first < (uint32_t)r->n_pes)
            add_cells(p, p->place[l->cells[i]->site], l->cells[i]);
    free(pe_ns);
    free(l->sites);
    free(l->use);
    free(l->cells);
    free(l->cells_thread);
}

static void sum_times(struct trace_record *r) {
    double zero = 0;
    int any = 0;
    for (int pe = 0; pe < r->n_pes; pe++) {
        struct trace_pe *p = &r->pes[pe];
        uint64_t last = p->ended ? p->end.ticks : p->head.ticks;
        if (!p->present) continue;
        for (size_t i = 0; i < p->n_events && !p->ended; i++)
            for (size_t k = 0; k < p->events[i].n; k++)
                if (p->events[i].event[k].start + p->events[i].event[k].span > last)
                    last = p->events[i].event[k].start + p->events[i].event[k].span;
        p->begin = trace_ns_at(p, p->head.ticks);
        p->finish = trace_ns_at(p, last);
        if (!any++ || p->begin < zero) zero = p->begin;
    }
    for (int pe = 0; pe < r->n_pes; pe++) {
        struct trace_pe *p = &r->pes[pe];
        if (!p->present) continue;
        p->zero -= zero;
        p->begin -= zero;
        p->finish -= zero;
        if (p->finish - p->begin > r->elapsed) r->elapsed = p->finish - p->begin;
        if (p->clock_error > r->clock_error) r->clock_error = p->clock_error;
        if (p->head.node == pe) r->n_nodes++;
        if (p->ended) r->n_ended++;
        if (p->ended && p->end.finalized) r->n_finalized++;
        r->dropped += p->end.dropped;
    }
}

/* ---- the job ---- */

/* The job of PE 0's part, else of the part that was begun last: a folder may have parts of an earlier job. */
static uint64_t find_job(const char *file, int *n_pes) {
    char folder[4096], name[4400];
    struct trace_pe p;
    uint64_t job = 0;
    time_t newest = 0;
    struct dirent *entry;
    struct stat st;
    DIR *dir;
    trace_part_name(file, -1, folder, sizeof folder);
    dir = opendir(folder);
    while (dir && (entry = readdir(dir))) {
        if (strncmp(entry->d_name, "pe.", 3)) continue;
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        memset(&p, 0, sizeof p);
        if (stat(name, &st) || !map_part(&p, name)) continue;
        if (p.head.n_pes > 0 && (p.head.pe == 0 || !job || st.st_mtime > newest)) {
            job = p.head.job;
            *n_pes = p.head.n_pes;
            newest = p.head.pe == 0 ? INT32_MAX : st.st_mtime;
        }
        munmap((void *)(uintptr_t)p.map, p.map_len);
    }
    if (dir) closedir(dir);
    return job;
}

struct trace_record *trace_read(const char *file, char *why, size_t room) {
    struct trace_record *r = trace_need(calloc(1, sizeof *r));
    struct latest *latest;
    char name[4096];
    uint64_t job = find_job(file, &r->n_pes);
    if (!job) {
        trace_part_name(file, -1, name, sizeof name);
        snprintf(why, room, "no record of a PE in %s", name);
        free(r);
        return NULL;
    }
    r->pes = trace_need(calloc((size_t)r->n_pes, sizeof *r->pes));
    latest = trace_need(calloc((size_t)r->n_pes, sizeof *latest));
    r->clock_error = -1;
    for (int pe = 0; pe < r->n_pes; pe++) {
        struct trace_pe *p = &r->pes[pe];
        trace_part_name(file, pe, name, sizeof name);
        if (map_part(p, name) && p->head.job != job) {
            munmap((void *)(uintptr_t)p->map, p->map_len);
            memset(p, 0, sizeof *p);
        }
        if (!p->present) continue;
        r->n_present++;
        read_part(p, &latest[pe]);
        read_clocks(p);
        find_places(r, p, &latest[pe]);
    }
    trace_names(r);
    join_places(r);
    for (int pe = 0; pe < r->n_pes; pe++)
        if (r->pes[pe].present) sum_part(r, pe, &latest[pe]);
    free(latest);
    sum_times(r);
    return r;
}
