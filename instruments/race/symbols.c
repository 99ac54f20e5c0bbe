/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lines.h"
#include "instruments/race/job.h"
#include "instruments/race/places.h"
#include "instruments/race/report.h"

/* address: a return address, which follows its call: its line may be that of the next statement. */
static void name_place(const char *file, const char *shown, uint64_t address, char *place, size_t room, char *function,
                       size_t function_room) {
    const struct rmai_line l = rmai_lines_find(file, address - 1);
    if (l.where[0])
        snprintf(place, room, "%s", l.where);
    else
        snprintf(place, room, "%s+0x%llx", rmai_base_name(shown), (unsigned long long)address);
    snprintf(function, function_room, "%s", l.function);
}

void race_symbols_place(uint32_t number, char *place, size_t room, char *function, size_t function_room) {
    char path[4096];
    int main, pe;
    uint64_t pc = race_place_pc(number, &main, &pe);
    Dl_info info;
    function[0] = '\0';
    if (main) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
        name_place("/proc/self/exe", path, pc + race_job.program - race_job.program_bias, place, room, function,
                   function_room);
    } else if (pe == race_job.my_pe && dladdr((void *)(uintptr_t)pc, &info) && info.dli_fname) {
        name_place(info.dli_fname, info.dli_fname, pc - (uintptr_t)info.dli_fbase, place, room, function,
                   function_room);
        if (!function[0] && info.dli_sname) rmai_lines_cut(info.dli_sname, function, function_room);
    } else
        snprintf(place, room, "0x%llx of %s %d, in a library", (unsigned long long)pc, race_pe_word(),
                 race_pe_number(pe));
}

/* The user's name of a variable: a static one of a function is count.1 for gcc, and main.count or main.count.1 for
 * clang. */
static void name_variable(const char *made, char *name, size_t room) {
    size_t len = strlen(made), start;
    while (len > 1 && made[len - 1] >= '0' && made[len - 1] <= '9') {
        size_t digits = len;
        while (digits > 1 && made[digits - 1] >= '0' && made[digits - 1] <= '9') digits--;
        if (digits < 2 || made[digits - 1] != '.') break;
        len = digits - 1;
    }
    for (start = len; start > 0 && made[start - 1] != '.';) start--;
    snprintf(name, room, "%.*s", (int)(len - start), made + start);
}

/* C++'s own function, if the program is C++. */
extern char *__cxa_demangle(const char *mangled, char *room, size_t *len, int *status) __attribute__((weak));

static void demangle(const char *mangled, char *name, size_t room) {
    char *plain = NULL;
    int status = 0;
    if (__cxa_demangle && !strncmp(mangled, "_Z", 2)) plain = __cxa_demangle(mangled, NULL, NULL, &status);
    if (plain && !status)
        rmai_lines_cut(plain, name, room);
    else
        name_variable(mangled, name, room);
    free(plain);
}

/* The main program's file, mapped read-only. */
struct program {
    char *file;
    size_t len;
    const Elf64_Shdr *sections;
    int n_sections;
};

static int open_file(struct program *p, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const Elf64_Ehdr *e;
    struct stat st;
    if (fd < 0) return 0;
    p->file = fstat(fd, &st) ? MAP_FAILED : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (p->file == MAP_FAILED) return 0;
    p->len = (size_t)st.st_size;
    e = (const Elf64_Ehdr *)(const void *)p->file;
    p->sections = (const Elf64_Shdr *)(const void *)(p->file + e->e_shoff);
    p->n_sections = e->e_shoff ? e->e_shnum : 0;
    return 1;
}

static int open_program(struct program *p) { return open_file(p, "/proc/self/exe"); }

static void close_program(struct program *p) { munmap(p->file, p->len); }

/* The symbols of a section, if it has any, and their names. */
static const Elf64_Sym *symbols_of(const struct program *p, int i, size_t *n, const char **strings) {
    const Elf64_Shdr *s = &p->sections[i];
    if (s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM) return NULL;
    *n = s->sh_size / sizeof(Elf64_Sym);
    *strings = p->file + p->sections[s->sh_link].sh_offset;
    return (const Elf64_Sym *)(const void *)(p->file + s->sh_offset);
}

int race_symbols_variable(uintptr_t addr, char *name, size_t room, size_t *size, size_t *offset) {
    uint64_t wanted = addr - race_job.program_bias;
    struct program p;
    int found = 0;
    if (!open_program(&p)) return 0;
    for (int i = 0; i < p.n_sections && !found; i++) {
        const char *strings;
        size_t n = 0;
        const Elf64_Sym *symbols = symbols_of(&p, i, &n, &strings);
        for (size_t k = 0; symbols && k < n && !found; k++) {
            const Elf64_Sym *s = &symbols[k];
            if (ELF64_ST_TYPE(s->st_info) != STT_OBJECT || wanted < s->st_value || wanted >= s->st_value + s->st_size)
                continue;
            demangle(strings + s->st_name, name, room);
            *size = s->st_size;
            *offset = wanted - s->st_value;
            found = 1;
        }
    }
    close_program(&p);
    return found;
}

