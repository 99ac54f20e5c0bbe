/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.h: the native interface of librma, a Partitioned Global Address Space runtime on MPI-3.
 *
 * A job is n processing elements (PEs), which mpiexec starts. Each PE owns a piece of remotely accessible memory. Any
 * PE reads, writes and updates the memory of any other PE, and that other PE takes no part.
 * This header is the manual of the interface; the man pages repeat it call by call.
 *
 * WORDS
 *   PE                a process of the job; its number is 0..rma_n_pes()-1, in the order of MPI_COMM_WORLD
 *   on-node           a PE is on-node if the calling PE reaches its memory by load and store
 *   symmetric object  an object that exists on each PE at the same offset: what rma_malloc returns, and the program's
 *                     global and static variables (below). The caller names the object by the caller's OWN address; the
 *                     argument pe says whose copy is meant
 *   local heap        memory that one PE makes remotely accessible alone: what rma_alloc_mem returns
 *   global pointer    a PE and an offset in one 64-bit word. It names any byte of a symmetric object, of a local heap
 *                     or of attached memory, and is valid on every PE
 *   origin, target    the PE that calls; the PE whose memory is read or written
 *   pending           an operation is pending if its call has returned and it is not complete; rma_quiet completes it
 *
 * ERRORS
 * Calls return RMA_SUCCESS (0) or a code of enum rma_error. Calls that return a pointer or a value return NULL or 0
 * instead, unless their description names another value. rma_last_error gives the text: the call, the argument, its
 * value.
 * Before a call returns an error, it passes code and text to the error handler (rma_set_errhandler). The default
 * handler prints the text and aborts the job, as MPI does. Exhaustion (RMA_ERR_NO_MEM) goes to the handler only
 * in rma_init.
 * A call writes its output arguments only when it succeeds.
 *
 * INLINE
 * The calls marked inline are compiled into the caller (rma_inline.h). The library also exports them as symbols. A call
 * that this header calls generic is a _Generic macro in C11 and a set of overloads in C++: the type of the address
 * argument selects the call by type (rma_typed.h). In C++ sums also take std::complex.
 *
 * A program that is compiled with RMA_PROFILE defined calls the symbols instead. Each function has a second symbol,
 * with a p before its name: prma_put for rma_put. A library that measures or traces defines rma_put, and calls prma_put
 * (rma(7), PROFILING).
 *
 * GLOBAL VARIABLES
 * The writable global and static variables of the main program are symmetric, if all PEs run the same program. Those of
 * shared libraries are not symmetric, nor are constants. rma_init moves the variables into shared memory, and keeps
 * their addresses. Hence the program must call rma_init before it has threads that write the variables, and a process
 * made by fork shares the variables with its parent.
 * With RMA_STATICS=window the variables stay where they are. Then PEs of the same node put and get by
 * process_vm_writev(2) and process_vm_readv(2), a thread of the owner executes their atomics, and rma_ptr and
 * rma_gptr_ptr return NULL for the copies of other PEs. With RMA_STATICS=off the variables are not symmetric.
 *
 * THREADS
 * "Collective" means: every PE makes the call, and all PEs make their collective calls in one order. With
 * RMA_THREAD_MULTIPLE any thread may make any call at any time, as in MPI, with one exception: two collective calls of
 * one PE must not run at the same time. For the calls under "Collectives", rma_team_sync and rma_team_barrier this
 * holds for each team separately (RMA_TEAM_WORLD and RMA_TEAM_SHARED count as one team).
 *
 * MEMORY MODEL
 * docs/memory-model.md. In short: rma_fence orders this PE's earlier puts before its later ones; rma_quiet completes
 * them; rma_barrier_all completes them and then waits for every PE. */
#ifndef RMA_H
#define RMA_H

#include <stddef.h>
#include <stdint.h>

/* The calls that are compiled into the program. With RMA_PROFILE they are not. C++ gives each file its own copy of an
 * inline function, so with RMA_PROFILE they are not declared inline there. */
#if defined RMA_PROFILE && defined __cplusplus
#define RMA_INLINED_
#else
#define RMA_INLINED_ inline
#endif

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"         /* calls named as the structures that they fill */
#pragma GCC diagnostic ignored "-Wold-style-cast" /* the inlined calls are C too */
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif

#pragma GCC visibility push(default)

/* Handles that are constants. */
#ifdef __cplusplus
#define RMA_HANDLE_(TYPE, n) reinterpret_cast<TYPE *>(static_cast<uintptr_t>(n))
#define RMA_NO_HANDLE_(TYPE) static_cast<TYPE *>(nullptr)
#else
#define RMA_HANDLE_(TYPE, n) ((TYPE *)(n))
#define RMA_NO_HANDLE_(TYPE) ((TYPE *)0)
#endif

#define RMA_VERSION_MAJOR 0
#define RMA_VERSION_MINOR 4
#define RMA_VERSION_PATCH 0
#define RMA_VERSION       "0.4.0"

/* ---------------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------------ */

enum rma_error {
    RMA_SUCCESS = 0,
    RMA_ERR_ARG,     /* an argument is not valid by itself: a null pointer, a bad alignment, overflow */
    RMA_ERR_PE,      /* a PE number is outside 0..n-1 */
    RMA_ERR_ADDRESS, /* a remote range is not inside one segment of remotely accessible memory, or not aligned */
    RMA_ERR_BASE,    /* not the base of a live block: foreign, interior, or freed already */
    RMA_ERR_NO_MEM,  /* the heap's limit, /dev/shm, the node's or the control group's memory is exhausted */
    RMA_ERR_STATE, /* the call is not possible now: before rma_init, after rma_finalize, a lock held already or not held
                    */
    RMA_ERR_MISMATCH, /* a collective call was made with different arguments on different PEs */
    RMA_ERR_SETTING,  /* an RMA_* variable has a value that cannot be used */
    RMA_ERR_LAUNCH,   /* started by a launcher that does not fit this MPI */
    RMA_ERR_MPI,      /* an MPI call failed; the text carries MPI's own words */
    RMA_ERR_SYSTEM    /* the operating system refused something; the text carries errno's words */
};

/* rma_strerror: what a code means, in a few words. code may be any number. Any thread may call, before rma_init too.
 * The string is constant. */
const char *rma_strerror(int code);

/* rma_last_error: the text of this thread's newest error, or "" if this thread had none. The text names the call, the
 * argument and its value. The string is valid until this thread's next error. */
const char *rma_last_error(void);

/* rma_last_code: the code that belongs to rma_last_error's text, or RMA_SUCCESS. */
int rma_last_code(void);

/* An error handler gets the code and its text. If the handler returns, the failing call returns the code. */
typedef void rma_errhandler(int code, const char *text);

/* rma_errors_abort, the default, prints the text with the PE and the host, and ends the job with the exit code
 * RMA_EXIT_BASE + code. The base keeps the exit codes of errors apart from signal numbers, and from the exit codes that
 * a shell, timeout(1) or a test driver gives for other reasons. rma_errors_return does nothing, so each failing call
 * returns its code. */
#define RMA_EXIT_BASE 80
rma_errhandler rma_errors_abort;
rma_errhandler rma_errors_return;

/* rma_set_errhandler: install the handler of this process, and return the previous handler. May be called before
 * rma_init. A null handler changes nothing: the call then only returns the current handler. With RMA_ERRORS=return
 * rma_init installs rma_errors_return, unless the program has installed a handler of its own. After
 * MPI_Comm_set_errhandler, MPI-3.1 section 8.3. */
rma_errhandler *rma_set_errhandler(rma_errhandler *handler);

/* ---------------------------------------------------------------------------------------------------
 * Life cycle
 * ------------------------------------------------------------------------------------------------ */

enum rma_thread_level {
    RMA_THREAD_SINGLE,     /* one thread */
    RMA_THREAD_FUNNELED,   /* several; only the one that called rma_init calls rma_ */
    RMA_THREAD_SERIALIZED, /* several call rma_, one at a time */
    RMA_THREAD_MULTIPLE    /* no restriction */
};

/* rma_init: start the runtime. Collective over MPI_COMM_WORLD.
 *
 * Initializes MPI if the program has not. Calls are counted: the second and later calls only count, and the runtime
 * ends when rma_finalize has been called as often. rma_init may be called again after the last rma_finalize if MPI is
 * still initialized, as it is if the program itself called MPI_Init. After the call the symmetric heap and the local
 * heap exist. Neither takes memory before the program allocates.
 *
 * Returns RMA_SUCCESS, RMA_ERR_SETTING, RMA_ERR_LAUNCH (the launcher is not this MPI's: n processes, each in an
 * MPI_COMM_WORLD of one), RMA_ERR_NO_MEM (not even the smallest reservation can be mapped), RMA_ERR_STATE (MPI is
 * finalized), RMA_ERR_MPI, RMA_ERR_SYSTEM. An error of one PE is an error of all PEs. */
int rma_init(void);

/* rma_init_thread: rma_init with a thread level, one of enum rma_thread_level. The call writes the level in force to
 * *provided (provided may be null): the required level, or less if MPI gives less. After rma_init it is
 * RMA_THREAD_SINGLE, or MPI's level if the program has initialized MPI. */
int rma_init_thread(int required, int *provided);

/* rma_finalize: end the runtime, once it has been called as often as rma_init. Collective.
 *
 * Waits for all PEs, then releases everything: pointers into either heap become invalid. Finalizes MPI if rma_init has
 * initialized MPI. A program that calls MPI_Finalize itself may do so before or after rma_finalize: the first of the
 * two calls releases the memory.
 *
 * A process must not end without rma_finalize. If it does, by exit(3), by return from main or with the last thread of
 * the program, it prints a note and ends the job: with its own exit status, or with RMA_EXIT_BASE + RMA_ERR_STATE if
 * that is 0. Functions of atexit(3) may still call rma_finalize. The library does not notice _exit(2). Returns
 * RMA_SUCCESS, RMA_ERR_STATE (called more often than rma_init). */
