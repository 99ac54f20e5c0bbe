/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/places.h"

#include <stdio.h>
#include <string.h>

#include "instruments/race/remote.h"
#include "instruments/race/spin.h"

static uint32_t number_here(uint32_t entry) { return RACE_TABLED | (uint32_t)race_job.host * RACE_PLACES_MOST | entry; }

static const struct race_place *place_of(uint32_t place) {
    const uint32_t number = place & ~RACE_TABLED;
    if (number / RACE_PLACES_MOST != (uint32_t)race_job.host) return race_remote_place(place);
    return &race_job.header->places[number % RACE_PLACES_MOST];
}

/* The entry of (pc, pe, call), which is created if it does not exist. Entries are never removed; all PEs search and add
 * without a lock: the PE whose compare-and-swap of the pc's word succeeds fills the entry, and the others wait for
 * that. */
static uint32_t entry(uint64_t pc, uint32_t pe, const char *call) {
    uint64_t key = pc << 1 | 1, hash = (key ^ (uint64_t)pe << 48) * 0x9e3779b97f4a7c15u;
    for (const char *p = call; *p; p++) hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    for (uint32_t i = 0; i < RACE_PLACES_MOST; i++) {
        uint32_t number = (uint32_t)((hash >> 40) + i) % RACE_PLACES_MOST;
        struct race_place *p = &race_job.header->places[number];
        uint64_t seen = 0;
        race_hold();
        if (__atomic_compare_exchange_n(&p->pc, &seen, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            p->pe = pe;
            snprintf(p->call, sizeof p->call, "%s", call);
            __atomic_store_n(&p->ready, 1, __ATOMIC_RELEASE); /* pairs with the acquire below */
            seen = 0;
        }
        race_let_go();
        if (!seen) return number_here(number);
        if (seen != key) continue;
        while (!__atomic_load_n(&p->ready, __ATOMIC_ACQUIRE)) continue;
        if (p->pe == pe && strncmp(p->call, call, sizeof p->call - 1) == 0) return number_here(number);
    }
    return RACE_NOWHERE;
}

uint32_t race_place_elsewhere(uintptr_t pc) {
    return race_job.header ? entry(pc, (uint32_t)race_job.my_pe, "") : RACE_NOWHERE;
}

uint32_t race_call_place(uintptr_t pc, const char *call) {
    static __thread struct {
        uintptr_t pc;
        const char *call;
        uint32_t place;
    } last[256];
    uintptr_t o = pc - race_job.program;
    size_t i = (pc ^ pc >> 8) & 255;
    if (last[i].pc == pc && last[i].call == call) return last[i].place;
    last[i].place = o < race_job.program_end - race_job.program ? entry(o, RACE_MAIN, call)
                                                                : entry(pc, (uint32_t)race_job.my_pe, call);
    last[i].pc = pc;
    last[i].call = call;
    return last[i].place;
}

const char *race_place_call(uint32_t place) {
    if (!(place & RACE_TABLED)) return "";
    return place_of(place)->call;
}

uint64_t race_place_pc(uint32_t place, int *main, int *pe) {
    const struct race_place *p = place & RACE_TABLED ? place_of(place) : NULL;
    *main = !p || p->pe == RACE_MAIN;
    *pe = *main ? 0 : (int)p->pe;
    return p ? p->pc >> 1 : place;
}
