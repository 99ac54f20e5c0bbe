/* SPDX-License-Identifier: BSD-3-Clause */
/* A request and its answer are messages of one form, on a communicator of the detector's own. A thread that asks waits
 * for the answer; the threads of a process take turns. On each host a thread of the leader, the service, answers.
 *
 * The service does what the asking thread would do on its own host, by the same functions: `race_me` is then a thread
 * with the asking one's number, count and clock. It asks nobody, so no two hosts wait for each other. */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/remote.h"

#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "instruments/race/blocks.h"
#include "instruments/race/clock.h"
#include "instruments/race/contexts.h"
#include "instruments/race/group.h"
#include "instruments/race/host.h"
#include "instruments/race/job.h"
#include "instruments/race/options.h"
#include "instruments/race/places.h"
#include "instruments/race/report.h"
#include "instruments/race/runs.h"
#include "instruments/race/spin.h"

enum asked { ACCESS, TOLD, LEARN, GROUP, ARRIVED, LOCK, BLOCK_BEGINS, BLOCK_ENDS, BLOCK, PLACE, COMPLETED, PAIR, STOP };

/* An actor whose number does not tell what it is. */
struct description {
    uint32_t number; /* or another one */
    struct race_actor actor;
};

/* The flow or thread with this number, and its thread. */
struct descriptions {
    struct description flow, thread;
};

/* A race. The asking thread reports its first ones, which are enough for one call. */
#define FOUND_MOST 8
struct found {
    struct race_record record;
    struct descriptions by;
    race_epoch mask;
    uint64_t addr, used; /* bytes of memory that ends */
    int what;
};

/* A request or its answer; which fields are used depends on what is asked. */
struct message {
    enum asked asked;
    uint32_t threads;      /* 1: the job has threads */
    uint32_t actor, count; /* the asking thread, or what is asked about */
    struct descriptions by;
    race_epoch epoch, kind;
    uint64_t cell; /* the offset of the first cell in the shared memory */
    uint64_t addr, len, key, sum;
    uint64_t members[2];
    int pe, flag;
    uint32_t place, n; /* n: entries of found or told */
    union {
        struct found found[FOUND_MOST];
        struct race_seen told[RACE_SEEN_MOST];
        struct race_block block;
        struct race_place entry;
    };
    uint32_t has_clock;
    uint32_t clock[]; /* of race_job.clocks numbers */
};

static MPI_Comm comm = MPI_COMM_NULL;
enum tag { REQUEST, ANSWER };

static size_t most(void) { return (sizeof(struct message) + race_job.clocks * sizeof(uint32_t) + 63) & ~(size_t)63; }
static struct message *message_after(struct message *m) {
    return m ? (struct message *)(void *)((char *)m + most()) : NULL;
}
static int len_of(const struct message *m) { return (int)(m->has_clock ? most() : sizeof *m); }

/* ---- MPI ---- */

/* Without the messages no PE can know what is ordered. */
static void check(int code, const char *call, int pe) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    if (code == MPI_SUCCESS) return;
    PMPI_Error_string(code, text, &len);
    race_say("PE %d: %s between hosts, for PE %d: %s", race_job.my_pe, call, pe, text);
    race_host_abort();
}

static void sleep_for(double seconds) { nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL); }

/* The settings of librma that say how long a PE waits for another one: seconds, 0: for ever. */
static double stall, timeout;
static double seconds_of(const char *setting, double usual) {
    const char *text = getenv(setting);
    char *end = NULL;
    const double seconds = text ? strtod(text, &end) : 0;
    return end && end != text && seconds >= 0 ? seconds : usual;
}

/* A service answers at once, unless its host is stopped or cannot be reached. */
static void report_wait(double waits, int pe, int *said) {
    if (stall > 0 && waits > stall && !(*said)++)
        race_say("PE %d has waited %.0f s for the detector on the host of PE %d", race_job.my_pe, waits, pe);
    if (timeout > 0 && waits > stall + timeout) {
        race_say("PE %d: the detector on the host of PE %d does not answer; aborting the job after %.0f s",
                 race_job.my_pe, pe, waits);
        race_host_abort();
    }
}

/* Polls: at first often, since most answers come at once, and MPI's blocking calls would never give up the processor.
 */
