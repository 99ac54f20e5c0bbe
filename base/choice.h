/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm a collective uses, by the number of bytes and the shape of the team on its node. It is one table,
 * whose numbers were measured (docs/performance.md); a setting can replace each of them. */
#ifndef RMAI_CHOICE_H
#define RMAI_CHOICE_H

#include <stddef.h>

/* A team's PEs on this node. */
enum rmai_shape {
    RMAI_PAIR,    /* two, each with a processor */
    RMAI_ROOMY,   /* more, each with a processor */
    RMAI_CROWDED, /* sharing processors */
    RMAI_SHAPES
};

/* The algorithms that apply from some size on. Each family's first algorithm, which applies below, has no entry. */
enum rmai_way {
    RMAI_BROADCAST_DIRECT,
    RMAI_FCOLLECT_DIRECT,
    RMAI_COLLECT_DIRECT,
    RMAI_ALLTOALL_DIRECT,
    RMAI_REDUCE_SHARE,
    RMAI_SCAN_SHARE,
    RMAI_MEET_TREE,
    RMAI_MEET_COUNTER,
    RMAI_WAYS
};

#define RMAI_NEVER ((size_t)-1)

/* Number of entries in struct rmai_choice's table. */
#define RMAI_CHOICES ((int)RMAI_WAYS * (int)RMAI_SHAPES)

/* from[way][shape]: the smallest number of bytes of one PE for which the algorithm is used; for meetings of PEs, the
 * smallest number of PEs. */
struct rmai_choice {
    size_t from[RMAI_WAYS][RMAI_SHAPES];
};

/* rmai_choice_set fills c from the table, and replaces the entries that text names, for all shapes:
 * "reduce:share=8k,meet:tree=never"; "auto" replaces none. Returns 0, or -1 with *bad and *len: the part of text that
 * could not be read, and its length. */
int rmai_choice_set(struct rmai_choice *c, const char *text, const char **bad, size_t *len);

/* rmai_choice_print writes a line for each algorithm by put(out, line). */
void rmai_choice_print(const struct rmai_choice *c, void (*put)(void *out, const char *line), void *out);

static inline int rmai_takes(const struct rmai_choice *c, enum rmai_way way, enum rmai_shape shape, size_t n) {
    return n >= c->from[way][shape];
}

#endif
