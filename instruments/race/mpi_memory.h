/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of windows, as reports of all processes name it. */
#ifndef RACE_MPI_MEMORY_H
#define RACE_MPI_MEMORY_H

#include <stdint.h>

#define RACE_NAMED_WINDOWS 8192
struct race_named_window {
    uint32_t used; /* 0: free; 2: the fields are valid */
    uint32_t pe;   /* whose memory it is */
    uint64_t base; /* the address there */
    uint64_t size;
    uint32_t unit;   /* its displacement unit; 0: memory that is attached to a dynamic window */
    uint32_t place;  /* where it was made or attached */
    uint32_t window; /* the window's number */
};

/* race_window_memory: from now on, this process's memory belongs to a window. race_window_memory_gone: of the window,
 * or (base not 0) of one attached region. race_window_memory_find: the entry for an address of PE pe, or NULL. */
void race_window_memory(struct race_named_window w);
void race_window_memory_gone(uint32_t window, uint64_t base);
const struct race_named_window *race_window_memory_find(int pe, uint64_t addr);

#endif