int rma_finalize(void);

/* rma_abort: end the whole job now, with exit code `code`. Any PE may call it alone. Does not return. */
void rma_abort(int code) __attribute__((noreturn));

/* rma_initialized: 1 between rma_init and the last rma_finalize (or MPI_Finalize), else 0. */
int rma_initialized(void);

/* ---------------------------------------------------------------------------------------------------
 * Who and where. Local, any thread. Before rma_init they call the error handler and return -1.
 * ------------------------------------------------------------------------------------------------ */

int rma_my_pe(void); /* this PE's number, 0..rma_n_pes()-1 */
int rma_n_pes(void); /* PEs in the job */

int rma_node_my_pe(void); /* this PE's number among the PEs of its node, 0..rma_node_n_pes()-1 */
int rma_node_n_pes(void); /* PEs on this PE's node */
int rma_my_node(void);    /* this PE's node, 0..rma_n_nodes()-1 */
int rma_n_nodes(void);    /* nodes in the job: groups of PEs that reach each other by load and store */
int rma_on_node(int pe);  /* 1 if pe is on this PE's node, 0 if not; outside 0..n-1 is RMA_ERR_PE, value 0 */

/* rma_wtime: seconds since a fixed time in the past. The clock never goes back, and all PEs of a node have the same
 * one. */
double rma_wtime(void);

/* rma_version: the library's version at run time, as "major.minor.patch". Any time. */
const char *rma_version(void);

/* A global pointer: one word that names a byte of some PE's remotely accessible memory. It has the same value on every
 * PE: the owner's number in the upper 24 bits, the offset in the owner's space in the lower 40. It can be stored in
 * shared structures, and a 64-bit compare-and-swap can replace it. Within a block, g + k names the byte k further; two
 * pointers into one block compare as addresses do; equal words name the same byte. */
typedef uint64_t rma_gptr_t;

#define RMA_GPTR_NULL UINT64_C(0)

/* ---------------------------------------------------------------------------------------------------
 * The symmetric heap. All five calls are collective: every PE calls with the same arguments.
 *
 * If a size, an alignment or a block differs between PEs, every PE gets RMA_ERR_MISMATCH, the text names both values,
 * and no memory changes. The heap grows when it must, up to RMA_HEAP_MAX. If one PE cannot get the memory, all PEs get
 * RMA_ERR_NO_MEM and NULL; everything allocated before is intact.
 * ------------------------------------------------------------------------------------------------ */

/* rma_malloc: allocate size bytes on each PE, aligned to 64, contents undefined. Size 0 gives NULL without error. When
 * the call returns, the block may be the target of operations on every PE. After shmem_malloc, OpenSHMEM 1.6 section
 * 9.3. */
void *rma_malloc(size_t size);

/* rma_calloc: count objects of size bytes, zeroed. If count * size overflows, there is no memory for it. */
void *rma_calloc(size_t count, size_t size);

/* rma_aligned_alloc: as rma_malloc, aligned to alignment bytes: a power of two up to 1 GiB. The block's address on each
 * PE is a multiple of alignment. If the system cannot give a PE such addresses (for an alignment above the page size),
 * the call fails with RMA_ERR_NO_MEM on each PE. Unused memory before the block is not committed. */
void *rma_aligned_alloc(size_t alignment, size_t size);

/* rma_realloc: change the size of block; its address may change. The first min(old, new) bytes of each PE's copy stay.
 * A null block: as rma_malloc. Size 0 frees block and gives NULL. After an error block is unchanged and still
 * allocated. */
void *rma_realloc(void *block, size_t size);

/* rma_free: give back a block of the four calls above. The call completes this PE's puts and waits for all PEs before
 * it frees; no PE may access the block after its own call. A null block is no error. Returns RMA_SUCCESS, RMA_ERR_BASE
 * (foreign, interior or freed already: the text tells which), and with RMA_HEAP_CHECK=full RMA_ERR_ADDRESS (the program
 * has written past an end of the block: the block stays allocated). */
int rma_free(void *block);

/* ---------------------------------------------------------------------------------------------------
 * The local heap. Not collective: a PE allocates by itself, whatever the other PEs do. After MPI_Alloc_mem, MPI-3.1
 * section 8.2. Other PEs reach a block by its global pointer (rma_gptr), which the program must hand to them.
 * ------------------------------------------------------------------------------------------------ */

/* rma_alloc_mem: allocate size bytes of this PE's local heap, aligned to 64, contents undefined. base is the address of
 * a pointer, as in MPI_Alloc_mem. *base is written only on success, and is a null pointer for size 0. Returns
 * RMA_SUCCESS, RMA_ERR_ARG (base is null), RMA_ERR_NO_MEM (RMA_LOCAL_MAX is reached, or /dev/shm or the memory is full:
 * rma_last_error tells which, with the numbers). */
int rma_alloc_mem(size_t size, void *base);

/* Hints for rma_alloc_mem_hints. Start from RMA_HINTS_NONE. An alignment up to the page size holds for the block's
 * address; a larger one holds only for its offset in the owner's memory. */
struct rma_hints {
    size_t alignment; /* a power of two up to 1 GiB, or 0 for 64 */
    int zero;         /* not 0: the block is zeroed */
    int numa_node;    /* put its pages on this NUMA node (the system's number), or -1: best effort */
    int huge_pages;   /* not 0: ask for huge pages: best effort */
    int granted;      /* output: the best-effort hints that were met, RMA_GRANTED_ values or'ed */
};
#define RMA_HINTS_NONE                                                                                                 \
    { 0, 0, -1, 0, 0 }

enum rma_granted {
    RMA_GRANTED_NUMA = 1, /* the pages are bound to the node; pages that were elsewhere have been moved */
    RMA_GRANTED_HUGE = 2  /* the pages are huge */
};

/* rma_alloc_mem_hints: rma_alloc_mem with hints. A block with numa_node or huge_pages shares no page with another
 * block: its size is rounded up to whole pages. A best-effort hint that cannot be met is no error: hints->granted says
 * which hints were met, and rma_info(1) prints which this machine can meet. Returns as rma_alloc_mem; RMA_ERR_ARG also
 * for null hints, an alignment that is not as above, or a NUMA node that does not exist. */
int rma_alloc_mem_hints(size_t size, struct rma_hints *hints, void *base);

/* rma_free_mem: give back a block of rma_alloc_mem, rma_alloc_mem_hints or rma_alloc_mem_on. A null base is no error.
 * base may also be the direct address (rma_gptr_ptr) of another PE's block: then the call does what rma_gptr_free does.
 * Returns RMA_SUCCESS, RMA_ERR_BASE (foreign, interior, or freed already: for the caller's own block the text tells
 * which), and with RMA_HEAP_CHECK=full RMA_ERR_ADDRESS (the program has written past an end of the block: the block
 * stays allocated). */
int rma_free_mem(void *base);

/* rma_gptr_free: give back a block of any PE's local heap; g names the block's first byte. The owner takes no part: its
 * next allocation that finds no free block takes back what other PEs have freed. RMA_GPTR_NULL is no error. The
 * caller's puts to the block must be complete (rma_quiet). All accesses of the caller to the block come before those of
 * the PE that allocates the memory next. For another PE's block the call is lock-free. If several PEs free one block,
 * one of them succeeds and the others get an error. Returns as rma_free_mem, or RMA_ERR_PE. */
int rma_gptr_free(rma_gptr_t g);

/* rma_alloc_mem_on: allocate size bytes in the local heap of pe, aligned to 64, contents undefined. pe takes no part.
 * *g is written only on success, and is RMA_GPTR_NULL for size 0. These blocks lie in a separate area beside pe's local
 * heap, of at most RMA_LOCAL_MAX / 2, so pe's own allocations never wait for those of other PEs. Returns RMA_SUCCESS,
 * RMA_ERR_ARG (g is null), RMA_ERR_PE, RMA_ERR_NO_MEM, RMA_ERR_SYSTEM (a PE died while it was allocating there: no PE
 * can allocate there any more). */
int rma_alloc_mem_on(int pe, size_t size, rma_gptr_t *g);

/* ---------------------------------------------------------------------------------------------------
 * Attached memory: memory of the caller (malloc, mmap, static, stack) that it makes remotely accessible. Not
 * collective. After MPI_Win_attach, MPI-3.1 section 11.2.4.
 * ------------------------------------------------------------------------------------------------ */

/* rma_attach: make [base, base + size) accessible to every PE by global pointer; *g names its first byte.
 *
 * A PE may attach millions of regions, up to 256 GiB in total (each region is rounded up to a multiple of 64 KiB). A
 * region costs a few bytes of a table, and no system resource. The caller keeps ownership of the memory, and must keep
 * it mapped until rma_detach. A put or an atomic to memory that is mapped read-only is RMA_ERR_ADDRESS.
 *
 * PEs of the same node put and get by process_vm_writev(2) and process_vm_readv(2): the owner takes no part. A thread
 * of the owner executes their atomics, and also their puts and gets where the system forbids these two calls. The first
 * rma_attach starts this thread; it sleeps until a peer sends a request.
 *
 * Returns RMA_SUCCESS, RMA_ERR_ARG (base or g is null; size is 0; the range wraps around, or overlaps an attached
 * region, or a heap, which is accessible already), RMA_ERR_ADDRESS (a page of the range is not mapped), RMA_ERR_NO_MEM,
 * RMA_ERR_SYSTEM (the thread cannot be started). */
int rma_attach(void *base, size_t size, rma_gptr_t *g);

