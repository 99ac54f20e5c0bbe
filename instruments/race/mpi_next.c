/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/options.h"

void *race_next(void **known, const char *name) {
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (found) return found;
    found = dlsym(RTLD_NEXT, name);
    if (!found) {
        race_say("no library has the function %s", name);
        abort();
    }
    __atomic_store_n(known, found, __ATOMIC_RELAXED);
    return found;
}
