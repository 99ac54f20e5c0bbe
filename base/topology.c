/* SPDX-License-Identifier: BSD-3-Clause */
/* Two sources: the kernel's files for facts that every init needs, which are cheap to read; hwloc for the machine's
 * shape. */
#include "config.h"

#include "base/topology.h"
#include "base/attributes.h"
#include "base/cgroup.h"
#include "base/error.h"
#include "base/process.h"
#include "base/size.h"

#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- limits of control groups ---- */

size_t rmai_node_memory(void) {
    struct rmai_cgroup g;
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    rmai_cgroup_find(&g, "", "memory");
    return rmai_min(bytes, rmai_cgroup_memory_limit(&g));
}

int rmai_cpu_quota(void) {
    struct rmai_cgroup g;
    rmai_cgroup_find(&g, "", "cpu");
    return rmai_cgroup_cpus(&g);
}

/* ---- sets of processors ---- */

void rmai_affinity(struct rmai_cpus *cpus) {
    memset(cpus, 0, sizeof *cpus);
    if (sched_getaffinity(0, sizeof *cpus, (cpu_set_t *)(void *)cpus) != 0) {
        /* More processors than bits: take all of the system's processors, by number. */
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        for (long c = 0; c < n && c < RMAI_CPU_WORDS * 64; c++) cpus->word[c / 64] |= (uint64_t)1 << (c % 64);
    }
}

void rmai_cpus_add(struct rmai_cpus *cpus, const struct rmai_cpus *more) {
    for (int i = 0; i < RMAI_CPU_WORDS; i++) cpus->word[i] |= more->word[i];
}

int rmai_cpus_count(const struct rmai_cpus *cpus) {
    int n = 0;
    for (int i = 0; i < RMAI_CPU_WORDS; i++) n += __builtin_popcountll(cpus->word[i]);
    return n;
}

/* Does not use hwloc, so it cannot tell a launcher's binding from a control group's. */
void rmai_affinity_describe(char text[128]) {
    struct rmai_cpus mine;
    long mine_n, all_n = sysconf(_SC_NPROCESSORS_ONLN);
    rmai_affinity(&mine);
    mine_n = rmai_cpus_count(&mine);
    if (mine_n < all_n)
        snprintf(text, 128, "bound to %ld of %ld processors (launcher or control group)", mine_n, all_n);
    else
        snprintf(text, 128, "not bound");
}

/* ---- hwloc ---- */

static hwloc_topology_t load_topology(void) {
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0) return NULL;
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (hwloc_topology_load(t) != 0) {
        hwloc_topology_destroy(t);
        return NULL;
    }
    return t;
}

int rmai_numa_exists(int node) {
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
    /* A kernel without NUMA has no such folder, and one node. */
    return access(path, F_OK) == 0 || (node == 0 && access("/sys/devices/system/node", F_OK) != 0);
}

int rmai_numa_bind(void *start, size_t len, int node) {
    hwloc_topology_t t = load_topology();
    hwloc_obj_t object = t ? hwloc_get_numanode_obj_by_os_index(t, (unsigned)node) : NULL;
    int done = object && hwloc_set_area_membind(t, start, len, object->nodeset, HWLOC_MEMBIND_BIND,
                                                HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_MIGRATE) == 0;
    if (t) hwloc_topology_destroy(t);
    return done;
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* The first line of a kernel file, without its newline; "" if there is none. */
static const char *read_first_line(const char *path, char line[128]) {
    FILE *f = fopen(path, "re");
    line[0] = 0;
    if (f) {
        if (!fgets(line, 128, f)) line[0] = 0;
        fclose(f);
    }
    line[strcspn(line, "\n")] = 0;
    return line;
}

size_t rmai_huge_page(void) {
    char line[128];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), huge = strtoull(read_first_line(THP "hpage_pmd_size", line), NULL, 10);
    return huge > page && (huge & (huge - 1)) == 0 ? huge : page;
}

/* MADV_HUGEPAGE lets the kernel make huge pages later. MADV_COLLAPSE makes them now, or fails; it skips incomplete huge
 * pages. */
int rmai_huge_advise(void *start, size_t len) {
    madvise(start, len, MADV_HUGEPAGE);
    return ((uintptr_t)start | len) % rmai_huge_page() == 0 && !rmai_process_advice_ignored() &&
           madvise(start, len, MADV_COLLAPSE) == 0;
}

static void print_huge_pages(void (*put)(void *out, const char *line), void *out) {
    char line[256], private[128], shared[128], size[24];
    snprintf(line, sizeof line, "huge pages     %s; private memory: %s; shared memory: %s",
             rmai_huge_page() > (size_t)sysconf(_SC_PAGESIZE) ? rmai_format_size(size, rmai_huge_page()) : "none",
             read_first_line(THP "enabled", private), read_first_line(THP "shmem_enabled", shared));
    put(out, line);
}

void rmai_topology_print(void (*put)(void *out, const char *line), void *out) {
    static const hwloc_obj_type_t caches[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
    hwloc_topology_t t = load_topology();
    struct rmai_cpus mine;
    char line[256], size[24];
    hwloc_obj_t package, object;
    int quota = rmai_cpu_quota();
    if (!t) {
        put(out, "hwloc cannot read this machine");
        return;
    }
    package = hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0);
    if (package && hwloc_obj_get_info_by_name(package, "CPUModel")) {
        snprintf(line, sizeof line, "processor      %s", hwloc_obj_get_info_by_name(package, "CPUModel"));
        put(out, line);
    }
    rmai_affinity(&mine);
    snprintf(
        line, sizeof line, "layout         %d packages, %d NUMA nodes, %d cores, %d PUs, %d usable by this process",
        hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE), hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE),
        hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE), hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU), rmai_cpus_count(&mine));
    put(out, line);
    if (quota != INT_MAX) {
        snprintf(line, sizeof line, "quota          %d processors' worth of time (control group)", quota);
        put(out, line);
    }
    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        object = hwloc_get_obj_by_type(t, caches[i], 0);
        if (!object) continue;
        snprintf(line, sizeof line, "L%d cache       %d x %s", (int)i + 1, hwloc_get_nbobjs_by_type(t, caches[i]),
                 rmai_format_size(size, object->attr->cache.size));
        put(out, line);
    }
    snprintf(line, sizeof line, "memory         %s", rmai_format_size(size, rmai_node_memory()));
    put(out, line);
    hwloc_topology_destroy(t);
    print_huge_pages(put, out);
}
