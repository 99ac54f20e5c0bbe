/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran 15 and later compile a transfer into functions of the program, accessors, which the image that has the data
 * executes. A program registers them when it starts. This library does not know that interface: the program ends with a
 * message at its first call, and not with a list of undefined names when it is linked. */
#include "config.h"

#include "caf/core.h"

#include <stdio.h>
#include <stdlib.h>

#define LATER(NAME)                                                                                                    \
    __attribute__((visibility("default"), noreturn)) void _gfortran_caf_##NAME(void);                                  \
    void _gfortran_caf_##NAME(void) { refuse(); }

static __attribute__((noreturn)) void refuse(void) {
    fputs("librma_caf: this program was compiled by gfortran 15 or later, whose coarray interface (accessors) this "
          "version of librma does not have: compile it with gfortran 12, 13 or 14\n",
          stderr);
    if (rma_initialized()) rma_exit_(1);
    _Exit(1);
}

LATER(register_accessor)
LATER(register_accessors_finish)
LATER(get_remote_function_index)
LATER(get_from_remote)
LATER(send_to_remote)
LATER(transfer_between_remotes)
LATER(is_present_on_remote)
