/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/process.h"
#include "base/attributes.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
#define NO_ADVICE 0x7fffffff
#define READ_MOST 2000 /* milliseconds */
#define PASS_TIME 50   /* milliseconds */
#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif
#ifndef PR_SET_PTRACER_ANY
#define PR_SET_PTRACER_ANY ((unsigned long)-1)
#endif

uint64_t rmai_process_namespace(void) {
    struct stat s;
    return stat("/proc/self/ns/pid", &s) == 0 ? (uint64_t)s.st_ino : 0;
}

unsigned rmai_process_host(void) {
    static const char *const kinds[] = {"ipc", "net", "pid", "user", "uts"};
    unsigned hash = 2166136261u; /* FNV-1a */
    char path[32];
    struct stat s;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i]);
        for (uint64_t n = stat(path, &s) == 0 ? (uint64_t)s.st_ino : 0; n; n >>= 8)
            hash = (hash ^ (unsigned)(n & 0xff)) * 16777619u;
    }
    return hash;
}

/* Reads a stat file of a process or thread (proc(5)): the name, unless it is NULL, and the fields from the third (the
 * state) on. Returns 0 if there is no such file. */
static int read_stat(const char *path, char name[RMAI_PROCESS_NAME], char fields[512]) {
    char line[512];
    const char *open, *shut;
    size_t n;
    FILE *f;
    if (!(f = fopen(path, "re"))) return 0;
    n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = 0;
    open = strchr(line, '(');
    shut = strrchr(line, ')'); /* the program's name may contain anything */
    if (!open || !shut || shut[1] != ' ') return 0;
    if (name) snprintf(name, RMAI_PROCESS_NAME, "%.*s", (int)(shut - open - 1), open + 1);
    snprintf(fields, 512, "%s", shut + 2);
    return 1;
}

static int read_process_stat(int pid, char name[RMAI_PROCESS_NAME], char fields[512]) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    return read_stat(path, name, fields);
}

int rmai_process_name(int pid, char name[RMAI_PROCESS_NAME]) {
    char fields[512];
    return read_process_stat(pid, name, fields);
}

