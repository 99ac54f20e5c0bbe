/* SPDX-License-Identifier: BSD-3-Clause */
/* Two files of /proc lead to the group's folder:
 *
 *     /proc/self/cgroup       4:memory:/docker/1f2e         version 1, the controllers of a hierarchy, the group
 *                             0::/user.slice/job            version 2
 *     /proc/self/mountinfo    ... /docker/1f2e /sys/fs/cgroup/memory ... - cgroup cgroup rw,memory
 *                                 ^ mounted    ^ there                     ^ type        ^ controllers (version 1)
 *
 * The folder is the mount point, followed by the group's path without the path that is mounted. */
#include "config.h"

#include "base/cgroup.h"
#include "base/attributes.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding the group ---- */

/* 1 if `word` is in a comma-separated list. */
static int list_has(const char *list, const char *word) {
    size_t len = strlen(word);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, word, len) == 0 && (p[len] == ',' || p[len] == 0)) return 1;
    return 0;
}

static FILE *open_proc(const char *root, const char *file) {
    char name[PATH_MAX];
    return snprintf(name, sizeof name, "%s/proc/self/%s", root, file) < (int)sizeof name ? fopen(name, "re") : NULL;
}

/* Reads the process's group for the controller from /proc/self/cgroup. Returns the version, 0 if there is no group. */
static int read_group_path(const char *root, const char *controller, char path[PATH_MAX]) {
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    int version = 0;
    FILE *f = open_proc(root, "cgroup");
    if (!f) return 0;
    while (version != 1 && (len = getline(&line, &room, f)) > 0) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        int v2 = strncmp(line, "0::", 3) == 0;
        if (!group || group[1] != '/' || len >= PATH_MAX) continue;
        group++;
        group[strcspn(group, "\n")] = 0;
        controllers++;
        group[-1] = 0;
        if (!v2 && !list_has(controllers, controller)) continue;
        memcpy(path, group, strlen(group) + 1);
        version = v2 ? 2 : 1; /* a controller belongs to either version 1 or version 2 */
    }
    free(line);
    fclose(f);
    return version;
}

/* Replaces octal escapes: the kernel writes \040 for a space in a path of mountinfo, and so on. */
static void unescape_octal(char *text) {
    char *to = text;
    for (const char *p = text; *p; to++) {
        int octal =
            p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' && p[3] >= '0' && p[3] <= '7';
        *to = (char)(octal ? (p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0') : *p);
        p += octal ? 4 : 1;
    }
    *to = 0;
}

/* The part of path below `mounted`; NULL if path is not below it. */
static const char *path_below(const char *path, const char *mounted) {
    size_t len = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted);
    if (strncmp(path, mounted, len) != 0 || (path[len] != '/' && path[len] != 0)) return NULL;
    return strcmp(path + len, "/") == 0 ? "" : path + len;
}

/* Cuts a line of mountinfo into its fields. Returns 1 if it mounts the hierarchy of this version and controller:
 * *mounted and *at then point into the line. */
static int cut_mount(char *line, int version, const char *controller, char **mounted, char **at) {
    char *field[6], *rest = strstr(line, " - "), *type, *options;
    if (!rest) return 0;
    *rest = 0;
    type = strtok_r(rest + 3, " \n", &rest);
    if (!type || strcmp(type, version == 2 ? "cgroup2" : "cgroup") != 0 || !strtok_r(NULL, " \n", &rest)) return 0;
    options = strtok_r(NULL, " \n", &rest);
    if (version == 1 && (!options || !list_has(options, controller))) return 0;
    for (int i = 0; i < 6; i++)
        if (!(field[i] = strtok_r(i ? NULL : line, " ", &rest))) return 0;
    *mounted = field[3], *at = field[4];
    unescape_octal(*mounted);
    unescape_octal(*at);
    return 1;
}

/* Sets folder and top. Returns 1 if the folder fits. A path with "/.." means that the process is in a group outside its
 * namespace, which has no folder here: then the folder is the mount point. */
static int set_group_folder(struct rmai_cgroup *g, const char *root, const char *at, const char *path) {
    int top = snprintf(g->folder, sizeof g->folder, "%s%s", root, at);
    if (top < 0 || (size_t)top >= sizeof g->folder) return 0;
    g->top = (size_t)top;
    if (!path || strstr(path, "/..")) path = "";
    return snprintf(g->folder + top, sizeof g->folder - g->top, "%s", path) < (int)(sizeof g->folder - g->top);
}

void rmai_cgroup_find(struct rmai_cgroup *g, const char *root, const char *controller) {
    char path[PATH_MAX], usual[64], *line = NULL, *mounted, *at;
    size_t room = 0;
    int version = read_group_path(root, controller, path), found = 0;
    FILE *f;
    memset(g, 0, sizeof *g);
    if (!version) return;
    snprintf(usual, sizeof usual, "/sys/fs/cgroup%s%s", version == 1 ? "/" : "", version == 1 ? controller : "");
    f = open_proc(root, "mountinfo");
    /* Takes a mount that contains the group, else the first mount: in a container this is often the process's own
     * group. */
    while (f && found < 2 && getline(&line, &room, f) > 0) {
        const char *left;
        if (!cut_mount(line, version, controller, &mounted, &at)) continue;
        left = path_below(path, mounted);
        if ((left || !found) && set_group_folder(g, root, at, left)) found = left ? 2 : 1;
    }
    free(line);
    if (f) fclose(f);
    if (found || (!f && set_group_folder(g, root, usual, path_below(path, "/")))) g->version = version;
}

/* ---- reading it ---- */

/* Removes the last group from folder. Returns 0 if that group is the topmost one. */
static int go_to_parent_group(const struct rmai_cgroup *g, char *folder) {
    char *slash = strrchr(folder + g->top, '/');
    if (slash) *slash = 0;
    return slash != NULL;
}

/* The text of a small file of a group, cut at room - 1 bytes; "" if it cannot be read. */
static const char *read_group_file(const char *folder, const char *file, char *text, size_t room) {
    char name[PATH_MAX + 64];
    ssize_t n = 0;
    size_t len = 0;
    int fd;
    snprintf(name, sizeof name, "%s/%s", folder, file);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && len < room - 1 && (n = read(fd, text + len, room - 1 - len)) > 0) len += (size_t)n;
    if (fd >= 0) close(fd);
    text[len] = 0;
    return text;
}

