/* SPDX-License-Identifier: BSD-3-Clause */
/* A word that a put or a get writes arrives once and whole: a thread that takes it, by setting it to 0 as soon as it is
 * not 0, finds it one time. So does one that takes each word of a transfer of up to 64 bytes.
 *
 * Broken by a copy that stores bytes twice, as memcpy may: of 8 bytes whose number the compiler does not know glibc's
 * stores the first eight and the last eight. The memcpy of this program, which the library and MPI call too, does the
 * worst that C allows: it copies, waits until somebody has taken what it wrote, and copies again. */
#include "job.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define MOST 64 /* bytes of the longest transfer whose words arrive once */

/* Symmetric, and each of them also attached. */
struct box {
    _Alignas(128) unsigned char place[MOST + 64]; /* where words arrive, and are taken */
    _Alignas(128) unsigned char pattern[MOST + 64];
    _Alignas(128) uint64_t signal;
};

static struct board {
    struct box box;
    rma_gptr_t attached; /* another box of this PE, in memory of its own */
} * board;

static struct box attached;

/* ---- the worst memcpy ---- */

static struct { unsigned char *from, *to; } watched[JOB_PES_MAX + 1];
static _Atomic int n_watched;
static _Atomic int forbidden; /* 1: the kernel copies nothing between processes, so a thread of the owner does */

static int is_watched(const unsigned char *p) {
    int n = n_watched;
    for (int i = 0; i < n; i++)
        if (watched[i].from <= p && p < watched[i].to) return 1;
    return 0;
}

static int is_taken(const volatile unsigned char *p, size_t n) {
    while (n && !*p) p++, n--;
    return n == 0;
}

/* Waits a second at most: the one who takes may be the one who copies. */
void *memcpy(void *dest, const void *source, size_t n) {
    static void *(*const volatile move)(void *, const void *, size_t) = memmove; /* a memmove that stays one */
    move(dest, source, n);
    if (n && n <= MOST && n_watched && is_watched(dest)) {
        for (int i = 0; i < 10000 && !is_taken(dest, n); i++) job_sleep(100);
        move(dest, source, n);
    }
    return dest;
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *from, unsigned long n, const struct iovec *to, unsigned long m,
                          unsigned long flags) {
    if (!forbidden) return syscall(SYS_process_vm_writev, pid, from, n, to, m, flags);
    errno = EPERM;
    return -1;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long m, const struct iovec *from, unsigned long n,
                         unsigned long flags) {
    if (!forbidden) return syscall(SYS_process_vm_readv, pid, to, m, from, n, flags);
    errno = EPERM;
    return -1;
}

/* ---- who takes ---- */

struct taker {
    pthread_t thread;
    unsigned char *place; /* n words of `unit` bytes, a multiple of that */
    size_t unit, n;
    int taken[MOST];
    uint64_t wrong; /* a word that nobody has sent, or 0 */
    _Atomic int ending;
};

/* What has arrived in the word at p, which is 0 from then on; 0: nothing. */
static uint64_t take(void *p, size_t unit) {
    uint64_t word;
    switch (unit) {
        case 1: word = __atomic_load_n((uint8_t *)p, __ATOMIC_ACQUIRE); break;
        case 2: word = __atomic_load_n((uint16_t *)p, __ATOMIC_ACQUIRE); break;
        case 4: word = __atomic_load_n((uint32_t *)p, __ATOMIC_ACQUIRE); break;
        default: word = __atomic_load_n((uint64_t *)p, __ATOMIC_ACQUIRE);
    }
    if (!word) return 0;
    switch (unit) {
        case 1: __atomic_store_n((uint8_t *)p, 0, __ATOMIC_RELEASE); break;
        case 2: __atomic_store_n((uint16_t *)p, 0, __ATOMIC_RELEASE); break;
        case 4: __atomic_store_n((uint32_t *)p, 0, __ATOMIC_RELEASE); break;
        default: __atomic_store_n((uint64_t *)p, 0, __ATOMIC_RELEASE);
    }
    return word;
}

/* The bytes that everybody sends: no two are the same, and none is 0. */
static unsigned char sent(size_t i) { return (unsigned char)(i + 1); }

static void *run_taker(void *arg) {
    struct taker *t = arg;
    int last = 0;
    while (!last) {
        last = t->ending;
        for (size_t i = 0; i < t->n; i++) {
            uint64_t is = take(t->place + i * t->unit, t->unit), want = 0;
            for (size_t k = t->unit; k-- > 0;) want = want << 8 | sent(i * t->unit + k);
            t->taken[i] += is != 0;
            if (is && is != want) t->wrong = is;
        }
        job_pause();
    }
    return NULL;
}

