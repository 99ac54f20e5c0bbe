/* SPDX-License-Identifier: BSD-3-Clause */
/* What the detector asks of the library that has started the processes: librma (host.c), or, in the library for
 * programs of MPI windows, MPI (mpi_host.c). All PEs call the collective ones together. */
#ifndef RACE_HOST_H
#define RACE_HOST_H

#include <stddef.h>

/* race_host_is_up: whether the library has been initialized. race_host_pe: this PE. */
int race_host_is_up(void);
int race_host_pe(void);

/* race_host_describe: sets those fields of race_job that say which PEs there are, and where their spaces are. Returns
 * -1 if memory is exhausted. race_host_limits: before the shared memory is laid out: how large its parts may be. */
int race_host_describe(void);
void race_host_limits(size_t map_most);

/* race_host_second: where the other PEs reach this PE's global variables, which have been found (race_job.statics). */
void race_host_second(void);

/* Collective. race_host_broadcast: PE 0 gives `len` bytes. race_host_least: each value becomes the least of all PEs'.
 * They return -1 if memory is exhausted, which all PEs see alike. */
int race_host_broadcast(void *data, size_t len);
int race_host_least(int *values, int n);
void race_host_barrier(void);

/* race_host_announce tells the library, before it has been initialized, that this PE has the detector. race_host_meet,
 * afterwards: whether all PEs have it, and of one version; if not, one of them says so. The others would take no part
 * in a collective of the detector. */
void race_host_announce(void);
int race_host_meet(void);

/* For programs whose calls another library takes first (linking.h): some of these calls, up to NULL; and what to do. */
extern const char *const race_host_calls[];
extern const char race_host_remedy[];

/* race_host_covers_hosts: whether the PEs may be on several hosts (remote.h). */
int race_host_covers_hosts(void);

/* race_host_abort ends the job after an error. */
void race_host_abort(void) __attribute__((noreturn));

/* race_host_share_less: 1 if the parts of the shared memory can be, and from now on are, smaller. */
int race_host_share_less(void);

#endif
