/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/mpi_memory.h"

#include <stddef.h>

#include "instruments/race/job.h"

/* If there is no free entry, reports give the address. */
void race_window_memory(struct race_named_window w) {
    if (!w.size) return;
    for (size_t i = 0; i < RACE_NAMED_WINDOWS; i++) {
        struct race_named_window *e = &race_job.named_windows[i];
        uint32_t none = 0;
        if (!__atomic_compare_exchange_n(&e->used, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
        w.used = 1;
        w.pe = (uint32_t)race_job.my_pe;
        *e = w;
        __atomic_store_n(&e->used, 2, __ATOMIC_RELEASE); /* with the acquire load in race_window_memory_find */
        return;
    }
}

void race_window_memory_gone(uint32_t window, uint64_t base) {
    for (size_t i = 0; i < RACE_NAMED_WINDOWS; i++) {
        struct race_named_window *e = &race_job.named_windows[i];
        if (__atomic_load_n(&e->used, __ATOMIC_ACQUIRE) != 2 || e->pe != (uint32_t)race_job.my_pe) continue;
        if (e->window == window && (!base || e->base == base)) __atomic_store_n(&e->used, 0, __ATOMIC_RELEASE);
    }
}

const struct race_named_window *race_window_memory_find(int pe, uint64_t addr) {
    for (size_t i = 0; i < RACE_NAMED_WINDOWS; i++) {
        const struct race_named_window *e = &race_job.named_windows[i];
        if (__atomic_load_n(&e->used, __ATOMIC_ACQUIRE) == 2 && e->pe == (uint32_t)pe && addr - e->base < e->size)
            return e;
    }
    return NULL;
}
