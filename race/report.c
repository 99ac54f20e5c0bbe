/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "race/report.h"

#include <stdio.h>
#include <string.h>

#include "race/job.h"
#include "race/options.h"
#include "race/places.h"
#include "race/symbols.h"

/* One of the two accesses, in words. */
struct side {
    int pe, write;
    enum race_kind kind;
    race_epoch access;
    const char *call;
    char place[256], function[256];
};

static void word_side(struct side *s, race_epoch epoch, int write, uint32_t place) {
    uint32_t actor = RACE_ACTOR(epoch);
    *s = (struct side){.pe = race_actor_pe(actor), .write = write, .kind = race_actor_kind(actor)};
    s->access = epoch & (RACE_KIND | RACE_FAMILY | RACE_MASK);
    s->call = race_place_call(place);
    race_symbols_place(place, s->place, sizeof s->place, s->function, sizeof s->function);
}

/* 1 if the pair has not been reported yet. All PEs share the table. */
static int first_time(uint64_t a, uint64_t b) {
    uint64_t key = (a < b ? a * 0x9e3779b97f4a7c15u ^ b : b * 0x9e3779b97f4a7c15u ^ a) | 1;
    for (uint32_t i = 0; i < RACE_PAIRS_MOST; i++) {
        uint64_t *word = &race_job.header->pairs[((key >> 20) + i) % RACE_PAIRS_MOST], seen = 0;
        if (__atomic_compare_exchange_n(word, &seen, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return 1;
        if (seen == key) return 0;
    }
    return 0;
}

static uint64_t hash_of(const struct side *s) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *p = s->place; *p; p++) hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    return hash ^ (uint64_t)s->write << 63;
}

/* Describes the block with this offset; 0 if no such block is known. */
static int word_block(const char *owner, int pe, uint64_t offset, char *text, size_t room) {
    static const char *const kinds[] = {"symmetric heap block", "local heap block", "attached memory"};
    char at[256], function[256];
    for (size_t i = 0; i < RACE_BLOCKS_MOST; i++) {
        const struct race_block *b = &race_job.header->blocks[pe][i];
        if (!b->size || offset < b->offset || offset >= b->offset + b->size) continue;
        race_symbols_place(b->place, at, sizeof at, function, sizeof function);
        snprintf(text, room, "%s%s of %llu byte%s %s at %s, offset %llu", owner, kinds[b->kind],
                 (unsigned long long)b->size, b->size == 1 ? "" : "s",
                 b->kind == RACE_REGION ? "attached" : "allocated", at, (unsigned long long)(offset - b->offset));
        return 1;
    }
    return 0;
}

/* Describes the variable or block, and writes its bare name for suppressions. */
static void word_memory(struct race_where where, char *text, size_t room, char *name, size_t name_room) {
    char owner[32] = "";
    size_t size, offset;
    snprintf(name, name_room, "%s", "");
    if (where.pe < 0) {
        snprintf(text, room, "its own memory at 0x%lx", (unsigned long)where.addr);
        return;
    }
    snprintf(owner, sizeof owner, "PE %d's ", where.pe);
    if (where.addr - RACE_ATTACHED < RACE_ATTACHED_LEN) {
        snprintf(text, room, "%sattached memory", owner);
        word_block(owner, where.pe, where.addr, text, room);
        return;
    }
    if (race_symbols_variable(where.addr, name, name_room, &size, &offset)) {
        snprintf(text, room, "%s`%s` (global variable of %zu byte%s, offset %zu)", owner, name, size,
                 size == 1 ? "" : "s", offset);
        return;
    }
    /* Another PE's memory on this node is at another address; symmetric blocks are at the same offset. */
    offset = (where.addr - race_job.space) % (race_job.stride ? race_job.stride : 1);
    if (where.addr - race_job.space >= race_job.stride) offset = (where.addr - race_job.spaces) % race_job.stride;
    if (word_block(owner, where.pe, offset, text, room)) return;
    snprintf(text, room, "%sheap, offset %zu", owner, offset);
}

static int is_atomic(const struct side *s) { return (s->access & RACE_KIND) != RACE_PLAIN; }

/* Why two atomics are not atomic towards each other. */
enum difference { SIZES, TYPES, DOMAINS, SIGNALS };
static enum difference difference_of(const struct side *a, const struct side *b) {
    if ((a->access ^ b->access) & RACE_MASK) return SIZES;
    if (RACE_TYPE(a->access) == RACE_TYPE(b->access)) return DOMAINS;
    return RACE_TYPE(a->access) >= RACE_SIGNAL_SET ? SIGNALS : TYPES;
}

