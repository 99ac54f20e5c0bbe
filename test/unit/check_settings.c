/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings: accepted values, error texts for unusable values, and the guess at a misspelt name. Each test runs in its
 * own process, whose environment has no RMA_ entry when it begins. */
#include "config.h"

#include "base/settings.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/mpi.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB      ((size_t)1024)
#define MIB      (KIB * KIB)
#define GIB      (MIB * KIB)
#define TIB      (GIB * KIB)
#define N(array) (sizeof array / sizeof array[0])

extern char **environ;

static void clear_environment(void) {
    for (char **e = environ; *e;) {
        char name[256];
        if (strncmp(*e, "RMA_", 4) == 0) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
            unsetenv(name);
            e = environ;
        } else {
            e++;
        }
    }
}

static void set(const char *name, const char *value) { ck_assert_int_eq(setenv(name, value, 1), 0); }

static void ck_text_has(const char *part) {
    ck_assert_msg(strstr(rma_last_error(), part) != NULL, "\"%s\" lacks \"%s\"", rma_last_error(), part);
}

/* ---- sizes ---- */

START_TEST(sizes_are_read_with_suffix_fraction_and_percent) {
    /* A form that people write and that is read as something else, or refused. */
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {{"0", 0},
                {"1", 1},
                {"4096", 4096},
                {"007", 7},
                {"64k", 64 * KIB},
                {"64K", 64 * KIB},
                {"64kB", 64 * KIB},
                {"64KiB", 64 * KIB},
                {"64kib", 64 * KIB},
                {"100B", 100},
                {"100b", 100},
                {"3M", 3 * MIB},
                {"2g", 2 * GIB},
                {"2GB", 2 * GIB},
                {"1t", TIB},
                {"1TiB", TIB},
                {"5P", 5 * 1024 * TIB},
                {"1.5G", GIB + GIB / 2},
                {"0.5k", 512},
                {"2.25M", 2 * MIB + 256 * KIB},
                {"7.9", 7},
                {"  8  ", 8},
                {"8k ", 8 * KIB},
                {"25%", 2 * GIB},
                {"12.5%", GIB},
                {"0%", 0},
                {"100%", 8 * GIB},
                {"200%", 16 * GIB}, /* the bound is the caller's */
                {"18446744073709551615", SIZE_MAX},
                {"16777215T", SIZE_MAX - TIB + 1}};
    for (size_t i = 0; i < N(good); i++) {
        size_t bytes = 77;
        ck_assert_msg(rmai_parse_size(good[i].text, 8 * GIB, &bytes) == 0, "\"%s\" is refused", good[i].text);
        ck_assert_msg(bytes == good[i].bytes, "\"%s\" gives %zu", good[i].text, bytes);
    }
}
END_TEST

START_TEST(what_is_no_size_is_refused_and_writes_nothing) {
    /* Text that is read as far as it goes, a sign, another base, and numbers beyond 64 bits that wrap. */
    static const char *const bad[] = {"",
                                      " ",
                                      "-1",
                                      "+1",
                                      "-5k",
                                      "abc",
                                      "k",
                                      "%",
                                      "B",
                                      "1x",
                                      "1kk",
                                      "1 k",
                                      "1k1",
                                      "1 2",
                                      "1..5",
                                      "1.5.5",
                                      "0x10",
                                      "0X10",
                                      "nan",
                                      "inf",
                                      "1n",
                                      "infinity",
                                      "1%%",
                                      "1%k",
                                      "1k%",
                                      "10%B",
                                      "1,5G",
                                      "64kBB",
                                      "1Bk",
                                      "lots",
                                      "64 MB!",
                                      "1e400",
                                      "16384P",
                                      "16777216T",
                                      "18446744073709551616",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < N(bad); i++) {
        size_t bytes = 77;
        ck_assert_msg(rmai_parse_size(bad[i], GIB, &bytes) == -1, "\"%s\" gives %zu", bad[i], bytes);
        ck_assert_msg(bytes == 77, "\"%s\" wrote %zu", bad[i], bytes);
    }
}
END_TEST

