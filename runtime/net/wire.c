/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/wire.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/kernels.h"
#include "base/update.h"
#include "runtime/job/by_node.h"
#include "runtime/job/directory.h"
#include "runtime/transport/transport.h"
#include "rma.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
    [RMAI_RECORD_PUT] = "put",           [RMAI_RECORD_GET] = "get",          [RMAI_RECORD_PUT_LONG] = "long put",
    [RMAI_RECORD_GET_LONG] = "long get", [RMAI_RECORD_LOOK] = "look",        [RMAI_RECORD_ATOMIC] = "atomic",
    [RMAI_RECORD_RUNS] = "runs",         [RMAI_RECORD_ALLOC] = "allocation", [RMAI_RECORD_FREE] = "release",
    [RMAI_RECORD_EXTENTS] = "extents",
};

const char *rmai_wire_operation(const struct rmai_record *r) {
    switch ((enum rmai_net_kind)r->kind) {
        case RMAI_RECORD_PUT:
        case RMAI_RECORD_PUT_LONG: return "put to";
        case RMAI_RECORD_GET:
        case RMAI_RECORD_GET_LONG: return "get from";
        case RMAI_RECORD_RUNS:
            return r->op == RMAI_RUNS_PUT ? "put to" : r->op == RMAI_RUNS_GET ? "get from" : "accumulate on";
        case RMAI_RECORD_ATOMIC: return "atomic operation on";
        default: return "request to";
    }
}

/* m->wrong: which record or item, and what. */
static RMAI_COLD int refuse_message(struct rmai_wire_reader *m, const char *what, const char *format, ...)
    RMAI_PRINTF(3, 4);

static int refuse_message(struct rmai_wire_reader *m, const char *what, const char *format, ...) {
    int n = snprintf(m->wrong, sizeof m->wrong, "%s %u of %u: ", what, m->next + 1, m->n);
    va_list args;
    va_start(args, format);
    vsnprintf(m->wrong + n, sizeof m->wrong - (size_t)n, format, args);
    va_end(args);
    return -1;
}

static size_t bytes_left(const struct rmai_wire_reader *m) { return (size_t)(m->end - m->at); }

const struct rmai_envelope *rmai_wire_too_short_(struct rmai_wire_reader *m, size_t len) {
    snprintf(m->wrong, sizeof m->wrong, "%zu bytes are too short for a message: the envelope has %zu", len,
             sizeof(struct rmai_envelope));
    return NULL;
}

static int end_of(struct rmai_wire_reader *m) {
    if (RMAI_LIKELY(m->at == m->end)) return 0;
    snprintf(m->wrong, sizeof m->wrong, "%zu bytes follow the last of %u parts", bytes_left(m), m->n);
    return -1;
}

static int is_atomic(unsigned op) {
    return op <= RMA_FSWAP_ || (op >= RMA_STRIPED_ && op < RMA_STRIPED_ + RMA_FETCH_FADD_);
}

/* 1 if an atomic can be on so many bytes. */
static inline int is_word_of(const struct rmai_record *r) {
    if (RMAI_LIKELY(r->len == 4 || r->len == 8)) return 1;
    return r->op == RMA_COMPARE_SWAP_ && (r->len == 1 || r->len == 2) && !(r->flags & RMAI_RECORD_COMPACT);
}

static RMAI_COLD int refuse_atomic(struct rmai_wire_reader *m, const struct rmai_record *r) {
    if (!is_atomic(r->op)) return refuse_message(m, "record", "operation %u is no atomic", r->op);
    if (!is_word_of(r)) return refuse_message(m, "record", "an atomic on a word of %u bytes", r->len);
    return refuse_message(m, "record", "an atomic with flags %#x", r->flags);
}

/* 1 if the flags fit an atomic. A compact element has no room for what a compare-and-swap expects: SAME does. */
static inline int has_atomic_flags(const struct rmai_record *r) {
    if (r->flags & RMAI_RECORD_COMPACT)
        return !(r->flags & ~(RMAI_RECORD_WANTED | RMAI_RECORD_COMPACT | RMAI_RECORD_SAME)) &&
               (!rmai_op_compares(r->op) || r->flags & RMAI_RECORD_SAME);
    return !(r->flags & ~RMAI_RECORD_WANTED);
}

