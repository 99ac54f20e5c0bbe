/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms are the usual ones (Thakur, Rabenseifner, Gropp 2005): trees and doubling for short data, since they
 * need few rounds; for long data, algorithms in which each byte crosses the network once or twice. */
#include "config.h"

#include "collectives/between.h"
#include "base/attributes.h"
#include "base/kernels.h"
#include "runtime/net/group.h"
#include "runtime/transport/transport.h"

#include <string.h>

#define TREE_MOST     ((size_t)32 << 10) /* bytes: longer broadcasts scatter and gather, if there are many PEs, */
#define TREE_PES      4                  /* that is, more than so many */
#define DOUBLING_MOST ((size_t)8 << 10)  /* bytes: longer reductions go by halves */
#define LEVELS        31                 /* most rounds of doubling */

/* ---- blocks ---- */

/* Blocks of data, one for each PE of the group, one after the other: block i ends where block i + 1 begins. */
struct blocks {
    char *data;
    const size_t *at; /* block i is [at[i], at[i + 1]); or NULL: */
    size_t len, all;  /* block i is [i * len, (i + 1) * len), as far as there are bytes */
};

static size_t block_begin(const struct blocks *b, int i) {
    return b->at ? b->at[i] : rmai_min((size_t)i * b->len, b->all);
}

/* Sends blocks [out, out + out_n) to number `to`, and receives blocks [in, in + in_n) from number `from` (-1: no PE).
 * Block numbers wrap to 0 after the last block, so each range is one or two pieces of memory. Empty pieces are not
 * sent. */
static int exchange_blocks(struct rmai_group *g, const char *call, const struct blocks *b, int to, int out, int out_n,
                           int from, int in, int in_n) {
    const int out_last = out + out_n < g->n ? out + out_n : g->n, in_last = in + in_n < g->n ? in + in_n : g->n;
    const int out_part[2][2] = {{out, out_last}, {0, out + out_n - out_last}},
              in_part[2][2] = {{in, in_last}, {0, in + in_n - in_last}};
    int code = RMA_SUCCESS;
    for (int k = 0; k < 2 && code == RMA_SUCCESS; k++) {
        const size_t out_at = block_begin(b, out_part[k][0]), out_len = block_begin(b, out_part[k][1]) - out_at,
                     in_at = block_begin(b, in_part[k][0]), in_len = block_begin(b, in_part[k][1]) - in_at;
        if (out_len + in_len == 0) continue;
        code = rmai_group_exchange(g, call, out_len ? to : -1, b->data + out_at, out_len, in_len ? from : -1,
                                   b->data + in_at, in_len);
    }
    return code;
}

/* ---- allgather ---- */

/* By doubling (Bruck et al. 1997), without its copies: a PE that has `have` blocks, its own and the following ones,
 * gets as many more from the PE whose blocks come next. */
static int allgather_blocks(struct rmai_group *g, const char *call, const struct blocks *b) {
    int code = RMA_SUCCESS;
    for (int have = 1; code == RMA_SUCCESS && have < g->n; have *= 2) {
        const int n = have < g->n - have ? have : g->n - have, next = (g->me + have) % g->n;
        code = exchange_blocks(g, call, b, (g->me + g->n - have) % g->n, g->me, n, next, next, n);
    }
    return code;
}

int rmai_between_allgather(struct rmai_group *g, const char *call, char *data, const size_t *at) {
    return allgather_blocks(g, call, &(struct blocks){.data = data, .at = at});
}

int rmai_between_allgather_alike(struct rmai_group *g, const char *call, void *data, size_t len) {
    return allgather_blocks(g, call, &(struct blocks){.data = data, .len = len, .all = (size_t)g->n * len});
}

/* ---- broadcast ----
 *
 * PEs are numbered from the root on: the root is 0. In a binomial tree number v gets its data from v without its lowest
 * bit, and sends them to v + each smaller power of two. */

