/* SPDX-License-Identifier: BSD-3-Clause */
/* Global and static variables are symmetric objects, at the addresses where they always were and with the values they
 * had, from rma_init to rma_finalize, and the program's own again after it.
 *
 * Broken by a variable that loses its value, or its address, when it is moved or moved back; by a peer's copy that is
 * looked for at this PE's place; by a range without the end of .bss, or without .data before it; by constants that are
 * accepted; by buffers and locks of the program that do not survive the move; and by a call that accepts only heaps. On
 * an odd number of PEs the variables first stay in place (RMA_STATICS=window), otherwise they are moved (remap); then
 * they are not symmetric (off); then it is the other way round. Where the system does not map shared pages a second
 * time (an emulator), variables that should be moved stay in place, too. */
#include "job.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PART  1000
#define EARLY 5000000  /* a place that is written before the first life, */
#define LATE  30000000 /* and one in each */

enum mode { REMAP, WINDOW, OFF };
static const char *const mode_names[] = {"remap", "window", "off"};

long in_data = 123456789;
static long in_bss;
static double real = 2.5;
static char letter = 'x';
static unsigned char initial[3001] = {9, 8, 7, [1000] = 6, [3000] = 5};
static unsigned char area[JOB_PES_MAX][PART], source[PART], dest[3 * PART];
static unsigned char big[(size_t)8 << 20];
static unsigned char hollow[(size_t)48 << 20]; /* the program uses few of its pages */
static uint64_t words[6];
static int counters[3];
const int constant = 42;
static const char *const table[] = {"relocated", "and", "constant"};

/* Addresses that the program has taken before the move. */
static long *to_data = &in_data, *to_bss = &in_bss;
static unsigned char *into_big = big + 12345;
static long **to_pointer = &to_data;
static int (*compare)(const void *, const void *, size_t) = memcmp;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char buffer[BUFSIZ];
static FILE *file;

static long *static_local(void) {
    static long calls = 1000;
    return &calls;
}

/* Until the first life, and between them: what the program has, nobody changes. `life` is how many there were. */
static void check_values(int life) {
    for (size_t i = 0; i < sizeof initial; i++) {
        int want = i == 0 ? 9 : i == 1 ? 8 : i == 2 ? 7 : i == 1000 ? 6 : i == 3000 ? 5 : 0;
        CHECK(initial[i] == want, "byte %zu is %d", i, initial[i]);
    }
    CHECK(real == 2.5 && letter == 'x', "%f, '%c'", real, letter);
    CHECK(in_data == 123456789 + life && in_bss == life && *static_local() == 1000 + life, "%ld, %ld, %ld", in_data,
          in_bss, *static_local());
    CHECK(*to_data == in_data && to_data == &in_data && *to_bss == in_bss && **to_pointer == in_data, "the pointers");
    CHECK(hollow[EARLY] == 7 && hollow[EARLY + 1] == 0, "in the hollow one: %d", hollow[EARLY]);
    CHECK(into_big == big + 12345 && *into_big == (unsigned char)life, "in the large one: %d", *into_big);
    CHECK(compare("a", "a", 1) == 0 && constant == 42 && strcmp(table[2], "constant") == 0, "constants");
}

static void change_values(int life) {
    in_data++;
    ++*to_bss;
    ++*static_local();
    *into_big = (unsigned char)(life + 1);
}

/* A lock that is held and a stream with a buffer in a variable, over each change. */
static void stream(int what) {
    char text[100];
    if (!file) {
        file = tmpfile();
        CHECK(file != NULL, "no temporary file");
        setvbuf(file, buffer, _IOFBF, sizeof buffer);
        pthread_mutex_lock(&lock);
    }
    CHECK(pthread_mutex_trylock(&lock) != 0, "the lock is free");
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    fprintf(file, "line %d of PE %d, %p\n", what, job.me, (void *)&in_data);
    if (what % 5 != 4) return;
    rewind(file);
    for (int i = 0; i <= what; i++) {
        int number = -1;
        CHECK(fgets(text, sizeof text, file) && sscanf(text, "line %d", &number) == 1 && number == i, "line %d: %d", i,
              number);
    }
    fseek(file, 0, SEEK_END);
}

