/* SPDX-License-Identifier: BSD-3-Clause */
/* In a function that stands for one of the library: where the program has called it, and the frame of the function.
 * as.h replaces both while it defines functions that do not stand for one themselves. No guard: to be included again.
 */
#define CALLS_HERE  ((uintptr_t)__builtin_return_address(0))
#define CALLS_FRAME __builtin_frame_address(0)
