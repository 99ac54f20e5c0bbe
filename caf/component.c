/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of components leaves coarrays: MOVE_ALLOC gives it to any variable, and a compiler's code that frees or
 * reallocates that variable calls the C library, as for any other. (gfortran does so even in an assignment to a coarray
 * with components.) So this module stands in front of free and realloc: they accept memory of components, too. */
#include "config.h"

#include "caf/component.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* In front of each block. */
struct head {
    size_t size, magic;
};
#define MAGIC ((size_t)0x636f6d706f6e656e)
_Static_assert(sizeof(struct head) == 16, "a block is aligned like those of malloc");

/* The space of this image: of all coarrays and components, and of no block of malloc. */
static uintptr_t space;
static size_t space_bytes;

void rmai_caf_component_begin(void) {
    space = (uintptr_t)rmai_caf.self - (uintptr_t)(rmai_caf.first & (((rma_gptr_t)1 << 40) - 1));
    space_bytes = rmai_caf.self->space;
}

static struct head *head_of(void *memory) { return (struct head *)memory - 1; }

static inline int is_in_space(const void *memory) { return (uintptr_t)memory - space < space_bytes; }

void rmai_caf_peek(void *to, const void *address, size_t len) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - (uintptr_t)address % page;
    memset(to, 0, len);
    for (size_t at = 0; at < len; at += first) {
        struct iovec here = {(char *)to + at, at == 0 && first < len ? first : len - at};
        struct iovec there = {(char *)(uintptr_t)address + at, here.iov_len};
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 && at > 0) return;
    }
}

/* The C library's head is the size of the block with its head, a multiple of 16, and three bits. */
int rmai_caf_component_is(const void *memory, size_t size) {
    struct head head;
    rmai_caf_peek(&head, (const struct head *)memory - 1, sizeof head);
    const size_t whole = size + sizeof(size_t) < 32 ? 32 : (size + sizeof(size_t) + 15) / 16 * 16;
    return (head.magic == MAGIC && head.size == size) || (head.magic & ~(size_t)7) == whole;
}

int rmai_caf_component_holds(const void *address) { return is_in_space(address); }

void *rmai_caf_component_memory(struct rmai_caf_result r, size_t size) {
    struct head *head;
    size_t bytes;
    if (__builtin_add_overflow(size, sizeof *head, &bytes)) bytes = SIZE_MAX;
    if (rma_alloc_mem(bytes, &head) != RMA_SUCCESS) {
        rmai_caf_report(r, RMAI_CAF_STAT_NO_MEM, "ALLOCATE: no memory for a component of %zu bytes: %s", size,
                        rma_last_error());
        return NULL;
    }
    *head = (struct head){size, MAGIC};
    return head + 1;
}

/* After the end of the coarrays the space is gone, and what is left of it needs not be freed. */
static void release(void *memory) {
    if (!rmai_caf.self || head_of(memory)->magic != MAGIC) return;
    head_of(memory)->magic = 0;
    rma_free_mem(head_of(memory));
}

/* ---- in front of the C library ---- */

static void (*next_free)(void *memory);
static void *(*next_realloc)(void *memory, size_t size);

/* dlsym may itself allocate and free: what it frees then stays. */
static void find_next(void) {
    static int searching;
    if (searching) return;
    searching = 1;
    *(void **)(void *)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)(void *)&next_free = dlsym(RTLD_NEXT, "free");
    searching = 0;
}

static void free_any(void *memory) {
    if (__builtin_expect(is_in_space(memory), 0)) {
        release(memory);
        return;
    }
    if (__builtin_expect(!next_free, 0)) find_next();
    if (next_free) next_free(memory);
}

static void *realloc_any(void *memory, size_t size) {
    if (__builtin_expect(is_in_space(memory), 0)) {
        void *larger = malloc(size ? size : 1);
        const size_t old = rmai_caf.self ? head_of(memory)->size : 0;
        if (!larger) return NULL;
        memcpy(larger, memory, old < size ? old : size);
        release(memory);
        return larger;
    }
    if (__builtin_expect(!next_realloc, 0)) find_next();
    return next_realloc ? next_realloc(memory, size) : NULL;
}

void rmai_caf_component_free(void *memory) { free_any(memory); }

/* Weak: where a program is linked statically, the C library's own come first, and components that leave their coarrays
 * must not be freed. The sanitizers bring functions of their own. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#pragma GCC visibility push(default)
__attribute__((weak)) void free(void *memory) { free_any(memory); }
__attribute__((weak)) void *realloc(void *memory, size_t size) { return realloc_any(memory, size); }
#pragma GCC visibility pop
#endif
