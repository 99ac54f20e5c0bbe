/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a caller's mistake names the OpenSHMEM call, the argument and its value, and the mistake changes
 * nothing. The error handler is the native interface's, which may be used in the same program (rma.h).
 *
 * Broken by a text that names the native call that did the work, by an error that is not raised, by an output that is
 * written, and by a name that remains for the next native call. */
#include "osh.h"

#include <shmemx.h>

static int raised;
static char text[1100];

static void handler(int code, const char *words) {
    (void)code;
    raised++;
    snprintf(text, sizeof text, "%s", words);
}

/* TOLD: the statement raises one error, whose text begins with call and has the words. */
#define TOLD(call, words, statement)                                                                                   \
    do {                                                                                                               \
        const char *name_ = call;                                                                                      \
        raised = 0;                                                                                                    \
        text[0] = 0;                                                                                                   \
        statement;                                                                                                     \
        CHECK(raised == 1, call ": %d errors, the last one: %s", raised, text);                                        \
        CHECK(strncmp(text, name_, strlen(name_)) == 0 && text[strlen(name_)] == ':', call " is not named: %s", text); \
        CHECK(strstr(text, words) != NULL, call ": no '%s' in: %s", words, text);                                      \
        if (call[0] != 'r')                                                                                            \
            CHECK(!strstr(text, "rma_") && !strstr(text, "RMA_"), call ": a native name in: %s", text);                \
    } while (0)

static long word, words[4];
static int before = 17;
static const long fixed = 3;
static const void *const fixed_pointers[] = {&word, &before}; /* the dynamic linker computes it */

static void before_init(void) {
    int value = 5;
    rma_set_errhandler(handler);
    TOLD("shmem_my_pe", "before shmem_init", CHECK(shmem_my_pe() == -1, "a PE"));
    TOLD("shmem_n_pes", "before shmem_init", CHECK(shmem_n_pes() == -1, "PEs"));
    TOLD("shmem_int_p", "before shmem_init", shmem_int_p(&before, value, 0));
    TOLD("shmem_putmem", "before shmem_init", shmem_putmem(&before, &value, sizeof value, 0));
    TOLD("shmem_int_atomic_fetch_add", "before shmem_init",
         CHECK(shmem_int_atomic_fetch_add(&before, 1, 0) == 0, "a value"));
    TOLD("shmem_malloc", "before shmem_init", CHECK(shmem_malloc(8) == NULL, "memory"));
    TOLD("shmem_barrier_all", "before shmem_init", shmem_barrier_all());
    TOLD("shmem_barrier", "before shmem_init", shmem_barrier(0, 0, 1, words));
    TOLD("shmem_quiet", "before shmem_init", shmem_quiet());
    TOLD("shmem_ctx_session_start", "before shmem_init",
         shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0));
    TOLD("shmem_ctx_session_stop", "before shmem_init", shmem_ctx_session_stop(SHMEM_CTX_DEFAULT));
    TOLD("shmemx_pcntr_get_completed_target", "before shmem_init",
         shmemx_pcntr_get_completed_target((uint64_t *)(void *)&word));
    TOLD("shmem_finalize", "more often", shmem_finalize());
    CHECK(before == 17, "written");
}