/* ---- ways ---- */

/* One transfer of len bytes: a put to `dest`, the address of this PE's own place, of PE `to`; or a get from there to
 * the place of this PE. */
struct move {
    unsigned char *dest;
    const unsigned char *source;
    size_t len, unit, at; /* at: from the place's first byte */
    int to;
    rma_gptr_t box; /* of PE `to` */
};

static rma_ctx *ctx;

static int put(const struct move *m) { return rma_put(m->dest, m->source, m->len, m->to); }
static int put_nbi(const struct move *m) { return rma_put_nbi(m->dest, m->source, m->len, m->to); }
static int ctx_put(const struct move *m) { return rma_ctx_put(ctx, m->dest, m->source, m->len, m->to); }
static int put_symbol(const struct move *m) {
    int (*const volatile symbol)(void *, const void *, size_t, int) = rma_put; /* as at -O0, and from other languages */
    return symbol(m->dest, m->source, m->len, m->to);
}
static int gptr_put(const struct move *m) { return rma_gptr_put(rma_gptr(m->dest, m->to), m->source, m->len); }
static int put_signal(const struct move *m) {
    return rma_put_signal(m->dest, m->source, m->len, &board->box.signal, 1, RMA_SIGNAL_SET, m->to);
}
static int put_signal_nbi(const struct move *m) {
    return rma_put_signal_nbi(m->dest, m->source, m->len, &board->box.signal, 1, RMA_SIGNAL_ADD, m->to);
}
static int iput(const struct move *m) { return rma_iput(m->dest, m->source, 1, 1, m->unit, m->len / m->unit, m->to); }
static int iput_one(const struct move *m) { return rma_iput(m->dest, m->source, 1, 1, m->len, 1, m->to); }
static int iput_signal(const struct move *m) {
    return rma_iput_signal(m->dest, m->source, 1, 1, m->unit, m->len / m->unit, &board->box.signal, 1, RMA_SIGNAL_SET,
                           m->to);
}
static int put_attached(const struct move *m) {
    return rma_gptr_put(m->box + offsetof(struct box, place) + m->at, m->source, m->len);
}

/* The lengths that the compiler knows, and values. */
#define CONSTANT(BYTES)                                                                                                \
    case BYTES: return rma_put(m->dest, m->source, BYTES, m->to)
static int put_constant(const struct move *m) {
    switch (m->len) {
        CONSTANT(1);
        CONSTANT(2);
        CONSTANT(4);
        CONSTANT(8);
        CONSTANT(12);
        CONSTANT(16);
        CONSTANT(20);
        CONSTANT(24);
        CONSTANT(28);
        CONSTANT(32);
        CONSTANT(40);
        CONSTANT(48);
        CONSTANT(56);
        CONSTANT(60);
        CONSTANT(64);
        default: return put(m);
    }
}

#define VALUE(TYPE)                                                                                                    \
    do {                                                                                                               \
        TYPE value_;                                                                                                   \
        memmove(&value_, m->source, sizeof value_);                                                                    \
        return rma_p((TYPE *)(void *)m->dest, value_, m->to);                                                          \
    } while (0)
static int p(const struct move *m) {
    switch (m->len) {
        case 1: VALUE(uint8_t);
        case 2: VALUE(uint16_t);
        case 4: VALUE(uint32_t);
        case 8: VALUE(uint64_t);
        default: return put(m);
    }
}

static int get(const struct move *m) { return rma_get(m->dest, board->box.pattern, m->len, m->to); }
static int get_nbi(const struct move *m) { return rma_get_nbi(m->dest, board->box.pattern, m->len, m->to); }
static int iget(const struct move *m) {
    return rma_iget(m->dest, board->box.pattern, 1, 1, m->unit, m->len / m->unit, m->to);
}
static int gptr_get(const struct move *m) { return rma_gptr_get(m->dest, rma_gptr(board->box.pattern, m->to), m->len); }
static int get_attached(const struct move *m) {
    return rma_gptr_get(m->dest, m->box + offsetof(struct box, pattern), m->len);
}
static int fetch(const struct move *m) {
    uint32_t *to4 = (void *)m->dest, *from4 = (void *)board->box.pattern;
    uint64_t *to8 = (void *)m->dest, *from8 = (void *)board->box.pattern;
    if (m->len == 8) return rma_atomic_fetch_add_nbi(to8, from8, 0, m->to);
    return m->len == 4 ? rma_atomic_fetch_add_nbi(to4, from4, 0, m->to) : get(m);
}

