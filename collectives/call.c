/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "collectives/call.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/settings.h"
#include "collectives/kernels.h"
#include "collectives/nodes.h"
#include "heap/statics.h"
#include "runtime/job/job.h"
#include "runtime/team.h"

#include <string.h>

int rmai_call_begin(struct rmai_call *c, const char *name, const rma_team *team) {
    c->w = &rmai_world;
    c->name = name;
    c->t = rmai_team(c->w, name, team);
    if (!c->t) return rma_last_code();
    c->near = &c->t->near;
    c->near->call = name;
    c->far = c->near->n < c->t->n;
    return RMA_SUCCESS;
}

int rmai_call_reaches(const struct rmai_call *c) {
    return c->far && !c->t->nodes.room ? rmai_nodes_ready(c->w, c->name, c->t) : RMA_SUCCESS;
}

/* ---- buffers ---- */

/* Sets *offset to where [addr, addr + len) is in this PE's space, as near PEs find it, or to 0 if it is in no memory
 * that they can reach. Returns RMA_SUCCESS, or RMA_ERR_ADDRESS after recording that the range begins in a heap and
 * passes the end of what that heap has in use. */
static int find_offset(struct rmai_world *w, const char *call, const char *argument, const void *addr, size_t len,
                       uint64_t *offset) {
    const char *space = rmai_job_space(&w->job, w->job.node_my_pe);
    /* Of the symmetric heap, which another thread may extend in this moment. */
    const size_t size = __atomic_load_n(&rma_reach_.size, __ATOMIC_RELAXED);
    size_t at = (size_t)((const char *)addr - w->symmetric.base), all;
    *offset = w->job.layout.symmetric + at;
    if (RMAI_LIKELY(at <= size && len <= size - at)) return RMA_SUCCESS;
    *offset = 0;
    if (w->job.statics_mode == RMAI_STATICS_REMAP && w->statics->moved) {
        at = (size_t)((const char *)addr - w->statics->base);
        if (at < w->statics->size && len <= w->statics->size - at) {
            *offset = w->job.layout.statics + at;
            return RMA_SUCCESS;
        }
    }
    at = (size_t)((const char *)addr - space);
    if (at >= w->job.layout.stride) return RMA_SUCCESS;
    if (at >= w->job.layout.symmetric && at < w->job.layout.symmetric + w->job.layout.symmetric_max) {
        all = w->job.layout.symmetric + size;
    } else if (at >= w->job.layout.local) {
        all = atomic_load_explicit(
            &rmai_facts(&w->job, w->job.node_my_pe)->extent[at >= w->job.layout.guest ? RMAI_GUEST : RMAI_OWN],
            memory_order_acquire);
    } else {
        all = 0;
    }
    if (at > all || len > all - at)
        return rmai_error(RMA_ERR_ADDRESS,
                          "%s: %s %p with %zu byte%s passes the end of the heap's %zu bytes in use at %p", call,
                          argument, addr, len, rmai_s(len), all, (const void *)(space + all));
    *offset = at;
    return RMA_SUCCESS;
}

static int check_buffer(const struct rmai_call *c, struct rmai_buffer *b) {
    b->offset = 0;
    if (b->len == 0) return RMA_SUCCESS;
    if (!b->addr) return rmai_error(RMA_ERR_ARG, "%s: %s is a null pointer", c->name, b->argument);
    if ((uintptr_t)b->addr & (b->align - 1))
        return rmai_error(RMA_ERR_ADDRESS, "%s: %s %p is not aligned to the %zu bytes of its type", c->name,
                          b->argument, b->addr, b->align);
    if ((uintptr_t)b->addr + b->len < (uintptr_t)b->addr)
        return rmai_error(RMA_ERR_ADDRESS, "%s: %s %p with %zu byte%s passes the end of memory", c->name, b->argument,
                          b->addr, b->len, rmai_s(b->len));
    return find_offset(c->w, c->name, b->argument, b->addr, b->len, &b->offset);
}

