/* SPDX-License-Identifier: BSD-3-Clause */
/* What the libraries of interfaces/ need from this one beyond rma.h. The functions are exported for these libraries
 * (interfaces/shmem/, interfaces/mpi/ and interfaces/caf/), and are no part of the public interface. */
#ifndef RMAI_INTERFACES_H
#define RMAI_INTERFACES_H

#include "base/attributes.h"
#include "base/note.h"
#include "base/inner_types.h"
#include "rma.h"

#pragma GCC visibility push(default)

/* rma_call_as_: until it is called with NULL, errors of this thread name `call` (a constant) instead of a call of
 * rma.h. */
void rma_call_as_(const char *call);

/* rma_errors_recorded_: while it is 1, errors of this thread are recorded and returned, and do not reach the error
 * handler of the program. MPI's windows have error handlers of their own, so interfaces/mpi/ sets it around its calls;
 * a store costs them nothing that can be measured, a call would. Meanwhile accumulates also take the types and
 * operations of base/inner_types.h, and blocks whose offsets are multiples of the type's alignment only. */
extern _Thread_local int rma_errors_recorded_ __attribute__((tls_model("initial-exec")));

/* rma_setting_as_: until it is called with NULL, an error of setting `name` quotes `text` instead of the name and value
 * in the environment. It keeps both pointers. */
void rma_setting_as_(const char *name, const char *text);

/* rma_fail_ records an error and shows it to the error handler. Returns code. */
int rma_fail_(int code, const char *format, ...) RMAI_PRINTF(2, 3);

/* rma_caller_text_: rmai_caller_text(NULL, text, line, room) of base/caller.h. */
int rma_caller_text_(const char *text, char *line, size_t room);

/* Things that the OpenSHMEM specification leaves undefined and that programs do all the same. */
enum rma_undefined_ {
    RMA_UNDEFINED_ACTIVE_SET_, /* a PE outside of the active set is in its collective */
    RMA_UNDEFINED_HINTS_,
    RMA_UNDEFINED_ALIGNMENT_,
    RMA_UNDEFINED_REALLOC_,  /* of memory that is not a block */
    RMA_UNDEFINED_FINALIZE_, /* more often than init */
    RMA_UNDEFINED_OVERLAP_   /* the result of a collect runs into source */
};

/* rma_tolerate_: until it is called with RMA_SUCCESS, errors of this thread with `code` are tolerated: the call returns
 * as after an error, but does not call the error handler, and the first error of this kind prints a note on stderr.
 * With RMA_CHECK=1 it does nothing. */
void rma_tolerate_(int code, enum rma_undefined_ kind);

/* rma_checks_: 1 if RMA_CHECK=1 is in force. */
int rma_checks_(void);

/* MPI's windows (interfaces/mpi/) begin and end with the runtime, whoever starts it. rma_follow_ registers their
 * functions, before the runtime starts: `begin` is called on each PE when the runtime has started and before rma_init
 * returns, `end` before it ends, and `again` when it has closed and opened its teams for another interface. `begin` and
 * `again` may call collective functions.
 *
 * A program that calls MPI_Init itself has windows until it calls MPI_Finalize, whatever interfaces it starts and ends
 * meanwhile. So interfaces/mpi/ then calls rma_init_thread as MPI_Init, and rma_finalize as MPI_Finalize
 * (rma_call_as_). The runtime keeps this one reference apart from those of the other interfaces:
 *   - a runtime that all PEs start so has no symmetric global variables. They become symmetric when the program starts
 *     the first other interface, collectively; so does a thread level that this interface raises;
 *   - when the last other interface ends, all PEs meet, as in the end of the runtime, and the runtime stays;
 *   - rma_initialized tells of the other interfaces only. */
struct rma_follower_ {
    void (*begin)(void), (*end)(void), (*again)(void);
};
void rma_follow_(const struct rma_follower_ *follower);

/* rma_leave_mpi_: the program has called MPI_Init itself, after rma_init has done so. From then on MPI belongs to the
 * program, and rma_finalize does not end it. */
void rma_leave_mpi_(void);

/* rma_starting_: 1 while rma_init is starting the runtime: a call of MPI_Init is its own. */
int rma_starting_(void);

/* rma_only_reference_: 1 if the next rma_finalize of the program's interfaces is the last one. */
int rma_only_reference_(void);

/* rma_exit_ ends the whole job as rma_abort does, without a message, after flushing this process's streams. */
void rma_exit_(int code) __attribute__((noreturn));

/* The call in whose name coarrays start the runtime (rma_call_as_). */
#define RMA_COARRAYS_ "start of the coarrays"

/* rma_exits_normally_: 1 if OpenSHMEM or coarrays have started the runtime first in this process, and the process exits
 * with status 0 and waits in no call. PE 0 then prints a note that the library finalizes. A destructor that runs before
 * this library's calls it. */
int rma_exits_normally_(void);

/* rma_watch_exit_: rma_init was called before main, by a constructor of a shared library. Then the functions that it
 * registered by on_exit(3) would run after all destructors; this call, within main, registers them once more. */
