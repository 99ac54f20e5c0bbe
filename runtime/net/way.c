/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/way.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/progress.h"
#include "runtime/net/request.h"
#include "runtime/net/window.h"

#include <stdint.h>
#include <stdio.h>

void rmai_ways_open(struct rmai_ways *w) {
    w->way[RMAI_FIXED] = (struct rmai_route){.name = "fixed window"};
    w->way[RMAI_DYNAMIC] = (struct rmai_route){.name = "dynamic window"};
    for (int access = 0; access < RMAI_ACCESSES; access++)
        for (int when = 0; when <= RMAI_COPIED; when++) w->least_by_window[access][when] = SIZE_MAX; /* no window yet */
}

/* ---- making the windows ----
 *
 * Here `code` is a result on which all PEs have agreed; `mine` and *own are the result of this PE alone. After an error
 * of its own a PE still makes all collective calls. */

/* Tells all PEs whether all succeeded. */
static int all_succeeded(struct rmai_net *net, const char *call, int mine) {
    int bad = mine != RMA_SUCCESS;
    rmai_transport_merge(net->transport, call, &bad, 1);
    return !bad;
}

static void keep_first(int *own, int mine) {
    if (*own == RMA_SUCCESS) *own = mine;
}

static int end_window(struct rmai_net *net, enum rmai_window_kind kind, const char *call) {
    const int code = rmai_transport_end_window(net->transport, kind);
    if (code != RMA_SUCCESS) rmai_error_prefix("%s: ", call);
    return code;
}

/* Agrees on whether all PEs have made the window; mine: this PE's result. *well becomes 1 if all PEs can use it. A
 * window that only some PEs could make can neither be used nor be freed, since all PEs would have to take part: it
 * stays, and the call fails on all PEs. */
static int agree_on_window(struct rmai_net *net, enum rmai_window_kind kind, const char *call, int mine, int *well) {
    enum { BAD, HAS, HAS_NOT }; /* HAS_NOT: the first of them is the largest */
    const int none = !rmai_transport_has_window(net->transport, kind);
    int worst[] = {
        [BAD] = mine != RMA_SUCCESS, [HAS] = !none, [HAS_NOT] = none ? net->job->n_pes - net->job->my_pe : 0};
    rmai_transport_merge(net->transport, call, worst, 3);
    *well = !worst[BAD];
    if (!worst[HAS] || !worst[HAS_NOT]) return RMA_SUCCESS;
    rmai_transport_forget_window(net->transport, kind);
    if (none) {
        rmai_error_prefix("%s: ", call);
        /* The other PEs do not know the reason, and one of them may end the job first. */
        rmai_note("PE %d: %s", net->job->my_pe, rma_last_error());
        return RMA_ERR_MPI;
    }
    return rmai_error(RMA_ERR_MPI, "%s: PE %d could not make its part of MPI's window", call,
                      net->job->n_pes - worst[HAS_NOT]);
}

/* The last error is the reason only if this PE has failed: otherwise it is an older one. */
static const char *why_not(int mine) { return mine != RMA_SUCCESS ? rma_last_error() : "it failed on another PE"; }

/* Gives up the fixed window. mine: this PE's own error, if it has one. */
static int without_fixed(struct rmai_net *net, const char *call, int mine) {
    if (!net->said_windowless++ && net->job->my_pe == 0)
        rmai_note("MPI's window over the symmetric heap is not used between nodes: %s", why_not(mine));
    net->fixed = 0;
    return end_window(net, RMAI_FIXED, call);
}

/* Makes the fixed window, in place of the old one if there is one. The caller holds the net's lock. Other threads may
 * put meanwhile: 0 in `covered` closes the old window to new operations, so that the flushes of those that are in it
 * come to an end. From then on the lock is held until there is the new window. */
static int make_fixed(struct rmai_net *net, const char *call, char *base, size_t size, int *own) {
    int well, mine, code;
    net->covered = 0;
    keep_first(own, rmai_window_flush_fixed(net, call));
    mine = rmai_transport_make_window(net->transport, RMAI_FIXED, base - RMAI_PROBE_ROOM, size + RMAI_PROBE_ROOM);
    code = agree_on_window(net, RMAI_FIXED, call, mine, &well);
    if (code != RMA_SUCCESS) return code;
    if (well) well = all_succeeded(net, call, mine = rmai_probe_write_and_read_back(net, RMAI_FIXED));
    if (well)
        net->covered = size;
    else
        keep_first(own, without_fixed(net, call, mine));
    return RMA_SUCCESS;
}