START_TEST(percent_is_exact_for_every_memory) {
    /* A hundredth that is rounded before it is multiplied: 100% would be a byte less than there is, or more. */
    size_t memory = 12345;
    for (int i = 0; i < 200000; i++) {
        size_t bytes = 0, percent = (size_t)i % 101;
        char text[16];
        memory = (memory * 6364136223846793005u + 1442695040888963407u) >> (i % 40 + 16) | 1u;
        if (rmai_parse_size("100%", memory, &bytes) != 0 || bytes != memory)
            ck_abort_msg("100%% of %zu is %zu", memory, bytes);
        snprintf(text, sizeof text, "%zu%%", percent);
        if (rmai_parse_size(text, memory, &bytes) != 0 ||
            bytes != memory / 100 * percent + memory % 100 * percent / 100)
            ck_abort_msg("%s of %zu is %zu", text, memory, bytes);
    }
}
END_TEST

START_TEST(sizes_are_shown_as_people_say_them) {
    /* A unit too far, a fraction that was lost, a size that does not fit its buffer. */
    static const struct {
        size_t bytes;
        const char *text;
    } shown[] = {{0, "0 B"},           {1, "1 B"},
                 {640, "640 B"},       {1023, "1023 B"},
                 {KIB, "1 KiB"},       {1536, "1.5 KiB"},
                 {64 * KIB, "64 KiB"}, {MIB, "1 MiB"},
                 {24 * GIB, "24 GiB"}, {GIB + GIB / 10, "1.1 GiB"},
                 {3 * TIB, "3 TiB"},   {TIB * KIB, "1 PiB"},
                 {SIZE_MAX, "16 EiB"}};
    char buf[24];
    for (size_t i = 0; i < N(shown); i++) {
        ck_assert_ptr_eq(rmai_format_size(buf, shown[i].bytes), buf);
        ck_assert_str_eq(buf, shown[i].text);
    }
}
END_TEST

/* ---- reading ---- */

START_TEST(an_empty_environment_gives_the_defaults) {
    /* A default that its own row does not parse, or that goes to another member. */
    struct rmai_settings s;
    memset(&s, 0x55, sizeof s);
    ck_assert_int_eq(rmai_settings_read(&s, 16 * GIB), RMA_SUCCESS);
    ck_assert_uint_eq(s.heap_max, 16 * GIB);
    ck_assert_uint_eq(s.local_max, 16 * GIB);
    ck_assert_int_eq(s.heap_unlimited, 1);
    ck_assert_int_eq(s.local_unlimited, 1);
    ck_assert_int_eq(s.spin, RMAI_AUTO);
    ck_assert_int_eq(s.node_pes, RMAI_AUTO);
    ck_assert_int_eq(s.errors, RMAI_ERRORS_ABORT);
    ck_assert_int_eq(s.info, 0);
}
END_TEST

START_TEST(each_variable_sets_its_member) {
    /* A row that points at its neighbour's member, or whose words are in another order than the enum. */
    struct rmai_settings s;
    set("RMA_HEAP_MAX", "3G");
    set("RMA_LOCAL_MAX", "50%");
    set("RMA_SPIN", "123");
    set("RMA_NODE_PES", "3");
    set("RMA_STATICS", "window");
    set("RMA_ERRORS", "return");
    set("RMA_INFO", "1");
    ck_assert_int_eq(rmai_settings_read(&s, 16 * GIB), RMA_SUCCESS);
    ck_assert_uint_eq(s.heap_max, 3 * GIB);
    ck_assert_uint_eq(s.local_max, 8 * GIB);
    ck_assert_int_eq(s.heap_unlimited, 0);
    ck_assert_int_eq(s.local_unlimited, 0);
    ck_assert_int_eq(s.spin, 123);
    ck_assert_int_eq(s.node_pes, 3);
    ck_assert_int_eq(s.statics, RMAI_STATICS_WINDOW);
    ck_assert_int_eq(s.errors, RMAI_ERRORS_RETURN);
    ck_assert_int_eq(s.info, 1);
}
END_TEST

