/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the LogGP parameters of the transport (runtime/transport/transport.h) between two PEs of different nodes, so
 * that the simulator can run with the times of a real network.
 *
 * The model: a message of k bytes keeps its sender busy for o_s and its receiver for o_r. It travels for
 * L + (k - 1) G. Two messages of one PE begin at least g apart (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA
 * 1995). The method: o_s and o_r are measured while each PE works alone, and L is half a round trip minus both; g is
 * the interval of messages in a long stream (Culler, Liu, Martin, Yoshikawa: Assessing fast network interfaces, IEEE
 * Micro 1996). G is the slope of the time over the length (Hoefler, Lichei, Rehm: Low-overhead LogGP parameter
 * assessment, IPDPS 2007). No clock of one PE is compared with another PE's.
 *
 * PE 0 and PE 1 run the same functions in step, and each function has the parts of both. Every repetition measures all
 * parameters in turn, so that a drift of the machine affects all of them. */
#include "config.h"

#include "base/attributes.h"
#include "base/clock.h"
#include "bench/options.h"
#include "bench/statistics.h"
#include "runtime/transport/transport_mpi.h"
#include "rma.h"
#include "runtime/world.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Tags that no group has (runtime/net/group.h). */
#define DATA_TAG 30000 /* what is measured */
#define TALK_TAG 30001 /* between two measurements */

#define SHORT       8    /* bytes of a short message */
#define BURST       16   /* messages of which the sending and the receiving are timed */
#define ROUND_TRIPS 200  /* that are timed together */
#define STREAM      2048 /* messages of a stream, */
#define CREDITS     128  /* of which so many are under way at most, */
#define PER_ACK     32   /* and so many are acknowledged together */
#define SLOPE_FROM  ((size_t)64 << 10)
#define SLOPE_SIZES 5          /* lengths, each twice the one before */
#define SLOPE_TRIPS 4          /* messages of each length that are timed together */
#define EAGER_LEAST 3          /* 2^3 bytes */
#define EAGER_MOST  22         /* 2^22 bytes */
#define EAGER_TRIES 3          /* after which a send that was never done counts as one that waits for its receiver */
#define EAGER_TESTS 100        /* of a send that is not done, at least: with fewer, the try does not count, */
#define EAGER_AWAY  2000000000 /* unless its receiver has been away for longer than so many nanoseconds */
#define BUFFER      ((size_t)1 << EAGER_MOST)
#define POLLS       4096 /* tests that find nothing, before each further one leaves the processor to others */

_Static_assert(SLOPE_FROM << (SLOPE_SIZES - 1) <= BUFFER, "the buffer has room for each length");
_Static_assert(STREAM % PER_ACK == 0 && CREDITS % PER_ACK == 0, "the last message is acknowledged, and so each credit");

static struct rmai_transport *transport;
static int my_pe, other_pe;
static unsigned char *buffer;               /* BUFFER bytes */
static struct rmai_token posted[CREDITS];   /* receives of short messages, */
static unsigned char taken[CREDITS][SHORT]; /* and where they put them */
static double clock_cost;                   /* seconds that reading the clock takes */

/* ---- the transport ---- */

static void require_success(int code) {
    if (code == RMA_SUCCESS) return;
    fprintf(stderr, "measure: PE %d: %s\n", my_pe, rma_last_error());
    rma_abort(1);
}

static void begin_send(int tag, const void *data, size_t len, struct rmai_token *token) {
    *token = RMAI_NO_TOKEN;
    require_success(rmai_send(transport, other_pe, tag, data, len, token));
}

static void begin_receive(int tag, void *data, size_t len, struct rmai_token *token) {
    *token = RMAI_NO_TOKEN;
    require_success(rmai_receive(transport, RMAI_ANY_PE, tag, data, len, token));
}

static int is_done(struct rmai_token *token) {
    const int done = rmai_token_done(transport, token);
    if (done < 0) require_success(RMA_ERR_MPI);
    return done;
}

/* The PEs may share a processor: then the PE that only polls must leave the processor to the other one. */
static void await_token(struct rmai_token *token) {
    for (unsigned polls = 0; !is_done(token); polls++)
        if (polls >= POLLS) sched_yield();
}

static void send_all(int tag, const void *data, size_t len) {
    struct rmai_token token;
    begin_send(tag, data, len, &token);
    await_token(&token);
}

