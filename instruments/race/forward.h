/* SPDX-License-Identifier: BSD-3-Clause */
/* How a wrapper forwards to the library, whose own accesses are not checked. */
#ifndef RACE_FORWARD_H
#define RACE_FORWARD_H

#include "instruments/call_lists/next.h"
#include "instruments/race/clock.h"
#include "instruments/race/options.h"
#include "instruments/race/spin.h"

/* RACE_NEXT(the function) declares `next`, the next library's function of the name. */
#define RACE_NEXT(CALL) CALLS_NEXT(CALL, race_say)

/* While the thread is in the library, whose own accesses are not checked. On several hosts it counts as the holder of a
 * lock there (spin.h): a handler must not ask another host while its thread is in MPI. */
static inline void race_enter_library(void) {
    if (__builtin_expect(race_holds_in_library, 0)) race_hold();
    race_inside++;
}
static inline void race_leave_library(void) {
    race_inside--;
    if (__builtin_expect(race_holds_in_library, 0)) race_let_go();
}

#define RACE_FORWARD(...)                                                                                              \
    do {                                                                                                               \
        race_enter_library();                                                                                          \
        __VA_ARGS__;                                                                                                   \
        race_leave_library();                                                                                          \
    } while (0)

#endif
