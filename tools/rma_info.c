/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_info prints the library's version, its settings, and the machine. It starts no job: it reads the environment and
 * the machine as rma_init would, so it also explains settings that rma_init refuses. With --probe it starts a job, and
 * prints what rma_init has found out about the network. */
#include "config.h"

#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/settings.h"
#include "base/topology.h"
#include "rma.h"
#include "runtime/net/way.h"
#include "runtime/world.h"

static void put_line(void *out, const char *line) { fprintf(out, "  %s\n", line); }

static int usage(FILE *out, int code) {
    fprintf(out, "usage: rma_info [--help] [--version]\n"
                 "       rma_info --settings[=markdown|man]\n"
                 "       mpiexec -n 2 rma_info --probe\n\n"
                 "Prints librma's version and MPI, each setting with its value in force, and the machine.\n"
                 "With --settings: what each setting and each of its values does, as text or for a manual;\n"
                 "those for tests and tuning come last.\n"
                 "With --probe, as a job of PEs on two nodes: what rma_init has found MPI's windows to be good for\n"
                 "between nodes, and what goes through them for it.\n"
                 "Exit code: 0, 1 if a setting cannot be used or all PEs are on one node, 2 for a wrong argument.\n");
    return code;
}

static void print_mpi(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int len, version = 0, subversion = 0;
    if (MPI_Get_library_version(text, &len) != MPI_SUCCESS) strcpy(text, "does not say");
    if (MPI_Get_version(&version, &subversion) != MPI_SUCCESS) version = subversion = 0;
    text[strcspn(text, "\n")] = 0;
    for (char *p = text; *p; p++)
        if (*p == '\t') *p = ' ';
    printf("MPI\n  standard       %d.%d\n  library        %s\n  launcher       %s\n", version, subversion, text,
           RMAI_MPIEXEC);
}

/* ---- what settings do ---- */

static void print_sentence(const char *text, const char *end) {
    printf("%c%s%s\n", toupper((unsigned char)text[0]), text + 1, end);
}

static void settings_as_text(const struct rmai_setting_text *t) {
    printf("%s=%s\n    ", t->name, t->pattern);
    print_sentence(t->help, ".");
    for (int i = 0; i < t->n_values; i++) printf("    %-8s %s\n", t->values[i].word, t->values[i].help);
    printf("    Default %s; %s.\n", t->initial, t->scope);
}

/* A row of a table: name, default, help. */
static void settings_as_markdown(const struct rmai_setting_text *t) {
    printf("| `%s` | %s | %s", t->name, t->initial, t->help);
    for (int i = 0; i < t->n_values; i++) printf("%s `%s`: %s", i ? ";" : ".", t->values[i].word, t->values[i].help);
    printf(" |\n");
}

/* The pattern in mdoc: words become Cm; words in capitals become Ar, in lower case. */
static void print_pattern_as_mdoc(const char *pattern) {
    const char *macro = "";
    for (const char *p = pattern; *p; p += strspn(p, " ")) {
        const char *wanted = isupper((unsigned char)*p) ? "Ar" : "Cm";
        const int n = (int)strcspn(p, " ");
        if (*p != '|' && strcmp(macro, wanted) != 0) printf(" %s", macro = wanted);
        putchar(' ');
        for (int i = 0; i < n; i++) putchar(tolower((unsigned char)p[i]));
        p += n;
    }
}

/* An item of a list in mdoc(7). */
static void settings_as_man(const struct rmai_setting_text *t) {
    size_t width = 0;
    printf(".It Ev %s Ns = Ns", t->name);
    print_pattern_as_mdoc(t->pattern);
    putchar('\n');
    print_sentence(t->help, t->n_values ? ":" : ".");
    for (int i = 0; i < t->n_values; i++)
        if (strlen(t->values[i].word) > width) width = strlen(t->values[i].word);
    if (t->n_values) printf(".Bl -tag -compact -width %dn\n", (int)width);
    for (int i = 0; i < t->n_values; i++)
        printf(".It Cm %s\n%s%s\n", t->values[i].word, t->values[i].help, i + 1 < t->n_values ? ";" : ".");
    if (t->n_values) printf(".El\n");
    printf("Default:\n.Cm %s ;\n%s.\n", t->initial, t->scope);
}

/* The settings for users first, then a heading, then those for tests and tuning. In markdown an empty line separates
 * the two tables: docs/settings.md has the heading. */
static int print_settings(const char *argument) {
    static const struct {
        const char *argument, *heading;
        void (*print)(const struct rmai_setting_text *);
    } formats[] = {{"", "\nFor tests and tuning:\n\n", settings_as_text},
                   {"=markdown", "\n", settings_as_markdown},
                   {"=man", ".Ss For tests and tuning\n", settings_as_man}};
    struct rmai_setting_text text;
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        if (strcmp(argument, formats[f].argument) != 0) continue;
        for (size_t i = 0; rmai_settings_describe(0, i, &text); i++) formats[f].print(&text);
        fputs(formats[f].heading, stdout);
        for (size_t i = 0; rmai_settings_describe(1, i, &text); i++) formats[f].print(&text);
        return 0;
    }
    return -1;
}

static int print_probe(void) {
    int code = rma_init() == RMA_SUCCESS ? 0 : 1;
    if (code) return code;
    if (rma_my_pe() == 0) {
        if (rmai_world.job.one_address)
            printf("symmetric heap at %p on all PEs\n", (void *)rmai_world.symmetric.base);
        else
            printf("symmetric heap at different addresses on the PEs\n");
        printf("between nodes, %d PE%s on %d\n", rma_n_pes(), rma_n_pes() == 1 ? "" : "s", rmai_world.job.n_nodes);
        if (rmai_world.job.n_nodes > 1)
            rmai_ways_print(rmai_world.net, put_line, stdout);
        else
            printf("  all PEs are on one node, nothing goes by a network: start one PE on each of two nodes\n");
    }
    code = rmai_world.job.n_nodes > 1 ? 0 : 1;
    return rma_finalize() == RMA_SUCCESS ? code : 1;
}

int main(int argc, char **argv) {
    struct rmai_settings settings;
    char note[256];
    int code;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) return usage(stdout, 0);
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("rma_info (librma) %s\n", RMA_VERSION);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--probe") == 0) return print_probe();
    if (argc == 2 && strncmp(argv[1], "--settings", 10) == 0 && print_settings(argv[1] + 10) == 0) return 0;
    if (argc > 1) {
        fprintf(stderr, "rma_info: unknown argument '%s'\n", argv[1]);
        return usage(stderr, 2);
    }
    printf("librma %s\n", RMA_VERSION);
    print_mpi();
    printf("settings\n");
    code = rmai_settings_read(&settings, rmai_node_memory());
    if (code == RMA_SUCCESS)
        rmai_settings_print(&settings, put_line, stdout);
    else
        printf("  unusable: %s\n", rma_last_error());
    for (int n = 0; rmai_settings_stray(n, note, sizeof note); n++) printf("  %s\n", note);
    if (code == RMA_SUCCESS) {
        printf("collectives on a node, by the bytes of one PE\n");
        rmai_choice_print(&settings.collectives, put_line, stdout);
    }
    printf("machine\n");
    rmai_topology_print(put_line, stdout);
    return code == RMA_SUCCESS ? 0 : 1;
}
