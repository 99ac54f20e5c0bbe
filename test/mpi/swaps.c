/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Compare_and_swap of each type that MPI allows for it, of 1 to 8 bytes, at every place of memory of every kind,
 * its first and last bytes included. Broken by a swap that needs memory around its word, by one that judges the
 * alignment of the displacement and not of the address, and by one that loses what another process writes beside it. */
#include "check.h"

#include <sys/mman.h>

#define BYTES 64
#define LINES 20 /* faults that are printed */
#define MOST  17 /* bytes of the longest window */
#define EDGE  16 /* bytes around the window's memory */

static const char *what; /* the kind of memory */
static int wrong;

static void report(const char *type, int at, int to, const char *fault) {
    if (wrong++ < LINES)
        fprintf(stderr, "process %d of %d: MPI_Compare_and_swap of %s in %s, at displacement %d of process %d: %s\n",
                rank, n, type, what, at, to, fault);
}

struct type {
    const char *name;
    MPI_Datatype handle;
};
#define TYPE(T)                                                                                                        \
    { #T, T }

static unsigned char byte_at(int i) { return (unsigned char)(i * 7 + 1); }

/* Swaps at each place of the window where the type is aligned, as `base` % 16 and the place tell. The word must change
 * if, and only if, it is what the call compares it with. */
static void swap_everywhere(MPI_Win win, const struct type *t, int base, int size, int to) {
    unsigned char now[BYTES], got[BYTES], old[8], new[8], zero[8] = {0}, first[BYTES], second[BYTES];
    int bytes;
    if (t->handle == MPI_DATATYPE_NULL) return;
    MPI_Type_size(t->handle, &bytes);
    for (int i = 0; i < size; i++) now[i] = byte_at(i);
    memset(first, 0x33, sizeof first);
    memset(second, 0x33, sizeof second);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put(now, size, MPI_BYTE, to, 0, size, MPI_BYTE, win);
    MPI_Win_flush(to, win);
    for (int at = 0; at + bytes <= size; at++) {
        int code;
        if ((base + at) % bytes != 0) continue;
        memcpy(old, now + at, sizeof old);
        for (int k = 0; k < bytes; k++) new[k] = (unsigned char)(0x80 + 3 * at + k);
        code = MPI_Compare_and_swap(new, old, first + at, t->handle, to, at, win);
        MPI_Win_flush(to, win);
        if (code != MPI_SUCCESS) {
            report(t->name, at, to, "is refused");
            continue;
        }
        memcpy(now + at, new, (size_t)bytes);
        MPI_Compare_and_swap(zero, old, second + at, t->handle, to, at, win);
        MPI_Win_flush(to, win);
        if (memcmp(first + at, old, (size_t)bytes) != 0 || memcmp(second + at, new, (size_t)bytes) != 0)
            report(t->name, at, to, "returns wrong data");
        if (at + bytes < BYTES && (first[at + bytes] != 0x33 || second[at + bytes] != 0x33))
            report(t->name, at, to, "writes more than the result");
    }
    MPI_Get(got, size, MPI_BYTE, to, 0, size, MPI_BYTE, win);
    MPI_Win_unlock(to, win);
    for (int i = 0; i < size; i++)
        if (got[i] != now[i]) {
            report(t->name, i, to, "leaves wrong data");
            break;
        }
}

/* All types in a window of MOST bytes, and one or two of each length in a shorter one. */
static void swap_all_types(MPI_Win win, int base, int size, int to) {
    const struct type types[] = {
        TYPE(MPI_SIGNED_CHAR), TYPE(MPI_UNSIGNED_CHAR),  TYPE(MPI_SHORT),
        TYPE(MPI_INT),         TYPE(MPI_UNSIGNED_SHORT), TYPE(MPI_UNSIGNED),
        TYPE(MPI_LONG),        TYPE(MPI_UNSIGNED_LONG),  TYPE(MPI_LONG_LONG),
        TYPE(MPI_INT8_T),      TYPE(MPI_INT16_T),        TYPE(MPI_INT32_T),
        TYPE(MPI_INT64_T),     TYPE(MPI_UINT8_T),        TYPE(MPI_UINT16_T),
        TYPE(MPI_UINT32_T),    TYPE(MPI_UINT64_T),       TYPE(MPI_UNSIGNED_LONG_LONG),
        TYPE(MPI_INTEGER),     TYPE(MPI_INTEGER1),       TYPE(MPI_INTEGER2),
        TYPE(MPI_INTEGER4),    TYPE(MPI_INTEGER8),       TYPE(MPI_AINT),
        TYPE(MPI_OFFSET),      TYPE(MPI_COUNT),          TYPE(MPI_C_BOOL),
        TYPE(MPI_CXX_BOOL),    TYPE(MPI_LOGICAL),        TYPE(MPI_BYTE),
    };
    const struct type some[] = {TYPE(MPI_BYTE), TYPE(MPI_INT8_T), TYPE(MPI_UINT16_T), TYPE(MPI_INT), TYPE(MPI_INT64_T)};
    if (size < MOST) {
        for (size_t i = 0; i < sizeof some / sizeof *some; i++) swap_everywhere(win, &some[i], base, size, to);
        return;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) swap_everywhere(win, &types[i], base, size, to);
#ifdef MPICH
    swap_everywhere(win, &(const struct type)TYPE(MPI_CHAR), base, size, to); /* beyond the standard */
    swap_everywhere(win, &(const struct type)TYPE(MPI_CHARACTER), base, size, to);
#endif
    /* MPICH refuses these, which belong to the Fortran integers. */
    for (int digits = 2; on_librma() && digits <= 18; digits += 8) {
        struct type t = {"MPI_Type_create_f90_integer", MPI_DATATYPE_NULL};
        MPI_Type_create_f90_integer(digits, &t.handle);
        swap_everywhere(win, &t, base, size, to);
    }
}

/* A window of `size` bytes at `start`, with `edge` bytes around it that must stay as they are. */
static void try_window(unsigned char *start, int size, int edge) {
    const int base = (int)((uintptr_t)start % 16);
    MPI_Win win;
    for (int i = -edge; i < size + edge; i++) start[i] = 0x77;
    MPI_Win_create(start, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    swap_all_types(win, base, size, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    swap_all_types(win, base, size, (rank + 1) % n);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < edge; i++)
        if (start[-1 - i] != 0x77 || start[size + i] != 0x77) {
            report("some type", size, rank, "changes memory around the window");
            break;
        }
    MPI_Win_free(&win);
}

/* Memory that begins at a multiple of 16 bytes. Plain MPICH 4.0 with UCX takes other windows for ones that begin
 * there. */
static void try_memory(const char *name, unsigned char *memory) {
    what = name;
    for (int shift = 0; shift <= (on_librma() ? 7 : 0); shift += 1 + (shift > 2))
        for (int size = 1; size <= MOST; size += 1 + size / 2) try_window(memory + EDGE + shift, size, EDGE);
}

/* The first and the last bytes of a page between two pages that may not be touched. */
static void try_page(void) {
    const int page = (int)sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, 3 * (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + page, (size_t)page, PROT_READ | PROT_WRITE) == 0);
    what = "a page";
    for (int size = 1; size <= 16; size *= 2) { /* MPICH: see try_memory */
        try_window(pages + page, size, 0);
        if (on_librma() || size == 16) try_window(pages + 2 * page - size, size, 0);
    }
    munmap(pages, 3 * (size_t)page);
}

static void refuse_others(void) {
    const struct type types[] = {TYPE(MPI_FLOAT), TYPE(MPI_DOUBLE),    TYPE(MPI_REAL),   TYPE(MPI_C_FLOAT_COMPLEX),
                                 TYPE(MPI_2INT),  TYPE(MPI_SHORT_INT), TYPE(MPI_PACKED), TYPE(MPI_WCHAR),
                                 TYPE(MPI_REAL4), TYPE(MPI_COMPLEX8),  TYPE(MPI_2REAL),  TYPE(MPI_LONG_DOUBLE)};
    const int to = (rank + 1) % n;
    unsigned char *memory, zeros[32] = {0}, ones[32], got[32];
    MPI_Datatype dup, one, two;
    MPI_Win win;
    what = "allocated memory";
    memset(ones, 1, sizeof ones);
    MPI_Win_allocate(32, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(memory, 0, 32);
    MPI_Type_dup(MPI_INT, &dup);
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&one);
    MPI_Type_commit(&two);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    for (size_t i = 0; i < sizeof types / sizeof *types + 3; i++) {
        const size_t all = sizeof types / sizeof *types;
        const struct type t = i < all        ? types[i]
                              : i == all     ? (struct type){"a duplicate of MPI_INT", dup}
                              : i == all + 1 ? (struct type){"a type of one MPI_INT", one}
                                             : (struct type){"a type of two MPI_INTs", two};
        memset(got, 0x33, sizeof got);
        if (t.handle == MPI_DATATYPE_NULL) continue;
        if (class_of(MPI_Compare_and_swap(ones, zeros, got, t.handle, to, 0, win)) != MPI_ERR_TYPE)
            report(t.name, 0, to, "is not MPI_ERR_TYPE");
        MPI_Win_flush(to, win);
        if (got[0] != 0x33) report(t.name, 0, to, "is an error, but returns data");
        MPI_Get(got, 32, MPI_BYTE, to, 0, 32, MPI_BYTE, win);
        MPI_Win_flush(to, win);
        if (memcmp(got, zeros, 32) != 0) report(t.name, 0, to, "is an error, but swaps");
        MPI_Put(zeros, 32, MPI_BYTE, to, 0, 32, MPI_BYTE, win);
        MPI_Win_flush(to, win);
    }
    MPI_Win_unlock(to, win);
    MPI_Type_free(&dup);
    MPI_Type_free(&one);
    MPI_Type_free(&two);
    MPI_Win_free(&win);
}

/* Each process counts up a word of its own, by swaps, by sums or by puts. The words of all processes are neighbours. */
static void neighbours(const char *name, MPI_Datatype type, int bytes) {
    enum { TIMES = 400 };
    static unsigned char memory[BYTES] __attribute__((aligned(16)));
    const int shift = bytes; /* neither the first word nor the last one is aligned to 4 bytes */
    MPI_Win win;
    what = "a static array";
    for (int round = 0; round < 3; round++) {
        const int method = (rank + round) % 3, at = rank * bytes;
        const uint16_t one = 1; /* little-endian */
        memset(memory, 0, sizeof memory);
        MPI_Win_create(on_librma() ? memory + EDGE + shift : memory + EDGE, n * bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                       &win);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        MPI_Win_lock_all(0, win);
        for (unsigned i = 0; i < TIMES; i++) {
            uint16_t now = (uint16_t)i, next = (uint16_t)(i + 1), got = 0;
            if (bytes == 1) now &= 255, next &= 255;
            if (method == 0)
                MPI_Compare_and_swap(&next, &now, &got, type, 0, at, win);
            else if (method == 1)
                MPI_Fetch_and_op(&one, &got, type, 0, at, MPI_SUM, win);
            else
                MPI_Put(&next, 1, type, 0, at, 1, type, win);
            MPI_Win_flush(0, win);
            if (method != 2 && got != now) {
                report(name, at, 0, "has lost an update");
                break;
            }
        }
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < n; i++) {
            uint16_t count = 0;
            memcpy(&count, memory + EDGE + (on_librma() ? shift : 0) + i * bytes, (size_t)bytes);
            if (count != (bytes == 1 ? TIMES % 256 : TIMES)) report(name, i * bytes, 0, "is lost beside others");
        }
        MPI_Win_free(&win);
    }
}

int main(void) {
    static unsigned char fixed[BYTES] __attribute__((aligned(16)));
    unsigned char stack[BYTES] __attribute__((aligned(16))), *block = NULL, *shared;
    begin();
    CHECK(posix_memalign((void **)&block, 16, BYTES) == 0);
    MPI_Alloc_mem(BYTES + 16, MPI_INFO_NULL, &shared);
    try_memory("a static array", fixed);
    try_memory("an array on the stack", stack);
    try_memory("a block of malloc", block);
    try_memory("memory of MPI_Alloc_mem", shared + (16 - (uintptr_t)shared % 16) % 16);
    try_page();
    free(block);
    MPI_Free_mem(shared);
    refuse_others();
    neighbours("MPI_UINT8_T", MPI_UINT8_T, 1);
    neighbours("MPI_UINT16_T", MPI_UINT16_T, 2);
    CHECK(wrong == 0);
    return end();
}