int rmai_thread_state(int tid, char name[RMAI_PROCESS_NAME]) {
    char path[48], fields[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    return read_stat(path, name, fields) ? *fields : 0;
}

int rmai_process_hangs(int pid) {
    char path[64], fields[512];
    struct dirent *one;
    int hangs = 0;
    DIR *threads;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    threads = opendir(path);
    while (!hangs && threads && (one = readdir(threads)) != NULL) {
        if (!isdigit((unsigned char)one->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.10s/stat", pid, one->d_name);
        hangs = read_stat(path, NULL, fields) && *fields == 'D';
    }
    if (threads) closedir(threads);
    return hangs;
}

/* A dead PE stays in the process table until its launcher reads its exit status, and kill(2) still finds it. A process
 * whose main thread has ended while other threads run looks the same, but is alive: the 20th field, num_threads, tells
 * the two apart. */
enum rmai_process_state rmai_process_state(int pid) {
    char fields[512];
    long threads = 1;
    if (kill(pid, 0) != 0) return errno == ESRCH ? RMAI_PROCESS_GONE : RMAI_PROCESS_LIVES;
    if (!read_process_stat(pid, NULL, fields)) return RMAI_PROCESS_LIVES;
    if (*fields == 'T') return RMAI_PROCESS_STOPPED;
    if (*fields != 'Z' && *fields != 'X') return RMAI_PROCESS_LIVES;
    sscanf(fields + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld", &threads);
    return threads <= 1 ? RMAI_PROCESS_GONE : RMAI_PROCESS_LIVES;
}

int rmai_process_parent(int pid) {
    char fields[512];
    int parent = 0;
    return read_process_stat(pid, NULL, fields) && sscanf(fields + 1, " %d", &parent) == 1 ? parent : 0;
}

void rmai_process_admit(void) { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

static enum rmai_process_result copy_result(ssize_t n, size_t done) {
    if (n > 0) return RMAI_PROCESS_DONE;
    return n < 0 && errno != EFAULT && errno != ENOMEM && done == 0 ? RMAI_PROCESS_REFUSED : RMAI_PROCESS_FAULT;
}

/* The kernel may copy less than requested: at most 2 GiB at once, and only up to a page that faults. */
enum rmai_process_result rmai_process_read(int pid, void *to, uint64_t from, size_t len) {
    for (size_t done = 0; done < len;) {
        struct iovec here = {(char *)to + done, len - done}, there = {(void *)(uintptr_t)(from + done), len - done};
        ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);
        if (n <= 0) return copy_result(n, done);
        done += (size_t)n;
    }
    return RMAI_PROCESS_DONE;
}

enum rmai_process_result rmai_process_write(int pid, uint64_t to, const void *from, size_t len) {
    for (size_t done = 0; done < len;) {
        struct iovec here = {(char *)(uintptr_t)from + done, len - done},
                     there = {(void *)(uintptr_t)(to + done), len - done};
        ssize_t n = process_vm_writev(pid, &here, 1, &there, 1, 0);
        if (n <= 0) return copy_result(n, done);
        done += (size_t)n;
    }
    return RMAI_PROCESS_DONE;
}

#define IOVECS 64

/* The kernel copies whole pieces, up to one that faults or passes 2 GiB in all: the rest is copied piece by piece. */
enum rmai_process_result rmai_process_copy(int pid, int write, const struct rmai_process_piece *piece, int n) {
    struct iovec here[IOVECS], there[IOVECS];
    enum rmai_process_result result = RMAI_PROCESS_DONE;
    int copied = 0;
    for (int i = 0; i < n && i < IOVECS; i++) {
        here[i] = (struct iovec){piece[i].here, piece[i].len};
        there[i] = (struct iovec){(void *)(uintptr_t)piece[i].there, piece[i].len};
    }
    if (n > 1 && n <= IOVECS) {
        ssize_t done = write ? process_vm_writev(pid, here, (unsigned long)n, there, (unsigned long)n, 0)
                             : process_vm_readv(pid, here, (unsigned long)n, there, (unsigned long)n, 0);
        while (copied < n && done >= (ssize_t)piece[copied].len) done -= (ssize_t)piece[copied++].len;
    }
    for (; copied < n && result == RMAI_PROCESS_DONE; copied++)
        result = write ? rmai_process_write(pid, piece[copied].there, piece[copied].here, piece[copied].len)
                       : rmai_process_read(pid, piece[copied].here, piece[copied].there, piece[copied].len);
    return result;
}

/* A UCX with support for FUSE starts a thread of this name when it is loaded. It mostly ends within a second. */
int rmai_thread_is_of_fuse(const char *name) { return strcmp(name, "fuse") == 0; }

static int is_thread_of_library(const char *number) {
    char name[RMAI_PROCESS_NAME];
    if (!rmai_thread_state((int)strtol(number, NULL, 10), name)) return 1; /* it has ended */
    return strcmp(name, RMAI_THREAD_NAME) == 0 || rmai_thread_is_of_fuse(name);
}

int rmai_process_threads(int *number, int most) {
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    if (!tasks) return -1;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        if (!isdigit((unsigned char)task->d_name[0]) || is_thread_of_library(task->d_name)) continue;
        if (n < most) number[n] = (int)strtol(task->d_name, NULL, 10);
        n++;
    }
    closedir(tasks);
    return n <= most ? n : -1;
}

/* UCX has functions for some signals as soon as it is loaded. */
static int is_of_ucx(uintptr_t function) {
    Dl_info info;
    const char *name = dladdr((const void *)function, &info) ? strrchr(info.dli_fname, '/') : NULL;
    return name && strncmp(name, "/libuc", 6) == 0;
}

uint64_t rmai_process_handlers(void) {
    uint64_t all = 0;
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(number, NULL, &action);
        const uintptr_t function = (uintptr_t)action.sa_handler;
        if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || is_of_ucx(function)) continue;
        all = (all ^ (uint64_t)function ^ (uint64_t)number) * 0x100000001b3u; /* FNV-1a */
    }
    return all;
}

int rmai_process_has_children(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

int rmai_thread(pthread_t *thread, void *(*run)(void *context), void *context) {
    sigset_t all, before;
    int failed;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, run, context);
    if (!failed) pthread_setname_np(*thread, RMAI_THREAD_NAME);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* For sched_setattr(2), which Debian 12's C library does not have. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* The kernel adds 50 us to every sleep of a thread, unless the thread sets its timer slack. If PEs share processors, a
 * thread that asks for short time slices gets as much time as before, but gets it sooner (since Linux 6.12; earlier
 * versions ignore the request). */
void rmai_thread_wakes_soon(void) {
    struct attributes a = {.size = sizeof a};
    prctl(PR_SET_TIMERSLACK, 1000UL);
    if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0 || a.policy != SCHED_OTHER) return;
    a.runtime = 100000; /* nanoseconds: the kernel's least */
    syscall(SYS_sched_setattr, 0, &a, 0);
}

/* A system that ignores all advice also accepts advice that no kernel knows. */
int rmai_process_advice_ignored(void) {
    static _Atomic int known; /* 0: not asked yet; else 1 + the answer */
    int is = atomic_load_explicit(&known, memory_order_relaxed) - 1;
    if (is >= 0) return is;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), here = (uintptr_t)&is / page * page;
    is = madvise((void *)here, page, NO_ADVICE) == 0;
    atomic_store_explicit(&known, 1 + is, memory_order_relaxed);
    return is;
}

