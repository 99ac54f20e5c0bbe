/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.c: a library to preload (LD_PRELOAD) that makes one call of one PE fail, stops or kills one PE, shows it
 * other files, or shows all PEs little memory.
 *
 * The scripts that use it compile it (test/fault/fault.sh). It does nothing unless these are set:
 *
 *   RMA_TEST_FAULT_PE     the PE, by the launcher's number (PMI_RANK or OMPI_COMM_WORLD_RANK)
 *   RMA_TEST_FAULT        ACTION:FUNCTION:N. The Nth call of the function, from 1, does this instead:
 *                           fail   it fails as its manual says: NULL, -1 and errno, or an error code
 *                           omit   the same, and an MPI call in which other PEs take part is not made
 *                           stop   the process stops itself (SIGSTOP) before the call
 *                           kill   the process kills itself (SIGKILL) before the call
 *   RMA_TEST_FAULT_NOTE   a file, made when the Nth call has come. If it is not there at the end, there were fewer
 *                         calls: a sweep over N is over. A program that calls fault_no_more (dlsym(3)) ends the
 *                         counting
 *   RMA_TEST_FAULT_BEGIN  1: the program begins the counting, by fault_begin_count
 *   RMA_TEST_FAULT_FILES  PATH=OTHER,PATH=OTHER...: who opens PATH is given OTHER
 *   RMA_TEST_FAULT_MEMORY bytes, for every PE: /proc/meminfo shows a machine with this much memory, of which /dev/shm
 * has what it really holds. As soon as it holds more, the PE that commits is killed (SIGKILL), as the kernel would do.
 * For jobs that have a /dev/shm of their own
 *
 * Functions: those of the two tables below. Of system calls by syscall(2), mmap and mremap count under these names.
 *
 * Only calls from librma and from the program itself count, not those of MPI or the C library: the return address tells
 * them apart. With `fail`, an MPI call in which other PEs take part is made, and then fails: the other PEs continue.
 * With `omit` they wait within MPI for this PE, until the job ends. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLER (__builtin_return_address(0))
#define RANGES 16

static struct {
    char action, function[64];
    const char *note, *files;
    long n;
    _Atomic long calls;
    int later; /* RMA_TEST_FAULT_BEGIN=1: the program calls fault_begin_count */
    struct range {
        uintptr_t from, to;
    } range[RANGES];
    int n_ranges;
    size_t memory;
} fault;

/* The program comes first, without a name. */
static int see_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    if (info->dlpi_name[0] && !strstr(info->dlpi_name, "/librma")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || fault.n_ranges == RANGES) continue;
        fault.range[fault.n_ranges++] =
            (struct range){info->dlpi_addr + p->p_vaddr, info->dlpi_addr + p->p_vaddr + p->p_memsz};
    }
    return 0;
}

static int chosen_pe(void) {
    const char *pe = getenv("RMA_TEST_FAULT_PE"), *mine = getenv("PMI_RANK");
    if (!mine) mine = getenv("OMPI_COMM_WORLD_RANK");
    return pe && mine && strcmp(pe, mine) == 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *what = getenv("RMA_TEST_FAULT");
    char action[8];
    const char *memory = getenv("RMA_TEST_FAULT_MEMORY");
    if (!memory && !chosen_pe()) return;
    dl_iterate_phdr(see_object, NULL);
    if (memory) fault.memory = strtoul(memory, NULL, 10);
    if (!chosen_pe()) return;
    fault.note = getenv("RMA_TEST_FAULT_NOTE");
    fault.files = getenv("RMA_TEST_FAULT_FILES");
    if (what &&
        (sscanf(what, "%7[a-z]:%63[^:]:%ld", action, fault.function, &fault.n) != 3 || !strchr("foks", action[0]))) {
        fprintf(stderr, "fault: RMA_TEST_FAULT=%s is not ACTION:FUNCTION:N\n", what);
        exit(99);
    }
    if (what) fault.action = action[0];
    fault.later = getenv("RMA_TEST_FAULT_BEGIN") != NULL;
}

static int from_ours(const void *caller) {
    for (int i = 0; i < fault.n_ranges; i++)
        if ((uintptr_t)caller >= fault.range[i].from && (uintptr_t)caller < fault.range[i].to) return 1;
    return 0;
}

