/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the program, and what orders them. */
#ifndef RACE_THREADS_H
#define RACE_THREADS_H

/* race_tell, race_hear: by an object of this process, such as a mutex, named by its address: threads that hear know
 * what was told there before. */
void race_tell(const void *object);
void race_hear(const void *object);

/* race_object_gone: the address may become another object's. */
void race_object_gone(const void *object);

/* race_thread_of_runtime: the calling thread, which OpenMP's runtime has made, becomes one of the program's. It knows
 * nothing yet. */
void race_thread_of_runtime(void);

/* race_team_begins, race_team_ends: several threads are at work from now on, or were. While there are any, accesses of
 * private memory are looked at. */
void race_team_begins(void);
void race_team_ends(void);

#endif
