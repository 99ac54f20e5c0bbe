/* SPDX-License-Identifier: BSD-3-Clause */
/* The sign of a PE: what it tells other PEs of the call in which it waits, in its header. */
#ifndef RMAI_SIGN_H
#define RMAI_SIGN_H

#include "base/wait.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct rmai_job;

/* A writer makes `version` odd while it writes. */
#define RMAI_SIGN_WORDS (sizeof(struct rmai_sign) / 8)
struct rmai_shown_sign {
    _Atomic uint32_t version;
    _Atomic uint64_t word[RMAI_SIGN_WORDS];
};

/* rmai_sign_of: that of PE number `slot` of the node, which is `at` bytes behind the beginning of each PE's space.
 * rmai_sign_show replaces this PE's own; rmai_sign_read copies one. */
struct rmai_shown_sign *rmai_sign_of(const struct rmai_job *job, size_t at, int slot);
void rmai_sign_show(struct rmai_shown_sign *mine, const struct rmai_sign *sign);
void rmai_sign_read(struct rmai_shown_sign *shown, struct rmai_sign *sign);

#endif
