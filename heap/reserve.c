/* SPDX-License-Identifier: BSD-3-Clause */
/* Mapping and committing.
 *
 * MPICH's MPI_Win_allocate_shared first tries a "symmetric heap": it looks for a range that is free in every process,
 * and probes each page of it, which takes up to a second for each GiB. It does so only for sizes that are multiples of
 * the page. So this module asks for some odd bytes at the end. One process asks for the whole reservation, so that all
 * spaces lie at page boundaries one stride apart.
 *
 * MPI maps at any page, at another one in each process, so that a symmetric block would have another address on each
 * PE, and even another alignment. So each process maps MPI's memory a second time, at an address that it chooses
 * (mremap with an old size of 0), and uses the second one. The address is the one at which the process's own heap lies
 * where the heaps of all other PEs lie in theirs. A tool or an emulator may refuse the second mapping (valgrind, qemu's
 * user mode). Then the processes of the node give MPI's memory back and map a file of /dev/shm, which has lost its name
 * when rmai_reserve returns. If they cannot do that either, each uses MPI's mapping where it is.
 *
 * Open MPI's MPI_Win_allocate_shared cannot be used. It needs as much free space in /dev/shm as is reserved. If there
 * is less (4.1.4), the first process gets an error and the others wait for it for ever, so that not even a smaller size
 * can be tried. With Open MPI the processes of a node map such a file at once.
 *
 * /dev/shm can be smaller than what is mapped from it (64 MiB in a default container), and touching a page that it
 * cannot back raises SIGBUS. MADV_POPULATE_WRITE (Linux 5.14) touches the pages without that, and returns an error. If
 * the kernel is older, this module reads the file system's free bytes before it touches the pages. Another program may
 * take these bytes in between, which is why MADV_POPULATE_WRITE is preferred.
 *
 * If a control group or the whole machine has no memory left, the system returns no error: the kernel kills a process.
 * So this module finds how much each limit leaves before it touches pages. All PEs of the node may commit at once: each
 * commits in steps. It adds the step to a count that they share before it reads what is left, and subtracts it when the
 * step is done. Memory that other PEs have begun to commit is either still in the count, or no longer in what is left.
 * So the PEs of a node together never pass a limit by their commits. (Memory that the rest of the program, or a PE of
 * another node of the machine, takes in the same moment is not counted.)
 */
#include "config.h"

#include "heap/reserve.h"
#include "base/attributes.h"
#include "base/cgroup.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/process.h"
#include "base/size.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ODD_BYTES 64

static int reserve_error(size_t bytes, int n, const char *why) {
    char size[24];
    return rmai_error(RMA_ERR_NO_MEM, "rma_init: cannot reserve address space for %d heaps of %s each: %s", n,
                      rmai_format_size(size, bytes), why);
}

