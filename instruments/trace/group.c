/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/trace/group.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/trace/job.h"
#include "instruments/trace/native.h"
#include "instruments/trace/record.h"

static struct trace_group_of *groups;
static struct known {
    const void *team; /* NULL: gone */
    struct trace_group_of *group;
    struct known *next;
} * known, *contexts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The group of these members; pes is copied. With the lock. */
static struct trace_group_of *find_group(const int *pes, int n) {
    struct trace_group_of *g;
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < n; i++) hash = (hash ^ (uint32_t)pes[i]) * 0x100000001b3u;
    for (g = groups; g; g = g->next)
        if (g->hash == hash && g->n == n) return g;
    g = calloc(1, sizeof *g);
    if (!g || !(g->pes = malloc((size_t)n * sizeof *pes))) {
        free(g);
        return NULL;
    }
    memcpy(g->pes, pes, (size_t)n * sizeof *pes);
    g->hash = hash;
    g->n = n;
    g->next = groups;
    return groups = g;
}

struct trace_group_of *trace_group_of_pes(int *pes, int n) {
    struct trace_group_of *g;
    pthread_mutex_lock(&lock);
    g = find_group(pes, n);
    pthread_mutex_unlock(&lock);
    free(pes);
    return g;
}

static struct trace_group_of *group_of_team(const rma_team *team) {
    int n = prma_team_n_pes(team), *pes = n > 0 ? malloc((size_t)n * sizeof *pes) : NULL;
    if (!pes) return NULL;
    for (int i = 0; i < n; i++) pes[i] = prma_team_translate_pe(team, i, RMA_TEAM_WORLD);
    return trace_group_of_pes(pes, n);
}

struct trace_group_of *trace_team(const void *team) {
    struct trace_group_of *g = NULL;
    struct known *k;
    if (!team) return NULL;
    pthread_mutex_lock(&lock);
    for (k = known; k && k->team != team;) k = k->next;
    if (k) g = k->group;
    pthread_mutex_unlock(&lock);
    if (k || !(g = group_of_team(team)) || !(k = malloc(sizeof *k))) return g;
    k->team = team;
    k->group = g;
    pthread_mutex_lock(&lock);
    k->next = known;
    known = k;
    pthread_mutex_unlock(&lock);
    return g;
}

static void forget(struct known *list, const void *handle) {
    pthread_mutex_lock(&lock);
    for (struct known *k = list; k && handle; k = k->next)
        if (k->team == handle) k->team = NULL;
    pthread_mutex_unlock(&lock);
}

void trace_team_gone(const void *team) { forget(known, team); }
void trace_context_gone(const void *ctx) { forget(contexts, ctx); }

struct trace_group_of *trace_world(void) {
    static struct trace_group_of *world;
    struct trace_group_of *g = __atomic_load_n(&world, __ATOMIC_ACQUIRE);
    if (!g && (g = trace_team(RMA_TEAM_WORLD))) __atomic_store_n(&world, g, __ATOMIC_RELEASE);
    return g;
}

struct trace_group_of *trace_set(int start, int log_stride, int size) {
    int *pes;
    if (size < 1 || size > trace_job.n_pes || log_stride < 0 || log_stride > 30) return NULL;
    if (!(pes = malloc((size_t)size * sizeof *pes))) return NULL;
    for (int i = 0; i < size; i++) pes[i] = start + (int)((long)i << log_stride);
    return trace_group_of_pes(pes, size);
}

int trace_group_pe(const struct trace_group_of *g, int i) { return g && i >= 0 && i < g->n ? g->pes[i] : -1; }

void trace_context_made(const void *ctx, const void *team) {
    struct trace_group_of *g = trace_on && ctx ? trace_team(team) : NULL;
    struct known *k;
    if (!g) return;
    if (!(k = malloc(sizeof *k))) return;
    pthread_mutex_lock(&lock);
    *k = (struct known){.team = ctx, .group = g, .next = contexts};
    contexts = k;
    pthread_mutex_unlock(&lock);
}

int trace_context_pe(const void *ctx, int pe) {
    const struct known *k;
    pthread_mutex_lock(&lock);
    for (k = contexts; k && k->team != ctx;) k = k->next;
    pthread_mutex_unlock(&lock);
    return k ? trace_group_pe(k->group, pe) : -1;
}

void trace_heap_changed(void) {
    struct rma_heap_stats symmetric, local;
    if (!trace_on || !trace_me || trace_me->inside) return;
    if (prma_heap_stats(RMA_HEAP_SYMMETRIC, &symmetric) != RMA_SUCCESS) return;
    if (prma_heap_stats(RMA_HEAP_LOCAL, &local) != RMA_SUCCESS) return;
    trace_heap(symmetric.used + local.used);
}
