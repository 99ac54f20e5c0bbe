/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/size.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets *bytes to the number times up / down. Whole numbers are computed in integers, which stay exact on machines whose
 * long double is only a double. */
static int scale_digits(const char *digits, size_t n, size_t up, size_t down, size_t *bytes) {
    __extension__ typedef unsigned __int128 wide;
    wide whole = 0;
    long double value;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)digits[i])) {
            value = strtold(digits, NULL) * (long double)up / (long double)down;
            if (value >= 18446744073709551616.0L) return -1;
            *bytes = (size_t)value;
            return 0;
        }
        unsigned digit = (unsigned)digits[i] - '0';
        whole = whole * 10u + digit;
        if (whole > UINT64_MAX) return -1;
    }
    whole = whole * up / down;
    if (whole > UINT64_MAX) return -1;
    *bytes = (size_t)whole;
    return 0;
}

int rmai_parse_size(const char *text, size_t memory, size_t *bytes) {
    static const char suffixes[] = "kmgtp";
    size_t up = 1, down = 1;
    char *end;
    while (isspace((unsigned char)*text)) text++;
    if (!isdigit((unsigned char)*text) || strpbrk(text, "xXnN")) return -1; /* strtold also reads hex, nan */
    strtold(text, &end);
    const char *stop = end;
    if (*end == '%') {
        up = memory;
        down = 100;
        end++;
    } else {
        const char *at = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
        if (at) {
            for (const char *s = suffixes; s <= at; s++) up *= 1024;
            end++;
            if (*end == 'i') end++;
        }
        if (toupper((unsigned char)*end) == 'B') end++;
    }
    while (isspace((unsigned char)*end)) end++;
    return *end ? -1 : scale_digits(text, (size_t)(stop - text), up, down, bytes);
}

const char *rmai_format_size(char buf[24], size_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t u = 0;
    if (bytes < 1024) {
        snprintf(buf, 24, "%zu B", bytes);
        return buf;
    }
    for (; value >= 1024 && u < 5; u++) value /= 1024;
    snprintf(buf, 24, value == (double)(long)value ? "%.0f %s" : "%.1f %s", value, units[u]);
    return buf;
}
