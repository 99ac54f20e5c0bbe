/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's calls about images: start and end, who is there, synchronization, teams, random numbers. */
#include "config.h"

#include "interfaces/caf/gfortran.h"
#include "interfaces/caf/sync.h"
#include "interfaces/caf/team.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Constructors store the initial values of static coarrays, some of them after the last registration: an image writes
 * to another one only when that has called this. */
void _gfortran_caf_init(int *argc, char ***argv) {
    (void)argc, (void)argv;
    rmai_caf_start();
    rmai_caf_in_main();
    rmai_caf_sync_team(RMAI_CAF_NO_RESULT, "start of the coarrays", rmai_caf.initial);
}

void _gfortran_caf_finalize(void) { rmai_caf_finish(); }

/* ---- the end ---- */

/* STOP and ERROR STOP name the exceptions that are signaling, but for inexact results (F2018, 11.4). */
static void note_exceptions(void) {
    static const struct {
        int flag;
        const char *name;
    } exceptions[] = {{FE_INVALID, "IEEE_INVALID_FLAG"},
                      {FE_DIVBYZERO, "IEEE_DIVIDE_BY_ZERO"},
                      {FE_OVERFLOW, "IEEE_OVERFLOW_FLAG"},
                      {FE_UNDERFLOW, "IEEE_UNDERFLOW_FLAG"}};
    char names[128] = "";
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (fetestexcept(exceptions[i].flag)) strcat(strcat(names, " "), exceptions[i].name);
    if (names[0]) fprintf(stderr, "Note: The following floating-point exceptions are signalling:%s\n", names);
}

/* The messages of STOP and ERROR STOP, with `len` characters of text. A bare STOP has none but that of exceptions. */
static void print_stop(const char *statement, const char *text, size_t len, bool quiet) {
    if (quiet) return;
    note_exceptions();
    if (statement) fprintf(stderr, "%s%s%.*s\n", statement, len ? " " : "", (int)len, len ? text : "");
}

static void say_number(const char *statement, int code, bool quiet) {
    char digits[16];
    print_stop(statement, digits, (size_t)snprintf(digits, sizeof digits, "%d", code), quiet);
}

static void stop(int code) {
    fflush(NULL);
    rmai_caf_finish();
    exit(code);
}

void _gfortran_caf_stop_numeric(int code, bool quiet) {
    say_number("STOP", code, quiet);
    stop(code);
    abort();
}

void _gfortran_caf_stop_str(const char *text, size_t len, bool quiet) {
    print_stop(text ? "STOP" : NULL, text, text ? len : 0, quiet);
    stop(0);
    abort();
}

void _gfortran_caf_error_stop(int code, bool quiet) {
    say_number("ERROR STOP", code, quiet);
    rmai_caf_error_stop(code);
}

void _gfortran_caf_error_stop_str(const char *text, size_t len, bool quiet) {
    print_stop("ERROR STOP", text, text ? len : 0, quiet);
    rmai_caf_error_stop(1);
}

void _gfortran_caf_fail_image(void) { rmai_caf_fail(); }

/* ---- who is there ---- */

/* Up to version 14 gfortran passes a distance, from version 15 on a team or NULL. */
static struct rmai_caf_team *team_at(intptr_t distance_or_team) {
    void *team = (void *)distance_or_team;
    return is_address(team) ? team : rmai_caf_team_above((int)distance_or_team);
}

int _gfortran_caf_this_image(intptr_t distance_or_team) { return team_at(distance_or_team)->me + 1; }

/* The second argument: -1, of 32 bits, or which images count. From version 16 on it is the address of a team number, or
 * NULL, which is also 15's word for images that have not failed. */
int _gfortran_caf_num_images(intptr_t distance_or_team, intptr_t failed_or_number) {
    const struct rmai_caf_team *team = team_at(distance_or_team);
    int n = 0, failed = (int)failed_or_number;
    if (failed == -1) return team->n;
    if (rmai_caf_has_accessors && is_address((const char *)failed_or_number))
        return rmai_caf_team_numbered(RMAI_CAF_NO_RESULT, "NUM_IMAGES", *(const int *)failed_or_number)->n;
    if (rmai_caf_has_accessors && !failed_or_number) return team->n;
    if (!rmai_caf.self->gone) return failed ? 0 : team->n;
    for (int i = 0; i < team->n; i++) n += (rmai_caf_status(team->pes[i]) == RMAI_CAF_STAT_FAILED) == (failed != 0);
    return n;
}