/* The number at the beginning of text, or `otherwise`: "max", "-1" and an empty text are not numbers. */
static size_t parse_number_or(const char *text, size_t otherwise) {
    char *end;
    unsigned long long n;
    if (*text < '0' || *text > '9') return otherwise;
    n = strtoull(text, &end, 10);
    return *end == 0 || *end == '\n' || *end == ' ' ? (size_t)n : otherwise;
}

static size_t read_number_or(const char *folder, const char *file, size_t otherwise) {
    char text[64];
    return parse_number_or(read_group_file(folder, file, text, sizeof text), otherwise);
}

/* In version 1 the largest multiple of a page means "no limit". */
static size_t memory_limit_of(const struct rmai_cgroup *g, const char *folder) {
    size_t limit = read_number_or(folder, g->version == 1 ? "memory.limit_in_bytes" : "memory.max", SIZE_MAX);
    return limit < SIZE_MAX / 4 ? limit : SIZE_MAX;
}

/* The value of a line "key value" of memory.stat. */
static size_t memory_stat_of(const char *text, const char *key) {
    size_t len = strlen(key);
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (strncmp(p, key, len) == 0 && p[len] == ' ') return parse_number_or(p + len + 1, 0);
    return 0;
}

/* Bytes that the kernel can drop without swapping: pages of files. The kernel keeps pages that are in use, so only half
 * of the active ones count, as in MemAvailable. These numbers do not include pages of /dev/shm (our heaps): they can
 * only be swapped out. */
static size_t reclaimable_bytes(const struct rmai_cgroup *g, const char *folder) {
    char text[8192];
    int v1 = g->version == 1;
    read_group_file(folder, "memory.stat", text, sizeof text);
    return memory_stat_of(text, v1 ? "total_inactive_file" : "inactive_file") +
           memory_stat_of(text, v1 ? "total_active_file" : "active_file") / 2;
}

size_t rmai_cgroup_memory_limit(const struct rmai_cgroup *g) {
    char folder[PATH_MAX];
    size_t least = SIZE_MAX;
    if (!g->version) return least;
    strcpy(folder, g->folder);
    do {
        least = rmai_min(least, memory_limit_of(g, folder));
    } while (go_to_parent_group(g, folder));
    return least;
}

void rmai_cgroup_memory(const struct rmai_cgroup *g, struct rmai_cgroup_memory *m) {
    char folder[PATH_MAX];
    m->room = m->limit = SIZE_MAX;
    m->used = 0;
    m->folder[0] = 0;
    if (!g->version) return;
    strcpy(folder, g->folder);
    do {
        size_t limit = memory_limit_of(g, folder), used, room;
        if (limit == SIZE_MAX) continue;
        used = read_number_or(folder, g->version == 1 ? "memory.usage_in_bytes" : "memory.current", 0);
        used -= rmai_min(used, reclaimable_bytes(g, folder));
        room = limit - rmai_min(limit, used);
        if (room >= m->room) continue;
        m->room = room, m->limit = limit, m->used = used;
        strcpy(m->folder, folder);
    } while (go_to_parent_group(g, folder));
}

static int cpu_quota_of(const struct rmai_cgroup *g, const char *folder) {
    char text[64];
    size_t quota, period;
    if (g->version == 2) {
        const char *blank;
        read_group_file(folder, "cpu.max", text, sizeof text);
        blank = strchr(text, ' ');
        quota = parse_number_or(text, 0);
        period = blank ? parse_number_or(blank + 1, 0) : 0;
    } else {
        quota = read_number_or(folder, "cpu.cfs_quota_us", 0);
        period = read_number_or(folder, "cpu.cfs_period_us", 0);
    }
    if (!quota || !period) return INT_MAX;
    return (int)rmai_min(rmai_max(quota / period, 1), INT_MAX);
}

int rmai_cgroup_cpus(const struct rmai_cgroup *g) {
    char folder[PATH_MAX];
    int least = INT_MAX;
    if (!g->version) return least;
    strcpy(folder, g->folder);
    do {
        int cpus = cpu_quota_of(g, folder);
        if (cpus < least) least = cpus;
    } while (go_to_parent_group(g, folder));
    return least;
}