int rmai_call_buffers(const struct rmai_call *c, struct rmai_buffer *dest, struct rmai_buffer *source) {
    uintptr_t d = (uintptr_t)dest->addr, s = (uintptr_t)source->addr;
    int code = check_buffer(c, dest);
    if (code == RMA_SUCCESS) code = check_buffer(c, source);
    if (code != RMA_SUCCESS) return code;
    if (d != s && d < s + source->len && s < d + dest->len)
        return rmai_error(
            RMA_ERR_ARG, "%s: dest %p with %zu byte%s and source %p with %zu byte%s overlap, and are not the same",
            c->name, dest->addr, dest->len, rmai_s(dest->len), source->addr, source->len, rmai_s(source->len));
    return RMA_SUCCESS;
}

/* ---- agreement ---- */

/* The statement of one PE; its members stand in the order in which they are compared. */
struct statement {
    uint32_t what; /* call, operation, type */
    int32_t root;
    uint64_t len;
    int32_t pe;
};

/* What PEs exchange: the least and the greatest statement of all PEs, and the first PE whose arguments are wrong. */
struct proposal {
    struct statement low, high;
    int32_t code, pe;
};

_Static_assert(sizeof(struct proposal) <= RMAI_TEAM_DATA, "a proposal travels with a round");

static int compare_statements(const struct statement *a, const struct statement *b) {
    if (a->what != b->what) return a->what < b->what ? -1 : 1;
    if (a->root != b->root) return a->root < b->root ? -1 : 1;
    return a->len != b->len ? (a->len < b->len ? -1 : 1) : 0;
}

static void merge_statements(void *mine, const void *other) {
    struct proposal *a = mine, b;
    int order;
    memcpy(&b, other, sizeof b);
    /* Of PEs that state the same the first one counts: then all PEs name the same two in their errors. */
    order = compare_statements(&b.low, &a->low);
    if (order < 0 || (order == 0 && b.low.pe < a->low.pe)) a->low = b.low;
    order = compare_statements(&b.high, &a->high);
    if (order > 0 || (order == 0 && b.high.pe < a->high.pe)) a->high = b.high;
    if (b.pe < a->pe) {
        a->pe = b.pe;
        a->code = b.code;
    }
}

/* The calls' names in errors of rma.h's calls, and in those of OpenSHMEM's. */
static const char *const collective_names[][2] = {
    [RMAI_CALL_BROADCAST] = {"rma_broadcast", "shmem_broadcast"},
    [RMAI_CALL_FCOLLECT] = {"rma_fcollect", "shmem_fcollect"},
    [RMAI_CALL_COLLECT] = {"rma_collect", "shmem_collect"},
    [RMAI_CALL_ALLTOALL] = {"rma_alltoall", "shmem_alltoall"},
    [RMAI_CALL_ALLTOALLS] = {"rma_alltoalls", "shmem_alltoalls"},
    [RMAI_CALL_REDUCE] = {"a reduction", "a reduction"},
    [RMAI_CALL_INSCAN] = {"an inclusive scan", "an inclusive scan"},
    [RMAI_CALL_EXSCAN] = {"an exclusive scan", "an exclusive scan"},
    [RMAI_CALL_REDUCE_ROOT] = {"a reduction to a root", "a reduction to a root"},
    [RMAI_CALL_GATHER] = {"rma_gather", "rma_gather"},
    [RMAI_CALL_SCATTER] = {"rma_scatter", "rma_scatter"},
};
static const char *const op_names[RMAI_OPS] = {"and", "or", "xor", "min", "max", "sum", "prod"};
static const char *const type_names[RMAI_TYPES] = {"int8",        "int16",         "int32",         "int64", "uint8",
                                                   "uint16",      "uint32",        "uint64",        "float", "double",
                                                   "long double", "complex float", "complex double"};