/* The compiler passes NULL, or -1 of 32 bits, where the program names no team. */
static const struct rmai_caf_team *team_or_current(caf_team *team) {
    return team && (int32_t)(intptr_t)team != -1 ? *team : rmai_caf.team;
}

int _gfortran_caf_image_status(int image, caf_team *team) {
    int pe = rmai_caf_pe(RMAI_CAF_NO_RESULT, "IMAGE_STATUS", team_or_current(team), image);
    return pe == rmai_caf.me || !rmai_caf.self->gone ? 0 : (int)rmai_caf_status(pe);
}

static void list_images(struct descriptor *array, const struct rmai_caf_team *team, int kind, int status) {
    char *list = rmai_caf_memory("list of images", (size_t)team->n * (size_t)kind);
    ptrdiff_t n = 0;
    for (int i = 0; i < team->n && rmai_caf.self->gone; i++) {
        int64_t image = i + 1;
        if ((int)rmai_caf_status(team->pes[i]) != status) continue;
        memcpy(list + n++ * kind, &image, (size_t)kind);
    }
    array->base = list;
    array->elem_len = (size_t)kind;
    array->rank = 1;
    array->type = RMAI_CAF_INTEGER;
    array->span = kind;
    array->offset = 0;
    array->dim[0] = (struct dimension){.stride = 1, .lower = 0, .upper = n - 1};
}

void _gfortran_caf_failed_images(struct descriptor *array, caf_team *team, int *kind) {
    list_images(array, team_or_current(team), kind ? *kind : 4, RMAI_CAF_STAT_FAILED);
}

void _gfortran_caf_stopped_images(struct descriptor *array, caf_team *team, int *kind) {
    list_images(array, team_or_current(team), kind ? *kind : 4, RMAI_CAF_STAT_STOPPED);
}

/* ---- synchronization ---- */

static int sync_is_of_allocate;

void rmai_caf_sync_is_of_allocate(void) { sync_is_of_allocate = 1; }

void _gfortran_caf_sync_all(int *stat, char *errmsg, size_t errmsg_len) {
    int ignored;
    if (__builtin_expect(rmai_caf.early, 0)) rmai_caf_in_main();
    if (__builtin_expect(rmai_caf_variables_fresh != NULL, 0)) rmai_caf_variables_read();
    if (__builtin_expect(sync_is_of_allocate, 0)) {
        sync_is_of_allocate = 0;
        if (!stat) stat = &ignored;
    }
    rmai_caf_sync_team(result_at(stat, sync_message(errmsg), errmsg_len), "SYNC ALL", rmai_caf.team);
}

void _gfortran_caf_sync_memory(int *stat, char *errmsg, size_t errmsg_len) {
    if (__builtin_expect(rmai_caf.early, 0)) rmai_caf_in_main();
    rmai_caf_must(rma_quiet());
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    rmai_caf_done(result_at(stat, sync_message(errmsg), errmsg_len));
}

void _gfortran_caf_sync_images(int count, int *images, int *stat, char *errmsg, size_t errmsg_len) {
    if (__builtin_expect(rmai_caf.early, 0)) rmai_caf_in_main();
    rmai_caf_sync_images(result_at(stat, sync_message(errmsg), errmsg_len), count, images);
}

/* ---- teams ---- */

/* Before version 15 gfortran passes the address of the team variable, and no STAT= or ERRMSG=: the values in their
 * places are undefined. */
static struct rmai_caf_result team_result(int *stat, char *errmsg, size_t errmsg_len) {
    return rmai_caf_has_accessors ? result_at(stat, errmsg, errmsg_len) : RMAI_CAF_NO_RESULT;
}

