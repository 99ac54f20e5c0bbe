/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.h: the native interface of librma, a Partitioned Global Address Space runtime on MPI-3.
 *
 * A job is n processing elements (PEs) started by mpiexec. Each PE owns a piece of remotely accessible
 * memory; any PE reads, writes and updates the memory of any other without that PE taking part.
 * This header is the manual of the interface; man pages repeat it call by call.
 *
 * WORDS
 *   PE                a process of the job, numbered 0..rma_n_pes()-1 in the order of MPI_COMM_WORLD
 *   on-node           a PE whose memory this PE reaches by load and store
 *   symmetric object  an object that exists on each PE at the same offset: what rma_malloc returns, and the program's
 *                     global and static variables (below). The caller names it by its OWN address; the PE argument
 *                     says whose copy is meant
 *   local heap        memory that one PE makes remotely accessible alone: what rma_alloc_mem returns
 *   global pointer    PE and offset in one 64-bit word: names any byte of either kind for every PE
 *   origin, target    the PE that calls, the PE whose memory is touched
 *
 * ERRORS
 * Calls return RMA_SUCCESS (0) or a code of enum rma_error; calls that return a pointer or a value
 * return NULL or 0 instead. rma_last_error gives the text: the call, the argument, its value.
 * A caller's mistake is first shown to the error handler (rma_set_errhandler): by default it prints the
 * text and aborts the job, as MPI does. Exhaustion (RMA_ERR_NO_MEM) goes to the handler only in rma_init.
 * Arguments that a call writes are written only when it succeeds.
 *
 * INLINE
 * The calls marked inline are compiled into the caller (rma_inline.h), and are symbols of the library too.
 *
 * A program that is compiled with RMA_PROFILE defined calls the symbols instead. Each function has a second symbol with
 * a p before its name, prma_put for rma_put: a library that defines the first one, to measure or to trace, calls the
 * second (rma(7), PROFILING).
 *
 * GLOBAL VARIABLES
 * The writable global and static variables of the main program are symmetric, if all PEs run the same program; those of
 * shared libraries are not, nor are constants. rma_init moves them into shared memory, at their addresses, so it must
 * be called before the program has threads that write them, and a process made by fork shares them with its parent.
 * With RMA_STATICS=window they stay where they are: peers of the node then put and get by process_vm_writev(2) and
 * process_vm_readv(2), a thread of the owner does their atomics, and rma_ptr and rma_gptr_ptr give NULL for the copies
 * of other PEs. With RMA_STATICS=off they are not symmetric.
 *
 * THREADS
 * As in MPI: with RMA_THREAD_MULTIPLE any thread calls anything at any time, except that collective calls of one PE
 * must come one after the other; those listed under "Collectives", rma_team_sync and rma_team_barrier only for each
 * team (RMA_TEAM_WORLD and RMA_TEAM_SHARED count as one). "Collective" means: every PE calls it, in one order.
 *
 * MEMORY MODEL
 * docs/memory-model.md. In short: rma_fence orders this PE's earlier puts before its later ones;
 * rma_quiet completes them; rma_barrier_all does both and meets every PE. */
#ifndef RMA_H
#define RMA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* calls named as the structures that they fill */
#endif

#pragma GCC visibility push(default)

#define RMA_VERSION_MAJOR 0
#define RMA_VERSION_MINOR 1
#define RMA_VERSION_PATCH 0
#define RMA_VERSION       "0.1.0"

/* ---------------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------------ */

enum rma_error {
    RMA_SUCCESS = 0,
    RMA_ERR_ARG,      /* an argument is not valid by itself: a null pointer, a bad alignment, overflow */
    RMA_ERR_PE,       /* a PE number is outside 0..n-1 */
    RMA_ERR_ADDRESS,  /* a remote range is not inside one segment of remotely accessible memory */
    RMA_ERR_BASE,     /* not the base of a live block: foreign, interior, or freed already */
    RMA_ERR_NO_MEM,   /* the heap's limit, /dev/shm, the node's or the control group's memory is exhausted */
    RMA_ERR_STATE,    /* not now: before rma_init, after rma_finalize, for a lock that is held already or not held */
    RMA_ERR_MISMATCH, /* a collective call was made with different arguments on different PEs */
    RMA_ERR_SETTING,  /* an RMA_* variable has a value that cannot be used */
    RMA_ERR_LAUNCH,   /* started by a launcher that does not fit this MPI */
    RMA_ERR_MPI,      /* an MPI call failed; the text carries MPI's own words */
    RMA_ERR_SYSTEM    /* the operating system refused something; the text carries errno's words */
};

/* rma_strerror: what a code means, in a few words. Any value may be asked for; any thread may call,
 * before rma_init too. The string is constant. */
const char *rma_strerror(int code);

/* rma_last_error: the text of this thread's newest error, or "" if it had none. Names the call, the
 * argument and its value. Valid until this thread's next error. */
const char *rma_last_error(void);

/* rma_last_code: the code that belongs to rma_last_error's text, or RMA_SUCCESS. */
int rma_last_code(void);

/* An error handler gets the code and its text, and may return: then the failing call returns its code. */
typedef void rma_errhandler(int code, const char *text);

/* rma_errors_abort prints the text with the PE and host, and ends the job with the exit code RMA_EXIT_BASE + code: the
 * default. So no error looks like a signal's number, or like what shells, timeout(1) and test drivers make of other
 * ends. rma_errors_return does nothing, so that each call returns its code. */
#define RMA_EXIT_BASE 80
rma_errhandler rma_errors_abort;
rma_errhandler rma_errors_return;

/* rma_set_errhandler: install the handler of this process, and return the one that it replaces.
 * May be called before rma_init; the setting RMA_ERRORS names the one in force at start.
 * A null handler leaves the present one in force. After MPI_Comm_set_errhandler, MPI-3.1 section 8.3. */
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
 * Initializes MPI if the program has not. Reference-counted: the second and later calls only count, and
 * as many calls of rma_finalize end it. May be called again after the last rma_finalize if MPI is still
 * initialized, which is so when the program itself called MPI_Init.
 * The symmetric heap and the local heap exist from here on; neither uses memory until allocated from.
 *
 * Returns RMA_SUCCESS, RMA_ERR_SETTING, RMA_ERR_LAUNCH (n processes that are each a world of one),
 * RMA_ERR_NO_MEM (not even the smallest reservation can be mapped), RMA_ERR_STATE (MPI was finalized),
 * RMA_ERR_MPI. */
