/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/attributes.h"
#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/comm.h"
#include "interfaces/mpi/state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keyvals of the program. MPI has no call that returns the functions of a keyval, so MPI_Win_create_keyval enters
 * them in this table. */
struct keyval {
    int number, fortran; /* fortran: the function is a Fortran subroutine */
    MPI_Win_delete_attr_function *function;
    void *extra;
    int uses, freed; /* uses: attributes with this keyval; freed: MPI_Win_free_keyval was called */
    struct keyval *next;
};
static struct keyval *keyvals;

struct rmai_win_attribute {
    struct keyval *keyval;
    int fortran; /* 1: the program set it in Fortran, where it is a number */
    int ending;  /* 1: its delete function runs. Only MPI_Win_get_attr still finds it */
    MPI_Aint value;
    struct rmai_win_attribute *next;
};

/* No thread holds it while a function of the program runs, which may call MPI, and wait for another thread or process.
 */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct keyval **find_keyval(int number) {
    struct keyval **k = &keyvals;
    while (*k && (*k)->number != number) k = &(*k)->next;
    return k;
}

static void drop_keyval(struct keyval **at) {
    struct keyval *k = *at;
    if (k->uses > 0 || !k->freed) return;
    *at = k->next;
    PMPI_Win_free_keyval(&k->number);
    free(k);
}

/* Finds the attribute `number` whose `ending` is 0. */
static struct rmai_win_attribute *find_attribute(const struct rmai_win *w, int number) {
    struct rmai_win_attribute *a = w->attributes;
    while (a && (a->ending || a->keyval->number != number)) a = a->next;
    return a;
}

static int call_delete_function(struct rmai_win *w, struct rmai_win_attribute *a) {
    const struct keyval *k = a->keyval;
    MPI_Win handle = rmai_win_handle(w);
    int number = k->number, code = MPI_SUCCESS;
    if (k->function && k->fortran) {
        void (*function)(MPI_Win *, int *, MPI_Aint *, MPI_Aint *, int *);
        memcpy(&function, &k->function, sizeof function);
        function(&handle, &number, &a->value, k->extra, &code); /* extra is the address of a number */
    } else if (k->function) {
        code = k->function(handle, number, a->fortran ? (void *)&a->value : (void *)a->value, k->extra);
    }
    return code;
}

/* Calls the program's delete function for the attribute, and removes the attribute if the function returns
 * MPI_SUCCESS. The caller holds the mutex, which is free meanwhile. */
static int delete_attribute(struct rmai_win *w, struct rmai_win_attribute *a) {
    struct rmai_win_attribute **at = &w->attributes;
    int code;
    a->ending = 1;
    pthread_mutex_unlock(&mutex);
    code = call_delete_function(w, a);
    pthread_mutex_lock(&mutex);
    a->ending = 0;
    if (code != MPI_SUCCESS) return code;
    while (*at != a) at = &(*at)->next;
    *at = a->next;
    a->keyval->uses--;
    drop_keyval(find_keyval(a->keyval->number));
    free(a);
    return MPI_SUCCESS;
}

int rmai_win_attributes_end(struct rmai_win *w) {
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&mutex);
    while (w->attributes && code == MPI_SUCCESS) code = delete_attribute(w, w->attributes);
    pthread_mutex_unlock(&mutex);
    return code;
}