/* Checks the fields of a record; writes the bytes of its values in the reply to *value. */
static int check_record(struct rmai_wire_reader *m, const struct rmai_record *r, size_t *value) {
    unsigned flags = 0;
    *value = 0;
    switch ((enum rmai_net_kind)r->kind) {
        case RMAI_RECORD_GET_LONG:
        case RMAI_RECORD_FREE: break;
        case RMAI_RECORD_ATOMIC:
            if (RMAI_UNLIKELY(!is_atomic(r->op) || !is_word_of(r) || !has_atomic_flags(r))) return refuse_atomic(m, r);
            if (r->flags & RMAI_RECORD_WANTED) *value = sizeof(uint64_t);
            return 1;
        case RMAI_RECORD_GET: *value = rmai_padded(r->len); /* fall through */
        case RMAI_RECORD_PUT:
            flags = RMAI_RECORD_COMPACT;
            if (RMAI_UNLIKELY(r->flags & RMAI_RECORD_COMPACT && r->len != 4 && r->len != 8))
                return refuse_message(m, "record", "a compact run of %u bytes each", r->len);
            break;
        case RMAI_RECORD_RUNS:
            flags = RMAI_RECORD_WANTED | RMAI_RECORD_BRINGS | RMAI_RECORD_TAKES;
            if (r->op >= RMAI_RUNS_UPDATE + RMAI_OPS)
                return refuse_message(m, "record", "operation %u does not exist on runs", r->op);
            break;
        case RMAI_RECORD_LOOK:
            if (r->op > 2) return refuse_message(m, "record", "a check of a range with mode %u", r->op);
            if (r->len > 16 || r->len & (r->len - 1))
                return refuse_message(m, "record", "a check of a range for an alignment of %u", r->len);
            break;
        case RMAI_RECORD_PUT_LONG:
            flags = RMAI_RECORD_SIGNAL;
            if (r->flags & RMAI_RECORD_SIGNAL && r->op >= RMA_FETCH_FADD_)
                return refuse_message(m, "record", "operation %u is no atomic on an integer", r->op);
            break;
        case RMAI_RECORD_ALLOC: *value = sizeof(rma_gptr_t); break;
        case RMAI_RECORD_EXTENTS: *value = sizeof(struct rmai_directory); break;
        default: return refuse_message(m, "record", "%u is no kind of record", r->kind);
    }
    return r->flags & ~flags ? refuse_message(m, "record", "flags %#x of kind %s", r->flags, kinds[r->kind]) : 1;
}

static int is_offset(uint64_t offset) { return offset >> RMA_GPTR_BITS_ == 0; }

/* 1 if [offset, offset + len) may be the range of a record: in the target's space or, of a record with a name, by
 * address. */
static int is_range(const struct rmai_record *r, uint64_t offset, uint64_t len) {
    if (offset & RMAI_AT_ADDRESS) return r->name && offset + len >= offset;
    return is_offset(offset) && is_offset(offset + len) && is_offset(len);
}

/* 1 if the offset is possible in an element that may be for a neighbour of the receiver. Attached memory never is. */
static int is_marked_offset(uint64_t marked) {
    return rmai_by_node_offset(marked) < RMA_GPTR_ATTACHED_ && !(marked & RMAI_AT_ADDRESS);
}

static RMAI_COLD int refuse_offset(struct rmai_wire_reader *m, uint64_t offset) {
    return refuse_message(m, "record", "offset %#llx does not exist", (unsigned long long)offset);
}

/* A compact run names no attached memory, and only aligned words. */
static int check_compact(struct rmai_wire_reader *m, const struct rmai_record *r, const unsigned char *elements) {
    uint64_t base;
    memcpy(&base, elements, sizeof base);
    return base % r->len == 0 && base <= RMA_GPTR_ATTACHED_ - rmai_wire_compact_reach(r->len) ? 1
                                                                                              : refuse_offset(m, base);
}