/* Both times that a way to attached memory is taken: the kernel copies, and a thread of the owner. */
#define WAY(CALL)                                                                                                      \
    { #CALL, CALL, 0, 0 }
static const struct {
    const char *name;
    int (*call)(const struct move *);
    int to_attached, forbidden; /* the words arrive in attached memory; the kernel may not copy */
} ways[] = {WAY(put),
            WAY(put_nbi),
            WAY(ctx_put),
            WAY(put_symbol),
            WAY(put_constant),
            WAY(gptr_put),
            WAY(p),
            WAY(iput),
            WAY(iput_one),
            WAY(put_signal),
            WAY(put_signal_nbi),
            WAY(iput_signal),
            WAY(get),
            WAY(get_nbi),
            WAY(iget),
            WAY(gptr_get),
            WAY(fetch),
            {"put_attached by the kernel", put_attached, 1, 0},
            {"put_attached by the owner", put_attached, 1, 1},
            {"get_attached by the kernel", get_attached, 0, 0},
            {"get_attached by the owner", get_attached, 0, 1}};

/* Transfers of words of `unit` bytes, which arrive `at` bytes from a place that is a multiple of 8. */
static const struct {
    size_t len, unit, at;
} shapes[] = {{1, 1, 0},  {1, 1, 3},  {2, 2, 0},  {2, 2, 6},  {4, 4, 0},  {4, 4, 4},  {8, 8, 0},  {8, 8, 8},
              {8, 4, 4},  {12, 4, 0}, {12, 4, 4}, {16, 8, 0}, {16, 8, 8}, {16, 4, 4}, {20, 4, 0}, {24, 8, 8},
              {28, 4, 4}, {32, 8, 0}, {40, 8, 8}, {48, 8, 0}, {56, 8, 8}, {60, 4, 4}, {64, 8, 0}, {64, 8, 8}};

/* All PEs send to the next one, or get from it, and each has a thread that takes what arrives. */
static void move_once(size_t way, size_t shape) {
    static unsigned char source[MOST + 64];
    struct box *box = ways[way].to_attached ? &attached : &board->box;
    const size_t at = shapes[shape].at, len = shapes[shape].len, unit = shapes[shape].unit;
    struct taker t = {.place = box->place + at, .unit = unit, .n = len / unit};
    struct move m = {.dest = board->box.place + at, .len = len, .unit = unit, .at = at, .to = job_any(1)};
    m.source = source + shape % 3; /* aligned or not */
    for (size_t i = 0; i < len; i++) source[shape % 3 + i] = sent(i);
    m.box = (rma_gptr_t)rma_atomic_fetch(&board->attached, m.to);
    DOING(job_text("%s of %zu bytes at %zu", ways[way].name, len, at));
    CHECK(pthread_create(&t.thread, NULL, run_taker, &t) == 0, "no thread");
    OK(rma_barrier_all());
    OK(ways[way].call(&m));
    OK(rma_ctx_quiet(ctx));
    OK(rma_barrier_all());
    while (!is_taken(t.place, len)) job_pause();
    t.ending = 1;
    pthread_join(t.thread, NULL);
    CHECK(!t.wrong, "%llx has arrived, which nobody has sent", (unsigned long long)t.wrong);
    for (size_t i = 0; i < t.n; i++)
        CHECK(t.taken[i] == 1, "word %zu of %zu, of %zu bytes, has arrived %d times", i, t.n, unit, t.taken[i]);
}

static void watch(struct box *box) {
    watched[n_watched].from = (unsigned char *)box;
    watched[n_watched].to = (unsigned char *)(box + 1);
    n_watched++;
}

int main(void) {
    job_start();
    board = rma_calloc(1, sizeof *board);
    CHECK(board != NULL, "%s", rma_last_error());
    OK(rma_attach(&attached, sizeof attached, &board->attached));
    OK(rma_ctx_create(0, &ctx));
    for (size_t i = 0; i < MOST; i++) board->box.pattern[i] = attached.pattern[i] = sent(i);
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n_near; pe++) watch(&((struct board *)rma_ptr(board, job.pes[pe]))->box);
    watch(&attached);
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        forbidden = ways[way].forbidden;
        for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++) move_once(way, shape);
    }
    n_watched = 0;
    OK(rma_ctx_destroy(ctx));
    OK(rma_detach(&attached));
    rma_free(board);
    return job_end();
}
