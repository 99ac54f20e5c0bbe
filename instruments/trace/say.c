/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/trace/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* In one write, so that the lines of several PEs do not mix. */
void trace_say(const char *format, ...) {
    char text[6000];
    int n, at = snprintf(text, sizeof text, "rma_trace: ");
    va_list args;
    va_start(args, format);
    n = vsnprintf(text + at, sizeof text - (size_t)at - 1, format, args);
    va_end(args);
    if (n < 0) return;
    at += n < (int)sizeof text - at - 2 ? n : (int)sizeof text - at - 2;
    text[at++] = '\n';
    while (write(STDERR_FILENO, text, (size_t)at) < 0 && errno == EINTR) continue;
}