#define OFTEN 0.0002 /* seconds */
#define STEP  20e-6
static void wait_for(MPI_Request *request, const char *call, int pe) {
    const double began = race_seconds();
    int done = 0, said = 0;
    for (;;) {
        double waits;
        check(PMPI_Test(request, &done, MPI_STATUS_IGNORE), call, pe);
        if (done) return;
        waits = race_seconds() - began;
        if (waits < OFTEN)
            sched_yield();
        else
            sleep_for(STEP);
        report_wait(waits, pe, &said);
    }
}

/* ---- asking ---- */

static struct message *question, *reply; /* of the thread that has this lock: */
static uint32_t asking;

static struct message *begin(enum asked what) {
    race_spin_lock(&asking);
    memset(question, 0, sizeof *question);
    question->asked = what;
    question->threads = (uint32_t)race_has_threads();
    return question;
}

static void end(void) { race_spin_unlock(&asking); }

/* Sends the question. A handler that interrupts the thread puts its events off, since the thread has the lock. */
static struct message *ask(int host) {
    const int pe = race_job.leaders[host];
    MPI_Request in, out;
    race_inside++;
    check(PMPI_Irecv(reply, (int)most(), MPI_BYTE, pe, ANSWER, comm, &in), "MPI_Irecv", pe);
    check(PMPI_Isend(question, len_of(question), MPI_BYTE, pe, REQUEST, comm, &out), "MPI_Isend", pe);
    wait_for(&out, "MPI_Isend", pe);
    wait_for(&in, "MPI_Irecv", pe);
    race_inside--;
    return reply;
}

static void with_clock(struct message *m, const uint32_t *clock) {
    m->has_clock = 1;
    memcpy(m->clock, clock, race_job.clocks * sizeof *clock);
}

/* The calling thread asks as itself. */
static void as_me(struct message *m) {
    m->actor = race_me->actor;
    m->count = race_me->count;
    with_clock(m, race_me->clock);
}

static int is_standing(uint32_t actor) { return actor < RACE_STANDING(race_job.n_pes); }

static struct description describe(uint32_t actor) {
    struct description d = {.number = actor};
    if (!is_standing(actor)) d.actor = race_job.actors[actor];
    return d;
}

static struct descriptions describe_both(uint32_t actor) {
    return (struct descriptions){describe(actor), describe(race_actor_thread(actor))};
}

static void know_actor(const struct description *d) {
    if (!is_standing(d->number) && d->number < race_job.clocks) race_job.actors[d->number] = d->actor;
}

static void know_actors(const struct descriptions *d) {
    know_actor(&d->thread);
    know_actor(&d->flow);
}

static uint64_t offset_of(const struct race_cell *cell) { return (uint64_t)((const char *)cell - race_job.map); }

int race_remote_host(uint32_t actor) {
    if (is_standing(actor)) return race_job.host_of[race_actor_pe(actor)];
    return (int)((actor - RACE_STANDING(race_job.n_pes)) % (size_t)race_job.hosts);
}

/* The PE whose memory a cell of the shared memory describes; -1: the cell is of private memory. */
static int owner_of(const struct race_cell *cell) {
    const size_t attached = RACE_ATTACHED_LEN / 8, n = (size_t)race_job.n_pes;
    const struct {
        const struct race_cell *cells;
        size_t stride;
    } parts[] = {{race_job.cells, race_job.cells_stride},
                 {race_job.statics_cells, race_job.statics_stride},
                 {race_job.attached, attached}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t at = ((uintptr_t)cell - (uintptr_t)parts[i].cells) / sizeof *cell;
        if (parts[i].cells && cell >= parts[i].cells && at < n * parts[i].stride) return (int)(at / parts[i].stride);
    }
    return -1;
}

/* Reports what the answer has. The copy is there since a report may ask. addr: what the addresses are relative to. */
static void report_found(const struct message *answer, uintptr_t addr, race_epoch kind, uint32_t place, int pe,
                         const struct race_who *who) {
    struct found found[FOUND_MOST];
    const uint32_t n = answer->n < FOUND_MOST ? answer->n : FOUND_MOST;
    memcpy(found, answer->found, n * sizeof *found);
    end();
    for (uint32_t i = 0; i < n; i++) {
        know_actors(&found[i].by);
        const struct race_where where = {.addr = addr + found[i].addr, .pe = pe};
        if (found[i].what == RACE_FREES || found[i].what == RACE_LEAVES)
            race_report_end(&found[i].record, found[i].mask, found[i].used, found[i].what, place, who, where);
        else
            race_report(&found[i].record, found[i].mask, kind, found[i].what, place, who, where);
    }
}