int rma_init(void);

/* rma_init_thread: rma_init with a thread level, one of enum rma_thread_level.
 * *provided (may be null) is the level in force, which can be lower: it is MPI's. */
int rma_init_thread(int required, int *provided);

/* rma_finalize: end the runtime when it has been called as often as rma_init. Collective.
 *
 * Waits for all PEs, then releases everything; pointers into either heap become invalid. Finalizes MPI
 * if rma_init initialized it. May be called before or after the program's own MPI_Finalize: whichever
 * comes first releases the memory. A process that exits without it, by exit(3), by return from main or with the last
 * thread of the program, says so and ends the job: with its status, or with RMA_EXIT_BASE + RMA_ERR_STATE if that is 0.
 * It may still be called by functions of atexit(3). Nothing is said of _exit(2), which runs nothing. Returns
 * RMA_SUCCESS, RMA_ERR_STATE (more often than rma_init). */
int rma_finalize(void);

/* rma_abort: end the whole job now with exit code `code`, any PE alone. Does not return. */
void rma_abort(int code) __attribute__((noreturn));

/* rma_initialized: 1 between rma_init and the last rma_finalize (or MPI_Finalize), else 0. */
int rma_initialized(void);

/* ---------------------------------------------------------------------------------------------------
 * Who and where. Local, any thread. Before rma_init: the numbers are -1 after the error handler.
 * ------------------------------------------------------------------------------------------------ */

int rma_my_pe(void); /* this PE's number, 0..rma_n_pes()-1 */
int rma_n_pes(void); /* PEs in the job */

int rma_node_my_pe(void); /* this PE's number among the PEs of its node, 0..rma_node_n_pes()-1 */
int rma_node_n_pes(void); /* PEs on this PE's node */
int rma_my_node(void);    /* this PE's node, 0..rma_n_nodes()-1 */
int rma_n_nodes(void);    /* nodes in the job: groups of PEs that reach each other by load and store */
int rma_on_node(int pe);  /* 1 if pe is on this PE's node, 0 if not; outside 0..n-1 is RMA_ERR_PE, value 0 */

/* rma_wtime: seconds since a fixed time in the past; steady, the same clock on each PE of a node. */
double rma_wtime(void);

/* rma_version: the library's version at run time, as "major.minor.patch". Any time. */
const char *rma_version(void);

/* A global pointer: one word that names a byte of some PE's remotely accessible memory, the same value on every PE; the
 * owner in the upper 24 bits, the offset in its space in the lower 40. It can be stored in shared structures and be the
 * target of a 64-bit compare-and-swap. Within a block, g + k names k bytes further; two pointers into one block compare
 * as addresses do; equal words name the same byte. */
typedef uint64_t rma_gptr_t;

#define RMA_GPTR_NULL ((rma_gptr_t)0)

/* ---------------------------------------------------------------------------------------------------
 * The symmetric heap. All five are collective: every PE calls with the same arguments.
 *
 * A different size, alignment or block on some PE is RMA_ERR_MISMATCH on every PE, with both values
 * named and no memory changed. The heap grows by itself up to RMA_HEAP_MAX; what cannot be had on one PE
 * is RMA_ERR_NO_MEM and NULL on all of them, and nothing is lost.
 * ------------------------------------------------------------------------------------------------ */

/* rma_malloc: size bytes on each PE, aligned to 64, contents undefined. Size 0 gives NULL without error.
 * The block may be used as a target on every PE as soon as the call returns. After shmem_malloc,
 * OpenSHMEM 1.6 section 9.3. */
void *rma_malloc(size_t size);

/* rma_calloc: count objects of size bytes, zeroed. An overflow of count * size is RMA_ERR_ARG. */
void *rma_calloc(size_t count, size_t size);

/* rma_aligned_alloc: like rma_malloc, aligned to alignment bytes: a power of two up to 1 GiB. The address
 * is aligned on each PE for alignments up to the page size; above it, the offset in the heap is. */
void *rma_aligned_alloc(size_t alignment, size_t size);

/* rma_realloc: move block to a new size; the first min(old, new) bytes of each PE's copy stay. A null block
 * is rma_malloc; size 0 frees and gives NULL. On error block is untouched and still the caller's. */
void *rma_realloc(void *block, size_t size);

/* rma_free: give back a block of the four calls above. All PEs must be done with it: the call waits for all,
 * and completes this PE's puts first. A null block is no error.
 * Returns RMA_SUCCESS, RMA_ERR_BASE (foreign, interior or freed already: the text tells which), and with
 * RMA_HEAP_CHECK=full RMA_ERR_ADDRESS (the block was overrun: it stays allocated). */
int rma_free(void *block);

/* ---------------------------------------------------------------------------------------------------
 * The local heap. Not collective: a PE allocates alone, whatever the others do. After MPI_Alloc_mem,
 * MPI-3.1 section 8.2. A block is reached by its global pointer (rma_gptr), which other PEs must be given.
 * ------------------------------------------------------------------------------------------------ */

/* rma_alloc_mem: size bytes of this PE's local heap, aligned to 64, contents undefined.
 * base is the address of a pointer, as in MPI_Alloc_mem; *base is written only on success, and is a null
 * pointer for size 0. Make a global pointer of it (rma_gptr) to let other PEs reach it.
 * Returns RMA_SUCCESS, RMA_ERR_ARG (base is null), RMA_ERR_NO_MEM (RMA_LOCAL_MAX reached, or /dev/shm
 * or memory full: rma_last_error tells which, with the numbers). */
int rma_alloc_mem(size_t size, void *base);

