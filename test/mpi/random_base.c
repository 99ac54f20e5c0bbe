/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void draw_bytes(struct draws *d, void *to, size_t len) {
    char *at = to;
    for (uint64_t word; len > 0; len -= len < 8 ? len : 8, at += 8) {
        word = draw_word(d);
        memcpy(at, &word, len < 8 ? len : 8);
    }
}

struct store_chunk {
    struct store_chunk *next;
    size_t room;
    _Alignas(64) char memory[];
};

void *store_take(struct store *s, size_t size) {
    void *got;
    size = (size + 31) & ~(size_t)15;
    if (!s->chunks || s->chunks->room - s->used < size) {
        const size_t room = size > 1 << 17 ? size : 1 << 17;
        struct store_chunk *chunk = aligned_alloc(64, (sizeof *chunk + room + 63) & ~(size_t)63);
        if (!chunk) abort();
        *chunk = (struct store_chunk){s->chunks, room};
        s->chunks = chunk;
        s->used = 0;
    }
    got = s->chunks->memory + s->used;
    s->used += size;
    return memset(got, 0, size);
}

void store_reset(struct store *s) {
    while (s->chunks && s->chunks->next) {
        struct store_chunk *next = s->chunks->next;
        free(s->chunks);
        s->chunks = next;
    }
    s->used = 0;
}

char *store_words(struct store *s, const char *format, ...) {
    va_list args, again;
    char text[256], *to;
    int len;
    va_start(args, format);
    va_copy(again, args);
    len = vsnprintf(text, sizeof text, format, args);
    to = store_take(s, (size_t)len + 1);
    if (len < (int)sizeof text)
        memcpy(to, text, (size_t)len + 1);
    else
        vsnprintf(to, (size_t)len + 1, format, again);
    va_end(again);
    va_end(args);
    return to;
}