/* 1 if the system does for each PE what moving needs: mremap(2) with an old size of 0. */
static int system_remaps(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long second;
    int mine, all;
    CHECK(p != MAP_FAILED, "no memory");
    second = syscall(SYS_mremap, p, 0L, page, (long)MREMAP_MAYMOVE, 0L);
    mine = second != -1;
    if (mine) munmap((void *)second, page);
    munmap(p, page);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!mine) printf("statics: this system maps no shared memory twice: variables that were moved are not tested\n");
    return all;
}

/* ---- in use ---- */

static void *reached(int pe, enum mode mode) {
    void *there;
    job_raised.count = 0;
    there = rma_ptr(&in_bss, pe);
    CHECK(job_raised.count == 0, "rma_ptr: %s", job_raised.text);
    if (pe == job.me)
        CHECK(there == &in_bss, "not the own address: %p", there);
    else
        CHECK((there != NULL) == (mode == REMAP && rma_on_node(pe)), "rma_ptr gives %p with RMA_STATICS=%s", there,
              mode_names[mode]);
    return there;
}

static void transfers(void) {
    unsigned char(*model)[PART] = calloc((size_t)job.n, PART);
    uint64_t random = job_stream(10 + (uint64_t)job.me);
    CHECK(model != NULL, "no memory");
    job_fill(source, 0, PART, (uint64_t)job.me);
    memset(area, 0, sizeof area);
    OK(rma_barrier_all());
    for (long turn = job_far_rounds(2000, 500, 400); turn > 0; turn--) {
        int pe = (int)job_below(&random, (size_t)job.n);
        size_t len = job_length(&random, PART), at = job_below(&random, PART - len + 1),
               from = job_below(&random, PART - len + 1);
        unsigned char *mine = area[job.me] + at;
        size_t n = len / 24;
        uint64_t how = job_below(&random, 8);
        if (how < 4)
            job_order(pe);
        else
            job_settle(pe);
        switch (how) {
            case 0: OK(rma_put(mine, source + from, len, pe)); break;
            case 1:
                OK(rma_put_nbi(mine, source + from, len, pe));
                OK(rma_quiet());
                break;
            case 2: OK(rma_gptr_put(rma_gptr(mine, pe), source + from, len)); break;
            case 3:
                OK(rma_iput(mine, source, 3, 2, 8, n, pe));
                for (size_t k = 0; k < n; k++) memcpy(model[pe] + at + k * 24, source + k * 16, 8);
                continue;
            case 4:
                memset(dest, 0x5a, 3 * PART);
                OK(rma_iget(dest, mine, 2, 3, 8, n, pe));
                for (size_t k = 0; k < n; k++) {
                    CHECK(memcmp(dest + k * 16, model[pe] + at + k * 24, 8) == 0, "element %zu of %zu", k, n);
                    CHECK(dest[k * 16 + 8] == 0x5a, "an iget wrote between");
                }
                continue;
            case 5:
                if (len < 8) continue;
                OK(rma_p_uchar(mine, (unsigned char)turn, pe));
                model[pe][at] = (unsigned char)turn;
                job_settle(pe);
                CHECK(rma_g_uchar(mine, pe) == (unsigned char)turn, "rma_g");
                continue;
            default:
                memset(dest, 0x5a, len + 1);
                OK(turn & 1 ? rma_get(dest, mine, len, pe) : rma_gptr_get(dest, rma_gptr(mine, pe), len));
                CHECK(memcmp(dest, model[pe] + at, len) == 0 && dest[len] == 0x5a, "%zu bytes at %zu of PE %d", len, at,
                      pe);
                continue;
        }
        memcpy(model[pe] + at, source + from, len);
    }
    OK(rma_barrier_all());
    /* What this PE thinks that it has put to each, and its own variable. */
    for (int pe = 0; pe < job.n; pe++) {
        OK(rma_get(dest, area[job.me], PART, pe));
        CHECK(memcmp(dest, model[pe], PART) == 0, "PE %d's variable", pe);
    }
    CHECK(memcmp(area[job.me], model[job.me], PART) == 0, "the own variable");
    OK(rma_barrier_all());
    free(model);
}

