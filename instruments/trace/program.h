/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_PROGRAM_H
#define TRACE_PROGRAM_H

/* trace_program_inlines: 1 if librma's calls are compiled into this process's program; 0 if it calls functions for all
 * of them, since it was compiled with RMA_PROFILE or without optimisation. */
int trace_program_inlines(void);

#endif
