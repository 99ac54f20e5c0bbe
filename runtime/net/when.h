/* SPDX-License-Identifier: BSD-3-Clause */
/* What the caller of a put or get does next. */
#ifndef RMAI_WHEN_H
#define RMAI_WHEN_H

enum rmai_when {
    RMAI_NOW,   /* waits: source is free, dest filled, when the call returns */
    RMAI_LATER, /* goes on: until quiet source is in use, dest not filled */
    RMAI_COPIED /* goes on, and source is free at once: it is small enough to be copied */
};

#endif
