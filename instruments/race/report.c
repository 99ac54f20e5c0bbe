/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/report.h"

#include <stdio.h>
#include <string.h>

#include "instruments/race/blocks.h"
#include "instruments/race/clock.h"
#include "instruments/race/job.h"
#include "instruments/race/locals.h"
#include "instruments/race/options.h"
#include "instruments/race/places.h"
#include "instruments/race/remote.h"
#include "instruments/race/symbols.h"

const char *race_pe_word(void) { return race_job.wording ? race_job.wording->pe : "PE"; }
int race_pe_number(int pe) { return race_job.wording ? race_job.wording->first + pe : pe; }

static void word_side(struct race_side *s, race_epoch epoch, int what, uint32_t place) {
    uint32_t actor = RACE_ACTOR(epoch);
    *s = (struct race_side){.pe = race_actor_pe(actor), .what = what, .kind = race_actor_kind(actor)};
    s->thread = race_actor_thread_number(race_actor_thread(actor));
    s->in_context = race_actor_in_context(actor);
    s->sort = s->kind == RACE_THREAD ? 0 : race_job.actors[actor].sort;
    if (s->kind != RACE_THREAD) {
        const struct race_progress *p = &race_job.progress[actor];
        /* Of an actor of another host only `completed` is known. */
        s->completed =
            (race_actor_is_elsewhere(actor) ? race_remote_completed(actor)
                                            : __atomic_load_n(&p->completed, __ATOMIC_RELAXED)) >= RACE_COUNT(epoch);
        s->fenced = __atomic_load_n(&p->fenced, __ATOMIC_RELAXED) >= RACE_COUNT(epoch);
        s->missed = __atomic_load_n(&p->missed, __ATOMIC_RELAXED) >= RACE_COUNT(epoch);
        s->missed_by = race_actor_thread_number(__atomic_load_n(&p->by, __ATOMIC_RELAXED));
    }
    s->access = epoch & (RACE_KIND | RACE_FAMILY | RACE_MASK);
    s->call = race_place_call(place);
    if (s->call[0]) snprintf(s->by, sizeof s->by, " by %s", s->call);
    snprintf(s->who, sizeof s->who, race_has_threads() && what != RACE_GIVES ? "%s %d, thread %u" : "%s %d",
             race_pe_word(), race_pe_number(s->pe), s->thread);
    race_symbols_place(place, s->place, sizeof s->place, s->function, sizeof s->function);
}

/* All PEs of the host share the table. */
int race_pair_is_new(uint64_t key) {
    for (uint32_t i = 0; i < RACE_PAIRS_MOST; i++) {
        uint64_t *word = &race_job.header->pairs[((key >> 20) + i) % RACE_PAIRS_MOST], seen = 0;
        if (__atomic_compare_exchange_n(word, &seen, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return 1;
        if (seen == key) return 0;
    }
    return 0;
}

/* 1 if the pair has not been reported yet. */
static int first_time(uint64_t a, uint64_t b) {
    const uint64_t key = (a < b ? a * 0x9e3779b97f4a7c15u ^ b : b * 0x9e3779b97f4a7c15u ^ a) | 1;
    return race_pair_is_new(key) && race_remote_pair_is_new(key);
}

static uint64_t hash_of(const struct race_side *s) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *p = s->place; *p; p++) hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    return hash ^ (uint64_t)s->what << 61;
}

/* Describes a block that has this offset or address. */
static void word_block(const char *owner, const char *kind, const char *made, uint64_t size, uint32_t place,
                       uint64_t offset, char *text, size_t room) {
    char at[256], function[256];
    race_symbols_place(place, at, sizeof at, function, sizeof function);
    snprintf(text, room, "%s%s of %llu byte%s %s at %s, offset %llu", owner, kind, (unsigned long long)size,
             size == 1 ? "" : "s", made, at, (unsigned long long)offset);
}