enum { GOES_ON, FAILS, IS_OMITTED };

/* What this call is to do. */
static int hit(const char *function, const void *caller) {
    int fd;
    if (!fault.action || fault.later || strcmp(function, fault.function) != 0 || !from_ours(caller)) return GOES_ON;
    if (atomic_fetch_add(&fault.calls, 1) + 1 != fault.n) return GOES_ON;
    fd = fault.note ? (int)syscall(SYS_openat, AT_FDCWD, fault.note, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd >= 0) close(fd);
    if (fault.action == 's') raise(SIGSTOP);
    if (fault.action == 'k') raise(SIGKILL);
    return fault.action == 'f' ? FAILS : fault.action == 'o' ? IS_OMITTED : GOES_ON;
}

__attribute__((visibility("default"))) void fault_no_more(void) { fault.action = 0; }
__attribute__((visibility("default"))) void fault_begin_count(void) { fault.later = 0; }

static void *next(const char *function) { return dlsym(RTLD_NEXT, function); }

/* ---- little memory ---- */

static size_t memory_used(void) {
    struct statvfs s;
    return statvfs("/dev/shm", &s) == 0 ? (size_t)(s.f_blocks - s.f_bfree) * s.f_frsize : 0;
}

static int opens_meminfo(const char *path, const void *caller) {
    return fault.memory && strcmp(path, "/proc/meminfo") == 0 && from_ours(caller);
}

static int open_meminfo(void) {
    const int fd = memfd_create("meminfo", MFD_CLOEXEC);
    const size_t used = memory_used(), left = fault.memory > used ? fault.memory - used : 0;
    if (fd >= 0)
        dprintf(fd, "MemTotal: %14zu kB\nMemFree: %15zu kB\nMemAvailable: %10zu kB\n", fault.memory / 1024, left / 1024,
                left / 1024);
    if (fd >= 0) lseek(fd, 0, SEEK_SET);
    return fd;
}

static void kill_if_out_of_memory(void) {
    const size_t used = memory_used();
    if (!fault.memory || used <= fault.memory) return;
    fprintf(stderr, "fault: out of memory: %zu bytes used of %zu\n", used, fault.memory);
    raise(SIGKILL);
}

/* ---- functions of the C library: type, name, parameters, arguments, what failure is ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *block, size_t size);

void *malloc(size_t size) {
    if (!hit("malloc", CALLER)) return __libc_malloc(size);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t n, size_t size) {
    if (!hit("calloc", CALLER)) return __libc_calloc(n, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *block, size_t size) {
    if (!hit("realloc", CALLER)) return __libc_realloc(block, size);
    errno = ENOMEM;
    return NULL;
}

#define SYSTEM(TYPE, NAME, PARAMETERS, ARGUMENTS, ERRNO, FAILURE)                                                      \
    TYPE NAME PARAMETERS {                                                                                             \
        TYPE(*real) PARAMETERS;                                                                                        \
        if (hit(#NAME, CALLER)) return errno = ERRNO, FAILURE;                                                         \
        *(void **)&real = next(#NAME);                                                                                 \
        return real ARGUMENTS;                                                                                         \
    }

SYSTEM(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t from), (at, len, prot, flags, fd, from),
       ENOMEM, MAP_FAILED)
SYSTEM(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, void *(*run)(void *), void *context),
       (t, a, run, context), EAGAIN, EAGAIN)
SYSTEM(int, gethostname, (char *name, size_t len), (name, len), ENAMETOOLONG, -1)

int madvise(void *at, size_t len, int advice) {
    int (*real)(void *, size_t, int), code;
    if (hit("madvise", CALLER)) return errno = ENOMEM, -1;
    *(void **)&real = next("madvise");
    code = real(at, len, advice);
    if (from_ours(CALLER)) kill_if_out_of_memory();
    return code;
}

long syscall(long number, ...) {
    static long (*real)(long, ...);
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(args, long);
    va_end(args);
    if ((number == SYS_mremap && hit("mremap", CALLER)) || (number == SYS_mmap && hit("mmap", CALLER)))
        return errno = ENOMEM, -1;
    if (!real) *(void **)&real = next("syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- openings ---- */