/* What rma_alloc_mem_hints is asked for. Start from RMA_HINTS_NONE. An alignment of up to the page size is one of the
 * block's address, a larger one of its offset in the owner's memory. */
struct rma_hints {
    size_t alignment; /* a power of two up to 1 GiB, or 0 for 64 */
    int zero;         /* not 0: the block is zeroed */
    int numa_node;    /* put its pages on this NUMA node (the system's number), or -1: best effort */
    int huge_pages;   /* not 0: ask for huge pages: best effort */
    int granted;      /* written by the call: RMA_GRANTED_ of the two best-effort hints that were met */
};
#define RMA_HINTS_NONE                                                                                                 \
    { 0, 0, -1, 0, 0 }

enum rma_granted {
    RMA_GRANTED_NUMA = 1, /* the pages are bound to the node, and those that were elsewhere have been moved */
    RMA_GRANTED_HUGE = 2  /* the pages are huge */
};

/* rma_alloc_mem_hints: rma_alloc_mem with hints. A block with numa_node or huge_pages has its pages for itself: it is
 * rounded up to them. A hint that cannot be met is no error: see hints->granted, and rma_info for what this machine
 * gives. Returns as rma_alloc_mem; RMA_ERR_ARG also for null hints, a bad alignment or a NUMA node that does not exist.
 */
int rma_alloc_mem_hints(size_t size, struct rma_hints *hints, void *base);

/* rma_free_mem: give back a block of rma_alloc_mem, rma_alloc_mem_hints or rma_alloc_mem_on. A null base is no error.
 * base may also be the direct address (rma_gptr_ptr) of another PE's block: then as rma_gptr_free.
 * Returns RMA_SUCCESS, RMA_ERR_BASE (foreign, interior, or freed already: for the caller's own block the text tells
 * which), and with RMA_HEAP_CHECK=full RMA_ERR_ADDRESS (the block was overrun: it stays allocated). */
int rma_free_mem(void *base);

/* rma_gptr_free: give back the block of a local heap that g names the first byte of, whoever owns it; its owner takes
 * no part, and its next allocation that finds nothing at hand takes it. RMA_GPTR_NULL is no error. The caller's
 * puts to the block must be complete (rma_quiet); what it did to the block comes before what the next one does who gets
 * it. For another PE's block lock-free. Of several PEs that give back one block, one succeeds. Returns as rma_free_mem;
 * RMA_ERR_PE. */
int rma_gptr_free(rma_gptr_t g);

/* rma_alloc_mem_on: size bytes in the local heap of pe, which takes no part, whatever it does; aligned to 64, contents
 * undefined. *g is written only on success, and is RMA_GPTR_NULL for size 0. These blocks lie in a part of their own
 * beside pe's local heap, of RMA_LOCAL_MAX / 2 at most, so that pe itself never waits for those who allocate there.
 * Returns RMA_SUCCESS, RMA_ERR_ARG (g is null), RMA_ERR_PE, RMA_ERR_NO_MEM, RMA_ERR_SYSTEM (a PE
 * died while it was allocating there: nobody can any more). */
int rma_alloc_mem_on(int pe, size_t size, rma_gptr_t *g);

/* ---------------------------------------------------------------------------------------------------
 * Attached memory: the caller's own (malloc, mmap, static, stack) made remotely accessible. Not collective. After
 * MPI_Win_attach, MPI-3.1 section 11.2.4.
 * ------------------------------------------------------------------------------------------------ */

/* rma_attach: make [base, base + size) accessible to every PE by global pointer; *g names its first byte.
 * Millions of regions if need be, of 256 GiB together (counting each as a multiple of 64 KiB); a region costs some
 * bytes of a table, no system resource. The memory stays the caller's and must stay mapped until rma_detach; a put or
 * atomic to what is mapped read-only is RMA_ERR_ADDRESS. Peers of the node put and get by process_vm_writev(2) and
 * process_vm_readv(2), so the owner takes no part; their atomics, and everything where the system forbids these two,
 * are done by a thread of the owner that the first rma_attach starts, and that sleeps unless asked. Returns
 * RMA_SUCCESS, RMA_ERR_ARG (a null base or g, size 0, a range that wraps; one that overlaps an attached region, or a
 * heap, which is accessible already), RMA_ERR_ADDRESS (a page of it is not mapped), RMA_ERR_NO_MEM, RMA_ERR_SYSTEM (the
 * thread cannot be started). */
int rma_attach(void *base, size_t size, rma_gptr_t *g);

/* rma_detach: end the access to the region that was attached at base. Waits for other PEs' accesses that are under way.
 * Global pointers into it are then errors (RMA_ERR_ADDRESS), also after another region is attached at the same address:
 * offsets are handed out in a circle through the 256 GiB, so one is used again as late as possible. A region that is
 * also exposed stays accessible until rma_unexpose. Returns RMA_SUCCESS, RMA_ERR_BASE (no region was attached at base).
 */
int rma_detach(void *base);

/* rma_expose: every PE offers a region of its own: base, size in bytes (0: none; base is then not looked at), and the
 * size of the unit in which displacements in it are counted (at least 1). Collective. Memory that is accessible already
 * is offered as it is, other memory is attached. After MPI_Win_create, MPI-3.1 section 11.2.1. Returns RMA_SUCCESS,
 * RMA_ERR_ARG (a null e, a null base with a size, a unit of 0), the errors of rma_attach, RMA_ERR_NO_MEM,
 * RMA_ERR_MISMATCH; on an error of one PE, every PE gets its code. *e is written only on success. */
typedef struct rma_exposure rma_exposure;
int rma_expose(void *base, size_t size, size_t unit, rma_exposure **e);

/* rma_exposed_at: the global pointer of displacement disp (in pe's units) in pe's region. RMA_GPTR_NULL after
 * RMA_ERR_PE, RMA_ERR_ADDRESS (not inside the region), RMA_ERR_ARG (e is null). Not collective. */
rma_gptr_t rma_exposed_at(const rma_exposure *e, int pe, size_t disp);

/* rma_exposed_size: bytes of pe's region, with its unit in *unit (may be null). 0 after an error. Not collective. */
size_t rma_exposed_size(const rma_exposure *e, int pe, size_t *unit);