static void moves(void) {
    long stack = 3, got = 4;
    char beyond[40];
    uint64_t count = 17;
    shmem_ctx_t gone = SHMEM_CTX_INVALID;
    DOING("moves");
    snprintf(beyond, sizeof beyond, "PE %d is outside 0..%d", n, n - 1);
    TOLD("shmem_long_put", beyond, shmem_long_put(&word, &stack, 1, n));
    TOLD("shmem_put64", beyond, shmem_put64(&word, &stack, 1, n));
    TOLD("shmem_putmem", "dest", shmem_putmem(&stack, &word, 8, 0));
    TOLD("shmem_long_get", "it is a constant of the program", shmem_long_get(&got, &fixed, 1, 0));
    TOLD("shmem_getmem", "it is a constant of the program", shmem_getmem(&got, fixed_pointers, 8, 0));
    TOLD("shmem_char_put", "with 1 byte is", shmem_char_put((char *)&stack, (char *)&word, 1, 0));
    TOLD("shmem_long_get", "source", shmem_long_get(&got, &stack, 1, 0));
    TOLD("shmem_long_p", "PE -1", shmem_long_p(&word, 1, -1));
    TOLD("shmem_long_g", beyond, CHECK(shmem_long_g(&word, n) == 0, "a value"));
    TOLD("shmem_double_put_nbi", "dest", shmem_double_put_nbi((double *)(void *)&stack, NULL, 1, 0));
    TOLD("shmem_long_put", "18446744073709551615 bytes", shmem_long_put(&word, &stack, SIZE_MAX / 4, 0));
    TOLD("shmem_long_iput", "stride", shmem_long_iput(&word, &stack, 0, 1, 1, 0));
    TOLD("shmem_long_iget", beyond, shmem_long_iget(&got, &word, 1, 1, 1, n));
    TOLD("shmem_long_ibput", "dst 0", shmem_long_ibput(words, &stack, 0, 1, 1, 1, 0));
    TOLD("shmem_ibget32", beyond, shmem_ibget32(&got, words, 2, 2, 1, 2, n));
    TOLD("shmem_long_put_signal", "op 9", shmem_long_put_signal(&word, &stack, 1, (uint64_t *)words, 1, 9, 0));
    TOLD("shmem_signal_set", beyond, shmem_signal_set((uint64_t *)words, 1, n));
    TOLD("shmemx_signal_add", beyond, shmemx_signal_add((uint64_t *)words, 1, n));
    TOLD("shmemx_long_ibput", "dst 0", shmemx_long_ibput(words, &stack, 0, 1, 1, 1, 0));
    TOLD("shmemx_ibget32", beyond, shmemx_ibget32(&got, words, 2, 2, 1, 2, n));
    CHECK(shmem_ctx_create(0, &gone) == 0, "no context");
    shmem_ctx_destroy(gone);
    TOLD("shmem_ctx_long_put", "ctx", shmem_ctx_long_put(gone, &word, &stack, 1, 0));
    TOLD("shmem_ctx_quiet", "ctx", shmem_ctx_quiet(gone));
    TOLD("shmem_ctx_destroy", "ctx", shmem_ctx_destroy(gone));
    TOLD("shmem_ctx_create", "options", CHECK(shmem_ctx_create(64, &gone) != 0, "a context"));
    TOLD("shmem_ctx_session_start", "options 0x8", shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 8, NULL, 0));
    TOLD("shmem_ctx_session_start", "config_mask 0x2", shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 2));
    TOLD("shmem_ctx_session_start", "config is a null pointer, and config_mask is 0x1",
         shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, SHMEM_CTX_SESSION_TOTAL_OPS));
    TOLD("shmem_ctx_session_start", "ctx", shmem_ctx_session_start(gone, SHMEM_CTX_SESSION_BATCH, NULL, 0));
    TOLD("shmem_ctx_session_stop", "ctx", shmem_ctx_session_stop(gone));
    TOLD("shmemx_pcntr_get_all", "pcntr is a null pointer", shmemx_pcntr_get_all(SHMEM_CTX_DEFAULT, NULL));
    TOLD("shmemx_pcntr_get_issued_read", "cntr_value is a null pointer",
         shmemx_pcntr_get_issued_read(SHMEM_CTX_DEFAULT, NULL));
    TOLD("shmemx_pcntr_get_completed_target", "cntr_value is a null pointer", shmemx_pcntr_get_completed_target(NULL));
    TOLD("shmemx_pcntr_get_completed_write", "ctx is SHMEM_CTX_INVALID",
         shmemx_pcntr_get_completed_write(SHMEM_CTX_INVALID, &count));
    TOLD("shmemx_pcntr_get_completed_read", "has been destroyed", shmemx_pcntr_get_completed_read(gone, &count));
    CHECK(count == 17, "a counter is written");
    TOLD("shmem_ptr", beyond, CHECK(shmem_ptr(&word, n) == NULL, "an address"));
    CHECK(word == 0 && got == 4, "written: %ld %ld", word, got);
}

