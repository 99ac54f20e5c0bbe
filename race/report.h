/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of racing accesses: one for each pair of places, by the PE that finds it. */
#ifndef RACE_REPORT_H
#define RACE_REPORT_H

#include "race/shadow.h"

/* race_report: `old` and the access of bytes `mask` at `where` by `who` race. */
void race_report(const struct race_record *old, race_epoch mask, race_epoch kind, int write, uint32_t place,
                 const struct race_who *who, struct race_where where);

#endif
