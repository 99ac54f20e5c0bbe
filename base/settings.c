/* SPDX-License-Identifier: BSD-3-Clause */
/* The table is the one place that knows a setting's name, kind, scope, default and help; parsing, agreeing with other
 * PEs, printing and the guess at a misspelt name all walk it. */
#include "config.h"

#include "base/settings.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/mpi.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern char **environ;

enum kind { LIMIT, COUNT, PES, SECONDS, CHOICE, BOOL, WAYS, TOOL };

/* Which value is in force if PEs have different values. EACH is for settings on which no other PE relies: a PE may poll
 * longer than its peers, but PEs with different algorithms could not meet. */
enum scope {
    EACH,  /* each PE has its own */
    LEAST, /* all PEs have the smallest value of any PE */
    MOST   /* all PEs have the largest value of any PE; for words, the one listed last */
};

struct setting {
    const char *name;
    enum kind kind;
    enum scope scope;
    /* Offset of the member in struct rmai_settings. Its type, by kind: size_t, size_t, long, long, long, int, int,
     * struct rmai_choice. A TOOL has no member: another library of this package reads the variable and reports its
     * errors. */
    size_t offset;
    const char *initial; /* parsed like a value from the environment */
    const char *help;
    /* What the values mean. CHOICE: all words, in the order of the enum. TOOL: the words of its list. Otherwise values
     * with a special meaning, or NULL. The list ends with a NULL word. */
    const struct rmai_setting_value *values;
};

/* The smallest limit of a heap; limits are rounded up to a multiple of it. A smaller value means that the user forgot a
 * unit. */
#define LIMIT_LEAST RMAI_PAGE

#define AT(member) offsetof(struct rmai_settings, member)
#define VALUES(...)                                                                                                    \
    (const struct rmai_setting_value[]) {                                                                              \
        __VA_ARGS__, { NULL, NULL }                                                                                    \
    }

