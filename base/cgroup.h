/* SPDX-License-Identifier: BSD-3-Clause */
/* Control groups: which one this process is in, and what that group and the groups above it allow. Versions 1 and 2,
 * also side by side (each controller belongs to one of them), and inside a container, which has a namespace of its own
 * ("0::/"), or its own group mounted as if it were the topmost. After cgroups(7), and the kernel's cgroup-v1/memory.rst
 * and cgroup-v2.rst.
 *
 * A group can be moved, removed, or given other limits while the process runs. A limit that is missing, or is not a
 * number, counts as no limit: an unreadable limit is no reason to refuse memory. */
#ifndef RMAI_CGROUP_H
#define RMAI_CGROUP_H

#include <limits.h>
#include <stddef.h>

struct rmai_cgroup {
    int version;           /* 1 or 2; 0: no group was found, and nothing is limited. A zeroed struct is valid */
    size_t top;            /* length of the mount point, the topmost visible group, in `folder` */
    char folder[PATH_MAX]; /* this process's group */
};

/* rmai_cgroup_find finds the group of this process for a controller ("memory", "cpu"). root is "", or a folder that
 * replaces / in tests. */
void rmai_cgroup_find(struct rmai_cgroup *g, const char *root, const char *controller);

/* The memory of the group that has the least room. */
struct rmai_cgroup_memory {
    size_t room; /* bytes that this process can still get without swapping, at most limit; SIZE_MAX: no group has a
                    limit */
    size_t limit, used; /* limit and use of that group in bytes; pages that the kernel can drop do not count as used */
    char folder[PATH_MAX]; /* its folder */
};

/* rmai_cgroup_memory_limit: the smallest limit of the group and those above it; SIZE_MAX if there is none.
 * rmai_cgroup_memory finds the smallest room. It reads one small file for each group, and two more for each group that
 * has a limit. */
size_t rmai_cgroup_memory_limit(const struct rmai_cgroup *g);
void rmai_cgroup_memory(const struct rmai_cgroup *g, struct rmai_cgroup_memory *m);

/* rmai_cgroup_cpus: how many processors' worth of time the groups allow (cpu.max; cpu.cfs_quota_us), at least 1;
 * INT_MAX if they set no limit. */
int rmai_cgroup_cpus(const struct rmai_cgroup *g);

#endif