/* The same for the report's first line; "" if they are not two atomics. */
static const char *cause(const struct side *old, const struct side *now) {
    static const char *const causes[] = {[SIZES] = ": atomics of different sizes",
                                         [TYPES] = ": atomics of different types",
                                         [DOMAINS] =
                                             ": atomics in contexts of SHMEM_TEAM_WORLD and of SHMEM_TEAM_SHARED",
                                         [SIGNALS] = ": a signal that is set and added to"};
    return is_atomic(old) && is_atomic(now) ? causes[difference_of(old, now)] : "";
}

/* Why the older access does not come before the newer one. */
static const char *why(const struct side *old, const struct side *now) {
    if (old->kind != RACE_THREAD && old->pe == now->pe) return "not completed: no quiet or barrier between";
    if (old->kind != RACE_THREAD) return "not completed, or nothing between that PE %d waited for";
    return "nothing between that orders the two";
}

static const char *advice(const struct side *old, const struct side *now, int native) {
    const struct side *put = old->kind != RACE_THREAD ? old : now->kind != RACE_THREAD ? now : NULL;
    if (is_atomic(old) != is_atomic(now))
        return native ? "rma_atomic_ calls for both, or a flag or rma_barrier_all between"
                      : "shmem_atomic_ calls for both, or a flag or shmem_barrier_all between";
    if (is_atomic(old)) {
        static const char *const advices[] = {
            [SIZES] = "atomics of the same size for both",
            [TYPES] = "atomics of the same type for both",
            [DOMAINS] = "contexts of SHMEM_TEAM_WORLD for both, or of SHMEM_TEAM_SHARED for both",
            [SIGNALS] = "SHMEM_SIGNAL_SET for both, or SHMEM_SIGNAL_ADD for both"};
        return advices[difference_of(old, now)];
    }
    if (old->pe == now->pe && old->kind == RACE_THREAD && now->kind == RACE_THREAD)
        return "a mutex for both, or joining the thread between";
    if (old->pe == now->pe && put)
        return native ? "rma_quiet between the two (rma_fence, if both write)"
                      : "shmem_quiet between the two (shmem_fence, if both write to the same PE)";
    if (put && old == put)
        return native
                   ? "rma_quiet, then a flag that the other PE waits for (rma_put_signal does both); or rma_barrier_all"
                   : "shmem_quiet, then a flag that the other PE waits for (shmem_put_signal does both); or "
                     "shmem_barrier_all";
    return native ? "a flag that the later PE waits for, a lock, or rma_barrier_all"
                  : "a flag that the later PE waits for, a lock, or shmem_barrier_all";
}

void race_report(const struct race_record *record, race_epoch mask, race_epoch kind, int write, uint32_t place,
                 const struct race_who *who, struct race_where where) {
    char memory[700], name[256], reason[160], by[80] = "", old_by[80] = "";
    const char *places[2], *functions[2];
    struct side now, old;
    size_t bytes = (size_t)__builtin_popcountll(record->epoch & mask & RACE_MASK);
    if (race_inside ||
        !first_time((uint64_t)place << 1 | (uint64_t)write, (uint64_t)record->place << 1 | record->write))
        return;
    race_inside++;
    word_side(&now, who->epoch | kind | mask, write, place);
    word_side(&old, record->epoch, (int)record->write, record->place);
    word_memory(where, memory, sizeof memory, name, sizeof name);
    places[0] = now.place, places[1] = old.place;
    functions[0] = now.function, functions[1] = old.function;
    if (first_time(hash_of(&now), hash_of(&old)) && !race_suppressed(places, functions, name)) {
        int native = !strncmp(now.call, "rma_", 4) || !strncmp(old.call, "rma_", 4);
        snprintf(reason, sizeof reason, why(&old, &now), now.pe);
        if (now.call[0]) snprintf(by, sizeof by, " by %s", now.call);
        if (old.call[0]) snprintf(old_by, sizeof old_by, " by %s", old.call);
        __atomic_fetch_add(&race_job.header->races, 1, __ATOMIC_RELAXED);
        race_say("PE %d %s %zu byte%s of %s%s%s\n"
                 "    at %s%s%s\n"
                 "  PE %d %s them%s at %s%s%s, %s\n"
                 "  what would order them: %s",
                 now.pe, write ? "writes" : "reads", bytes, bytes == 1 ? "" : "s", memory, by, cause(&old, &now),
                 now.place, now.function[0] ? " in " : "", now.function, old.pe, old.write ? "wrote" : "read", old_by,
                 old.place, old.function[0] ? " in " : "", old.function, reason, advice(&old, &now, native));
    }
    race_inside--;
}
