/* SPDX-License-Identifier: BSD-3-Clause */
/* Other processes of the node: whether they are alive, and access to memory that they have not shared. The access uses
 * process_vm_readv(2), Linux 3.2: the caller makes one copy, and the other process takes no part. */
#ifndef RMAI_PROCESS_H
#define RMAI_PROCESS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* rmai_process_namespace: a number that is equal in two processes if the same pid means the same process to both. */
uint64_t rmai_process_namespace(void);

/* rmai_process_host: a number that is equal in two processes of a machine if they share the namespaces that decide how
 * MPI moves data between them: those of System V IPC, the network, processes, users and the host's name. */
unsigned rmai_process_host(void);

/* rmai_process_state: the state of process `pid`, as the system reports it. */
enum rmai_process_state {
    RMAI_PROCESS_LIVES,
    RMAI_PROCESS_STOPPED, /* stopped by a signal (SIGSTOP); a process that a debugger holds is not in this state */
    RMAI_PROCESS_GONE     /* there is no such process, or only its exit status is left */
};
enum rmai_process_state rmai_process_state(int pid);

/* rmai_process_hangs: 1 if a thread of process `pid` is in an uninterruptible wait within the kernel (for a disk, or a
 * file server that does not answer). The thread may hold the lock of its address space: then a process that reads its
 * memory, environment or arguments waits as long. */
int rmai_process_hangs(int pid);

/* rmai_process_name writes the name of process `pid` as the kernel has it, and returns 1, or 0 if there is no such
 * process. rmai_thread_state does the same for thread `tid` of this process, and returns its state, a letter of
 * proc(5), or 0. */
#define RMAI_PROCESS_NAME 32
int rmai_process_name(int pid, char name[RMAI_PROCESS_NAME]);
int rmai_thread_state(int tid, char name[RMAI_PROCESS_NAME]);

/* rmai_process_parent: the parent of process `pid`; 0 if the system does not tell. */
int rmai_process_parent(int pid);

/* rmai_process_gone: 1 if the state of process pid is RMAI_PROCESS_GONE. */
static inline int rmai_process_gone(int pid) { return rmai_process_state(pid) == RMAI_PROCESS_GONE; }

/* rmai_process_admit lets the other processes of this user read and write this process's memory, if the system requires
 * such a permission (Yama's ptrace_scope). Otherwise it does nothing. */
void rmai_process_admit(void);

enum rmai_process_result {
    RMAI_PROCESS_DONE,
    RMAI_PROCESS_FAULT,  /* a page is not mapped, or not for this access: some of the bytes may have been copied */
    RMAI_PROCESS_REFUSED /* the system does not allow this access between the two processes: nothing was copied */
};

/* rmai_process_read copies len bytes at address `from` of process pid to `to`; rmai_process_write the other way. */
enum rmai_process_result rmai_process_read(int pid, void *to, uint64_t from, size_t len);
enum rmai_process_result rmai_process_write(int pid, uint64_t to, const void *from, size_t len);

/* rmai_process_copy copies n pieces, from here to there with `write`, else the other way. After RMAI_PROCESS_FAULT some
 * of them may have been copied. */
struct rmai_process_piece {
    void *here;
    uint64_t there; /* in process pid */
    size_t len;
};
enum rmai_process_result rmai_process_copy(int pid, int write, const struct rmai_process_piece *piece, int n);

/* rmai_process_threads writes the numbers of this process's threads, without those of rmai_thread and UCX's of FUSE
 * (rmai_thread_is_of_fuse). Returns how many there are, or -1 if there are more than `most`, or the system does not
 * tell. rmai_process_handlers: a number made of the process's functions for signals; 0 if it has none.
 * rmai_process_has_children: 1 if it has child processes. */
int rmai_process_threads(int *number, int most);
int rmai_thread_is_of_fuse(const char *name);
uint64_t rmai_process_handlers(void);
int rmai_process_has_children(void);

/* rmai_thread starts a thread of the library. The thread receives none of the program's signals, and its name is
 * RMAI_THREAD_NAME. Returns 0 or errno's value. */
#define RMAI_THREAD_NAME "librma"
int rmai_thread(pthread_t *thread, void *(*run)(void *context), void *context);

/* rmai_thread_wakes_soon lets the calling thread, which sleeps most of the time, run as soon as it wakes up. */
void rmai_thread_wakes_soon(void);

/* rmai_process_remap is mremap(2): it moves the mapping of old bytes at `from` to `to` (replacing what is mapped there;
 * anywhere if `to` is NULL), with new bytes. If old is 0, it makes a second mapping of the same shared pages, without a
 * file descriptor. Returns the address, or NULL. */
char *rmai_process_remap(char *from, size_t old, size_t new, char *to);

/* rmai_process_let_read waits until the pipes or sockets behind stdout and stderr have been read, for 2 seconds at
 * most, and for the moment in which the reader passes the text on. For a process that is about to end its job: the
 * launcher then drops what it has not yet read, which is the reason. */
void rmai_process_let_read(void);

/* rmai_environment_number: the number in that environment variable; `otherwise` if it is not set or does not begin with
 * a digit. */
int rmai_environment_number(const char *name, int otherwise);

/* rmai_process_advice_ignored: 1 if madvise(2) succeeds without any effect. An emulator (qemu's user mode) may ignore
 * all advice. */
int rmai_process_advice_ignored(void);

/* rmai_process_populate makes the pages of [from, from + bytes), both multiples of the page size, ready for reading, or
 * with `write` for writing, without the signal that touching them might raise. Returns 0, or errno: EINVAL if this
 * kernel cannot do it (before 5.14), or not for these pages. */
int rmai_process_populate(void *from, size_t bytes, int write);

/* rmai_process_touchable: 1 if this process can read, or with `write` also write, [addr, addr + len) without a signal
 * that ends it. */
int rmai_process_touchable(const void *addr, size_t len, int write);

#endif
