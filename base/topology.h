/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine: memory, processors, NUMA nodes. Facts that every init needs are read from the kernel, in microseconds.
 * hwloc is loaded only to bind memory to NUMA nodes and for rma_info: loading it costs a millisecond and a MiB on a
 * small machine, and tenths of a second on machines with hundreds of processors. */
#ifndef RMAI_TOPOLOGY_H
#define RMAI_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#define RMAI_CPU_WORDS 64 /* processors 0..4095 */

/* A set of processors (hwloc's PUs, the kernel's CPUs); bit c % 64 of word c / 64 is processor c. */
struct rmai_cpus {
    uint64_t word[RMAI_CPU_WORDS];
};

/* rmai_node_memory: bytes that the processes of this node may use: the smaller one of the physical memory and the
 * memory limits of this process's control group and those above it (base/cgroup). */
size_t rmai_node_memory(void);

/* rmai_cpu_quota: how many processors' worth of time the control groups allow, at least 1; INT_MAX if they set no
 * limit. */
int rmai_cpu_quota(void);

/* rmai_affinity reads the set of processors that this process may run on. */
void rmai_affinity(struct rmai_cpus *cpus);

/* rmai_cpus_add adds the processors of `more` to cpus; rmai_cpus_count counts those of cpus. */
void rmai_cpus_add(struct rmai_cpus *cpus, const struct rmai_cpus *more);
int rmai_cpus_count(const struct rmai_cpus *cpus);

/* rmai_affinity_describe writes as text how many of the machine's processors this process may use. */
void rmai_affinity_describe(char text[128]);

/* rmai_numa_exists: 1 if the system has NUMA node number `node`. rmai_numa_bind binds [start, start + len), whole
 * pages, to that node, and moves pages that are elsewhere. Returns 1 on success. */
int rmai_numa_exists(int node);
int rmai_numa_bind(void *start, size_t len, int node);

/* rmai_huge_page: bytes of a huge page, or of a normal page if the system has no huge pages. rmai_huge_advise asks for
 * huge pages in [start, start + len), whole huge pages. Returns 1 if the range has huge pages now. */
size_t rmai_huge_page(void);
int rmai_huge_advise(void *start, size_t len);

/* rmai_topology_print writes lines about the machine: processors, cores, caches, NUMA nodes, memory, binding. */
void rmai_topology_print(void (*put)(void *out, const char *line), void *out);

#endif