void rma_watch_exit_(void);

/* rma_aborting_: the program is about to end the job by MPI_Abort, so the end of its process is not reported. */
void rma_aborting_(void);

/* rma_mpi_ending_ is called before MPI_Finalize. That first deletes the attributes of MPI_COMM_SELF, which calls
 * functions of the program, and these may call MPI; but MPICH takes no locks from then on. So librma's own thread ends
 * before: other nodes are served within calls only.
 * rma_keep_mpi_: 1: OpenSHMEM is running, and puts the program's MPI_Finalize off: rma_mpi_ending_ has no effect. */
void rma_mpi_ending_(void);
void rma_keep_mpi_(int keeps);

/* rma_free_met_: rma_free for this PE alone, which waits for nobody: all PEs have just met, and free the same block.
 * Returns as rma_free. */
int rma_free_met_(void *block);

/* rma_crowded_: 1 if PEs of some node share processors; the same on all PEs. */
int rma_crowded_(void);

/* rma_mpi_sleeps_: 1 if this process sleeps when it waits in a call of MPI's own (runtime/job/mpi_polls.h). */
int rma_mpi_sleeps_(void);

/* 1 while this process only tests for a message: then it must not sleep. */
extern int rma_mpi_testing_;

/* rma_mpi_listen_ and rma_mpi_heard_ enclose a call of MPI. The latter returns 1 if MPI's polls have found something in
 * between; always 0 with an MPI whose polls librma does not see (runtime/job/mpi_polls.h). */
void rma_mpi_listen_(void);
int rma_mpi_heard_(void);

/* rma_level_ returns the thread level in force, one of enum rma_thread_level. */
int rma_level_(void);

/* rma_counts_ writes how many operations on PEs of other nodes ctx has begun, and how many of them at least are
 * complete: all if nothing of ctx is under way, else as many as at the last time when nothing was. Puts and atomics
 * count as writes, gets as reads. It drives progress, and waits for no message. Operations by load and store, or by the
 * kernel, are complete when their call returns, and are not counted. Returns RMA_SUCCESS, or RMA_ERR_ARG, RMA_ERR_STATE
 * or RMA_ERR_MPI. */
struct rma_counts_ {
    uint64_t writes, reads;
};
int rma_counts_(const char *call, const rma_ctx *ctx, struct rma_counts_ *begun, struct rma_counts_ *complete);

/* rma_team_note_ keeps a number with this PE's handle of team, 0 at first; rma_team_noted_ writes it to *note. Return
 * RMA_SUCCESS or RMA_ERR_ARG. */
int rma_team_note_(rma_team *team, int note);
int rma_team_noted_(const rma_team *team, int *note);

/* rma_team_drives_: while this PE waits in a collective call of team, it calls drive() at least every half millisecond.
 * drive() returns 1 if it has found something: then the PE calls it more often for a while.
 * While *reports is 0, a long wait reports only PEs that are stopped or do not answer. There is one such team at a
 * time, of all PEs of a job of one node; it ends with the runtime. Returns RMA_SUCCESS or RMA_ERR_ARG. */
int rma_team_drives_(rma_team *team, int (*drive)(void), const int *reports);

/* rma_reduce_ is the reduction of op and type (enum rma_op, enum rma_type or base/inner_types.h, with rma_has_kernel_)
 * on each PE, or if root is not -1 on that PE only, for all types but pairs, in the name of `call`. */
int rma_reduce_(const char *call, rma_team *team, int op, int type, void *dest, const void *source, size_t n, int root);

/* rma_share_ makes [base, base + size) of this PE accessible; *g names its first byte. Memory that is accessible stays
 * as it is; other memory is attached, or the region that contains it is kept until rma_unshare_; it may overlap a
 * region in part. *held is what rma_unshare_ takes; NULL if there is nothing to end. Records the errors of rma_attach,
 * and does not call the error handler. */
int rma_share_(const char *call, void *base, size_t size, rma_gptr_t *g, void **held);
void rma_unshare_(const char *call, void *held);

/* rma_gptr_of_node_: the global pointer of [base, base + size) in the heaps of any PE of this node, as this process has
 * them in its address space; or RMA_GPTR_NULL. */
rma_gptr_t rma_gptr_of_node_(const void *base, size_t size);

/* rma_put_section_at_ and so on are rma_put_section, rma_get_section, rma_put_blocks and rma_get_blocks for memory of
 * any kind: the remote side is at `address` in the process of PE pe. On a node the kernel copies, or the owner's
 * service thread, between nodes the owner's side of the library. All are complete on return. Memory that is not mapped
 * there, or not for this access, is RMA_ERR_ADDRESS; memory that the owner gives back meanwhile ends its process. Each
 * PE has called rma_lend_memory_ before. */
int rma_put_section_at_(const char *call, int pe, uint64_t address, const void *source, RMA_SECTION_);
int rma_get_section_at_(const char *call, int pe, uint64_t address, void *dest, RMA_SECTION_);
int rma_put_blocks_at_(const char *call, int pe, uint64_t address, const void *source, RMA_BLOCKS_);
int rma_get_blocks_at_(const char *call, int pe, uint64_t address, void *dest, RMA_BLOCKS_);
int rma_lend_memory_(const char *call);

