/* SPDX-License-Identifier: BSD-3-Clause */
/* race_load_store: the program, at pc, reads or writes memory by a function that is not instrumented (memcpy). */
#ifndef RACE_ACCESS_H
#define RACE_ACCESS_H

#include <stddef.h>
#include <stdint.h>

void race_load_store(const void *addr, size_t size, int write, uintptr_t pc);

/* race_load_store_run records what a run has accessed (runs.h). */
void race_load_store_run(uintptr_t addr, size_t len, int write, uintptr_t pc);

#endif