static void receive_all(int tag, void *data, size_t len) {
    struct rmai_token token;
    begin_receive(tag, data, len, &token);
    await_token(&token);
}

static void post_slot(int i) { begin_receive(DATA_TAG, taken[i], SHORT, &posted[i]); }

static void post_slots(int n) {
    for (int i = 0; i < n; i++) post_slot(i);
}

static void drop_slots(int n) {
    for (int i = 0; i < n; i++) rmai_token_drop(transport, &posted[i], 1);
}

/* Waits for the message of receive i, and posts the receive again: what runtime/net/progress does for each message. */
static void receive_in_slot(int i) {
    await_token(&posted[i]);
    post_slot(i);
}

/* Both PEs are here, and whatever they post and send next is for the same measurement. */
static void meet_other(void) {
    unsigned char mine[SHORT] = {0}, theirs[SHORT];
    struct rmai_token in, out;
    begin_receive(TALK_TAG, theirs, sizeof theirs, &in);
    begin_send(TALK_TAG, mine, sizeof mine, &out);
    await_token(&in);
    await_token(&out);
}

/* ---- the measurements ---- */

enum { SEND, RECEIVE, ROUND_TRIP, GAP, KIB, PARAMETERS }; /* what is measured in each repetition, in nanoseconds */

static double nanoseconds(double seconds, double n) { return (seconds - clock_cost) / n * 1e9; }

static double measure_clock(void) {
    double cost[101];
    for (int i = 0; i < 101; i++) {
        const double begun = rmai_wtime();
        cost[i] = rmai_wtime() - begun;
    }
    return bench_median(cost, 101);
}

/* Receive 0 is posted again before the next message goes out, so a round trip is 2 (o_s + L + o_r). */
static double measure_round_trip(void) {
    unsigned char message[SHORT] = {0};
    double begun, seconds;
    post_slots(1);
    meet_other();
    begun = rmai_wtime();
    for (int i = 0; i < ROUND_TRIPS; i++) {
        if (my_pe == 1) receive_in_slot(0);
        send_all(DATA_TAG, message, sizeof message);
        if (my_pe == 0) receive_in_slot(0);
    }
    seconds = rmai_wtime() - begun;
    drop_slots(1);
    return nanoseconds(seconds, ROUND_TRIPS);
}

/* PE 0 times its sends: o_s. PE 1 stays out of the transport until all messages have arrived, and then times how long
 * it takes them: o_r. PE 1 does not sleep meanwhile: its processor would be slow at first. */
static double measure_burst(double round_trip) {
    const double away = 2e-5 + (10 + BURST) * round_trip * 1e-9;
    unsigned char message[SHORT] = {0};
    struct rmai_token sent[BURST];
    double begun, seconds;
    if (my_pe == 1) post_slots(BURST);
    meet_other();
    begun = rmai_wtime();
    if (my_pe == 0) {
        for (int i = 0; i < BURST; i++) begin_send(DATA_TAG, message, sizeof message, &sent[i]);
        seconds = rmai_wtime() - begun;
        for (int i = 0; i < BURST; i++) await_token(&sent[i]);
    } else {
        while (rmai_wtime() - begun < away) {
        }
        begun = rmai_wtime();
        for (int i = 0; i < BURST; i++) receive_in_slot(i);
        seconds = rmai_wtime() - begun;
        drop_slots(BURST);
    }
    return nanoseconds(seconds, BURST);
}

/* PE 0 sends while it has credits. The last of n messages begins (n - 1) g after the first one, and its acknowledgement
 * is here a round trip later. */
static double measure_gap(double round_trip) {
    unsigned char message[SHORT] = {0};
    struct rmai_token sent[CREDITS];
    double begun, seconds;
    post_slots(my_pe == 0 ? 1 : CREDITS);
    for (int i = 0; i < CREDITS; i++) sent[i] = RMAI_NO_TOKEN;
    meet_other();
    begun = rmai_wtime();
    for (int i = 0; i < STREAM + CREDITS; i++) {
        const int slot = i % CREDITS;
        if (my_pe == 0) {
            if (i >= CREDITS && i % PER_ACK == 0) receive_in_slot(0);
            await_token(&sent[slot]);
            if (i < STREAM) begin_send(DATA_TAG, message, sizeof message, &sent[slot]);
        } else if (i < STREAM) {
            receive_in_slot(slot);
            if ((i + 1) % PER_ACK == 0) send_all(DATA_TAG, message, sizeof message);
        }
    }
    seconds = rmai_wtime() - begun;
    drop_slots(my_pe == 0 ? 1 : CREDITS);
    return nanoseconds(seconds - round_trip * 1e-9, STREAM - 1);
}

