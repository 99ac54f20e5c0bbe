/* SPDX-License-Identifier: BSD-3-Clause */
/* For the makers of reports. */
#ifndef TRACE_MEMORY_H
#define TRACE_MEMORY_H

/* trace_need: the memory, which was allocated just now; ends the process if there is none. */
void *trace_need(void *memory);

#endif
