/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/mpi_report.h"

#include <stdio.h>
#include <string.h>

#include "instruments/race/job.h"
#include "instruments/race/mpi_memory.h"
#include "instruments/race/places.h"
#include "instruments/race/symbols.h"

/* ---- memory ---- */

/* An element of the window by its displacement, as in the program's calls. */
static void word_displacement(const struct race_named_window *w, uint64_t offset, char *text, size_t room) {
    if (w->unit > 1 && offset % w->unit)
        snprintf(text, room, "displacement %llu and %llu bytes", (unsigned long long)(offset / w->unit),
                 (unsigned long long)(offset % w->unit));
    else if (w->unit)
        snprintf(text, room, "displacement %llu", (unsigned long long)(offset / w->unit));
    else
        snprintf(text, room, "offset %llu", (unsigned long long)offset);
}

static int word_memory(struct race_where where, char *text, size_t room, char *name, size_t name_room) {
    const struct race_named_window *w = race_window_memory_find(where.pe, where.addr);
    char at[256], function[256], displacement[64];
    size_t size, offset;
    /* The program is at another address in each process. */
    const uintptr_t here = where.addr - race_job.header->programs[where.pe] + race_job.program;
    const int is_variable = here - race_job.program < race_job.program_end - race_job.program &&
                            race_symbols_variable(here, name, name_room, &size, &offset);
    if (!w && is_variable)
        snprintf(text, room, "rank %d's `%s` (global variable of %zu byte%s, offset %zu)", where.pe, name, size,
                 size == 1 ? "" : "s", offset);
    else if (!w && where.pe == race_job.my_pe)
        race_word_private(where.addr, text, room);
    else if (!w)
        snprintf(text, room, "rank %d's memory at 0x%lx", where.pe, (unsigned long)where.addr);
    if (!w) return 1;
    race_symbols_place(w->place, at, sizeof at, function, sizeof function);
    word_displacement(w, where.addr - w->base, displacement, sizeof displacement);
    snprintf(text, room, "rank %d's %s%s%s%s of %llu byte%s (%s at %s), %s", where.pe, is_variable ? "`" : "",
             is_variable ? name : "", is_variable ? "` in its " : "", w->unit ? "window" : "attached memory",
             (unsigned long long)w->size, w->size == 1 ? "" : "s", race_place_call(w->place), at, displacement);
    return 1;
}

/* ---- what would order the two ---- */

static int is_operation(const struct race_side *s) { return s->kind != RACE_THREAD; }
static int is_of_target(const struct race_side *s) { return s->kind == RACE_PUTS; }

static const char *cause(const struct race_side *old, const struct race_side *now) {
    if (!race_is_atomic(old) || !race_is_atomic(now)) return "";
    if ((old->access ^ now->access) & RACE_MASK) return ": accumulates of elements that overlap in part";
    if (RACE_ELEMENT(old->access) != RACE_ELEMENT(now->access)) return ": accumulates of different datatypes";
    return ": accumulates with different operations";
}

/* The call that completes an operation. */
static const char *completion(const struct race_side *s) {
    switch ((enum race_sort)s->sort) {
        case RACE_BY_FENCE: return "MPI_Win_fence";
        case RACE_BY_COMPLETE: return "MPI_Win_complete";
        case RACE_BY_REQUEST: return "MPI_Wait for its request, or MPI_Win_flush";
        case RACE_BY_MESSAGE: return "MPI_Wait for its request";
        default: return is_of_target(s) ? "MPI_Win_flush" : "MPI_Win_flush_local";
    }
}

/* Where the rule is that the program breaks. */
static const char *section(const struct race_side *old, const struct race_side *now) {
    if (race_is_atomic(old) && race_is_atomic(now)) return "MPI-3.1, 11.7.1; 11.2.1, accumulate_ops";
    if (old->sort == RACE_BY_MESSAGE || now->sort == RACE_BY_MESSAGE)
        return old->kind == RACE_PENDING && old->sort == RACE_BY_MESSAGE ? "MPI-3.1, 3.7.2" : "MPI-3.1, 11.7";
    if (old->kind == RACE_PENDING || now->kind == RACE_PENDING) return "MPI-3.1, 11.3";
    return "MPI-3.1, 11.7";
}