int race_symbols_variable_of(const void *word, char *name, size_t room) {
    struct program p;
    int found = 0;
    if (!open_program(&p)) return 0;
    for (int i = 0; i < p.n_sections && !found; i++) {
        const char *strings;
        size_t n = 0;
        const Elf64_Sym *symbols = symbols_of(&p, i, &n, &strings);
        for (size_t k = 0; symbols && k < n && !found; k++) {
            const uintptr_t at = symbols[k].st_value + race_job.program_bias;
            const char *made = strings + symbols[k].st_name, *module = strstr(made, "_MOD_");
            if (ELF64_ST_TYPE(symbols[k].st_info) != STT_OBJECT || symbols[k].st_size < sizeof word) continue;
            if (at - race_job.statics > race_job.statics_len - sizeof word || strstr(made, "caf_token")) continue;
            if (memcmp((const void *)at, &word, sizeof word) != 0) continue;
            name_variable(module ? module + strlen("_MOD_") : made, name, room);
            found = 1;
        }
    }
    close_program(&p);
    return found;
}

/* Files of the compiler and the C library, and groups of symbols that belong to no file. */
static int is_own_file(const char *name) {
    static const char *const own[] = {"crtstuff.c", "offloadstuff.c",   "lse-init.c",
                                      "abi-note.c", "init.c",           "elf-init.c",
                                      "atexit.c",   "tsan_preinit.cpp", ""};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (!strcmp(name, own[i])) return 1;
    return n > 2 && !strcmp(name + n - 2, ".o");
}

/* The names of the constructors that gcc and clang add to each file that they instrument. */
static int is_constructor(const char *name) {
    return !strncmp(name, "_sub_I_00099", 12) || !strncmp(name, "tsan.module_ctor", 16);
}

struct uninstrumented {
    char *names;
    size_t room, used;
    int count;
};

static void add_name(struct uninstrumented *u, const char *name) {
    if (u->used < u->room)
        u->used += (size_t)snprintf(u->names + u->used, u->room - u->used, "%s%s", u->count ? ", " : "", name);
    u->count++;
}

/* Adds the source files of a program or library that were compiled without --race. Returns 0 if all were. */
static int add_files(const struct program *p, struct uninstrumented *u) {
    int known = 0;
    for (int i = 0; i < p->n_sections; i++) {
        const char *strings, *file = "";
        size_t n = 0;
        const Elf64_Sym *symbols = symbols_of(p, i, &n, &strings);
        int instrumented = 1;
        /* A file's local symbols follow its name; global symbols come after all files. */
        for (size_t k = 0; symbols && k <= n; k++) {
            const Elf64_Sym *s = k < n ? &symbols[k] : NULL;
            const char *name = s ? strings + s->st_name : "";
            if (!strcmp(name, "__tsan_init")) known = 1;
            if (s && is_constructor(name)) instrumented = 1;
            if (s && ELF64_ST_TYPE(s->st_info) != STT_FILE) continue;
            if (!instrumented && !is_own_file(file)) add_name(u, file);
            file = name;
            instrumented = 0;
        }
    }
    return known;
}

/* Whether a library calls the functions whose accesses the detector watches: shmem_, rma_, those of windows. */
static int calls_interface(const struct program *p) {
    static const char *const calls[] = {"shmem_", "rma_", "MPI_Win_", "MPI_Put", "MPI_Get", "MPI_Accumulate"};
    for (int i = 0; i < p->n_sections; i++) {
        const char *strings;
        size_t n = 0;
        const Elf64_Sym *symbols = symbols_of(p, i, &n, &strings);
        for (size_t k = 0; symbols && k < n; k++)
            for (size_t c = 0; c < sizeof calls / sizeof calls[0] && symbols[k].st_shndx == SHN_UNDEF; c++)
                if (!strncmp(strings + symbols[k].st_name, calls[c], strlen(calls[c]))) return 1;
    }
    return 0;
}

/* Adds the files of a library, or if it has none with --race its name. librma's and MPI's own count as instrumented. */
static void add_library(const char *path, int callers_only, struct uninstrumented *u) {
    static const char *const own[] = {"librma", "libmpi", "libpmpi", "libopen-", "libtsan"};
    const char *name = rmai_base_name(path);
    struct uninstrumented files = *u;
    struct program p;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (!strncmp(name, own[i], strlen(own[i]))) return;
    if (!open_file(&p, path)) return;
    if (!callers_only || calls_interface(&p)) {
        if (add_files(&p, &files))
            *u = files;
        else
            add_name(u, name);
    }
    close_program(&p);
}

/* A part of the program may be a library. */
static int add_loaded(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    if (info->dlpi_name && strstr(rmai_base_name(info->dlpi_name), ".so")) add_library(info->dlpi_name, 1, arg);
    return 0;
}

int race_symbols_uninstrumented(char *names, size_t room) {
    struct uninstrumented u = {.names = names, .room = room};
    struct program p;
    int known;
    names[0] = '\0';
    if (!open_program(&p)) return 0;
    known = add_files(&p, &u);
    close_program(&p);
    if (!known) return -1;
    dl_iterate_phdr(add_loaded, &u);
    return u.count;
}

int race_symbols_opened(void *handle, char *names, size_t room, uint64_t *key) {
    static const struct link_map *last; /* a program looks up many functions of one library */
    struct uninstrumented u = {.names = names, .room = room};
    const struct link_map *map;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map->l_name[0]) return 0;
    if (__atomic_exchange_n(&last, map, __ATOMIC_RELAXED) == map) return 0;
    add_library(map->l_name, 0, &u);
    *key = 0xcbf29ce484222325u;
    for (const char *p = map->l_name; *p; p++) *key = (*key ^ (unsigned char)*p) * 0x100000001b3u;
    *key |= 1; /* never 0, as the keys of pairs */
    return u.count;
}