int rmai_window_wanted(const struct rmai_net *net, size_t size) {
    const size_t covered = net->covered;
    return net->fixed && net->fixed_follows && (covered == 0 || size - covered > covered / 4);
}

int rmai_window_grow(struct rmai_net *net, const char *call, char *base, size_t size, int own) {
    int code;
    rmai_net_enter(net);
    code = make_fixed(net, call, base, size, &own);
    rmai_net_leave(net);
    return own == RMA_SUCCESS ? code : own;
}

static int wants_dynamic(const struct rmai_net *net) {
    const int window = net->job->settings.window;
    return net->transport->operations->attach && !net->windowless && window != RMAI_WINDOW_STATIC;
}

static void without_dynamic(struct rmai_net *net, const char *call, int mine, int *own) {
    net->dynamic.open = 0;
    if (net->job->my_pe == 0) rmai_note("MPI's dynamic window is not used between nodes: %s", why_not(mine));
    keep_first(own, end_window(net, RMAI_DYNAMIC, call));
}

/* Makes the dynamic window, and attaches the page that has this PE's directory. */
static int make_dynamic(struct rmai_net *net, const char *call, char *base, int *own) {
    int mine = rmai_transport_make_window(net->transport, RMAI_DYNAMIC, NULL, 0), code, well;
    if (mine == RMA_SUCCESS) mine = rmai_transport_attach(net->transport, base - RMAI_PROBE_ROOM, RMAI_PROBE_ROOM);
    code = agree_on_window(net, RMAI_DYNAMIC, call, mine, &well);
    if (code != RMA_SUCCESS) return code;
    /* The trial reads the address of the other PE's page through the fixed window. */
    if (well && net->fixed) well = all_succeeded(net, call, mine = rmai_probe_write_and_read_back(net, RMAI_DYNAMIC));
    net->dynamic.open = well;
    if (!well) without_dynamic(net, call, mine, own);
    return RMA_SUCCESS;
}

int rmai_windows_wanted(const struct rmai_net *net) { return net->fixed || wants_dynamic(net); }

int rmai_windows_open(struct rmai_net *net, const char *call, char *base, size_t size, int own) {
    int code = RMA_SUCCESS;
    rmai_net_enter(net);
    if (net->fixed)
        code = make_fixed(net, call, base, net->job->settings.window == RMAI_WINDOW_DYNAMIC ? 0 : size, &own);
    if (code == RMA_SUCCESS && wants_dynamic(net)) code = make_dynamic(net, call, base, &own);
    rmai_net_leave(net);
    if (code == RMA_SUCCESS) {
        code = rmai_probe_one_sided(net);
        if (code != RMA_SUCCESS) rmai_error_prefix("%s: ", call);
    }
    return own == RMA_SUCCESS ? code : own;
}

/* ---- what goes by which way ---- */

#define SHORT_MOST ((size_t)1024)
#define LONG_FROM  ((size_t)65536)

static void take_all(struct rmai_route *way, enum rmai_access access, const char *why) {
    way->all[access] = 1;
    way->why[access] = why;
    for (int when = 0; when <= RMAI_COPIED; when++) way->takes[access][when] = (struct rmai_lengths){0, SIZE_MAX};
}

/* If the fixed window needs the target, messages are faster for two kinds of transfers: short ones that nobody waits
 * for gather in messages (an eighth of the time), and long ones go straight into place (two thirds), compared with
 * MPI's put and get between two processes of a machine. */
static void choose_fixed(struct rmai_net *net, enum rmai_access access) {
    struct rmai_route *way = &net->ways.way[RMAI_FIXED];
    if (net->job->settings.window == RMAI_WINDOW_DYNAMIC) return;
    if (net->job->settings.window == RMAI_WINDOW_ALWAYS) {
        take_all(way, access, "RMA_WINDOW=always");
    } else if (!way->needs_target[access]) {
        take_all(way, access, "the network needs no target");
    } else {
        way->takes[access][RMAI_NOW] = (struct rmai_lengths){0, LONG_FROM};
        way->takes[access][RMAI_LATER] = (struct rmai_lengths){SHORT_MOST + 1, LONG_FROM};
        way->why[access] = "faster than messages where it waits for the target";
    }
}

