/* SPDX-License-Identifier: BSD-3-Clause */
/* For functions without a second name that leads to librma: the next library's function of the name. A wrapper declares
 * TRACE_NEXT(the function) and calls next(...). */
#ifndef TRACE_NEXT_H
#define TRACE_NEXT_H

/* trace_next looks the name up once, and ends the process if no library has it. */
void *trace_next(void **known, const char *name);

#define TRACE_NEXT(CALL)                                                                                               \
    static void *known_;                                                                                               \
    __typeof__(&CALL) next = __extension__(__typeof__(&CALL)) trace_next(&known_, #CALL)

#endif
