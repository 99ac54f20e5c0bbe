/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/face.h"
#include "base/error.h"
#include "base/settings.h"

#include <stdarg.h>
#include <stdio.h>

void rma_call_as_(const char *call) { rmai_error_as(call); }

void rma_setting_as_(const char *name, const char *text) { rmai_settings_quote(name, text); }

int rma_fail_(int code, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return rmai_raise(rmai_error(code, "%s", text));
}