/* A dynamic window that needs the target sends a message for each access, as we do: it is not faster. */
static void choose_dynamic(struct rmai_net *net, enum rmai_access access) {
    struct rmai_route *way = &net->ways.way[RMAI_DYNAMIC];
    const int window = net->job->settings.window;
    if (window == RMAI_WINDOW_ALWAYS || window == RMAI_WINDOW_DYNAMIC) {
        take_all(way, access, window == RMAI_WINDOW_ALWAYS ? "RMA_WINDOW=always" : "RMA_WINDOW=dynamic");
    } else if (!way->needs_target[access]) {
        take_all(way, access, "the network needs no target");
    }
}

/* If a processor stores the data, and not a network adapter, MPI copies by memcpy, which may store a word twice
 * (rma_move_). That is so if MPI needs the target, and between nodes of one machine, through shared memory. In these
 * cases messages take the short puts and gets, whose words must be stored once; blocking gets may use the window, since
 * they go through a buffer (get_through). */
static void leave_words_to_messages(struct rmai_net *net) {
    struct rmai_ways *w = &net->ways;
    const int one_machine = w->trial[RMAI_PAIR_HOST].made || w->trial[RMAI_PAIR_MACHINE].made;
    if (net->job->settings.window == RMAI_WINDOW_ALWAYS || net->job->settings.window == RMAI_WINDOW_DYNAMIC) return;
    for (int window = 0; window < RMAI_WINDOWS; window++)
        for (int access = 0; access < RMAI_ACCESSES; access++)
            for (int when = 0; when <= RMAI_COPIED; when++) {
                struct rmai_lengths *l = &w->way[window].takes[access][when];
                if (access == RMAI_ACCESS_GET && when == RMAI_NOW) continue;
                if (one_machine || w->way[window].needs_target[access]) l->from = rmai_max(l->from, RMA_SHORT_MAX_ + 1);
            }
}

/* 1 if puts, or gets, of some length go by the way. */
static int is_used_for(const struct rmai_route *way, int access) {
    for (int when = 0; when <= RMAI_COPIED; when++)
        if (way->takes[access][when].from < way->takes[access][when].to) return 1;
    return 0;
}
static int is_used(const struct rmai_route *way) {
    return is_used_for(way, RMAI_ACCESS_PUT) || is_used_for(way, RMAI_ACCESS_GET);
}

static void find_least(struct rmai_ways *w) {
    for (int access = 0; access < RMAI_ACCESSES; access++)
        for (int when = 0; when <= RMAI_COPIED; when++) {
            size_t *least = &w->least_by_window[access][when];
            *least = SIZE_MAX;
            for (int window = 0; window < RMAI_WINDOWS; window++) {
                const struct rmai_lengths *l = &w->way[window].takes[access][when];
                if (l->from < l->to) *least = rmai_min(*least, l->from);
            }
        }
}

int rmai_ways_choose(struct rmai_net *net) {
    struct rmai_dynamic *d = &net->dynamic;
    const struct rmai_ways *w = &net->ways;
    const int window = net->job->settings.window;
    int code = RMA_SUCCESS;
    for (int access = 0; access < RMAI_ACCESSES; access++) {
        if (net->fixed) choose_fixed(net, (enum rmai_access)access);
        if (d->open) choose_dynamic(net, (enum rmai_access)access);
    }
    leave_words_to_messages(net);
    find_least(&net->ways);
    /* Then a word that is put (rma_p) may arrive without a thread of this PE. */
    if (net->ways.least_by_window[RMAI_ACCESS_PUT][RMAI_COPIED] <= sizeof(uint64_t)) net->alone = 0;
    if (d->open && !is_used(&w->way[RMAI_DYNAMIC])) {
        d->open = 0;
        code = end_window(net, RMAI_DYNAMIC, "rma_init");
    }
    /* Replacing the fixed window as the heap grows takes a meeting of all PEs. It is done only if the dynamic one needs
     * the target. */
    net->fixed_follows =
        window != RMAI_WINDOW_DYNAMIC && !(d->open && !w->way[RMAI_DYNAMIC].needs_target[RMAI_ACCESS_PUT] &&
                                           !w->way[RMAI_DYNAMIC].needs_target[RMAI_ACCESS_GET]);
    /* Directories are not read through a fixed window that may be replaced: another thread may need one meanwhile. */
    d->by_get = net->fixed && !net->fixed_follows && !w->way[RMAI_FIXED].needs_target[RMAI_ACCESS_GET];
    for (int part = 0; part < RMAI_PARTS; part++) d->parts[part] = d->open;
    d->parts[RMAI_PART_SYMMETRIC] = d->open && (!net->fixed || !net->fixed_follows);
    return code;
}

