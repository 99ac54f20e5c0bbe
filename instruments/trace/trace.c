/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_trace: starts a program so that it is recorded, or makes the report of a job that was killed (rma_trace(1)). */
#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instruments/trace/merge.h"
#include "instruments/trace/options.h"
#include "instruments/trace/say.h"

static void usage(FILE *f) {
    fputs(
        "usage: mpiexec -n N rma_trace [OPTION]... PROGRAM [ARGUMENT]...\n"
        "       rma_trace --merge FILE\n"
        "\n"
        "Starts PROGRAM, and records its calls of librma. When the job ends, PE 0 writes FILE.json, a timeline for\n"
        "ui.perfetto.dev, and FILE.html, a report, and prints a summary.\n"
        "\n"
        "  -o, --output FILE   name of the report (default: rma_trace)\n"
        "  --limit MIB         what each PE writes at most for the timeline (default: 64)\n"
        "  --keep              keep the record, FILE.parts\n"
        "  --merge FILE        make the report from FILE.parts, after a job that was killed\n"
        "  --library FILE      load FILE instead of the installed librma_trace.so\n"
        "  --help, --version   print this, the version\n"
        "\n"
        "Calls that the compiler has inlined are not seen: compile the program with oshcc --trace, or rmacc --trace.\n",
        f);
}

static int refuse(const char *format, const char *what) {
    fprintf(stderr, "rma_trace: ");
    fprintf(stderr, format, what);
    fprintf(stderr, "\n");
    return 2;
}

static void preload(const char *library) {
    const char *before = getenv("LD_PRELOAD");
    char *all = NULL;
    if (before && *before) {
        if (asprintf(&all, "%s:%s", library, before) < 0) all = NULL;
        if (all) setenv("LD_PRELOAD", all, 1);
        free(all);
    } else
        setenv("LD_PRELOAD", library, 1);
}

int main(int argc, char **argv) {
    const char *output = "rma_trace", *limit = "64", *library = TRACE_LIBRARY, *merge = NULL;
    char setting[4200], why[4300];
    struct trace_options o;
    int keep = 0, i = 1, printed;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *option = argv[i];
        const char **value = !strcmp(option, "-o") || !strcmp(option, "--output") ? &output
                             : !strcmp(option, "--limit")                         ? &limit
                             : !strcmp(option, "--library")                       ? &library
                             : !strcmp(option, "--merge")                         ? &merge
                                                                                  : NULL;
        if (!strcmp(option, "--")) {
            i++;
            break;
        }
        if (!strcmp(option, "-h") || !strcmp(option, "--help")) return usage(stdout), 0;
        if (!strcmp(option, "--version")) return printf("rma_trace (librma) %s\n", PACKAGE_VERSION), 0;
        if (!strcmp(option, "--keep")) {
            keep = 1;
        } else if (value) {
            if (++i == argc) return refuse("%s needs a value", option);
            *value = argv[i];
        } else {
            refuse("unknown option '%s'", option);
            return usage(stderr), 2;
        }
    }
    if (merge) {
        if (i < argc) return refuse("--merge starts no program: '%s' is one argument too many", argv[i]);
        if (trace_options_read(&o, merge, why, sizeof why) != 1) return refuse("--merge: %s", why);
        return trace_merge(o.file, 1) ? 1 : 0;
    }
    if (i == argc) return usage(stderr), refuse("%s", "which program?");
    printed = snprintf(setting, sizeof setting, "%s,limit=%s%s", output, limit, keep ? ",keep" : "");
    if (strchr(output, ',')) return refuse("the name '%s' has a comma", output);
    if (printed >= (int)sizeof setting || trace_options_read(&o, setting, why, sizeof why) != 1)
        return refuse("%s", why);
    if (access(library, R_OK)) {
        fprintf(stderr, "rma_trace: cannot read the library %s: %s\n", library, strerror(errno));
        return 1;
    }
    /* Before the job begins: a job that cannot be recorded need not run. */
    if (trace_options_try(&o, why, sizeof why)) {
        fprintf(stderr, "rma_trace: %s\n", why);
        return 1;
    }
    setenv("RMA_TRACE", setting, 1);
    preload(library);
    execvp(argv[i], argv + i);
    fprintf(stderr, "rma_trace: cannot start '%s': %s\n", argv[i], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
