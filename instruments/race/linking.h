/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the program's calls come to the detector. */
#ifndef RACE_LINKING_H
#define RACE_LINKING_H

/* race_is_behind: 1: another library takes the program's calls before this one, such as one that is preloaded, or a
 * profiling library. Then the detector says so and looks for no races. */
extern int race_is_behind;

#endif
