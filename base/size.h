/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of memory as people write and read them. */
#ifndef RMAI_SIZE_H
#define RMAI_SIZE_H

#include <stddef.h>

/* rmai_parse_size reads "4096", "64k", "1.5G", "25%" (of memory) into *bytes. The suffixes k M G T P are powers of
 * 1024, their case does not matter, and a final B or iB is allowed. Returns 0, or -1 if text is not of that form, is
 * negative, or is beyond 64 bits: *bytes is then untouched. */
int rmai_parse_size(const char *text, size_t memory, size_t *bytes);

/* rmai_format_size writes bytes for human readers ("24.0 GiB", "640 B") into buf and returns buf. */
const char *rmai_format_size(char buf[24], size_t bytes);

#endif