/* Checks the offsets of puts, gets and atomics, which may be runs. */
static int check_offsets(struct rmai_wire_reader *m, const struct rmai_record *r, const unsigned char *elements) {
    const size_t step = rmai_wire_element_bytes(r);
    const uint64_t unaligned = r->kind == RMAI_RECORD_ATOMIC ? r->len - 1u : 0;
    if (r->flags & RMAI_RECORD_COMPACT) return check_compact(m, r, elements);
    for (unsigned i = 0; i < r->n; i++) {
        uint64_t offset;
        memcpy(&offset, elements + i * step, sizeof offset);
        if (RMAI_UNLIKELY(!is_offset(offset)) && (r->name ? !is_range(r, offset, r->len) : !is_marked_offset(offset)))
            return refuse_offset(m, offset);
        if (RMAI_UNLIKELY(offset & unaligned) && (offset & RMAI_AT_ADDRESS || is_marked_offset(offset)))
            return refuse_message(m, "record", "an atomic on %u bytes at offset %#llx", r->len,
                                  (unsigned long long)offset);
    }
    return 1;
}

/* 1 if the flags say a way for the data that this operation can have. */
static int runs_have_way(const struct rmai_record *r) {
    switch (r->op) {
        case RMAI_RUNS_PUT: return r->flags == 0 || r->flags == RMAI_RECORD_BRINGS;
        case RMAI_RUNS_GET: return r->flags == RMAI_RECORD_WANTED || r->flags == RMAI_RECORD_TAKES;
        case RMAI_RUNS_FETCH: return r->flags == RMAI_RECORD_WANTED;
        default: return (r->flags & ~RMAI_RECORD_WANTED) == 0;
    }
}

int rmai_wire_runs_bring(const struct rmai_record *r) {
    return r->op != RMAI_RUNS_GET && r->op != RMAI_RUNS_FETCH && !(r->flags & RMAI_RECORD_BRINGS);
}

/* 1 if all blocks of the run lie in the `span` bytes from the offset on; adds their bytes to *sum. */
static int is_run_inside(const struct rmai_wire_run *run, uint64_t span, uint64_t *sum) {
    int64_t last;
    uint64_t bytes;
    if (run->n == 0 || run->len == 0 || run->len > span) return 0;
    if (__builtin_mul_overflow(run->len, run->n, &bytes) || __builtin_add_overflow(*sum, bytes, sum)) return 0;
    if (__builtin_mul_overflow((int64_t)(run->n - 1), run->step, &last) || __builtin_add_overflow(last, run->at, &last))
        return 0;
    return run->at >= 0 && last >= 0 && (uint64_t)run->at <= span - run->len && (uint64_t)last <= span - run->len;
}

/* 1 if the operand can be a transfer's: RMAI_TRANSFERS numbers, and data of one piece. */
static int is_transfer(uint64_t value) {
    return rmai_wire_long_number(value) < RMAI_TRANSFERS && rmai_wire_long_bytes(value) <= RMAI_PIECE;
}

static RMAI_COLD int refuse_transfer(struct rmai_wire_reader *m, uint64_t value) {
    return refuse_message(m, "record", "transfer %u of %zu bytes", rmai_wire_long_number(value),
                          rmai_wire_long_bytes(value));
}

/* Checks a record of kind RUNS: the receiver may walk its runs, and finds all data there. Writes the bytes of its
 * values in the reply to *value. */