static const char *shown(const char *path, const void *caller, char other[4096]) {
    size_t len = strlen(path);
    if (!fault.files || !from_ours(caller)) return path;
    for (const char *one = fault.files; *one; one += *one == ',') {
        size_t all = strcspn(one, ",");
        if (all > len && strncmp(one, path, len) == 0 && one[len] == '=') {
            snprintf(other, 4096, "%.*s", (int)(all - len - 1), one + len + 1);
            return other;
        }
        one += all;
    }
    return path;
}

#define STREAM(NAME)                                                                                                   \
    FILE *NAME(const char *path, const char *mode) {                                                                   \
        FILE *(*real)(const char *, const char *);                                                                     \
        char other[4096];                                                                                              \
        if (hit("fopen", CALLER)) return errno = EMFILE, NULL;                                                         \
        if (opens_meminfo(path, CALLER)) return fdopen(open_meminfo(), mode);                                          \
        *(void **)&real = next(#NAME);                                                                                 \
        return real(shown(path, CALLER, other), mode);                                                                 \
    }

#undef fopen64
STREAM(fopen)
STREAM(fopen64)

#define DESCRIPTOR(NAME)                                                                                               \
    int NAME(const char *path, int flags, ...) {                                                                       \
        int (*real)(const char *, int, ...);                                                                           \
        char other[4096];                                                                                              \
        va_list args;                                                                                                  \
        va_start(args, flags);                                                                                         \
        unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;                                                  \
        va_end(args);                                                                                                  \
        if (hit("open", CALLER)) return errno = EMFILE, -1;                                                            \
        if (opens_meminfo(path, CALLER)) return open_meminfo();                                                        \
        *(void **)&real = next(#NAME);                                                                                 \
        return real(shown(path, CALLER, other), flags, mode);                                                          \
    }

#undef open64
DESCRIPTOR(open)
DESCRIPTOR(open64)

/* ---- MPI: made first where others take part ---- */

#define ALONE(NAME, PARAMETERS, ARGUMENTS)                                                                             \
    int NAME PARAMETERS { return hit(#NAME, CALLER) ? MPI_ERR_OTHER : P##NAME ARGUMENTS; }
/* DROP: what becomes of a handle that a call which has failed does not give. */
#define TOGETHER(NAME, PARAMETERS, ARGUMENTS, DROP)                                                                    \
    int NAME PARAMETERS {                                                                                              \
        int now = hit(#NAME, CALLER), code = now == IS_OMITTED ? MPI_SUCCESS : P##NAME ARGUMENTS;                      \
        if (now == GOES_ON) return code;                                                                               \
        DROP;                                                                                                          \
        return MPI_ERR_OTHER;                                                                                          \
    }

ALONE(MPI_Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
      (b, n, t, from, tag, c, r))
ALONE(MPI_Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
      (b, n, t, to, tag, c, r))
ALONE(MPI_Test, (MPI_Request * r, int *done, MPI_Status *s), (r, done, s))
ALONE(MPI_Get_count, (const MPI_Status *s, MPI_Datatype t, int *n), (s, t, n))
ALONE(MPI_Initialized, (int *flag), (flag))
ALONE(MPI_Finalized, (int *flag), (flag))
ALONE(MPI_Query_thread, (int *level), (level))
ALONE(MPI_Comm_rank, (MPI_Comm c, int *rank), (c, rank))
ALONE(MPI_Comm_size, (MPI_Comm c, int *n), (c, n))
ALONE(MPI_Comm_group, (MPI_Comm c, MPI_Group *g), (c, g))
ALONE(MPI_Group_free, (MPI_Group * g), (g))
ALONE(MPI_Comm_free_keyval, (int *key), (key))
ALONE(MPI_Info_create, (MPI_Info * i), (i))
ALONE(MPI_Info_set, (MPI_Info i, const char *key, const char *value), (i, key, value))
ALONE(MPI_Info_free, (MPI_Info * i), (i))
ALONE(MPI_Comm_create_keyval,
      (MPI_Comm_copy_attr_function * f, MPI_Comm_delete_attr_function *g, int *key, void *extra), (f, g, key, extra))
ALONE(MPI_Comm_set_attr, (MPI_Comm c, int key, void *value), (c, key, value))
ALONE(MPI_Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler h), (c, h))
ALONE(MPI_Group_translate_ranks, (MPI_Group g, int n, const int a[], MPI_Group h, int b[]), (g, n, a, h, b))
ALONE(MPI_Win_shared_query, (MPI_Win w, int rank, MPI_Aint *size, int *unit, void *base), (w, rank, size, unit, base))
ALONE(MPI_Win_set_errhandler, (MPI_Win w, MPI_Errhandler h), (w, h))
ALONE(MPI_Win_get_attr, (MPI_Win w, int key, void *value, int *found), (w, key, value, found))
ALONE(MPI_Win_unlock_all, (MPI_Win w), (w))
ALONE(MPI_Win_lock_all, (int assert, MPI_Win w), (assert, w))
ALONE(MPI_Win_flush, (int rank, MPI_Win w), (rank, w))
ALONE(MPI_Put, (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u, MPI_Win w),
      (b, n, t, to, at, m, u, w))
ALONE(MPI_Get, (void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u, MPI_Win w),
      (b, n, t, to, at, m, u, w))
ALONE(MPI_Win_attach, (MPI_Win w, void *base, MPI_Aint size), (w, base, size))
ALONE(MPI_Accumulate,
      (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u, MPI_Op op, MPI_Win w),
      (b, n, t, to, at, m, u, op, w))
ALONE(MPI_Fetch_and_op, (const void *b, void *old, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op, MPI_Win w),
      (b, old, t, to, at, op, w))
TOGETHER(MPI_Init_thread, (int *argc, char ***argv, int wanted, int *got), (argc, argv, wanted, got), (void)0)
TOGETHER(MPI_Finalize, (void), (), (void)0)
TOGETHER(MPI_Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *new), (c, type, key, i, new),
         *new = MPI_COMM_NULL)
TOGETHER(MPI_Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *new), (c, color, key, new), *new = MPI_COMM_NULL)
TOGETHER(MPI_Comm_idup, (MPI_Comm c, MPI_Comm *new, MPI_Request *r), (c, new, r),
         (*new = MPI_COMM_NULL, *r = MPI_REQUEST_NULL))
ALONE(MPI_Iallreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r),
      (a, b, n, t, op, c, r))
ALONE(MPI_Ibcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *r), (b, n, t, root, c, r))
TOGETHER(MPI_Comm_free, (MPI_Comm * c), (c), (void)0)
TOGETHER(MPI_Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info i, MPI_Comm c, void *base, MPI_Win *w),
         (size, unit, i, c, base, w), *w = MPI_WIN_NULL)
