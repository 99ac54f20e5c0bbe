/* SPDX-License-Identifier: BSD-3-Clause */
/* The hints of a window (MPI-4.0, section 12.2.1). librma needs none of them but those about memory; the others are
 * promises of the program, which it gets back. An unknown key, or a value that the standard does not have, is ignored.
 */
#include "config.h"

#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/hints.h"
#include "interfaces/mpi/state.h"

#include <stdlib.h>
#include <string.h>

enum hint_kind { TRUTH, ORDERING, OPS, NUMBER };

static const struct hint {
    const char *key, *otherwise; /* the value if the program gives none; NULL: then the window does not have the hint */
    enum hint_kind kind;
    int of_memory; /* 1: of windows that allocate their memory; */
    int stays;     /* 1: MPI_Win_set_info cannot change it, since the memory is there */
} hints[] = {{"no_locks", "false", TRUTH, 0, 0},
             {"accumulate_ordering", "rar,raw,war,waw", ORDERING, 0, 0},
             {"accumulate_ops", "same_op_no_op", OPS, 0, 0},
             {"same_size", "false", TRUTH, 0, 0},
             {"same_disp_unit", "false", TRUTH, 0, 0},
             {"alloc_shared_noncontig", "false", TRUTH, 1, 0},
             {"mpi_minimum_memory_alignment", NULL, NUMBER, 1, 1}};
#define HINTS (sizeof hints / sizeof hints[0])

/* 1 if `value` is "none", or a list of some of the four orders. */
static int is_ordering(const char *value) {
    if (strcmp(value, "none") == 0) return 1;
    for (;; value += 4) {
        if (strncmp(value, "rar", 3) != 0 && strncmp(value, "raw", 3) != 0 && strncmp(value, "war", 3) != 0 &&
            strncmp(value, "waw", 3) != 0)
            return 0;
        if (value[3] == 0) return 1;
        if (value[3] != ',') return 0;
    }
}

static int is_number(const char *value) {
    char *end;
    return strtoll(value, &end, 10) > 0 && *end == 0;
}

static int has_value(const struct hint *h, const char *value) {
    switch (h->kind) {
        case TRUTH: return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
        case ORDERING: return is_ordering(value);
        case OPS: return strcmp(value, "same_op") == 0 || strcmp(value, "same_op_no_op") == 0;
        default: return is_number(value);
    }
}

/* Reads the hint from an info object. *given becomes 1 if it is there, with a value that it can have. */
static int read_hint(MPI_Info info, const struct hint *h, char value[MPI_MAX_INFO_VAL + 1], int *given) {
    int code = MPI_SUCCESS;
    *given = 0;
    if (info != MPI_INFO_NULL) code = PMPI_Info_get(info, h->key, MPI_MAX_INFO_VAL, value, given);
    if (code == MPI_SUCCESS && *given) *given = has_value(h, value);
    return code;
}

const char *rmai_win_hint(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1]) {
    int found = 0;
    if (info == MPI_INFO_NULL || PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) != MPI_SUCCESS) return NULL;
    return found ? value : NULL;
}

size_t rmai_win_alignment(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    const char *text = rmai_win_hint(info, "mpi_minimum_memory_alignment", value);
    const size_t alignment = text ? (size_t)strtoul(text, NULL, 10) : 0;
    return alignment & (alignment - 1) || alignment > (size_t)1 << 30 ? 0 : alignment;
}

RMAI_MPI_API int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
    struct rmai_win *w = rmai_win_of(win);
    char value[MPI_MAX_INFO_VAL + 1];
    int code = MPI_SUCCESS, given;
    if (!w) return PMPI_Win_set_info(win, info);
    if (info == MPI_INFO_NULL) return MPI_SUCCESS;
    if (w->info == MPI_INFO_NULL) code = PMPI_Info_create(&w->info);
    for (size_t i = 0; code == MPI_SUCCESS && i < HINTS; i++) {
        if (hints[i].stays) continue;
        code = read_hint(info, &hints[i], value, &given);
        if (code == MPI_SUCCESS && given) code = PMPI_Info_set(w->info, hints[i].key, value);
    }
    return code == MPI_SUCCESS ? code : rmai_win_error(w, MPI_ERR_INFO, "MPI_Win_set_info: the info cannot be read");
}

RMAI_MPI_API int MPI_Win_get_info(MPI_Win win, MPI_Info *info) {
    struct rmai_win *w = rmai_win_of(win);
    char value[MPI_MAX_INFO_VAL + 1];
    int code, given;
    if (!w) return PMPI_Win_get_info(win, info);
    if (!info) return rmai_win_null(w, "MPI_Win_get_info", "info_used");
    code = PMPI_Info_create(info);
    for (size_t i = 0; code == MPI_SUCCESS && i < HINTS; i++) {
        const struct hint *h = &hints[i];
        if (h->of_memory && w->flavor != MPI_WIN_FLAVOR_ALLOCATE && w->flavor != MPI_WIN_FLAVOR_SHARED) continue;
        code = read_hint(w->info, h, value, &given);
        if (code == MPI_SUCCESS && (given || h->otherwise))
            code = PMPI_Info_set(*info, h->key, given ? value : h->otherwise);
    }
    return code == MPI_SUCCESS ? code
                               : rmai_win_error(w, MPI_ERR_INFO, "MPI_Win_get_info: MPI cannot make an info object");
}