/* rma_detach: end the access to the region that was attached at base. Waits for accesses by global pointer that are
 * under way, of other PEs and of this PE's other threads. The program itself must first end every other use of the
 * memory: loads and stores, use as a local buffer, waits for a word of it. After the call a global pointer into the
 * region is an error (RMA_ERR_ADDRESS), even if another region is attached at the same address: offsets are handed out
 * in a circle through the 256 GiB, so an offset is reused as late as possible. A region that is also exposed stays
 * accessible until rma_unexpose. Returns RMA_SUCCESS, RMA_ERR_BASE (no region was attached at base). */
int rma_detach(void *base);

/* rma_expose: every PE offers one region of its memory to all PEs: base; size in bytes (0: no region, base is ignored);
 * and unit, the size in bytes of one displacement in the region (at least 1). Collective. Memory that is already
 * accessible is offered as it is; other memory is attached. *e is written only on success. Returns RMA_SUCCESS,
 * RMA_ERR_ARG (e is null, base is null with a size, unit is 0), the errors of rma_attach, RMA_ERR_NO_MEM,
 * RMA_ERR_MISMATCH. An error of one PE is an error of every PE, with the same code. After MPI_Win_create, MPI-3.1
 * section 11.2.1. */
typedef struct rma_exposure rma_exposure;
int rma_expose(void *base, size_t size, size_t unit, rma_exposure **e);

/* rma_exposed_at: the global pointer of displacement disp, counted in pe's units, in pe's region. RMA_GPTR_NULL after
 * RMA_ERR_PE, RMA_ERR_ADDRESS (disp is not inside the region), RMA_ERR_ARG (e is null). Not collective. */
rma_gptr_t rma_exposed_at(const rma_exposure *e, int pe, size_t disp);

/* rma_exposed_size: the size of pe's region in bytes. The call writes the region's unit to *unit (unit may be null).
 * Returns 0 after an error. Not collective. */
size_t rma_exposed_size(const rma_exposure *e, int pe, size_t *unit);

/* rma_unexpose: wait for all PEs, end the exposure, and detach what rma_expose attached. Collective. A null e is no
 * error. Returns RMA_SUCCESS, RMA_ERR_BASE (e is not an exposure, or has ended), RMA_ERR_MISMATCH. */
int rma_unexpose(rma_exposure *e);

/* ---------------------------------------------------------------------------------------------------
 * Heap statistics. Not collective.
 * ------------------------------------------------------------------------------------------------ */

enum rma_heap {
    RMA_HEAP_SYMMETRIC, /* blocks of rma_malloc */
    RMA_HEAP_LOCAL,     /* blocks of rma_alloc_mem */
    RMA_HEAP_GUEST      /* blocks that other PEs have allocated here by rma_alloc_mem_on */
};

#define RMA_HEAP_CLASSES 40

/* Sizes are in bytes. Free class c counts the free blocks of 2^c up to 2^(c+1) - 1 bytes. A block that another PE has
 * freed counts in used and n_used until an allocation of the owner takes it back: the program holds n_used - n_returned
 * blocks. */
struct rma_heap_stats {
    size_t used;          /* in live blocks, each rounded up to 64; with RMA_HEAP_CHECK=full plus 64 for each block */
    size_t peak;          /* the largest value that used has had */
    size_t free;          /* in free blocks */
    size_t size;          /* used + free: the heap's current size */
    size_t committed;     /* memory that the heap holds: size, memory for the next growth, and the allocator's table */
    size_t max;           /* the limit of size */
    size_t largest_free;  /* the largest free block */
    size_t n_used;        /* live blocks */
    size_t n_free;        /* free blocks */
    size_t n_growths;     /* how often the heap has grown */
    size_t n_returned;    /* blocks that other PEs have freed and the owner has not taken back yet: part of n_used */
    double fragmentation; /* 1 - largest_free / free; 0 if nothing is free */
    struct {
        size_t blocks, bytes;
    } free_class[RMA_HEAP_CLASSES];
};

/* rma_heap_stats: fill *stats for one of this PE's heaps. Takes time linear in the number of free blocks. For the
 * symmetric heap: not while another thread of this PE is in a collective call. Returns RMA_SUCCESS, RMA_ERR_ARG (heap
 * is not a value of enum rma_heap, or stats is null), RMA_ERR_SYSTEM (as rma_alloc_mem_on). */
int rma_heap_stats(enum rma_heap heap, struct rma_heap_stats *stats);

/* ---------------------------------------------------------------------------------------------------
 * Counts of operations, by the path that each took. Not collective.
 * ------------------------------------------------------------------------------------------------ */

enum rma_path {
    RMA_PATH_MEMORY,  /* load and store on this node; counted only with RMA_STATS=yes, which turns inlining off */
    RMA_PATH_KERNEL,  /* process_vm_readv and process_vm_writev: attached memory of a PE of this node */
    RMA_PATH_OWNER,   /* by a thread of the target, on this node: atomics on its attached memory */
    RMA_PATH_WINDOW,  /* MPI's window */
    RMA_PATH_REQUEST, /* messages to a PE of another node */
    RMA_PATHS
};

/* Counts since rma_init, or since the last rma_stats_reset. If several threads begin operations at the same moment, one
 * of the operations may not be counted. */
struct rma_stats {
    struct {
        uint64_t puts, put_bytes, gets, get_bytes, atomics;
    } path[RMA_PATHS];
    uint64_t waited;         /* calls of rma_quiet, and of calls that include it, that had to wait */
    uint64_t messages_sent;  /* messages with requests to PEs of other nodes */
    uint64_t messages_heard; /* messages received: requests, replies and others */
    uint64_t served;         /* requests that this PE has executed for others */
};

/* rma_stats: fill *stats. rma_stats_reset: count from 0 again. With RMA_STATS=yes rma_finalize prints the sums over all
 * PEs. Return RMA_SUCCESS, RMA_ERR_ARG (stats is null), RMA_ERR_STATE. */
int rma_stats(struct rma_stats *stats);
int rma_stats_reset(void);

/* ---------------------------------------------------------------------------------------------------
 * Put and get, by symmetric address
 *
 * dest of a put and source of a get are symmetric addresses (the caller's own). The other buffer is any memory of the
 * caller. The buffers must not overlap. len is in bytes; if it is 0, the calls check pe and do nothing else.
 * A put returns when source may be reused; it is complete at the target after rma_quiet. A get returns when dest is
 * filled. The _nbi forms (non-blocking, implicit handle) return earlier: the program must not touch either buffer
 * before rma_quiet. On-node, all four are plain copies.
 * Return RMA_SUCCESS, RMA_ERR_PE, RMA_ERR_ADDRESS, RMA_ERR_STATE. RMA_ERR_ARG: the caller's buffer is null, and load
 * and store do not reach the target. A call whose range passes the end of the segment copies nothing. After OpenSHMEM
 * 1.6 section 9.6 (Remote Memory Access Routines).
 * ------------------------------------------------------------------------------------------------ */

RMA_INLINED_ int rma_put(void *dest, const void *source, size_t len, int pe);
RMA_INLINED_ int rma_get(void *dest, const void *source, size_t len, int pe);
RMA_INLINED_ int rma_put_nbi(void *dest, const void *source, size_t len, int pe);
RMA_INLINED_ int rma_get_nbi(void *dest, const void *source, size_t len, int pe);

/* rma_put_signal: rma_put, and then an atomic on *signal of the same PE: RMA_SIGNAL_SET writes value, RMA_SIGNAL_ADD
 * adds it. A PE that reads the new value by an atomic, or by a wait, also sees the put's data. signal is a symmetric
 * address, aligned to 8. Short data travel to another node in one message with the signal. Returns when source may be
 * reused; the put and the signal are complete after rma_quiet. Errors: as rma_put; RMA_ERR_ARG for another op. After
 * shmem_put_signal, OpenSHMEM 1.6 section 9.8 (Signaling Operations). */
enum rma_signal { RMA_SIGNAL_SET, RMA_SIGNAL_ADD };
RMA_INLINED_ int rma_put_signal(void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op,
                                int pe);

/* rma_put_signal_nbi: the same, but until rma_quiet source stays in use and the target may not have received the
 * signal. */
RMA_INLINED_ int rma_put_signal_nbi(void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value,
                                    int op, int pe);

/* rma_signal_set, rma_signal_add: the atomic of rma_put_signal alone, after this PE's earlier puts. */
RMA_INLINED_ int rma_signal_set(uint64_t *signal, uint64_t value, int pe);
RMA_INLINED_ int rma_signal_add(uint64_t *signal, uint64_t value, int pe);

/* rma_signal_fetch: the value of the caller's own *signal: an acquire. rma_signal_wait_until: wait until *signal
 * compares to value as cmp (enum rma_cmp) says, and return that value of *signal; 0 after an error. */
RMA_INLINED_ uint64_t rma_signal_fetch(const uint64_t *signal);
RMA_INLINED_ uint64_t rma_signal_wait_until(uint64_t *signal, int cmp, uint64_t value);

/* rma_iput, rma_iget: n elements of elem bytes each. Consecutive elements are dest_stride and source_stride ELEMENTS
 * apart (1: contiguous; at least 1). The whole remote span must lie in one segment. Errors: as rma_put; RMA_ERR_ARG if
 * elem is 0 or a stride is below 1. */
int rma_iput(void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n,
             int pe);
int rma_iget(void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n,
             int pe);

/* rma_iput_signal: rma_iput, and then the atomic of rma_put_signal on *signal of the same PE. A PE that sees the signal
 * sees all elements. If n is 0, only the signal is sent. Errors: those of both calls; after an error nothing is put. */
int rma_iput_signal(void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem,
                    size_t n, uint64_t *signal, uint64_t value, int op, int pe);

