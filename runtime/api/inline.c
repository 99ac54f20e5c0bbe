/* SPDX-License-Identifier: BSD-3-Clause */
/* The external definitions of the inlined calls (C11 6.7.4), to which -O0, other languages and debuggers link. */
#define RMA_INLINE_ extern inline

#include "config.h"

#include "rma.h"