static void updates(void) {
    long stack = 3, got = 4;
    DOING("atomics and waits");
    TOLD("shmem_long_atomic_add", "PE -2", shmem_long_atomic_add(&word, 1, -2));
    TOLD("shmem_long_atomic_fetch_add", "is not inside",
         CHECK(shmem_long_atomic_fetch_add(&stack, 1, 0) == 0, "a value"));
    TOLD("shmem_long_atomic_swap", "aligned", shmem_long_atomic_swap((long *)(void *)((char *)words + 4), 1, 0));
    TOLD("shmem_long_atomic_fetch_add_nbi", "PE -2", shmem_long_atomic_fetch_add_nbi(&got, &word, 1, -2));
    TOLD("shmem_int_cswap", "PE -2", shmem_int_cswap(&before, 1, 2, -2));
    TOLD("shmem_long_p", "dest is a null pointer", shmem_long_p(NULL, 1, next()));
    TOLD("shmem_long_put", "dest is a null pointer", shmem_long_put(NULL, &word, 1, next()));
    TOLD("shmem_long_atomic_inc", "target is a null pointer", shmem_long_atomic_inc(NULL, next()));
    TOLD("shmem_long_wait_until", "is a null pointer", shmem_long_wait_until(NULL, SHMEM_CMP_EQ, 0));
    TOLD("shmem_set_lock", "lock is a null pointer", shmem_set_lock(NULL));
    TOLD("shmem_long_iput", "source is a null pointer", shmem_long_iput(words, NULL, 1, 1, 2, next()));
    TOLD("shmem_ctx_long_p", "ctx is SHMEM_CTX_INVALID", shmem_ctx_long_p(SHMEM_CTX_INVALID, &word, 1, 0));
    TOLD("shmem_putmem_signal", "op 9 is neither SHMEM_SIGNAL_SET",
         shmem_putmem_signal(words, &stack, 8, (uint64_t *)words, 1, 9, next()));
    TOLD("shmem_long_wait_until", "cmp 77", shmem_long_wait_until(&word, 77, 0));
    TOLD("shmem_long_wait_until", "in no memory", shmem_long_wait_until(&stack, SHMEM_CMP_EQ, 4));
    TOLD("shmem_long_test_any", "cmp -1", CHECK(shmem_long_test_any(words, 4, NULL, -1, 0) == SIZE_MAX, "an index"));
    TOLD("shmem_short_wait", "in no memory", shmem_short_wait((short *)(void *)&stack, 3));
    TOLD("shmem_signal_wait_until", "cmp 9", shmem_signal_wait_until((uint64_t *)words, 9, 0));
    TOLD("shmem_set_lock", "lock", shmem_set_lock(&stack));
    TOLD("shmem_clear_lock", "does not", shmem_clear_lock(&word));
    CHECK(word == 0 && stack == 3 && got == 4 && before == 17, "written");
}

