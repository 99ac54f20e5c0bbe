/* SPDX-License-Identifier: BSD-3-Clause */
/* STAT=, ERRMSG= and error termination. */
#include "config.h"

#include "interfaces/caf/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rmai_caf_error_stop(int code) {
    fflush(NULL);
    if (rma_initialized()) rma_exit_(code);
    exit(code);
}

void rmai_caf_report(struct rmai_caf_result r, enum rmai_caf_stat stat, const char *format, ...) {
    char text[512], line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r.stat) {
        *r.stat = (int)stat;
        if (r.errmsg && r.errmsg_len) {
            size_t len = strlen(text);
            if (len > r.errmsg_len) len = r.errmsg_len;
            memcpy(r.errmsg, text, len);
            memset(r.errmsg + len, ' ', r.errmsg_len - len);
        }
        return;
    }
    fprintf(stderr, "Error in image %d: %s\n", rmai_caf.me + 1, text);
    if (stat != RMAI_CAF_STAT_NO_MEM && rma_caller_text_(NULL, line, sizeof line))
        fprintf(stderr, "Error in image %d: %s\n", rmai_caf.me + 1, line);
    rmai_caf_error_stop(1);
}

void rmai_caf_lost(void) {
    fprintf(stderr, "Error in image %d: %s\n", rmai_caf.me + 1, rma_last_error());
    rmai_caf_error_stop(1);
}

void *rmai_caf_memory(const char *statement, size_t size) {
    void *block = malloc(size ? size : 1);
    if (!block)
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_NO_MEM, "%s: no memory for %zu bytes", statement, size);
    return block;
}