int rmai_process_populate(void *from, size_t bytes, int write) {
    if (RMAI_UNLIKELY(rmai_process_advice_ignored())) return EINVAL;
    while (madvise(from, bytes, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) != 0)
        if (errno != EAGAIN && errno != EINTR) return errno;
    return 0;
}

/* rmai_process_populate for the whole pages of any range. */
static int populate_pages(const void *addr, size_t len, int write) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)addr / page * page, to = (uintptr_t)addr + len;
    return rmai_process_populate((void *)from, (to - from + page - 1) / page * page, write);
}

/* By syscall(2): libraries that track mappings (UCX) replace libc's mremap by a function that drops the fifth argument.
 */
char *rmai_process_remap(char *from, size_t old, size_t new, char *to) {
    long p = syscall(SYS_mremap, from, old, new, MREMAP_MAYMOVE | (to ? MREMAP_FIXED : 0), to);
    return p == -1 ? NULL : (char *)p;
}

/* How many bytes nobody has read yet; 0 for a file or a terminal. */
static int unread(int fd) {
    struct stat what;
    int n = 0;
    if (fstat(fd, &what) || (!S_ISFIFO(what.st_mode) && !S_ISSOCK(what.st_mode))) return 0;
    return ioctl(fd, S_ISFIFO(what.st_mode) ? FIONREAD : SIOCOUTQ, &n) ? 0 : n;
}

void rmai_process_let_read(void) {
    const struct timespec step = {.tv_nsec = 1000000}, pass = {.tv_nsec = PASS_TIME * 1000000};
    for (int ms = 0; ms < READ_MOST && (unread(STDOUT_FILENO) || unread(STDERR_FILENO)); ms++) nanosleep(&step, NULL);
    nanosleep(&pass, NULL);
}

int rmai_environment_number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text && isdigit((unsigned char)*text) ? atoi(text) : otherwise;
}

/* 1 if this process would get a signal by reading the word at that address, or with `write` by writing it. The kernel
 * accesses the word instead, through futex(2), and returns EFAULT. To read, it compares the word and requeues none of
 * the sleepers. To write, it or's 0 into the word atomically, so that no concurrent store is lost; the comparison that
 * follows does not exist, so it wakes nobody. */
static int word_faults(uint32_t *word, int write) {
    uint32_t none = 0; /* nobody sleeps on this word */
    const int keep = FUTEX_OP(FUTEX_OP_OR, 0, 15, 0);
    long code = write ? syscall(SYS_futex, &none, FUTEX_WAKE_OP_PRIVATE, 0, NULL, word, keep)
                      : syscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 0, NULL, &none, 0);
    return code == -1 && errno == EFAULT;
}

/* Populating pages fails if touching them would raise a signal. EINVAL means that the access to the pages is not
 * allowed, or that the kernel cannot populate (before 5.14); populating this function's own stack tells the two apart.
 * On such kernels, and under emulators, a word of each page is tried. */
int rmai_process_touchable(const void *addr, size_t len, int write) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), to = (uintptr_t)addr + len;
    unsigned char byte = 0;
    if (populate_pages(addr, len, write) == 0) return 1;
    if (populate_pages(&byte, 1, write) == 0) return 0;
    for (uintptr_t at = (uintptr_t)addr / 4 * 4; at < to; at = (at / page + 1) * page)
        if (word_faults((uint32_t *)at, write)) return 0;
    return 1;
}