/* ---- reports ---- */

static const char *const access_names[RMAI_ACCESSES] = {"put", "get"};

static void print_lengths(const struct rmai_lengths *l, char text[64]) {
    if (l->to == 0)
        snprintf(text, 64, "none");
    else if (l->to == SIZE_MAX)
        snprintf(text, 64, l->from ? "from %zu bytes" : "all", l->from);
    else
        snprintf(text, 64, "%zu to %zu bytes", l->from, l->to - 1);
}

/* Prints the result of the trial on one pair, of the windows that are there. */
static void print_trial(const struct rmai_net *net, enum rmai_pair_kind kind, const int there[RMAI_WINDOWS],
                        void (*line)(void *out, const char *text), void *out) {
    const struct rmai_pair *p = &net->job->pairs[kind];
    char text[200];
    snprintf(text, sizeof text, "%s, tried by PE %d on PE %d:", rmai_pair_kind_name(kind), p->from, p->to);
    line(out, text);
    for (int window = 0; window < RMAI_WINDOWS; window++)
        for (int access = 0; there[window] && access < RMAI_ACCESSES; access++) {
            snprintf(text, sizeof text, "  %s: %s %s", net->ways.way[window].name, access_names[access],
                     net->ways.trial[kind].needs_target[window][access] ? "waits for the target"
                                                                        : "does not need the target");
            line(out, text);
        }
}

/* Prints the row of a way. */
static void print_way(const struct rmai_route *way, int there, void (*line)(void *out, const char *text), void *out) {
    char text[256], now[64], later[64];
    snprintf(text, sizeof text, "%s: %s", way->name, there ? "used" : "not used");
    line(out, text);
    for (int access = 0; there && access < RMAI_ACCESSES; access++) {
        print_lengths(&way->takes[access][RMAI_NOW], now);
        print_lengths(&way->takes[access][RMAI_LATER], later);
        snprintf(text, sizeof text, "  %s: %s; through it: blocking %s, nonblocking %s%s%s", access_names[access],
                 way->needs_target[access] ? "waits for the target" : "does not need the target", now, later,
                 is_used_for(way, access) ? ": " : "", is_used_for(way, access) ? way->why[access] : "");
        line(out, text);
    }
}

void rmai_ways_print(const struct rmai_net *net, void (*line)(void *out, const char *text), void *out) {
    struct rmai_ways none = {0};
    const struct rmai_ways *w = net ? &net->ways : &none;
    const int there[RMAI_WINDOWS] = {net && net->fixed, net && net->dynamic.open};
    int kinds = 0;
    rmai_ways_open(&none);
    for (int window = 0; window < RMAI_WINDOWS; window++) print_way(&w->way[window], there[window], line, out);
    line(out, net ? "messages: everything else" : "messages: not used");
    for (int kind = 0; kind < RMAI_PAIR_KINDS; kind++) kinds += w->trial[kind].made;
    for (int kind = 0; kind < RMAI_PAIR_KINDS && kinds > 1; kind++) /* of one kind: it has been printed for all */
        if (w->trial[kind].made) print_trial(net, (enum rmai_pair_kind)kind, there, line, out);
}

const char *rmai_net_way(const struct rmai_net *net) {
    if (!net->fixed && !net->dynamic.open) return "messages";
    for (int i = 0; i < (int)RMAI_WINDOWS * (int)RMAI_ACCESSES; i++)
        if (net->ways.way[i / RMAI_ACCESSES].all[i % RMAI_ACCESSES]) return "through MPI's windows";
    return "messages, and MPI's windows for puts and gets of middle size";
}
