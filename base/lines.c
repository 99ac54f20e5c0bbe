/* SPDX-License-Identifier: BSD-3-Clause */
/* The last file stays open: its places are asked for one after the other, and opening it takes most of the time. */
#define _GNU_SOURCE
#include "config.h"

#include "base/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rmai_lines_cut(const char *made, char *name, size_t room) {
    const char *end = strstr(made, " [clone "), *dot = strchr(made, '.');
    size_t len = end ? (size_t)(end - made) : strlen(made);
    if (!strncmp(made, ".omp_", 5)) {
        snprintf(name, room, "a parallel region");
        return;
    }
    if (!strchr(made, '(') && dot && dot > made) len = (size_t)(dot - made);
    snprintf(name, room, "%.*s", (int)len, made);
}

#if HAVE_ELFUTILS_LIBDWFL_H && HAVE_DWARF_H

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <pthread.h>

#define FUNCTIONS(F)                                                                                                   \
    F(dwarf_attr)                                                                                                      \
    F(dwarf_attr_integrate)                                                                                            \
    F(dwarf_diename)                                                                                                   \
    F(dwarf_filesrc)                                                                                                   \
    F(dwarf_formstring)                                                                                                \
    F(dwarf_formudata)                                                                                                 \
    F(dwarf_getscopes)                                                                                                 \
    F(dwarf_getscopes_die)                                                                                             \
    F(dwarf_getsrc_die)                                                                                                \
    F(dwarf_getsrcfiles)                                                                                               \
    F(dwarf_haspc)                                                                                                     \
    F(dwarf_lineno)                                                                                                    \
    F(dwarf_linesrc)                                                                                                   \
    F(dwarf_tag)                                                                                                       \
    F(dwfl_begin)                                                                                                      \
    F(dwfl_end)                                                                                                        \
    F(dwfl_module_addrdie)                                                                                             \
    F(dwfl_module_addrname)                                                                                            \
    F(dwfl_module_nextcu)                                                                                              \
    F(dwfl_report_elf)                                                                                                 \
    F(dwfl_report_end)                                                                                                 \
    F(dwfl_standard_find_debuginfo)

static struct {
#define MEMBER(NAME) __typeof__(&NAME) NAME;
    FUNCTIONS(MEMBER)
} dw;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static enum { NOT_TRIED, LOADED, ABSENT } libdw;

