/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of the simulator's programs. */
#ifndef SIM_OPTION_H
#define SIM_OPTION_H

#include <getopt.h>
#include <string.h>

/* sim_refused_option: the option for which getopt_long has just returned '?': it is unknown, or lacks its value. */
static inline const char *sim_refused_option(char **argv) {
    static char letter[] = "-?";
    letter[1] = (char)optopt;
    return strncmp(argv[optind - 1], "--", 2) == 0 ? argv[optind - 1] : letter;
}

#endif