void race_remote_range(const struct race_cell *cells, uintptr_t addr, size_t len, int pe, race_epoch kind, int write,
                       uint32_t place, const struct race_who *who) {
    struct message *m = begin(ACCESS);
    as_me(m);
    if (who->fences) race_all_fences.into(m->clock, who->fences, who->fences_to);
    m->by = describe_both(RACE_ACTOR(who->epoch));
    m->epoch = who->epoch;
    m->kind = kind;
    m->cell = offset_of(cells);
    m->addr = addr;
    m->len = len;
    m->pe = pe;
    m->flag = write;
    m->place = place;
    report_found(ask(race_job.host_of[pe]), 0, kind, place, pe, who);
}

int race_remote_saw(const struct race_cell *cell, race_epoch mask, int native, struct race_seen *told, size_t *n) {
    const int pe = owner_of(cell);
    const struct message *answer;
    struct message *m;
    if (pe < 0 || !race_is_elsewhere(pe)) return 0;
    race_settle_accesses();
    m = begin(TOLD);
    as_me(m);
    m->epoch = mask;
    m->cell = offset_of(cell);
    m->flag = native;
    answer = ask(race_job.host_of[pe]);
    *n = answer->n;
    memcpy(told, answer->told, answer->n * sizeof *told);
    end();
    return 1;
}

/* Joins the clock of an answer, if it has one. */
static size_t join(struct race_thread *t, const struct message *answer) {
    const size_t sum = answer->sum;
    if (answer->has_clock) race_join(t, answer->clock);
    end();
    return sum;
}

void race_remote_learn(struct race_thread *t, uint32_t actor, uint32_t count) {
    struct message *m = begin(LEARN);
    m->actor = actor;
    m->count = count;
    join(t, ask(race_remote_host(actor)));
}

size_t race_remote_group(int host, uint64_t key, const uint64_t members[2], uint32_t call) {
    struct message *m = begin(GROUP);
    m->key = key;
    m->count = call;
    memcpy(m->members, members, sizeof m->members);
    const struct message *answer = ask(host);
    const int heard = race_me->heard | answer->flag;
    const size_t sum = join(race_me, answer);
    race_me->heard = heard;
    return sum;
}

int race_remote_arrived(int host, uint64_t key, const uint64_t members[2], uint32_t call, uint32_t *clock) {
    struct message *m = begin(ARRIVED);
    const struct message *answer;
    int known;
    m->key = key;
    m->count = call;
    memcpy(m->members, members, sizeof m->members);
    answer = ask(host);
    if ((known = (int)answer->has_clock)) memcpy(clock, answer->clock, race_job.clocks * sizeof *clock);
    end();
    return known;
}

void race_remote_lock(int host, uint64_t offset, int tell) {
    struct message *m = begin(LOCK);
    m->addr = offset;
    m->flag = tell;
    if (tell) with_clock(m, race_me->clock);
    join(race_me, ask(host));
}

void race_remote_block_begins(int pe, const struct race_block *block) {
    struct message *m = begin(BLOCK_BEGINS);
    m->pe = pe;
    m->block = *block;
    ask(race_job.host_of[pe]);
    end();
}

void race_remote_block_ends(int pe, uint64_t offset, uint32_t place) {
    const struct race_who who = {.epoch = race_now, .clock = race_me->clock};
    struct message *m = begin(BLOCK_ENDS);
    as_me(m);
    m->pe = pe;
    m->addr = offset;
    m->place = place;
    report_found(ask(race_job.host_of[pe]), offset >= RACE_ATTACHED ? 0 : race_job.space, RACE_PLAIN, place, pe, &who);
}

const struct race_block *race_remote_block(int pe, uint64_t offset) {
    static __thread struct race_block block;
    struct message *m = begin(BLOCK);
    m->pe = pe;
    m->addr = offset;
    block = ask(race_job.host_of[pe])->block;
    end();
    return block.size ? &block : NULL;
}

