/* SPDX-License-Identifier: BSD-3-Clause */
/* What one script knows: its processes, communicators, memory and windows. Each process knows all of it, about all
 * processes, and computes what the memory of all of them must contain. */
#ifndef TEST_MPI_RANDOM_WORLD_H
#define TEST_MPI_RANDOM_WORLD_H

#include "random_types.h"

#define MOST_PROCESSES 8
#define MOST_GROUPS    12
#define MOST_SEGMENTS  24
#define MOST_WINDOWS   8
#define MOST_REGIONS   6
#define GUARD          16 /* bytes around buffers and windows that nobody may change */

/* What a script may contain. An option leaves out some of them. */
/* clang-format off */
#define FEATURES(X)                                                                                                    \
    X(put) X(get) X(accumulate) X(get_accumulate) X(fetch_and_op) X(compare_and_swap) X(fence) X(pscw) X(lock)         \
    X(lock_all) X(create) X(allocate) X(shared) X(dynamic) X(requests) X(counts) X(proc_null) X(derived) X(mixed)      \
    X(bottom) X(absolute) X(touching) X(scattered) X(unaligned) X(odd_base) X(units) X(groups) X(pairs)                \
    X(long_double) X(complex) X(byte) X(char) X(logical) X(fortran) X(opaque) X(unsigned_order) X(zero)                \
    X(zero_types) X(flush) X(asserts) X(empty_groups) X(overlap) X(twins) X(several) X(attach) X(attach_nothing)       \
    X(large) X(small_swap) X(no_op) X(long_double_complex) X(char_sum) X(strict_pairs) X(no_check) X(unaligned_swap)   \
    X(darray) X(across) X(derived_updates) X(empty_query) X(shorter)
/* clang-format on */
enum feature {
#define X(NAME) WITH_##NAME,
    FEATURES(X)
#undef X
        N_FEATURES
};
extern const char *const feature_names[N_FEATURES];

struct options {
    uint64_t features;
    int steps, verbose, keep_going;
};

enum access { NOTHING, READ, WRITE, UPDATE };

/* What has been done to a byte in this step. */
struct trace {
    uint32_t step, round, call;
    int32_t start;   /* of the element, if it is updated */
    int16_t origin;  /* -2: several processes */
    uint16_t update; /* type and operation */
    uint16_t age;
    uint8_t access, window;
    uint8_t alone; /* 1: no other origin may come here in this round */
};

enum memory { HEAP, STATIC, STACK, ALLOC_MEM, OF_WINDOW };

struct segment {
    int alive, users;
    enum memory memory;
    size_t size[MOST_PROCESSES];
    uint8_t *model[MOST_PROCESSES], *noise[MOST_PROCESSES]; /* noise: 1 if the byte has no meaning */
    struct trace *trace[MOST_PROCESSES];
    int noisy[MOST_PROCESSES], touched;
    char *mine;
    void *held;
    MPI_Aint address[MOST_PROCESSES];
    size_t odd[MOST_PROCESSES]; /* how far the address is from a multiple of 16 */
};

struct group {
    MPI_Comm comm;
    int n, process[MOST_PROCESSES], rank[MOST_PROCESSES]; /* rank: -1 if it is no member */
    int one_node, alive, owned;
};

struct region {
    int segment;
    size_t from, len;
};

enum flavor { CREATE, ALLOCATE, SHARED, DYNAMIC };

struct window {
    int alive, id, twin; /* twin: its place, or -1 */
    MPI_Win win;
    enum flavor flavor;
    int group, segment, other; /* other: the second segment of a dynamic window */
    size_t base[MOST_PROCESSES], size[MOST_PROCESSES];
    int unit[MOST_PROCESSES];
    struct region regions[MOST_PROCESSES][MOST_REGIONS];
    int n_regions[MOST_PROCESSES];
    char *parts[MOST_PROCESSES]; /* of a shared window: where each process's memory is */
};

/* Bytes that their owner stores at the beginning of a step. */
struct storing {
    int segment;
    size_t at, len;
    uint8_t *bytes;
    struct storing *next;
};

struct call;
struct item;

struct world {
    const struct options *options;
    struct draws draws;
    struct store store;
    struct maker maker;
    MPI_Comm comm;
    int me, n;
    long seed;
    int step;
    uint32_t steps, rounds, calls_made; /* numbers that never come twice */
    struct group groups[MOST_GROUPS];
    struct segment segments[MOST_SEGMENTS];
    struct window windows[MOST_WINDOWS];
    int windows_made, lasting_groups;
    struct storing *storing, **storing_end;
    struct call *calls, **calls_end; /* of this step, of all processes */
    struct item *items, **items_end; /* of this step, of this process */
    char *fixed, *stack, *scratch;   /* static memory, memory on the stack, memory of MPI_Alloc_mem */
    size_t fixed_used, stack_used, scratch_used;
    int was_passive; /* the last step had epochs of locks */
    int failures;
};
#define FIXED   40000
#define STACK_  20000
#define SCRATCH 200000

static inline int with(const struct world *w, enum feature f) { return w->options->features >> f & 1; }

/* world_differs reports a difference, and ends the job unless it is to go on. */
void world_differs(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* world_check reports a call that has returned an error. */
void world_check(struct world *w, int code, const char *call);

void world_begin(struct world *w, const struct options *options, MPI_Comm comm, int thread);
void world_end(struct world *w);
/* world_new_group: a communicator that lives for the rest of the script. */
int world_new_group(struct world *w);
void world_free_groups(struct world *w);

int window_make(struct world *w, int common);
void window_free(struct world *w, int i);
void window_attach(struct world *w, int i);
const char *window_words(struct world *w, const struct window *win);
/* window_find: where in the model `len` bytes at `at` of a process's window are; 0 if they are not in the window. `at`
 * is an offset in bytes or, in a dynamic window, what window_virtual has made. */
int window_find(const struct world *w, const struct window *win, int process, ptrdiff_t at, size_t len, int *segment,
                size_t *offset);
static inline ptrdiff_t window_virtual(int segment, size_t offset) {
    return ((ptrdiff_t)(segment + 1) << 40) + (ptrdiff_t)offset;
}

/* world_store: `len` bytes of the model are the owner's to store at the beginning of this step. */
void world_store(struct world *w, int segment, int process, size_t at, size_t len);
void world_do_stores(struct world *w);
void world_verify(struct world *w, int all);

#endif
