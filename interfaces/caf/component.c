/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of components leaves coarrays: MOVE_ALLOC gives it to any variable, and a compiler's code that frees or
 * reallocates the variable calls the C library. (gfortran does so even in an assignment to a coarray with components.)
 * So this module stands in front of free and realloc, which accept memory of components, too, in any thread. */
#include "config.h"

#include "interfaces/caf/component.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
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
static pthread_t starter; /* the thread that has started the coarrays */
static pid_t process;

/* Memory that is certainly there: the program's global variables, and the starter's stack above the frame that asks. */
static uintptr_t globals, globals_end, stack_end;

/* The first object is the program (dl_iterate_phdr(3)). */
static int find_globals(struct dl_phdr_info *program, size_t size, void *context) {
    (void)size, (void)context;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &program->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
        globals = program->dlpi_addr + p->p_vaddr;
        globals_end = globals + p->p_memsz;
    }
    return 1;
}

static void find_certain_memory(void) {
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t bytes = 0;
    dl_iterate_phdr(find_globals, NULL);
    if (pthread_getattr_np(starter, &attributes) != 0) return;
    if (pthread_attr_getstack(&attributes, &stack, &bytes) == 0) stack_end = (uintptr_t)stack + bytes;
    pthread_attr_destroy(&attributes);
}

void rmai_caf_component_begin(void) {
    space = (uintptr_t)rmai_caf.self - (uintptr_t)(rmai_caf.first & (((rma_gptr_t)1 << 40) - 1));
    space_bytes = rmai_caf.self->space;
    starter = pthread_self();
    process = getpid();
    find_certain_memory();
}

static int is_starter(void) { return pthread_equal(pthread_self(), starter); }

static struct head *head_of(void *memory) { return (struct head *)memory - 1; }

static inline int is_in_space(const void *memory) { return (uintptr_t)memory - space < space_bytes; }

static inline int lies_in(uintptr_t address, size_t len, uintptr_t low, uintptr_t high) {
    return address >= low && address < high && len <= high - address;
}

static int is_certain(const void *address, size_t len) {
    const uintptr_t at = (uintptr_t)address;
    return lies_in(at, len, globals, globals_end) ||
           (is_starter() && lies_in(at, len, (uintptr_t)__builtin_frame_address(0), stack_end));
}

/* No sanitizer instruments it: a variable may be gone, and its frame with it. */
static __attribute__((noinline, no_sanitize("address", "undefined", "thread"))) void
copy_bytes(void *to, const void *from, size_t len) {
    volatile char *t = to;
    const volatile char *f = from;
    if (len == sizeof(void *))
        *(void *volatile *)to = *(void *const volatile *)from;
    else
        for (size_t i = 0; i < len; i++) t[i] = f[i];
}

/* A call of the kernel takes a microsecond or two, as long as ALLOCATE and DEALLOCATE together. */
void rmai_caf_peek(void *to, const void *address, size_t len) {
    if (is_certain(address, len)) {
        copy_bytes(to, address, len);
        return;
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), most = page - (uintptr_t)address % page;
    const size_t first = most < len ? most : len;
    memset(to, 0, len);
    for (int part = 0; part < 2; part++) {
        const size_t at = part ? first : 0, now = part ? len - first : first;
        struct iovec here = {(char *)to + at, now}, there = {(char *)(uintptr_t)address + at, now};
        if (now) (void)!process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    }
}

/* The C library's head is the size of the block with its head, a multiple of 16, and three bits. A block has 16 bytes
 * more than it needs if they would be too few for another one. */
int rmai_caf_component_is(const void *memory, size_t size, size_t other) {
    struct head head;
    rmai_caf_peek(&head, (const struct head *)memory - 1, sizeof head);
    const size_t whole = size + sizeof(size_t) < 32 ? 32 : (size + sizeof(size_t) + 15) / 16 * 16;
    const size_t has = head.magic & ~(size_t)7;
    if (head.magic == MAGIC && head.size == size) return 1;
    return has == whole || (has == whole + 16 && other > has - sizeof(size_t));
}

int rmai_caf_component_holds(const void *address) { return is_in_space(address); }

void *rmai_caf_component_memory(struct rmai_caf_result r, size_t size) {
    struct head *head;
    size_t bytes;
    if (__builtin_add_overflow(size, sizeof *head, &bytes)) bytes = SIZE_MAX;
    /* Memory of the C library is reached, too, by a longer way (rmai_caf_place_of). */
    if (!is_starter()) return rmai_caf_memory("ALLOCATE", size);
    if (rma_alloc_mem(bytes, &head) != RMA_SUCCESS) {
        rmai_caf_report(r, RMAI_CAF_STAT_NO_MEM, "ALLOCATE: no memory for a component of %zu bytes: %s", size,
                        rma_last_error());
        return NULL;
    }
    *head = (struct head){size, MAGIC};
    return head + 1;
}

/* Blocks that other threads have freed: librma's calls are for the thread that has started the coarrays, and OpenMP's
 * threads may deallocate. That thread frees them at its next call. */
static struct head *freed_elsewhere;

static void free_rest(void) {
    struct head *head = __atomic_exchange_n(&freed_elsewhere, NULL, __ATOMIC_ACQUIRE);
    while (head) {
        struct head *const next = (struct head *)head->size;
        rma_free_mem(head);
        head = next;
    }
}

/* A child made by fork(2) leaves its parent's memory alone. After the end of the coarrays the space is gone, and what
 * is left of it need not be freed. */
static void free_component(void *memory) {
    struct head *const head = head_of(memory);
    if (!rmai_caf.self || getpid() != process || head->magic != MAGIC) return;
    head->magic = 0;
    if (is_starter()) {
        if (__builtin_expect(__atomic_load_n(&freed_elsewhere, __ATOMIC_RELAXED) != NULL, 0)) free_rest();
        rma_free_mem(head);
        return;
    }
    struct head *next = __atomic_load_n(&freed_elsewhere, __ATOMIC_RELAXED);
    do head->size = (size_t)next;
    while (!__atomic_compare_exchange_n(&freed_elsewhere, &next, head, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* ---- in front of the C library ---- */

static void (*next_free)(void *memory);
static void *(*next_realloc)(void *memory, size_t size);

/* dlsym may itself allocate and free: what it frees then stays. */
static void find_next(void) {
    static _Thread_local int searching;
    if (searching) return;
    searching = 1;
    *(void **)(void *)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)(void *)&next_free = dlsym(RTLD_NEXT, "free");
    searching = 0;
}

static void free_any(void *memory) {
    if (__builtin_expect(is_in_space(memory), 0)) {
        free_component(memory);
        return;
    }
    if (__builtin_expect(!next_free, 0)) find_next();
    if (next_free) next_free(memory);
}

static void *realloc_any(void *memory, size_t size) {
    if (__builtin_expect(is_in_space(memory), 0)) {
        void *larger = malloc(size ? size : 1);
        const size_t old = head_of(memory)->magic == MAGIC ? head_of(memory)->size : 0;
        if (!larger) return NULL;
        memcpy(larger, memory, old < size ? old : size);
        free_component(memory);
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