static const struct setting settings_table[] = {
    {"RMA_ERRORS", CHOICE, EACH, AT(errors), "abort", "error handler in force until the program installs one",
     VALUES({"abort", "an error ends the job"}, {"return", "the call returns the error's code"})},
    {"RMA_HEAP_MAX", LIMIT, LEAST, AT(heap_max), "100%", "most that a PE's symmetric heap may grow to",
     VALUES({"100%", "all but what is left to the system, 6 % or 256 MiB"})},
    {"RMA_LOCAL_MAX", LIMIT, LEAST, AT(local_max), "100%", "most that a PE's local heap may grow to",
     VALUES({"100%", "all but what is left to the system, 6 % or 256 MiB"})},
    {"RMA_HEAP_CHECK", CHOICE, MOST, AT(heap_check), "none", "which mistakes in the heaps are detected",
     VALUES({"none", "some writes just behind symmetric blocks and to freed ones"},
            {"leaks", "blocks that the program has not freed, reported at the end"},
            {"full", "leaks, writes past a block's end, and writes to freed blocks"})},
    {"RMA_STATICS", CHOICE, MOST, AT(statics), "remap", "how peers reach global variables",
     VALUES({"remap", "by loads and stores, as rma_init moves the variables to shared memory"},
            {"window", "the variables stay in place, and the kernel copies"}, {"off", "not at all"})},
    {"RMA_NODE_PES", PES, LEAST, AT(node_pes), "auto", "most PEs of a machine that make one node",
     VALUES({"auto", "all that share memory"}, {"1", "each PE is a node of its own"})},
    {"RMA_SPIN", COUNT, EACH, AT(spin), "auto", "polls of a waiting PE before it yields and sleeps",
     VALUES({"auto",
             "many if each PE, or each thread that wants to run, has a core; fewer beside other programs; else none"})},
    {"RMA_PROGRESS", CHOICE, EACH, AT(progress), "auto", "who serves other nodes while the program computes",
     VALUES({"auto", "as thread"}, {"thread", "the progress thread of each PE, if MPI allows several threads"},
            {"none", "nobody, only calls of the library serve them"})},
    {"RMA_WINDOW", CHOICE, MOST, AT(window), "auto", "which puts and gets go to other nodes through MPI's windows",
     VALUES({"auto", "those that rma_init finds to be better there than as messages"}, {"none", "none of them"},
            {"always", "all that one of the two windows covers"},
            {"dynamic", "all that the dynamic window covers, and no others"},
            {"static", "as auto, but the dynamic window is left out"})},
    {"RMA_STALL", SECONDS, EACH, AT(stall), "30", "seconds of waiting for another PE until the waiting PE reports it",
     VALUES({"0", "never"})},
    {"RMA_TIMEOUT", SECONDS, EACH, AT(timeout), "120", "seconds without an answer of another PE until the job ends",
     VALUES({"0", "never"})},
    {"RMA_CHECK", BOOL, MOST, AT(check), "no", "compare the arguments of collectives between PEs before each call",
     NULL},
    {"RMA_COLLECTIVES", WAYS, LEAST, AT(collectives), "auto",
     "sizes from which collectives take an algorithm, such as reduce:share=8k,meet:tree=never",
     VALUES({"auto", "sizes that were measured on one machine"})},
    {"RMA_STATS", BOOL, MOST, AT(stats), "no", "count operations by the way they go, and print the sums at the end",
     NULL},
    {"RMA_MPI_INFO", BOOL, EACH, AT(mpi_info), "no",
     "with rma_mpi, print for each window whether librma has it, or why not", NULL},
    {"RMA_FINALIZE_HELPER", BOOL, EACH, AT(finalize_helper), "yes",
     "in jobs of several nodes, a thread helps PEs that MPICH leaves stuck in MPI_Finalize", NULL},
    {"RMA_RACE", TOOL, EACH, 0, "yes",
     "options of the race detector, in a program compiled with oshcc --race or rmacc --race",
     VALUES({"yes", "look for data races"}, {"no", "do not"},
            {"exitcode=CODE", "exit code of a PE after races, 0 to 255; 66 if not given"},
            {"atomics=librma", "do not report atomics that OpenSHMEM leaves undefined and librma executes"},
            {"suppressions=FILE", "do not report the races that the file names"},
            {"hosts=nodes", "each node counts as a host; for tests of the detector"},
            {"history=COUNT", "operations to remember, 16 to 1048576; 1024 if not given; the smallest of all PEs"})},
    {"RMA_TRACE", TOOL, EACH, 0, "no", "where a program that was compiled with --trace records its calls",
     VALUES({"no", "nowhere"}, {"FILE", "at the end PE 0 writes FILE.json and FILE.html"},
            {"FILE,limit=MIB", "most that each PE writes for the timeline, 1 to 65536 MiB; 64 if not given"},
            {"FILE,keep", "the record stays in FILE.parts"})},
    {"RMA_INFO", BOOL, EACH, AT(info), "no", "PE 0 prints version, settings and layout at init", NULL},
};
#define N_SETTINGS (sizeof settings_table / sizeof settings_table[0])
_Static_assert(N_SETTINGS <= RMAI_SETTINGS_MAX, "a number for each row");

/* Settings of earlier versions. A job whose environment still has one runs, and prints a note. */
static const struct {
    const char *name, *since, *now;
} former_settings[] = {
    {"RMA_AMO", "0.3.0", "the processors of a word's node do the atomics on it"},
    {"RMA_BIND", "0.3.0", "launchers bind processes: -bind-to of MPICH's mpiexec, srun --cpu-bind"},
    {"RMA_COPY", "0.3.0", "all copies on a node are made by ordinary stores"},
    {"RMA_HEAP_INIT", "0.3.0", "the heaps begin small, and grow"},
};

