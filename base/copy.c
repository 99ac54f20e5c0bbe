/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-temporal stores write whole lines without reading them first. docs/performance.md has the measurements that
 * decide where they are used. */
#include "config.h"

#include "base/copy.h"
#include "rma.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

size_t rmai_copy_stream_min(int copy) { return copy == RMAI_COPY_STREAM ? 512 : SIZE_MAX; }

#ifdef __SSE2__
void rma_copy_(void *dest, const void *source, size_t len) {
    char *d = dest;
    const char *s = source;
    size_t head = (size_t)(-(uintptr_t)d & 63);
    if (len < 128) {
        memcpy(d, s, len);
        return;
    }
    memcpy(d, s, head);
    d += head;
    s += head;
    len -= head;
    for (; len >= 64; len -= 64, d += 64, s += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)s);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(s + 32));
        __m128i e = _mm_loadu_si128((const __m128i *)(const void *)(s + 48));
        _mm_stream_si128((__m128i *)(void *)d, a);
        _mm_stream_si128((__m128i *)(void *)(d + 16), b);
        _mm_stream_si128((__m128i *)(void *)(d + 32), c);
        _mm_stream_si128((__m128i *)(void *)(d + 48), e);
    }
    memcpy(d, s, len);
    /* Non-temporal stores are weakly ordered even on x86: without this fence a store to a flag, made later, could
     * overtake them. */
    _mm_sfence();
}
#else
void rma_copy_(void *dest, const void *source, size_t len) { memcpy(dest, source, len); }
#endif