/* Each PE writes far apart in the large variable of the next: most pages of it are never touched by the program. */
static void sparsely(int life) {
    unsigned char byte, value = (unsigned char)(job.me + 10 * life + 1);
    for (size_t at = (size_t)job.me + 100; at < sizeof big; at += sizeof big / 37)
        OK(rma_put(big + at, &value, 1, job_any(1)));
    OK(rma_put(big + sizeof big - 1 - job.me, &value, 1, job_any(1)));
    OK(rma_barrier_all());
    value = (unsigned char)(job_any(-1) + 10 * life + 1);
    for (size_t at = (size_t)job_any(-1) + 100; at < sizeof big; at += sizeof big / 37)
        CHECK(big[at] == value, "byte %zu", at);
    CHECK(big[sizeof big - 1 - (size_t)job_any(-1)] == value, "the last bytes");
    OK(rma_get(&byte, big + 50, 1, job_any(1)));
    CHECK(byte == 0, "a byte that nobody wrote");
    OK(rma_barrier_all());
}

/* All PEs, the owner too, on the words of each. */
static void atomics(void) {
    uint64_t turns = (uint64_t)job_far_rounds(200, 40, 15) | 1, bit = 1ull << job.me, sum = 0, bits = 0, old;
    memset(words, 0, sizeof words);
    memset(counters, 0, sizeof counters);
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++) {
        rma_gptr_t g = rma_gptr(words, pe);
        for (uint64_t turn = 0; turn < turns; turn++) {
            OK(rma_atomic_add(&words[0], (uint64_t)job.me + 1, pe));
            rma_gptr_atomic_fetch_add(g, (uint64_t)job.me + 1);
            rma_atomic_fetch_add(&counters[0], 1, pe);
            for (int seen = rma_atomic_fetch(&counters[1], pe), was;
                 (was = rma_atomic_compare_swap(&counters[1], seen, seen + 1, pe)) != seen;)
                seen = was;
            old = rma_gptr_atomic_fetch_xor(g + 8, bit);
            CHECK(!(old & bit) == !(turn & 1), "the own bit");
            rma_gptr_atomic_fetch_or(g + 16, bit);
            old = rma_gptr_atomic_fetch_and(g + 16, ~bit);
            CHECK(old & bit, "the own bit is lost");
            old = rma_atomic_swap(&words[3], (uint64_t)job.me + 1, pe);
            CHECK(old <= (uint64_t)job.n, "%llu was never there", (unsigned long long)old);
            OK(rma_gptr_atomic_set(g + 32, (uint64_t)job.me + 1));
            job_settle(pe);
            old = rma_gptr_atomic_fetch(g + 32);
            CHECK(old >= 1 && old <= (uint64_t)job.n, "%llu was never there", (unsigned long long)old);
            OK(rma_atomic_set(&counters[2], job.me, pe));
        }
    }
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++) sum += 2 * turns * ((uint64_t)pe + 1), bits |= 1ull << pe;
    CHECK(words[0] == sum, "%llu, not %llu", (unsigned long long)words[0], (unsigned long long)sum);
    CHECK(words[1] == bits && words[2] == 0, "%#llx, %#llx", (unsigned long long)words[1],
          (unsigned long long)words[2]);
    CHECK((uint64_t)counters[0] == turns * (uint64_t)job.n && counters[1] == counters[0], "%d, %d", counters[0],
          counters[1]);
    OK(rma_barrier_all());
}

/* How many of the pages in the array exist. */
static size_t count_pages(void) {
    static unsigned char there[sizeof hollow / 4096];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), mib = (size_t)1 << 20;
    unsigned char *from = (unsigned char *)(((uintptr_t)hollow + page - 1) / page * page);
    size_t n = (sizeof hollow - mib) / page, found = 0;
    CHECK(mincore(from, n * page, there) == 0, "mincore: %s", strerror(errno));
    for (size_t i = 0; i < n; i++) found += there[i] & 1;
    return found * page;
}