/* rma_unexpose: meet all PEs, end it, and detach what rma_expose attached. Collective. A null e is no error.
 * Returns RMA_SUCCESS, RMA_ERR_BASE (e is none), RMA_ERR_MISMATCH. */
int rma_unexpose(rma_exposure *e);

/* ---------------------------------------------------------------------------------------------------
 * Looking at the heaps. Not collective.
 * ------------------------------------------------------------------------------------------------ */

enum rma_heap {
    RMA_HEAP_SYMMETRIC, /* of rma_malloc */
    RMA_HEAP_LOCAL,     /* of rma_alloc_mem */
    RMA_HEAP_GUEST      /* of rma_alloc_mem_on: what others have allocated here */
};

#define RMA_HEAP_CLASSES 40

/* Sizes in bytes. Free class c counts the free blocks of 2^c up to 2^(c+1) - 1 bytes. Blocks that other PEs have given
 * back count as used, and in n_used, until an allocation takes them: n_used - n_returned are the program's. */
struct rma_heap_stats {
    size_t used;          /* in blocks, as rounded up to 64; with RMA_HEAP_CHECK=full after adding 64 to each */
    size_t peak;          /* most that used ever was */
    size_t free;          /* in free blocks */
    size_t size;          /* used + free: what the heap has grown to */
    size_t committed;     /* memory that it holds: size, what the next growth will take, and the allocator's table */
    size_t max;           /* most that size may become */
    size_t largest_free;  /* the largest free block */
    size_t n_used;        /* live blocks */
    size_t n_free;        /* free blocks */
    size_t n_growths;     /* how often it has grown */
    size_t n_returned;    /* blocks that other PEs have given back and the owner has not yet taken: counted in used */
    double fragmentation; /* 1 - largest_free / free; 0 if nothing is free */
    struct {
        size_t blocks, bytes;
    } free_class[RMA_HEAP_CLASSES];
};

/* rma_heap_stats: fill stats for one of the heaps of this PE. Linear in the number of free blocks. Of the symmetric
 * heap: not while another thread of this PE is in a collective call. Returns RMA_SUCCESS, RMA_ERR_ARG (no such heap, or
 * stats is null), RMA_ERR_SYSTEM (as rma_alloc_mem_on). */
int rma_heap_stats(enum rma_heap heap, struct rma_heap_stats *stats);

/* ---------------------------------------------------------------------------------------------------
 * Counting operations, by the way they went. Not collective.
 * ------------------------------------------------------------------------------------------------ */

enum rma_path {
    RMA_PATH_MEMORY,  /* load and store on this node; counted only with RMA_STATS=yes, which makes each one a call */
    RMA_PATH_KERNEL,  /* process_vm_readv and process_vm_writev: attached memory of a PE of this node */
    RMA_PATH_OWNER,   /* by a thread of a PE of this node: atomics on its attached memory */
    RMA_PATH_WINDOW,  /* MPI's window */
    RMA_PATH_REQUEST, /* messages to a PE of another node */
    RMA_PATHS
};

/* Since rma_init, or the last rma_stats_reset. Of operations that several threads begin at the same moment one may not
 * be counted. */
struct rma_stats {
    struct {
        uint64_t puts, put_bytes, gets, get_bytes, atomics;
    } path[RMA_PATHS];
    uint64_t waited;         /* calls of rma_quiet, and what includes it, that had something to wait for */
    uint64_t messages_sent;  /* with requests to PEs of other nodes */
    uint64_t messages_heard; /* requests, answers and others */
    uint64_t served;         /* requests that this PE has done for others */
};

/* rma_stats: fill stats. rma_stats_reset: count from 0. With RMA_STATS=yes rma_finalize prints the sums over all PEs.
 * Return RMA_SUCCESS, RMA_ERR_ARG (stats is null), RMA_ERR_STATE. */
int rma_stats(struct rma_stats *stats);
int rma_stats_reset(void);

/* ---------------------------------------------------------------------------------------------------
 * Put and get, by symmetric address
 *
 * dest of a put and source of a get are symmetric addresses (the caller's own); the other buffer is any
 * memory of the caller. The buffers must not overlap. len is in bytes; 0 does nothing but check.
 * A put returns when source may be reused; it is complete at the target after rma_quiet. A get returns when
 * dest is filled. The _nbi forms (non-blocking, implicit handle) need rma_quiet before either buffer is
 * touched again. On-node, all of them are plain copies.
 * Return RMA_SUCCESS, RMA_ERR_PE, RMA_ERR_ADDRESS, RMA_ERR_STATE, and RMA_ERR_ARG where a buffer of the caller is null
 * and the target is not reached by load and store; _put and _get of lengths past the end of the segment copy nothing.
 * After OpenSHMEM 1.6 section 9.6.
 * ------------------------------------------------------------------------------------------------ */

inline int rma_put(void *dest, const void *source, size_t len, int pe);
inline int rma_get(void *dest, const void *source, size_t len, int pe);
inline int rma_put_nbi(void *dest, const void *source, size_t len, int pe);
inline int rma_get_nbi(void *dest, const void *source, size_t len, int pe);

/* rma_put_signal: rma_put, and then value to *signal of the same PE: written (RMA_SIGNAL_SET) or added (RMA_SIGNAL_ADD)
 * by an atomic that whoever reads it by one, and sees it, also sees the put. signal is a symmetric address, aligned
 * to 8. Short data travel with the signal to another node. Returns when source may be reused; complete after rma_quiet.
 * RMA_ERR_ARG for another op. After shmem_put_signal, OpenSHMEM 1.6 section 9.9. */
enum rma_signal { RMA_SIGNAL_SET, RMA_SIGNAL_ADD };
inline int rma_put_signal(void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op, int pe);

/* rma_put_signal_nbi: the same, but source stays in use, and the signal may not have been given, until rma_quiet. */
inline int rma_put_signal_nbi(void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op,
                              int pe);

