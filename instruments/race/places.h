/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the program, as numbers of 32 bits that mean the same on all PEs: an offset in the main program, or the
 * number of a host and of an entry in the table of its race_job.header. */
#ifndef RACE_PLACES_H
#define RACE_PLACES_H

#include <stdint.h>

#include "instruments/race/job.h"

#define RACE_TABLED  0x80000000u
#define RACE_NOWHERE 1u /* no place has the number 0: a cell has it until its place is stored */

uint32_t race_place_elsewhere(uintptr_t pc);

/* race_place: the place of an instruction of this process. */
static inline uint32_t race_place(uintptr_t pc) {
    uintptr_t o = pc - race_job.program;
    return o < race_job.program_len ? (uint32_t)o : race_place_elsewhere(pc);
}

/* race_is_program: whether the instruction is in the main program or in C++'s library. */
static inline int race_is_program(uintptr_t pc) {
    return pc - race_job.program < race_job.program_end - race_job.program ||
           pc - race_job.cxx < race_job.cxx_end - race_job.cxx;
}

/* race_call_place: the place from which the library's function `call` was called. */
uint32_t race_call_place(uintptr_t pc, const char *call);

/* race_place_call: the function that was called at the place, or "". race_place_pc: the offset in the main program
 * (*main 1), or the address in the process of PE *pe. */
const char *race_place_call(uint32_t place);
uint64_t race_place_pc(uint32_t place, int *main, int *pe);

#endif