/* Variables that programs and scripts of this package read. They have no row, and are not reported as misspelt. */
static const char *const other_variables[] = {"RMA_CC", "RMA_MPI_PATH", "RMA_TEST_"};

/* Settings for tests and tuning, which manuals list last. If users need a setting as well, only its values from number
 * `from` on are for tests. */
static const struct {
    const char *name;
    int from;
} for_tuning[] = {{"RMA_NODE_PES", 0}, {"RMA_SPIN", 0}, {"RMA_WINDOW", 2}, {"RMA_COLLECTIVES", 0}};

/* The index of word in a list "a|b|c", or -1. */
static int choice_index(const char *list, const char *word) {
    size_t len = strlen(word);
    int index = 0;
    for (const char *p = list; *p; index++) {
        size_t n = strcspn(p, "|");
        if (n == len && strncasecmp(p, word, n) == 0) return index;
        p += n + (p[n] == '|');
    }
    return -1;
}

/* The index of a word among the values of a row, or -1. */
static int value_index(const struct setting *row, const char *word) {
    for (int i = 0; row->values[i].word; i++)
        if (strcasecmp(row->values[i].word, word) == 0) return i;
    return -1;
}

/* The number of the row's first value for tests and tuning; INT_MAX if it has none. */
static int first_for_tuning(const struct setting *row) {
    for (size_t i = 0; i < sizeof for_tuning / sizeof for_tuning[0]; i++)
        if (strcmp(for_tuning[i].name, row->name) == 0) return for_tuning[i].from;
    return INT_MAX;
}

/* Writes the words of values to buf, separated by `between`. */
static const char *list_words(const struct rmai_setting_value *values, int n, const char *between, char *buf,
                              size_t size) {
    size_t used = 0;
    buf[0] = 0;
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? between : "", values[i].word);
    return buf;
}

/* Counts the values from `values` on, up to `most`. */
static int count_values(const struct rmai_setting_value *values, int most) {
    int n = 0;
    while (values && n < most && values[n].word) n++;
    return n;
}

/* The words of a CHOICE that are for users; all of them if the whole setting is for tests. */
static const char *list_choices(const struct setting *row, char *buf, size_t size) {
    const int first = first_for_tuning(row);
    return list_words(row->values, count_values(row->values, first ? first : INT_MAX), "|", buf, size);
}

static int parse_bool(const char *text) {
    int i = choice_index("0|1|no|yes|off|on|false|true", text);
    return i < 0 ? -1 : i & 1;
}

/* Parses text as one decimal integer, 0 or more. Returns -1 if text is anything else, or does not fit a long. */
static long parse_count(const char *text) {
    char *end;
    errno = 0;
    long count = strtol(text, &end, 10);
    return end == text || *end || errno || count < 0 || !isdigit((unsigned char)*text) ? -1 : count;
}

static struct { const char *name, *text; } quoted_setting;

void rmai_settings_quote(const char *name, const char *text) {
    quoted_setting.name = name;
    quoted_setting.text = text;
}

static int setting_error(const struct setting *row, const char *text, const char *what) {
    if (quoted_setting.name && strcmp(quoted_setting.name, row->name) == 0)
        return rmai_error(RMA_ERR_SETTING, "rma_init: %s: %s (%s)", quoted_setting.text, what, row->help);
    return rmai_error(RMA_ERR_SETTING, "rma_init: %s=%s: %s (%s)", row->name, text, what, row->help);
}