const struct race_place *race_remote_place(uint32_t place) {
    static struct copy {
        uint32_t number;
        struct race_place entry;
        struct copy *next;
    } * copies, *c;
    struct message *m = begin(PLACE);
    static const struct race_place none;
    const int host = (int)((place & ~RACE_TABLED) / RACE_PLACES_MOST);
    for (c = copies; c && c->number != place;) c = c->next;
    m->place = place;
    if (!c && host < race_job.hosts && (c = calloc(1, sizeof *c))) {
        *c = (struct copy){.number = place, .entry = ask(host)->entry, .next = copies};
        copies = c;
    }
    end();
    return c ? &c->entry : &none;
}

uint32_t race_remote_completed(uint32_t actor) {
    uint32_t count;
    begin(COMPLETED)->actor = actor;
    count = ask(race_remote_host(actor))->count;
    end();
    return count;
}

int race_remote_pair_is_new(uint64_t key) {
    int is_new;
    if (!race_job.host_of || race_job.host == 0) return 1;
    begin(PAIR)->key = key;
    is_new = ask(0)->flag;
    end();
    return is_new;
}

/* ---- answering ---- */

static __thread struct message *collects; /* of the service: the answer, while it acts for another thread */

int race_remote_collects(const struct race_record *old, race_epoch mask, int what, struct race_where where,
                         size_t used) {
    struct message *a = collects;
    if (!a) return 0;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->found[i].record.place == old->place && a->found[i].record.write == old->write) return 1;
    if (a->n < FOUND_MOST)
        a->found[a->n++] = (struct found){.record = *old,
                                          .by = describe_both(RACE_ACTOR(old->epoch)),
                                          .mask = mask,
                                          .addr = where.addr,
                                          .used = used,
                                          .what = what};
    return 1;
}

static struct race_cell *cell_at(uint64_t offset) { return (struct race_cell *)(void *)(race_job.map + offset); }

static void answer_access(const struct message *m) {
    const struct race_who who = {.epoch = m->epoch, .clock = m->clock};
    know_actors(&m->by);
    race_range(cell_at(m->cell), m->addr, m->len, m->pe, m->kind, m->flag, m->place, &who);
}

static void answer_block_ends(const struct message *m, struct message *a) {
    race_block_ends(m->pe, m->addr, m->place);
    for (uint32_t i = 0; i < a->n; i++)
        if (a->found[i].addr < RACE_ATTACHED || m->addr < RACE_ATTACHED) a->found[i].addr -= race_job.space;
}

/* Fills the answer `a`, which is empty. */
static void answer(struct message *m, struct message *a) {
    const struct race_block *b;
    const int as_itself = m->asked == ACCESS || m->asked == TOLD || m->asked == BLOCK_ENDS;
    /* Never an actor of this process: the service must not record its runs (runs.h). */
    struct race_thread asker = {.actor = as_itself ? m->actor : UINT32_MAX, .count = m->count, .clock = m->clock};
    if (m->threads) __atomic_store_n(&race_job.header->threads, 1, __ATOMIC_RELAXED);
    race_thread_adopt(&asker);
    collects = a;
    /* The thread learns from nothing: its clock is then what it has learnt. */
    if (m->asked == LEARN || m->asked == GROUP || (m->asked == LOCK && !m->flag)) {
        memset(a->clock, 0, race_job.clocks * sizeof *a->clock);
        a->has_clock = 1;
        asker.clock = a->clock;
    }
    switch (m->asked) {
        case ACCESS: answer_access(m); break;
        case TOLD: a->n = (uint32_t)race_saw(cell_at(m->cell), m->epoch, m->flag, a->told); break;
        case LEARN: race_learn(&asker, m->actor, m->count); break;
        case GROUP:
            a->sum = race_group_told(m->key, m->members, m->count);
            a->flag = asker.heard;
            break;
        case ARRIVED: a->has_clock = (uint32_t)race_group_arrived(m->key, m->members, m->count, a->clock); break;
        case LOCK: race_group_lock(m->addr, m->flag); break;
        case BLOCK_BEGINS: race_block_begins(m->pe, &m->block); break;
        case BLOCK_ENDS: answer_block_ends(m, a); break;
        case BLOCK:
            if ((b = race_block_of(m->pe, m->addr))) a->block = *b;
            break;
        case PLACE: a->entry = race_job.header->places[m->place % RACE_PLACES_MOST]; break;
        case COMPLETED: a->count = __atomic_load_n(&race_job.progress[m->actor].completed, __ATOMIC_RELAXED); break;
        case PAIR: a->flag = race_pair_is_new(m->key); break;
        case STOP: break;
    }
    collects = NULL;
    race_thread_adopt(NULL);
}