/* rma_signal_set, rma_signal_add: the signal alone. An atomic as that of rma_put_signal, after this PE's earlier puts.
 */
inline int rma_signal_set(uint64_t *signal, uint64_t value, int pe);
inline int rma_signal_add(uint64_t *signal, uint64_t value, int pe);

/* rma_signal_fetch: the value of the caller's own signal: an acquire. rma_signal_wait_until: wait until it compares to
 * value as cmp (enum rma_cmp) says, and return the value that did; 0 after an error. */
inline uint64_t rma_signal_fetch(const uint64_t *signal);
inline uint64_t rma_signal_wait_until(uint64_t *signal, int cmp, uint64_t value);

/* rma_iput, rma_iget: n elements of elem bytes each; consecutive ones are dest_stride and source_stride
 * ELEMENTS apart (1: contiguous; at least 1). The whole remote span must lie in one segment.
 * RMA_ERR_ARG for an elem of 0 or a stride below 1. */
int rma_iput(void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n,
             int pe);
int rma_iget(void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n,
             int pe);

/* rma_p, rma_g: one value of an arithmetic type, by C11 _Generic over rma_p_TYPE and rma_g_TYPE, where TYPE
 * is a name of RMA_TYPES. rma_p(dest, value, pe) returns a code; rma_g(source, pe) returns the value, 0 after
 * an error. A naturally aligned value of up to 8 bytes arrives whole: no reader sees half of it.
 *
 *     int rma_p_long(long *dest, long value, int pe);
 *     long rma_g_long(const long *source, int pe);
 */

/* rma_ptr: the address by which this PE reaches the symmetric object addr of pe with load and store, or NULL
 * if it cannot or addr is not symmetric: no error then. A PE outside 0..n-1 is RMA_ERR_PE. */
void *rma_ptr(const void *addr, int pe);

/* ---------------------------------------------------------------------------------------------------
 * Ordering
 * ------------------------------------------------------------------------------------------------ */

/* rma_progress: serve what PEs of other nodes ask of this one, and take what has come for it; waits for nothing. Needed
 * only where there is no progress thread and the program does not call the library for long. In jobs of one node it
 * does nothing. Any thread as the level allows. Returns RMA_SUCCESS, RMA_ERR_STATE. */
int rma_progress(void);

/* rma_progress_thread: start (on is not 0) or end the progress thread, which does what rma_progress does while the
 * program computes. It runs from rma_init on in jobs of several nodes, unless RMA_PROGRESS=none or MPI was initialized
 * for fewer threads than MPI_THREAD_MULTIPLE. Local; does nothing if the thread runs (or has ended) already, and in
 * jobs of one node. Returns RMA_SUCCESS, RMA_ERR_STATE (also where MPI allows no such thread), RMA_ERR_SYSTEM (no
 * thread to be had). */
int rma_progress_thread(int on);

/* rma_fence: puts and atomics of this PE before it take effect at each target before those after it.
 *
 * This call and the next, barriers, collectives and locks are about what was begun with no context named, or in
 * RMA_CTX_DEFAULT. */
inline int rma_fence(void);

/* rma_quiet: all puts, atomics and _nbi operations of this PE are complete: whoever learns that the call has
 * returned, through an atomic or a barrier of this library, sees their effect. */
inline int rma_quiet(void);

/* rma_pe_quiet, rma_pe_fence: rma_quiet and rma_fence for what is asked of the n PEs pes[0..n) only; others go on. A
 * fence may wait as long as a quiet. Return RMA_SUCCESS, RMA_ERR_ARG (pes is null, and n is not 0), RMA_ERR_PE, and the
 * first error of an operation that nobody has waited for. After shmem_pe_quiet, OpenSHMEM 1.6 section 9.11. */
int rma_pe_quiet(const int *pes, size_t n);
int rma_pe_fence(const int *pes, size_t n);

/* rma_barrier_all: rma_quiet, then wait for every PE to arrive. Collective. */
int rma_barrier_all(void);

/* rma_sync_all: wait for every PE to arrive, and nothing more: as rma_team_sync of RMA_TEAM_WORLD. Collective. */
int rma_sync_all(void);

/* ---------------------------------------------------------------------------------------------------
 * Atomics, by symmetric address: C11 _Generic over rma_atomic_OP_TYPE, TYPE a name of RMA_ATOMIC_TYPES or, where
 * the list says "number", float or double
 *
 * Each is one indivisible access to the target's word, whoever else updates it through this library. What writes
 * is a release: this PE's earlier puts are seen by whoever reads the new value with an atomic. What reads is an
 * acquire. (fetch and a compare_swap that fails only read, as do min and max that change nothing; set only writes, the
 * others do both.) Fetching forms return the old value, 0 after an error; the others a code. The target must be
 * naturally aligned (RMA_ERR_ADDRESS). Integers wrap around, float and double are rounded as by +.
 *
 *     number   fetch(source, pe)                      the value
 *     number   set(target, value, pe)                 no value
 *     number   swap(target, value, pe)                value, and the old one
 *     integer  compare_swap(target, cond, value, pe)  value if the old one is cond; the old one
 *     number   add(target, value, pe)                 old + value             fetch_add: the old one, too
 *     integer  inc(target, pe)                        old + 1                 fetch_inc
 *     integer  and, or, xor(target, value, pe)        old & | ^ value         fetch_and, fetch_or, fetch_xor
 *     number   min, max(target, value, pe)            the one that is less or greater; of a NaN and a number the
 *                                                     number             fetch_min, fetch_max
 *
 * So: long old = rma_atomic_fetch_add(&counter, 1, pe), or rma_atomic_fetch_add_long(&counter, 1, pe).
 *
 * Each fetching form has an _nbi one (non-blocking, implicit handle): fetch_nbi, swap_nbi, compare_swap_nbi,
 * fetch_add_nbi and so on. It returns a code and takes another first argument, fetch, any memory of the caller of the
 * word's type, to which it writes the old value by the next rma_quiet at the latest: until then the program leaves
 * *fetch alone. Those on other nodes travel in batches. A null fetch is RMA_ERR_ARG, but where the call is inlined:
 * there it is a null pointer like any other. After OpenSHMEM 1.6 section 9.8; min, max and adding floating-point
 * numbers are ours.
 * ------------------------------------------------------------------------------------------------ */

