/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/face.h"
#include "base/error.h"
#include "base/settings.h"
#include "runtime/team.h"
#include "runtime/world.h"

#include <stdarg.h>
#include <stdio.h>

void rma_call_as_(const char *call) { rmai_error_as(call); }

void rma_setting_as_(const char *name, const char *text) { rmai_settings_quote(name, text); }

int rma_fail_(int code, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return rmai_raise(rmai_error(code, "%s", text));
}

void rma_tolerate_(int code, enum rma_undefined_ kind) {
    rmai_error_tolerate(rma_checks_() ? RMA_SUCCESS : code, kind);
}

int rma_checks_(void) { return rmai_world.job.settings.check; }

int rma_level_(void) { return rmai_world.job.level; }

int rma_team_note_(rma_team *team, int note) {
    struct rmai_team *t = rmai_team(&rmai_world, "rma_team_note_", team);
    if (!t) return rmai_raise(rma_last_code());
    t->note = note;
    return RMA_SUCCESS;
}

int rma_team_noted_(const rma_team *team, int *note) {
    struct rmai_team *t = rmai_team(&rmai_world, "rma_team_noted_", team);
    if (!t) return rmai_raise(rma_last_code());
    *note = t->note;
    return RMA_SUCCESS;
}
