/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/attributes.h"
#include "base/clock.h"
#include "base/crowd.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Ticks between two questions while there is no room, each a quarter of a nanosecond to one. Most threads that make a
 * crowd run for a few microseconds; where PEs share processors all the time, asking must cost nothing. */
#define GAP_LEAST 100000u
#define GAP_MOST  1600000u

/* Polls between two questions, some microseconds: a wait that keeps another thread from running does so for no longer.
 * A wait that has its processor to itself mostly ends within them. */
#define POLLS_ASK 200u

#define YIELDS_LEAST 4u
#define YIELDS_MOST  16u

void rmai_crowd_open(struct rmai_crowd *c, int processors, unsigned polls) {
    *c = (struct rmai_crowd){.file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC),
                             .processors = processors,
                             .polls = polls,
                             .yields = YIELDS_MOST};
}

void rmai_crowd_close(struct rmai_crowd *c) {
    if (c->polls && c->file >= 0) close(c->file);
    *c = (struct rmai_crowd){.file = -1};
}

/* The threads of this machine that want to run, the caller among them; 0 if the system does not tell. */
static int count_running(int file) {
    char text[96];
    int running;
    const ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return sscanf(text, "%*s %*s %*s %d/", &running) == 1 && running > 0 ? running : 0;
}

static RMAI_COLD int ask(struct rmai_crowd *c) {
    const int running = count_running(c->file), room = running && running <= c->processors;
    uint32_t gap = 2 * atomic_load_explicit(&c->gap, memory_order_relaxed);
    if (room || gap < GAP_LEAST) gap = GAP_LEAST;
    if (gap > GAP_MOST) gap = GAP_MOST;
    atomic_store_explicit(&c->gap, gap, memory_order_relaxed);
    atomic_store_explicit(&c->due, rmai_clock_ticks() + gap, memory_order_relaxed);
    atomic_store_explicit(&c->room, room, memory_order_relaxed);
    return room;
}

unsigned rmai_crowd_polls(struct rmai_crowd *c, unsigned polled) {
    if (!atomic_load_explicit(&c->room, memory_order_relaxed) || polled >= c->polls) return polled;
    return polled == 0 || ask(c) ? polled + POLLS_ASK : polled;
}

unsigned rmai_crowd_yields(const struct rmai_crowd *c) {
    return atomic_load_explicit(&c->yields, memory_order_relaxed);
}

/* A wait that need not sleep saves as much time as some ten yields take. */
void rmai_crowd_yielded(struct rmai_crowd *c, int ended) {
    const unsigned old = rmai_crowd_yields(c);
    unsigned now = ended ? 2 * old : old > YIELDS_LEAST ? old - 1 : YIELDS_LEAST;
    if (now > YIELDS_MOST) now = YIELDS_MOST;
    if (now != old) atomic_store_explicit(&c->yields, now, memory_order_relaxed);
}

int rmai_crowd_thins(struct rmai_crowd *c) {
    if (c->polls == 0 || atomic_load_explicit(&c->room, memory_order_relaxed)) return 0;
    return (int64_t)(rmai_clock_ticks() - atomic_load_explicit(&c->due, memory_order_relaxed)) >= 0 && ask(c);
}
