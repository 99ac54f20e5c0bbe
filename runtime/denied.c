/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/denied.h"
#include "base/error.h"
#include "base/size.h"
#include "runtime/world.h"

void rmai_denied(const char *call, size_t size) {
    rmai_world.denied.call = rmai_error_name(call);
    rmai_world.denied.size = size;
}

int rmai_null_pointer(int code, const char *call, const char *argument) {
    char size[24];
    if (!rmai_world.denied.call) return rmai_error(code, "%s: %s is a null pointer", call, argument);
    return rmai_error(code, "%s: %s is a null pointer: an earlier %s of %s had no memory", call, argument,
                      rmai_world.denied.call, rmai_format_size(size, rmai_world.denied.size));
}