/* v sends the data to v + each power of two below the result, which is the lowest bit of v; for the root, the first
 * power of two that is not a PE's number. */
static int tree_reach(int v, int n) {
    int reach = 1;
    while (reach < n && !(v & reach)) reach *= 2;
    return reach;
}

/* The number in the group of the PE that is number v from the root on. */
static int from_root(const struct rmai_group *g, int v, int root) {
    return v + root < g->n ? v + root : v + root - g->n;
}

/* This PE's number from the root on. */
static int own_number(const struct rmai_group *g, int root) {
    return g->me < root ? g->me - root + g->n : g->me - root;
}

static int broadcast_by_tree(struct rmai_group *g, const char *call, char *dest, const char *source, size_t len,
                             int root, struct rmai_group_messages *under_way) {
    const int v = own_number(g, root), reach = tree_reach(v, g->n);
    int code = rmai_group_one_way(g, call);
    if (code == RMA_SUCCESS && v > 0)
        code = rmai_group_exchange(g, call, -1, NULL, 0, from_root(g, v - reach, root), dest, len);
    for (int step = reach / 2; code == RMA_SUCCESS && step > 0; step /= 2) {
        if (v + step >= g->n) continue;
        if (under_way->n == RMAI_GROUP_MESSAGES) {
            code = rmai_group_finish(g, call, under_way);
            if (code != RMA_SUCCESS) break;
            rmai_group_begin(under_way);
        }
        code = rmai_group_send(g, call, under_way, from_root(g, v + step, root), v > 0 ? dest : source, len);
    }
    return code;
}

/* Each PE gets one block, by the tree: v receives the blocks of the PEs below it in the tree. Then the PEs gather the
 * blocks. */
static int broadcast_by_blocks(struct rmai_group *g, const char *call, char *dest, const char *source, size_t len,
                               int root) {
    const int v = own_number(g, root), reach = tree_reach(v, g->n);
    const struct blocks b = {.data = dest, .len = (len + (size_t)g->n - 1) / (size_t)g->n, .all = len};
    int code = RMA_SUCCESS;
    if (v == 0 && dest != source) memcpy(dest, source, len);
    if (v > 0) {
        const int n = reach < g->n - v ? reach : g->n - v;
        code = exchange_blocks(g, call, &b, -1, 0, 0, from_root(g, v - reach, root), g->me, n);
    }
    for (int step = reach / 2; code == RMA_SUCCESS && step > 0; step /= 2) {
        const int to = from_root(g, v + step, root), n = step < g->n - v - step ? step : g->n - v - step;
        if (v + step < g->n) code = exchange_blocks(g, call, &b, to, to, n, -1, 0, 0);
    }
    return code == RMA_SUCCESS ? allgather_blocks(g, call, &b) : code;
}

int rmai_between_broadcast(struct rmai_group *g, const char *call, void *dest, const void *source, size_t len, int root,
                           struct rmai_group_messages *under_way) {
    int code = RMA_SUCCESS;
    if (len > TREE_MOST && g->n > TREE_PES) return broadcast_by_blocks(g, call, dest, source, len, root);
    for (size_t done = 0; code == RMA_SUCCESS && done < len; done += RMAI_PIECE)
        code = broadcast_by_tree(g, call, (char *)dest + done, g->me == root ? (const char *)source + done : NULL,
                                 rmai_min(len - done, RMAI_PIECE), root, under_way);
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) {
        rmai_group_drop(g, under_way);
        rmai_group_begin(under_way);
    }
    return code;
}

/* ---- gather and scatter ----
 *
 * By the tree, if all blocks fit into the room: it holds the PE's own block, and after it the blocks of the PEs below
 * it in the tree. Longer blocks go straight from or to the root. */

static int fits_room(const struct rmai_group *g, size_t len) { return len <= RMAI_BETWEEN_ROOM / (size_t)g->n; }

