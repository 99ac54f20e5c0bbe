/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c: processor time of the machine, less that of the job's own PEs.
 *
 * The load average would be simpler. But it still contains processes that ended a minute ago, such as the build of the
 * benchmarks, and it counts the job itself. */
#include "machine.h"

#include "bench.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SHORTEST 0.2 /* seconds: the kernel counts in ticks of 1 to 10 ms */

static uint64_t *machines; /* for each PE: a number that identifies its machine */

static struct reading {
    double time, machine, own; /* seconds: the clock, and the processor time used by all processes and by this one */
} opened;

/* The number is the same in the machine's containers, in network namespaces, and on simulated nodes. */
static uint64_t name_machine(void) {
    char text[256] = "";
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!f || !fgets(text, sizeof text, f)) gethostname(text, sizeof text - 1);
    if (f) fclose(f);
    for (const char *p = text; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return hash;
}

/* Time that a hypervisor gives to others counts as used: proc(5), /proc/stat. NAN: it cannot be read. */
static double machine_seconds(void) {
    unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
    FILE *f = fopen("/proc/stat", "r");
    int n = f ? fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq,
                       &softirq, &steal)
              : 0;
    if (f) fclose(f);
    if (n != 8) return NAN;
    return (double)(user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static struct reading read_now(void) {
    struct timespec clock;
    struct rusage own;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    getrusage(RUSAGE_SELF, &own);
    return (struct reading){(double)clock.tv_sec + 1e-9 * (double)clock.tv_nsec, machine_seconds(),
                            seconds_of(own.ru_utime) + seconds_of(own.ru_stime)};
}

int bench_machine_open(void) {
    uint64_t mine = name_machine();
    int n = 0;
    machines = malloc((size_t)bench.n_pes * sizeof *machines);
    if (!machines) bench_fail("malloc", MPI_ERR_NO_MEM);
    BENCH_MPI(MPI_Allgather(&mine, 1, MPI_UINT64_T, machines, 1, MPI_UINT64_T, MPI_COMM_WORLD));
    for (int pe = 0; pe < bench.n_pes; pe++) n += machines[pe] == mine;
    opened = read_now();
    return n;
}

double bench_machine_others(void) {
    struct reading now = read_now();
    double used = now.own - opened.own, time = now.time - opened.time, others = now.machine - opened.machine, most;
    double *of_pe = malloc((size_t)bench.n_pes * sizeof *of_pe);
    if (!of_pe) bench_fail("malloc", MPI_ERR_NO_MEM);
    BENCH_MPI(MPI_Allgather(&used, 1, MPI_DOUBLE, of_pe, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int pe = 0; pe < bench.n_pes; pe++)
        if (machines[pe] == machines[bench.pe]) others -= of_pe[pe];
    free(of_pe);
    free(machines);
    machines = NULL;
    others = isnan(others) || time < SHORTEST ? -1 : others > 0 ? others / time : 0; /* MPI_MAX of a NAN is any value */
    BENCH_MPI(MPI_Reduce(&others, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD));
    return bench.pe != 0 || most < 0 ? NAN : most;
}

/* VmRSS sums per-processor counters and may lag by some hundred KiB; the sum over all mappings is exact. */
double bench_resident(void) {
    char line[256];
    double kib = NAN;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Rss: %lf", &kib) == 1) break;
    if (f) fclose(f);
    return kib * 1024;
}