static int parse_setting(const struct setting *row, const char *text, size_t memory, struct rmai_settings *s) {
    void *member = (char *)s + row->offset;
    char all[RMAI_SETTING_VALUE_MAX], what[192];
    const char *part;
    size_t len;
    long count;
    int word;
    switch (row->kind) {
        case LIMIT:
            if (rmai_parse_size(text, memory, member) != 0)
                return setting_error(row, text, "not a size such as 64M, 2G or 50%");
            if (*(size_t *)member > memory) {
                snprintf(what, sizeof what, "more than this node's memory of %s", rmai_format_size(all, memory));
                return setting_error(row, text, what);
            }
            if (*(size_t *)member < LIMIT_LEAST) {
                snprintf(what, sizeof what, "too small: %s is the least", rmai_format_size(all, LIMIT_LEAST));
                return setting_error(row, text, what);
            }
            return RMA_SUCCESS;
        case COUNT:
        case PES:
            if (strcasecmp(text, "auto") == 0) {
                *(long *)member = RMAI_AUTO;
                return RMA_SUCCESS;
            }
            count = parse_count(text);
            if (row->kind == PES && count < 1) return setting_error(row, text, "not auto or a count of 1 or more");
            if (count < 0) return setting_error(row, text, "not auto or a count of 0 or more");
            *(long *)member = count;
            return RMA_SUCCESS;
        case SECONDS:
            count = parse_count(text);
            if (count < 0 || count > 1000000000) return setting_error(row, text, "not a number of seconds");
            *(long *)member = count;
            return RMA_SUCCESS;
        case CHOICE:
            word = value_index(row, text);
            snprintf(what, sizeof what, "not one of %s", list_choices(row, all, sizeof all));
            if (word < 0) return setting_error(row, text, what);
            *(int *)member = word;
            return RMA_SUCCESS;
        case BOOL:
            word = parse_bool(text);
            if (word < 0) return setting_error(row, text, "not yes or no");
            *(int *)member = word;
            return RMA_SUCCESS;
        case WAYS:
            if (rmai_choice_set(member, text, &part, &len) == 0) return RMA_SUCCESS;
            snprintf(what, sizeof what, "'%.*s' is not an algorithm of rma_info's list, then = and a size or never",
                     (int)rmai_min(len, 64), part);
            return setting_error(row, text, what);
        case TOOL: return RMA_SUCCESS;
    }
    return RMA_ERR_SETTING;
}

int rmai_settings_read(struct rmai_settings *s, size_t memory) {
    s->errors = RMAI_ERRORS_ABORT;
    for (size_t i = 0; i < RMAI_SETTINGS_MAX; i++) s->of[i] = -1;
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const char *text = getenv(settings_table[i].name);
        int code = parse_setting(&settings_table[i], text ? text : settings_table[i].initial, memory, s);
        if (code != RMA_SUCCESS) return code;
    }
    s->heap_unlimited = s->heap_max == memory;
    s->local_unlimited = s->local_max == memory;
    return RMA_SUCCESS;
}

/* ---- among PEs ---- */

/* A value as a number, so that values compare in order: "auto" of a count that is a limit means no limit. */
static long setting_number(const struct setting *row, const struct rmai_settings *s) {
    const void *member = (const char *)s + row->offset;
    switch (row->kind) {
        case LIMIT: return (long)rmai_min(*(const size_t *)member, LONG_MAX);
        case COUNT:
        case PES: return *(const long *)member == RMAI_AUTO ? LONG_MAX : *(const long *)member;
        case SECONDS: return *(const long *)member;
        case CHOICE:
        case BOOL: return *(const int *)member;
        case WAYS:
        case TOOL: break;
    }
    return 0;
}

static void set_setting_number(const struct setting *row, struct rmai_settings *s, long number) {
    void *member = (char *)s + row->offset;
    switch (row->kind) {
        case LIMIT: *(size_t *)member = (size_t)number; break;
        case COUNT:
        case PES: *(long *)member = number == LONG_MAX ? RMAI_AUTO : number; break;
        case SECONDS: *(long *)member = number; break;
        case CHOICE:
        case BOOL: *(int *)member = (int)number; break;
        case WAYS:
        case TOOL: break;
    }
}

