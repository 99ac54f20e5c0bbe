/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's calls on locks, events and atomic variables. Image 0 is the calling image. */
#include "config.h"

#include "interfaces/caf/gfortran.h"
#include "interfaces/caf/lock.h"
#include "interfaces/caf/team.h"

#include <string.h>

static RMAI_COLD int report_no_word(struct rmai_caf_result r, const char *statement, caf_token token, size_t offset) {
    if (token)
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                        "%s: the word at byte %td is outside its coarray, which has %zu bytes", statement,
                        (ptrdiff_t)offset, token->size);
    else
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: the coarray is not allocated", statement);
    return 0;
}

/* Finds the word at byte `offset` of the coarray on image. Returns 0 after it has reported an error. */
static inline __attribute__((always_inline)) int find_word(struct rmai_caf_result r, const char *statement,
                                                           caf_token token, size_t offset, size_t len, int image,
                                                           struct rmai_caf_place *at) {
    if (__builtin_expect(!token || !rmai_caf_holds(token, offset, len), 0))
        return report_no_word(r, statement, token, offset);
    int pe = image == 0 ? rmai_caf.me : rmai_caf_pe(r, statement, rmai_caf.team, image);
    if (pe < 0 || has_failed(r, statement, pe)) return 0;
    *at = rmai_caf_place(token, offset, pe);
    return 1;
}

/* ---- locks and events: index counts words of 8 bytes ---- */

/* The offset of word `index`. Of an index so large that its offset would wrap, it is one that no coarray has. */
static inline size_t word_offset(size_t index) {
    return __builtin_expect(index > PTRDIFF_MAX / 8 && -index > PTRDIFF_MAX / 8, 0) ? PTRDIFF_MAX : 8 * index;
}

/* Finds a word of 8 bytes on this node. Returns 0 if find_word has to find it, or to report an error. */
static inline __attribute__((always_inline)) int find_near(caf_token token, size_t offset, int image,
                                                           struct rmai_caf_place *at) {
    const struct rmai_caf_team *team = rmai_caf.team;
    if (!token || !rmai_caf_holds(token, offset, 8) || (unsigned)image - 1u >= (unsigned)team->n || rmai_caf.self->gone)
        return 0;
    *at = rmai_caf_place(token, offset, team->pes[image - 1]);
    return at->near != NULL;
}

static __attribute__((noinline)) void lock_any(caf_token token, size_t index, int image, int *acquired, int *stat,
                                               char *errmsg, size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct rmai_caf_place at;
    if (find_word(r, "LOCK", token, word_offset(index), 8, image, &at)) rmai_caf_lock(r, &at, acquired);
}

void _gfortran_caf_lock(caf_token token, size_t index, int image, int *acquired, int *stat, char *errmsg,
                        size_t errmsg_len) {
    struct rmai_caf_place at;
    if (__builtin_expect(!find_near(token, word_offset(index), image, &at) || !rmai_caf_lock_free(&at), 0)) {
        lock_any(token, index, image, acquired, stat, errmsg, errmsg_len);
        return;
    }
    if (acquired) *acquired = 1;
    if (stat) *stat = RMAI_CAF_OK;
}

static __attribute__((noinline)) void unlock_any(caf_token token, size_t index, int image, int *stat, char *errmsg,
                                                 size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct rmai_caf_place at;
    if (find_word(r, "UNLOCK", token, word_offset(index), 8, image, &at)) rmai_caf_unlock(r, &at);
}

void _gfortran_caf_unlock(caf_token token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len) {
    struct rmai_caf_place at;
    if (__builtin_expect(!find_near(token, word_offset(index), image, &at) || !rmai_caf_unlock_only(at.far), 0))
        unlock_any(token, index, image, stat, errmsg, errmsg_len);
    else if (stat)
        *stat = RMAI_CAF_OK;
}

void _gfortran_caf_event_post(caf_token token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct rmai_caf_place at;
    if (find_word(r, "EVENT POST", token, word_offset(index), 8, image, &at)) rmai_caf_event_post(r, &at);
}

void _gfortran_caf_event_wait(caf_token token, size_t index, int count, int *stat, char *errmsg, size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct rmai_caf_place at;
    if (find_word(r, "EVENT WAIT", token, word_offset(index), 8, 0, &at))
        rmai_caf_event_wait(r, (uint64_t *)(void *)at.near, count);
}

void _gfortran_caf_event_query(caf_token token, size_t index, int image, int *count, int *stat) {
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct rmai_caf_place at;
    if (!find_word(r, "EVENT_QUERY", token, word_offset(index), 8, image, &at)) return;
    if (at.near) rmai_caf_drive_progress();
    *count = (int)rmai_caf_word_fetch(&at, 8);
    rmai_caf_done(r);
}

/* ---- atomic variables ---- */

/* An atomic variable has `kind` bytes, 4 or 8. The core takes and returns its value as a uint64_t. */
static uint64_t load_value(const void *value, int kind) {
    if (kind == 4) return *(const uint32_t *)value;
    return *(const uint64_t *)value;
}

static void store_value(void *to, int kind, uint64_t value) {
    if (kind == 4)
        *(uint32_t *)to = (uint32_t)value;
    else
        *(uint64_t *)to = value;
}

static inline __attribute__((always_inline)) int find_atomic(struct rmai_caf_result r, const char *statement,
                                                             caf_token token, size_t offset, int image, int kind,
                                                             struct rmai_caf_place *at) {
    if (kind != 4 && kind != 8) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: there are no atomic variables of kind %d", statement, kind);
        return 0;
    }
    return find_word(r, statement, token, offset, (size_t)kind, image, at);
}

void _gfortran_caf_atomic_define(caf_token token, size_t offset, int image, void *value, int *stat, int type,
                                 int kind) {
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct rmai_caf_place at;
    (void)type;
    if (!find_atomic(r, "ATOMIC_DEFINE", token, offset, image, kind, &at)) return;
    rmai_caf_word_set(&at, (size_t)kind, load_value(value, kind));
    rmai_caf_done(r);
}

void _gfortran_caf_atomic_ref(caf_token token, size_t offset, int image, void *value, int *stat, int type, int kind) {
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct rmai_caf_place at;
    (void)type;
    if (!find_atomic(r, "ATOMIC_REF", token, offset, image, kind, &at)) return;
    if (at.near) rmai_caf_drive_progress();
    store_value(value, kind, rmai_caf_word_fetch(&at, (size_t)kind));
    rmai_caf_done(r);
}

void _gfortran_caf_atomic_cas(caf_token token, size_t offset, int image, void *old, void *compare, void *value,
                              int *stat, int type, int kind) {
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct rmai_caf_place at;
    (void)type;
    if (!find_atomic(r, "ATOMIC_CAS", token, offset, image, kind, &at)) return;
    store_value(old, kind, rmai_caf_word_cas(&at, (size_t)kind, load_value(compare, kind), load_value(value, kind)));
    rmai_caf_done(r);
}

void _gfortran_caf_atomic_op(int op, caf_token token, size_t offset, int image, void *value, void *old, int *stat,
                             int type, int kind) {
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct rmai_caf_place at;
    (void)type;
    if (!find_atomic(r, "an atomic subroutine", token, offset, image, kind, &at)) return;
    uint64_t before = rmai_caf_word_op(&at, (size_t)kind, op, load_value(value, kind), old != NULL);
    if (old) store_value(old, kind, before);
    rmai_caf_done(r);
}
