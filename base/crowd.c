/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/attributes.h"
#include "base/clock.h"
#include "base/crowd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ticks between two readings while there is no room; a tick is a quarter of a nanosecond to one. Often a thread that
 * made processors scarce has run for a few microseconds only. Where PEs share processors all the time, readings must
 * cost nothing. */
#define GAP_LEAST 100000u
#define GAP_MOST  1600000u

/* Polls between two readings, some microseconds: a wait that polls while another thread wants its processor does so for
 * no longer than that. */
#define POLLS_A_READING 200u

#define LOADAVG "/proc/loadavg"

#define YIELDS_LEAST 4u
#define YIELDS_MOST  16u

void rmai_crowd_open(struct rmai_crowd *c, int processors, unsigned polls) {
    struct stat s;
    *c = (struct rmai_crowd){.file = open(LOADAVG, O_RDONLY | O_CLOEXEC),
                             .processors = processors,
                             .polls = polls,
                             .budget = polls,
                             .yields = YIELDS_MOST};
    if (c->file < 0 || fstat(c->file, &s)) return;
    c->device = s.st_dev;
    c->inode = s.st_ino;
}

/* The program may have closed all files that it does not know, and have opened another one under the same number. */
static int is_our_file(const struct rmai_crowd *c) {
    struct stat s;
    return c->file >= 0 && fstat(c->file, &s) == 0 && s.st_dev == c->device && s.st_ino == c->inode;
}

void rmai_crowd_close(struct rmai_crowd *c) {
    if (c->polls && is_our_file(c)) close(c->file);
    *c = (struct rmai_crowd){.file = -1};
}

/* The threads of this machine that want to run, the caller among them; 0 if the system does not tell. */
static int count_running(const struct rmai_crowd *c) {
    char text[96];
    int running;
    const ssize_t n = is_our_file(c) ? pread(c->file, text, sizeof text - 1, 0) : -1;
    text[n > 0 ? n : 0] = 0;
    return sscanf(text, "%*s %*s %*s %d/", &running) == 1 && running > 0 ? running : 0;
}

static RMAI_COLD int read_room(struct rmai_crowd *c) {
    const int running = count_running(c), room = running && running <= c->processors;
    uint32_t gap = 2 * atomic_load_explicit(&c->gap, memory_order_relaxed);
    if (room || gap < GAP_LEAST) gap = GAP_LEAST;
    if (gap > GAP_MOST) gap = GAP_MOST;
    atomic_store_explicit(&c->gap, gap, memory_order_relaxed);
    atomic_store_explicit(&c->due, rmai_clock_ticks() + gap, memory_order_relaxed);
    atomic_store_explicit(&c->room, room, memory_order_relaxed);
    return room;
}

static void set_budget(struct rmai_crowd *c, unsigned budget) {
    if (budget < POLLS_A_READING) budget = POLLS_A_READING;
    if (budget > c->polls) budget = c->polls;
    atomic_store_explicit(&c->budget, budget, memory_order_relaxed);
}

/* Each wait that polls raises the budget a little, and one that has used it up lowers it much. */
unsigned rmai_crowd_polls(struct rmai_crowd *c, unsigned polled) {
    const unsigned budget = atomic_load_explicit(&c->budget, memory_order_relaxed);
    if (!atomic_load_explicit(&c->room, memory_order_relaxed)) return polled;
    if (polled == 0) {
        if (budget < c->polls) set_budget(c, budget + budget / 16);
        return POLLS_A_READING;
    }
    if (polled >= budget) {
        set_budget(c, budget / 4);
        return polled;
    }
    return read_room(c) ? polled + POLLS_A_READING : polled;
}

int rmai_crowd_thins(struct rmai_crowd *c) {
    if (c->polls == 0 || atomic_load_explicit(&c->room, memory_order_relaxed)) return 0;
    return (int64_t)(rmai_clock_ticks() - atomic_load_explicit(&c->due, memory_order_relaxed)) >= 0 && read_room(c);
}

unsigned rmai_crowd_yields(const struct rmai_crowd *c) {
    return atomic_load_explicit(&c->yields, memory_order_relaxed);
}

/* A wait that need not sleep saves as much time as ten yields take: so it outweighs several that sleep after all. */
void rmai_crowd_yielded(struct rmai_crowd *c, int ended) {
    const unsigned old = rmai_crowd_yields(c);
    unsigned now = ended ? 2 * old : old > YIELDS_LEAST ? old - 1 : YIELDS_LEAST;
    if (now > YIELDS_MOST) now = YIELDS_MOST;
    if (now != old) atomic_store_explicit(&c->yields, now, memory_order_relaxed);
}