/* NULL after it has reported that the variable has no team. */
static struct rmai_caf_team *team_in(struct rmai_caf_result r, const char *statement, void *team_or_variable) {
    if (rmai_caf_is_team(team_or_variable)) return team_or_variable;
    if (!rmai_caf_has_accessors && rmai_caf_is_team(*(caf_team *)team_or_variable))
        return *(caf_team *)team_or_variable;
    rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: FORM TEAM has not defined the team variable", statement);
    return NULL;
}

void _gfortran_caf_form_team(int number, caf_team *team, int *new_index, int *stat, char *errmsg, size_t errmsg_len) {
    int index = rmai_caf_has_accessors && new_index ? *new_index : 0;
    struct rmai_caf_result r = team_result(stat, errmsg, errmsg_len);
    struct rmai_caf_team *formed = rmai_caf_team_form(r, number, index);
    if (!formed) return;
    *team = formed;
    rmai_caf_done(r);
}

void _gfortran_caf_change_team(void *team, int *stat, char *errmsg, size_t errmsg_len) {
    struct rmai_caf_result r = team_result(stat, errmsg, errmsg_len);
    struct rmai_caf_team *formed = team_in(r, "CHANGE TEAM", team);
    if (formed) rmai_caf_team_change(r, formed);
}

void _gfortran_caf_end_team(int *stat, char *errmsg, size_t errmsg_len) {
    rmai_caf_team_end(team_result(stat, errmsg, errmsg_len));
}

void _gfortran_caf_sync_team(void *team, int *stat, char *errmsg, size_t errmsg_len) {
    struct rmai_caf_result r = team_result(stat, errmsg, errmsg_len);
    struct rmai_caf_team *formed = team_in(r, "SYNC TEAM", team);
    if (formed) rmai_caf_sync_team(r, "SYNC TEAM", formed);
}

/* The levels of ISO_FORTRAN_ENV: INITIAL_TEAM, PARENT_TEAM, CURRENT_TEAM. */
enum { LEVEL_INITIAL, LEVEL_PARENT, LEVEL_CURRENT };

caf_team _gfortran_caf_get_team(int *level) {
    if (!level || *level == LEVEL_CURRENT) return rmai_caf.team;
    return *level == LEVEL_INITIAL ? rmai_caf.initial : rmai_caf_team_above(1);
}

int _gfortran_caf_team_number(caf_team team) { return (int)(team ? team : rmai_caf.team)->number; }

int _gfortran_caf_get_communicator(caf_team *team) {
    return rmai_caf_team_communicator(team && *team ? *team : rmai_caf.team);
}

/* ---- random numbers ---- */

/* libgfortran, which each Fortran program has. Its own random_init ends the program on some images. */
extern void _gfortran_random_seed_i4(int *size, struct descriptor *put, struct descriptor *get) __attribute__((weak));

/* Each call with REPEATABLE sets the same seed. Without it the seed differs in each job and at each call: it contains
 * the time at which image 1 started. IMAGE_DISTINCT adds the image's number. Splitmix64 (Steele, Lea, Flood, 2014)
 * spreads the sum over the seed. */
void _gfortran_caf_random_init(bool repeatable, bool image_distinct) {
    static uint64_t calls;
    uint64_t x = 0;
    struct {
        struct descriptor d;
        struct dimension dim;
    } seed = {.d = {.elem_len = 4, .rank = 1, .type = RMAI_CAF_INTEGER, .span = 4}};
    int size = 0;
    if (!_gfortran_random_seed_i4) return;
    if (!repeatable) x = rma_g_uint64(&rmai_caf.self->random_seed, 0) + ++calls * 0x632be59bd9b4e019u;
    if (image_distinct) x += (uint64_t)(rmai_caf.me + 1) * 0xd1342543de82ef95u;
    _gfortran_random_seed_i4(&size, NULL, NULL);
    uint32_t *words = rmai_caf_memory("RANDOM_INIT", (size_t)size * sizeof *words);
    for (int i = 0; i < size; i++) {
        uint64_t z = x += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        words[i] = (uint32_t)(z >> 32);
    }
    seed.d.base = words;
    seed.d.dim[0] = (struct dimension){.stride = 1, .lower = 0, .upper = size - 1};
    _gfortran_random_seed_i4(NULL, &seed.d, NULL);
    free(words);
}
