/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller is the first frame outside of the libraries of librma and MPI (through which Fortran calls MPI_Put). In a
 * program that is linked with librma.a there is no such border: there it is the first frame of another source file than
 * ours; or, without debugging information, what has called the last function with a name of our interfaces. */
#define _GNU_SOURCE
#include "config.h"

#include "base/caller.h"
#include "base/lines.h"

#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MOST 64

/* The executable or shared library that has an address. */
struct object {
    uintptr_t pc, bias;
    int n, found, is_program; /* dl_iterate_phdr shows the program first */
    char file[4096];
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg) {
    struct object *o = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !o->found; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        o->found = p->p_type == PT_LOAD && o->pc - info->dlpi_addr - p->p_vaddr < p->p_memsz;
    }
    if (o->found) {
        o->is_program = o->n == 0;
        o->bias = info->dlpi_addr;
        snprintf(o->file, sizeof o->file, "%s", o->is_program ? "/proc/self/exe" : info->dlpi_name);
    }
    o->n++;
    return o->found;
}

static void find_object(struct object *o, const void *pc) {
    memset(o, 0, offsetof(struct object, file) + 1);
    o->pc = (uintptr_t)pc;
    dl_iterate_phdr(look_at_object, o);
}

static int begins(const char *text, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strncmp(text, words[i], strlen(words[i]))) return 1;
    return 0;
}

static int is_library_of_ours(const struct object *o) {
    static const char *const names[] = {"librma.", "librma_", "librma-", "libmpi", "libpmpi"};
    return !o->is_program && begins(rmai_base_name(o->file), names, sizeof names / sizeof names[0]);
}

/* What starts threads, and calls functions at the end. */
static int is_system(const struct object *o) {
    static const char *const names[] = {"libc.", "libpthread", "ld-"};
    return !o->found || (!o->is_program && begins(rmai_base_name(o->file), names, sizeof names / sizeof names[0]));
}

static int has_our_name(const char *function) {
    static const char *const names[] = {"rma_", "rmai_", "prma_", "shmem", "pshmem", "MPI_", "PMPI_", "_gfortran_caf_"};
    return begins(function, names, sizeof names / sizeof names[0]);
}

static void find_frame(struct object *o, struct rmai_line *l, const void *pc) {
    find_object(o, pc);
    *l = rmai_lines_find(o->file, o->pc - 1 - o->bias);
}

/* Whether the source file is one of the library's: it is beside this one, in another folder than test/, say. */
static int is_our_source(const char *path, const char *this_file) {
    static const char own_name[] = "base/caller.c";
    static const char *const folders[] = {
        "base/", "heap/", "runtime/", "collectives/", "interfaces/shmem/", "interfaces/mpi/", "interfaces/caf/"};
    const size_t len = strlen(this_file), own = sizeof own_name - 1;
    return len >= own && !strcmp(this_file + len - own, own_name) && !strncmp(path, this_file, len - own) &&
           begins(path + len - own, folders, sizeof folders / sizeof folders[0]);
}

/* The same in a program that is linked with librma.a, from frame i on. */
static int find_caller_linked_in(void *const *frames, int i, int n, struct object *o, struct rmai_line *l) {
    struct rmai_line here;
    int after = i;
    find_frame(o, &here, (const char *)(uintptr_t)&rmai_caller_text + 1);
    for (int k = i; k < n; k++) {
        find_frame(o, l, frames[k]);
        if (!o->is_program) continue;
        if (l->where[0] && !l->own && !is_our_source(l->path, here.path)) return k;
        if (has_our_name(l->function)) after = k + 1;
    }
    if (after < n) find_frame(o, l, frames[after]);
    return after;
}

/* The frame that has called the library, from frame i on; n if there is none. Without optimization the inlined calls
 * are functions in the program. */
static int find_caller(void *const *frames, int i, int n, struct object *o, struct rmai_line *l) {
    find_object(o, (const void *)(uintptr_t)&rmai_caller_text);
    if (o->is_program) return find_caller_linked_in(frames, i, n, o, l);
    for (; i < n; i++) {
        find_object(o, frames[i]);
        if (is_library_of_ours(o)) continue;
        if (is_system(o)) return n;
        find_frame(o, l, frames[i]);
        if (!l->own && (l->where[0] || !has_our_name(l->function))) break;
    }
    return i;
}

/* The program with the offset of the call, for addr2line(1). */
static void name_offset(const struct object *o, char *text, size_t room) {
    char path[4096];
    ssize_t len = o->is_program ? readlink(o->file, path, sizeof path - 1) : -1;
    if (len >= 0)
        path[len] = '\0';
    else
        snprintf(path, sizeof path, "%s", o->file);
    snprintf(text, room, "%.200s+0x%llx", rmai_base_name(path), (unsigned long long)(o->pc - 1 - o->bias));
}

/* Returns 0 if the program has not called the library. */
static int find_program_frame(const void *from, struct object *o, struct rmai_line *l) {
    void *frames[FRAMES_MOST];
    const int n = backtrace(frames, FRAMES_MOST);
    int first = 0;
    for (int i = 0; from && i < n && !first; i++)
        if (frames[i] == from) first = i;
    return find_caller(frames, first, n, o, l) != n && strcmp(l->function, "start_thread") != 0;
}

/* "at halo.c:71, in exchange", or what is known of it: at least one of the two. */
static void write_place(const struct rmai_line *l, char *place, size_t room) {
    const char *in = l->where[0] ? ", in " : "in ";
    snprintf(place, room, "%s%s%s%s", l->where[0] ? "at " : "", l->where, l->function[0] ? in : "", l->function);
}

int rmai_caller_place(char *place, size_t room) {
    struct rmai_line l;
    struct object o;
    if (!find_program_frame(NULL, &o, &l) || !(l.where[0] || l.function[0])) return 0;
    write_place(&l, place, room);
    return 1;
}

int rmai_caller_text(const void *from, const char *text, char *line, size_t room) {
    char offset[256], place[sizeof(struct rmai_line)], subject[80] = "the statement is";
    const size_t name_len = text ? strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    struct rmai_line l;
    struct object o;
    if (!find_program_frame(from, &o, &l)) return 0;
    if (name_len > 0 && name_len < 60 && text[name_len] == ':')
        snprintf(subject, sizeof subject, "%.*s was called", (int)name_len, text);
    name_offset(&o, offset, sizeof offset);
    write_place(&l, place, sizeof place);
    if (l.where[0])
        snprintf(line, room, "%s %s", subject, place);
    else if (l.function[0])
        snprintf(line, room, "%s %s (%s); %s", subject, place, offset, rmai_lines_lack());
    else
        snprintf(line, room, "%s at %s; %s", subject, offset, rmai_lines_lack());
    return 1;
}
