/* SPDX-License-Identifier: BSD-3-Clause */
/* For functions of librma_caf and of Fortran's library: the next library's function of the name. A wrapper declares
 * RACE_NEXT(the function) and calls next(...). */
#ifndef RACE_CAF_NEXT_H
#define RACE_CAF_NEXT_H

/* race_next looks the name up once, and ends the process if no library has it. */
void *race_next(void **known, const char *name);

#define RACE_NEXT(CALL)                                                                                                \
    static void *known_;                                                                                               \
    __typeof__(&CALL) next = __extension__(__typeof__(&CALL)) race_next(&known_, #CALL)

#endif