/* The bytes of all blocks of the subtree that begins at number v, counted from the root, and has up to `reach` PEs. */
static size_t subtree(const struct rmai_group *g, int v, int reach, size_t len) {
    return (size_t)(reach < g->n - v ? reach : g->n - v) * len;
}

static int gather_by_tree(struct rmai_group *g, const char *call, const char *source, size_t len, int root,
                          char *room) {
    const int v = own_number(g, root), reach = tree_reach(v, g->n);
    int code = RMA_SUCCESS;
    memcpy(room, source, len);
    for (int step = 1; code == RMA_SUCCESS && step < reach && v + step < g->n; step *= 2)
        code = rmai_group_exchange(g, call, -1, NULL, 0, from_root(g, v + step, root), room + (size_t)step * len,
                                   subtree(g, v + step, step, len));
    if (code == RMA_SUCCESS && v > 0)
        code =
            rmai_group_exchange(g, call, from_root(g, v - reach, root), room, subtree(g, v, reach, len), -1, NULL, 0);
    return code;
}

int rmai_between_gather(struct rmai_group *g, const char *call, char *dest, const char *source, size_t len, int root,
                        char *room) {
    const size_t before = (size_t)root * len, after = (size_t)(g->n - root) * len;
    int code = rmai_group_one_way(g, call);
    if (code == RMA_SUCCESS && fits_room(g, len)) {
        code = gather_by_tree(g, call, source, len, root, room);
        if (code != RMA_SUCCESS || g->me != root) return code;
        memcpy(dest + before, room, after);
        memcpy(dest, room + after, before);
        return RMA_SUCCESS;
    }
    if (code == RMA_SUCCESS && g->me != root) return rmai_group_exchange(g, call, root, source, len, -1, NULL, 0);
    if (code == RMA_SUCCESS && dest + before != source) memmove(dest + before, source, len);
    for (int i = 0; code == RMA_SUCCESS && i < g->n; i++)
        if (i != root) code = rmai_group_exchange(g, call, -1, NULL, 0, i, dest + (size_t)i * len, len);
    return code;
}

static int scatter_by_tree(struct rmai_group *g, const char *call, size_t len, int root, char *room) {
    const int v = own_number(g, root), reach = tree_reach(v, g->n);
    int code = RMA_SUCCESS;
    if (v > 0)
        code =
            rmai_group_exchange(g, call, -1, NULL, 0, from_root(g, v - reach, root), room, subtree(g, v, reach, len));
    for (int step = reach / 2; code == RMA_SUCCESS && step > 0; step /= 2)
        if (v + step < g->n)
            code = rmai_group_exchange(g, call, from_root(g, v + step, root), room + (size_t)step * len,
                                       subtree(g, v + step, step, len), -1, NULL, 0);
    return code;
}

int rmai_between_scatter(struct rmai_group *g, const char *call, char *dest, const char *source, size_t len, int root,
                         char *room) {
    const size_t before = (size_t)root * len, after = (size_t)(g->n - root) * len;
    int code = rmai_group_one_way(g, call);
    if (code == RMA_SUCCESS && fits_room(g, len)) {
        if (g->me == root) {
            memcpy(room, source + before, after);
            memcpy(room + after, source, before);
        }
        code = scatter_by_tree(g, call, len, root, room);
        if (code == RMA_SUCCESS) memcpy(dest, room, len);
        return code;
    }
    if (code == RMA_SUCCESS && g->me != root) return rmai_group_exchange(g, call, -1, NULL, 0, root, dest, len);
    for (int i = 0; code == RMA_SUCCESS && i < g->n; i++)
        if (i != root) code = rmai_group_exchange(g, call, i, source + (size_t)i * len, len, -1, NULL, 0);
    if (code == RMA_SUCCESS && dest != source + before) memmove(dest, source + before, len);
    return code;
}

/* ---- reduce ----
 *
 * Doubling and halving need a power of two of PEs. If there are k PEs too many, the first 2 k PEs form k pairs. One PE
 * of each pair sends its elements to the other PE, which works for both, and gets the result in the end. */