static __attribute__((noinline)) int check_runs(struct rmai_wire_reader *m, const struct rmai_record *r,
                                                const unsigned char *element, size_t *value) {
    const struct rmai_element e = rmai_wire_element(r, element);
    const struct rmai_wire_runs runs = rmai_wire_runs_of(e.cond);
    const size_t list = rmai_wire_runs_bytes(&runs);
    const uint64_t bytes = rmai_wire_is_long(r) ? rmai_wire_long_bytes(e.value) : e.value;
    uint64_t sum = 0;
    if (!is_range(r, e.offset, e.word)) return refuse_offset(m, e.offset);
    if (rmai_wire_is_long(r) && !is_transfer(e.value)) return refuse_transfer(m, e.value);
    if (!runs_have_way(r) || runs.listed > 1 || bytes > RMAI_PIECE)
        return refuse_message(m, "record", "runs with operation %u, flags %#x, form %u, %llu bytes", r->op, r->flags,
                              runs.listed, (unsigned long long)bytes);
    if (r->op >= RMAI_RUNS_UPDATE &&
        (runs.type >= RMAI_TYPES ||
         !rmai_update_has((enum rma_op)(r->op - RMAI_RUNS_UPDATE), (enum rma_type)runs.type)))
        return refuse_message(m, "record", "update %u of type %u", r->op - RMAI_RUNS_UPDATE, runs.type);
    if (r->len != list + (rmai_wire_runs_bring(r) ? rmai_padded(bytes) : 0))
        return refuse_message(m, "record", "%u bytes for %u runs and %llu bytes of data", r->len, runs.n,
                              (unsigned long long)bytes);
    for (unsigned i = 0; i < runs.n; i++) {
        const struct rmai_wire_run run = rmai_wire_run_at(&runs, element + 4 * sizeof(uint64_t), i);
        if (!is_run_inside(&run, e.word, &sum))
            return refuse_message(m, "record", "run %u of %u leaves its %llu bytes", i, runs.n,
                                  (unsigned long long)e.word);
        if (r->op >= RMAI_RUNS_UPDATE && run.len % rmai_type_size((enum rma_type)runs.type) != 0)
            return refuse_message(m, "record", "a block of %llu bytes of type %u", (unsigned long long)run.len,
                                  runs.type);
    }
    if (r->flags & RMAI_RECORD_WANTED) *value = rmai_padded(bytes);
    return sum == bytes ? 1
                        : refuse_message(m, "record", "runs of %llu bytes, not %llu", (unsigned long long)sum,
                                         (unsigned long long)bytes);
}

/* Checks the operands of all other records, which have one element. */
static int check_operands(struct rmai_wire_reader *m, const struct rmai_record *r, const unsigned char *element) {
    const struct rmai_element e = rmai_wire_element(r, element);
    if (r->kind == RMAI_RECORD_RUNS) return 1; /* check_runs has read it */
    const int moves = r->kind == RMAI_RECORD_PUT_LONG || r->kind == RMAI_RECORD_GET_LONG,
              looks = r->kind == RMAI_RECORD_LOOK;
    const uint64_t bytes = moves ? rmai_wire_long_bytes(e.value) : e.value;
    if (!is_offset(e.offset) && !((moves || looks) && is_range(r, e.offset, bytes))) return refuse_offset(m, e.offset);
    if (!is_offset(e.word)) return refuse_offset(m, e.word);
    return moves && !is_transfer(e.value) ? refuse_transfer(m, e.value) : 1;
}

/* Any record, with all checks. */
static __attribute__((noinline)) int next_record(struct rmai_wire_reader *m, struct rmai_record *r, char *name,
                                                 const unsigned char **elements) {
    size_t room = bytes_left(m), value, most, elements_bytes;
    if (RMAI_UNLIKELY(room < sizeof *r))
        return refuse_message(m, "record", "%zu bytes are left, and a record has %zu", room, sizeof *r);
    memcpy(r, m->at, sizeof *r);
    room -= sizeof *r;
    if (RMAI_UNLIKELY(check_record(m, r, &value) < 0)) return -1;
    if (RMAI_UNLIKELY(r->name >= RMAI_NAME_MAX)) return refuse_message(m, "record", "a name of %u bytes", r->name);
    elements_bytes = rmai_wire_elements_bytes(r);
    if (RMAI_UNLIKELY(rmai_padded(r->name) + elements_bytes > room))
        return refuse_message(m, "record", "%zu bytes are left for a name of %u bytes and %u elements of %zu", room,
                              r->name, r->n, rmai_wire_element_bytes(r));
    if (RMAI_UNLIKELY((r->n != 1 || r->flags & RMAI_RECORD_COMPACT) && (r->n == 0 || r->name || !rmai_wire_may_run(r))))
        return refuse_message(m, "record", "%u elements of kind %s%s", r->n, kinds[r->kind],
                              r->name ? ", with a name" : "");
    *elements = m->at + sizeof *r + rmai_padded(r->name);
    if (RMAI_UNLIKELY(r->kind == RMAI_RECORD_RUNS) && check_runs(m, r, *elements, &value) < 0) return -1;
    most = r->n * value;
    if (r->name) most = rmai_max(most, RMAI_TEXT_MAX);
    if (rmai_wire_expects(r)) m->reply += sizeof(struct rmai_item) + most;
    if (RMAI_UNLIKELY(m->reply > RMAI_MESSAGE))
        return refuse_message(m, "record", "the reply would have %zu bytes", m->reply);
    memcpy(name, m->at + sizeof *r, r->name);
    name[r->name] = 0;
    if (RMAI_UNLIKELY((rmai_wire_may_run(r) ? check_offsets(m, r, *elements) : check_operands(m, r, *elements)) < 0))
        return -1;
    m->at = *elements + elements_bytes;
    m->next++;
    return 1;
}