/* rma_p, rma_g: one value of an arithmetic type, generic over rma_p_TYPE and rma_g_TYPE, where TYPE is a name
 * of RMA_TYPES, or bool. rma_p(dest, value, pe) returns a code. rma_g(source, pe) returns the value, or 0 after an
 * error. A naturally aligned value of up to 8 bytes arrives whole: no reader sees half of the value.
 *
 *     int rma_p_long(long *dest, long value, int pe);
 *     long rma_g_long(const long *source, int pe); */

/* rma_ptr: the address by which this PE reaches pe's copy of the symmetric object addr with load and store. NULL,
 * without an error, if load and store do not reach that copy, or if addr is not symmetric. NULL after RMA_ERR_PE (pe is
 * outside 0..n-1). */
void *rma_ptr(const void *addr, int pe);

/* ---------------------------------------------------------------------------------------------------
 * Ordering
 * ------------------------------------------------------------------------------------------------ */

/* rma_progress: execute the requests of PEs of other nodes, and receive the replies to this PE's own requests. The call
 * waits for nothing. It is needed only if no progress thread runs and the program makes no call of the library for a
 * long time. In jobs of one node it does nothing. Any thread may call, as the thread level allows. Returns RMA_SUCCESS,
 * RMA_ERR_STATE. */
int rma_progress(void);

/* rma_progress_thread: start (on is not 0) or end (on is 0) the progress thread, which does what rma_progress does
 * while the program computes. In jobs of several nodes rma_init starts the thread, unless RMA_PROGRESS=none, or MPI was
 * initialized for fewer threads than MPI_THREAD_MULTIPLE. Local. The call does nothing if the thread already runs or
 * has already ended, and in jobs of one node. Sessions of other nodes may send this PE the operations for its
 * neighbours on the node (rma_ctx_session_start): without the thread this PE executes them in its own calls. Returns
 * RMA_SUCCESS, RMA_ERR_STATE (also if MPI allows no such thread), RMA_ERR_SYSTEM (the system cannot start a thread). */
int rma_progress_thread(int on);

/* rma_fence: puts and atomics that this PE made before the call take effect at each target before those that it makes
 * after the call.
 *
 * rma_fence, rma_quiet, barriers, collectives and locks order and complete only operations in RMA_CTX_DEFAULT, which is
 * the context of every call that names none. For other contexts there are rma_ctx_fence and rma_ctx_quiet. */
RMA_INLINED_ int rma_fence(void);

/* rma_quiet: complete all puts, atomics and _nbi operations of this PE. A PE that learns that the call has returned,
 * through an atomic or a barrier of this library, sees their effect. */
RMA_INLINED_ int rma_quiet(void);

/* rma_test_quiet: 1 if all puts, atomics and _nbi operations of this PE are complete, as after rma_quiet; 0 if some are
 * not, and after an error. The call sends what has not been sent yet, and drives progress as rma_progress does. It
 * waits for no PE. Operations through MPI's window are completed, because MPI has no other way to tell whether they
 * are. If an operation that no call has waited for has failed, the call that finds all others complete reports the
 * error, once. */
int rma_test_quiet(void);

/* rma_pe_quiet, rma_pe_fence: rma_quiet and rma_fence for operations on the n PEs pes[0..n) only; operations on other
 * PEs stay pending. rma_pe_fence may wait as long as rma_pe_quiet. Return RMA_SUCCESS, RMA_ERR_ARG (pes is null, and n
 * is not 0), RMA_ERR_PE, and the first error of an operation that no earlier call has waited for. After shmem_pe_quiet,
 * OpenSHMEM 1.6 section 9.12 (Memory Ordering Routines). */
int rma_pe_quiet(const int *pes, size_t n);
int rma_pe_fence(const int *pes, size_t n);

/* rma_barrier_all: rma_quiet, then wait for every PE to arrive. Collective. */
int rma_barrier_all(void);

/* rma_sync_all: rma_team_sync(RMA_TEAM_WORLD): wait for every PE to arrive; complete no puts. Collective. */
int rma_sync_all(void);

/* ---------------------------------------------------------------------------------------------------
 * Atomics, by symmetric address: generic over rma_atomic_OP_TYPE, TYPE a name of RMA_ATOMIC_TYPES or, where the list
 * says "number", float or double
 *
 * Each is one indivisible access to the target's word, with respect to all other updates of that word through this
 * library. An atomic that writes is a release: a PE that reads the new value by an atomic sees this PE's earlier puts.
 * An atomic that reads is an acquire. (fetch only reads; so does a compare_swap that fails, and a min or max that
 * changes nothing. set only writes. The others do both.) Fetching forms return the old value, or 0 after an error; the
 * others return a code. The target must be naturally aligned (RMA_ERR_ADDRESS). Integers wrap around; float and double
 * are rounded as by +.
 *
 *     number   fetch(source, pe)                      return the word's value
 *     number   set(target, value, pe)                 write value; return a code
 *     number   swap(target, value, pe)                write value; return the old value
 *     integer  compare_swap(target, cond, value, pe)  write value if the old one is cond; return the old value
 *     number   add(target, value, pe)                 write old + value                fetch_add returns the old value
 *     integer  inc(target, pe)                        write old + 1                    fetch_inc
 *     integer  and, or, xor(target, value, pe)        write old & | ^ value            fetch_and, fetch_or, fetch_xor
 *     number   min, max(target, value, pe)            write the lesser or greater one of old and value; of a NaN and a
 *                                                     number, the number               fetch_min, fetch_max
 *
 * So: long old = rma_atomic_fetch_add(&counter, 1, pe), or rma_atomic_fetch_add_long(&counter, 1, pe).
 *
 * Each fetching form has an _nbi form (non-blocking, implicit handle): fetch_nbi, swap_nbi, compare_swap_nbi,
 * fetch_add_nbi and so on. It returns a code. It has one more argument, the first: fetch points to any memory of the
 * caller, of the word's type. The old value is in *fetch when the next rma_quiet returns; until then the program must
 * not touch *fetch. Such atomics on other nodes travel in batches. A null fetch is RMA_ERR_ARG, except on-node: there
 * the inlined call writes through the null pointer. After OpenSHMEM 1.6 section 9.7 (Atomic Memory Operations); min,
 * max and the addition of floating-point numbers are ours.
 * ------------------------------------------------------------------------------------------------ */

/* ---------------------------------------------------------------------------------------------------
 * Waiting for words that other PEs change: generic over rma_CALL_TYPE, TYPE a name of RMA_ATOMIC_TYPES
 *
 * ivar, or ivars[0..n), are words of the caller in any memory that other PEs reach. Other PEs may change them by
 * atomics, rma_p and signals. A call that finds the comparison true is an acquire of that word. A PE that waits first
 * polls, then yields the processor between polls, then sleeps between polls; meanwhile it executes requests of PEs of
 * other nodes. The word is on the left of the comparison: RMA_CMP_GT is *ivar > value.
 *
 *     wait_until(ivar, cmp, value)                            until the comparison is true; a code
 *     wait_until_all(ivars, n, status, cmp, value)            until it is true for all words at one poll; a code
 *     wait_until_any(ivars, n, status, cmp, value)            until it is true for one word; returns the word's index,
 *                                                             or SIZE_MAX if status leaves no word
 *                                                             (if several match, any one of them; repeated calls
 *                                                             return each)
 *     wait_until_some(ivars, n, indices, status, cmp, value)  until it is true for at least one word; returns how many,
 *                                                             with their indices in indices[0..)
 *     test, test_all                                          the same without waiting: 1 or 0
 *     test_any, test_some                                     SIZE_MAX, or 0, if it is true for no word
 *
 * status is NULL, or has n numbers: a word whose number is not 0 is left out. If status leaves no word, or n is 0, the
 * calls return at once, as if the comparison were true for all words. The _vector forms (wait_until_all_vector and so
 * on) take n values, one for each word, in place of value. Errors: RMA_ERR_ARG (cmp, a null pointer), RMA_ERR_ADDRESS
 * (a word is not aligned, or is in no memory that other PEs reach), RMA_ERR_STATE. After OpenSHMEM 1.6 section 9.11
 * (Point-To-Point Synchronization Routines).
 * ------------------------------------------------------------------------------------------------ */

enum rma_cmp { RMA_CMP_EQ, RMA_CMP_NE, RMA_CMP_GT, RMA_CMP_GE, RMA_CMP_LT, RMA_CMP_LE };

/* ---------------------------------------------------------------------------------------------------
 * Teams
 *
 * A team is some of the job's PEs, with numbers of their own: 0..n-1. A handle is valid on its own PE only. A PE can be
 * in at most 62 teams at a time, not counting the two predefined ones. Splitting is collective over the parent: all of
 * the parent's PEs call with the same values; only a color and a key may differ. The library compares these values
 * (RMA_ERR_MISMATCH). rma_team_sync, rma_team_barrier and rma_team_destroy are collective over the team. After
 * OpenSHMEM 1.6 section 9.4.
 * ------------------------------------------------------------------------------------------------ */

typedef struct rma_team rma_team; /* an incomplete type: only pointers to it are used */

#define RMA_TEAM_INVALID RMA_NO_HANDLE_(rma_team)
#define RMA_TEAM_WORLD   RMA_HANDLE_(rma_team, 1) /* all PEs, as rma_my_pe numbers them */
#define RMA_TEAM_SHARED  RMA_HANDLE_(rma_team, 2) /* the PEs of this node, as rma_node_my_pe numbers them */

/* rma_team_my_pe: this PE's number in team. rma_team_n_pes: the number of PEs in team. Both return -1 for
 * RMA_TEAM_INVALID, and after RMA_ERR_ARG (team is no team, or was destroyed). Not collective. */
int rma_team_my_pe(const rma_team *team);
int rma_team_n_pes(const rma_team *team);

/* rma_team_translate_pe: the number in `other` of the PE that has number pe in team. -1 if that PE is not in `other`,
 * if team or `other` is RMA_TEAM_INVALID, and after RMA_ERR_ARG, RMA_ERR_PE. Not collective. */