static int word_heap_block(const char *owner, int pe, uint64_t offset, char *text, size_t room) {
    static const char *const kinds[] = {"symmetric heap block", "local heap block", "attached memory"};
    const struct race_block *b = race_block_of(pe, offset);
    if (b)
        word_block(owner, kinds[b->kind], b->kind == RACE_REGION ? "attached" : "allocated", b->size, b->place,
                   offset - b->offset, text, room);
    return b != NULL;
}

#define RACE_OWN_STACK "its own stack"
void race_word_private(uintptr_t addr, char *text, size_t room) {
    char place[256], function[256];
    struct race_private_block b;
    struct race_frame f;
    struct race_local v;
    if (race_private_block(addr, &b))
        word_block("its own ", "block", "allocated", b.size, b.place, addr - b.base, text, room);
    else if (race_frame_of(addr, &f) && race_local_variable(addr, &f, &v))
        snprintf(text, room, "`%s` (local variable of %s of %zu byte%s, offset %zu)", v.name, v.function, v.size,
                 v.size == 1 ? "" : "s", v.offset);
    else if (race_frame_of(addr, &f)) {
        race_symbols_place(race_place(f.pc), place, sizeof place, function, sizeof function);
        snprintf(text, room, "a local variable of %s (%s)", function[0] ? function : "the function", place);
    } else if (race_is_on_stack(addr))
        snprintf(text, room, "%s", RACE_OWN_STACK);
    else
        snprintf(text, room, "its own memory at 0x%lx", (unsigned long)addr);
}

