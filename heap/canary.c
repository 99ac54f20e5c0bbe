/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "heap/canary.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/size.h"

#include <string.h>

#define LINE ((size_t)64)

static RMAI_COLD void tell_written(const struct rmai_canaries *c, const char *call, const struct rmai_canary *p) {
    const unsigned char *bad = p->from;
    while (*bad == RMAI_FREED) bad++;
    if (p->from >= p->block + p->size)
        rmai_note("%s: %s: the block of %zu byte%s at %p in the %s was overrun: byte %zu past its end is %#x "
                  "(RMA_HEAP_CHECK=full finds more such writes, and sooner)",
                  rmai_error_who(), rmai_error_name(call), p->size, rmai_s(p->size), (const void *)p->block, c->heap,
                  (size_t)(bad - p->block) - p->size, *bad);
    else
        rmai_note("%s: %s: a PE has written to a block of the %s after it was freed: byte %zu of the %zu byte%s at %p "
                  "is %#x (RMA_HEAP_CHECK=full finds more such writes, and sooner)",
                  rmai_error_who(), rmai_error_name(call), c->heap, (size_t)(bad - p->block), p->size, rmai_s(p->size),
                  (const void *)p->block, *bad);
}

static void drop_canary(struct rmai_canaries *c, int i) {
    c->n--;
    memmove(&c->of[i], &c->of[i + 1], (size_t)(c->n - i) * sizeof c->of[i]);
}

static inline int is_written(const struct rmai_canary *p) {
    return p->from[0] != RMAI_FREED || memcmp(p->from, p->from + 1, p->len - 1) != 0;
}

static void check_and_drop(struct rmai_canaries *c, const char *call, int i) {
    if (is_written(&c->of[i])) tell_written(c, call, &c->of[i]);
    drop_canary(c, i);
}

static void add_canary(struct rmai_canaries *c, const char *call, void *from, size_t len, const void *block,
                       size_t size) {
    if (c->n == RMAI_CANARIES) check_and_drop(c, call, 0);
    memset(from, RMAI_FREED, len);
    c->of[c->n++] = (struct rmai_canary){from, len, block, size};
}

void rmai_canary_freed(struct rmai_canaries *c, const char *call, void *block, size_t size) {
    if (c->n && is_written(&c->of[c->n - 1])) check_and_drop(c, call, c->n - 1);
    add_canary(c, call, block, rmai_min(size, RMAI_CANARY_MOST), block, size);
}

void rmai_canary_end(struct rmai_canaries *c, const char *call, void *block, size_t size) {
    char *end = (char *)block + size;
    rmai_canary_taken(c, call, end, end + LINE); /* a part of it may be one already */
    add_canary(c, call, end, LINE, block, size);
}

void rmai_canary_taken(struct rmai_canaries *c, const char *call, const void *from, const void *to) {
    const unsigned char *low = from, *high = to;
    for (int i = c->n; i-- > 0;) {
        struct rmai_canary rest = c->of[i];
        const unsigned char *end = rest.from + rest.len;
        if (RMAI_LIKELY(rest.from >= high || end <= low)) continue;
        check_and_drop(c, call, i);
        if (end <= high) continue;
        rest.from = high;
        rest.len = (size_t)(end - high);
        c->of[c->n++] = rest;
    }
}

void rmai_canary_all(struct rmai_canaries *c, const char *call) {
    while (c->n) check_and_drop(c, call, c->n - 1);
}