/* Reads a record of one put, get or atomic without a name, which is most of them, in a message that is not damaged.
 * Returns 0, with nothing changed, for all others: next_record finds out what they are. */
static inline __attribute__((always_inline)) int read_lone(struct rmai_wire_reader *m, struct rmai_record *r,
                                                           const unsigned char **elements) {
    const size_t room = bytes_left(m);
    size_t bytes = sizeof *r + sizeof(uint64_t), reply = sizeof(struct rmai_item) + sizeof(uint64_t);
    uint64_t word, offset;
    if (room < bytes) return 0;
    memcpy(&word, m->at, sizeof word);
    memcpy(&offset, m->at + sizeof word, sizeof offset);
    memcpy(r, &word, sizeof *r);
    if (r->n != 1 || r->name || r->flags & ~RMAI_RECORD_WANTED || offset >= RMA_GPTR_ATTACHED_) return 0;
    switch (r->kind) {
        case RMAI_RECORD_PUT:
            if (r->flags) return 0;
            bytes += rmai_padded(r->len);
            reply = 0;
            break;
        case RMAI_RECORD_GET:
            if (r->flags) return 0;
            reply = sizeof(struct rmai_item) + rmai_padded(r->len);
            break;
        case RMAI_RECORD_ATOMIC:
            if (!is_atomic(r->op) || (r->len != 4 && r->len != 8) || offset & (r->len - 1u)) return 0;
            bytes += rmai_op_compares(r->op) ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
            if (!r->flags) reply = 0;
            break;
        default: return 0;
    }
    if (bytes > room || m->reply + reply > RMAI_MESSAGE) return 0;
    m->reply += reply;
    *elements = m->at + sizeof *r;
    m->at += bytes;
    m->next++;
    return 1;
}

int rmai_wire_next_record(struct rmai_wire_reader *m, struct rmai_record *r, char *name,
                          const unsigned char **elements) {
    if (m->next == m->n) return end_of(m);
    *name = 0;
    return RMAI_LIKELY(read_lone(m, r, elements)) ? 1 : next_record(m, r, name, elements);
}

int rmai_wire_next_item(struct rmai_wire_reader *m, struct rmai_item *i, const unsigned char **data) {
    if (m->next == m->n) return end_of(m);
    if (RMAI_UNLIKELY(bytes_left(m) < sizeof *i))
        return refuse_message(m, "item", "%zu bytes are left, and an item has %zu", bytes_left(m), sizeof *i);
    memcpy(i, m->at, sizeof *i);
    m->at += sizeof *i;
    if (RMAI_UNLIKELY(rmai_padded(i->len) > bytes_left(m)))
        return refuse_message(m, "item", "%u bytes of data, and %zu are left", i->len, bytes_left(m));
    if (RMAI_UNLIKELY(i->code > RMAI_ERR_LAST)) return refuse_message(m, "item", "%u is no code of an error", i->code);
    *data = m->at;
    m->at += rmai_padded(i->len);
    m->next++;
    return 1;
}
