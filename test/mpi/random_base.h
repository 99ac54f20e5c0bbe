/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of test/mpi/random share: numbers drawn from a seed, and memory that is given back all at once. */
#ifndef TEST_MPI_RANDOM_BASE_H
#define TEST_MPI_RANDOM_BASE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct draws {
    uint64_t state;
};

/* draw_word: 64 random bits (splitmix64). draw: a number in 0..n-1. chance: 1 in one of n cases. */
static inline uint64_t draw_word(struct draws *d) {
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static inline size_t draw(struct draws *d, size_t n) { return n > 1 ? (size_t)(draw_word(d) >> 11) % n : 0; }
static inline int chance(struct draws *d, size_t n) { return draw(d, n) == 0; }
void draw_bytes(struct draws *d, void *to, size_t len);

/* Memory for one step: store_take gives zeroed memory, and store_reset takes all of it back. */
struct store {
    struct store_chunk *chunks;
    size_t used;
};
void *store_take(struct store *s, size_t size);
void store_reset(struct store *s);
/* store_words: printf into such memory. */
char *store_words(struct store *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