int rma_team_translate_pe(const rma_team *team, int pe, const rma_team *other);

/* rma_team_ptr: rma_ptr for PE number pe of team. NULL also for RMA_TEAM_INVALID, and after RMA_ERR_ARG, RMA_ERR_PE.
 * Not collective. */
void *rma_team_ptr(const rma_team *team, const void *addr, int pe);

/* rma_team_split_strided: make a team of size PEs of the parent: those with the numbers start, start + stride, ..., in
 * this order. stride may be negative. On the parent's other PEs *team is RMA_TEAM_INVALID. *team is written only on
 * success; all PEs return the same code. Returns RMA_SUCCESS, RMA_ERR_PE (start or the last PE is outside the parent),
 * RMA_ERR_ARG, RMA_ERR_MISMATCH, RMA_ERR_NO_MEM (no team number is free on all PEs of the new team, or memory is
 * exhausted). */
int rma_team_split_strided(rma_team *parent, int start, int stride, int size, rma_team **team);

/* rma_team_split_2d: arrange the parent's PEs as a grid, row by row, xrange PEs to a row. The last row may have fewer;
 * if the parent has fewer PEs than xrange, there is one row. *xteam is the row of this PE, *yteam its column. Returns
 * as rma_team_split_strided. */
int rma_team_split_2d(rma_team *parent, int xrange, rma_team **xteam, rma_team **yteam);

/* rma_team_split_color: make a team of all PEs of the parent that give the same color, which must not be negative. They
 * are numbered in the order of their keys, and with equal keys in the order of the parent. color and key may differ
 * between PEs. A PE that gives RMA_COLOR_NONE is in no team, and its *team is RMA_TEAM_INVALID. *team is written only
 * on success; all PEs succeed or all fail. Returns RMA_SUCCESS, RMA_ERR_ARG, RMA_ERR_MISMATCH (another PE is in another
 * call), RMA_ERR_NO_MEM (as rma_team_split_strided). After MPI_Comm_split, MPI-3.1 section 6.4.2. */
#define RMA_COLOR_NONE (-1)
int rma_team_split_color(rma_team *parent, int color, int key, rma_team **team);

/* rma_team_sync: wait for every PE of team to arrive. The call completes no puts (rma_quiet does). After the call a PE
 * sees everything that PEs of its node stored to the node's memory before their calls. Collective over team.
 * RMA_ERR_ARG. */
int rma_team_sync(rma_team *team);

/* rma_team_barrier: rma_quiet, then rma_team_sync. */
int rma_team_barrier(rma_team *team);

/* rma_team_destroy: wait for the PEs of team, and end the team. RMA_TEAM_INVALID is no error; RMA_TEAM_WORLD and
 * RMA_TEAM_SHARED are RMA_ERR_ARG. rma_finalize ends the teams that are left. */
int rma_team_destroy(rma_team *team);

/* ---------------------------------------------------------------------------------------------------
 * Collectives
 *
 * All PEs of a team take part, each with the same root, op, type and sizes (except the length of rma_collect). They
 * make the calls of one team in the same order; no barrier is needed between two calls. Different threads may be in
 * calls of different teams at the same time. With RMA_CHECK=1 the PEs compare their arguments first; if these differ,
 * every PE gets RMA_ERR_MISMATCH, and the text names the arguments. Without it, PEs of a node that read each other's
 * data in calls that differ end the job.
 *
 * dest and source are any memory of the caller. They may be the same address (in place); in rma_fcollect and
 * rma_collect source may also be the place of this PE's block in dest. Otherwise they must not overlap (RMA_ERR_ARG;
 * rma_collect finds this out at its end). They need not be symmetric, nor the same on all PEs. But a buffer that peers
 * cannot reach (one outside symmetric objects and the local heap) costs one more copy, and a long transfer is no faster
 * than that copy.
 * When a call returns, dest of this PE is complete and its source may be reused. Other PEs may still be in the call:
 * synchronize with a peer before you read its dest. Collectives complete no pending puts.
 *
 * A length of 0 is no error, and needs no addresses. Sizes are in bytes; n of the typed calls counts elements. Errors:
 * RMA_ERR_ARG (team, a null pointer, an overflow), RMA_ERR_PE (root), RMA_ERR_ADDRESS (the range passes the end of what
 * is allocated from a heap, or is not aligned for its type), RMA_ERR_MISMATCH, RMA_ERR_STATE; between nodes also
 * RMA_ERR_MPI, RMA_ERR_NO_MEM. Between nodes a PE that receives a number of bytes that differs from its arguments
 * returns RMA_ERR_MISMATCH, even without RMA_CHECK; after that, or after RMA_ERR_MPI, its next collectives of that team
 * that cross nodes return RMA_ERR_STATE. A PE that finds its own arguments wrong returns at once, and the others may
 * wait for it; with RMA_CHECK=1 the call fails on all PEs, with that code. After OpenSHMEM 1.6 section 9.10 (Collective
 * Routines).
 * ------------------------------------------------------------------------------------------------ */

/* rma_broadcast: copy len bytes from source on PE number root of team to dest on each PE of team, root included. Only
 * root's source is read. */
int rma_broadcast(rma_team *team, void *dest, const void *source, size_t len, int root);

/* rma_fcollect: gather len bytes from the source of each PE into dest of every PE, in the order of the PEs' numbers:
 * dest has n_pes * len bytes. In place means that source is dest: this PE's block is at the beginning of dest, and the
 * call moves it to its place. */
int rma_fcollect(rma_team *team, void *dest, const void *source, size_t len);

/* rma_collect: the same, each PE with its own len, which may be 0. dest has room for the sum of all len. A PE whose len
 * is 0 also needs dest, unless the sum is 0. */
int rma_collect(rma_team *team, void *dest, const void *source, size_t len);

/* rma_alltoall: source and dest have n_pes blocks of len bytes each. Block i of source goes to PE i; block i of dest
 * comes from PE i. */
int rma_alltoall(rma_team *team, void *dest, const void *source, size_t len);

/* rma_alltoalls: rma_alltoall of blocks of n elements of elem bytes, with strides counted in elements: element k of
 * block i is at source + (i * n + k) * source_stride * elem, and in dest likewise with dest_stride. Strides and elem
 * are at least 1; in place the strides are equal. */
int rma_alltoalls(rma_team *team, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                  size_t elem, size_t n);

/* rma_gather: the blocks of len bytes of all PEs come together on PE number root of team, in the order of the PEs'
 * numbers: its dest has n_pes * len bytes. The others' dest is not looked at, and may be NULL. rma_scatter: the other
 * way round: source of root is n_pes blocks of len bytes, and block i goes to dest of PE i. The others' source is not
 * looked at. On root the short buffer may also be the place of its block in the long one. The PEs return when their own
 * part is done. */
int rma_gather(rma_team *team, void *dest, const void *source, size_t len, int root);
int rma_scatter(rma_team *team, void *dest, const void *source, size_t len, int root);

/* Reductions and scans, by type: generic over rma_OP_reduce_TYPE and so on, with
 * TYPE *dest, const TYPE *source
 *
 *     rma_OP_reduce(team, dest, source, n)   dest[i] = source[i] of PE 0 OP source[i] of PE 1 OP ... of the last PE, on
 *                                            each PE
 *     rma_OP_reduce_root(team, dest, source, n, root)
 *                                            the same on PE number root; the others' dest is not looked at
 *     rma_sum_inscan(team, dest, source, n)  dest[i] = the sum of source[i] of PE 0 to this PE
 *     rma_sum_exscan(team, dest, source, n)  dest[i] = the sum of source[i] of PE 0 to the one before this PE; 0 on
 *                                            PE 0
 *
 *     rma_min_inscan, rma_max_inscan         the minimum or maximum of source[i] of PE 0 to this PE
 *     rma_min_exscan, rma_max_exscan         that of PE 0 to the one before this PE; on PE 0 the greatest (min) or
 * least (max) value of the type, infinities of floating-point types
 *
 *     OP          TYPE                                        tables of the types
 *     and or xor  all integers                                RMA_INTEGER_TYPES, RMA_TYPE_ALIASES
 *     min max     these and float, double, long double        RMA_TYPES, RMA_TYPE_ALIASES
 *     sum prod    these and complexf, complexd                RMA_COMPLEX_TYPES also
 *                 (float _Complex, double _Complex)
 *
 * So: rma_sum_reduce(RMA_TEAM_WORLD, &total, &mine, 1), or rma_sum_reduce_double(...). Sums in scans have
 * the types of sum. Integers wrap around. Floating-point results are the same on all PEs, bit by bit. A sum starts from
 * the first PE's value, not from a zero, so -0 + -0 is -0. Min and max are b < a ? b : a and b > a ? b : a, in an order
 * that the library chooses: with NaNs, or zeros of both signs, the result is one of the values that these expressions
 * give. */

/* ---------------------------------------------------------------------------------------------------
 * Contexts
 *
 * A context holds the operations that were begun in it and are pending. A quiet or a fence of one context has no effect
 * on the operations of another. Threads that each use their own context do not wait for each other. The calls of a
 * context number PEs as its team does. A handle is valid on its own PE only; no call on contexts is collective. On-node
 * operations are complete at once; there a context costs a nanosecond. After OpenSHMEM 1.6 section 9.5.
 * ------------------------------------------------------------------------------------------------ */

typedef struct rma_ctx rma_ctx; /* an incomplete type: only pointers to it are used */

#define RMA_CTX_INVALID RMA_NO_HANDLE_(rma_ctx)
#define RMA_CTX_DEFAULT                                                                                                \
    RMA_HANDLE_(rma_ctx, 1) /* the context of all calls that name none; its PEs are those of RMA_TEAM_WORLD */

