/* SPDX-License-Identifier: BSD-3-Clause */
/* librma's functions by their second names, which no tool replaces. */
#ifndef RACE_NATIVE_H
#define RACE_NATIVE_H

#include "rma.h"

#define PRMA(CALL) extern __typeof__(CALL) p##CALL
PRMA(rma_abort) __attribute__((noreturn));
PRMA(rma_my_pe);
PRMA(rma_n_pes);
PRMA(rma_node_n_pes);
PRMA(rma_initialized);
PRMA(rma_malloc);
PRMA(rma_ptr);
PRMA(rma_gptr);
PRMA(rma_gptr_get);
PRMA(rma_free);
PRMA(rma_broadcast);
extern int prma_min_reduce_int(rma_team *team, int *dest, const int *source, size_t n);
PRMA(rma_barrier_all);
PRMA(rma_team_translate_pe);
PRMA(rma_team_n_pes);
PRMA(rma_team_my_pe);

#endif
