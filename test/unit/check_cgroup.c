/* SPDX-License-Identifier: BSD-3-Clause */
/* Control groups, in folders that replace /: as machines and containers show them, and with broken or missing files.
 *
 * Broken by a group that is not found, by an ignored limit above it, and by invalid numbers. Each test creates its own
 * folder; put() and group() create files in it. */
#include "config.h"

#include "base/cgroup.h"

#include <check.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB          ((size_t)1 << 20)
#define UNLIMITED_V1 "9223372036854771712\n"

static char root[64];

static void setup(void) {
    strcpy(root, "/tmp/check_cgroup.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static int delete (const char *path, const struct stat *s, int kind, struct FTW *ftw) {
    (void)s, (void)kind, (void)ftw;
    return remove(path);
}

static void teardown(void) { nftw(root, delete, 8, FTW_DEPTH | FTW_PHYS); }

/* A file below root, with all folders that lead to it. */
static void put(const char *path, const char *text) {
    char name[512];
    FILE *f;
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *p = name + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = 0;
        mkdir(name, 0700);
        *p = '/';
    }
    f = fopen(name, "w");
    ck_assert_msg(f != NULL, "%s", name);
    fputs(text, f);
    fclose(f);
}

/* The file `file` of a group. */
static void group(const char *folder, const char *file, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void group(const char *folder, const char *file, const char *format, ...) {
    char text[512], path[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    put(path, text);
}

/* What the kernel writes for version 1, 2 and both at once. */
static const char v1_mounts[] = "23 1 0:20 / /sys rw,nosuid - sysfs sysfs rw\n"
                                "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 master:3 - tmpfs tmpfs rw,mode=755\n"
                                "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
                                "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
                                "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
                                "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n";
static const char v2_mounts[] = "23 1 0:20 / /sys rw,nosuid - sysfs sysfs rw\n"
                                "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

static void found(const char *controller, int version, const char *folder) {
    struct rmai_cgroup g;
    char want[PATH_MAX];
    rmai_cgroup_find(&g, root, controller);
    ck_assert_int_eq(g.version, version);
    snprintf(want, sizeof want, "%s%s", version ? root : "", folder);
    ck_assert_str_eq(g.folder, want);
}

static size_t limit(void) {
    struct rmai_cgroup g;
    rmai_cgroup_find(&g, root, "memory");
    return rmai_cgroup_memory_limit(&g);
}

/* The room, and which group and numbers are named. */
static void room(size_t room, const char *folder, size_t most, size_t used) {
    struct rmai_cgroup g;
    struct rmai_cgroup_memory m;
    char want[PATH_MAX];
    rmai_cgroup_find(&g, root, "memory");
    rmai_cgroup_memory(&g, &m);
    ck_assert_uint_eq(m.room, room);
    ck_assert_uint_eq(m.limit, most);
    ck_assert_uint_eq(m.used, used);
    snprintf(want, sizeof want, "%s%s", *folder ? root : "", folder);
    ck_assert_str_eq(m.folder, want);
}

static int cpus(void) {
    struct rmai_cgroup g;
    rmai_cgroup_find(&g, root, "cpu");
    return rmai_cgroup_cpus(&g);
}

START_TEST(version_2_has_one_tree_for_all) {
    /* The least room counts, not the nearest group's: a batch system limits the job, not the step. */
    put("/proc/self/mountinfo", v2_mounts);
    put("/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
    found("memory", 2, "/sys/fs/cgroup/slurm/job_7/step_0");
    group("/sys/fs/cgroup/slurm/job_7/step_0", "memory.max", "max\n");
    group("/sys/fs/cgroup/slurm/job_7/step_0", "memory.current", "%zu\n", 10 * MIB);
    group("/sys/fs/cgroup/slurm/job_7", "memory.max", "%zu\n", 100 * MIB);
    group("/sys/fs/cgroup/slurm/job_7", "memory.current", "%zu\n", 30 * MIB);
    group("/sys/fs/cgroup/slurm", "memory.max", "%zu\n", 1000 * MIB);
    group("/sys/fs/cgroup/slurm", "memory.current", "%zu\n", 500 * MIB);
    ck_assert_uint_eq(limit(), 100 * MIB);
    room(70 * MIB, "/sys/fs/cgroup/slurm/job_7", 100 * MIB, 30 * MIB);
    group("/sys/fs/cgroup/slurm", "memory.current", "%zu\n", 940 * MIB);
    ck_assert_uint_eq(limit(), 100 * MIB);
    room(60 * MIB, "/sys/fs/cgroup/slurm", 1000 * MIB, 940 * MIB);
    group("/sys/fs/cgroup/slurm/job_7/step_0", "cpu.max", "max 100000\n");
    group("/sys/fs/cgroup/slurm/job_7", "cpu.max", "250000 100000\n");
    ck_assert_int_eq(cpus(), 2);
    group("/sys/fs/cgroup/slurm", "cpu.max", "50000 100000\n");
    ck_assert_int_eq(cpus(), 1);
}
END_TEST

START_TEST(version_1_has_a_tree_for_each_controller) {
    put("/proc/self/mountinfo", v1_mounts);
    put("/proc/self/cgroup", "9:name=systemd:/init\n5:cpu,cpuacct:/a\n4:memory:/a/b\n3:cpuset:/a\n");
    found("memory", 1, "/sys/fs/cgroup/memory/a/b");
    found("cpu", 1, "/sys/fs/cgroup/cpu,cpuacct/a");
    found("cpuacct", 1, "/sys/fs/cgroup/cpu,cpuacct/a");
    found("mem", 0, "");
    group("/sys/fs/cgroup/memory/a/b", "memory.limit_in_bytes", UNLIMITED_V1);
    group("/sys/fs/cgroup/memory/a/b", "memory.usage_in_bytes", "12345\n");
    group("/sys/fs/cgroup/memory", "memory.limit_in_bytes", UNLIMITED_V1);
    ck_assert_uint_eq(limit(), SIZE_MAX);
    room(SIZE_MAX, "", SIZE_MAX, 0);
    ck_assert_int_eq(cpus(), INT_MAX);
    group("/sys/fs/cgroup/memory/a", "memory.limit_in_bytes", "%zu\n", 64 * MIB);
    group("/sys/fs/cgroup/memory/a", "memory.usage_in_bytes", "%zu\n", 24 * MIB);
    ck_assert_uint_eq(limit(), 64 * MIB);
    room(40 * MIB, "/sys/fs/cgroup/memory/a", 64 * MIB, 24 * MIB);
    group("/sys/fs/cgroup/cpu,cpuacct/a", "cpu.cfs_quota_us", "-1\n");
    group("/sys/fs/cgroup/cpu,cpuacct/a", "cpu.cfs_period_us", "100000\n");
    ck_assert_int_eq(cpus(), INT_MAX);
    group("/sys/fs/cgroup/cpu,cpuacct/a", "cpu.cfs_quota_us", "320000\n");
    ck_assert_int_eq(cpus(), 3);
}
END_TEST

START_TEST(both_versions_at_once) {
    /* Each controller belongs to one version. The tree of version 2 is there, and has no memory controller. */
    char mounts[2048];
    snprintf(mounts, sizeof mounts, "%s41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
             v1_mounts);
    put("/proc/self/mountinfo", mounts);
    put("/proc/self/cgroup", "4:memory:/x\n0::/y\n");
    found("memory", 1, "/sys/fs/cgroup/memory/x");
    found("cpu", 2, "/sys/fs/cgroup/unified/y");
    put("/proc/self/cgroup", "0::/y\n4:memory:/x\n");
    found("memory", 1, "/sys/fs/cgroup/memory/x");
}
END_TEST

START_TEST(a_container_of_version_2_sees_its_group_as_the_topmost) {
    put("/proc/self/mountinfo", v2_mounts);
    put("/proc/self/cgroup", "0::/\n");
    found("memory", 2, "/sys/fs/cgroup");
    group("/sys/fs/cgroup", "memory.max", "%zu\n", 512 * MIB);
    group("/sys/fs/cgroup", "memory.current", "%zu\n", 500 * MIB);
    room(12 * MIB, "/sys/fs/cgroup", 512 * MIB, 500 * MIB);
    group("/sys/fs/cgroup", "cpu.max", "400000 100000\n");
    ck_assert_int_eq(cpus(), 4);
    put("/proc/self/cgroup", "0::/../sibling\n"); /* entered from outside */
    found("memory", 2, "/sys/fs/cgroup");
}
END_TEST

START_TEST(a_container_of_version_1_mounts_its_group_and_shows_the_hosts_path) {
    /* Docker without a namespace of groups: /docker/1f is in /proc/self/cgroup, and what is mounted. */
    put("/proc/self/mountinfo", "35 31 0:32 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    put("/proc/self/cgroup", "4:memory:/docker/1f\n");
    found("memory", 1, "/sys/fs/cgroup/memory");
    put("/proc/self/cgroup", "4:memory:/docker/1f/inner\n");
    found("memory", 1, "/sys/fs/cgroup/memory/inner");
    put("/proc/self/cgroup", "4:memory:/docker/1f00\n"); /* not below /docker/1f */
    found("memory", 1, "/sys/fs/cgroup/memory");
    put("/proc/self/cgroup", "4:memory:/kubepods/pod3\n");
    found("memory", 1, "/sys/fs/cgroup/memory");
}
END_TEST

START_TEST(of_several_mounts_the_one_that_shows_the_group_counts) {
    put("/proc/self/mountinfo", "35 31 0:32 /other /mnt/other rw - cgroup2 cgroup2 rw\n"
                                "36 31 0:32 / /mnt/a\\040b\\134c rw - cgroup2 none rw\n"
                                "37 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/job\n");
    found("memory", 2, "/mnt/a b\\c/job");
}
END_TEST

START_TEST(what_the_kernel_can_drop_is_room) {
    /* Files that were read fill any group; memory of /dev/shm cannot be dropped, and is in shmem and in the anonymous
     * lists. */
    put("/proc/self/mountinfo", v2_mounts);
    put("/proc/self/cgroup", "0::/j\n");
    group("/sys/fs/cgroup/j", "memory.max", "%zu\n", 100 * MIB);
    group("/sys/fs/cgroup/j", "memory.current", "%zu\n", 100 * MIB);
    room(0, "/sys/fs/cgroup/j", 100 * MIB, 100 * MIB);
    group("/sys/fs/cgroup/j", "memory.stat",
          "anon 1000\nfile 80000000\nshmem 60000000\ninactive_anon 60000000\nactive_anon 0\ninactive_file "
          "%zu\nactive_file %zu\n",
          10 * MIB, 8 * MIB);
    room(14 * MIB, "/sys/fs/cgroup/j", 100 * MIB, 86 * MIB);
    group("/sys/fs/cgroup/j", "memory.current", "%zu\n", 5 * MIB); /* read earlier than the other */
    room(100 * MIB, "/sys/fs/cgroup/j", 100 * MIB, 0);
    group("/sys/fs/cgroup/j", "memory.current", "%zu\n", 200 * MIB); /* the limit has been made smaller */
    room(0, "/sys/fs/cgroup/j", 100 * MIB, 186 * MIB);

    put("/proc/self/mountinfo", v1_mounts);
    put("/proc/self/cgroup", "4:memory:/j\n");
    group("/sys/fs/cgroup/memory/j", "memory.limit_in_bytes", "%zu\n", 100 * MIB);
    group("/sys/fs/cgroup/memory/j", "memory.usage_in_bytes", "%zu\n", 90 * MIB);
    group("/sys/fs/cgroup/memory/j", "memory.stat",
          "inactive_file 1\nactive_file 1\ntotal_inactive_file %zu\ntotal_active_file 0\n", 20 * MIB);
    room(30 * MIB, "/sys/fs/cgroup/memory/j", 100 * MIB, 70 * MIB);
}
END_TEST

START_TEST(what_cannot_be_read_limits_nothing) {
    static const char *const garbage[] = {
        "", "\n", ":", "::\n", "0:\n", "0::\n", "0::relative\n", "4:memory\n", "4:memory:\n", "\xff\xfe", "0::/x"};
    static const char *const values[] = {
        "", "\n", "max", "-1\n", "12x\n", "x12\n", " \n", "18446744073709551615\n", "99999999999999999999999\n"};
    char deep[6000];
    struct rmai_cgroup none = {0};
    struct rmai_cgroup_memory m;
    found("memory", 0, "");
    ck_assert_uint_eq(limit(), SIZE_MAX);
    room(SIZE_MAX, "", SIZE_MAX, 0);
    ck_assert_int_eq(cpus(), INT_MAX);
    ck_assert_uint_eq(rmai_cgroup_memory_limit(&none), SIZE_MAX);
    rmai_cgroup_memory(&none, &m);
    ck_assert_uint_eq(m.room, SIZE_MAX);
    ck_assert_int_eq(rmai_cgroup_cpus(&none), INT_MAX);
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        put("/proc/self/cgroup", garbage[i]);
        for (size_t k = 0; k <= sizeof garbage / sizeof *garbage; k++) {
            put("/proc/self/mountinfo", k < sizeof garbage / sizeof *garbage
                                            ? garbage[k]
                                            : "1 2 3 - cgroup2\n5 - cgroup2 x rw\n - cgroup2 x rw\n");
            ck_assert_uint_eq(limit(), SIZE_MAX);
            found("memory", 0, "");
        }
    }
    put("/proc/self/mountinfo", v2_mounts);
    put("/proc/self/cgroup", "0::/gone\n");
    room(SIZE_MAX, "", SIZE_MAX, 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        group("/sys/fs/cgroup/gone", "memory.max", "%s", values[i]);
        group("/sys/fs/cgroup/gone", "cpu.max", "%s", values[i]);
        room(SIZE_MAX, "", SIZE_MAX, 0);
        ck_assert_int_eq(cpus(), INT_MAX);
    }
    group("/sys/fs/cgroup/gone", "memory.max", "4096\n"); /* and no use, and no statistics */
    room(4096, "/sys/fs/cgroup/gone", 4096, 0);
    memset(deep, 'x', sizeof deep);
    memcpy(deep, "0::/", 4);
    deep[sizeof deep - 1] = 0;
    put("/proc/self/cgroup", deep);
    ck_assert_uint_eq(limit(), SIZE_MAX);
    deep[PATH_MAX - 10] = 0; /* fits, but not behind the mount point */
    put("/proc/self/cgroup", deep);
    ck_assert_uint_eq(limit(), SIZE_MAX);
}
END_TEST

START_TEST(without_mountinfo_the_usual_places_are_looked_at) {
    put("/proc/self/cgroup", "4:memory:/a\n0::/b\n");
    found("memory", 1, "/sys/fs/cgroup/memory/a");
    found("cpu", 2, "/sys/fs/cgroup/b");
    put("/proc/self/cgroup", "0::/\n");
    found("memory", 2, "/sys/fs/cgroup");
}
END_TEST

int main(void) {
    Suite *s = suite_create("cgroup");
    TCase *t = tcase_create("cgroup");
    SRunner *runner;
    int failed;
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, version_2_has_one_tree_for_all);
    tcase_add_test(t, version_1_has_a_tree_for_each_controller);
    tcase_add_test(t, both_versions_at_once);
    tcase_add_test(t, a_container_of_version_2_sees_its_group_as_the_topmost);
    tcase_add_test(t, a_container_of_version_1_mounts_its_group_and_shows_the_hosts_path);
    tcase_add_test(t, of_several_mounts_the_one_that_shows_the_group_counts);
    tcase_add_test(t, what_the_kernel_can_drop_is_room);
    tcase_add_test(t, what_cannot_be_read_limits_nothing);
    tcase_add_test(t, without_mountinfo_the_usual_places_are_looked_at);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
