/* SPDX-License-Identifier: BSD-3-Clause */
/* File, line and function of an instruction, from the debugging information of the program (DWARF, read by libdw of
 * elfutils). For the texts of errors and the reports of instruments/race/ and instruments/trace/, which have it
 * compiled in.
 *
 * libdw is loaded by dlopen(3) when the first place is asked for: nothing is linked with it, and programs without
 * errors do not load it. */
#ifndef RMAI_LINES_H
#define RMAI_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* rmai_base_name: the path without its folders. */
static inline const char *rmai_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct rmai_line {
    char where[160];    /* "halo.c:71"; "" if not known */
    char function[120]; /* in which it is, as the user knows it; "" if not known */
    char path[512];     /* of the source file, as the compiler was told; "" if not known */
    int own;            /* it is in a header of librma: an inlined call that the compiler has left a function */
};

/* rmai_lines_find: the place of the instruction at `address` of `file`, an executable or a shared library; addresses
 * are those in the file. Of functions that are inlined there, the innermost one that is not librma's, the compiler's or
 * C++'s. A return address follows its call: ask for the byte before it. Any thread may call it. */
struct rmai_line rmai_lines_find(const char *file, uint64_t address);

/* rmai_lines_lack: what the user can do where a place is not known: "compile with -g for file and line", or "install
 * libdw1 ..." */
const char *rmai_lines_lack(void);

/* rmai_lines_cut: the user's part of a name that a compiler has made: main of main._omp_fn.0, f of f.constprop.0, count
 * of count.1; "a parallel region" for those of clang. */
void rmai_lines_cut(const char *made, char *name, size_t room);

#endif
