/* SPDX-License-Identifier: BSD-3-Clause */
/* How a wrapper forwards to the library, whose own accesses are not checked. */
#ifndef RACE_FORWARD_H
#define RACE_FORWARD_H

#include "instruments/call_lists/next.h"
#include "instruments/race/clock.h"
#include "instruments/race/options.h"

/* RACE_NEXT(the function) declares `next`, the next library's function of the name. */
#define RACE_NEXT(CALL) CALLS_NEXT(CALL, race_say)

#define RACE_FORWARD(...)                                                                                              \
    do {                                                                                                               \
        race_inside++;                                                                                                 \
        __VA_ARGS__;                                                                                                   \
        race_inside--;                                                                                                 \
    } while (0)

#endif