START_TEST(words_are_read_in_any_case) {
    /* A user who writes Core, or yes for 1, and is refused. */
    static const struct {
        const char *name, *value;
        int is;
    } word[] = {{"RMA_STATICS", "remap", RMAI_STATICS_REMAP},
                {"RMA_STATICS", "Window", RMAI_STATICS_WINDOW},
                {"RMA_STATICS", "OFF", RMAI_STATICS_OFF},
                {"RMA_WINDOW", "none", RMAI_WINDOW_NONE},
                {"RMA_WINDOW", "Always", RMAI_WINDOW_ALWAYS},
                {"RMA_WINDOW", "dynamic", RMAI_WINDOW_DYNAMIC},
                {"RMA_WINDOW", "static", RMAI_WINDOW_STATIC},
                {"RMA_ERRORS", "Abort", RMAI_ERRORS_ABORT},
                {"RMA_INFO", "0", 0},
                {"RMA_INFO", "1", 1},
                {"RMA_INFO", "no", 0},
                {"RMA_INFO", "YES", 1},
                {"RMA_INFO", "off", 0},
                {"RMA_INFO", "On", 1},
                {"RMA_INFO", "false", 0},
                {"RMA_INFO", "true", 1}};
    for (size_t i = 0; i < N(word); i++) {
        struct rmai_settings s;
        int is;
        clear_environment();
        set(word[i].name, word[i].value);
        ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_SUCCESS);
        is = word[i].name[4] == 'S'   ? s.statics
             : word[i].name[4] == 'W' ? s.window
             : word[i].name[4] == 'E' ? s.errors
                                      : s.info;
        ck_assert_msg(is == word[i].is, "%s=%s gives %d", word[i].name, word[i].value, is);
    }
    clear_environment();
}
END_TEST

START_TEST(spin_counts_from_zero_or_is_auto) {
    /* A count of 0 that is taken for "not set". */
    struct rmai_settings s;
    set("RMA_SPIN", "0");
    ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_SUCCESS);
    ck_assert_int_eq(s.spin, 0);
    set("RMA_SPIN", "AUTO");
    ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_SUCCESS);
    ck_assert_int_eq(s.spin, RMAI_AUTO);
    set("RMA_SPIN", "9223372036854775807");
    ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_SUCCESS);
}
END_TEST

START_TEST(a_value_that_does_not_parse_is_quoted) {
    /* An error that does not say which variable, or what it was found to be. An empty value is one too. */
    static const struct {
        const char *name, *value, *what;
    } bad[] = {{"RMA_HEAP_MAX", "lots", "not a size"},
               {"RMA_HEAP_MAX", "", "not a size"},
               {"RMA_LOCAL_MAX", "-1", "not a size"},
               {"RMA_LOCAL_MAX", "64Q", "not a size"},
               {"RMA_SPIN", "-5", "count"},
               {"RMA_SPIN", "1.5", "count"},
               {"RMA_SPIN", "", "count"},
               {"RMA_SPIN", " 5", "count"},
               {"RMA_SPIN", "0x10", "count"},
               {"RMA_SPIN", "5 ", "count"},
               {"RMA_SPIN", "9223372036854775808", "count"},
               {"RMA_NODE_PES", "0", "count of 1"},
               {"RMA_NODE_PES", "-2", "count of 1"},
               {"RMA_NODE_PES", "two", "count of 1"},
               {"RMA_NODE_PES", "", "count of 1"},
               {"RMA_STATICS", "windows", "remap|window|off"},
               {"RMA_STATICS", "", "remap|window|off"},
               {"RMA_STATICS", "remap|window", "remap|window|off"},
               {"RMA_STATICS", "windo", "remap|window|off"},
               {"RMA_WINDOW", "sometimes", "not one of auto|none ("},
               {"RMA_ERRORS", "ignore", "abort|return"},
               {"RMA_INFO", "maybe", "yes or no"},
               {"RMA_INFO", "2", "yes or no"},
               {"RMA_INFO", "", "yes or no"}};
    for (size_t i = 0; i < N(bad); i++) {
        struct rmai_settings s;
        char quote[64];
        clear_environment();
        set(bad[i].name, bad[i].value);
        snprintf(quote, sizeof quote, "%s=%s: ", bad[i].name, bad[i].value);
        ck_assert_msg(rmai_settings_read(&s, GIB) == RMA_ERR_SETTING, "%s passes", quote);
        ck_assert_int_eq(rma_last_code(), RMA_ERR_SETTING);
        ck_text_has(quote);
        ck_text_has(bad[i].what);
        ck_assert_int_eq(s.errors, RMAI_ERRORS_ABORT);
    }
}
END_TEST

START_TEST(a_very_long_value_is_quoted_as_far_as_there_is_room) {
    /* A value from outside that runs over a buffer. */
    struct rmai_settings s;
    static char value[100001];
    memset(value, 'y', sizeof value - 1);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"RMA_HEAP_MAX", "RMA_SPIN", "RMA_STATICS", "RMA_INFO"};
        clear_environment();
        set(names[i], value);
        ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_ERR_SETTING);
        ck_text_has(names[i]);
        ck_assert_uint_le(strlen(rma_last_error()), 1023);
    }
}
END_TEST