/* Describes the variable or block, and writes its bare name for suppressions. */
static void word_memory(struct race_where where, char *text, size_t room, char *name, size_t name_room) {
    char owner[32] = "";
    size_t size, offset;
    snprintf(name, name_room, "%s", "");
    if (where.pe < 0) {
        race_word_private(where.addr, text, room);
        return;
    }
    if (race_job.wording && race_job.wording->memory(where, text, room, name, name_room)) return;
    snprintf(owner, sizeof owner, "%s %d's ", race_pe_word(), race_pe_number(where.pe));
    if (where.addr - RACE_ATTACHED < RACE_ATTACHED_LEN) {
        snprintf(text, room, "%sattached memory", owner);
        word_heap_block(owner, where.pe, where.addr, text, room);
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
    if (word_heap_block(owner, where.pe, offset, text, room)) return;
    snprintf(text, room, "%sheap, offset %zu", owner, offset);
}

/* Why two atomics are not atomic towards each other. */
enum difference { SIZES, TYPES, DOMAINS, SIGNALS };
static enum difference difference_of(const struct race_side *a, const struct race_side *b) {
    if ((a->access ^ b->access) & RACE_MASK) return SIZES;
    if (RACE_TYPE(a->access) == RACE_TYPE(b->access)) return DOMAINS;
    return RACE_TYPE(a->access) >= RACE_SIGNAL_SET ? SIGNALS : TYPES;
}

/* The same for the report's first line; "" if they are not two atomics. */
static const char *cause(const struct race_side *old, const struct race_side *now) {
    static const char *const causes[] = {[SIZES] = ": atomics of different sizes",
                                         [TYPES] = ": atomics of different types",
                                         [DOMAINS] =
                                             ": atomics in contexts of SHMEM_TEAM_WORLD and of SHMEM_TEAM_SHARED",
                                         [SIGNALS] = ": a signal that is set and added to"};
    if (race_job.wording && race_job.wording->cause) return race_job.wording->cause(old, now);
    return race_is_atomic(old) && race_is_atomic(now) ? causes[difference_of(old, now)] : "";
}

static const char *families_advice(const struct race_side *old, const struct race_side *now) {
    static const char *const advices[] = {[SIZES] = "atomics of the same size for both",
                                          [TYPES] = "atomics of the same type for both",
                                          [DOMAINS] =
                                              "contexts of SHMEM_TEAM_WORLD for both, or of SHMEM_TEAM_SHARED for both",
                                          [SIGNALS] = "SHMEM_SIGNAL_SET for both, or SHMEM_SIGNAL_ADD for both"};
    return advices[difference_of(old, now)];
}

/* Why the older access does not come before the newer one. */
static void word_reason(const struct race_side *old, const struct race_side *now, char *text, size_t room) {
    const char *const nothing = race_job.wording && race_job.wording->nothing_completes
                                    ? race_job.wording->nothing_completes
                                    : ": no quiet or barrier between";
    if (old->kind == RACE_THREAD && now->what == RACE_GIVES)
        snprintf(text, room, "which PE %d did not know of when it called", now->pe);
    else if (old->kind == RACE_THREAD)
        snprintf(text, room, "nothing between that orders the two");
    else if (now->what == RACE_FREES || now->what == RACE_LEAVES)
        snprintf(text, room, "not completed before");
    else if (old->missed && old->pe != now->pe)
        snprintf(text, room, "%s; a quiet of thread %u does not cover what thread %u has begun",
                 old->completed ? "completed, but not waited for" : "not completed", old->missed_by, old->thread);
    else if (!old->completed && old->fenced && !race_job.wording)
        snprintf(text, room, "not completed: a fence orders it before later puts, and completes nothing");
    else if (!old->completed)
        snprintf(text, room, "not completed%s", old->pe != now->pe ? "" : nothing);
    else if (old->pe != now->pe)
        snprintf(text, room, "completed, but %s %d did not wait for it", race_pe_word(), now->pe);
    else
        snprintf(text, room, "completed, but thread %u did not synchronize with thread %u after it", now->thread,
                 old->thread);
}

/* What a PE must do after its access before it tells another one: "shmem_quiet, then ", or nothing. */
static void word_completion(const struct race_side *s, const char *quiet, char *text, size_t room) {
    snprintf(text, room, "%s", "");
    if (s->kind == RACE_THREAD || (s->completed && !s->missed)) return;
    if (s->missed)
        snprintf(text, room, "thread %u synchronizing with thread %u, then %s, then ", s->missed_by, s->thread, quiet);
    else
        snprintf(text, room, "%s, then ", quiet);
}

static const char *quiet_of(const struct race_side *s, int native) {
    return native          ? s->in_context ? "rma_ctx_quiet(ctx)" : "rma_quiet"
           : s->in_context ? "shmem_ctx_quiet(ctx)"
                           : "shmem_quiet";
}

/* For two PEs. Chance has decided which of them was first, so the other order is named as well. */
static void word_flags(const struct race_side *old, const struct race_side *now, int native, char *text, size_t room) {
    const char *api = native ? "rma" : "shmem", *quiet = quiet_of(old->in_context ? old : now, native);
    const int in_context = old->in_context || now->in_context;
    const int is_put = old->what == RACE_WRITES && old->kind == RACE_PUTS && !race_is_atomic(old);
    char first[120], second[120], lock[120] = "", both[40] = "";
    word_completion(old, quiet_of(old, native), first, sizeof first);
    word_completion(now, quiet_of(now, native), second, sizeof second);
    if (is_put && first[0] && !in_context) snprintf(both, sizeof both, " (%s_put_signal does both)", api);
    if (race_job.header->locked)
        snprintf(lock, sizeof lock, ", or each%s%s%s between %s_set_lock and %s_clear_lock",
                 in_context ? ", with " : "", in_context ? quiet : "", in_context ? "," : "", api, api);
    else if (!first[0])
        snprintf(lock, sizeof lock, ", a lock");
    snprintf(text, room,
             "%sa flag that PE %d waits for%s%s, or %s_barrier_all\n"
             "    if PE %d is to be first: %sa flag that PE %d waits for",
             first, now->pe, both, lock, api, now->pe, second, old->pe);
}

/* What would order the two. */
static void word_advice(const struct race_side *old, const struct race_side *now, char *text, size_t room) {
    const int native = !strncmp(now->call, "rma_", 4) || !strncmp(old->call, "rma_", 4);
    const char *api = native ? "rma" : "shmem", *quiet = quiet_of(old, native);
    const int writes_twice = old->what == RACE_WRITES && now->what == RACE_WRITES && old->kind != RACE_PENDING &&
                             (now->kind == RACE_PUTS || now->kind == RACE_SIGNALLED || race_is_atomic(now));
    const char *ctx = old->in_context ? "_ctx" : "", *of = old->in_context ? "(ctx)" : "";
    char by[24] = "";
    if (race_job.wording && race_job.wording->advice) {
        race_job.wording->advice(old, now, text, room);
        return;
    }
    if (old->pe != now->pe) snprintf(by, sizeof by, " by PE %d", old->pe);
    if (now->what == RACE_FREES)
        snprintf(text, room, "%s%s before %s", quiet, by, now->call);
    else if (now->what == RACE_LEAVES)
        snprintf(text, room, "%s before the function returns", quiet);
    else if (now->what == RACE_GIVES)
        snprintf(text, room, "%s between the two: before any PE calls %s, dest must be ready on all (OpenSHMEM 1.6)",
                 old->kind == RACE_THREAD ? "shmem_sync_all or shmem_team_sync" : "shmem_barrier_all", now->call);
    else if (race_is_atomic(old) != race_is_atomic(now))
        snprintf(text, room, "%s_atomic_ calls for both, or a flag or %s_barrier_all between", api, api);
    else if (race_is_atomic(old))
        snprintf(text, room, "%s", families_advice(old, now));
    else if (old->pe == now->pe && old->thread != now->thread)
        snprintf(text, room, "%s%s", old->kind == RACE_THREAD ? "" : quiet,
                 old->kind == RACE_THREAD ? "a mutex for both, or joining the thread between"
                                          : " by the first thread, then a mutex or joining the thread");
    else if (old->pe == now->pe && old->kind != RACE_THREAD && writes_twice)
        snprintf(text, room, "%s between the two (%s%s_fence%s, if both write to the same PE)", quiet, api, ctx, of);
    else if (old->pe == now->pe && old->kind != RACE_THREAD)
        snprintf(text, room, "%s between the two", quiet);
    else
        word_flags(old, now, native, text, room);
}

static const char *verb(int what, int past) {
    static const char *const now[] = {"reads", "writes", "frees", "has left the frame of", "writes"};
    return past ? what == RACE_READS ? "read" : "wrote" : now[what];
}

/* The first line for memory that ends: "frees by free its own block of 320 bytes allocated at a.c:12, of which 160
 * bytes from offset 80 on are under way". The description of the memory has the offset of the first byte. */
static void word_end(const struct race_side *now, const char *memory, size_t used, char *text, size_t room) {
    const char *offset = strstr(memory, ", offset "), *rest = offset ? offset + strlen(", offset ") : "";
    const int digits = (int)strspn(rest, "0123456789");
    char from[40] = "";
    if (offset) snprintf(from, sizeof from, " from offset %.*s on", digits, rest);
    if (!strcmp(memory, RACE_OWN_STACK)) memory = "a variable on " RACE_OWN_STACK;
    snprintf(text, room, "%s%s %.*s%s, of which %zu byte%s%s %s under way", verb(now->what, 0),
             now->what == RACE_FREES ? now->by : "", offset ? (int)(offset - memory) : (int)strlen(memory), memory,
             rest + digits, used, used == 1 ? "" : "s", from, used == 1 ? "is" : "are");
}

/* used: of memory that ends. */
static void report(const struct race_record *record, race_epoch mask, race_epoch kind, int what, uint32_t place,
                   const struct race_who *who, struct race_where where, size_t used) {
    char memory[700], name[256], what_now[900], reason[160], advice[500];
    const char *places[2], *functions[2];
    struct race_side now, old;
    size_t bytes = (size_t)__builtin_popcountll(record->epoch & mask & RACE_MASK);
    if (race_remote_collects(record, mask, what, where, used)) return;
    if (race_inside || !first_time((uint64_t)place << 3 | (uint64_t)what, (uint64_t)record->place << 3 | record->write))
        return;
    race_inside++;
    word_side(&now, who->epoch | kind | mask, what, place);
    word_side(&old, record->epoch, (int)record->write, record->place);
    /* Who has synchronized with the thread since the operation knows that it was not complete then. */
    if (who->clock[race_actor_thread(RACE_ACTOR(record->epoch))] >= RACE_COUNT(record->epoch)) old.completed = 0;
    name[0] = '\0';
    /* The first byte that both access. */
    if (record->epoch & mask & RACE_MASK)
        where.addr = (where.addr & ~(uintptr_t)7) + (uintptr_t)__builtin_ctzll(record->epoch & mask & RACE_MASK);
    word_memory(where, memory, sizeof memory, name, sizeof name);
    places[0] = now.place, places[1] = old.place;
    functions[0] = now.function, functions[1] = old.function;
    if (first_time(hash_of(&now), hash_of(&old)) &&
        !race_suppressed(places, functions, name, race_job.header->suppressions_used)) {
        __atomic_fetch_add(&race_job.header->races, 1, __ATOMIC_RELAXED);
        if (race_job.wording && race_job.wording->say && now.pe != old.pe) {
            race_job.wording->say(&old, &now, memory, bytes);
            race_inside--;
            return;
        }
        if (what == RACE_FREES || what == RACE_LEAVES)
            word_end(&now, memory, used, what_now, sizeof what_now);
        else
            snprintf(what_now, sizeof what_now, "%s %zu byte%s of %s%s%s", verb(now.what, 0), bytes,
                     bytes == 1 ? "" : "s", memory, now.by, cause(&old, &now));
        word_reason(&old, &now, reason, sizeof reason);
        word_advice(&old, &now, advice, sizeof advice);
        race_say("%s %s\n"
                 "    %s %s%s%s\n"
                 "  %s %s them%s at %s%s%s, %s\n"
                 "  what would order them: %s",
                 now.who, what_now, now.what == RACE_LEAVES ? "before" : "at", now.place, now.function[0] ? " in " : "",
                 now.function, old.who, verb(old.what, 1), old.by, old.place, old.function[0] ? " in " : "",
                 old.function, reason, advice);
    }
    race_inside--;
}

void race_report(const struct race_record *old, race_epoch mask, race_epoch kind, int what, uint32_t place,
                 const struct race_who *who, struct race_where where) {
    report(old, mask, kind, what, place, who, where, 0);
}

void race_report_end(const struct race_record *old, race_epoch mask, size_t used, int what, uint32_t place,
                     const struct race_who *who, struct race_where where) {
    report(old, mask, RACE_PLAIN, what, place, who, where, used);
}

void race_report_past_end(const struct race_call *c, int pe, uint64_t offset, size_t len, size_t past, int write) {
    const uint32_t place = race_call_place(c->pc, c->name);
    char memory[700], owner[32];
    const char *places[2], *functions[2];
    struct race_side now;
    if (race_inside || !first_time(place, UINT64_MAX)) return;
    race_inside++;
    word_side(&now, race_now, write, place);
    places[0] = places[1] = now.place;
    functions[0] = functions[1] = now.function;
    snprintf(owner, sizeof owner, "PE %d's ", pe);
    if (word_heap_block(owner, pe, offset, memory, sizeof memory) && first_time(hash_of(&now), UINT64_MAX) &&
        !race_suppressed(places, functions, "", race_job.header->suppressions_used)) {
        __atomic_fetch_add(&race_job.header->past_ends, 1, __ATOMIC_RELAXED);
        race_say("%s %s %zu byte%s of %s%s: %zu byte%s past its end\n"
                 "    at %s%s%s",
                 now.who, verb(write, 0), len, len == 1 ? "" : "s", memory, now.by, past, past == 1 ? "" : "s",
                 now.place, now.function[0] ? " in " : "", now.function);
    }
    race_inside--;
}
