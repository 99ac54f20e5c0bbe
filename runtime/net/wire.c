/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/wire.h"
#include "base/attributes.h"
#include "runtime/job/directory.h"
#include "runtime/net/by_node.h"
#include "rma.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
    [RMAI_RECORD_PUT] = "put",           [RMAI_RECORD_GET] = "get",      [RMAI_RECORD_PUT_LONG] = "long put",
    [RMAI_RECORD_GET_LONG] = "long get", [RMAI_RECORD_LOOK] = "look",    [RMAI_RECORD_ATOMIC] = "atomic",
    [RMAI_RECORD_ALLOC] = "allocation",  [RMAI_RECORD_FREE] = "release", [RMAI_RECORD_EXTENTS] = "extents",
};

const char *rmai_wire_operation(const struct rmai_record *r) {
    switch ((enum rmai_net_kind)r->kind) {
        case RMAI_RECORD_PUT:
        case RMAI_RECORD_PUT_LONG: return "put to";
        case RMAI_RECORD_GET:
        case RMAI_RECORD_GET_LONG: return "get from";
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

const struct rmai_envelope *rmai_wire_open(struct rmai_wire_reader *m, const void *message, size_t len) {
    const struct rmai_envelope *e = message;
    if (RMAI_UNLIKELY(len < sizeof *e)) {
        snprintf(m->wrong, sizeof m->wrong, "%zu bytes are no message: an envelope has %zu", len, sizeof *e);
        return NULL;
    }
    m->at = (const unsigned char *)(e + 1);
    m->end = (const unsigned char *)message + len;
    m->next = 0;
    m->n = e->n;
    m->reply = sizeof *e;
    return e;
}

static int end_of(struct rmai_wire_reader *m) {
    if (RMAI_LIKELY(m->at == m->end)) return 0;
    snprintf(m->wrong, sizeof m->wrong, "%zu bytes follow the last of %u parts", bytes_left(m), m->n);
    return -1;
}

static int is_atomic(unsigned op) { return op <= RMA_FETCH_FMAX_; }

static RMAI_COLD int refuse_atomic(struct rmai_wire_reader *m, const struct rmai_record *r) {
    if (!is_atomic(r->op)) return refuse_message(m, "record", "operation %u is no atomic", r->op);
    if (r->len != 4 && r->len != 8) return refuse_message(m, "record", "an atomic on a word of %u bytes", r->len);
    return refuse_message(m, "record", "an atomic with flags %#x", r->flags);
}

/* Checks the fields of a record; writes the bytes of its values in the reply to *value. */
static int check_record(struct rmai_wire_reader *m, const struct rmai_record *r, size_t *value) {
    unsigned flags = 0;
    *value = 0;
    switch ((enum rmai_net_kind)r->kind) {
        case RMAI_RECORD_PUT:
        case RMAI_RECORD_GET_LONG:
        case RMAI_RECORD_FREE: break;
        case RMAI_RECORD_ATOMIC:
            if (RMAI_UNLIKELY(!is_atomic(r->op) || (r->len != 4 && r->len != 8) || r->flags & ~RMAI_RECORD_WANTED))
                return refuse_atomic(m, r);
            if (r->flags) *value = sizeof(uint64_t);
            return 1;
        case RMAI_RECORD_GET: *value = rmai_padded(r->len); break;
        case RMAI_RECORD_LOOK:
            if (r->op > 1) return refuse_message(m, "record", "a look with mode %u", r->op);
            break;
        case RMAI_RECORD_PUT_LONG:
            flags = RMAI_RECORD_SIGNAL;
            if (r->flags & RMAI_RECORD_SIGNAL && !is_atomic(r->op))
                return refuse_message(m, "record", "operation %u is no atomic", r->op);
            break;
        case RMAI_RECORD_ALLOC: *value = sizeof(rma_gptr_t); break;
        case RMAI_RECORD_EXTENTS: *value = sizeof(struct rmai_directory); break;
        default: return refuse_message(m, "record", "%u is no kind of record", r->kind);
    }
    return r->flags & ~flags ? refuse_message(m, "record", "flags %#x of kind %s", r->flags, kinds[r->kind]) : 1;
}

static int is_offset(uint64_t offset) { return offset >> RMA_GPTR_BITS_ == 0; }

/* 1 if the offset is possible in an element that may be for a neighbour of the receiver. Attached memory never is. */
static int is_marked_offset(uint64_t marked) { return rmai_by_node_offset(marked) < RMA_GPTR_ATTACHED_; }

static RMAI_COLD int refuse_offset(struct rmai_wire_reader *m, uint64_t offset) {
    return refuse_message(m, "record", "offset %#llx is none", (unsigned long long)offset);
}

/* Checks the offsets of puts, gets and atomics, which may be runs. */
static int check_offsets(struct rmai_wire_reader *m, const struct rmai_record *r, const unsigned char *elements) {
    const size_t step = rmai_wire_element_bytes(r);
    const uint64_t unaligned = r->kind == RMAI_RECORD_ATOMIC ? r->len - 1u : 0;
    for (unsigned i = 0; i < r->n; i++) {
        uint64_t offset;
        memcpy(&offset, elements + i * step, sizeof offset);
        if (RMAI_UNLIKELY(!is_offset(offset)) && (r->name || !is_marked_offset(offset)))
            return refuse_offset(m, offset);
        if (RMAI_UNLIKELY(offset & unaligned) && rmai_by_node_offset(offset) < RMA_GPTR_ATTACHED_)
            return refuse_message(m, "record", "an atomic on %u bytes at offset %#llx", r->len,
                                  (unsigned long long)offset);
    }
    return 1;
}

/* Checks the operands of all other records, which have one element. */
static int check_operands(struct rmai_wire_reader *m, const struct rmai_record *r, const unsigned char *element) {
    const struct rmai_element e = rmai_wire_element(r, element);
    if (!is_offset(e.offset)) return refuse_offset(m, e.offset);
    if (!is_offset(e.word)) return refuse_offset(m, e.word);
    if ((r->kind == RMAI_RECORD_PUT_LONG || r->kind == RMAI_RECORD_GET_LONG) && e.value > RMAI_PIECE)
        return refuse_message(m, "record", "a %s of %llu bytes", kinds[r->kind], (unsigned long long)e.value);
    return 1;
}

int rmai_wire_next_record(struct rmai_wire_reader *m, struct rmai_record *r, char *name,
                          const unsigned char **elements) {
    size_t room = bytes_left(m), value, most;
    if (m->next == m->n) return end_of(m);
    if (RMAI_UNLIKELY(room < sizeof *r))
        return refuse_message(m, "record", "%zu bytes are left, and a record has %zu", room, sizeof *r);
    memcpy(r, m->at, sizeof *r);
    room -= sizeof *r;
    if (RMAI_UNLIKELY(check_record(m, r, &value) < 0)) return -1;
    if (RMAI_UNLIKELY(r->name >= RMAI_NAME_MAX)) return refuse_message(m, "record", "a name of %u bytes", r->name);
    if (RMAI_UNLIKELY(rmai_padded(r->name) + r->n * rmai_wire_element_bytes(r) > room))
        return refuse_message(m, "record", "%zu bytes are left for a name of %u bytes and %u elements of %zu", room,
                              r->name, r->n, rmai_wire_element_bytes(r));
    if (RMAI_UNLIKELY(r->n != 1 && (r->n == 0 || r->name || !rmai_wire_may_run(r))))
        return refuse_message(m, "record", "%u elements of kind %s%s", r->n, kinds[r->kind],
                              r->name ? ", with a name" : "");
    most = r->n * value;
    if (r->name) most = rmai_max(most, RMAI_TEXT_MAX);
    if (rmai_wire_expects(r)) m->reply += sizeof(struct rmai_item) + most;
    if (RMAI_UNLIKELY(m->reply > RMAI_MESSAGE))
        return refuse_message(m, "record", "the reply would have %zu bytes", m->reply);
    memcpy(name, m->at + sizeof *r, r->name);
    name[r->name] = 0;
    *elements = m->at + sizeof *r + rmai_padded(r->name);
    if (RMAI_UNLIKELY((rmai_wire_may_run(r) ? check_offsets(m, r, *elements) : check_operands(m, r, *elements)) < 0))
        return -1;
    m->at = *elements + r->n * rmai_wire_element_bytes(r);
    m->next++;
    return 1;
}

int rmai_wire_next_item(struct rmai_wire_reader *m, struct rmai_item *i, const unsigned char **data) {
    if (m->next == m->n) return end_of(m);
    if (RMAI_UNLIKELY(bytes_left(m) < sizeof *i))
        return refuse_message(m, "item", "%zu bytes are left, and an item has %zu", bytes_left(m), sizeof *i);
    memcpy(i, m->at, sizeof *i);
    m->at += sizeof *i;
    if (RMAI_UNLIKELY(rmai_padded(i->len) > bytes_left(m)))
        return refuse_message(m, "item", "%u bytes of data, and %zu are left", i->len, bytes_left(m));
    if (RMAI_UNLIKELY(i->code > RMA_ERR_SYSTEM)) return refuse_message(m, "item", "%u is no code of an error", i->code);
    *data = m->at;
    m->at += rmai_padded(i->len);
    m->next++;
    return 1;
}
