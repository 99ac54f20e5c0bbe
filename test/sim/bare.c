/* SPDX-License-Identifier: BSD-3-Clause */
/* The handlers that runtime/net needs, over an array of bytes. */
#include "config.h"

#include "test/sim/bare.h"
#include "base/error.h"
#include "rma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int locate(void *context, const char *call, uint64_t offset, size_t len, size_t alignment, int writes,
                  void **there, void **hold) {
    struct sim_bare *b = context;
    (void)writes;
    *hold = NULL;
    if (offset == SIM_VANISHING && len <= SIM_VANISHING_ROOM && ++b->looks % 2) {
        *there = b->vanishing;
        return RMA_SUCCESS;
    }
    if (offset > b->size || len > b->size - offset || offset % alignment)
        return rmai_error(RMA_ERR_ADDRESS, "%s: PE %d has no %zu bytes at %#llx", call, b->me, len,
                          (unsigned long long)offset);
    *there = b->memory + offset;
    return RMA_SUCCESS;
}

static void release_hold(void *context, void *hold) { (void)context, (void)hold; }

static void show_steady(void *context, uint64_t *offset, size_t *len, unsigned char **there) {
    struct sim_bare *b = context;
    *offset = b->me % 2 ? 0 : SIM_BLOCK;
    *len = b->size > *offset + SIM_BLOCK ? b->size - *offset - SIM_BLOCK : 0;
    *there = b->memory + *offset;
}

static uint64_t blocks_at(const struct sim_bare *b) { return b->size - SIM_BLOCKS * SIM_BLOCK; }

static int allocate(void *context, const char *call, size_t size, uint64_t *block) {
    struct sim_bare *b = context;
    if (size > SIM_BLOCK || !b->free_blocks)
        return rmai_error(RMA_ERR_NO_MEM, "%s: PE %d has no %zu bytes", call, b->me, size);
    *block = blocks_at(b) + (uint64_t)__builtin_ctzll(b->free_blocks) * SIM_BLOCK;
    b->free_blocks &= b->free_blocks - 1;
    return RMA_SUCCESS;
}

static int give_back(void *context, const char *call, uint64_t offset) {
    struct sim_bare *b = context;
    const uint64_t i = (offset - blocks_at(b)) / SIM_BLOCK;
    if (offset < blocks_at(b) || offset % SIM_BLOCK || i >= SIM_BLOCKS || b->free_blocks >> i & 1)
        return rmai_error(RMA_ERR_ADDRESS, "%s: PE %d has no block at %#llx", call, b->me, (unsigned long long)offset);
    b->free_blocks |= (uint64_t)1 << i;
    return RMA_SUCCESS;
}

static void read_extents(void *context, size_t extent[RMAI_POOLS]) {
    const struct sim_bare *b = context;
    for (int i = 0; i < RMAI_POOLS; i++) extent[i] = b->size;
}

static void read_sign(void *context, struct rmai_sign *sign) {
    (void)context;
    *sign = (struct rmai_sign){.in = ""};
}
static void wait_lasts(void *context, struct rmai_stall *stall) { (void)context, (void)stall; }
static void fatal(void *context) {
    struct sim_bare *b = context;
    sim_fail(b->pe, "the job ends: %s", rma_last_error());
}

static void open_bare(struct sim_bare *b, struct sim_pe *pe, size_t memory) {
    const struct rmai_net_handlers handlers = {.context = b,
                                               .locate = locate,
                                               .release_hold = release_hold,
                                               .direct = show_steady,
                                               .allocate = allocate,
                                               .give_back = give_back,
                                               .extents = read_extents,
                                               .sign = read_sign,
                                               .wait_lasts = wait_lasts,
                                               .wait_is_over = wait_lasts,
                                               .fatal = fatal,
                                               .doze = &b->doze};
    const int n_pes = sim_options_of(pe)->n_pes;
    *b = (struct sim_bare){.pe = pe, .me = pe->me, .n_pes = n_pes, .size = memory};
    sim_transport_open(&b->transport, pe);
    b->job = (struct rmai_job){.my_pe = pe->me,
                               .n_pes = n_pes,
                               .my_node = pe->me,
                               .n_nodes = n_pes,
                               .node_n_pes = 1,
                               .node_pes = &b->me,
                               .networked = 1};
    if (memory) {
        b->memory = sim_memory(NULL, memory);
        memset(b->memory, 0, memory);
        b->free_blocks = UINT64_MAX;
    }
    if (rmai_net_open(&b->job, &b->transport.transport, &b->traffic, &handlers, 0, &b->net) != RMA_SUCCESS ||
        rmai_pending_open(b->net, &b->complete, &b->complete, &b->traffic, &b->set) != RMA_SUCCESS) {
        fprintf(stderr, "sim: PE %d: %s\n", pe->me, rma_last_error());
        abort();
    }
}

static void begin_bare(struct sim_pe *pe, const struct sim_options *options) {
    for (int i = 0; i < options->n_pes; i++) {
        pe[i].layer = sim_memory(NULL, sizeof(struct sim_bare));
        open_bare(pe[i].layer, &pe[i], options->memory);
    }
}

static void turn_bare(struct sim_pe *pe) { (void)pe; }

static void describe_bare(struct sim_pe *pe, char *text, size_t room) {
    (void)pe;
    if (room) *text = 0;
}

/* The guest of a biased lock wakes nobody: its visits are short. */
static int may_miss_wakeup(const void *word) { return word == &sim_bare(sim_here())->net->bias.guest; }

/* What is under way in a run that was cut short waits for what will never come. It is left in memory. */
static void close_bare(struct sim_pe *pe) {
    struct sim_bare *b = sim_bare(pe);
    if (!sim_is_cut_short(pe)) {
        rmai_pending_close(b->set);
        rmai_net_close(b->net);
    }
    free(b->memory);
    free(b);
}

static void end_bare(void) {}

const struct sim_layer sim_bare_layer = {.begin = begin_bare,
                                         .turn = turn_bare,
                                         .describe = describe_bare,
                                         .may_miss_wakeup = may_miss_wakeup,
                                         .close = close_bare,
                                         .end = end_bare};
