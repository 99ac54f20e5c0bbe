/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/kept_types.h"
#include "interfaces/mpi/attributes.h"
#include "interfaces/mpi/state.h"
#include "interfaces/mpi/types.h"

#include <string.h>

/* The arguments of the call that makes a type. Only types made of predefined ones are kept: the handle of another one
 * may become that of a different type. */
#define ARGUMENTS 16
struct key {
    enum constructor { CONTIGUOUS, VECTOR, HVECTOR, SUBARRAY } constructor;
    int n; /* arguments */
    MPI_Datatype element;
    int64_t argument[ARGUMENTS];
};

struct kept {
    MPI_Datatype handle; /* MPI_DATATYPE_NULL: the place is empty */
    struct key key;
};

/* `live`: types that the program has, by handle. One that loses its place to another one is not kept later. `idle`:
 * types that it has freed, in sets by key; a new one replaces that which has been there longest. */
#define LIVE 128
#define SETS 32
#define WAYS 4
static struct kept live[LIVE];
static struct set {
    struct kept way[WAYS];
    unsigned next; /* to be replaced */
} idle[SETS];
static int used; /* 1: the tables are set up */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_types(void) {
    if (rmai_win_threads) pthread_mutex_lock(&mutex);
    if (used) return;
    for (int i = 0; i < LIVE; i++) live[i].handle = MPI_DATATYPE_NULL;
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < WAYS; k++) idle[i].way[k].handle = MPI_DATATYPE_NULL;
    used = 1;
}

static void unlock_types(void) {
    if (rmai_win_threads) pthread_mutex_unlock(&mutex);
}

static struct kept *live_place(MPI_Datatype handle) { return &live[rmai_datatype_place(handle) % LIVE]; }

static struct set *set_of(const struct key *k) {
    uint64_t hash = (uint64_t)k->constructor + 1;
    for (int i = 0; i < k->n; i++) hash = (hash ^ (uint64_t)k->argument[i]) * 0x9e3779b97f4a7c15u;
    return &idle[hash >> 59];
}
_Static_assert(SETS == 1 << 5, "a set is five bits of the hash");

static int same_key(const struct key *a, const struct key *b) {
    return a->constructor == b->constructor && a->n == b->n && a->element == b->element &&
           memcmp(a->argument, b->argument, (size_t)a->n * sizeof a->argument[0]) == 0;
}

/* 1 if a type with this key may be kept. */
static int may_keep(const struct key *k) {
    const struct rmai_datatype *t;
    if (!rmai_win_running || k->element == MPI_DATATYPE_NULL) return 0;
    t = rmai_datatype_of(k->element);
    return t && t->predefined;
}

/* Gives the program a type that is kept. Returns 0 if there is none. */
static int take(const struct key *k, MPI_Datatype *type) {
    struct set *set = set_of(k);
    for (int i = 0; i < WAYS; i++) {
        struct kept *way = &set->way[i];
        if (way->handle == MPI_DATATYPE_NULL || !same_key(&way->key, k)) continue;
        *live_place(way->handle) = *way;
        *type = way->handle;
        way->handle = MPI_DATATYPE_NULL;
        return 1;
    }
    return 0;
}

static struct kept *find_idle(MPI_Datatype handle) {
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < WAYS; k++)
            if (idle[i].way[k].handle == handle) return &idle[i].way[k];
    return NULL;
}

/* Keeps the type in a place of `live`. Returns the type that had its place among the idle ones, or
 * MPI_DATATYPE_NULL. */
static MPI_Datatype keep(struct kept *type) {
    struct set *set = set_of(&type->key);
    struct kept *way = NULL;
    MPI_Datatype old;
    for (int i = 0; i < WAYS && !way; i++)
        if (set->way[i].handle == MPI_DATATYPE_NULL) way = &set->way[i];
    if (!way) way = &set->way[set->next++ % WAYS];
    old = way->handle;
    *way = *type;
    type->handle = MPI_DATATYPE_NULL;
    return old;
}

/* ---- the calls that make types ---- */

static void add_arguments(struct key *k, int n, const int *values) {
    for (int i = 0; i < n; i++) k->argument[k->n++] = values[i];
}

/* The call with key k, which MAKES the type if none is kept. */
#define MAKE(k, MAKES)                                                                                                 \
    do {                                                                                                               \
        int code_, taken_;                                                                                             \
        if (!may_keep(&(k))) return MAKES;                                                                             \
        lock_types();                                                                                                  \
        taken_ = take(&(k), type);                                                                                     \
        unlock_types();                                                                                                \
        if (taken_) return MPI_SUCCESS;                                                                                \
        code_ = MAKES;                                                                                                 \
        if (code_ != MPI_SUCCESS) return code_;                                                                        \
        lock_types();                                                                                                  \
        *live_place(*type) = (struct kept){*type, k};                                                                  \
        unlock_types();                                                                                                \
        return MPI_SUCCESS;                                                                                            \
    } while (0)

RMAI_MPI_API int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype *type) {
    const struct key k = {CONTIGUOUS, 1, old, {count}};
    MAKE(k, PMPI_Type_contiguous(count, old, type));
}

RMAI_MPI_API int MPI_Type_vector(int count, int len, int stride, MPI_Datatype old, MPI_Datatype *type) {
    const struct key k = {VECTOR, 3, old, {count, len, stride}};
    MAKE(k, PMPI_Type_vector(count, len, stride, old, type));
}

