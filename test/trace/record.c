/* SPDX-License-Identifier: BSD-3-Clause */
/* record FILE PES [SHARE [ROUNDS [DELAYED]]]: writes a record as a job of so many PEs leaves it, in which each PE has
 * put to each other one. With SHARE, PE 1 waits SHARE % of its time for a signal of PE 0, and all SHARE % for the last
 * PE at barriers, in 10 rounds, or ROUNDS. PE 0 has waited DELAYED % of its time for a processor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "instruments/trace/format.h"

static void chunk(FILE *f, int kind, const void *data, size_t len) {
    struct trace_chunk c = {.magic = TRACE_MAGIC, .kind = (uint16_t)kind, .len = len};
    fwrite(&c, sizeof c, 1, f);
    fwrite(data, len, 1, f);
}

/* In each round, 100 ms of 10, PE 0 signals PE 1 in the middle, and the barrier comes at the end. */
static void write_waits(FILE *f, int pe, int n, uint64_t share, uint32_t rounds) {
    const uint64_t round = 1000000000 / rounds, span = share * round / 100;
    struct trace_site sites[] = {{.site = 1, .kind = TRACE_WAIT, .name = "shmem_signal_wait_until"},
                                 {.site = 2, .kind = TRACE_SIGNAL, .name = "shmem_signal_set"},
                                 {.site = 3, .kind = TRACE_COLLECTIVE, .name = "shmem_barrier_all"}};
    struct trace_event wait = {.site = 1, .kind = TRACE_WAIT, .addr = 64, .pe = -1, .count = 1, .span = span};
    struct trace_event signal = {.site = 2, .kind = TRACE_SIGNAL, .addr = 64, .pe = 1, .count = 1, .span = 1000};
    struct trace_event barrier = {.site = 3, .kind = TRACE_COLLECTIVE, .addr = 1, .pe = -1, .count = 1};
    for (int i = 0; i < 3; i++) chunk(f, TRACE_SITES, &sites[i], sizeof sites[i]);
    for (uint32_t i = 0; i < rounds; i++) {
        wait.start = i * round + round / 2 - span;
        signal.start = i * round + round / 2 - 1000;
        barrier.start = (i + 1) * round - (pe == n - 1 ? 1000 : span + 1000);
        barrier.span = (i + 1) * round - barrier.start;
        barrier.more = i + 1;
        if (pe == 1) chunk(f, TRACE_EVENTS, &wait, sizeof wait);
        if (pe == 0) chunk(f, TRACE_EVENTS, &signal, sizeof signal);
        chunk(f, TRACE_EVENTS, &barrier, sizeof barrier);
    }
    for (uint32_t i = 1; i <= 3; i++) {
        const uint64_t each = i == 3 ? barrier.span : i == 2 ? 1000 : span;
        struct trace_use use = {.site = i, .count = rounds, .ticks = rounds * each};
        if (i == 3 || (int)i == 2 - pe) chunk(f, TRACE_USE, &use, sizeof use);
    }
}

static void write_pe(FILE *f, int pe, int n, uint64_t share, uint32_t rounds, uint64_t delayed) {
    struct trace_head head = {.job = 1, .pe = pe, .n_pes = n, .node = pe / 32 * 32, .program = "./generated"};
    struct trace_clock clock = {.ticks = 0, .ns = 0};
    struct trace_site site = {.kind = TRACE_PUT, .name = "shmem_putmem"};
    struct trace_use use = {.count = (uint64_t)n, .bytes = 0, .ticks = 1000u * (unsigned)n, .ticks_most = 1000};
    struct trace_event event = {.start = 1000, .span = 1000, .busy = 1000, .bytes = 8, .pe = 0, .count = 1};
    struct trace_end end = {.ticks = 1000000000, .finalized = 1};
    use.times[10] = use.count;
    chunk(f, TRACE_HEAD, &head, sizeof head);
    chunk(f, TRACE_CLOCK, &clock, sizeof clock);
    chunk(f, TRACE_SITES, &site, sizeof site);
    for (int first = 0; first < n; first += TRACE_GROUP) {
        struct trace_cells cells = {.first = (uint32_t)first};
        for (int i = 0; i < TRACE_GROUP && first + i < n; i++) {
            uint64_t bytes = 8u + (uint64_t)(pe * 37 + (first + i) * 11) % 5000 * (first + i == pe ? 0 : 1);
            cells.cell[i] = (struct trace_cell){.count = 1, .bytes = bytes, .ticks = 1000};
            use.bytes += bytes;
            use.lengths[64 - __builtin_clzll(bytes)]++;
        }
        chunk(f, TRACE_CELLS, &cells, sizeof cells);
    }
    chunk(f, TRACE_USE, &use, sizeof use);
    for (int i = 0; i < 20; i++, event.start += 5000000) chunk(f, TRACE_EVENTS, &event, sizeof event);
    if (share) write_waits(f, pe, n, share, rounds);
    if (pe == 0) end.delayed = delayed * 10000000;
    clock.ticks = 1000000000;
    clock.ns = 1000000000;
    chunk(f, TRACE_CLOCK, &clock, sizeof clock);
    chunk(f, TRACE_END, &end, sizeof end);
}

int main(int argc, char **argv) {
    int n = argc > 2 ? atoi(argv[2]) : 0;
    char name[4096];
    if (n < 1) return 2;
    snprintf(name, sizeof name, "%s.parts", argv[1]);
    mkdir(name, 0777);
    for (int pe = 0; pe < n; pe++) {
        FILE *f;
        snprintf(name, sizeof name, "%s.parts/pe.%d", argv[1], pe);
        if (!(f = fopen(name, "w"))) return 1;
        write_pe(f, pe, n, argc > 3 ? (uint64_t)atoi(argv[3]) : 0, argc > 4 ? (uint32_t)atoi(argv[4]) : 10,
                 argc > 5 ? (uint64_t)atoi(argv[5]) : 0);
        if (fclose(f)) return 1;
    }
    return 0;
}
