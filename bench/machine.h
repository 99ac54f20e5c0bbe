/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h: the machines of the job: how many PEs share one, and how busy other processes keep it. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

/* bench_machine_open: begins to count the processor time that each machine and each PE use. Returns how many PEs this
 * machine has. Collective; MPI is initialized. */
int bench_machine_open(void);

/* bench_machine_others: how many processors other processes have used on average since bench_machine_open, on the
 * machine where they used most; NAN if too little time has passed, or /proc/stat cannot be read. Collective; only PE
 * 0's result is valid. Ends the counting. */
double bench_machine_others(void);

/* bench_resident: bytes of memory that this process has in its page tables, shared ones included; NAN: unknown. */
double bench_resident(void);

#endif