RMAI_MPI_API int MPI_Type_create_hvector(int count, int len, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *type) {
    const struct key k = {HVECTOR, 3, old, {count, len, (int64_t)stride}};
    MAKE(k, PMPI_Type_create_hvector(count, len, stride, old, type));
}

RMAI_MPI_API int MPI_Type_create_subarray(int dims, const int *sizes, const int *parts, const int *starts, int order,
                                          MPI_Datatype old, MPI_Datatype *type) {
    struct key k = {SUBARRAY, 1, old, {order}};
    if (dims < 1 || 1 + 3 * dims > ARGUMENTS || !sizes || !parts || !starts)
        return PMPI_Type_create_subarray(dims, sizes, parts, starts, order, old, type);
    add_arguments(&k, dims, sizes);
    add_arguments(&k, dims, parts);
    add_arguments(&k, dims, starts);
    MAKE(k, PMPI_Type_create_subarray(dims, sizes, parts, starts, order, old, type));
}

/* ---- what a program can change of a type, and its end ---- */

/* The type will not be kept: it has attributes or a name, or there is another reference to it. */
static void stop_keeping(MPI_Datatype handle) {
    MPI_Datatype frees = MPI_DATATYPE_NULL;
    struct kept *k;
    if (!rmai_win_running || handle == MPI_DATATYPE_NULL) return;
    lock_types();
    if (live_place(handle)->handle == handle) live_place(handle)->handle = MPI_DATATYPE_NULL;
    k = find_idle(handle);
    if (k) {
        frees = handle;
        k->handle = MPI_DATATYPE_NULL;
    }
    unlock_types();
    if (frees != MPI_DATATYPE_NULL) PMPI_Type_free(&frees);
}

RMAI_MPI_API int MPI_Type_set_attr(MPI_Datatype type, int keyval, void *value) {
    stop_keeping(type);
    return PMPI_Type_set_attr(type, keyval, value);
}

#ifdef MPICH_VERSION
/* Fortran's MPI_Type_set_attr calls it, with a kind that is not 0; and so does C's, for librma's own attribute, too. */
RMAI_MPI_API int MPII_Type_set_attr(MPI_Datatype type, int keyval, void *value, int kind);
RMAI_MPI_API int MPII_Type_set_attr(MPI_Datatype type, int keyval, void *value, int kind) {
    int (*next)(MPI_Datatype, int, void *, int);
    rmai_win_find_in_mpi("MPII_Type_set_attr", &next);
    if (kind != 0) stop_keeping(type);
    return next(type, keyval, value, kind);
}
#endif

RMAI_MPI_API int MPI_Type_set_name(MPI_Datatype type, const char *name) {
    stop_keeping(type);
    return PMPI_Type_set_name(type, name);
}

/* The program gets references to the types of which a type was made, and frees them. */
RMAI_MPI_API int MPI_Type_get_contents(MPI_Datatype type, int max_integers, int max_addresses, int max_types,
                                       int *integers, MPI_Aint *addresses, MPI_Datatype *types) {
    int n_integers, n_addresses, n_types, combiner;
    int code = PMPI_Type_get_contents(type, max_integers, max_addresses, max_types, integers, addresses, types);
    if (code != MPI_SUCCESS || !rmai_win_running) return code;
    code = PMPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner);
    for (int i = 0; code == MPI_SUCCESS && i < n_types; i++) stop_keeping(types[i]);
    return code;
}

#if MPI_VERSION >= 4
RMAI_MPI_API int MPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses,
                                         MPI_Count max_counts, MPI_Count max_types, int *integers, MPI_Aint *addresses,
                                         MPI_Count *counts, MPI_Datatype *types) {
    MPI_Count n_integers, n_addresses, n_counts, n_types;
    int combiner, code = PMPI_Type_get_contents_c(type, max_integers, max_addresses, max_counts, max_types, integers,
                                                  addresses, counts, types);
    if (code != MPI_SUCCESS || !rmai_win_running) return code;
    code = PMPI_Type_get_envelope_c(type, &n_integers, &n_addresses, &n_counts, &n_types, &combiner);
    for (MPI_Count i = 0; code == MPI_SUCCESS && i < n_types; i++) stop_keeping(types[i]);
    return code;
}
#endif

RMAI_MPI_API int MPI_Type_free(MPI_Datatype *type) {
    MPI_Datatype other = MPI_DATATYPE_NULL;
    int kept, idles;
    if (!rmai_win_running || !type || *type == MPI_DATATYPE_NULL) return PMPI_Type_free(type);
    lock_types();
    kept = live_place(*type)->handle == *type;
    idles = !kept && find_idle(*type);
    if (kept) other = keep(live_place(*type));
    unlock_types();
    if (idles) return PMPI_Type_free(&other); /* the program frees it again, and MPI reports that it is no type */
    if (!kept) return PMPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
    return other == MPI_DATATYPE_NULL ? MPI_SUCCESS : PMPI_Type_free(&other);
}

void rmai_kept_types_free(void) {
    lock_types();
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < WAYS; k++)
            if (idle[i].way[k].handle != MPI_DATATYPE_NULL) PMPI_Type_free(&idle[i].way[k].handle);
    used = 0;
    unlock_types();
}