/* rma_is_own_block_: 1 if block lies in this PE's local heap. */
int rma_is_own_block_(const void *block);

/* rma_send_gathered_ sends the operations that this PE has begun and that wait in its process until a message to their
 * PE is acknowledged. Call it after a signal for which another PE may wait; waits of librma do the same. */
void rma_send_gathered_(void);

/* rma_put_gathered_ is rma_gptr_put, but a put of at most RMA_GATHERED_MOST_ bytes to a PE of another node may stay in
 * this process until this PE begins an operation of another kind there, waits or tests in a call of librma, completes
 * its operations, or calls rma_send_gathered_. */
#define RMA_GATHERED_MOST_ ((size_t)1024)
int rma_put_gathered_(rma_gptr_t dest, const void *source, size_t len);

/* rma_put_within_ is rma_gptr_put, or with `gathered` rma_put_gathered_, and rma_get_within_ is rma_gptr_get_nbi, for
 * len > 0 bytes of a PE of another node; the caller knows that they lie in memory which that PE has allocated.
 * rma_quiet_of_ is rma_pe_quiet of one PE, without a check of its number. All three only record their errors. */
int rma_put_within_(rma_gptr_t dest, const void *source, size_t len, int gathered);
int rma_get_within_(void *dest, rma_gptr_t source, size_t len);
int rma_quiet_of_(int pe);

/* The arithmetic of accumulates, on arrays of this process: there[i] = there[i] op mine[i] for n elements of `type`
 * (enum rma_type), both aligned for it. rma_has_kernel_: 1 if the type has the operation; RMA_OP_REPLACE and
 * RMA_OP_FETCH need no arithmetic, all types have them. rma_type_align_: the alignment of the type in bytes. */
int rma_has_kernel_(int op, int type);
void rma_kernel_(int op, int type, void *there, const void *mine, size_t n);
size_t rma_type_align_(int type);

/* rma_bell_ names a word of this PE's symmetric or local heap, aligned to 8 bytes: a signal or an atomic on it by a PE
 * of another node wakes the threads that sleep on `futex` by futex(2). There is one such word, the last that was named;
 * word NULL: none. It is for a thread above librma, which calls nothing of librma. */
void rma_bell_(const void *word, uint32_t *futex);

/* rma_thread_wakes_soon_ lets the calling thread, which sleeps most of the time, run as soon as it wakes up. */
void rma_thread_wakes_soon_(void);

/* rma_wait_for_ waits in the public call `call` until ready(context) is not 0. It polls, yields and sleeps as the waits
 * of librma do, serves PEs of other nodes meanwhile, and reports a long wait. *pe: the PE that can end the wait, or -1
 * if any can; `ready` may change it. */
void rma_wait_for_(const char *call, const int *pe, int (*ready)(void *context), void *context);

/* A wait for an event that MPI tells, in a loop of tests by the caller. rma_tests_turn_ is called after each test that
 * has failed: it serves PEs of other nodes, after some tests yields the processor, and names PEs that are stopped or do
 * not answer as rma_wait_for_ does; with `reports` it also reports that all PEs answer. rma_tests_over_ ends the wait.
 * Begin with {.call = the public call}. */
struct rma_tests_ {
    const char *call;
    int reports;
    unsigned failed;    /* tests */
    uint64_t stall[30]; /* struct rmai_stall */
};
void rma_tests_turn_(struct rma_tests_ *tests);
void rma_tests_over_(struct rma_tests_ *tests);

/* rma_watch_notes_ names the n notes of this process (base/note.h): each is of a call of MPI that may wait for other
 * PEs without testing. The watchdog reads them now and then: if a call lasts, it names PEs of this host that are
 * stopped or have died, and ends the job after RMA_TIMEOUT. n 0 ends that. */
void rma_watch_notes_(const struct rma_note_ *notes, int n);

/* A word in memory of the node that a PE sets and others wait for; at first all zero. rma_event_await_ waits until its
 * value is not `old`, as rma_wait_for_ does, for a PE of this node; rma_event_set_ changes it and wakes the PEs that
 * sleep. */
struct rma_event_ {
    uint32_t value, sleepers;
};
void rma_event_await_(const char *call, struct rma_event_ *event, uint32_t old);
void rma_event_set_(struct rma_event_ *event, uint32_t value);

/* rma_without_: before rma_init, the rank of a process of this job and host that does not have `library`, a part of a
 * path, in its memory, and its process number in *pid; -1 if there is none, or it cannot be known. */
int rma_without_(const char *library, int *pid);

/* rma_windows_info_: 1 if RMA_MPI_INFO=1 is in force. */
int rma_windows_info_(void);

/* rma_makes_window_: 1 while this thread makes a window of MPI for librma itself, because the heap has grown. */
int rma_makes_window_(void);

#pragma GCC visibility pop

#endif