/* Pages that nobody writes are nowhere. Where they are private, mincore tells only what this process has. */
static void hollow_array(enum mode mode, int life) {
    const unsigned char value = (unsigned char)(job.me + 20 * life + 1);
    OK(rma_put(hollow + LATE + job.me, &value, 1, job_any(1)));
    OK(rma_barrier_all());
    CHECK(hollow[LATE + job_any(-1)] == (unsigned char)(job_any(-1) + 20 * life + 1), "the peer's byte");
    CHECK(hollow[EARLY] == 7 && hollow[EARLY + 1] == 0, "an early byte");
    if (mode == REMAP) CHECK(count_pages() < sizeof hollow / 2, "%zu bytes are there", count_pages());
    OK(rma_barrier_all());
}

static void values(void) {
    int next = job_any(1);
    OK(rma_p(&real, 0.25 + job.me, next));
    OK(rma_p(&letter, (char)('a' + job.me), next));
    OK(rma_barrier_all());
    CHECK(real == 0.25 + job_any(-1) && letter == 'a' + job_any(-1), "%f, %c", real, letter);
    CHECK(rma_g(&real, next) == 0.25 + job.me && rma_g(&letter, next) == 'a' + job.me, "rma_g");
    CHECK(rma_g(&in_data, next) == in_data && rma_g(static_local(), next) == *static_local(), "the others' values");
    OK(rma_barrier_all());
    real = 2.5;
    letter = 'x';
    OK(rma_barrier_all());
}

static void pointers(enum mode mode) {
    rma_gptr_t mine = rma_gptr(&in_bss, job.me), all[JOB_PES_MAX];
    long seen;
    MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int pe = 0; pe < job.n; pe++) {
        long *there = reached(pe, mode);
        CHECK(rma_gptr(&in_bss, pe) == all[pe] && rma_gptr_pe(all[pe]) == pe, "the global pointers differ");
        QUIETLY(rma_gptr_ptr(all[pe]), (void *)there);
        if (there) CHECK(*there == in_bss, "%ld there", *there);
    }
    if (mode == REMAP) {
        long *there = rma_ptr(&words[5], job_next(1));
        *there = job.me + 77;
        OK(rma_barrier_all());
        CHECK(words[5] == (uint64_t)job_next(-1) + 77, "what the peer has stored: %llu", (unsigned long long)words[5]);
        OK(rma_barrier_all());
        CHECK(rma_g((long *)(void *)&words[5], job_next(1)) == job.me + 77, "what was stored there");
        OK(rma_barrier_all());
    }
    OK(rma_get(&seen, to_data, sizeof seen, job_any(1)));
    CHECK(seen == in_data, "by a pointer");
}

static void broadcasts(void) {
    for (int root = 0; root < job.n; root++) {
        if (job.me == root) job_fill(source, 0, PART, 900 + (uint64_t)root);
        memset(dest, 0, PART);
        OK(rma_broadcast(RMA_TEAM_WORLD, dest, source, PART, root));
        CHECK(job_differs(dest, 0, PART, 900 + (uint64_t)root) == PART, "from PE %d", root);
        if (job.me == root) job_fill(dest, 0, PART, 800 + (uint64_t)root);
        OK(rma_broadcast(RMA_TEAM_WORLD, dest, dest, PART - 3, root));
        CHECK(job_differs(dest, 0, PART - 3, 800 + (uint64_t)root) == PART - 3, "in place, from PE %d", root);
    }
}

static void mistakes(int pe) {
    long on_stack = 0, *allocated = malloc(8);
    static _Thread_local long of_thread;
    volatile size_t too_long = (size_t)1 << 30; /* unknown to the compiler, which would warn */
    volatile size_t endless = SIZE_MAX;
    void *bad[] = {&on_stack,
                   allocated,
                   &of_thread,
                   (void *)(uintptr_t)&constant,
                   (void *)(uintptr_t)table,
                   (void *)(uintptr_t)rma_put};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT("rma_put", rma_put(bad[i], source, 4, pe), RMA_ERR_ADDRESS, job_text("dest %p with 4 bytes", bad[i]));
        EXPECT("rma_get", rma_get(dest, bad[i], 4, pe), RMA_ERR_ADDRESS, job_text("source %p", bad[i]));
        QUIETLY(rma_ptr(bad[i], pe), NULL);
        EXPECT_ZERO("rma_gptr", rma_gptr(bad[i], pe) != 0, RMA_ERR_ADDRESS, job_text("%p", bad[i]));
    }
    EXPECT("rma_put", rma_put(big, source, too_long, pe), RMA_ERR_ADDRESS, "with 1073741824 bytes");
    EXPECT("rma_get", rma_get(dest, big, endless, pe), RMA_ERR_ADDRESS, "source");
    EXPECT("rma_iput", rma_iput(big, source, 1 << 20, 1, 8, 1000, pe), RMA_ERR_ADDRESS, "dest");
    EXPECT("rma_atomic_set_ulong",
           rma_atomic_set_ulong((unsigned long *)(void *)(area[0] + (1 - (uintptr_t)area[0] % 2)), 1, pe),
           RMA_ERR_ADDRESS, "not aligned");
    free(allocated);
}