START_TEST(more_than_the_memory_is_refused) {
    /* A limit that the node cannot keep: the size is most likely a slip. */
    static const char *const names[] = {"RMA_HEAP_MAX", "RMA_LOCAL_MAX"};
    struct rmai_settings s;
    for (size_t i = 0; i < N(names); i++) {
        char quote[64];
        clear_environment();
        set(names[i], "1073741824");
        ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_SUCCESS);
        set(names[i], "1073741825");
        ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_ERR_SETTING);
        snprintf(quote, sizeof quote, "%s=1073741825: ", names[i]);
        ck_text_has(quote);
        ck_text_has("memory of 1 GiB");
        set(names[i], "101%");
        ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_ERR_SETTING);
    }
}
END_TEST

START_TEST(the_error_handler_is_known_even_if_another_setting_is_bad) {
    /* RMA_ERRORS=return that does not hold for the errors of rma_init itself. */
    static const char *const others[] = {"RMA_HEAP_MAX", "RMA_LOCAL_MAX", "RMA_STATICS",
                                         "RMA_SPIN",     "RMA_PROGRESS",  "RMA_INFO"};
    struct rmai_settings s;
    for (size_t i = 0; i < N(others); i++) {
        clear_environment();
        set("RMA_ERRORS", "return");
        set(others[i], "?");
        s.errors = 77;
        ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_ERR_SETTING);
        ck_text_has(others[i]);
        ck_assert_int_eq(s.errors, RMAI_ERRORS_RETURN);
    }
}
END_TEST

/* ---- what is not a setting ---- */

/* What is printed of one variable. */
static const char *note_of(const char *name) {
    static char note[256];
    char more[256];
    clear_environment();
    set(name, "1=2");
    ck_assert_msg(rmai_settings_stray(0, note, sizeof note), "%s: nothing is said", name);
    ck_assert_msg(!rmai_settings_stray(1, more, sizeof more), "%s: and also '%s'", name, more);
    return note;
}

START_TEST(a_misspelt_name_is_found_and_the_nearest_is_guessed) {
    /* A setting that does nothing, and nobody tells: or a guess that is farther than another. */
    static const struct {
        const char *name, *guess;
    } slip[] = {{"RMA_HEAPMAX", "RMA_HEAP_MAX"},   {"RMA_HEAP_MAXX", "RMA_HEAP_MAX"},
                {"RMA_SPIM", "RMA_SPIN"},          {"RMA_PSIN", "RMA_SPIN"},
                {"RMA_STATIC", "RMA_STATICS"},     {"RMA_HEAP_CHEK", "RMA_HEAP_CHECK"},
                {"RMA_LOCALMAX", "RMA_LOCAL_MAX"}, {"RMA_INFOS", "RMA_INFO"},
                {"RMA_ERROR", "RMA_ERRORS"},       {"RMA_TRAC", "RMA_TRACE"}};
    static const char *const far[] = {"RMA_", "RMA_VERBOSITY_LEVEL", "RMA_A_NAME_WITH_MORE_THAN_THIRTY_ONE_LETTERS",
                                      "RMA_COPIES"};
    char want[256];
    for (size_t i = 0; i < N(slip); i++) {
        snprintf(want, sizeof want, "%s is not a setting; is %s meant?", slip[i].name, slip[i].guess);
        ck_assert_str_eq(note_of(slip[i].name), want);
    }
    for (size_t i = 0; i < N(far); i++) {
        snprintf(want, sizeof want, "%s is not a setting", far[i]);
        ck_assert_str_eq(note_of(far[i]), want);
    }
}
END_TEST

START_TEST(a_setting_that_is_gone_is_not_called_misspelt) {
    /* A note that does not name the version, or that guesses at another setting; and a value that is still read. */
    static const struct {
        const char *name, *note;
    } gone[] = {
        {"RMA_AMO", "RMA_AMO is gone since 0.3.0: the processors of a word's node do the atomics on it"},
        {"RMA_BIND",
         "RMA_BIND is gone since 0.3.0: launchers bind processes: -bind-to of MPICH's mpiexec, srun --cpu-bind"},
        {"RMA_COPY", "RMA_COPY is gone since 0.3.0: all copies on a node are made by ordinary stores"},
        {"RMA_HEAP_INIT", "RMA_HEAP_INIT is gone since 0.3.0: the heaps begin small, and grow"}};
    struct rmai_settings s;
    for (size_t i = 0; i < N(gone); i++) {
        ck_assert_str_eq(note_of(gone[i].name), gone[i].note);
        ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_SUCCESS);
    }
}
END_TEST

