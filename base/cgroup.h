/* SPDX-License-Identifier: BSD-3-Clause */
/* Control groups: which one this process is in, and what it and the groups above it allow. Versions 1 and 2, also side
 * by side (each controller belongs to one of them), and as a container shows them: with a namespace of its own
 * ("0::/"), or with its own group mounted as if it were the topmost. After cgroups(7), and the kernel's
 * cgroup-v1/memory.rst and cgroup-v2.rst.
 *
 * A group can be moved, removed, or given other limits while the process runs. What is not there, or not a number,
 * limits nothing: a limit that we cannot read is no reason to refuse memory. */
#ifndef RMAI_CGROUP_H
#define RMAI_CGROUP_H

#include <limits.h>
#include <stddef.h>

struct rmai_cgroup {
    int version;           /* 1 or 2; 0: none was found, and nothing is limited. Zero is a valid one */
    size_t top;            /* bytes of folder that are the mount point: the topmost group that can be seen */
    char folder[PATH_MAX]; /* this process's group */
};

/* rmai_cgroup_find finds the group of this process for a controller ("memory", "cpu"). root is "", or a folder that is
 * looked at in place of /: for tests. */
void rmai_cgroup_find(struct rmai_cgroup *g, const char *root, const char *controller);

/* What the group with the least room says of memory. */
struct rmai_cgroup_memory {
    size_t room;           /* bytes that can be had without swapping, at most limit; SIZE_MAX: no group has a limit */
    size_t limit, used;    /* bytes of that group; used: without what the kernel can drop */
    char folder[PATH_MAX]; /* its folder */
};

/* rmai_cgroup_memory_limit: the least limit of the group and those above it; SIZE_MAX if there is none.
 * rmai_cgroup_memory: the least room. A read of one small file for each group, two more for each that has a limit. */
size_t rmai_cgroup_memory_limit(const struct rmai_cgroup *g);
void rmai_cgroup_memory(const struct rmai_cgroup *g, struct rmai_cgroup_memory *m);

/* rmai_cgroup_cpus: processors' worth of time that the groups allow (cpu.max; cpu.cfs_quota_us), at least 1; INT_MAX if
 * unlimited. */
int rmai_cgroup_cpus(const struct rmai_cgroup *g);

#endif