/* How long the service sleeps between two polls, after so many seconds without a request. */
static double step_after(double idle) { return idle < 0.001 ? 0 : idle < 0.1 ? STEP : 0.0005; }

static struct message *incoming, *outgoing; /* the service's */

static void *serve(void *unused) {
    double heard = race_seconds();
    (void)unused;
    for (;;) {
        MPI_Request r;
        MPI_Status status;
        int done;
        check(PMPI_Irecv(incoming, (int)most(), MPI_BYTE, MPI_ANY_SOURCE, REQUEST, comm, &r), "MPI_Irecv",
              race_job.my_pe);
        for (;;) {
            double step;
            check(PMPI_Test(&r, &done, &status), "MPI_Irecv", race_job.my_pe);
            if (done) break;
            if ((step = step_after(race_seconds() - heard)) > 0)
                sleep_for(step);
            else
                sched_yield();
        }
        heard = race_seconds();
        if (incoming->asked == STOP) return NULL;
        memset(outgoing, 0, sizeof *outgoing);
        answer(incoming, outgoing);
        check(PMPI_Isend(outgoing, len_of(outgoing), MPI_BYTE, status.MPI_SOURCE, ANSWER, comm, &r), "MPI_Isend",
              status.MPI_SOURCE);
        wait_for(&r, "MPI_Isend", status.MPI_SOURCE);
    }
}

static pthread_t service;
static int serving;

static void stop(void) {
    if (!serving) return;
    serving = 0;
    begin(STOP);
    check(PMPI_Send(question, len_of(question), MPI_BYTE, race_job.my_pe, REQUEST, comm), "MPI_Send", race_job.my_pe);
    end();
    pthread_join(service, NULL);
}

/* MPI_Finalize begins with this, if the program has not ended the library: no thread may be in MPI then. */
static int stop_before_finalize(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    stop();
    return MPI_SUCCESS;
}