TOGETHER(MPI_Win_create, (void *base, MPI_Aint size, int unit, MPI_Info i, MPI_Comm c, MPI_Win *w),
         (base, size, unit, i, c, w), *w = MPI_WIN_NULL)
TOGETHER(MPI_Win_create_dynamic, (MPI_Info i, MPI_Comm c, MPI_Win *w), (i, c, w), *w = MPI_WIN_NULL)
TOGETHER(MPI_Win_free, (MPI_Win * w), (w), (void)0)

/* ---- the calls of librma_mpi.so, which calls MPI by these names ---- */

int PMPI_Comm_set_attr(MPI_Comm c, int key, void *value) {
    int (*real)(MPI_Comm, int, void *);
    *(void **)&real = next("PMPI_Comm_set_attr");
    return hit("PMPI_Comm_set_attr", CALLER) ? MPI_ERR_OTHER : real(c, key, value);
}

#define BELOW(NAME, PARAMETERS, ARGUMENTS, DROP)                                                                       \
    int NAME PARAMETERS {                                                                                              \
        int(*real) PARAMETERS, code;                                                                                   \
        *(void **)&real = next(#NAME);                                                                                 \
        code = real ARGUMENTS;                                                                                         \
        if (!hit(#NAME, CALLER)) return code;                                                                          \
        DROP;                                                                                                          \
        return MPI_ERR_OTHER;                                                                                          \
    }

BELOW(PMPI_Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *new), (c, g, new), *new = MPI_COMM_NULL)
BELOW(PMPI_Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler h), (c, h), (void)0)
BELOW(PMPI_Iallgather,
      (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c, MPI_Request *r),
      (a, n, t, b, m, u, c, r), (void)0)
BELOW(PMPI_Iallreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r),
      (a, b, n, t, op, c, r), (void)0)
BELOW(PMPI_Info_dup, (MPI_Info i, MPI_Info *new), (i, new), *new = MPI_INFO_NULL)
