/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables of the specification. Each has an older name, which applies if the newer one is not set.
 * While librma reads its settings (rma(7)), these variables replace settings that are not set themselves. */
#include "config.h"

#include "interfaces/shmem/setup.h"
#include "runtime/interfaces.h"
#include "interfaces/shmem/define.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *variable_value(const char *name, const char *old_name) {
    const char *value = getenv(name);
    return value ? value : getenv(old_name);
}

/* Adds the overhead of blocks and of the allocator. */
static double add_heap_overhead(double bytes) { return bytes + bytes / 16 + 65536; }

/* Reads "20m", "3.1G": a positive decimal number and at most one suffix. Returns 0 if text is not of that form. */
static double parse_symmetric_size(const char *text) {
    static const char suffixes[] = "kmgt";
    const char *at;
    char *end;
    double bytes;
    if (!isdigit((unsigned char)*text) && *text != '.') return 0; /* strtod also reads signs, nan and inf, */
    if (strpbrk(text, "xXpPeE")) return 0;                        /* hex and exponents */
    bytes = strtod(text, &end);
    at = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
    if (at) {
        for (const char *s = suffixes; s <= at; s++) bytes *= 1024;
        end++;
    }
    return *end == 0 && bytes > 0 && bytes < 9e18 ? bytes : 0;
}

static struct {
    const char *name;
    int set;
} lent_settings[] = {{"RMA_HEAP_MAX", 0}, {"RMA_INFO", 0}, {"RMA_CHECK", 0}};

static char asked_size[96]; /* SHMEM_SYMMETRIC_SIZE=VALUE, as the user has written it */

static void lend_setting(int which, const char *value) {
    lent_settings[which].set = !getenv(lent_settings[which].name) && setenv(lent_settings[which].name, value, 0) == 0;
}

static const char *symmetric_size_name(void) {
    return getenv("SHMEM_SYMMETRIC_SIZE") ? "SHMEM_SYMMETRIC_SIZE" : "SMA_SYMMETRIC_SIZE";
}

int rmai_shmem_environment_begin(const char *call) {
    const char *size = variable_value("SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE");
    char text[32];
    if (size) {
        double bytes = parse_symmetric_size(size);
        if (bytes == 0)
            return rma_fail_(RMA_ERR_SETTING, "%s: %s=%s: not a positive number, alone or with k, m, g or t after it",
                             call, symmetric_size_name(), size);
        snprintf(text, sizeof text, "%.0f", add_heap_overhead(bytes));
        lend_setting(0, text);
        snprintf(asked_size, sizeof asked_size, "%s=%s", symmetric_size_name(), size);
        if (lent_settings[0].set) rma_setting_as_(lent_settings[0].name, asked_size);
    }
    if (variable_value("SHMEM_DEBUG", "SMA_DEBUG")) {
        lend_setting(1, "yes");
        lend_setting(2, "yes");
    }
    return RMA_SUCCESS;
}

void rmai_shmem_environment_late(const char *call) {
    if (rma_my_pe() != 0) return;
    if (lent_settings[0].set)
        fprintf(stderr, "librma: %s: %s has no effect, since MPI_Init or rma_init has started librma before: set %s\n",
                call, asked_size, lent_settings[0].name);
    if (lent_settings[1].set || lent_settings[2].set)
        fprintf(stderr,
                "librma: %s: SHMEM_DEBUG has no effect, since MPI_Init or rma_init has started librma before: set "
                "%s=yes and %s=yes\n",
                call, lent_settings[1].name, lent_settings[2].name);
}

void rmai_shmem_environment_end(void) {
    rma_setting_as_(NULL, NULL);
    for (size_t i = 0; i < sizeof lent_settings / sizeof lent_settings[0]; i++) {
        if (lent_settings[i].set) unsetenv(lent_settings[i].name);
        lent_settings[i].set = 0;
    }
}

void rmai_shmem_environment_inform(void) {
    if (rma_my_pe() != 0) return;
    if (variable_value("SHMEM_VERSION", "SMA_VERSION"))
        fprintf(stderr, "%s: OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    if (variable_value("SHMEM_INFO", "SMA_INFO"))
        fputs(
            "Environment variables of OpenSHMEM, each also with SMA_ for SHMEM_:\n"
            "  SHMEM_VERSION         any value: print the library's version at start\n"
            "  SHMEM_INFO            any value: print this text\n"
            "  SHMEM_SYMMETRIC_SIZE  size of each PE's symmetric heap: a number, alone or with k, m, g or t after it.\n"
            "                        RMA_HEAP_MAX, if set, counts in its place. Without both the heap grows up to the\n"
            "                        node's memory\n"
            "  SHMEM_DEBUG           any value: RMA_INFO=yes and RMA_CHECK=yes: print settings and layout at start,\n"
            "                        compare the arguments of collective calls\n"
            "Settings of librma (RMA_...): rma_info, rma(7)\n",
            stderr);
}