struct reduction {
    struct rmai_group *g;
    const char *call;
    const struct rmai_kernel *kernel;
    size_t size; /* bytes of an element */
    int pairs;   /* pairs of PEs in which one works for both */
    int v, n;    /* this PE's number among the working PEs, and their number, a power of two */
};

/* The group's number of working PE v. */
static int worker(const struct reduction *r, int v) { return v < r->pairs ? 2 * v : v + r->pairs; }

/* Each PE exchanges all that it has with a partner that is twice as far away in each round. */
static int reduce_by_doubling(const struct reduction *r, char *data, size_t n, char *room) {
    char *mine = data, *theirs = room, *swap;
    for (int step = 1; step < r->n; step *= 2) {
        const int partner = worker(r, r->v ^ step);
        int code = rmai_group_exchange(r->g, r->call, partner, mine, n * r->size, partner, theirs, n * r->size);
        if (code != RMA_SUCCESS) return code;
        if (r->v & step) {
            swap = mine;
            mine = theirs;
            theirs = swap;
        }
        r->kernel->accumulate(mine, theirs, n); /* the partner with the smaller number stands first, on both */
    }
    if (mine != data) memcpy(data, mine, n * r->size);
    return RMA_SUCCESS;
}

/* In each round a PE keeps one half of its elements and sends the other half away, until it has the sum of its part.
 * Then the same rounds in reverse collect the parts. If there are fewer elements than PEs, some parts are empty. */
static int reduce_by_halves(const struct reduction *r, char *data, size_t n, char *room) {
    size_t from[LEVELS + 1] = {0}, to[LEVELS + 1] = {n};
    int level = 0, code = RMA_SUCCESS;
    for (int step = 1; code == RMA_SUCCESS && step < r->n; step *= 2, level++) {
        const int partner = worker(r, r->v ^ step), upper = (r->v & step) != 0;
        const size_t middle = (from[level] + to[level]) / 2;
        const size_t out = upper ? from[level] : middle, out_n = upper ? middle - out : to[level] - out;
        from[level + 1] = upper ? middle : from[level];
        to[level + 1] = upper ? to[level] : middle;
        code = rmai_group_exchange(r->g, r->call, partner, data + out * r->size, out_n * r->size, partner, room,
                                   (to[level + 1] - from[level + 1]) * r->size);
        if (code == RMA_SUCCESS)
            r->kernel->accumulate(data + from[level + 1] * r->size, room, to[level + 1] - from[level + 1]);
    }
    for (int step = r->n / 2; code == RMA_SUCCESS && step > 0; step /= 2, level--) {
        const int partner = worker(r, r->v ^ step), upper = (r->v & step) != 0;
        const size_t in = upper ? from[level - 1] : to[level], in_n = upper ? from[level] - in : to[level - 1] - in;
        code = rmai_group_exchange(r->g, r->call, partner, data + from[level] * r->size,
                                   (to[level] - from[level]) * r->size, partner, data + in * r->size, in_n * r->size);
    }
    return code;
}

static int reduce_piece(const struct reduction *r, char *data, size_t n, char *room) {
    struct rmai_group *g = r->g;
    const size_t len = n * r->size;
    const int paired = g->me < 2 * r->pairs;
    int code = RMA_SUCCESS;
    if (paired && g->me % 2) {
        code = rmai_group_exchange(g, r->call, g->me - 1, data, len, -1, NULL, 0);
        return code == RMA_SUCCESS ? rmai_group_exchange(g, r->call, -1, NULL, 0, g->me - 1, data, len) : code;
    }
    if (paired) {
        code = rmai_group_exchange(g, r->call, -1, NULL, 0, g->me + 1, room, len);
        if (code == RMA_SUCCESS) r->kernel->accumulate(data, room, n);
    }
    if (code == RMA_SUCCESS)
        code = len > DOUBLING_MOST ? reduce_by_halves(r, data, n, room) : reduce_by_doubling(r, data, n, room);
    return code == RMA_SUCCESS && paired ? rmai_group_exchange(g, r->call, g->me + 1, data, len, -1, NULL, 0) : code;
}