static char *map_private(void *at, size_t bytes, int protection, int flags) {
    return mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

/* Where a PE's own symmetric heap may lie: far from what Linux maps at the top of a process's addresses, and from a
 * program and its heap (near 0x400000, or 0x555555554000). With 47 bits of addresses the first room has NODE_MAX
 * (runtime/life/runtime.c) free on both sides. A room in which something else is mapped, on any PE, is not used. */
static const uintptr_t heap_addresses[RMAI_ROOMS] = {(uintptr_t)42 << 40, (uintptr_t)98 << 40, (uintptr_t)22 << 40};

char *rmai_room_take(int i, size_t stride, int n_slots, int slot, size_t heap) {
    const size_t before = (size_t)slot * stride + heap, bytes = (size_t)n_slots * stride;
    char *at = (char *)(heap_addresses[i] - before), *room;
    if (before >= heap_addresses[i]) return NULL;
    room = map_private(at, bytes, PROT_NONE, MAP_FIXED_NOREPLACE);
    if (room == at) return room;
    /* A kernel before 4.17 does not know the flag, and maps anywhere. */
    if (room != MAP_FAILED) munmap(room, bytes);
    return NULL;
}

unsigned rmai_rooms_find(size_t stride, int n_slots, int slot, size_t heap) {
    unsigned found = 0;
    for (int i = 0; i < RMAI_ROOMS; i++) {
        char *room = rmai_room_take(i, stride, n_slots, slot, heap);
        if (!room) continue;
        munmap(room, (size_t)n_slots * stride);
        found |= 1u << i;
    }
    return found;
}

/* Sets addresses for `bytes` aside, or takes those that are already set aside. The address `at` bytes from their start
 * is a multiple of RMAI_ADDRESS_ALIGNMENT or, if the system refuses that, of RMAI_HEAP_ALIGNMENT. Returns MAP_FAILED if
 * it refuses both. */
static char *take_room(struct rmai_reservation *r, size_t bytes, size_t at) {
    size_t unit = RMAI_ADDRESS_ALIGNMENT, front;
    char *p = r->room;
    r->room = NULL;
    if (p) return p;
    p = map_private(NULL, bytes + unit, PROT_NONE, 0);
    if (p == MAP_FAILED) {
        unit = RMAI_HEAP_ALIGNMENT;
        p = map_private(NULL, bytes + unit, PROT_NONE, 0);
    }
    if (p == MAP_FAILED) return p;
    front = rmai_round_up((uintptr_t)p + at, unit) - ((uintptr_t)p + at);
    if (front) munmap(p, front);
    munmap(p + front + bytes, unit - front);
    return p + front;
}

/* MPI serves a node of one process from malloc, which refuses sizes beyond memory. */
static int reserve_alone(struct rmai_reservation *r, size_t stride, size_t heap) {
    char *room = take_room(r, stride, heap);
    char *p = room == MAP_FAILED ? room : map_private(room, stride, PROT_READ | PROT_WRITE, MAP_FIXED);
    if (p == MAP_FAILED) {
        const int error = errno;
        if (room != MAP_FAILED) munmap(room, stride);
        return reserve_error(stride, 1, strerror(error));
    }
    r->node_base = r->mapped = p;
    r->window = MPI_WIN_NULL;
    return RMA_SUCCESS;
}

struct share {
    int failed; /* errno, or 0 */
    char name[64];
};

/* Creates a file under a name that no other file has. A process that was killed may have left one, and a PE of another
 * container may have our pid. */
static int make_shm_file(struct share *s, size_t bytes) {
    int fd;
    for (unsigned i = 0;; i++) {
        snprintf(s->name, sizeof s->name, "/librma.%ld.%u", (long)getpid(), i);
        fd = shm_open(s->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (fd >= 0 || errno != EEXIST) break;
    }
    s->failed = fd < 0 || ftruncate(fd, (off_t)bytes) != 0 ? errno : 0;
    return fd;
}

/* The first process makes the file, all processes map it, and the first one removes its name when all have answered. */
static int reserve_file(struct rmai_reservation *r, MPI_Comm node, size_t stride, size_t heap) {
    struct share share = {0};
    size_t bytes = stride * (size_t)r->n_slots;
    void *base = MAP_FAILED, *room;
    int rank = rmai_mpi_rank(node, "rma_init"), code = RMA_SUCCESS, fd = -1;
    if (rank == 0) fd = make_shm_file(&share, bytes);
    rmai_mpi_broadcast(node, &share, sizeof share, "rma_init");
    if (!share.failed) {
        if (rank != 0) fd = shm_open(share.name, O_RDWR | O_CLOEXEC, 0);
        room = fd >= 0 ? take_room(r, bytes, (size_t)rank * stride + heap) : MAP_FAILED;
        if (room != MAP_FAILED)
            base = mmap(room, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
        if (base == MAP_FAILED) share.failed = errno;
        if (base == MAP_FAILED && room != MAP_FAILED) munmap(room, bytes);
    }
    rmai_mpi_merge(node, &share.failed, 1, MPI_INT, MPI_MAX, "rma_init");
    if (rank == 0 && fd >= 0) shm_unlink(share.name);
    if (fd >= 0) close(fd);
    r->window = MPI_WIN_NULL;
    r->node_base = r->mapped = base;
    if (share.failed) code = reserve_error(stride, r->n_slots, strerror(share.failed));
    if (code != RMA_SUCCESS && base != MAP_FAILED) munmap(base, bytes);
    if (code != RMA_SUCCESS) r->node_base = r->mapped = NULL;
    return code;
}

#ifdef OPEN_MPI
static int reserve_shared(struct rmai_reservation *r, MPI_Comm node, size_t stride, size_t heap) {
    return reserve_file(r, node, stride, heap);
}
#else
/* Maps MPI's memory a second time. Returns NULL if that is refused. */
static char *map_again(struct rmai_reservation *r, char *base, size_t bytes, size_t at) {
    char *room = take_room(r, bytes, at);
    if (room == MAP_FAILED) return NULL;
    if (rmai_process_remap(base, 0, bytes, room)) return room;
    munmap(room, bytes);
    return NULL;
}

/* Maps a file in place of MPI's memory if a process could not map that a second time. All processes do the same,
 * including one that has no mapping at all; own_code is its error. If there can be no file, MPI's memory stays, which
 * is no error. */
static int replace_unaligned(struct rmai_reservation *r, MPI_Comm node, size_t stride, size_t heap, int own_code) {
    struct rmai_reservation file = *r;
    struct rmai_error_kept kept;
    int worst[2] = {own_code != RMA_SUCCESS, !r->mapped}, code;
    rmai_error_keep(&kept);
    rmai_mpi_merge(node, worst, 2, MPI_INT, MPI_MAX, "rma_init");
    if (worst[0] || !worst[1]) return own_code;
    code = reserve_file(&file, node, stride, heap);
    if (code != RMA_SUCCESS) {
        if (code == RMA_ERR_NO_MEM) rmai_error_restore(&kept);
        return code == RMA_ERR_NO_MEM ? RMA_SUCCESS : code;
    }
    code = rmai_unreserve(r, "rma_init");
    *r = file;
    return code;
}

static int reserve_shared(struct rmai_reservation *r, MPI_Comm node, size_t stride, size_t heap) {
    /* The largest error of all processes, and 1 if any process has the window, and if the window has no memory. */
    int worst[3];
    int rank = rmai_mpi_rank(node, "rma_init"), unit, code, mpi_code;
    MPI_Aint size;
    void *base;
    size = rank == 0 ? (MPI_Aint)(stride * (size_t)r->n_slots + ODD_BYTES) : 0;
    mpi_code = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, node, &base, &r->window);
    if (rmai_mpi(mpi_code, "rma_init", "MPI_Win_allocate_shared") != RMA_SUCCESS) r->window = MPI_WIN_NULL;
    worst[0] = mpi_code;
    worst[1] = mpi_code == MPI_SUCCESS;
    worst[2] = worst[1] && rank == 0 && !base; /* so MPICH 4.2.1 answers if there are not enough addresses */
    rmai_mpi_merge(node, worst, 3, MPI_INT, MPI_MAX, "rma_init");
    if (worst[0] != MPI_SUCCESS) {
        rmai_mpi(worst[0], "rma_init", "MPI_Win_allocate_shared");
        if (!worst[1]) return reserve_error(stride, r->n_slots, rma_last_error() + strlen("rma_init: "));
        /* Freeing the window takes all processes of the node, but one of them has no window. So the window stays, and a
         * smaller size cannot be tried. */
        r->window = MPI_WIN_NULL;
        return mpi_code == MPI_SUCCESS ? RMA_SUCCESS : RMA_ERR_MPI;
    }
    if (worst[2]) {
        code = rmai_mpi(MPI_Win_free(&r->window), "rma_init", "MPI_Win_free");
        r->window = MPI_WIN_NULL;
        return code == RMA_SUCCESS ? reserve_error(stride, r->n_slots, strerror(ENOMEM)) : code;
    }
    code = rmai_mpi(MPI_Win_shared_query(r->window, 0, &size, &unit, &base), "rma_init", "MPI_Win_shared_query");
    if (code == RMA_SUCCESS) {
        r->mapped = map_again(r, base, stride * (size_t)r->n_slots, (size_t)rank * stride + heap);
        r->node_base = r->mapped ? r->mapped : base;
    }
    return replace_unaligned(r, node, stride, heap, code);
}
#endif

int rmai_reserve(struct rmai_reservation *r, MPI_Comm node, size_t stride, size_t heap, char *room) {
    int code;
    *r = (struct rmai_reservation){.stride = stride, .window = MPI_WIN_NULL, .room = room};
    r->n_slots = rmai_mpi_size(node, "rma_init");
    rmai_cgroup_find(&r->group, "", "memory");
    if (stride % RMAI_PAGE || (size_t)r->n_slots > ((size_t)1 << 46) / stride)
        code = reserve_error(stride, r->n_slots, "more than processes can map");
    else
        code = r->n_slots == 1 ? reserve_alone(r, stride, heap) : reserve_shared(r, node, stride, heap);
    if (r->room) munmap(r->room, stride * (size_t)r->n_slots); /* the mapping failed before it was needed */
    r->room = NULL;
    return code;
}

int rmai_unreserve(struct rmai_reservation *r, const char *call) {
    if (r->mapped) munmap(r->mapped, r->stride * (size_t)r->n_slots);
    r->node_base = r->mapped = NULL;
    return r->window == MPI_WIN_NULL ? RMA_SUCCESS : rmai_mpi(MPI_Win_free(&r->window), call, "MPI_Win_free");
}

/* ---- what limits leave ---- */

#define MARGIN_MOST  ((size_t)64 << 20)
#define SPARED_LEAST ((size_t)256 << 20)

enum limit { SHM, GROUP, MEMORY };

struct headroom {
    enum limit limit;
    size_t free, total; /* bytes; free is SIZE_MAX where nothing is limited */
    size_t kept;        /* of the free bytes, these are left to others */
    size_t left;        /* bytes that may be committed: free - kept, at least 0 */
};

/* Bytes that the kernel estimates it can still give without swapping; SIZE_MAX if it does not tell. *total: of how
 * many. Both are in the first lines. */
static size_t memory_available(size_t *total) {
    char text[512];
    unsigned long long available, all;
    ssize_t len = -1;
    const char *line;
    int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        len = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[len > 0 ? len : 0] = 0;
    line = strstr(text, "MemAvailable:");
    if (!line || sscanf(line, "MemAvailable: %llu kB", &available) != 1) return SIZE_MAX;
    *total = sscanf(text, "MemTotal: %llu kB", &all) == 1 ? (size_t)all * 1024 : 0;
    return (size_t)available * 1024;
}

static size_t shm_available(size_t *total) {
    struct statvfs s;
    if (statvfs("/dev/shm", &s) != 0) return SIZE_MAX;
    *total = (size_t)s.f_blocks * s.f_frsize;
    return (size_t)s.f_bavail * s.f_frsize;
}

static size_t spared_bytes(size_t total) { return rmai_min(rmai_max(total / 100 * 6, SPARED_LEAST), total / 4); }

/* Bytes that stay free if the kernel kills processes that pass the limit: its numbers lag by some pages for each
 * processor, page tables count as well, and the program's other memory comes on top. */
static size_t margin_bytes(size_t total) { return rmai_min(total / 64, MARGIN_MOST); }

/* sparing: the commit leaves a part of /dev/shm and of the memory to others. */
static struct headroom read_headroom(const struct rmai_reservation *r, enum limit limit, int sparing) {
    struct headroom headroom = {.limit = limit, .free = SIZE_MAX};
    struct rmai_cgroup_memory group;
    switch (limit) {
        case SHM:
            if (r->n_slots > 1) headroom.free = shm_available(&headroom.total);
            headroom.kept = sparing ? spared_bytes(headroom.total) : 0;
            break;
        case GROUP:
            rmai_cgroup_memory(&r->group, &group);
            headroom.free = group.room;
            headroom.total = group.limit;
            headroom.kept = margin_bytes(headroom.total);
            break;
        case MEMORY:
            headroom.free = memory_available(&headroom.total);
            headroom.kept = sparing ? spared_bytes(headroom.total) : margin_bytes(headroom.total);
            break;
    }
    headroom.left = headroom.free == SIZE_MAX ? SIZE_MAX : headroom.free - rmai_min(headroom.free, headroom.kept);
    return headroom;
}

/* The tightest of the limits. */
static struct headroom find_headroom(const struct rmai_reservation *r, int sparing) {
    struct headroom headroom = read_headroom(r, SHM, sparing), other = read_headroom(r, GROUP, sparing);
    if (other.left < headroom.left) headroom = other;
    other = read_headroom(r, MEMORY, sparing);
    return other.left < headroom.left ? other : headroom;
}

/* Words the error of a commit of `len` bytes, with the numbers after the touched pages were given back. setting, or
 * NULL: the commit was sparing because this setting is missing. */
static int headroom_error(const struct rmai_reservation *r, enum limit limit, size_t len, const char *setting) {
    const struct headroom headroom = read_headroom(r, limit, setting != NULL);
    const char *together = r->n_slots > 1 && len <= headroom.left ? " by several PEs at once" : "";
    char want[24], have[24], all[24], kept[24];
    struct rmai_cgroup_memory group;
    rmai_format_size(want, len);
    rmai_format_size(have, headroom.free);
    rmai_format_size(all, headroom.total);
    rmai_format_size(kept, headroom.kept);
    if (limit == GROUP) {
        rmai_cgroup_memory(&r->group, &group);
        return rmai_error(
            RMA_ERR_NO_MEM, "%s more needed%s, but the control group %s uses %s of at most %s; raise its memory limit",
            want, together, group.folder, rmai_format_size(have, group.used), rmai_format_size(all, group.limit));
    }
    if (setting)
        return rmai_error(RMA_ERR_NO_MEM,
                          "%s more needed%s, but %s has %s free of %s, and %s of that are left to the system and to "
                          "MPI, since %s sets no limit",
                          want, together, limit == SHM ? "/dev/shm" : "the node's memory", have, all, kept, setting);
    if (limit == SHM)
        return rmai_error(RMA_ERR_NO_MEM,
                          "%s more needed%s, but /dev/shm has %s free of %s; enlarge it (mount -o remount,size=..., "
                          "or docker run --shm-size=...)",
                          want, together, have, all);
    return rmai_error(RMA_ERR_NO_MEM,
                      "%s more needed%s, but the node has %s of memory available, and %s of that stay free", want,
                      together, have, kept);
}

const char *rmai_commit_headroom(const struct rmai_reservation *r, char text[RMAI_HEADROOM_TEXT]) {
    const struct headroom shm = read_headroom(r, SHM, 0), memory = read_headroom(r, MEMORY, 0);
    char have[24], all[24];
    struct rmai_cgroup_memory m;
    int n = 0;
    if (shm.free != SIZE_MAX)
        n = snprintf(text, RMAI_HEADROOM_TEXT, "/dev/shm has %s free of %s, ", rmai_format_size(have, shm.free),
                     rmai_format_size(all, shm.total));
    n += snprintf(text + n, RMAI_HEADROOM_TEXT - (size_t)n, "the node %s%s of memory available", n ? "" : "has ",
                  rmai_format_size(have, memory.free));
    rmai_cgroup_memory(&r->group, &m);
    if (m.room != SIZE_MAX)
        snprintf(text + n, RMAI_HEADROOM_TEXT - (size_t)n, ", the control group %s uses %s of at most %s", m.folder,
                 rmai_format_size(have, m.used), rmai_format_size(all, m.limit));
    return text;
}

/* ---- commit ---- */

#define STEP ((size_t)2 << 20) /* the least: touching so much takes twenty times as long as reading the headroom */

/* How much to touch before the headroom is read again, if `left` bytes were left. The PEs of a node together begin an
 * eighth of what is left, so that none fails far from the limit because of pages that others have touched and still
 * count. */
static size_t step_size(const struct rmai_reservation *r, size_t left) {
    return rmai_max(left / 8 / (size_t)r->n_slots / STEP * STEP, STEP);
}

/* The pages at the two ends stay: they are in use if their other part is. */
void rmai_uncommit(const struct rmai_reservation *r, void *start, size_t len) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = rmai_round_up((uintptr_t)start, page), to = ((uintptr_t)start + len) / page * page;
    const uintptr_t begun = (uintptr_t)r->begun;
    if (begun && from <= begun && begun < to) from = begun / page * page + page; /* other PEs are counting there */
    if (from < to) madvise((void *)from, to - from, r->n_slots == 1 ? MADV_DONTNEED : MADV_REMOVE);
}

/* Touches [from, from + bytes). Returns 0, or -1 if it cannot: some of the pages may have been touched then.
 */
static int populate_range(char *from, size_t bytes, size_t page) {
    const int failed = rmai_process_populate(from, bytes, 1);
    if (failed != EINVAL) return failed ? -1 : 0;
    for (size_t i = 0; i < bytes; i += page) __atomic_fetch_or(from + i, 0, __ATOMIC_RELAXED);
    return 0;
}

/* The limit that was reached if the kernel refuses pages. On a node of several PEs that is /dev/shm, although other PEs
 * that asked at the same time may have given their pages back since. */
static enum limit refused_by_kernel(const struct rmai_reservation *r) {
    return read_headroom(r, SHM, 0).free == SIZE_MAX ? MEMORY : SHM;
}

/* setting, or NULL: the commit is sparing because this setting is missing. */
static int commit_range(const struct rmai_reservation *r, void *start, size_t len, const char *setting) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *from = (char *)((uintptr_t)start / page * page);
    size_t bytes = (size_t)((char *)rmai_round_up((uintptr_t)start + len, page) - from), step, others;
    struct headroom headroom = {.left = 0};
    for (size_t done = 0; done < bytes; done += step) {
        int fits, failed;
        step = rmai_min(step_size(r, headroom.left), bytes - done);
        /* Added before the headroom is read, and subtracted after the pages are touched. So if two PEs commit, at least
         * the one that adds later counts both steps, or no longer finds the other's pages in the headroom. */
        others = r->begun ? atomic_fetch_add(r->begun, step) : 0;
        headroom = find_headroom(r, setting != NULL);
        fits = bytes - done <= headroom.left && others <= headroom.left - step;
        failed = !fits || populate_range(from + done, step, page) != 0;
        if (r->begun) atomic_fetch_sub(r->begun, step);
        if (!failed) continue;
        if (done || fits) rmai_uncommit(r, start, len);
        return fits ? headroom_error(r, refused_by_kernel(r), bytes, NULL)
                    : headroom_error(r, headroom.limit, bytes, setting);
    }
    return RMA_SUCCESS;
}

int rmai_commit(const struct rmai_reservation *r, void *start, size_t len) { return commit_range(r, start, len, NULL); }

int rmai_commit_sparing(const struct rmai_reservation *r, void *start, size_t len, const char *setting) {
    return commit_range(r, start, len, setting);
}

int rmai_commit_possible(const struct rmai_reservation *r, size_t bytes) {
    return find_headroom(r, 0).left / (size_t)r->n_slots >= bytes;
}
