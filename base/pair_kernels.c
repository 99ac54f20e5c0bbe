/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/pair_kernels.h"

#include <stdint.h>
#include <string.h>

#define EACH_PAIR(WHICH, NAME, VALUE, INDEX, WINS)                                                                     \
    void rmai_##WHICH##_##NAME(void *there, const void *mine, size_t n) {                                              \
        const size_t to_index = RMAI_INDEX_AT(VALUE, INDEX), step = RMAI_PAIR_SIZE(VALUE, INDEX);                      \
        char *at = there;                                                                                              \
        for (const char *from = mine; n > 0; n--, at += step, from += step) {                                          \
            VALUE a, b;                                                                                                \
            INDEX a_index, b_index;                                                                                    \
            memcpy(&a, at, sizeof a);                                                                                  \
            memcpy(&b, from, sizeof b);                                                                                \
            memcpy(&a_index, at + to_index, sizeof a_index);                                                           \
            memcpy(&b_index, from + to_index, sizeof b_index);                                                         \
            if (!(WINS)) continue;                                                                                     \
            memcpy(at, from, sizeof b);                                                                                \
            memcpy(at + to_index, from + to_index, sizeof b_index);                                                    \
        }                                                                                                              \
    }
#define OPERATIONS(NAME, VALUE, INDEX)                                                                                 \
    EACH_PAIR(minloc, NAME, VALUE, INDEX, b < a || (a == b && b_index < a_index))                                      \
    EACH_PAIR(maxloc, NAME, VALUE, INDEX, b > a || (a == b && b_index < a_index))                                      \
    EACH_PAIR(set, NAME, VALUE, INDEX, 1)
RMAI_PAIRS(OPERATIONS)
