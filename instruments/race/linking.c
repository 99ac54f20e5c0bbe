/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/linking.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/race/host.h"
#include "instruments/race/options.h"

int race_is_behind;

/* The file of another library that has a function of this name before this one; or NULL. The program itself may have
 * one, too: its name for the function's address. */
static const char *taker_of(const char *name) {
    const void *first = dlsym(RTLD_DEFAULT, name);
    struct link_map *map;
    Dl_info mine, theirs;
    if (!first || !dladdr1(first, &theirs, (void **)&map, RTLD_DL_LINKMAP) || !map->l_name[0]) return NULL;
    if (!dladdr((const void *)&race_is_behind, &mine) || theirs.dli_fbase == mine.dli_fbase) return NULL;
    return theirs.dli_fname;
}

/* Each process says so, but for those whose launcher has told them that they are not the first one. */
static __attribute__((constructor)) void check_place(void) {
    const char *rank = getenv("PMI_RANK"), *taker = NULL;
    for (int i = 0; race_host_calls[i] && !taker; i++) taker = taker_of(race_host_calls[i]);
    if (!taker) {
        race_host_announce();
        return;
    }
    race_is_behind = 1;
    if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMIX_RANK");
    if ((!rank || !strcmp(rank, "0")) && race_options_wanted())
        race_say("the program's calls go to %s, which comes before the detector: no races are looked for; %s", taker,
                 race_host_remedy);
}
