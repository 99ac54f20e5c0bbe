/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams, contexts, sessions, locks, memory and queries: handles and values are those of the specification.
 *
 * Broken by an unchanged handle where the specification requires SHMEM_TEAM_INVALID, by a configuration that is
 * forgotten, by a lock whose test says the opposite, by an address of a peer that is not that of its copy. */
#include "osh.h"

#include <limits.h>

static long in_static = 5;
static const long constant = 6;

static void teams(void) {
    shmem_team_t team = SHMEM_TEAM_WORLD, x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    shmem_team_config_t config = {.num_contexts = 3}, got = {.num_contexts = -1};
    const int range = n > 3 ? 2 : 1;
    DOING("teams");
    CHECK(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me && shmem_team_n_pes(SHMEM_TEAM_WORLD) == n, "the world");
    CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1, "no team");
    CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) >= 1, "the PEs that share memory");
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, n, SHMEM_TEAM_WORLD) == -1 &&
              shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD) == -1,
          "a PE that is not in the first team");
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0 && team == SHMEM_TEAM_INVALID,
          "of no team");
    static const int wrong[][3] = {{0, 1, 0}, {0, 1, -1}, {-1, 1, 1}, {0, -1, 2}, {0, 0, 2}, {1, INT_MAX, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        team = SHMEM_TEAM_WORLD;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, wrong[i][0], wrong[i][1], wrong[i][2], NULL, 0, &team) != 0 &&
                  team == SHMEM_TEAM_INVALID,
              "wrong triplet %zu", i);
    }
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &team) != 0 && team == SHMEM_TEAM_INVALID,
          "more than there are");
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0,
          "even PEs");
    CHECK((team == SHMEM_TEAM_INVALID) == (me % 2 == 1), "who is in it");
    if (me % 2 == 0) {
        CHECK(shmem_team_my_pe(team) == me / 2 && shmem_team_n_pes(team) == (n + 1) / 2, "numbers");
        CHECK(shmem_team_translate_pe(team, me / 2, SHMEM_TEAM_WORLD) == me &&
                  shmem_team_translate_pe(SHMEM_TEAM_WORLD, me, team) == me / 2,
              "translation");
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, n > 1 ? 1 : 0, team) == (n > 1 ? -1 : 0),
              "a PE that is not in it");
        CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 3, "%d contexts",
              got.num_contexts);
        CHECK(shmem_team_get_config(team, 0, NULL) == 0, "an empty mask");
        CHECK(shmem_team_ptr(team, &in_static, me / 2) == (void *)&in_static, "the own copy");
        CHECK(shmem_team_sync(team) == 0, "sync");
    }
    shmem_team_destroy(team);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, range, NULL, 0, &x, &config, 0, &y) == 0, "2d");
    CHECK(shmem_team_my_pe(x) == me % range && shmem_team_my_pe(y) == me / range, "rows and columns");
    CHECK(shmem_team_get_config(y, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 0,
          "what is masked has its default");
    shmem_team_destroy(x);
    shmem_team_destroy(y);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

static void contexts(void) {
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_ctx_session_config_t config = {.total_ops = 100};
    const int pes[] = {next(), me};
    static long words[2], flag;
    DOING("contexts");
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID, "of no team");
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID, "of no context");
    CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team) == 0 && team == SHMEM_TEAM_WORLD, "the default one's");
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, &ctx) == 0 && ctx != SHMEM_CTX_INVALID &&
              ctx != SHMEM_CTX_DEFAULT,
          "a new one");
    CHECK(shmem_ctx_get_team(ctx, &team) == 0 && team == SHMEM_TEAM_WORLD, "its team");
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0);
    shmem_ctx_long_p(ctx, &words[0], 7, next());
    shmem_ctx_session_stop(ctx);
    shmem_ctx_fence(ctx);
    shmem_ctx_pe_quiet(ctx, pes, 2);
    shmem_long_p(&words[1], 8, next());
    shmem_fence();
    shmem_pe_quiet(pes, 1);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT); /* no effect */
    CHECK(shmem_long_g(&words[0], next()) == 7 && shmem_long_g(&words[1], next()) == 8, "what is complete");
    /* A batch may wait for company, and arrives without a quiet. */
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, 0);
    shmem_ctx_long_atomic_set(ctx, &flag, 9, next());
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 9);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_destroy(ctx);
}