static void load_libdw(void) {
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    int complete = library != NULL;
#define FIND(NAME)                                                                                                     \
    if (complete && !(*(void **)(void *)&dw.NAME = dlsym(library, #NAME))) complete = 0;
    FUNCTIONS(FIND)
    libdw = complete ? LOADED : ABSENT;
}

/* Debugging information in a file of its own. With DEBUGINFOD_URLS, libdw would ask servers, for up to minutes: a job
 * that ends because of an error must not wait for them. */
static int find_separate(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                         const char *link, GElf_Word checksum, char **found) {
    if (getenv("DEBUGINFOD_URLS")) return -1;
    return dw.dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, found);
}

/* The file that was asked about last. */
static struct {
    char name[4096];
    Dwfl *session;
    Dwfl_Module *module;
} last;

static Dwfl_Module *open_file(const char *file) {
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = find_separate};
    if (last.session && !strcmp(file, last.name)) return last.module;
    if (last.session) dw.dwfl_end(last.session);
    last.module = NULL;
    snprintf(last.name, sizeof last.name, "%s", file);
    if (!(last.session = dw.dwfl_begin(&callbacks))) return NULL;
    /* With base 0 the addresses are those in the file. */
    last.module = dw.dwfl_report_elf(last.session, file, file, -1, 0, 1);
    if (dw.dwfl_report_end(last.session, NULL, NULL)) last.module = NULL;
    return last.module;
}

/* The readable form of C++'s name, by C++'s own library. */
static void demangle(const char *mangled, char *name, size_t room) {
    static char *(*function)(const char *, char *, size_t *, int *);
    void *library = function ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    char *plain;
    int status = 0;
    if (library) *(void **)(void *)&function = dlsym(library, "__cxa_demangle");
    plain = function ? function(mangled, NULL, NULL, &status) : NULL;
    rmai_lines_cut(plain && !status ? plain : mangled, name, room);
    free(plain);
}

static void name_symbol(const char *symbol, char *name, size_t room) {
    if (symbol && !strncmp(symbol, "_Z", 2))
        demangle(symbol, name, room);
    else
        rmai_lines_cut(symbol ? symbol : "", name, room);
}

/* The name of a function, or of an inlined copy of one. C++'s plain names lack the class. */
static void name_function(Dwarf_Die *die, char *name, size_t room) {
    Dwarf_Attribute attribute;
    const char *linkage = dw.dwarf_formstring(dw.dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    name_symbol(linkage && !strncmp(linkage, "_Z", 2) ? linkage : dw.dwarf_diename(die), name, room);
}

/* The user knows only the callers of functions of librma's headers, and of C++'s and the compiler's. */
static int is_own_header(const char *path) {
    static const char *const own[] = {"shmem.h",     "shmemx.h",     "shmem_table.h", "rma.h",
                                      "rma_typed.h", "rma_inline.h", "rma_complex.h"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (!strcmp(rmai_base_name(path), own[i])) return 1;
    return strstr(path, "/include/c++/") || strstr(path, "/lib/gcc/");
}

static void set_where(struct rmai_line *l, const char *path, unsigned line) {
    snprintf(l->where, sizeof l->where, "%.*s:%u", (int)sizeof l->where - 12, rmai_base_name(path), line);
    snprintf(l->path, sizeof l->path, "%s", path);
    l->own = is_own_header(path);
}

static unsigned attribute_number(Dwarf_Die *die, unsigned attribute_name) {
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    return dw.dwarf_formudata(dw.dwarf_attr(die, attribute_name, &attribute), &number) ? 0 : (unsigned)number;
}

/* Where an inlined copy is called. Returns 0 if that is not known. */
static int set_call_site(struct rmai_line *l, Dwarf_Die *unit, Dwarf_Die *copy) {
    const unsigned file = attribute_number(copy, DW_AT_call_file), line = attribute_number(copy, DW_AT_call_line);
    const char *path;
    Dwarf_Files *files;
    if (!line || dw.dwarf_getsrcfiles(unit, &files, NULL)) return 0;
    if (!(path = dw.dwarf_filesrc(files, file, NULL, NULL))) return 0;
    set_where(l, path, line);
    return 1;
}

/* From the innermost function outwards: its name, and whether the user knows it; else the place is the call of it. */
static void name_functions(struct rmai_line *l, Dwarf_Die *unit, Dwarf_Addr address) {
    Dwarf_Die *innermost = NULL, *scopes = NULL;
    int n = dw.dwarf_getscopes(unit, address, &innermost) > 0 ? dw.dwarf_getscopes_die(innermost, &scopes) : 0;
    for (int i = 0; i < n; i++) {
        const int tag = dw.dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine && tag != DW_TAG_entry_point) continue;
        name_function(&scopes[i], l->function, sizeof l->function);
        if (!l->own || tag != DW_TAG_inlined_subroutine || !set_call_site(l, unit, &scopes[i])) break;
    }
    free(scopes);
    free(innermost);
}

/* The table of addresses, which gcc writes, tells the unit at once; without it, as of clang, all units are asked. */
static Dwarf_Die *find_unit(Dwfl_Module *module, uint64_t address, Dwarf_Addr *bias) {
    Dwarf_Die *unit = dw.dwfl_module_addrdie(module, address, bias);
    if (unit) return unit;
    while ((unit = dw.dwfl_module_nextcu(module, unit, bias)))
        if (dw.dwarf_haspc(unit, address - *bias) > 0) return unit;
    return NULL;
}

static void find(struct rmai_line *l, const char *file, uint64_t address) {
    Dwfl_Module *module = open_file(file);
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit;
    if (!module) return;
    if ((unit = find_unit(module, address, &bias))) {
        Dwarf_Line *line = dw.dwarf_getsrc_die(unit, address - bias);
        const char *path = line ? dw.dwarf_linesrc(line, NULL, NULL) : NULL;
        int number = 0;
        if (path && !dw.dwarf_lineno(line, &number) && number > 0) set_where(l, path, (unsigned)number);
        name_functions(l, unit, address - bias);
    }
    if (!l->function[0]) name_symbol(dw.dwfl_module_addrname(module, address), l->function, sizeof l->function);
}

struct rmai_line rmai_lines_find(const char *file, uint64_t address) {
    struct rmai_line l = {"", "", "", 0};
    pthread_mutex_lock(&mutex);
    if (libdw == NOT_TRIED) load_libdw();
    if (libdw == LOADED) find(&l, file, address);
    pthread_mutex_unlock(&mutex);
    return l;
}

const char *rmai_lines_lack(void) {
    return libdw == ABSENT ? "install libdw (elfutils; Debian package libdw1) for file and line"
                           : "compile with -g for file and line";
}

#else

struct rmai_line rmai_lines_find(const char *file, uint64_t address) {
    (void)file;
    (void)address;
    return (struct rmai_line){"", "", "", 0};
}

const char *rmai_lines_lack(void) { return "librma was built without libdw, which reads file and line"; }

#endif