START_TEST(what_others_read_is_not_called_misspelt) {
    /* Warnings about variables that are right, or not ours. */
    static const char *const known[] = {"RMA_HEAP_MAX", "RMA_LOCAL_MAX", "RMA_STATICS",   "RMA_SPIN", "RMA_ERRORS",
                                        "RMA_INFO",     "RMA_CC",        "RMA_TEST_SEED", "RMA_RACE", "RMA_TRACE",
                                        "rma_spin",     "XRMA_SPIN",     "RMASPIN",       "RMAI_SPIN"};
    char note[256] = "untouched";
    for (size_t i = 0; i < N(known); i++) set(known[i], "1");
    ck_assert_msg(!rmai_settings_stray(0, note, sizeof note), "%s", note);
    ck_assert_str_eq(note, "untouched");
}
END_TEST

START_TEST(what_a_tool_reads_is_taken_as_it_is) {
    /* A value of RMA_RACE that librma refuses, though the race detector is who understands it; or one that is written
     * over another setting. */
    static const char *const value[] = {"no", "exitcode=3,history=16", "nonsense", ""};
    struct rmai_settings none, s;
    memset(&none, 0, sizeof none);
    memset(&s, 0, sizeof s);
    ck_assert_int_eq(rmai_settings_read(&none, GIB), RMA_SUCCESS);
    for (size_t i = 0; i < N(value); i++) {
        set("RMA_RACE", value[i]);
        ck_assert_int_eq(rmai_settings_read(&s, GIB), RMA_SUCCESS);
        ck_assert_mem_eq(&s, &none, sizeof s);
    }
}
END_TEST

START_TEST(all_unknown_names_are_counted_through) {
    /* An enumeration that repeats one, skips one, or does not end. */
    char note[256];
    int seen[3] = {0, 0, 0}, n = 0;
    set("RMA_ONE", "1");
    set("RMA_SPIN", "2");
    set("RMA_TWO", "2");
    set("RMA_THREE", "3");
    while (n < 10 && rmai_settings_stray(n, note, sizeof note)) {
        seen[0] += strncmp(note, "RMA_ONE is ", 11) == 0;
        seen[1] += strncmp(note, "RMA_TWO is ", 11) == 0;
        seen[2] += strncmp(note, "RMA_THREE is ", 13) == 0;
        n++;
    }
    ck_assert_int_eq(n, 3);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(seen[i], 1);
}
END_TEST

/* ---- showing ---- */

struct lines {
    int n;
    char line[32][400];
};

static void put(void *out, const char *line) {
    struct lines *l = out;
    ck_assert_int_lt(l->n, 32);
    snprintf(l->line[l->n++], sizeof l->line[0], "%s", line);
}

static const char *row(const struct lines *l, const char *name) {
    for (int i = 0; i < l->n; i++)
        if (strncmp(l->line[i], name, strlen(name)) == 0 && l->line[i][strlen(name)] == ' ') return l->line[i];
    ck_abort_msg("no row for %s", name);
}