/* ---------------------------------------------------------------------------------------------------
 * Waiting for words, which other PEs change: C11 _Generic over rma_CALL_TYPE, TYPE a name of RMA_ATOMIC_TYPES
 *
 * ivar, or ivars[0..n), are words of the caller in any memory that other PEs reach. They may be changed by atomics,
 * rma_p and signals; to see one is an acquire. A PE that waits polls, then yields, then sleeps between its looks, and
 * serves others. What is compared is the word on the left: RMA_CMP_GT is *ivar > value.
 *
 *     wait_until(ivar, cmp, value)                            until it holds; a code
 *     wait_until_all(ivars, n, status, cmp, value)            until it has held for each of them at one look; a code
 *     wait_until_any(ivars, n, status, cmp, value)            for one of them: its index; SIZE_MAX if no word is left
 *     wait_until_some(ivars, n, indices, status, cmp, value)  for at least one: how many; their indices are in
 *                                                             indices[0..)
 *     test, test_all                                          the same without waiting: 1 or 0
 *     test_any, test_some                                     SIZE_MAX, 0 if it holds for none
 *
 * status is NULL, or has n numbers; a word whose number is not 0 is left out. If that leaves none, or n is 0, the calls
 * return at once: all hold. The _vector forms (wait_until_all_vector and so on) take n values, one for each word, in
 * place of value. RMA_ERR_ARG (cmp, a null pointer), RMA_ERR_ADDRESS (not aligned; in no memory that others reach),
 * RMA_ERR_STATE. After OpenSHMEM 1.6 section 9.10.
 * ------------------------------------------------------------------------------------------------ */

enum rma_cmp { RMA_CMP_EQ, RMA_CMP_NE, RMA_CMP_GT, RMA_CMP_GE, RMA_CMP_LT, RMA_CMP_LE };

/* ---------------------------------------------------------------------------------------------------
 * Teams
 *
 * A team is some of the job's PEs, numbered 0..n-1 anew. A handle belongs to its PE. A PE is in at most 62 teams of the
 * program's own at a time. Splitting is collective over the parent: all of its PEs call with the same values, which is
 * looked at (RMA_ERR_MISMATCH); destroying and meeting are collective over the team. After OpenSHMEM 1.6 section 9.4.
 * ------------------------------------------------------------------------------------------------ */

typedef struct rma_team rma_team; /* never complete: only pointers to it are used */

#define RMA_TEAM_INVALID ((rma_team *)0)
#define RMA_TEAM_WORLD   ((rma_team *)1) /* all PEs, as rma_my_pe numbers them */
#define RMA_TEAM_SHARED  ((rma_team *)2) /* the PEs of this node, as rma_node_my_pe numbers them */

/* rma_team_my_pe: this PE's number in team; rma_team_n_pes: PEs in team. -1 for RMA_TEAM_INVALID, and after RMA_ERR_ARG
 * (no team, or destroyed). Not collective. */
int rma_team_my_pe(const rma_team *team);
int rma_team_n_pes(const rma_team *team);

/* rma_team_translate_pe: the number in `other` of the PE that is number pe in team; -1 if it is not in it, if one of
 * the two is RMA_TEAM_INVALID, and after RMA_ERR_ARG, RMA_ERR_PE. Not collective. */
int rma_team_translate_pe(const rma_team *team, int pe, const rma_team *other);

/* rma_team_ptr: rma_ptr for PE number pe of team. NULL also for RMA_TEAM_INVALID, and after RMA_ERR_ARG, RMA_ERR_PE.
 * Not collective. */
void *rma_team_ptr(const rma_team *team, const void *addr, int pe);

/* rma_team_split_strided: a team of the parent's PEs start, start + stride, ..., size of them in this order; stride may
 * be negative. *team is RMA_TEAM_INVALID on the parent's other PEs. Written only on success, which is the same on all
 * PEs. Returns RMA_SUCCESS, RMA_ERR_PE (start or the last PE is outside the parent), RMA_ERR_ARG, RMA_ERR_MISMATCH,
 * RMA_ERR_NO_MEM (no number of teams is free on all PEs of the new one, or memory is exhausted). */
int rma_team_split_strided(rma_team *parent, int start, int stride, int size, rma_team **team);

/* rma_team_split_2d: the parent's PEs as a grid, row by row, xrange to a row (fewer in the last one; all in one if they
 * are fewer): *xteam is the row that this PE is in, *yteam its column. Returns as rma_team_split_strided. */
int rma_team_split_2d(rma_team *parent, int xrange, rma_team **xteam, rma_team **yteam);

/* rma_team_sync: wait for every PE of team to arrive. It completes no puts (rma_quiet does), but what a PE has stored
 * to memory of its node before is seen by those of the node after. Collective over team. RMA_ERR_ARG. */
int rma_team_sync(rma_team *team);

/* rma_team_barrier: rma_quiet, then rma_team_sync. */
int rma_team_barrier(rma_team *team);

/* rma_team_destroy: meet the PEs of team and end it. RMA_TEAM_INVALID is no error; RMA_TEAM_WORLD and RMA_TEAM_SHARED
 * are RMA_ERR_ARG. Those that are left end with rma_finalize. */
int rma_team_destroy(rma_team *team);