/* Promises of the program about a context. A context without promises is not slower. */
enum rma_ctx_option {
    RMA_CTX_SERIALIZED = 1, /* threads use it one at a time */
    RMA_CTX_PRIVATE = 2,    /* only the thread that created it uses it */
    RMA_CTX_NOSTORE = 4     /* its quiet and fence need not order the PE's own stores */
};

/* rma_ctx_create: make a context for the PEs of RMA_TEAM_WORLD. options: 0, or values of enum rma_ctx_option or'ed.
 * *ctx is written only on success. A PE has at most 4095 contexts at a time. rma_team_create_ctx: make a context for
 * the PEs of team, with the team's numbers; the context ends with its team. Return RMA_SUCCESS, RMA_ERR_ARG (team, a
 * null ctx, options), RMA_ERR_NO_MEM, RMA_ERR_STATE. */
int rma_ctx_create(int options, rma_ctx **ctx);
int rma_team_create_ctx(rma_team *team, int options, rma_ctx **ctx);

/* rma_ctx_destroy: rma_ctx_quiet, then end the context. No other thread may use the context meanwhile. RMA_CTX_INVALID
 * is no error; RMA_CTX_DEFAULT is RMA_ERR_ARG. rma_finalize ends the contexts that are left. */
int rma_ctx_destroy(rma_ctx *ctx);

/* rma_ctx_team: write to *team the team whose numbers the calls of ctx use. RMA_ERR_ARG. */
int rma_ctx_team(const rma_ctx *ctx, rma_team **team);

/* Promises of the program about the operations of a session. */
enum rma_ctx_session_option {
    RMA_CTX_SESSION_BATCH = 1 /* they are many and short: each may wait for others to the same PE */
};

/* rma_ctx_session_start: open a session in ctx, which may be RMA_CTX_DEFAULT. options: 0, or RMA_CTX_SESSION_BATCH.
 * While a session with RMA_CTX_SESSION_BATCH is open, short operations on a PE of another node for which no call waits
 * (a put, a put with a signal, an atomic that returns no value, an _nbi operation) are collected in one message. The
 * message leaves when it is full, when a call waits for that PE (a quiet, a fence, an atomic that fetches), when the
 * session stops, or when it is a millisecond old and this PE drives progress (rma_progress). A session does not change
 * ordering and completion. Operations on several PEs of one node may be collected in one message; one of these PEs then
 * executes them for the others. While operations on other nodes are under way, atomics that return no value and _nbi
 * operations on words of this PE may wait with them: a load sees them after a quiet. Sessions do not nest: a second
 * start adds its options to the open session. A session changes nothing else on-node, nor where the network executes
 * puts and gets without the target.
 *
 * rma_ctx_session_stop: end the session of ctx, and send what it has collected, without a wait. It does nothing if no
 * session is open. rma_ctx_destroy and rma_finalize end sessions too. Both calls are local, and return RMA_SUCCESS,
 * RMA_ERR_ARG (ctx, options), RMA_ERR_STATE. After OpenSHMEM 1.6 section 9.9. */
int rma_ctx_session_start(rma_ctx *ctx, int options);
int rma_ctx_session_stop(rma_ctx *ctx);

/* rma_ctx_quiet, rma_ctx_fence, rma_ctx_test_quiet, rma_ctx_pe_quiet, rma_ctx_pe_fence: as rma_quiet and the others,
 * for operations that were begun in ctx. A ctx that is not a context, or was destroyed, is RMA_ERR_ARG in these and in
 * all other calls. */
RMA_INLINED_ int rma_ctx_quiet(rma_ctx *ctx);
RMA_INLINED_ int rma_ctx_fence(rma_ctx *ctx);
int rma_ctx_test_quiet(rma_ctx *ctx);
int rma_ctx_pe_quiet(rma_ctx *ctx, const int *pes, size_t n);
int rma_ctx_pe_fence(rma_ctx *ctx, const int *pes, size_t n);

/* The calls by symmetric address, in a context: rma_ctx_ replaces rma_, the context is the first argument, and all else
 * is the same. Where a description above says rma_quiet, read rma_ctx_quiet. An atomic releases only the puts of its
 * own context.
 *
 *     int code = rma_ctx_p(ctx, &word, 5L, pe);
 *     long value = rma_ctx_g(ctx, &word, pe);                      by type: rma_ctx_p_TYPE, rma_ctx_g_TYPE
 *     long old = rma_ctx_atomic_fetch_add(ctx, &word, 1L, pe);     by type: rma_ctx_atomic_OP_TYPE
 *     int code = rma_ctx_atomic_swap_nbi(ctx, &old, &word, 7L, pe); */