static void use(enum mode mode, int life) {
    DOING("pointers");
    pointers(mode);
    DOING("transfers");
    transfers();
    DOING("a large variable");
    sparsely(life);
    hollow_array(mode, life);
    DOING("atomics");
    atomics();
    DOING("values");
    values();
    DOING("broadcasts");
    broadcasts();
    DOING("mistakes");
    for (int pe = 0; pe < job.n; pe++) mistakes(pe);
}

static void not_symmetric(void) {
    const char *why = "RMA_STATICS";
    DOING("with RMA_STATICS=off");
    memset(dest, 0x5a, 16);
    for (int pe = 0; pe < job.n; pe++) {
        EXPECT("rma_put", rma_put(area[0], source, 8, pe), RMA_ERR_ADDRESS, why);
        EXPECT("rma_get", rma_get(dest, area[0], 8, pe), RMA_ERR_ADDRESS, why);
        EXPECT("rma_iput", rma_iput(area[0], source, 1, 1, 8, 2, pe), RMA_ERR_ADDRESS, why);
        EXPECT("rma_p_long", rma_p(&in_data, 1L, pe), RMA_ERR_ADDRESS, why);
        EXPECT_ZERO("rma_g_long", rma_g(&in_data, pe), RMA_ERR_ADDRESS, why);
        EXPECT_ZERO("rma_atomic_fetch_add_long", rma_atomic_fetch_add(&in_data, 1L, pe), RMA_ERR_ADDRESS, why);
        EXPECT_ZERO("rma_gptr", rma_gptr(&in_data, pe) != 0, RMA_ERR_ADDRESS, "in no heap");
        QUIETLY(rma_ptr(&in_data, pe), NULL);
    }
    for (int i = 0; i < 16; i++) CHECK(dest[i] == 0x5a, "a refused call wrote");
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    int odd = size ? atoi(size) & 1 : 1, line = 0, remaps;
    const enum mode modes[] = {odd ? WINDOW : REMAP, OFF, odd ? REMAP : WINDOW};
    job_begin();
    hollow[EARLY] = 7;
    check_values(0);
    stream(line++);
    MPI_Init(NULL, NULL);
    remaps = system_remaps();
    for (int life = 0; life < 3; life++) {
        setenv("RMA_STATICS", mode_names[modes[life]], 1);
        OK(rma_init());
        job_look();
        check_values(life);
        stream(line++);
        OK(rma_barrier_all());
        if (modes[life] == OFF)
            not_symmetric();
        else
            use(modes[life] == REMAP && !remaps ? WINDOW : modes[life], life);
        stream(line++);
        OK(rma_barrier_all());
        check_values(life);
        change_values(life);
        OK(rma_barrier_all());
        DOING("ending");
        if (life == 2 && odd) CHECK(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize");
        OK(rma_finalize());
        stream(line++);
        check_values(life + 1);
        if (modes[life] != OFF) {
            CHECK(words[2] == 0 && counters[0] == counters[1] && counters[0] > 0, "what the peers have left");
            CHECK(big[sizeof big - 1 - (size_t)job_any(-1)] == (unsigned char)(job_any(-1) + 10 * life + 1),
                  "the large variable");
            CHECK(hollow[LATE + job_any(-1)] == (unsigned char)(job_any(-1) + 20 * life + 1), "the hollow one");
        }
    }
    if (!odd) CHECK(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize");
    stream(line++);
    fclose(file);
    pthread_mutex_unlock(&lock);
    return 0;
}