/* ---------------------------------------------------------------------------------------------------
 * Collectives
 *
 * All PEs of a team take part, each with the same root, op, type and sizes (but the length of rma_collect), and make
 * the calls of one team in one order; no barrier is needed between two of them. Different threads may be in calls of
 * different teams at a time. With RMA_CHECK=1 the arguments are compared first, and RMA_ERR_MISMATCH, on every PE,
 * names those that differ.
 *
 * dest and source are any memory of the caller, and may be the same address (in place); they must not overlap otherwise
 * (RMA_ERR_ARG). They need not be symmetric, nor the same on all PEs; but what is not in memory that peers reach
 * (symmetric objects, the local heap) takes one more copy, and is no faster than that where it is long. When a call
 * returns, dest of this PE is complete and its source free. Other PEs may still be in the call: a PE that looks into a
 * peer's dest meets the peer first. Puts that are under way are not completed.
 *
 * A length of 0 is no error, and needs no addresses. Sizes are in bytes but for the typed calls, where n counts
 * elements. Errors: RMA_ERR_ARG (team, a null pointer, an overflow), RMA_ERR_PE (root), RMA_ERR_ADDRESS (the range
 * passes the end of what is allocated from a heap; not aligned for its type), RMA_ERR_MISMATCH, RMA_ERR_STATE; between
 * nodes RMA_ERR_MPI, RMA_ERR_NO_MEM. A call that finds its own arguments wrong returns at once; with RMA_CHECK=1 it
 * fails on all PEs, with that code. After OpenSHMEM 1.6 section 9.9.
 * ------------------------------------------------------------------------------------------------ */

/* rma_broadcast: len bytes of source on PE number root of team to dest on each PE of it, root included. source counts
 * on root only. */
int rma_broadcast(rma_team *team, void *dest, const void *source, size_t len, int root);

/* rma_fcollect: source of all PEs one after the other, in the order of their numbers: len bytes each, n_pes * len in
 * dest. In place means that source is dest, not that it lies where it goes. */
int rma_fcollect(rma_team *team, void *dest, const void *source, size_t len);

/* rma_collect: the same, each PE with its own len, which may be 0. dest has room for the sum of them; it is needed
 * where len is 0, too, unless that of all is. */
int rma_collect(rma_team *team, void *dest, const void *source, size_t len);

/* rma_alltoall: source and dest are n_pes blocks of len bytes: block i of source goes to PE i, block i of dest comes
 * from it. */
int rma_alltoall(rma_team *team, void *dest, const void *source, size_t len);

/* rma_alltoalls: blocks of n elements of elem bytes, with strides counted in elements: element k of block i is
 * at source + (i * n + k) * source_stride * elem, and goes to the like of dest. Strides and elem are at least 1; in
 * place the strides are equal. */
int rma_alltoalls(rma_team *team, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                  size_t elem, size_t n);

/* Reductions and scans, by type: C11 _Generic over rma_OP_reduce_TYPE and so on, which take
 * TYPE *dest, const TYPE *source
 *
 *     rma_OP_reduce(team, dest, source, n)   dest[i] = source[i] of PE 0 OP source[i] of PE 1 OP ... of the last, on
 *                                            each PE
 *     rma_sum_inscan(team, dest, source, n)  dest[i] = the sum of source[i] of PE 0 to this one
 *     rma_sum_exscan(team, dest, source, n)  of PE 0 to the one before this; 0 on PE 0
 *
 *     OP          TYPE
 *     and or xor  all integers                RMA_INTEGER_TYPES, RMA_TYPE_ALIASES
 *     min max     these and float, double, long double   RMA_TYPES, RMA_TYPE_ALIASES
 *     sum prod    these and complexf, complexd (float _Complex, double _Complex)   RMA_COMPLEX_TYPES
 *
 * So: rma_sum_reduce(RMA_TEAM_WORLD, &total, &mine, 1), or rma_sum_reduce_double(...). Scans are there for the types of
 * sum. Integers wrap around. Floating-point results are the same on all PEs, bit by bit, and do not begin from a zero
 * of the library's own, so that -0 + -0 is -0. Min and max are b < a ? b : a and b > a ? b : a, taken in an order that
 * the library chooses: with NaNs, or zeros of both signs, the result is one of the values that these give. */

/* ---------------------------------------------------------------------------------------------------
 * Contexts
 *
 * A context holds what has been begun in it and is not complete: a quiet or a fence of one context has nothing to do
 * with what another one does. Threads that have a context each do not wait for each other. Its calls number PEs as its
 * team does. A handle belongs to its PE; nothing about contexts is collective. On this node, where operations are
 * complete at once, a context costs a nanosecond. After OpenSHMEM 1.6 section 9.5.
 * ------------------------------------------------------------------------------------------------ */

typedef struct rma_ctx rma_ctx; /* never complete: only pointers to it are used */

#define RMA_CTX_INVALID ((rma_ctx *)0)
#define RMA_CTX_DEFAULT ((rma_ctx *)1) /* that of all calls that name none; its PEs are those of RMA_TEAM_WORLD */

/* What the program promises of a context. Nothing is slower without. */
enum rma_ctx_option {
    RMA_CTX_SERIALIZED = 1, /* threads use it one at a time */
    RMA_CTX_PRIVATE = 2,    /* only the thread that has made it uses it */
    RMA_CTX_NOSTORE = 4     /* its quiet and fence need not order the PE's own stores to memory */
};

/* rma_ctx_create: a context for the PEs of RMA_TEAM_WORLD. options: 0, or several of enum rma_ctx_option or'ed. *ctx is
 * written only on success. A PE has at most 4095 at a time. rma_team_create_ctx: one for the PEs of team, numbered as
 * there. It ends with its team. Return RMA_SUCCESS, RMA_ERR_ARG (team, a null ctx, options), RMA_ERR_NO_MEM,
 * RMA_ERR_STATE. */
int rma_ctx_create(int options, rma_ctx **ctx);
int rma_team_create_ctx(rma_team *team, int options, rma_ctx **ctx);

/* rma_ctx_destroy: rma_ctx_quiet, then end the context. RMA_CTX_INVALID is no error; RMA_CTX_DEFAULT is RMA_ERR_ARG. No
 * other thread uses it. rma_finalize ends those that are left. */
int rma_ctx_destroy(rma_ctx *ctx);

/* rma_ctx_team: *team is the team whose PEs the calls of ctx number. RMA_ERR_ARG. */
int rma_ctx_team(const rma_ctx *ctx, rma_team **team);

/* rma_ctx_quiet, rma_ctx_fence, rma_ctx_pe_quiet, rma_ctx_pe_fence: as rma_quiet and the others, for what was begun in
 * ctx. A context that is none, or has been destroyed, is RMA_ERR_ARG: in all calls. */