/* First one number for each row, then the numbers of the one row that has many. */
void rmai_settings_offer(const struct rmai_settings *s, struct rmai_least *number) {
    const size_t *from = &s->collectives.from[0][0];
    for (size_t i = 0; i < RMAI_SETTINGS_MAX; i++) {
        enum scope scope = i < N_SETTINGS ? settings_table[i].scope : EACH;
        number[i].value = scope == EACH    ? 0
                          : scope == LEAST ? setting_number(&settings_table[i], s)
                                           : -setting_number(&settings_table[i], s);
    }
    for (size_t i = 0; i < RMAI_CHOICES; i++) number[RMAI_SETTINGS_MAX + i].value = (long)rmai_min(from[i], LONG_MAX);
}

void rmai_settings_adopt(struct rmai_settings *s, const struct rmai_least *number) {
    size_t *from = &s->collectives.from[0][0];
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct setting *row = &settings_table[i];
        long value = row->scope == MOST ? -number[i].value : number[i].value;
        if (row->scope == EACH || row->kind == WAYS || value == setting_number(row, s)) continue;
        set_setting_number(row, s, value);
        s->of[i] = number[i].pe;
    }
    for (size_t i = 0; i < RMAI_CHOICES; i++) {
        long value = number[RMAI_SETTINGS_MAX + i].value;
        from[i] = value == LONG_MAX ? RMAI_NEVER : (size_t)value;
    }
}

static void setting_value_text(const struct setting *row, const struct rmai_settings *s, char buf[64]) {
    const void *member = (const char *)s + row->offset;
    char size[24];
    switch (row->kind) {
        case LIMIT: snprintf(buf, 64, "%s", rmai_format_size(size, *(const size_t *)member)); break;
        case COUNT:
        case PES:
            if (*(const long *)member == RMAI_AUTO)
                snprintf(buf, 64, "auto");
            else
                snprintf(buf, 64, "%ld", *(const long *)member);
            break;
        case SECONDS: snprintf(buf, 64, "%ld s", *(const long *)member); break;
        case CHOICE: snprintf(buf, 64, "%s", row->values[*(const int *)member].word); break;
        case BOOL: snprintf(buf, 64, "%s", *(const int *)member ? "yes" : "no"); break;
        case WAYS:
        case TOOL: snprintf(buf, 64, "%s", getenv(row->name) ? "own" : row->initial); break;
    }
}

static const char *setting_scope_text(const struct setting *row) {
    if (row->scope == EACH) return "";
    if (row->scope == LEAST) return "; the smallest of all PEs";
    if (row->kind == BOOL) return "; yes if any PE says so";
    return row->kind == CHOICE ? "; the last of these of any PE" : "; the largest of all PEs";
}

void rmai_settings_print(const struct rmai_settings *s, void (*put)(void *out, const char *line), void *out) {
    for (size_t i = 0; i < N_SETTINGS; i++) {
        char value[64], line[320], words[RMAI_SETTING_VALUE_MAX], allowed[sizeof words + 4] = "", source[24];
        setting_value_text(&settings_table[i], s, value);
        if (settings_table[i].kind == CHOICE)
            snprintf(allowed, sizeof allowed, " [%s]", list_choices(&settings_table[i], words, sizeof words));
        if (s->of[i] >= 0)
            snprintf(source, sizeof source, "PE %d", s->of[i]);
        else
            snprintf(source, sizeof source, "%s", getenv(settings_table[i].name) ? "environment" : "default");
        snprintf(line, sizeof line, "%-19s %-10s %-11s %s%s%s", settings_table[i].name, value, source,
                 settings_table[i].help, allowed, setting_scope_text(&settings_table[i]));
        put(out, line);
    }
}

/* Returns a pattern of the possible values. For a CHOICE it lists text's values. */
static const char *setting_pattern(const struct setting *row, struct rmai_setting_text *text) {
    switch (row->kind) {
        case LIMIT: return "SIZE";
        case COUNT:
        case PES: return "auto | COUNT";
        case SECONDS: return "SECONDS";
        case CHOICE: return list_words(text->values, text->n_values, " | ", text->words, sizeof text->words);
        case BOOL: return "no | yes";
        case WAYS: return "auto | LIST";
        case TOOL: return strcmp(row->initial, "no") ? "yes | no | LIST" : "no | LIST";
    }
    return "";
}