/* PE 0 sends messages of len bytes, and PE 1 acknowledges each one. Nanoseconds for a message and its acknowledgement.
 */
static double measure_long(size_t len) {
    unsigned char message[SHORT] = {0};
    struct rmai_token data = RMAI_NO_TOKEN;
    double begun, seconds;
    if (my_pe == 0)
        post_slots(1);
    else
        begin_receive(DATA_TAG, buffer, len, &data);
    meet_other();
    begun = rmai_wtime();
    for (int i = 0; i < SLOPE_TRIPS; i++) {
        if (my_pe == 0) {
            send_all(DATA_TAG, buffer, len);
            receive_in_slot(0);
        } else {
            await_token(&data);
            if (i + 1 < SLOPE_TRIPS) begin_receive(DATA_TAG, buffer, len, &data);
            send_all(DATA_TAG, message, sizeof message);
        }
    }
    seconds = rmai_wtime() - begun;
    if (my_pe == 0) drop_slots(1);
    return nanoseconds(seconds, SLOPE_TRIPS);
}

/* The slope, by least squares, of the time over the length in KiB. What does not depend on the length is not in it. */
static double measure_kib(void) {
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    const double n = SLOPE_SIZES;
    for (int i = 0; i < SLOPE_SIZES; i++) {
        const size_t len = SLOPE_FROM << i;
        const double x = (double)len / 1024, y = measure_long(len);
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
    }
    return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

/* PE 0 writes what one repetition gives to found[PARAMETERS]. */
static void measure_all(double *found) {
    found[ROUND_TRIP] = measure_round_trip();
    found[my_pe == 0 ? SEND : RECEIVE] = measure_burst(found[ROUND_TRIP]);
    found[GAP] = measure_gap(found[ROUND_TRIP]);
    found[KIB] = measure_kib();
    if (my_pe == 0)
        receive_all(TALK_TAG, &found[RECEIVE], sizeof found[RECEIVE]);
    else
        send_all(TALK_TAG, &found[RECEIVE], sizeof found[RECEIVE]);
}

/* ---- eager messages ---- */

/* What PE 0 asks of PE 1: to stay out of the transport for `away` nanoseconds, and then to receive len bytes. */
struct request {
    uint64_t len; /* 0: there are no more requests */
    uint64_t away;
};

static void sleep_away(uint64_t length) {
    struct timespec left = {(time_t)(length / 1000000000), (long)(length % 1000000000)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* PE 1. Its answer tells that it enters the transport no more but to complete the answer, and has posted no receive. */
static void serve_requests(void) {
    unsigned char leaving[SHORT] = {0};
    struct request r;
    for (receive_all(TALK_TAG, &r, sizeof r); r.len; receive_all(TALK_TAG, &r, sizeof r)) {
        send_all(TALK_TAG, leaving, sizeof leaving);
        sleep_away(r.away);
        receive_all(DATA_TAG, buffer, r.len);
    }
}

/* 1 if a message of len bytes is sent while PE 1 stays away. PE 1 begins to sleep after PE 0 has asked for it: so a
 * send that is done less than `away` after the asking is done without PE 1. A send that is not done by then counts as
 * one that needs PE 1 only if PE 0 has had the time to test it. */
static int is_sent_without_receiver(size_t len) {
    struct request r = {len, 4000000};
    for (int tries = 0; tries < EAGER_TRIES; r.away *= 2) {
        const double back = rmai_wtime() + (double)r.away * 1e-9;
        unsigned char leaving[SHORT];
        struct rmai_token sent;
        int done = 0, tests = 0;
        send_all(TALK_TAG, &r, sizeof r);
        receive_all(TALK_TAG, leaving, sizeof leaving);
        begin_send(DATA_TAG, buffer, len, &sent);
        for (; !done && rmai_wtime() < back; tests++) done = is_done(&sent);
        if (done && rmai_wtime() < back) return 1;
        await_token(&sent);
        if (tests >= EAGER_TESTS || r.away > EAGER_AWAY) tries++;
    }
    return 0;
}

/* On PE 0: the longest such message, of the powers of two; 0 if there is none. Whatever is shorter is sent so, too. */
static size_t measure_eager(void) {
    const struct request none = {0, 0};
    int yes = EAGER_LEAST - 1, no = EAGER_MOST + 1;
    if (my_pe == 1) {
        serve_requests();
        return 0;
    }
    while (no - yes > 1) {
        const int middle = (yes + no) / 2;
        if (is_sent_without_receiver((size_t)1 << middle))
            yes = middle;
        else
            no = middle;
    }
    send_all(TALK_TAG, &none, sizeof none);
    return yes < EAGER_LEAST ? 0 : (size_t)1 << yes;
}

/* ---- the report ---- */

struct seat {
    char host[64];
    int processor, n_processors; /* where the PE runs, and how many processors it may use */
};

static struct seat seat_of_this_pe(void) {
    struct seat seat = {.processor = sched_getcpu()};
    struct rmai_cpus cpus;
    snprintf(seat.host, sizeof seat.host, "%s", rmai_world.job.host);
    rmai_affinity(&cpus);
    seat.n_processors = rmai_cpus_count(&cpus);
    return seat;
}

static void print_seat(int pe, const struct seat *seat) {
    printf("PE %d on %s, processor %d (%s)", pe, seat->host, seat->processor,
           seat->n_processors == 1 ? "pinned" : "not pinned");
}

static void report_seats(long repeat) {
    struct seat seat[2];
    seat[my_pe] = seat_of_this_pe();
    if (my_pe == 1) {
        send_all(TALK_TAG, &seat[1], sizeof seat[1]);
        return;
    }
    receive_all(TALK_TAG, &seat[1], sizeof seat[1]);
    print_seat(0, &seat[0]);
    fputs("; ", stdout);
    print_seat(1, &seat[1]);
    printf("; medians of %ld repetitions\n", repeat);
    if (rmai_world.job.one_machine && seat[0].n_processors == 1 && seat[1].n_processors == 1 &&
        seat[0].processor == seat[1].processor)
        fputs("measure: both PEs share one processor: the times are those of its scheduler\n", stderr);
}

/* The simulator takes whole numbers, and no time of 0. */
static long whole(double value) { return value < 1 ? 1 : lround(value); }

static RMAI_PRINTF(3, 4) void report_line(const char *name, long value, const char *format, ...) {
    va_list args;
    printf("%-11s %8ld ", name, value);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* values: `repeat` of each parameter, one parameter after the other. */
static void report(double *values, long repeat, size_t eager) {
    long found[PARAMETERS], latency, pace;
    for (int p = 0; p < PARAMETERS; p++) found[p] = whole(bench_median(values + p * repeat, (int)repeat));
    latency = whole((double)found[ROUND_TRIP] / 2 - (double)found[SEND] - (double)found[RECEIVE]);
    pace = found[GAP];
    if (pace < found[SEND]) pace = found[SEND];
    if (pace < found[RECEIVE]) pace = found[RECEIVE];
    report_line("round trip", found[ROUND_TRIP], "ns  %d bytes there and back: %d in a row", SHORT, ROUND_TRIPS);
    report_line("send", found[SEND], "ns  handing over a message of %d bytes: %d in a row", SHORT, BURST);
    report_line("receive", found[RECEIVE],
                "ns  taking a message of %d bytes that is there, and posting the next receive: %d in a row", SHORT,
                BURST);
    report_line("latency", latency, "ns  half a round trip less send and receive, at least 1");
    report_line("gap", pace,
                "ns  each of %d messages of %d bytes, %d under way at most: %ld, but no less than send or receive",
                STREAM, SHORT, CREDITS, found[GAP]);
    report_line("kib", found[KIB], "ns  each further 1024 bytes: slope over %zu KiB to %zu KiB", SLOPE_FROM >> 10,
                (SLOPE_FROM << (SLOPE_SIZES - 1)) >> 10);
    report_line("eager", (long)eager,
                "bytes  longest message that is sent while its receiver sleeps: powers of 2 up to %zu KiB",
                BUFFER >> 10);
    printf("times: send=%ld,receive=%ld,latency=%ld,gap=%ld,kib=%ld,eager=%zu\n", found[SEND], found[RECEIVE], latency,
           pace, found[KIB], eager);
}

/* ---- the program ---- */

static bool help, pin;
static long repeat = 301;

static const struct bench_option options[] = {
    {"repeat", 'r', BENCH_COUNT, &repeat, 1, 100001, "N", "repetitions whose medians are printed [301]"},
    {"pin", 'p', BENCH_FLAG, &pin, 0, 0, NULL, "PE 0 stays on the first processor that it may use, PE 1 on the last"},
    {"help", 'h', BENCH_FLAG, &help, 0, 0, NULL, "print this text and exit"},
    {0},
};

static void usage(void) {
    const struct bench_option *const table = options;
    fputs("usage: mpiexec -n 2 measure [OPTION...]\n"
          "\n"
          "Measures the LogGP parameters of the transport between two PEs of different nodes, and prints them as the\n"
          "simulator takes them. On one machine, each PE is a node of its own with RMA_NODE_PES=1 or, with MPICH,\n"
          "MPIR_CVAR_NOLOCAL=1. No progress thread runs, unless RMA_PROGRESS says so.\n"
          "\n",
          stdout);
    bench_options_print(&table, 1);
    puts("\nExit code: 0; 1 the transport has failed; 2 a wrong argument, or not two PEs of two nodes.");
}

static int end_job(int code) {
    rma_finalize();
    return code;
}

static RMAI_PRINTF(1, 2) int refuse(const char *format, ...) {
    va_list args;
    if (my_pe == 0) {
        fputs("measure: ", stderr);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputc('\n', stderr);
    }
    return end_job(2);
}

/* Stays on the first or the last of the processors that this process may use. */
static void pin_process(int last) {
    cpu_set_t allowed, one;
    size_t chosen = CPU_SETSIZE;
    const int failed = sched_getaffinity(0, sizeof allowed, &allowed);
    for (size_t i = 0; !failed && i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed) && (chosen == CPU_SETSIZE || last)) chosen = i;
    CPU_ZERO(&one);
    if (!failed) CPU_SET(chosen, &one);
    if (!failed && sched_setaffinity(0, sizeof one, &one) == 0) return;
    fprintf(stderr, "measure: PE %d: --pin: %s\n", my_pe, strerror(errno));
    rma_abort(1);
}

int main(int argc, char **argv) {
    const struct bench_option *const table = options;
    const struct rmai_job *job = &rmai_world.job;
    char error[BENCH_ERROR_SIZE];
    double *values, once[PARAMETERS];
    size_t eager;
    setenv("RMA_PROGRESS", "none", 0);
    if (rma_init() != RMA_SUCCESS) return 1;
    my_pe = job->my_pe;
    if (bench_options_read(&table, 1, argc, argv, error) != 0) return refuse("%s", error);
    if (help) {
        if (my_pe == 0) usage();
        return end_job(0);
    }
    if (job->n_pes != 2) return refuse("it needs 2 PEs, not %d: start it with mpiexec -n 2", job->n_pes);
    if (job->n_nodes != 2)
        return refuse("both PEs are on one node, where nothing goes by the transport: set RMA_NODE_PES=1 or, with "
                      "MPICH, MPIR_CVAR_NOLOCAL=1, or run it on two hosts");
    other_pe = 1 - my_pe;
    transport = &rmai_world.mpi->transport;
    if (pin) pin_process(my_pe == 1);
    buffer = malloc(BUFFER);
    values = malloc((size_t)repeat * PARAMETERS * sizeof *values);
    if (!buffer || !values) {
        fprintf(stderr, "measure: PE %d: no memory for %zu bytes\n", my_pe,
                BUFFER + (size_t)repeat * PARAMETERS * sizeof *values);
        rma_abort(1);
    }
    memset(buffer, 1, BUFFER); /* pages that were never written to are all the same one */
    clock_cost = measure_clock();
    measure_all(once); /* connections, caches and pages: counts for nothing */
    for (long r = 0; r < repeat; r++) {
        measure_all(once);
        for (int p = 0; p < PARAMETERS; p++) values[p * repeat + r] = once[p];
    }
    eager = measure_eager();
    report_seats(repeat);
    if (my_pe == 0) report(values, repeat, eager);
    free(values);
    free(buffer);
    return end_job(0);
}