void race_remote_start(void) {
    sigset_t all, before;
    int code, key;
    if (!race_job.host_of) return;
    race_holds_in_library = 1;
    if (race_job.my_pe != race_remote_leader()) return;
    sigfillset(&all); /* the program's handlers run in its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&service, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code) {
        race_say("PE %d cannot start the thread that answers other hosts: %s", race_job.my_pe, strerror(code));
        race_host_abort();
    }
    serving = 1;
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, stop_before_finalize, &key, NULL), "MPI_Comm_create_keyval",
          race_job.my_pe);
    check(PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL), "MPI_Comm_set_attr", race_job.my_pe);
}

/* ---- the hosts ---- */

/* What PEs of one host have in common: the machine, the host's name, and the numbers of processes. Positive. */
static int number_of_host(void) {
    uint64_t hash = 0xcbf29ce484222325u;
    struct utsname names;
    struct stat numbers;
    char text[256] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    size_t at = 0;
    if (fd >= 0) {
        const ssize_t n = read(fd, text, 64);
        at = n > 0 ? (size_t)n : 0;
        close(fd);
    }
    snprintf(text + at, sizeof text - at, " %s %llu", uname(&names) ? "" : names.nodename,
             stat("/proc/self/ns/pid", &numbers) ? 0ull : (unsigned long long)numbers.st_ino);
    for (const char *p = text; *p; p++) hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    return 1 + (int)(hash >> 34);
}

/* What each PE tells all others. */
struct introduction {
    uint64_t map_len;
    int number, level;
};

/* Whether the PEs can understand each other. PE 0 says why not. */
static int agree(const struct introduction *all) {
    const struct introduction *first = &all[0];
    int pe;
    for (pe = 0; pe < race_job.n_pes; pe++) {
        const struct introduction *i = &all[pe];
        if (i->map_len != first->map_len)
            race_say("PE %d needs %llu bytes for the detector, and PE 0 %llu (do they run the same program?): race "
                     "detection is off",
                     pe, (unsigned long long)i->map_len, (unsigned long long)first->map_len);
        else if (i->level < MPI_THREAD_MULTIPLE)
            race_say("the job is on several hosts, and the program has started MPI on PE %d without "
                     "MPI_THREAD_MULTIPLE, which the detector needs between hosts: race detection is off",
                     pe);
        else
            continue;
        return 0;
    }
    return 1;
}

/* Numbers the hosts by their lowest PEs. */
static void number_hosts(const struct introduction *all) {
    for (int pe = 0; pe < race_job.n_pes; pe++) {
        int host = 0;
        while (host < race_job.hosts && all[race_job.leaders[host]].number != all[pe].number) host++;
        if (host == race_job.hosts) race_job.leaders[race_job.hosts++] = pe;
        race_job.host_of[pe] = host;
    }
    race_job.host = race_job.host_of[race_job.my_pe];
}

int race_remote_open(int nodes, size_t map_len) {
    const int number = nodes && race_job.node_pes ? 1 + race_job.node_pes[0] : number_of_host(), n = race_job.n_pes;
    struct introduction mine = {.map_len = map_len, .number = number}, *all;
    int same[2] = {number, -number}, ok, *host_of;
    if (!race_host_covers_hosts()) return 0;
    if (race_host_least(same, 2) || same[0] == -same[1]) return 0;
    stall = seconds_of("RMA_STALL", 30);
    timeout = seconds_of("RMA_TIMEOUT", 120);
    check(PMPI_Query_thread(&mine.level), "MPI_Query_thread", race_job.my_pe);
    check(PMPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup", race_job.my_pe);
    check(PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", race_job.my_pe);
    all = calloc((size_t)n, sizeof *all);
    host_of = calloc((size_t)n, sizeof *host_of);
    race_job.leaders = calloc((size_t)n, sizeof *race_job.leaders);
    question = calloc(4, most());
    reply = message_after(question);
    incoming = message_after(reply);
    outgoing = message_after(incoming);
    ok = all && host_of && race_job.leaders && question;
    if (!ok) race_say("PE %d has no memory to reach other hosts: race detection is off", race_job.my_pe);
    check(PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce", 0);
    if (ok) {
        check(PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, comm), "MPI_Allgather", 0);
        if (race_job.my_pe == 0) ok = agree(all);
        check(PMPI_Bcast(&ok, 1, MPI_INT, 0, comm), "MPI_Bcast", 0);
    }
    if (ok) {
        race_job.host_of = host_of;
        number_hosts(all);
    } else {
        free(host_of);
        check(PMPI_Comm_free(&comm), "MPI_Comm_free", 0);
    }
    free(all);
    return ok ? 0 : -1;
}

int race_remote_from_leader(void *data, size_t len) {
    char *all = malloc(len * (size_t)race_job.n_pes);
    int ok = all != NULL;
    check(PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce", 0);
    if (ok) {
        check(PMPI_Allgather(data, (int)len, MPI_BYTE, all, (int)len, MPI_BYTE, comm), "MPI_Allgather", 0);
        memcpy(data, all + len * (size_t)race_remote_leader(), len);
    }
    free(all);
    return ok ? 0 : -1;
}

/* The counts and marks of all hosts. Each PE of a host writes the same values. */
static void add_up(struct race_header *h) {
    uint32_t counts[2] = {0, 0};
    uint8_t used[RACE_SUPPRESSIONS_MOST];
    if (race_job.my_pe == race_remote_leader()) counts[0] = h->races, counts[1] = h->past_ends;
    check(PMPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_UINT32_T, MPI_SUM, comm), "MPI_Allreduce", 0);
    memcpy(used, h->suppressions_used, sizeof used);
    check(PMPI_Allreduce(MPI_IN_PLACE, used, sizeof used, MPI_UINT8_T, MPI_MAX, comm), "MPI_Allreduce", 0);
    memcpy(h->suppressions_used, used, sizeof used);
    __atomic_store_n(&h->races, counts[0], __ATOMIC_RELAXED);
    __atomic_store_n(&h->past_ends, counts[1], __ATOMIC_RELAXED);
}

void race_remote_end(void) {
    if (!race_job.host_of) return;
    if (race_job.map) add_up(race_job.header);
    stop();
    check(PMPI_Comm_free(&comm), "MPI_Comm_free", 0);
    race_job.host_of = NULL;
    race_holds_in_library = 0;
}
