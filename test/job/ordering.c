/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE that sees a flag which was set after a fence or a quiet, or by an atomic, sees the earlier puts; after a barrier
 * all PEs see everything (docs/memory-model.md).
 *
 * Broken by a fence that orders nothing, by an atomic that is only relaxed, and by a compiler that may move a copy over
 * either. Between nodes also broken by an atomic or a put that overtakes a put. Each PE sends to the next one, in a
 * ring. */
#include "job.h"

#define WINDOW  32   /* messages on the way at most */
#define MESSAGE 5000 /* bytes of one at most: more than go with a signal */

/* How the flag is set after the message. */
enum how { FENCE, QUIET, SET, SWAP, ADD, COMPARE_SWAP, GPTR, SIGNAL, SIGNAL_ADD, HOWS };

struct box {
    _Alignas(128) uint64_t flag; /* messages that the PE before has put here */
    _Alignas(128) uint64_t seen; /* messages that the PE behind has read */
    _Alignas(128) uint64_t x, y; /* see racing */
    unsigned char data[WINDOW][MESSAGE];
};

static struct box *box;

static size_t length_of(uint64_t i) {
    uint64_t state = job_mix(i);
    if (i % 8 == 1) return 8;
    return 16 + (size_t)(state % (i % 4 ? 64 : MESSAGE - 16));
}

static void send(uint64_t i, int to, enum how how) {
    unsigned char message[MESSAGE];
    size_t len = length_of(i);
    /* The number, at both ends; what is between is bulk. */
    memset(message, (int)i & 0xff, len);
    memcpy(message, &i, 8);
    memcpy(message + len - 8, &i, 8);
    if (how == SIGNAL || how == SIGNAL_ADD) {
        OK(rma_put_signal(box->data[i % WINDOW], message, len, &box->flag, how == SIGNAL ? i : 1,
                          how == SIGNAL ? RMA_SIGNAL_SET : RMA_SIGNAL_ADD, to));
        return;
    }
    OK(rma_put(box->data[i % WINDOW], message, len, to));
    switch (how) {
        case FENCE:
            OK(rma_fence());
            OK(rma_p(&box->flag, i, to));
            break;
        case QUIET:
            OK(rma_quiet());
            OK(rma_p(&box->flag, i, to));
            break;
        case SET: OK(rma_atomic_set(&box->flag, i, to)); break;
        case SWAP: CHECK(rma_atomic_swap(&box->flag, i, to) == i - 1, "swap"); break;
        case ADD: OK(rma_atomic_add(&box->flag, (uint64_t)1, to)); break;
        case COMPARE_SWAP: CHECK(rma_atomic_compare_swap(&box->flag, i - 1, i, to) == i - 1, "compare_swap"); break;
        case GPTR: OK(rma_gptr_atomic_set(rma_gptr(&box->flag, to), i)); break;
        default: break;
    }
}

static void receive(uint64_t i) {
    const unsigned char *message = box->data[i % WINDOW];
    size_t len = length_of(i);
    uint64_t first, last;
    memcpy(&first, message, 8);
    memcpy(&last, message + len - 8, 8);
    CHECK(first == i && last == i, "message %llu of %zu bytes begins with %llu and ends with %llu",
          (unsigned long long)i, len, (unsigned long long)first, (unsigned long long)last);
    for (size_t k = len > 16 ? 8 : len; k + 8 < len; k += 61)
        CHECK(message[k] == (unsigned char)i, "byte %zu of message %llu", k, (unsigned long long)i);
}

/* Both ends of a stream of messages at once; never more than WINDOW of them unread. */
static void stream(enum how how, uint64_t n) {
    int to = job_any(1), from = job_any(-1);
    uint64_t sent = 0, received = 0;
    while (sent < n || received < n) {
        int idle = 1;
        uint64_t seen = rma_atomic_fetch(&box->seen, job.me);
        for (; sent < n && sent < seen + WINDOW; idle = 0) send(++sent, to, how);
        for (uint64_t come = rma_atomic_fetch(&box->flag, job.me); received < come; idle = 0) receive(++received);
        if (!idle) OK(rma_atomic_set(&box->seen, received, from));
        if (idle) job_pause();
    }
    OK(rma_barrier_all());
    box->flag = box->seen = 0;
    OK(rma_barrier_all());
}

/* Without any waiting: the next PE's x is always written before its y, so who reads y and then x finds x no older; and
 * neither word ever goes back. */
