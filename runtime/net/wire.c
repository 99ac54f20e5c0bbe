/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/wire.h"
#include "base/attributes.h"
#include "rma.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
    [RMAI_RECORD_PUT] = "put",           [RMAI_RECORD_GET] = "get",      [RMAI_RECORD_PUT_LONG] = "long put",
    [RMAI_RECORD_GET_LONG] = "long get", [RMAI_RECORD_LOOK] = "look",    [RMAI_RECORD_ATOMIC] = "atomic",
    [RMAI_RECORD_ALLOC] = "allocation",  [RMAI_RECORD_FREE] = "release", [RMAI_RECORD_EXTENTS] = "extents",
};

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
    if (r->flags & ~RMAI_RECORD_WANTED) return refuse_message(m, "record", "an atomic with flags %#x", r->flags);
    return refuse_message(m, "record", "an atomic on %u bytes at offset %#llx", r->len, (unsigned long long)r->offset);
}

/* What a record of this kind, neither an atomic nor a put, may say. The bytes of its item go to *item. */
static __attribute__((noinline)) int check_kind(struct rmai_wire_reader *m, const struct rmai_record *r, size_t *item) {
    const unsigned long long value = r->value;
    unsigned flags = 0;
    *item = 0;
    switch ((enum rmai_net_kind)r->kind) {
        case RMAI_RECORD_FREE: break;
        case RMAI_RECORD_LOOK:
            if (r->op > 1) return refuse_message(m, "record", "a look with mode %u", r->op);
            break;
        case RMAI_RECORD_GET:
            if (r->value > RMAI_MESSAGE) return refuse_message(m, "record", "a short get of %llu bytes", value);
            *item = (size_t)r->value;
            break;
        case RMAI_RECORD_PUT_LONG:
        case RMAI_RECORD_GET_LONG:
            if (r->kind == RMAI_RECORD_PUT_LONG) flags = RMAI_RECORD_SIGNAL;
            if (r->value > RMAI_PIECE) return refuse_message(m, "record", "a %s of %llu bytes", kinds[r->kind], value);
            if (rmai_data_after(r) != (r->flags & RMAI_RECORD_SIGNAL ? sizeof(uint64_t) : 0))
                return refuse_message(m, "record", "a %s followed by %u bytes", kinds[r->kind], r->len);
            if (r->flags & RMAI_RECORD_SIGNAL && !is_atomic(r->op))
                return refuse_message(m, "record", "operation %u is no atomic", r->op);
            break;
        case RMAI_RECORD_ALLOC: *item = sizeof(rma_gptr_t); break;
        case RMAI_RECORD_EXTENTS: *item = 2 * sizeof(size_t); break;
        default: return refuse_message(m, "record", "%u is no kind of record", r->kind);
    }
    return r->flags & ~flags ? refuse_message(m, "record", "a %s with flags %#x", kinds[r->kind], r->flags) : 1;
}

/* A record with a name, or of another kind than streams are of. */
static __attribute__((noinline)) int check_other(struct rmai_wire_reader *m, const struct rmai_record *r, char *name,
                                                 size_t *item) {
    if (r->kind != RMAI_RECORD_ATOMIC && r->kind != RMAI_RECORD_PUT && check_kind(m, r, item) < 0) return -1;
    if (r->name >= RMAI_NAME_MAX) return refuse_message(m, "record", "a name of %u bytes", r->name);
    if (r->name) *item = rmai_max(*item, RMAI_TEXT_MAX);
    memcpy(name, m->at + sizeof *r, r->name);
    return 1;
}

int rmai_wire_next_any_(struct rmai_wire_reader *m, struct rmai_record *r, char *name, const unsigned char **data) {
    const unsigned char *at = m->at;
    const size_t room = bytes_left(m);
    size_t named, whole, item = 0;
    if (RMAI_UNLIKELY(m->next == m->n)) return end_of(m);
    if (RMAI_UNLIKELY(room < sizeof *r))
        return refuse_message(m, "record", "%zu bytes are left, and a record has %zu", room, sizeof *r);
    memcpy(r, at, sizeof *r);
    named = sizeof *r + rmai_padded(r->name);
    whole = named + rmai_padded(rmai_data_after(r));
    if (RMAI_UNLIKELY(whole > room))
        return refuse_message(m, "record", "a name of %u bytes and %u bytes of data, and %zu are left", r->name,
                              rmai_data_after(r), room - sizeof *r);
    if (RMAI_UNLIKELY(r->offset >> RMA_GPTR_BITS_))
        return refuse_message(m, "record", "offset %#llx is none", (unsigned long long)r->offset);
    if (r->kind == RMAI_RECORD_ATOMIC) {
        if (RMAI_UNLIKELY(!is_atomic(r->op) || (r->len != 4 && r->len != 8) || r->flags & ~RMAI_RECORD_WANTED ||
                          ((r->offset & (r->len - 1)) && r->offset < RMA_GPTR_ATTACHED_)))
            return refuse_atomic(m, r);
        if (r->flags) item = r->len;
    } else if (RMAI_UNLIKELY(r->kind == RMAI_RECORD_PUT && r->flags)) {
        return refuse_message(m, "record", "a put with flags %#x", r->flags);
    }
    if (RMAI_UNLIKELY(r->name || (r->kind != RMAI_RECORD_ATOMIC && r->kind != RMAI_RECORD_PUT)))
        if (check_other(m, r, name, &item) < 0) return -1;
    name[r->name] = 0;
    m->reply += sizeof(struct rmai_item) + rmai_padded(item);
    if (RMAI_UNLIKELY(m->reply > RMAI_MESSAGE))
        return refuse_message(m, "record", "the reply would have %zu bytes", m->reply);
    *data = at + named;
    m->at = at + whole;
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