static int statement_mismatch_error(const struct rmai_call *c, const struct rmai_stated *s, const struct statement *a,
                                    const struct statement *b) {
    const int shmem = rmai_error_of_shmem(c->name);
    if (a->what >> 16 != b->what >> 16)
        return rmai_error(
            RMA_ERR_MISMATCH, "%s: PE %d is in %s, PE %d in %s: every PE of a team must make the same collective calls",
            c->name, a->pe, collective_names[a->what >> 16][shmem], b->pe, collective_names[b->what >> 16][shmem]);
    if (a->what != b->what)
        return rmai_error(RMA_ERR_MISMATCH, "%s: the operation is %s of %s on PE %d, but %s of %s on PE %d", c->name,
                          op_names[a->what >> 8 & 0xff], type_names[a->what & 0xff], a->pe,
                          op_names[b->what >> 8 & 0xff], type_names[b->what & 0xff], b->pe);
    if (a->root != b->root)
        return rmai_error(RMA_ERR_MISMATCH, "%s: %s is %d on PE %d, but %d on PE %d", c->name, s->root_text, a->root,
                          a->pe, b->root, b->pe);
    return rmai_error(RMA_ERR_MISMATCH, "%s: %s is %llu on PE %d, but %llu on PE %d", c->name, s->len_text,
                      (unsigned long long)a->len, a->pe, (unsigned long long)b->len, b->pe);
}

int rmai_call_compare(const struct rmai_call *c, int code, const struct rmai_stated *s) {
    const struct statement mine = {(uint32_t)s->which << 16 | s->op << 8 | s->type, s->root, s->len, c->w->job.my_pe};
    struct proposal p = {mine, mine, code, code == RMA_SUCCESS ? INT32_MAX : c->w->job.my_pe};
    int met;
    met = rmai_team_meet(c->w, c->name, c->t, &p, sizeof p, merge_statements);
    if (code != RMA_SUCCESS || met != RMA_SUCCESS) return code != RMA_SUCCESS ? code : met;
    if (p.code != RMA_SUCCESS)
        return rmai_error(p.code, "%s: the arguments on PE %d are wrong: %s", c->name, p.pe, rma_strerror(p.code));
    return compare_statements(&p.low, &p.high) != 0 ? statement_mismatch_error(c, s, &p.low, &p.high) : RMA_SUCCESS;
}

/* ---- the near part of a broadcast ---- */

/* Broadcasts piece by piece through the root's stages; the root may be some pieces ahead. */
static void spread_staged(struct rmai_mailboxes *near, int root, char *dest, const char *source, size_t len) {
    for (size_t done = 0; done < len; done += RMAI_STAGE) {
        size_t now = rmai_min(len - done, RMAI_STAGE);
        rmai_mailbox_begin(near, near->me == root, now);
        if (near->me == root) {
            memcpy(rmai_place_of(near, root, now), source + done, now);
            rmai_mailbox_post(near);
            rmai_mailbox_foresee(near, now);
            if (dest != source) memcpy(dest + done, source + done, now);
        } else {
            rmai_mailbox_hear(near, root);
            memcpy(dest + done, rmai_place_of(near, root, now), now);
        }
        rmai_mailbox_through(near);
    }
}

/* Broadcasts by copies that each PE makes from the root's buffer. Returns 0, without having copied, if that cannot be
 * reached. */
static int spread_direct(struct rmai_mailboxes *near, int root, char *dest, const char *source, uint64_t offset,
                         size_t len) {
    rmai_mailbox_begin(near, near->me == root, 0);
    if (near->me == root) {
        rmai_mailbox_slot(near, root)->word = offset;
        rmai_mailbox_post(near);
        if (offset && dest != source) memcpy(dest, source, len);
        rmai_mailbox_through(near);
        if (offset) rmai_mailbox_await(near);
        return offset != 0;
    }
    rmai_mailbox_hear(near, root);
    offset = rmai_mailbox_slot(near, root)->word;
    if (offset) memcpy(dest, rmai_mailbox_address(near, root, offset), len);
    rmai_mailbox_through(near);
    return offset != 0;
}

void rmai_spread(const struct rmai_call *c, int root, void *dest, const void *source, uint64_t offset, size_t len) {
    if (c->near->n == 1) {
        if (dest != source) memcpy(dest, source, len);
        return;
    }
    if (rmai_call_takes(c, RMAI_BROADCAST_DIRECT, len) && spread_direct(c->near, root, dest, source, offset, len))
        return;
    spread_staged(c->near, root, dest, source, len);
}