int rmai_between_reduce(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, char *data, size_t n,
                        size_t size, char *room) {
    struct reduction r = {.g = g, .call = call, .kernel = kernel, .size = size, .n = 1};
    const size_t most = RMAI_BETWEEN_ROOM / size;
    int code = RMA_SUCCESS;
    while (r.n <= g->n / 2) r.n *= 2;
    r.pairs = g->n - r.n;
    r.v = g->me < 2 * r.pairs ? g->me / 2 : g->me - r.pairs;
    for (size_t done = 0; code == RMA_SUCCESS && done < n; done += most)
        code = reduce_piece(&r, data + done * size, rmai_min(n - done, most), room);
    return code;
}

/* Short data go up the tree. With long data each PE would send and reduce all elements, so halving is better there. */
int rmai_between_reduce_root(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, char *data,
                             size_t n, size_t size, int root, char *room) {
    const int v = own_number(g, root), reach = tree_reach(v, g->n);
    const size_t len = n * size;
    int code;
    if (len > DOUBLING_MOST) return rmai_between_reduce(g, call, kernel, data, n, size, room);
    code = rmai_group_one_way(g, call);
    for (int step = 1; code == RMA_SUCCESS && step < reach && v + step < g->n; step *= 2) {
        code = rmai_group_exchange(g, call, -1, NULL, 0, from_root(g, v + step, root), room, len);
        if (code == RMA_SUCCESS) kernel->accumulate(data, room, n);
    }
    if (code == RMA_SUCCESS && v > 0)
        code = rmai_group_exchange(g, call, from_root(g, v - reach, root), data, len, -1, NULL, 0);
    return code;
}

/* ---- scan ----
 *
 * By doubling (Hillis, Steele 1986): before the round with this step a PE has the sum of the last `step` PEs up to
 * itself. In an exclusive scan each PE first gets its neighbour's elements in place of its own. */
static int scan_piece(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, enum rmai_scan kind,
                      char *data, size_t n, size_t size, char *room) {
    const size_t len = n * size;
    const int first = kind == RMAI_EXCLUSIVE; /* the first PE that has a sum */
    char *sum = data, *before = room, *swap;
    int code = rmai_group_one_way(g, call);
    if (code == RMA_SUCCESS && kind == RMAI_EXCLUSIVE) {
        code = rmai_group_exchange(g, call, g->me + 1 < g->n ? g->me + 1 : -1, data, len, g->me - 1, room, len);
        if (g->me > 0) {
            sum = room;
            before = data;
        }
    }
    if (g->me < first) return code;
    for (int step = 1; code == RMA_SUCCESS && step < g->n - first; step *= 2) {
        const int from = g->me - step >= first ? g->me - step : -1;
        code = rmai_group_exchange(g, call, g->me + step < g->n ? g->me + step : -1, sum, len, from, before, len);
        if (code != RMA_SUCCESS || from < 0) continue;
        kernel->accumulate(before, sum, n);
        swap = sum;
        sum = before;
        before = swap;
    }
    if (code == RMA_SUCCESS && sum != data) memcpy(data, sum, len);
    return code;
}

int rmai_between_scan(struct rmai_group *g, const char *call, const struct rmai_kernel *kernel, enum rmai_scan kind,
                      char *data, size_t n, size_t size, char *room) {
    const size_t most = RMAI_BETWEEN_ROOM / size;
    int code = RMA_SUCCESS;
    for (size_t done = 0; code == RMA_SUCCESS && done < n; done += most)
        code = scan_piece(g, call, kernel, kind, data + done * size, rmai_min(n - done, most), size, room);
    return code;
}
