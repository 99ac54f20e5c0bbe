/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/call_lists/next.h"

#include <dlfcn.h>
#include <stdlib.h>

void *calls_next(void **known, const char *name, void (*say)(const char *format, ...)) {
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (found) return found;
    found = dlsym(RTLD_NEXT, name);
    if (!found) {
        say("no library has the function %s", name);
        abort();
    }
    __atomic_store_n(known, found, __ATOMIC_RELAXED);
    return found;
}
