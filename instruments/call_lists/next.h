/* SPDX-License-Identifier: BSD-3-Clause */
/* For functions without a second name that leads to the library: the next library's function of the name. A tool
 * defines a macro that declares
 *
 *     CALLS_NEXT(the function, the tool's function that prints a message)
 *
 * and its wrapper calls next(...). */
#ifndef CALL_LISTS_NEXT_H
#define CALL_LISTS_NEXT_H

/* calls_next looks the name up once, and ends the process with a message if no library has it. */
void *calls_next(void **known, const char *name, void (*say)(const char *format, ...));

#define CALLS_NEXT(CALL, SAY)                                                                                          \
    static void *known_;                                                                                               \
    __typeof__(&CALL) next = __extension__(__typeof__(&CALL)) calls_next(&known_, #CALL, SAY)

#endif