static void locks(void) {
    static long lock, free_lock, inside;
    DOING("locks");
    for (int i = 0; i < 20; i++) {
        long seen;
        if (i % 3 == 0)
            while (shmem_test_lock(&lock)) continue;
        else
            shmem_set_lock(&lock);
        seen = shmem_long_g(&inside, 0);
        shmem_long_p(&inside, seen + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&inside, 0) == 20L * n, "%ld times inside, not %d", shmem_long_g(&inside, 0), 20 * n);
    if (me == 0) CHECK(shmem_test_lock(&free_lock) == 0, "a free lock");
    shmem_barrier_all();
    if (me != 0) CHECK(shmem_test_lock(&free_lock) == 1, "a lock that is held");
    shmem_barrier_all();
    if (me == 0) shmem_clear_lock(&free_lock);
}

static void memory(void) {
    char *a, *b;
    long on_stack = 0, *words, *there;
    DOING("memory");
    a = shmem_malloc(100);
    b = shmem_align(4096, 10);
    words = shmem_calloc(8, sizeof *words);
    CHECK(a && b && words && (uintptr_t)b % 4096 == 0 && words[7] == 0, "%p %p %p", (void *)a, (void *)b,
          (void *)words);
    CHECK(shmem_malloc(0) == NULL && shmem_calloc(0, 8) == NULL, "nothing");
    memset(a, me + 1, 100);
    a = shmem_realloc(a, 100000);
    CHECK(a && a[99] == me + 1, "what was in it");
    a[0] = (char)(me + 1);
    shmem_barrier_all();
    CHECK(shmem_char_g(a, next()) == next() + 1, "the next PE's");
    CHECK(shmem_addr_accessible(a, next()) && shmem_addr_accessible(&in_static, next()), "symmetric");
    CHECK(!shmem_addr_accessible(&on_stack, next()) && !shmem_addr_accessible(&constant, me) &&
              !shmem_addr_accessible(a, n),
          "not symmetric");
    CHECK(shmem_pe_accessible(0) && shmem_pe_accessible(n - 1) && !shmem_pe_accessible(n) && !shmem_pe_accessible(-1),
          "PEs");
    for (int pe = 0; pe < n; pe++) {
        const int near = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0;
        there = shmem_ptr(&in_static, pe);
        CHECK((shmem_ptr(a, pe) != NULL) == near, "PE %d is %s", pe, near ? "near" : "far");
        /* An emulator may refuse to move static objects to shared memory: test/job/statics asks it. */
        CHECK(!there || near, "a static object of PE %d, which is far", pe);
        CHECK(!there || *there == 5, "the static object of PE %d is %ld", pe, *there);
        CHECK(shmem_ptr(&on_stack, pe) == NULL, "a stack has no address elsewhere");
    }
    shmem_free(words);
    shmem_free(b);
    shmem_free(a);
    shmem_free(NULL);
    a = shmem_malloc_with_hints(100, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
    b = shmalloc(100);
    CHECK(a && b, "with hints, and as it was called once");
    b = shrealloc(b, 200);
    shfree(b);
    b = shmemalign(256, 8);
    CHECK(b && (uintptr_t)b % 256 == 0, "shmemalign");
    shfree(b);
    for (size_t alignment = 1; alignment <= (size_t)1 << 24; alignment *= 2) {
        b = shmem_align(alignment, 8);
        CHECK(b && (uintptr_t)b % alignment == 0, "shmem_align(%zu) is %p", alignment, (void *)b);
        shmem_free(b);
    }
    shmem_free(a);
}

static void queries(void) {
    int major = 0, minor = 0, level = -1, running = 0;
    char name[SHMEM_MAX_NAME_LEN];
    DOING("queries");
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    shmem_query_thread(&level);
    shmem_query_initialized(&running);
    CHECK(major == 1 && minor == 6 && major == _SHMEM_MAJOR_VERSION && minor == _SHMEM_MINOR_VERSION, "version %d.%d",
          major, minor);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0 && strncmp(name, "librma ", 7) == 0 &&
              strcmp(name + 7, rma_version()) == 0,
          "%s", name);
    CHECK(level == SHMEM_THREAD_SINGLE && running, "level %d", level);
    CHECK(_my_pe() == me && _num_pes() == n, "as they were called once");
    shmem_pcontrol(1);
    shmem_pcontrol(2, "more", 3);
}

int main(void) {
    start();
    teams();
    contexts();
    locks();
    memory();
    queries();
    shmem_sync_all();
    return end();
}
