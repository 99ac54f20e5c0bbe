/* SPDX-License-Identifier: BSD-3-Clause */
/* mremap(2) with an old size of 0 makes a second mapping of the same shared pages. It needs neither their offset in the
 * file nor the file descriptor, which MPI's window does not give. */
#include "config.h"

#include "heap/statics.h"
#include "base/attributes.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* One step of a hash (FNV-1a, 64 bits) over the layout of the segments and the notes, which include the linker's build
 * id. */
static uint64_t hash_bytes(uint64_t hash, const void *from, size_t len) {
    const unsigned char *p = from;
    for (size_t i = 0; i < len; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

/* Finds the writable range of the main program, which is the first object that the dynamic linker lists. Its last
 * writable segment holds .data and .bss. Some linkers create a separate RELRO segment before that segment, others put
 * RELRO at its beginning. */
static int find_program_segments(struct dl_phdr_info *info, size_t size, void *context) {
    struct rmai_statics *s = context;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = 0, to = 0, read_only = 0, file = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W) && start + p->p_memsz > to) {
            from = start;
            to = start + p->p_memsz;
            file = start + p->p_filesz;
        }
        s->program = hash_bytes(s->program, p, sizeof *p);
        if (p->p_type == PT_NOTE) s->program = hash_bytes(s->program, (const void *)start, p->p_memsz);
        if (p->p_type == PT_GNU_RELRO) read_only = (start + p->p_memsz) / page * page; /* as ld.so rounds it */
    }
    from = from / page * page;
    if (read_only > from && read_only < to) from = read_only;
    to = rmai_round_up(to, page);
    if (from < to) {
        s->base = (char *)from;
        s->size = to - from;
        s->file = file > from ? rmai_min(rmai_round_up(file - from, page), s->size) : 0;
    }
    return 1;
}

void rmai_statics_find(struct rmai_statics *s) {
    *s = (struct rmai_statics){.program = 0xcbf29ce484222325u};
    dl_iterate_phdr(find_program_segments, s);
}

struct constant {
    uintptr_t addr;
    int found;
};

/* RELRO also counts as constant: the dynamic linker has computed its values and made it read-only. */
static int find_constant(struct dl_phdr_info *info, size_t size, void *context) {
    struct constant *c = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if ((p->p_type == PT_LOAD && !(p->p_flags & PF_W)) || p->p_type == PT_GNU_RELRO)
            c->found |= c->addr - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
    }
    return 1;
}

int rmai_statics_constant(const void *addr) {
    struct constant c = {.addr = (uintptr_t)addr};
    dl_iterate_phdr(find_constant, &c);
    return c.found;
}

/* Copies word by word, in a function that no sanitizer instruments: the address sanitizer has red zones between the
 * variables, and would report a memcpy that reads them. */
static __attribute__((noinline, no_sanitize("address", "undefined", "thread"))) void
copy_words(void *to, const void *from, size_t len) {
    volatile uint64_t *t = to;
    const volatile uint64_t *f = from;
    for (size_t i = 0; i < len / sizeof *t; i++) t[i] = f[i];
}

/* ---- which pages have been written ----
 *
 * A program may use only a part of an array of gigabytes in .bss. The kernel has no memory for the other pages, and to
 * read one would allocate it. */

#define ENTRIES 512 /* pages that are looked up at a time */

/* Bits of an entry of /proc/self/pagemap (proc(5)). */
#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)

/* What is known of the pages from address `at` on: written[i] is 0 for one that nobody has written. */
struct pages {
    int fd; /* of pagemap, or -1 */
    size_t page;
    unsigned char written[ENTRIES];
};

/* Private pages: those that this process has, in memory or in swap space. */
static void look_up_private(struct pages *p, const char *at, size_t n) {
    uint64_t entry[ENTRIES];
    const ssize_t len = (ssize_t)(n * sizeof *entry);
    const int known =
        p->fd >= 0 && pread(p->fd, entry, (size_t)len, (off_t)((uintptr_t)at / p->page * sizeof *entry)) == len;
    for (size_t i = 0; i < n; i++) p->written[i] = !known || (entry[i] & (PRESENT | SWAPPED));
}

/* Shared pages: those in memory. The system does not tell which ones are in swap space. */
static void look_up_shared(struct pages *p, char *at, size_t n) {
    struct sysinfo info;
    if (sysinfo(&info) != 0 || info.totalswap != 0 || mincore(at, n * p->page, p->written) != 0)
        memset(p->written, 1, n);
    for (size_t i = 0; i < n; i++) p->written[i] &= 1;
}

static int visit_written(const struct rmai_statics *s, int shared, rmai_statics_visit *visit, void *context) {
    struct pages p = {.fd = shared ? -1 : open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
                      .page = (size_t)sysconf(_SC_PAGESIZE)};
    size_t begin = 0; /* of the present range, which ends before the next page that is not written */
    int code = 0, in_range = 0;
    for (size_t at = 0; at < s->size && code == 0; at += ENTRIES * p.page) {
        const size_t n = rmai_min((s->size - at) / p.page, ENTRIES);
        if (shared)
            look_up_shared(&p, s->base + at, n);
        else
            look_up_private(&p, s->base + at, n);
        for (size_t i = 0; i < n && code == 0; i++) {
            const size_t offset = at + i * p.page;
            const int written = p.written[i] || offset < s->file;
            if (written && !in_range) begin = offset;
            if (!written && in_range) code = visit(context, begin, offset - begin);
            in_range = written;
        }
    }
    if (code == 0 && in_range) code = visit(context, begin, s->size - begin);
    if (p.fd >= 0) close(p.fd);
    return code;
}

int rmai_statics_written(const struct rmai_statics *s, rmai_statics_visit *visit, void *context) {
    return visit_written(s, 0, visit, context);
}

/* ---- the moves ---- */

struct copy {
    char *to, *from;
};

static int copy_range(void *context, size_t offset, size_t len) {
    const struct copy *c = context;
    copy_words(c->to + offset, c->from + offset, len);
    return 0;
}

int rmai_statics_move(struct rmai_statics *s, char *room) {
    if (!s->size) return 0;
    /* This mapping can fail, so it is made first, at any address, and moved over the variables later. */
    char *second = rmai_process_remap(room, 0, s->size, NULL);
    if (!second) return -1;
    visit_written(s, 0, copy_range, &(struct copy){room, s->base});
    if (!rmai_process_remap(second, s->size, s->size, s->base)) {
        syscall(SYS_munmap, second, s->size);
        return -1;
    }
    s->moved = room;
    return 0;
}

int rmai_statics_return(struct rmai_statics *s) {
    char *own;
    if (!s->moved) return 0;
    own = (char *)syscall(SYS_mmap, NULL, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, (off_t)0);
    if (own == MAP_FAILED) return -1;
    visit_written(s, 1, copy_range, &(struct copy){own, s->base});
    if (!rmai_process_remap(own, s->size, s->size, s->base)) return -1;
    s->moved = NULL;
    return 0;
}