START_TEST(each_setting_is_a_row_with_value_and_source) {
    /* A row that is missing, or that shows the default where another value is in force. */
    static const struct {
        const char *name, *value, *source;
    } expect[] = {{"RMA_ERRORS", " return ", "environment"},
                  {"RMA_HEAP_MAX", " 1.5 GiB ", "environment"},
                  {"RMA_LOCAL_MAX", " 8 GiB ", "default"},
                  {"RMA_HEAP_CHECK", " full ", "environment"},
                  {"RMA_STATICS", " off ", "environment"},
                  {"RMA_SPIN", " 1000 ", "environment"},
                  {"RMA_INFO", " yes ", "environment"},
                  {"RMA_PROGRESS", " thread ", "environment"},
                  {"RMA_WINDOW", " auto ", "default"},
                  {"RMA_STATS", " no ", "default"},
                  {"RMA_STALL", " 30 s ", "default"},
                  {"RMA_TIMEOUT", " 0 s ", "environment"},
                  {"RMA_NODE_PES", " auto ", "default"},
                  {"RMA_CHECK", " yes ", "environment"},
                  {"RMA_COLLECTIVES", " own ", "environment"},
                  {"RMA_RACE", " yes ", "default"},
                  {"RMA_FINALIZE_HELPER", " yes ", "default"},
                  {"RMA_MPI_INFO", " no ", "default"},
                  {"RMA_TRACE", " no ", "default"}};
    static struct lines l;
    struct rmai_settings s;
    set("RMA_ERRORS", "return");
    set("RMA_HEAP_MAX", "1.5G");
    set("RMA_HEAP_CHECK", "full");
    set("RMA_STATICS", "off");
    set("RMA_SPIN", "1000");
    set("RMA_INFO", "on");
    set("RMA_PROGRESS", "thread");
    set("RMA_TIMEOUT", "0");
    set("RMA_CHECK", "1");
    set("RMA_COLLECTIVES", "meet:tree=4");
    ck_assert_int_eq(rmai_settings_read(&s, 8 * GIB), RMA_SUCCESS);
    rmai_settings_print(&s, put, &l);
    ck_assert_int_eq(l.n, (int)N(expect));
    for (size_t i = 0; i < N(expect); i++) {
        const char *line = row(&l, expect[i].name);
        ck_assert_msg(strstr(line, expect[i].value) && strstr(line, expect[i].source), "\"%s\" lacks \"%s\" or \"%s\"",
                      line, expect[i].value, expect[i].source);
        ck_assert_uint_gt(strlen(line), strlen(expect[i].name) + 30); /* there is help behind */
        ck_assert_ptr_null(strchr(line, '\n'));
    }
    ck_assert_ptr_nonnull(strstr(row(&l, "RMA_STATICS"), "[remap|window|off]"));
    ck_assert_ptr_nonnull(strstr(row(&l, "RMA_WINDOW"), "[auto|none]"));
    s.spin = RMAI_AUTO;
    l.n = 0;
    rmai_settings_print(&s, put, &l);
    ck_assert_ptr_nonnull(strstr(row(&l, "RMA_SPIN"), " auto "));
}
END_TEST

/* ---- two PEs ---- */

/* What both have in force after they have met, as the reduction does it. */
static void meet(struct rmai_settings pe[2]) {
    struct rmai_least number[2][RMAI_SETTINGS_NUMBERS], least[RMAI_SETTINGS_NUMBERS];
    for (int q = 0; q < 2; q++) rmai_settings_offer(&pe[q], number[q]);
    for (size_t i = 0; i < RMAI_SETTINGS_NUMBERS; i++) {
        least[i].pe = number[1][i].value < number[0][i].value;
        least[i].value = number[least[i].pe][i].value;
    }
    for (int q = 0; q < 2; q++) rmai_settings_adopt(&pe[q], least);
}

START_TEST(each_setting_is_agreed_on_by_its_scope) {
    /* A setting that nobody agrees on, or of which the wrong PE's value counts. */
    struct rmai_settings pe[2];
    struct lines l = {0};
    ck_assert_int_eq(rmai_settings_read(&pe[0], 4 * GIB), RMA_SUCCESS);
    set("RMA_HEAP_MAX", "64M");
    set("RMA_NODE_PES", "2");
    set("RMA_HEAP_CHECK", "full");
    set("RMA_STATICS", "off");
    set("RMA_WINDOW", "always");
    set("RMA_CHECK", "yes");
    set("RMA_SPIN", "7");
    set("RMA_STALL", "9");
    set("RMA_ERRORS", "return");
    set("RMA_COLLECTIVES", "scan:share=5,meet:tree=never");
    ck_assert_int_eq(rmai_settings_read(&pe[1], 8 * GIB), RMA_SUCCESS);
    meet(pe);
    for (int q = 0; q < 2; q++) {
        ck_assert_uint_eq(pe[q].heap_max, 64 * MIB);
        ck_assert_uint_eq(pe[q].local_max, 4 * GIB);
        ck_assert_int_eq(pe[q].node_pes, 2);
        ck_assert_int_eq(pe[q].heap_check, RMAI_CHECK_FULL);
        ck_assert_int_eq(pe[q].statics, RMAI_STATICS_OFF);
        ck_assert_int_eq(pe[q].window, RMAI_WINDOW_ALWAYS);
        ck_assert_int_eq(pe[q].check, 1);
        ck_assert_uint_eq(pe[q].collectives.from[RMAI_SCAN_SHARE][RMAI_PAIR], 5);
    }
    ck_assert_mem_eq(&pe[0].collectives, &pe[1].collectives, sizeof pe[0].collectives);
    ck_assert_int_eq(pe[0].spin, RMAI_AUTO);
    ck_assert_int_eq(pe[1].spin, 7);
    ck_assert_int_eq(pe[0].stall, 30);
    ck_assert_int_eq(pe[0].errors, RMAI_ERRORS_ABORT);
    ck_assert_int_eq(pe[1].errors, RMAI_ERRORS_RETURN);
    rmai_settings_print(&pe[0], put, &l);
    ck_assert_ptr_nonnull(strstr(row(&l, "RMA_HEAP_MAX"), " 64 MiB     PE 1 "));
    ck_assert_ptr_null(strstr(row(&l, "RMA_LOCAL_MAX"), "PE 1"));
}
END_TEST

