/* SPDX-License-Identifier: BSD-3-Clause */
/* A note of a call that may take long, which another thread can read. */
#ifndef RMAI_NOTE_H
#define RMAI_NOTE_H

#include <stdint.h>

struct rma_note_ {
    uint32_t version; /* odd while a thread is in `call` */
    const char *call;
};

#endif
