/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the program, and what orders them. */
#ifndef RACE_THREADS_H
#define RACE_THREADS_H

/* race_tell, race_hear: through an object of this process, such as a mutex, which its address identifies. A thread that
 * hears knows what was told there before. */
void race_tell(const void *object);
void race_hear(const void *object);

/* race_object_gone: another object may get the address. */
void race_object_gone(const void *object);

/* race_thread_of_runtime: the calling thread, which OpenMP's runtime has created, becomes one of the program's. It
 * knows nothing yet. */
void race_thread_of_runtime(void);

/* race_team_begins, race_team_ends: from now on several threads are running, or no longer. While they are, accesses of
 * private memory are checked. */
void race_team_begins(void);
void race_team_ends(void);

#endif
