/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/pair_kernels.h"

#include <stdint.h>
#include <string.h>

#define LOCATE(WHICH, NAME, VALUE, INDEX, WINS)                                                                        \
    void rmai_##WHICH##_##NAME(void *there, const void *mine, size_t n) {                                              \
        const size_t step = sizeof(VALUE) + sizeof(INDEX);                                                             \
        char *at = there;                                                                                              \
        for (const char *from = mine; n > 0; n--, at += step, from += step) {                                          \
            VALUE a, b;                                                                                                \
            INDEX a_index, b_index;                                                                                    \
            memcpy(&a, at, sizeof a);                                                                                  \
            memcpy(&b, from, sizeof b);                                                                                \
            memcpy(&a_index, at + sizeof a, sizeof a_index);                                                           \
            memcpy(&b_index, from + sizeof b, sizeof b_index);                                                         \
            if (b WINS a || (a == b && b_index < a_index)) memcpy(at, from, step);                                     \
        }                                                                                                              \
    }
#define BOTH(NAME, VALUE, INDEX)                                                                                       \
    LOCATE(minloc, NAME, VALUE, INDEX, <)                                                                              \
    LOCATE(maxloc, NAME, VALUE, INDEX, >)
RMAI_PAIRS(BOTH)