inline int rma_ctx_quiet(rma_ctx *ctx);
inline int rma_ctx_fence(rma_ctx *ctx);
int rma_ctx_pe_quiet(rma_ctx *ctx, const int *pes, size_t n);
int rma_ctx_pe_fence(rma_ctx *ctx, const int *pes, size_t n);

/* The calls by symmetric address, in a context: rma_ctx_ for rma_, the context as first argument, else as they are.
 * What they say of rma_quiet is of rma_ctx_quiet, and an atomic is a release of the puts of its own context.
 *
 *     int code = rma_ctx_p(ctx, &word, 5L, pe);
 *     long value = rma_ctx_g(ctx, &word, pe);                      rma_ctx_p_TYPE, rma_ctx_g_TYPE
 *     long old = rma_ctx_atomic_fetch_add(ctx, &word, 1L, pe);     rma_ctx_atomic_OP_TYPE: each of those above
 *     int code = rma_ctx_atomic_swap_nbi(ctx, &old, &word, 7L, pe);
 */
inline int rma_ctx_put(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
inline int rma_ctx_get(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
inline int rma_ctx_put_nbi(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
inline int rma_ctx_get_nbi(rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_ctx_iput(rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                 size_t elem, size_t n, int pe);
int rma_ctx_iget(rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                 size_t elem, size_t n, int pe);
inline int rma_ctx_put_signal(rma_ctx *ctx, void *dest, const void *source, size_t len, uint64_t *signal,
                              uint64_t value, int op, int pe);
inline int rma_ctx_put_signal_nbi(rma_ctx *ctx, void *dest, const void *source, size_t len, uint64_t *signal,
                                  uint64_t value, int op, int pe);
inline int rma_ctx_signal_set(rma_ctx *ctx, uint64_t *signal, uint64_t value, int pe);
inline int rma_ctx_signal_add(rma_ctx *ctx, uint64_t *signal, uint64_t value, int pe);

/* ---------------------------------------------------------------------------------------------------
 * Locks
 * ------------------------------------------------------------------------------------------------ */

/* A lock among all PEs: a symmetric object, zero (RMA_LOCK_INIT) on each PE before its first use. It is fair: PEs get
 * it in the order in which they asked. Each waits for a word that nobody else waits for, and sleeps where PEs outnumber
 * processors. It belongs to the PE, not to a thread of it. After T. Craig, "Building FIFO and priority-queuing spin
 * locks from atomic swap", 1993; J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on shared-memory
 * multiprocessors", 1991; OpenSHMEM 1.6 section 9.13. */
typedef struct {
    uint32_t tail_, node_;
} __attribute__((aligned(8), may_alias)) rma_lock_t;
#define RMA_LOCK_INIT                                                                                                  \
    { 0, 0 }

/* rma_set_lock: wait for the lock, and hold it: what its holders before this one did, puts to any PE included, is seen.
 * rma_test_lock: hold it if it is free: 1; else 0, also after an error. rma_clear_lock: pass it on, after this PE's
 * puts are complete. Not collective. Return RMA_SUCCESS, RMA_ERR_ADDRESS (lock is no symmetric address, or not aligned
 * to 8), and RMA_ERR_STATE (rma_set_lock and rma_test_lock: this PE holds it already; rma_clear_lock: it does not). */
inline int rma_set_lock(rma_lock_t *lock);
inline int rma_test_lock(rma_lock_t *lock);
inline int rma_clear_lock(rma_lock_t *lock);

/* ---------------------------------------------------------------------------------------------------
 * Global pointers
 * ------------------------------------------------------------------------------------------------ */

/* rma_gptr: the global pointer of addr on pe. addr is a symmetric address (a static object included), or, when pe is
 * the caller, also an address in the caller's local heap or in a region that it has attached. RMA_GPTR_NULL for a null
 * addr, and after RMA_ERR_ADDRESS, RMA_ERR_PE. */
rma_gptr_t rma_gptr(const void *addr, int pe);

/* rma_gptr_pe: the PE that owns what g names. Undefined for RMA_GPTR_NULL. Local, any time. */
inline int rma_gptr_pe(rma_gptr_t g);

/* rma_gptr_diff: bytes from b to a. Undefined unless both are of one block, as the difference of C pointers is. */
inline ptrdiff_t rma_gptr_diff(rma_gptr_t a, rma_gptr_t b);

/* rma_gptr_ptr: the address by which this PE reaches g with load and store; NULL if it cannot (another node, or another
 * PE's attached memory), or if g is null or names no memory. No error. */
void *rma_gptr_ptr(rma_gptr_t g);

/* Put and get by global pointer: as rma_put and rma_get. A null g is RMA_ERR_ADDRESS, and so is one into a region
 * that has been detached. */
inline int rma_gptr_put(rma_gptr_t dest, const void *source, size_t len);
inline int rma_gptr_get(void *dest, rma_gptr_t source, size_t len);

/* Atomics on the word that g names: each of those above with rma_gptr_atomic_ for rma_atomic_, a global pointer as the
 * target, and no PE. rma_gptr_atomic_OP is for words of uint64_t; rma_gptr_atomic_OP_TYPE, TYPE a name of
 * RMA_GPTR_ATOMIC_TYPES or float or double, for the others, since g does not say of what type its word is.
 *
 *     uint64_t old = rma_gptr_atomic_fetch_add(g, 1);
 *     int code = rma_gptr_atomic_max_double(g, 0.5);
 *
 * Those on attached memory of another PE are done by a thread of the owner: some ten microseconds; RMA_ERR_SYSTEM if it
 * has died. */

/* ---------------------------------------------------------------------------------------------------
 * Types: the first tables are all distinct types, the second ones other names of them. The generic macros expand the
 * first ones, so that in what a program expands one of those to only the calls named by type can stand.
 * ------------------------------------------------------------------------------------------------ */

__extension__ typedef float _Complex rma_complexf_; /* C++ has them by extension */
__extension__ typedef double _Complex rma_complexd_;

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
