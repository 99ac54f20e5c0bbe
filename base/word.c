/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/word.h"
#include "rma.h"

#include <assert.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

uint64_t rmai_atomic(int op, void *word, size_t len, uint64_t value, uint64_t cond) {
    assert((len == 4 || len == 8) && "words have 4 or 8 bytes");
    assert(op >= RMA_FETCH_ && op < RMA_FETCH_FADD_ && "an operation of enum rma_atomic_op_, on an integer");
    return len == 4 ? rma_apply4_(op, word, value, cond) : rma_apply8_(op, word, value, cond);
}

/* ---- copies ---- */

/* Relaxed atomics: a compiler could turn plain stores into a call of memcpy. The source need not be aligned. */
#define MOVE(WORD, AT)                                                                                                 \
    do {                                                                                                               \
        WORD word;                                                                                                     \
        if ((uintptr_t)(from + (AT)) % sizeof word == 0)                                                               \
            word = __atomic_load_n((const WORD *)(const void *)(from + (AT)), __ATOMIC_RELAXED);                       \
        else                                                                                                           \
            memcpy(&word, from + (AT), sizeof word);                                                                   \
        __atomic_store_n((WORD *)(void *)(to + (AT)), word, __ATOMIC_RELAXED);                                         \
    } while (0)
#define MOVE_FROM(WORDS)                                                                                               \
    case WORDS: MOVE(rma_word8_, 8 * ((WORDS)-1)); __attribute__((fallthrough))

/* Two words as one where the processor can: x86-64 loads and stores 16 aligned bytes at once if it has AVX (Intel SDM,
 * volume 3, 9.1.1; AMD64 APM, volume 2, 7.3.2). The other side need not be aligned. */
#ifdef __SSE2__
static inline int move_pair(char *to, const char *from) {
    __m128i pair;
    if (((uintptr_t)to & 7) != 0 || (((uintptr_t)to & 15) != 0 && ((uintptr_t)from & 15) != 0)) return 0;
    pair = ((uintptr_t)from & 15) == 0 ? *(const volatile __m128i *)(const void *)from
                                       : _mm_loadu_si128((const __m128i *)(const void *)from);
    if (((uintptr_t)to & 15) == 0) {
        *(volatile __m128i *)(void *)to = pair;
    } else {
        __atomic_store_n((rma_word8_ *)(void *)to, (uint64_t)_mm_cvtsi128_si64(pair), __ATOMIC_RELAXED);
        __atomic_store_n((rma_word8_ *)(void *)(to + 8), (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(pair, pair)),
                         __ATOMIC_RELAXED);
    }
    return 1;
}
#else
static inline int move_pair(char *to, const char *from) { return (void)to, (void)from, 0; }
#endif

/* On AMD's processors the memcpy of glibc (2.36) copies up to the size of the second cache, 512 KiB or 1 MiB, by one
 * instruction. More bytes it copies by a loop, which takes 1.2 to 1.3 times as long for each byte (measured with 1 to
 * 64 MiB). So there a long copy is made of shorter ones. */
#define LONG_PIECE ((size_t)256 << 10)

void rma_move_long_(void *dest, const void *source, size_t len) {
#if defined(__x86_64__)
    if (__builtin_cpu_is("amd")) {
        for (; len > LONG_PIECE; len -= LONG_PIECE) {
            memcpy(dest, source, LONG_PIECE);
            dest = (char *)dest + LONG_PIECE;
            source = (const char *)source + LONG_PIECE;
        }
    }
#endif
    memcpy(dest, source, len);
}

void rma_move_short_(void *dest, const void *source, size_t len) {
    const char *from = source;
    char *to = dest;
    if (len == 8 && (uintptr_t)to % 8 == 0) {
        MOVE(rma_word8_, 0); /* the most common */
    } else if ((((uintptr_t)to | len) & 3) == 0) {
        if ((uintptr_t)to & 4 && len) {
            MOVE(rma_word4_, 0);
            to += 4;
            from += 4;
            len -= 4;
        }
        if (len & 4) MOVE(rma_word4_, len - 4);
        switch (len / 8) {
            case 2:
                if (move_pair(to, from)) return;
                MOVE(rma_word8_, 8);
                MOVE(rma_word8_, 0);
                break;
                MOVE_FROM(8);
                MOVE_FROM(7);
                MOVE_FROM(6);
                MOVE_FROM(5);
                MOVE_FROM(4);
            case 3:
                MOVE(rma_word8_, 16);
                MOVE(rma_word8_, 8);
                __attribute__((fallthrough));
                MOVE_FROM(1);
            default: break;
        }
    } else if (len == 1) {
        MOVE(rma_word1_, 0);
    } else if (len == 2 && (uintptr_t)to % 2 == 0) {
        MOVE(rma_word2_, 0);
    } else {
        memcpy(to, from, len);
    }
}