static void collectives(void) {
    shmem_team_t team = SHMEM_TEAM_WORLD, other;
    static int work[32], value[4];
    static long sync[SHMEM_SYNC_SIZE];
    char *block = shmem_malloc(64), outside[60];
    DOING("collectives");
    snprintf(outside, sizeof outside, "PE_size %d: PE %d is outside 0..%d", n + 1, n, n - 1);
    /* PEs in different calls, and with different arguments. */
    if (n > 1) {
        if (me == 0)
            TOLD("shmem_malloc", "PE 0 is in shmem_malloc, PE 1 in shmem_free",
                 CHECK(shmem_malloc(8) == NULL, "memory"));
        else
            TOLD("shmem_free", "PE 0 is in shmem_malloc, PE 1 in shmem_free", shmem_free(NULL));
        if (me == 0)
            TOLD("shmem_align", "PE 1 is in shmem_calloc, PE 0 in shmem_align",
                 CHECK(shmem_align(64, 8) == NULL, "memory"));
        else
            TOLD("shmem_calloc", "PE 1 is in shmem_calloc, PE 0 in shmem_align",
                 CHECK(shmem_calloc(1, 8) == NULL, "memory"));
        if (me == 0)
            TOLD("shmem_int_broadcast", "PE 0 is in shmem_broadcast, PE 1 in shmem_fcollect",
                 CHECK(shmem_int_broadcast(SHMEM_TEAM_WORLD, value, value, 1, 0) != 0, "a broadcast"));
        else
            TOLD("shmem_int_fcollect", "PE 0 is in shmem_broadcast, PE 1 in shmem_fcollect",
                 CHECK(shmem_int_fcollect(SHMEM_TEAM_WORLD, value, value, 1) != 0, "a collection"));
        TOLD("shmem_team_split_strided", "size is 1 on PE 1, but 2 on PE 0",
             CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, me == 0 ? 2 : 1, NULL, 0, &team) != 0, "a team"));
        if (me == 0)
            TOLD("shmem_team_split_2d", "PE 1 is in shmem_team_split_strided, PE 0 in shmem_team_split_2d",
                 CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &team, NULL, 0, &other) != 0, "teams"));
        else
            TOLD("shmem_team_split_strided", "PE 1 is in shmem_team_split_strided, PE 0 in shmem_team_split_2d",
                 CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team) != 0, "a team"));
    }
    CHECK(shmem_calloc(SIZE_MAX / 4, 8) == NULL && strstr(rma_last_error(), "shmem_calloc: count"), "%s",
          rma_last_error());
    CHECK(shmem_malloc(SIZE_MAX / 2) == NULL && strstr(rma_last_error(), "(SHMEM_SYMMETRIC_SIZE, RMA_HEAP_MAX)"), "%s",
          rma_last_error());
    TOLD("shmem_align", "alignment 3", CHECK(shmem_align(3, 8) == NULL, "memory"));
    TOLD("shmem_malloc_with_hints", "hints 0x10", CHECK(shmem_malloc_with_hints(8, 16) == NULL, "memory"));
    TOLD("shmem_free", "block", shmem_free(block + 8));
    TOLD("shmem_realloc", "block", CHECK(shmem_realloc(&before, 8) == NULL, "memory"));
    TOLD("shfree", "block", shfree(block + 8));
    TOLD("shmem_team_split_strided", "team is a null pointer",
         CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, NULL) != 0, "a team"));
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 0, NULL, 0, &team) != 0, "a team");
    CHECK(team == SHMEM_TEAM_INVALID, "the team is left as it was");
    TOLD("shmem_team_destroy", "always there", shmem_team_destroy(SHMEM_TEAM_WORLD));
    TOLD("shmem_team_sync", "team", CHECK(shmem_team_sync((shmem_team_t)(uintptr_t)0x7654321) != 0, "a team"));
    TOLD("shmem_int_broadcast", "root 99",
         CHECK(shmem_int_broadcast(SHMEM_TEAM_WORLD, value, value, 1, 99) != 0, "a broadcast"));
    TOLD("shmem_int_sum_reduce", "dest", CHECK(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, NULL, value, 1) != 0, "a sum"));
    TOLD("shmem_barrier", outside, shmem_barrier(0, 0, n + 1, sync));
    TOLD("shmem_sync", "logPE_stride 31", shmem_sync(0, 31, 1, sync));
    TOLD("shmem_sync", "PE_size 0", shmem_sync(0, 0, 0, sync));
    TOLD("shmem_barrier", "pSync is a null pointer", shmem_barrier(me, 0, 1, NULL));
    TOLD("shmem_barrier", "pSync", shmem_barrier(me, 0, 1, (long *)(void *)outside));
    if (n > 1) TOLD("shmem_barrier", "is not in the active set", shmem_barrier(next(), 0, 1, sync));
    TOLD("shmem_broadcast64", "PE_root 1 ", shmem_broadcast64(value, value, 1, 1, me, 0, 1, sync));
    if (n > 1)
        TOLD("shmem_int_max_to_all", "source is a null pointer",
             shmem_int_max_to_all(value, NULL, 1, me, 0, 1, work, sync));
    if (n > 1) TOLD("shmem_int_sum_to_all", "nreduce -1", shmem_int_sum_to_all(value, value, -1, me, 0, 1, work, sync));
    TOLD("rma_put", "PE -5", rma_put(&word, &word, 8, -5)); /* the native name is back */
    shmem_free(block);
}

int main(void) {
    setenv("RMA_CHECK", "yes", 1); /* PEs in different collectives are told so */
    before_init();
    start();
    moves();
    updates();
    collectives();
    shmem_barrier_all();
    shmem_finalize();
    TOLD("shmem_long_put", "after shmem_finalize", shmem_long_put(&word, &word, 1, 0));
    TOLD("shmem_finalize", "more often", shmem_finalize());
    return 0;
}
