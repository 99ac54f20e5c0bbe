/* SPDX-License-Identifier: BSD-3-Clause */
/* The seats are sorted by machine, then host, then PE. If there is a pair of some kind at all, some two neighbours in
 * that order are one. */
#include "config.h"

#include "runtime/job/pairs.h"

#include <stdlib.h>

static int compare_seats(const void *x, const void *y) {
    const struct rmai_seat *a = x, *b = y;
    if (a->machine != b->machine) return a->machine < b->machine ? -1 : 1;
    if (a->host != b->host) return a->host < b->host ? -1 : 1;
    return (a->pe > b->pe) - (a->pe < b->pe);
}

static enum rmai_pair_kind kind_of(const struct rmai_seat *a, const struct rmai_seat *b) {
    if (a->machine != b->machine) return RMAI_PAIR_APART;
    return a->host != b->host ? RMAI_PAIR_MACHINE : RMAI_PAIR_HOST;
}

/* The PE with the smaller number tries the other: PE 0 if it is one of them. */
static void offer_pair(struct rmai_pair *p, int a, int b) {
    const struct rmai_pair x = a < b ? (struct rmai_pair){a, b} : (struct rmai_pair){b, a};
    if (!rmai_pair_exists(p) || x.from < p->from || (x.from == p->from && x.to < p->to)) *p = x;
}

/* The first seat of a host represents the host, and the first of a machine the machine. */
void rmai_pairs_find(struct rmai_seat *seats, int n, struct rmai_pair pairs[RMAI_PAIR_KINDS]) {
    const struct rmai_seat *host = seats,
                           *machine = seats; /* the first seats of the previous seat's host and machine */
    for (int kind = 0; kind < RMAI_PAIR_KINDS; kind++) pairs[kind] = (struct rmai_pair){0, 0};
    qsort(seats, (size_t)n, sizeof *seats, compare_seats);
    for (int i = 1; i < n; i++) {
        const enum rmai_pair_kind kind = kind_of(&seats[i - 1], &seats[i]);
        const struct rmai_seat *before = kind == RMAI_PAIR_APART ? machine : host;
        offer_pair(&pairs[kind], before->pe, seats[i].pe);
        if (kind != RMAI_PAIR_HOST) host = &seats[i];
        if (kind == RMAI_PAIR_APART) machine = &seats[i];
    }
}

const char *rmai_pair_kind_name(enum rmai_pair_kind kind) {
    static const char *const names[RMAI_PAIR_KINDS] = {"nodes of one host", "containers of one machine",
                                                       "nodes of different machines"};
    return names[kind];
}