static const char *setting_rule(const struct setting *row) {
    if (row->kind == TOOL) return "no of any PE is in force on all";
    if (row->scope == EACH) return "each PE has its own value";
    if (row->kind == WAYS) return "of each size in it, the smallest of all PEs is in force";
    if (row->scope == LEAST) return "the smallest value of all PEs is in force";
    if (row->kind == BOOL) return "yes of any PE is in force on all";
    return row->kind == CHOICE ? "of the values of all PEs, the one listed last is in force"
                               : "the largest value of all PEs is in force";
}

int rmai_settings_describe(int tuning, size_t i, struct rmai_setting_text *text) {
    for (const struct setting *row = settings_table; row < settings_table + N_SETTINGS; row++) {
        const int first = first_for_tuning(row);
        if ((tuning ? first == INT_MAX : first == 0) || i-- > 0) continue;
        *text = (struct rmai_setting_text){
            .name = row->name, .initial = row->initial, .help = row->help, .scope = setting_rule(row)};
        text->values = row->values ? row->values + (tuning ? first : 0) : NULL;
        text->n_values = count_values(text->values, tuning ? INT_MAX : first);
        text->pattern = setting_pattern(row, text);
        return 1;
    }
    return 0;
}

/* Levenshtein distance of a[0..n) and b, for names of up to 31 characters; longer names get a large distance. */
static size_t edit_distance(const char *a, size_t n, const char *b) {
    size_t row[32], m = strlen(b);
    if (n > 31 || m > 31) return 32;
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            size_t best = rmai_min(rmai_min(above, row[j - 1]) + 1, corner + (a[i - 1] != b[j - 1]));
            row[j] = best;
            corner = above;
        }
    }
    return row[m];
}

static int is_known_variable(const char *name, size_t n) {
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (strlen(settings_table[i].name) == n && strncmp(settings_table[i].name, name, n) == 0) return 1;
    for (size_t i = 0; i < sizeof other_variables / sizeof other_variables[0]; i++)
        if (strncmp(other_variables[i], name, strlen(other_variables[i])) == 0) return 1;
    return 0;
}

/* Writes the note about an environment entry whose name has `len` letters and no row. */
static void note_of_entry(const char *entry, size_t len, char *note, size_t size) {
    const char *guess = NULL;
    size_t nearest = 4;
    for (size_t i = 0; i < sizeof former_settings / sizeof former_settings[0]; i++) {
        const char *name = former_settings[i].name;
        if (strlen(name) != len || strncmp(entry, name, len) != 0) continue;
        snprintf(note, size, "%s is gone since %s: %s", name, former_settings[i].since, former_settings[i].now);
        return;
    }
    for (size_t i = 0; i < N_SETTINGS; i++) {
        size_t d = edit_distance(entry, len, settings_table[i].name);
        /* At least 5 letters must be the same, including those of RMA_: a short name is close to any other. */
        if (d < nearest && d + 4 < strlen(settings_table[i].name)) {
            nearest = d;
            guess = settings_table[i].name;
        }
    }
    snprintf(note, size, "%.*s is not a setting%s%s%s", (int)rmai_min(len, INT_MAX), entry, guess ? "; is " : "",
             guess ? guess : "", guess ? " meant?" : "");
}

int rmai_settings_stray(int n, char *note, size_t size) {
    for (char **e = environ; *e; e++) {
        size_t len = strcspn(*e, "=");
        if (strncmp(*e, "RMA_", 4) != 0 || is_known_variable(*e, len) || n-- > 0) continue;
        note_of_entry(*e, len, note, size);
        return 1;
    }
    return 0;
}