START_TEST(each_value_is_described_in_one_list) {
    /* A value for tests among those for users, one that neither list has, or a list that does not end. */
    static const char *const tuning[] = {"RMA_NODE_PES", "RMA_SPIN", "RMA_WINDOW", "RMA_COLLECTIVES"};
    struct rmai_setting_text text;
    size_t n = 0, windows = 0;
    for (size_t i = 0; i < 32 && rmai_settings_describe(0, i, &text); i++) {
        for (size_t k = 0; k < N(tuning); k++)
            ck_assert_msg(strcmp(text.name, tuning[k]) != 0 || k == 2, "%s is for users", text.name);
        if (strcmp(text.name, "RMA_WINDOW") != 0) continue;
        ck_assert_str_eq(text.pattern, "auto | none");
        ck_assert_int_eq(text.n_values, 2);
        windows++;
    }
    for (n = 0; n < 32 && rmai_settings_describe(1, n, &text); n++) {
        ck_assert_uint_lt(n, N(tuning));
        ck_assert_str_eq(text.name, tuning[n]);
        if (strcmp(text.name, "RMA_WINDOW") != 0) continue;
        ck_assert_str_eq(text.pattern, "always | dynamic | static");
        ck_assert_int_eq(text.n_values, 3);
        ck_assert_str_eq(text.values[0].word, "always");
        windows++;
    }
    ck_assert_uint_eq(n, N(tuning));
    ck_assert_uint_eq(windows, 2);
}
END_TEST

int main(void) {
    Suite *s = suite_create("settings");
    TCase *sizes = tcase_create("sizes"), *values = tcase_create("values");
    SRunner *runner;
    int failed;
    tcase_set_timeout(sizes, 60);
    tcase_add_test(sizes, sizes_are_read_with_suffix_fraction_and_percent);
    tcase_add_test(sizes, what_is_no_size_is_refused_and_writes_nothing);
    tcase_add_test(sizes, percent_is_exact_for_every_memory);
    tcase_add_test(sizes, sizes_are_shown_as_people_say_them);
    suite_add_tcase(s, sizes);
    tcase_set_timeout(values, 60);
    tcase_add_checked_fixture(values, clear_environment, NULL);
    tcase_add_test(values, an_empty_environment_gives_the_defaults);
    tcase_add_test(values, each_variable_sets_its_member);
    tcase_add_test(values, words_are_read_in_any_case);
    tcase_add_test(values, spin_counts_from_zero_or_is_auto);
    tcase_add_test(values, a_value_that_does_not_parse_is_quoted);
    tcase_add_test(values, a_very_long_value_is_quoted_as_far_as_there_is_room);
    tcase_add_test(values, more_than_the_memory_is_refused);
    tcase_add_test(values, the_error_handler_is_known_even_if_another_setting_is_bad);
    tcase_add_test(values, a_misspelt_name_is_found_and_the_nearest_is_guessed);
    tcase_add_test(values, a_setting_that_is_gone_is_not_called_misspelt);
    tcase_add_test(values, what_others_read_is_not_called_misspelt);
    tcase_add_test(values, what_a_tool_reads_is_taken_as_it_is);
    tcase_add_test(values, all_unknown_names_are_counted_through);
    tcase_add_test(values, each_setting_is_a_row_with_value_and_source);
    tcase_add_test(values, each_setting_is_agreed_on_by_its_scope);
    tcase_add_test(values, each_value_is_described_in_one_list);
    suite_add_tcase(s, values);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