RMA_INLINED_ int rma_ctx_put(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
RMA_INLINED_ int rma_ctx_get(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
RMA_INLINED_ int rma_ctx_put_nbi(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
RMA_INLINED_ int rma_ctx_get_nbi(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_ctx_iput(rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                 size_t elem, size_t n, int pe);
int rma_ctx_iget(rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                 size_t elem, size_t n, int pe);
int rma_ctx_iput_signal(rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                        size_t elem, size_t n, uint64_t *signal, uint64_t value, int op, int pe);
RMA_INLINED_ int rma_ctx_put_signal(rma_ctx *ctx, void *dest, const void *source, size_t len, uint64_t *signal,
                                    uint64_t value, int op, int pe);
RMA_INLINED_ int rma_ctx_put_signal_nbi(rma_ctx *ctx, void *dest, const void *source, size_t len, uint64_t *signal,
                                        uint64_t value, int op, int pe);
RMA_INLINED_ int rma_ctx_signal_set(rma_ctx *ctx, uint64_t *signal, uint64_t value, int pe);
RMA_INLINED_ int rma_ctx_signal_add(rma_ctx *ctx, uint64_t *signal, uint64_t value, int pe);

/* ---------------------------------------------------------------------------------------------------
 * Locks
 * ------------------------------------------------------------------------------------------------ */

/* A lock among all PEs: a symmetric object, zero (RMA_LOCK_INIT) on each PE before its first use. The lock is fair: PEs
 * get it in the order of their requests. Each PE polls a word that no other PE polls, and sleeps where PEs outnumber
 * processors. A PE holds the lock, not a thread of the PE. After T. Craig, "Building FIFO and priority-queuing spin
 * locks from atomic swap", 1993; J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on shared-memory
 * multiprocessors", 1991; OpenSHMEM 1.6 section 9.13 (Distributed Locking Routines). */
typedef struct {
    uint32_t tail_, node_;
} __attribute__((aligned(8), may_alias)) rma_lock_t;
#define RMA_LOCK_INIT                                                                                                  \
    { 0, 0 }

/* rma_set_lock: wait for the lock, and take it. This PE then sees what earlier holders did, their puts to any PE
 * included. rma_test_lock: if the lock is free, take it and return 1; else return 0, also after an error.
 * rma_clear_lock: complete this PE's puts, then pass the lock to the next PE. Not collective. Return RMA_SUCCESS,
 * RMA_ERR_ADDRESS (lock is no symmetric address, or not aligned to 8), and RMA_ERR_STATE (rma_set_lock and
 * rma_test_lock: this PE holds the lock already; rma_clear_lock: this PE does not hold it). */
RMA_INLINED_ int rma_set_lock(rma_lock_t *lock);
RMA_INLINED_ int rma_test_lock(rma_lock_t *lock);
RMA_INLINED_ int rma_clear_lock(rma_lock_t *lock);

/* ---------------------------------------------------------------------------------------------------
 * Global pointers
 * ------------------------------------------------------------------------------------------------ */

/* rma_gptr: the global pointer of addr on pe. addr is a symmetric address (a global or static variable included). When
 * pe is the caller, addr may also be an address in the caller's local heap, or in a region that the caller has
 * attached. Returns RMA_GPTR_NULL for a null addr, and after RMA_ERR_ADDRESS, RMA_ERR_PE. */
rma_gptr_t rma_gptr(const void *addr, int pe);

/* rma_gptr_pe: the PE that owns the memory that g names. Undefined for RMA_GPTR_NULL. Local, any time. */
RMA_INLINED_ int rma_gptr_pe(rma_gptr_t g);

/* rma_gptr_diff: bytes from b to a. Undefined unless both name bytes of one block, as with C pointers. */
RMA_INLINED_ ptrdiff_t rma_gptr_diff(rma_gptr_t a, rma_gptr_t b);

/* rma_gptr_ptr: the address by which this PE reaches g with load and store. NULL, without an error, if load and store
 * do not reach g (another node, or another PE's attached memory), if g is RMA_GPTR_NULL, or if g names no memory. */
void *rma_gptr_ptr(rma_gptr_t g);

/* Put and get by global pointer: as rma_put, rma_get and their _nbi forms. RMA_GPTR_NULL is RMA_ERR_ADDRESS, and so is
 * a global pointer into a region that has been detached. */
RMA_INLINED_ int rma_gptr_put(rma_gptr_t dest, const void *source, size_t len);
RMA_INLINED_ int rma_gptr_get(void *dest, rma_gptr_t source, size_t len);
RMA_INLINED_ int rma_gptr_put_nbi(rma_gptr_t dest, const void *source, size_t len);
RMA_INLINED_ int rma_gptr_get_nbi(void *dest, rma_gptr_t source, size_t len);

/* rma_gptr_put_signal, rma_gptr_put_signal_nbi: as rma_put_signal and rma_put_signal_nbi. signal names a word of
 * uint64_t, aligned to 8, of the same PE or of another one; a PE that sees the signal sees the data. With len 0 they
 * ignore dest. */
RMA_INLINED_ int rma_gptr_put_signal(rma_gptr_t dest, const void *source, size_t len, rma_gptr_t signal, uint64_t value,
                                     int op);
RMA_INLINED_ int rma_gptr_put_signal_nbi(rma_gptr_t dest, const void *source, size_t len, rma_gptr_t signal,
                                         uint64_t value, int op);

/* rma_gptr_iput, rma_gptr_iget, rma_gptr_iput_signal: as rma_iput, rma_iget and rma_iput_signal. The whole remote span
 * must lie in one segment or attached region. */
int rma_gptr_iput(rma_gptr_t dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem,
                  size_t n);
int rma_gptr_iget(void *dest, rma_gptr_t source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n);
int rma_gptr_iput_signal(rma_gptr_t dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                         size_t elem, size_t n, rma_gptr_t signal, uint64_t value, int op);

/* rma_gptr_p_TYPE, rma_gptr_g_TYPE: as rma_p_TYPE and rma_g_TYPE. There is no generic form, because g does not tell
 * the type of its word.
 *
 *     int rma_gptr_p_long(rma_gptr_t dest, long value);
 *     long rma_gptr_g_long(rma_gptr_t source); */

/* The calls above in a context: rma_ctx_gptr_ in place of rma_gptr_, the context as first argument. A global pointer
 * names a PE of the job, whatever the context's team is.
 *
 *     int code = rma_ctx_gptr_p_long(ctx, g, 5);
 *     long value = rma_ctx_gptr_g_long(ctx, g); */
RMA_INLINED_ int rma_ctx_gptr_put(rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len);
RMA_INLINED_ int rma_ctx_gptr_get(rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len);
RMA_INLINED_ int rma_ctx_gptr_put_nbi(rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len);
RMA_INLINED_ int rma_ctx_gptr_get_nbi(rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len);
RMA_INLINED_ int rma_ctx_gptr_put_signal(rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len,
                                         rma_gptr_t signal, uint64_t value, int op);
RMA_INLINED_ int rma_ctx_gptr_put_signal_nbi(rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len,
                                             rma_gptr_t signal, uint64_t value, int op);
int rma_ctx_gptr_iput(rma_ctx *ctx, rma_gptr_t dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                      size_t elem, size_t n);
int rma_ctx_gptr_iget(rma_ctx *ctx, void *dest, rma_gptr_t source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                      size_t elem, size_t n);
int rma_ctx_gptr_iput_signal(rma_ctx *ctx, rma_gptr_t dest, const void *source, ptrdiff_t dest_stride,
                             ptrdiff_t source_stride, size_t elem, size_t n, rma_gptr_t signal, uint64_t value, int op);

/* Atomics on the word that g names: each of those above, with rma_gptr_atomic_ for rma_atomic_, a global pointer as the
 * target, and no PE. g does not tell the type of its word. So rma_gptr_atomic_OP is for words of uint64_t; for other
 * words there is rma_gptr_atomic_OP_TYPE, where TYPE is a name of RMA_GPTR_ATOMIC_TYPES or float or double.
 *
 *     uint64_t old = rma_gptr_atomic_fetch_add(g, 1);
 *     int code = rma_gptr_atomic_max_double(g, 0.5);
 *
 * For attached memory of another PE of this node a thread of the owner executes the atomic, which takes some ten
 * microseconds. RMA_ERR_SYSTEM if the owner has died. */

/* ---------------------------------------------------------------------------------------------------
 * Sections and lists: many pieces of an array in one call
 *
 * Three shapes. Each has a put and a get, with the forms that rma_put has: _nbi, rma_ctx_, rma_gptr_ and rma_ctx_gptr_
 * (rma_ctx_gptr_get_section_nbi). Each call moves its elements to or from one PE; the remote elements lie in one
 * segment or attached region. The whole call is checked before the first byte moves. The elements that are written must
 * not overlap each other, nor those that are read. Between nodes the elements are packed into messages, and the target
 * unpacks each message when it arrives, so a call costs few messages, whatever its shape is.
 *
 * Errors: as rma_put. RMA_ERR_ARG also for elem 0, dims outside 0..RMA_DIMS_MAX, a null array, a product or a span that
 * overflows, lists whose lengths differ in sum, and for elements of dest that overlap each other (blocks are compared
 * only with RMA_CHECK=1). After the noncontiguous put and get of GASNet-EX and ARMCI.
 * ------------------------------------------------------------------------------------------------ */

#define RMA_DIMS_MAX 15

/* rma_put_section, rma_get_section: a box of count[0] * ... * count[dims-1] elements of elem bytes each. Element
 * (i0, i1, ...) is at dest + i0 * dest_stride[0] + i1 * dest_stride[1] + ... and at source likewise. Strides are in
 * BYTES, in any order of size, and may be negative: dest and source are the addresses of element (0, 0, ...). Strides
 * of the side that is read may be 0. dims 0 is one element. A count of 0 moves nothing.
 *
 *     int rma_put_section(void *dest, const void *source, const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride,
 *                         size_t elem, int dims, const size_t *count, int pe);
 *     int rma_get_section(void *dest, const void *source, const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride,
 *                         size_t elem, int dims, const size_t *count, int pe);
 *     int rma_ctx_gptr_put_section_nbi(rma_ctx *ctx, rma_gptr_t dest, const void *source, const ptrdiff_t *dest_stride,
 *                         const ptrdiff_t *source_stride, size_t elem, int dims, const size_t *count);
 *
 * rma_put_indexed, rma_get_indexed: n elements of elem bytes. The remote elements are those with the indices
 * index[0..n) of an array of such elements that begins at the remote address; the local elements are contiguous.
 * Indices may be negative. If a put names an element twice, it gets one of the values.
 *
 *     int rma_put_indexed(void *dest, const void *source, const ptrdiff_t *index, size_t elem, size_t n, int pe);
 *     int rma_get_indexed(void *dest, const void *source, const ptrdiff_t *index, size_t elem, size_t n, int pe);
 *
 * rma_put_blocks, rma_get_blocks: two lists of blocks, at offsets in bytes from dest and from source. The bytes of the
 * blocks of source, one after the other, go to those of dest. Both lists have the same number of bytes; their blocks
 * may differ. A null list stands for one block at offset 0, as long as the other list.
 *
 *     int rma_put_blocks(void *dest, const void *source, const struct rma_block *to, size_t n_to,
 *                        const struct rma_block *from, size_t n_from, int pe);
 *     int rma_get_blocks(void *dest, const void *source, const struct rma_block *to, size_t n_to,
 *                        const struct rma_block *from, size_t n_from, int pe);
 *
 * Until an _nbi form is complete, the program must not change the elements; it may reuse the arrays of strides, counts,
 * indices and blocks when the call returns. */
struct rma_block {
    ptrdiff_t offset;
    size_t len;
};

/* ---------------------------------------------------------------------------------------------------
 * Accumulate: update the elements of an array
 *
 * rma_accumulate does dest[i] = dest[i] op scale * source[i] for n elements. scale points to one value of the type, or
 * is NULL for 1. rma_get_accumulate also writes the values from before the update to fetch[i], which is local. With
 * RMA_OP_FETCH it only reads, and source and scale are ignored; with RMA_OP_REPLACE it writes scale * source[i].
 *
 *     int rma_accumulate(void *dest, const void *source, size_t n, int type, int op, const void *scale, int pe);
 *     int rma_get_accumulate(void *dest, const void *source, void *fetch, size_t n, int type, int op,
 *                            const void *scale, int pe);
 *
 * The same on sections, elements by index (dest is indexed; source and fetch are contiguous) and blocks (whose lengths
 * and offsets are multiples of the type's size), as in the calls above:
 *
 *     int rma_accumulate_section(void *dest, const void *source, const ptrdiff_t *dest_stride,
 *                                const ptrdiff_t *source_stride, int dims, const size_t *count, int type, int op,
 *                                const void *scale, int pe);
 *     int rma_get_accumulate_section(void *dest, const void *source, void *fetch, const ptrdiff_t *dest_stride,
 *                                const ptrdiff_t *source_stride, const ptrdiff_t *fetch_stride, int dims,
 *                                const size_t *count, int type, int op, const void *scale, int pe);
 *     int rma_accumulate_indexed(void *dest, const void *source, const ptrdiff_t *index, size_t n, int type, int op,
 *                                const void *scale, int pe);
 *     int rma_get_accumulate_indexed(void *dest, const void *source, void *fetch, const ptrdiff_t *index, size_t n,
 *                                int type, int op, const void *scale, int pe);
 *     int rma_accumulate_blocks(void *dest, const void *source, const struct rma_block *to, size_t n_to,
 *                                const struct rma_block *from, size_t n_from, int type, int op, const void *scale,
 *                                int pe);
 *     int rma_get_accumulate_blocks(void *dest, const void *source, void *fetch, const struct rma_block *to,
 *                                size_t n_to, const struct rma_block *from, size_t n_from,
 *                                const struct rma_block *into, size_t n_into, int type, int op, const void *scale,
 *                                int pe);
 *
 * An index may stand in a list several times: each of its updates is done. All have the forms _nbi, rma_ctx_, rma_gptr_
 * and rma_ctx_gptr_.
 *
 * The update of each element is atomic with respect to other accumulates of the same type, and to rma_atomic_ calls of
 * the same type; a call as a whole is not. A reader by rma_atomic_fetch sees no half of an element of 4 or 8 bytes.
 * Accumulates of one PE and one context to the same element of another PE take effect in the order of the calls. An
 * accumulate is no release and no acquire: rma_quiet completes it, as it does a put. Integers wrap around; an operation
 * rounds as C does. Elements are naturally aligned (RMA_ERR_ADDRESS).
 *
 *     op                                                  types
 *     RMA_OP_SUM, RMA_OP_PROD                             all
 *     RMA_OP_MIN, RMA_OP_MAX                              integers, float, double, ldouble
 *     RMA_OP_AND, RMA_OP_OR, RMA_OP_XOR                   integers
 *     RMA_OP_LAND, RMA_OP_LOR, RMA_OP_LXOR                integers; logical: the result is 0 or 1
 *     RMA_OP_REPLACE, RMA_OP_FETCH (get_accumulate only)  all
 *
 * Errors: as the calls above; RMA_ERR_ARG also for a type or op that does not exist, and for an op that the type does
 * not have. After an error nothing has been changed. After MPI_Accumulate and MPI_Get_accumulate, MPI-3.1 section 11.3.
 * ------------------------------------------------------------------------------------------------ */

enum rma_op {
    RMA_OP_SUM,
    RMA_OP_PROD,
    RMA_OP_MIN,
    RMA_OP_MAX,
    RMA_OP_AND,
    RMA_OP_OR,
    RMA_OP_XOR,
    RMA_OP_LAND,
    RMA_OP_LOR,
    RMA_OP_LXOR,
    RMA_OP_REPLACE,
    RMA_OP_FETCH
};

/* Types as the machine has them, and then the names of C. */
enum rma_type {
    RMA_INT8,
    RMA_INT16,
    RMA_INT32,
    RMA_INT64,
    RMA_UINT8,
    RMA_UINT16,
    RMA_UINT32,
    RMA_UINT64,
    RMA_FLOAT,
    RMA_DOUBLE,
    RMA_LDOUBLE,
    RMA_COMPLEXF, /* float _Complex */
    RMA_COMPLEXD, /* double _Complex */
    RMA_SHORT = RMA_INT16,
    RMA_INT = RMA_INT32,
    RMA_LONG = sizeof(long) == 8 ? RMA_INT64 : RMA_INT32,
    RMA_LLONG = RMA_INT64,
    RMA_USHORT = RMA_UINT16,
    RMA_UINT = RMA_UINT32,
    RMA_ULONG = sizeof(long) == 8 ? RMA_UINT64 : RMA_UINT32,
    RMA_ULLONG = RMA_UINT64
};

/* Declares the eight forms of a call. A put has the remote address first, a get second. */
#define RMA_FORMS_PUT_(CALL, ...)                                                                                      \
    int rma_##CALL(void *dest, const void *source, __VA_ARGS__, int pe);                                               \
    int rma_##CALL##_nbi(void *dest, const void *source, __VA_ARGS__, int pe);                                         \
    int rma_ctx_##CALL(rma_ctx *ctx, void *dest, const void *source, __VA_ARGS__, int pe);                             \
    int rma_ctx_##CALL##_nbi(rma_ctx *ctx, void *dest, const void *source, __VA_ARGS__, int pe);                       \
    int rma_gptr_##CALL(rma_gptr_t dest, const void *source, __VA_ARGS__);                                             \
    int rma_gptr_##CALL##_nbi(rma_gptr_t dest, const void *source, __VA_ARGS__);                                       \
    int rma_ctx_gptr_##CALL(rma_ctx *ctx, rma_gptr_t dest, const void *source, __VA_ARGS__);                           \
    int rma_ctx_gptr_##CALL##_nbi(rma_ctx *ctx, rma_gptr_t dest, const void *source, __VA_ARGS__);
#define RMA_FORMS_GET_(CALL, ...)                                                                                      \
    int rma_##CALL(void *dest, const void *source, __VA_ARGS__, int pe);                                               \
    int rma_##CALL##_nbi(void *dest, const void *source, __VA_ARGS__, int pe);                                         \
    int rma_ctx_##CALL(rma_ctx *ctx, void *dest, const void *source, __VA_ARGS__, int pe);                             \
    int rma_ctx_##CALL##_nbi(rma_ctx *ctx, void *dest, const void *source, __VA_ARGS__, int pe);                       \
    int rma_gptr_##CALL(void *dest, rma_gptr_t source, __VA_ARGS__);                                                   \
    int rma_gptr_##CALL##_nbi(void *dest, rma_gptr_t source, __VA_ARGS__);                                             \
    int rma_ctx_gptr_##CALL(rma_ctx *ctx, void *dest, rma_gptr_t source, __VA_ARGS__);                                 \
    int rma_ctx_gptr_##CALL##_nbi(rma_ctx *ctx, void *dest, rma_gptr_t source, __VA_ARGS__);

#define RMA_SECTION_                                                                                                   \
    const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, size_t elem, int dims, const size_t *count
#define RMA_INDEXED_ const ptrdiff_t *index, size_t elem, size_t n
#define RMA_BLOCKS_  const struct rma_block *to, size_t n_to, const struct rma_block *from, size_t n_from
#define RMA_UPDATE_  int type, int op, const void *scale

RMA_FORMS_PUT_(put_section, RMA_SECTION_)
RMA_FORMS_GET_(get_section, RMA_SECTION_)
RMA_FORMS_PUT_(put_indexed, RMA_INDEXED_)
RMA_FORMS_GET_(get_indexed, RMA_INDEXED_)
RMA_FORMS_PUT_(put_blocks, RMA_BLOCKS_)
RMA_FORMS_GET_(get_blocks, RMA_BLOCKS_)
RMA_FORMS_PUT_(accumulate, size_t n, RMA_UPDATE_)
RMA_FORMS_PUT_(get_accumulate, void *fetch, size_t n, RMA_UPDATE_)
RMA_FORMS_PUT_(accumulate_section, const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride, int dims,
               const size_t *count, RMA_UPDATE_)
RMA_FORMS_PUT_(get_accumulate_section, void *fetch, const ptrdiff_t *dest_stride, const ptrdiff_t *source_stride,
               const ptrdiff_t *fetch_stride, int dims, const size_t *count, RMA_UPDATE_)
RMA_FORMS_PUT_(accumulate_indexed, const ptrdiff_t *index, size_t n, RMA_UPDATE_)
RMA_FORMS_PUT_(get_accumulate_indexed, void *fetch, const ptrdiff_t *index, size_t n, RMA_UPDATE_)
RMA_FORMS_PUT_(accumulate_blocks, RMA_BLOCKS_, RMA_UPDATE_)
RMA_FORMS_PUT_(get_accumulate_blocks, void *fetch, RMA_BLOCKS_, const struct rma_block *into, size_t n_into,
               RMA_UPDATE_)

/* ---------------------------------------------------------------------------------------------------
 * Types: the first tables list distinct types; the tables of aliases list other names of these types. The generic
 * macros expand the first tables. A macro is not expanded inside its own expansion. So a macro that a program passes to
 * one of these tables can use only calls by type (rma_p_long), not generic calls (rma_p).
 * ------------------------------------------------------------------------------------------------ */

__extension__ typedef float _Complex rma_complexf_; /* C++ has them by extension */
__extension__ typedef double _Complex rma_complexd_;
#ifdef __cplusplus
typedef bool rma_bool_;
#else
typedef _Bool rma_bool_;
#endif

/* clang-format off */
#define RMA_ATOMIC_TYPES_WITH_(X, A)                                                                    \
    X(A, int, int) X(A, long, long) X(A, llong, long long)                                              \
    X(A, uint, unsigned int) X(A, ulong, unsigned long) X(A, ullong, unsigned long long)
#define RMA_ATOMIC_FLOAT_TYPES_WITH_(X, A) X(A, float, float) X(A, double, double)
#define RMA_ATOMIC_NUMBERS_WITH_(X, A) RMA_ATOMIC_TYPES_WITH_(X, A) RMA_ATOMIC_FLOAT_TYPES_WITH_(X, A)
#define RMA_TYPES_WITH_(X, A) RMA_ATOMIC_NUMBERS_WITH_(X, A)                                            \
    X(A, char, char) X(A, schar, signed char) X(A, uchar, unsigned char) X(A, short, short)             \
    X(A, ushort, unsigned short) X(A, ldouble, long double)

#define RMA_INTEGER_TYPES_WITH_(X, A) RMA_ATOMIC_TYPES_WITH_(X, A)                                      \
    X(A, char, char) X(A, schar, signed char) X(A, uchar, unsigned char) X(A, short, short)             \
    X(A, ushort, unsigned short)
#define RMA_COMPLEX_TYPES_WITH_(X, A) X(A, complexf, rma_complexf_) X(A, complexd, rma_complexd_)
#define RMA_SUM_TYPES_WITH_(X, A) RMA_TYPES_WITH_(X, A) RMA_COMPLEX_TYPES_WITH_(X, A)

#define RMA_PLAIN_(X, NAME, TYPE) X(NAME, TYPE)
#define RMA_ATOMIC_TYPES(X) RMA_ATOMIC_TYPES_WITH_(RMA_PLAIN_, X)
#define RMA_ATOMIC_FLOAT_TYPES(X) RMA_ATOMIC_FLOAT_TYPES_WITH_(RMA_PLAIN_, X)
#define RMA_ATOMIC_TYPE_ALIASES(X)                                                                      \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)                         \
    X(size, size_t) X(ptrdiff, ptrdiff_t)
#define RMA_GPTR_ATOMIC_TYPES(X)                                                                        \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)
#define RMA_TYPES(X) RMA_TYPES_WITH_(RMA_PLAIN_, X)
#define RMA_INTEGER_TYPES(X) RMA_INTEGER_TYPES_WITH_(RMA_PLAIN_, X)
#define RMA_COMPLEX_TYPES(X) RMA_COMPLEX_TYPES_WITH_(RMA_PLAIN_, X)
#define RMA_TYPE_ALIASES(X) RMA_ATOMIC_TYPE_ALIASES(X)                                                  \
    X(int8, int8_t) X(int16, int16_t) X(uint8, uint8_t) X(uint16, uint16_t)
/* clang-format on */

#include <rma_inline.h>

#pragma GCC visibility pop

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif

/* The calls by type and the generic forms. <shmem.h> leaves them out, so that its programs compile fast; a program that
 * includes both headers, in any order, gets them. */
#ifndef RMA_NO_TYPED_
#include <rma_typed.h>
#endif