/* Chance has decided which of the two ranks was first, so the other order is named as well. */
static void word_messages(const struct race_side *old, const struct race_side *now, char *text, size_t room) {
    char first[96] = "", second[96] = "";
    if (is_operation(old) && !old->completed)
        snprintf(first, sizeof first, "%s by rank %d, then ", completion(old), old->pe);
    if (is_operation(now)) snprintf(second, sizeof second, "%s by rank %d, then ", completion(now), now->pe);
    snprintf(text, room,
             "%sMPI_Barrier or a message from rank %d that rank %d receives; or MPI_LOCK_EXCLUSIVE in both\n"
             "    if rank %d is to be first: %sMPI_Barrier or a message that rank %d receives",
             first, old->pe, now->pe, now->pe, second, old->pe);
}

/* The same for an operation of an access epoch and an access by the target. */
static void word_exposure(const struct race_side *old, const struct race_side *now, char *text, size_t room) {
    const struct race_side *operation = is_operation(old) ? old : now, *local = is_operation(old) ? now : old;
    char after[160], before[160];
    snprintf(after, sizeof after, "MPI_Win_complete by rank %d, and MPI_Win_wait by rank %d before it %s",
             operation->pe, local->pe, local->what == RACE_READS ? "reads" : "writes");
    snprintf(before, sizeof before,
             "MPI_Win_post by rank %d after its access, and MPI_Win_start by rank %d for this post", local->pe,
             operation->pe);
    snprintf(text, room, "%s\n    if rank %d is to be first: %s", operation == old ? after : before, now->pe,
             operation == old ? before : after);
}

static void word_order(const struct race_side *old, const struct race_side *now, char *text, size_t room) {
    const struct race_side *of = is_operation(old) ? old : now; /* whose epoch decides */
    if (of->sort == RACE_BY_FENCE)
        snprintf(text, room, "MPI_Win_fence between the two");
    else if (of->sort == RACE_BY_COMPLETE && is_operation(old) != is_operation(now))
        word_exposure(old, now, text, room);
    else if (of->sort == RACE_BY_COMPLETE)
        snprintf(text, room, "two exposure epochs of the target, one for each of the ranks");
    else
        word_messages(old, now, text, room);
}

static void word_advice(const struct race_side *old, const struct race_side *now, char *text, size_t room) {
    char order[400];
    if (now->what == RACE_FREES)
        snprintf(order, sizeof order, "%s before %s", completion(old), now->call);
    else if (now->what == RACE_LEAVES)
        snprintf(order, sizeof order, "%s before the function returns", completion(old));
    else if (race_is_atomic(old) && race_is_atomic(now) && (old->access ^ now->access) & RACE_MASK)
        snprintf(order, sizeof order, "the same predefined datatype in both, at displacements that fit its size");
    else if (race_is_atomic(old) && race_is_atomic(now))
        snprintf(order, sizeof order, "the same %s in both",
                 RACE_ELEMENT(old->access) == RACE_ELEMENT(now->access) ? "operation, or MPI_NO_OP in one,"
                                                                        : "predefined datatype");
    else if (old->pe == now->pe && old->thread != now->thread && !is_operation(old))
        snprintf(order, sizeof order, "a mutex for both, or joining the thread between");
    else if (old->pe == now->pe && old->thread != now->thread)
        snprintf(order, sizeof order, "%s by the first thread, then a mutex or joining the thread", completion(old));
    else if (old->pe == now->pe)
        snprintf(order, sizeof order, "%s between the two", completion(old));
    else
        word_order(old, now, order, sizeof order);
    snprintf(text, room, "%s (%s)", order, section(old, now));
}

const struct race_wording race_mpi_wording = {.pe = "rank",
                                              .nothing_completes = ": nothing between has completed it",
                                              .memory = word_memory,
                                              .cause = cause,
                                              .advice = word_advice};
