/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/types.h"
#include "interfaces/mpi/describe.h"
#include "interfaces/mpi/state.h"

#include <pthread.h>
#include <stdlib.h>

struct rmai_datatype *_Atomic rmai_datatype_cache[RMAI_DATATYPE_CACHE];

/* Recursive, because MPI may call forget_type while a thread describes another type. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int keyval = MPI_KEYVAL_INVALID;
static struct rmai_datatype *unused; /* structs of types that were freed */

/* MPI calls this when a type is freed: another type may get its handle. */
static int forget_type(MPI_Datatype handle, int key, void *type, void *extra) {
    struct rmai_datatype *t = type, *expected = t;
    (void)key, (void)extra;
    pthread_mutex_lock(&mutex);
    atomic_compare_exchange_strong(&rmai_datatype_cache[rmai_datatype_place(handle)], &expected, NULL);
    free(t->blocks);
    t->blocks = NULL;
    __atomic_store_n(&t->handle, MPI_DATATYPE_NULL, __ATOMIC_RELAXED);
    t->next = unused;
    unused = t;
    pthread_mutex_unlock(&mutex);
    return MPI_SUCCESS;
}

/* 1 if the handle is a committed type: MPI returns an error otherwise. */
static int is_type(MPI_Datatype handle) {
    char from[8] = {0}, to[8];
    int at = 0;
    return PMPI_Pack(from, 0, handle, to, sizeof to, &at, rmai_win_self) == MPI_SUCCESS;
}

static struct rmai_datatype *find_type(MPI_Datatype handle) {
    struct rmai_datatype *t = NULL, found;
    int has = 0;
    if (keyval == MPI_KEYVAL_INVALID &&
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_type, &keyval, NULL) != MPI_SUCCESS)
        return NULL;
    if (PMPI_Type_get_attr(handle, keyval, &t, &has) == MPI_SUCCESS && has) return t;
    if (!rmai_datatype_describe(handle, &found)) return NULL;
    t = unused;
    if (t)
        unused = t->next;
    else
        t = malloc(sizeof *t);
    if (t) {
        /* Another thread may still have the struct from the cache, for the type whose it was: it looks at the handle.
         */
        found.handle = MPI_DATATYPE_NULL;
        *t = found;
        __atomic_store_n(&t->handle, handle, __ATOMIC_RELEASE);
    }
    if (t && PMPI_Type_set_attr(handle, keyval, t) == MPI_SUCCESS) return t;
    free(found.blocks);
    free(t);
    return NULL;
}

struct rmai_datatype *rmai_datatype_slow(MPI_Datatype handle) {
    struct rmai_datatype *t;
    if (handle == MPI_DATATYPE_NULL || !is_type(handle)) return NULL;
    pthread_mutex_lock(&mutex);
    t = find_type(handle);
    if (t) atomic_store_explicit(&rmai_datatype_cache[rmai_datatype_place(handle)], t, memory_order_release);
    pthread_mutex_unlock(&mutex);
    return t;
}
