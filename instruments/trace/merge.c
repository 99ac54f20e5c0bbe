/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/trace/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "instruments/trace/advice.h"
#include "instruments/trace/json.h"
#include "instruments/trace/match.h"
#include "instruments/trace/options.h"
#include "instruments/trace/page.h"
#include "instruments/trace/read.h"
#include "instruments/trace/say.h"

/* A file that could not be written to its end is removed. */
static int finish(FILE *f, const char *name) {
    int code = ferror(f) ? -1 : 0, why;
    if (fflush(f) || fsync(fileno(f)) == -1) code = errno == EINVAL || errno == EROFS ? code : -1;
    why = errno;
    if (fclose(f)) code = -1, why = errno;
    if (!code) return 0;
    trace_say("cannot write %s: %s", name, strerror(why));
    unlink(name);
    return -1;
}

static FILE *create(const char *file, const char *end, char *name, size_t room) {
    FILE *f;
    snprintf(name, room, "%s%s", file, end);
    f = fopen(name, "we");
    if (!f) trace_say("cannot write %s: %s", name, strerror(errno));
    return f;
}

static void say_lines(const char *before, const struct trace_lines *l) {
    for (int i = 0; i < l->n; i++) trace_say("%s%s", before, l->line[i]);
}

static void remove_parts(const struct trace_record *r, const char *file) {
    char name[4096];
    for (int pe = 0; pe < r->n_pes; pe++) {
        trace_part_name(file, pe, name, sizeof name);
        unlink(name);
    }
    trace_part_name(file, -1, name, sizeof name);
    rmdir(name);
}

int trace_merge(const char *file, int keep) {
    static struct trace_lines summary, notes, advice;
    char name[4096], why[4300];
    struct trace_record *r = trace_read(file, why, sizeof why);
    uint64_t left_out;
    int code = 0;
    FILE *f;
    if (!r) {
        trace_say("%s", why);
        return -1;
    }
    trace_match(r);
    f = create(file, ".json", name, sizeof name);
    if (f) {
        left_out = trace_json(r, f);
        code = finish(f, name);
        if (!code && left_out)
            trace_say("%s has the longest calls; %" PRIu64 " shorter ones are left out", name, left_out);
    } else
        code = -1;
    trace_summary(r, &summary);
    trace_notes(r, &notes);
    trace_advice(r, &advice);
    f = create(file, ".html", name, sizeof name);
    if (f) {
        trace_page(r, &advice, &notes, f);
        if (finish(f, name)) code = -1;
    } else
        code = -1;
    say_lines("", &summary);
    say_lines("note: ", &notes);
    say_lines("advice: ", &advice);
    if (code)
        trace_say("the record is kept in %s.parts: `rma_trace --merge %s` makes the report", file, file);
    else {
        trace_say("%s.html is the report, %s.json the timeline (ui.perfetto.dev)", file, file);
        if (!keep && r->n_ended == r->n_pes) remove_parts(r, file);
    }
    return code;
}
