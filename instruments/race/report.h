/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of racing accesses: one for each pair of places, by the PE that finds it. */
#ifndef RACE_REPORT_H
#define RACE_REPORT_H

#include "instruments/race/events.h"
#include "instruments/race/shadow.h"

/* race_report: `old` and the access of bytes `mask` at `where` by `who` race. what: enum race_what. */
void race_report(const struct race_record *old, race_epoch mask, race_epoch kind, int what, uint32_t place,
                 const struct race_who *who, struct race_where where);

/* race_report_past_end: the call accesses `len` bytes from this offset of PE pe's symmetric heap on, the last `past` of
 * them after the end of the block in which they begin. */
void race_report_past_end(const struct race_call *c, int pe, uint64_t offset, size_t len, size_t past, int write);

#endif
