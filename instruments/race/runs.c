/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/runs.h"

#include <unwind.h>

#include "instruments/race/access.h"
#include "instruments/race/clock.h"
#include "instruments/race/job.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

#define RUNS 64
static struct race_site *sites[RUNS];
int race_n_runs;
int race_alone = 1;
int race_runs_stranger;

/* Short runs are not worth their record: after so many of them in a row the site has no run. */
#define SHORT 4
#define IDLE  4

static void record(struct race_site *s) {
    const uintptr_t from = s->from, to = s->last + s->size;
    if (!s->last || to <= from) return;
    race_load_store_run(from, to - from, s->write, s->pc);
    s->from = to;
}

/* The hold puts off what a signal handler tells meanwhile: it would tell a count whose accesses are recorded only
 * later. */
void race_runs_record(void) {
    int kept = 0;
    if (!race_me || race_me->actor != (uint32_t)race_job.my_pe) return;
    race_hold();
    for (int i = 0; i < race_n_runs; i++) {
        struct race_site *s = sites[i];
        const uintptr_t len = s->last + s->size - s->from;
        record(s);
        s->idle = len >= SHORT * (uintptr_t)s->size ? 0 : (uint8_t)(s->idle + 1);
        if (s->idle < IDLE) {
            sites[kept++] = s;
        } else {
            s->last = 0;
            s->listed = 0;
        }
    }
    race_n_runs = kept;
    race_let_go();
    if (race_runs_stranger) race_runs_end();
}

void race_runs_end(void) {
    if (!race_alone) return;
    race_alone = 0; /* first: race_runs_record may call this function */
    race_settle_accesses();
    for (int i = 0; i < race_n_runs; i++) sites[i]->last = 0;
    race_n_runs = 0;
}

/* ---- signal handlers ---- */

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *arg) {
    int before = 0, *is_handler = arg;
    (void)_Unwind_GetIPInfo(context, &before);
    *is_handler |= before; /* a frame that an instruction has not left by a call */
    return _URC_NO_REASON;
}

/* Whether the thread may be in a signal handler. */
static int may_be_in_handler(void) {
    int is_handler = 0;
    return _Unwind_Backtrace(look_at_frame, &is_handler) != _URC_END_OF_STACK || is_handler;
}

/* Whether the site's last run may be in use by a frame that a signal handler has interrupted between the comparison and
 * the store. That frame would be further up than this one. */
#define DENIALS 1024 /* the search costs some microseconds */
static int may_be_interrupted(struct race_site *s, uintptr_t frame) {
    if (frame >= s->frame) return 0;
    if (++s->denied < DENIALS) return 1;
    s->denied = 0;
    return may_be_in_handler();
}

/* ---- beginning ---- */

static int enlist(struct race_site *s, uintptr_t frame) {
    int i = 0;
    if (s->listed) return 1;
    if (race_n_runs < RUNS) {
        sites[race_n_runs++] = s;
    } else { /* in the place of a run that surely is not interrupted */
        while (i < RUNS && frame < sites[i]->frame) i++;
        if (i == RUNS) return 0;
        record(sites[i]);
        sites[i]->last = 0;
        sites[i]->listed = 0;
        sites[i] = s;
    }
    s->listed = 1;
    return 1;
}

void race_run_begins(struct race_site *s, uintptr_t addr, size_t size, int write, uintptr_t pc, uintptr_t frame) {
    s->in_row = 0;
    if ((uintptr_t)s - race_job.program >= race_job.program_end - race_job.program) return; /* it may be unloaded */
    if (race_runs_stranger || !race_alone || !race_me || race_me->actor != (uint32_t)race_job.my_pe ||
        race_locks_held || race_n_put_off)
        return;
    if (may_be_interrupted(s, frame)) return;
    race_hold();
    if (s->listed) record(s);
    if (enlist(s, frame)) {
        s->frame = frame;
        s->denied = 0;
        s->idle = 0;
        s->pc = pc;
        s->size = (uint8_t)size;
        s->write = (uint8_t)write;
        s->from = addr + size;
        s->last = addr;
    }
    race_let_go();
}

/* ---- reads that are recorded late ---- */

#define LATE 64
static struct late {
    struct race_cell *cell;
    race_epoch epoch, mask, kind;
    struct race_where where;
    uint32_t place;
    int own;
} late[LATE];
static uint32_t late_first;
int race_n_late;

static void record_late(void) {
    const struct late l = late[late_first++ % LATE];
    const struct race_who who = {.epoch = l.epoch, .clock = race_me->clock, .own = l.own};
    race_n_late--;
    race_access(l.cell, l.mask, l.kind, 0, l.place, &who, l.where);
}

/* The hold puts off the events of signal handlers, which would also use the ring. */
void race_late_record(void) {
    if (!race_me || race_me->actor != (uint32_t)race_job.my_pe) return;
    race_hold();
    while (race_n_late) record_late();
    race_let_go();
}

/* All at once when there is no room: each record is an atomic, for which the processor finishes what is under way. So
 * without records between them, it has the misses of the cells and of the words at the same time. */
void race_read_later(struct race_cell *cell, race_epoch mask, race_epoch kind, uint32_t place,
                     const struct race_who *who, struct race_where where) {
    race_hold();
    if (race_n_late == LATE) race_late_record();
    late[(late_first + (uint32_t)race_n_late) % LATE] =
        (struct late){cell, who->epoch, mask, kind, where, place, who->own};
    race_n_late++;
    race_let_go();
}
