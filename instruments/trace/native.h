/* SPDX-License-Identifier: BSD-3-Clause */
/* librma's functions by their second names, which no tool replaces. */
#ifndef TRACE_NATIVE_H
#define TRACE_NATIVE_H

#include "rma.h"

#define PRMA(CALL) extern __typeof__(CALL) p##CALL
PRMA(rma_my_pe);
PRMA(rma_n_pes);
PRMA(rma_malloc);
PRMA(rma_free);
PRMA(rma_get);
PRMA(rma_broadcast);
PRMA(rma_fcollect);
extern int prma_min_reduce_long(rma_team *team, long *dest, const long *source, size_t n);
extern int prma_max_reduce_long(rma_team *team, long *dest, const long *source, size_t n);
PRMA(rma_barrier_all);
PRMA(rma_put_signal);
PRMA(rma_signal_set);
PRMA(rma_signal_wait_until);
PRMA(rma_team_translate_pe);
PRMA(rma_team_n_pes);
PRMA(rma_heap_stats);
PRMA(rma_stats);
PRMA(rma_stats_reset);

#endif
