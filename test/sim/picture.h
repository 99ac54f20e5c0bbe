/* SPDX-License-Identifier: BSD-3-Clause */
/* Message sequence pictures: the last events of a simulated run as an SVG file. Each PE has a vertical line, time runs
 * downward, a message is an arrow from its sending to its arrival.
 *
 * Each event has its own row, so the distance of two rows does not show time: the left margin has the time of each row,
 * and a grey band marks a long pause. */
#ifndef SIM_PICTURE_H
#define SIM_PICTURE_H

#include <stdio.h>

#include "test/sim/network.h"

#define SIM_PICTURE_MOST 10000 /* events of a picture */
#define SIM_PICTURE_PES  64    /* in a job of more PEs those without an event in the picture are left out */

struct sim_picture;

/* What the events do not say. */
struct sim_picture_facts {
    const char *title;
    const char *end; /* the words of a fault, or with which the run has ended early; NULL: there are none */
    int n_pes;
    int node_pes; /* PEs of a node; 0 or 1: nodes are not drawn */
};

/* sim_picture_open: a picture that keeps the last n_events events (1..SIM_PICTURE_MOST) of runs of up to n_pes_most
 * PEs. Its memory is shared with child processes: what a child has added the parent can write, however the child has
 * ended. NULL: there is no memory. */
struct sim_picture *sim_picture_open(int n_events, int n_pes_most);
void sim_picture_close(struct sim_picture *p);

/* sim_picture_clear: another run begins. sim_picture_add is a `trace` of struct sim_options; it copies the event's
 * text, up to 1023 bytes. */
void sim_picture_clear(struct sim_picture *p);
void sim_picture_add(void *picture, const struct sim_trace *event);

/* sim_picture_write writes the SVG file. 0, or -1 with errno if f does not take all of it. */
int sim_picture_write(struct sim_picture *p, const struct sim_picture_facts *facts, FILE *f);

#endif