RMAI_MPI_API int MPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *function,
                                       int *number, void *extra) {
    int code = PMPI_Win_create_keyval(copy, function, number, extra);
    struct keyval *k;
    if (code != MPI_SUCCESS) return code;
    k = malloc(sizeof *k);
    if (!k) return MPI_ERR_NO_MEM;
    pthread_mutex_lock(&mutex);
    *k = (struct keyval){.number = *number, .function = function, .extra = extra, .next = keyvals};
    keyvals = k;
    pthread_mutex_unlock(&mutex);
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Win_free_keyval(int *number) {
    struct keyval **k;
    int code = MPI_SUCCESS;
    if (!number) return PMPI_Win_free_keyval(number);
    pthread_mutex_lock(&mutex);
    k = find_keyval(*number);
    if (*k) {
        (*k)->freed = 1;
        *number = MPI_KEYVAL_INVALID;
        drop_keyval(k);
    } else {
        code = PMPI_Win_free_keyval(number);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int set_attribute(struct rmai_win *w, int number, MPI_Aint value, int fortran) {
    struct rmai_win_attribute *a;
    struct keyval **k;
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&mutex);
    k = find_keyval(number);
    if (!*k) {
        pthread_mutex_unlock(&mutex);
        return rmai_win_error(w, MPI_ERR_KEYVAL, "MPI_Win_set_attr: %d is not a keyval for windows", number);
    }
    a = find_attribute(w, number);
    if (a) code = delete_attribute(w, a);
    k = find_keyval(number);
    a = code == MPI_SUCCESS && *k ? malloc(sizeof *a) : NULL;
    if (a) {
        *a = (struct rmai_win_attribute){*k, fortran, 0, value, w->attributes};
        w->attributes = a;
        (*k)->uses++;
    }
    pthread_mutex_unlock(&mutex);
    if (code != MPI_SUCCESS)
        return rmai_win_error(w, MPI_ERR_OTHER, "MPI_Win_set_attr: the function of keyval %d returned %d", number,
                              code);
    return a ? MPI_SUCCESS : rmai_win_error(w, MPI_ERR_NO_MEM, "MPI_Win_set_attr: no memory");
}

RMAI_MPI_API int MPI_Win_set_attr(MPI_Win win, int number, void *value) {
    struct rmai_win *w = rmai_win_of(win);
    return w ? set_attribute(w, number, (MPI_Aint)(intptr_t)value, 0) : PMPI_Win_set_attr(win, number, value);
}

RMAI_MPI_API int MPI_Win_delete_attr(MPI_Win win, int number) {
    struct rmai_win *w = rmai_win_of(win);
    struct rmai_win_attribute *a;
    int code, known;
    if (!w) return PMPI_Win_delete_attr(win, number);
    pthread_mutex_lock(&mutex);
    a = find_attribute(w, number);
    known = a || *find_keyval(number);
    code = a ? delete_attribute(w, a) : MPI_SUCCESS; /* a window without the attribute stays as it is */
    pthread_mutex_unlock(&mutex);
    if (!known) return rmai_win_error(w, MPI_ERR_KEYVAL, "MPI_Win_delete_attr: %d is not a keyval for windows", number);
    if (code == MPI_SUCCESS) return code;
    return rmai_win_error(w, MPI_ERR_OTHER, "MPI_Win_delete_attr: the function of keyval %d returned %d", number, code);
}

/* Writes the attribute's value to *value, and the pointer that C programs get to *at. Returns 0 if the window does not
 * have the attribute. */
static int get_attribute(struct rmai_win *w, int number, MPI_Aint *value, void **at) {
    struct rmai_win_attribute *a;
    if (number == MPI_WIN_BASE) {
        *value = (MPI_Aint)(intptr_t)w->base;
        *at = w->base;
    } else if (number == MPI_WIN_SIZE) {
        *value = w->size;
        *at = &w->size;
    } else if (number == MPI_WIN_DISP_UNIT) {
        *value = w->unit;
        *at = &w->unit;
    } else if (number == MPI_WIN_CREATE_FLAVOR) {
        *value = w->flavor;
        *at = &w->flavor;
    } else if (number == MPI_WIN_MODEL) {
        *value = w->model;
        *at = &w->model;
    } else {
        pthread_mutex_lock(&mutex);
        a = w->attributes;
        while (a && a->keyval->number != number) a = a->next;
        if (a) {
            *value = a->value;
            *at = a->fortran ? (void *)&a->value : (void *)(intptr_t)a->value;
        }
        pthread_mutex_unlock(&mutex);
        return a != NULL;
    }
    return 1;
}

RMAI_MPI_API int MPI_Win_get_attr(MPI_Win win, int number, void *attribute, int *flag) {
    struct rmai_win *w = rmai_win_of(win);
    MPI_Aint value;
    void *at;
    if (!w) return PMPI_Win_get_attr(win, number, attribute, flag);
    if (!attribute || !flag) return rmai_win_null(w, "MPI_Win_get_attr", attribute ? "flag" : "attribute_val");
    *flag = get_attribute(w, number, &value, &at);
    if (*flag) memcpy(attribute, &at, sizeof at);
    return MPI_SUCCESS;
}

#ifdef MPICH_VERSION
/* The functions that MPICH's Fortran bindings call. `kind` is 0 if the value is a C pointer; otherwise it is a number.
 */
RMAI_MPI_API int MPII_Win_get_attr(MPI_Win win, int number, void *attribute, int *flag, int kind);
RMAI_MPI_API int MPII_Win_set_attr(MPI_Win win, int number, void *attribute, int kind);
RMAI_MPI_API void MPII_Keyval_set_proxy(int number, void *copy, void *delete);

void rmai_win_find_in_mpi(const char *name, void *function) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
    if (found) return;
    fprintf(stderr, "rma_mpi: MPI has no %s: was librma built for another MPICH?\n", name);
    abort();
}

RMAI_MPI_API int MPII_Win_get_attr(MPI_Win win, int number, void *attribute, int *flag, int kind) {
    struct rmai_win *w = rmai_win_of(win);
    MPI_Aint value;
    void *at;
    if (!w) {
        int (*next)(MPI_Win, int, void *, int *, int);
        rmai_win_find_in_mpi("MPII_Win_get_attr", &next);
        return next(win, number, attribute, flag, kind);
    }
    /* Fortran's constants for the attributes of all windows are C's plus 1. */
    if (number == MPI_WIN_BASE + 1 || number == MPI_WIN_SIZE + 1 || number == MPI_WIN_DISP_UNIT + 1 ||
        number == MPI_WIN_CREATE_FLAVOR + 1 || number == MPI_WIN_MODEL + 1)
        number--;
    *flag = get_attribute(w, number, &value, &at);
    if (*flag && kind == 0) memcpy(attribute, &at, sizeof at);
    if (*flag && kind != 0) memcpy(attribute, &value, sizeof value);
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPII_Win_set_attr(MPI_Win win, int number, void *attribute, int kind) {
    struct rmai_win *w = rmai_win_of(win);
    if (!w) {
        int (*next)(MPI_Win, int, void *, int);
        rmai_win_find_in_mpi("MPII_Win_set_attr", &next);
        return next(win, number, attribute, kind);
    }
    return set_attribute(w, number, (MPI_Aint)(intptr_t)attribute, kind != 0);
}

/* The functions of this keyval are Fortran's. */
RMAI_MPI_API void MPII_Keyval_set_proxy(int number, void *copy, void *delete) {
    void (*next)(int, void *, void *);
    struct keyval **k;
    rmai_win_find_in_mpi("MPII_Keyval_set_proxy", &next);
    pthread_mutex_lock(&mutex);
    k = find_keyval(number);
    if (*k) (*k)->fortran = 1;
    pthread_mutex_unlock(&mutex);
    next(number, copy, delete);
}
#endif

/* ---- name, group ---- */

RMAI_MPI_API int MPI_Win_set_name(MPI_Win win, const char *name) {
    struct rmai_win *w = rmai_win_of(win);
    if (!w) return PMPI_Win_set_name(win, name);
    if (!name) return rmai_win_null(w, "MPI_Win_set_name", "win_name");
    snprintf(w->name, sizeof w->name, "%s", name);
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Win_get_name(MPI_Win win, char *name, int *len) {
    struct rmai_win *w = rmai_win_of(win);
    if (!w) return PMPI_Win_get_name(win, name, len);
    if (!name || !len) return rmai_win_null(w, "MPI_Win_get_name", name ? "resultlen" : "win_name");
    strcpy(name, w->name);
    *len = (int)strlen(w->name);
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Win_get_group(MPI_Win win, MPI_Group *group) {
    struct rmai_win *w = rmai_win_of(win);
    if (!w) return PMPI_Win_get_group(win, group);
    if (!group) return rmai_win_null(w, "MPI_Win_get_group", "group");
    return PMPI_Comm_group(w->comm->duplicate, group) == MPI_SUCCESS
               ? MPI_SUCCESS
               : rmai_win_error(w, MPI_ERR_OTHER, "MPI_Win_get_group: MPI cannot make a group");
}