static void racing(uint64_t n) {
    uint64_t old_x = 0, old_y = 0;
    int to = job_any(1);
    for (uint64_t i = 1; i <= n; i++) {
        job_order(to);
        OK(rma_p(&box->x, i, to));
        if (i & 1) {
            OK(rma_fence());
            OK(rma_p(&box->y, i, to));
        } else {
            OK(rma_atomic_set(&box->y, i, to));
        }
        uint64_t y = rma_atomic_fetch(&box->y, job.me), x = rma_g(&box->x, job.me);
        CHECK(x >= y, "y is %llu already and x still %llu", (unsigned long long)y, (unsigned long long)x);
        CHECK(x >= old_x && y >= old_y, "back to %llu, %llu", (unsigned long long)x, (unsigned long long)y);
        old_x = x;
        old_y = y;
    }
    OK(rma_barrier_all());
}

/* A puts to C and tells B, B tells C: C sees A's data though A has not told C. All PEs are A, B and C of some chain. On
 * a node A tells by an atomic, or after a fence; these order what goes to one PE, and so beyond the node it takes a
 * quiet. */
static void causality(uint64_t n, int by_atomic) {
    struct chain {
        uint64_t data, told, passed, done;
    } *chain = rma_calloc(1, sizeof *chain);
    int b = job_any(1), c = job_any(2), on_node = rma_on_node(b) && rma_on_node(c);
    CHECK(chain != NULL, "%s", rma_last_error());
    for (uint64_t i = 1; i <= n; i++) {
        OK(rma_p(&chain->data, i, c));
        if (!on_node) OK(rma_quiet());
        if (by_atomic) {
            OK(rma_atomic_set(&chain->told, i, b));
        } else {
            OK(rma_fence());
            OK(rma_p(&chain->told, i, b));
        }
        while (rma_atomic_fetch(&chain->told, job.me) < i) job_pause();
        OK(rma_atomic_set(&chain->passed, i, job_any(1)));
        while (rma_atomic_fetch(&chain->passed, job.me) < i) job_pause();
        CHECK(chain->data == i, "the data are of turn %llu in turn %llu", (unsigned long long)chain->data,
              (unsigned long long)i);
        OK(rma_atomic_set(&chain->done, i, job_any(-2)));
        while (rma_atomic_fetch(&chain->done, job.me) < i) job_pause(); /* C has looked: the next may be put */
    }
    OK(rma_barrier_all());
    OK(rma_free(chain));
}

/* Everybody puts to everybody at random places, then all meet, then each looks at what it has. */
static void epochs(long n) {
    enum { ROOM = 1024 };
    unsigned char(*room)[ROOM] = rma_calloc(2 * (size_t)job.n, ROOM), message[ROOM];
    CHECK(room != NULL, "%s", rma_last_error());
    for (long e = 1; e <= n; e++) {
        unsigned char(*now)[ROOM] = room + (e & 1) * job.n; /* what was put before this barrier, by each PE */
        for (int mine = 1; mine >= 0; mine--) {
            if (!mine) {
                OK(rma_quiet());
                OK(rma_barrier_all());
            }
            for (int pe = 0; pe < job.n; pe++) {
                /* From this PE to each other one, then what each other one has put here. */
                int from = mine ? job.me : pe, to = mine ? pe : job.me;
                uint64_t draw = job_stream((uint64_t)e << 16 | (uint64_t)from << 8 | (uint64_t)to);
                size_t len = job_length(&draw, ROOM), at = job_below(&draw, ROOM - len + 1);
                if (mine) {
                    job_fill(message, 0, len, draw);
                    OK(rma_put(now[job.me] + at, message, len, pe));
                } else {
                    size_t wrong = job_differs(now[pe] + at, 0, len, draw);
                    CHECK(wrong == len, "epoch %ld: byte %zu of %zu from PE %d", e, wrong, len, pe);
                }
            }
        }
    }
    OK(rma_barrier_all());
    OK(rma_free(room));
}

int main(void) {
    static const char *const names[HOWS] = {"put, fence, p",
                                            "put, quiet, p",
                                            "put, set",
                                            "put, swap",
                                            "put, add",
                                            "put, compare_swap",
                                            "put, set by global pointer",
                                            "put_signal, set",
                                            "put_signal, add"};
    job_start();
    box = rma_calloc(1, sizeof *box);
    CHECK(box != NULL, "%s", rma_last_error());
    for (int how = 0; how < HOWS; how++) {
        DOING(names[how]);
        stream((enum how)how, (uint64_t)job_far_rounds(30000, 3000, 200));
    }
    DOING("racing");
    racing((uint64_t)job_far_rounds(200000, 50000, 2000));
    DOING("causality");
    causality((uint64_t)job_far_rounds(5000, 100, 60), 0);
    DOING("causality by atomics");
    causality((uint64_t)job_far_rounds(5000, 100, 60), 1);
    DOING("epochs");
    epochs(job_far_rounds(2000, 300, 60));
    OK(rma_free(box));
    return job_end();
}
