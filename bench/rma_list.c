/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_list.c: a linked list whose nodes lie on all PEs: inserting at its head by all PEs at once, walking along it,
 * removing from its head by all PEs at once.
 *
 * MPI has dynamic windows for lists that grow wherever nodes are created; its chapter on one-sided communications has
 * one among its examples (MPI-4.1, 12.8). As there, each node's owner attaches it to the window. But nodes are linked
 * at the head, and a pointer is one word, with the rank in its upper 16 bits and the address in the others, so that one
 * compare-and-swap changes all of it: MPI's columns have as many operations as the others.
 *
 * Pointers are one word in each column: librma's global pointer; MPI's as above; and, for loads and stores, PE + 1 and
 * the offset in that PE's array of nodes. In all columns an insertion or removal begins by reading the head.
 *
 * A PE that removes a node reads the pointer in it, although another PE may have removed the node meanwhile. Nodes are
 * neither freed nor reused before all PEs have met, so this is harmless: the compare-and-swap then fails. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RMA, RAW, MPI, N_METHODS };

#define CHECKED      64       /* insertions and removals by each PE in a check, where they take microseconds */
#define FACTOR       1000003u /* of payloads: what is read from a wrong place is hardly a multiple of it */
#define OFFSET_BITS  40       /* of a pointer of loads and stores: the others are PE + 1 */
#define ADDRESS_BITS 48       /* of a pointer of MPI: the others are the rank */
#define NODES_MAX    ((long)1 << 20)

/* `next` comes first, so that a pointer to a node is one to its `next`. */
struct node {
    uint64_t next;    /* a pointer of its list's kind; 0: the last node */
    uint64_t payload; /* FACTOR times 1 + its number */
    uint64_t rest[6]; /* of the line of 64 bytes */
};

#define CONTENT 16 /* bytes of a node that are read: next and payload */

/* Nodes that are there already, n_nodes on each PE. */
struct pool {
    struct node *nodes; /* this PE's */
    uint64_t *first;    /* by PE: the pointer to the first of its nodes; the others follow */
};

/* A way to have a list. */
struct kind {
    uint64_t (*head)(void);                            /* what the head points to */
    uint64_t (*swap)(uint64_t seen, uint64_t desired); /* compare and swap the head; returns what was found */
    void (*read)(uint64_t at, struct node *copy);      /* CONTENT of a node */
    void (*publish)(void);       /* makes the content of this PE's nodes visible to PEs that find them after a swap */
    uint64_t (*make)(long i);    /* creates a node of this PE, which becomes own[i] */
    void (*drop)(long i);        /* frees that node */
    void (*set)(uint64_t first); /* sets the head: by PE 0, before all meet */
    void (*meet)(void);          /* all PEs: afterwards all see what each did before */
    struct pool *pool;
};

static long n_nodes = 2048;        /* most nodes of a list that lie on one PE */
static struct node **own;          /* up to n_nodes nodes that this PE has created in the row's list */
static uint64_t *removed;          /* up to n_nodes pointers to nodes that it has removed from the list */
static uint64_t *shared_head;      /* symmetric: PE 0's is the head of librma's list */
static uint64_t *raw_head;         /* the head of the list of loads and stores, one line further; null off-node */
static char **raw_base;            /* by PE: its first node by load and store */
static MPI_Win win = MPI_WIN_NULL; /* of bench_dynamic_window */
static uint64_t *mpi_head;         /* PE 0's, attached */
static MPI_Aint mpi_head_at;       /* its address there */
static struct pool rma_pool, raw_pool, mpi_pool;

/* By librma. */

static uint64_t rma_head(void) { return rma_atomic_fetch(shared_head, 0); }

static uint64_t rma_swap(uint64_t seen, uint64_t desired) {
    return rma_atomic_compare_swap(shared_head, seen, desired, 0);
}

static void rma_read(uint64_t at, struct node *copy) { BENCH_RMA(rma_gptr_get(copy, at, CONTENT)); }

static void rma_set(uint64_t first) { BENCH_RMA(rma_atomic_set(shared_head, first, 0)); }

static void rma_meet(void) { BENCH_RMA(rma_barrier_all()); }

/* A compare-and-swap is a release. */
static void rma_publish(void) {}

static uint64_t rma_make(long i) {
    BENCH_RMA(rma_alloc_mem(sizeof **own, &own[i]));
    return rma_gptr(own[i], bench.pe);
}

static void rma_drop(long i) { BENCH_RMA(rma_free_mem(own[i])); }

/* By loads and stores. Nodes are taken from an array. */

BENCH_INLINE struct node *raw_at(uint64_t at) {
    return (struct node *)(void *)(raw_base[(at >> OFFSET_BITS) - 1] + (at & (((uint64_t)1 << OFFSET_BITS) - 1)));
}

static uint64_t raw_head_now(void) { return __atomic_load_n(raw_head, __ATOMIC_ACQUIRE); }

static uint64_t raw_swap(uint64_t seen, uint64_t desired) {
    __atomic_compare_exchange_n(raw_head, &seen, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return seen;
}

static void raw_read(uint64_t at, struct node *copy) { memcpy(copy, raw_at(at), CONTENT); }

static void raw_set(uint64_t first) { __atomic_store_n(raw_head, first, __ATOMIC_RELEASE); }

static uint64_t raw_make(long i) {
    own[i] = &raw_pool.nodes[i];
    return raw_pool.first[bench.pe] + (uint64_t)i * sizeof **own;
}

static void raw_drop(long i) { own[i] = NULL; }

/* By MPI. */

static uint64_t mpi_pointer(const void *p) {
    MPI_Aint address;
    BENCH_MPI(MPI_Get_address(p, &address));
    return (uint64_t)bench.pe << ADDRESS_BITS | (uint64_t)address;
}

BENCH_INLINE int mpi_rank(uint64_t at) { return (int)(at >> ADDRESS_BITS); }

BENCH_INLINE MPI_Aint mpi_address(uint64_t at) { return (MPI_Aint)(at & (((uint64_t)1 << ADDRESS_BITS) - 1)); }

static uint64_t mpi_head_now(void) {
    uint64_t none = 0, found;
    BENCH_MPI(MPI_Fetch_and_op(&none, &found, MPI_UINT64_T, 0, mpi_head_at, MPI_NO_OP, win));
    BENCH_MPI(MPI_Win_flush(0, win));
    return found;
}

static uint64_t mpi_swap(uint64_t seen, uint64_t desired) {
    uint64_t found;
    BENCH_MPI(MPI_Compare_and_swap(&desired, &seen, &found, MPI_UINT64_T, 0, mpi_head_at, win));
    BENCH_MPI(MPI_Win_flush(0, win));
    return found;
}

static void mpi_read(uint64_t at, struct node *copy) {
    int rank = mpi_rank(at);
    BENCH_MPI(MPI_Get(copy, CONTENT, MPI_BYTE, rank, mpi_address(at), CONTENT, MPI_BYTE, win));
    BENCH_MPI(MPI_Win_flush(rank, win));
}

static void mpi_set(uint64_t first) { *mpi_head = first; }

static void mpi_publish(void) { BENCH_MPI(MPI_Win_sync(win)); }

static void mpi_meet(void) {
    BENCH_MPI(MPI_Win_sync(win));
    bench_sync_mpi();
    BENCH_MPI(MPI_Win_sync(win));
}

static uint64_t mpi_make(long i) {
    BENCH_MPI(MPI_Alloc_mem(sizeof **own, MPI_INFO_NULL, &own[i]));
    BENCH_MPI(MPI_Win_attach(win, own[i], sizeof **own));
    return mpi_pointer(own[i]);
}

static void mpi_drop(long i) {
    BENCH_MPI(MPI_Win_detach(win, own[i]));
    BENCH_MPI(MPI_Free_mem(own[i]));
}

static const struct kind kinds[N_METHODS] = {
    [RMA] = {rma_head, rma_swap, rma_read, rma_publish, rma_make, rma_drop, rma_set, rma_meet, &rma_pool},
    [RAW] = {raw_head_now, raw_swap, raw_read, rma_publish, raw_make, raw_drop, raw_set, rma_meet, &raw_pool},
    [MPI] = {mpi_head_now, mpi_swap, mpi_read, mpi_publish, mpi_make, mpi_drop, mpi_set, mpi_meet, &mpi_pool},
};

/* Lists. A node's number is its place among its PE's nodes, times PEs, and its PE: numbers are 0 to nodes - 1 in any
 * list that has as many nodes on each PE. */

BENCH_INLINE uint64_t payload(long i) {
    return FACTOR * (1 + (uint64_t)i * (uint64_t)bench.n_pes + (uint64_t)bench.pe);
}

BENCH_INLINE uint64_t pool_node(const struct pool *pool, int pe, long i) {
    return pool->first[pe] + (uint64_t)i * sizeof *pool->nodes;
}

static void begin_empty(const struct kind *k) {
    if (bench.pe == 0) k->set(0);
    k->meet();
}

/* n_each nodes of each PE: of all PEs in turn, or in an order that all PEs compute alike: shuffled, after R. Fisher and
 * F. Yates, by the generator of xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators", 2016). */
static void begin_full(const struct kind *k, long n_each, bool shuffled) {
    const struct pool *pool = k->pool;
    size_t n_pes = (size_t)bench.n_pes, n = (size_t)n_each * n_pes;
    uint64_t random = 1, *order = malloc(n * sizeof *order);
    if (!order) bench_fail("malloc", MPI_ERR_NO_MEM);
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n - 1; shuffled && i > 0; i--) {
        random ^= random >> 12, random ^= random << 25, random ^= random >> 27;
        size_t other = (size_t)(random * UINT64_C(2685821657736338717) % (i + 1));
        uint64_t moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
    for (size_t i = 0; i < n; i++) {
        if (order[i] % n_pes != (size_t)bench.pe) continue;
        long mine = (long)(order[i] / n_pes);
        pool->nodes[mine] = (struct node){.payload = payload(mine)};
        if (i + 1 < n)
            pool->nodes[mine].next = pool_node(pool, (int)(order[i + 1] % n_pes), (long)(order[i + 1] / n_pes));
    }
    if (bench.pe == 0) k->set(pool_node(pool, (int)(order[0] % n_pes), (long)(order[0] / n_pes)));
    k->meet();
    free(order);
}

/* Link one of this PE's nodes at the head. */
BENCH_INLINE void push(const struct kind *k, struct node *node, uint64_t at, long i) {
    uint64_t found = k->head(), seen;
    node->payload = payload(i);
    do {
        node->next = seen = found;
        k->publish();
        found = k->swap(seen, at);
    } while (found != seen);
}

/* Unlink the first node; returns 0 if there is none. */
BENCH_INLINE uint64_t pop(const struct kind *k) {
    struct node first;
    uint64_t found = k->head(), seen;
    do {
        seen = found;
        if (seen == 0) break;
        k->read(seen, &first);
        found = k->swap(seen, first.next);
    } while (found != seen);
    return seen;
}

/* Parts of a batch: n nodes of each PE, n_nodes at most. Prepares the list, returns this PE's seconds, and leaves the
 * list for a check. */

BENCH_INLINE double part_insert(const struct kind *k, long n) {
    begin_empty(k);
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        uint64_t at = k->make(i);
        push(k, own[i], at, i);
    }
    return rma_wtime() - start;
}

BENCH_INLINE double part_link(const struct kind *k, long n) {
    const struct pool *pool = k->pool;
    uint64_t at = pool->first[bench.pe];
    begin_empty(k);
    double start = rma_wtime();
    for (long i = 0; i < n; i++, at += sizeof *pool->nodes) push(k, &pool->nodes[i], at, i);
    return rma_wtime() - start;
}

BENCH_INLINE double part_remove(const struct kind *k, long n) {
    begin_full(k, n, false);
    double start = rma_wtime();
    for (long i = 0; i < n; i++) removed[i] = pop(k);
    return rma_wtime() - start;
}

static void drop_all(const struct kind *k, long n) {
    for (long i = 0; i < n; i++) k->drop(i);
}

/* A batch in parts. */
BENCH_INLINE double in_parts(const struct kind *k, long n, double (*part)(long n), bool makes) {
    double time = 0;
    for (long left = n; left > 0;) {
        long some = left < n_nodes ? left : n_nodes;
        time += part(some);
        k->meet();
        if (makes) drop_all(k, some);
        left -= some;
    }
    return time;
}

/* From the head again after the last node. */
BENCH_INLINE double walk(const struct kind *k, long n) {
    uint64_t first = k->head(), at = first;
    struct node copy;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        k->read(at, &copy);
        bench_keep(&copy);
        at = copy.next != 0 ? copy.next : first;
    }
    return rma_wtime() - start;
}

/* For each kind the four rows' functions, with its calls compiled in. */
#define RUNS(NAME, KIND)                                                                                               \
    static double NAME##_part_insert(long n) { return part_insert(&kinds[KIND], n); }                                  \
    static double NAME##_part_link(long n) { return part_link(&kinds[KIND], n); }                                      \
    static double NAME##_part_remove(long n) { return part_remove(&kinds[KIND], n); }                                  \
    static double NAME##_insert(long n) { return in_parts(&kinds[KIND], n, NAME##_part_insert, true); }                \
    static double NAME##_link(long n) { return in_parts(&kinds[KIND], n, NAME##_part_link, false); }                   \
    static double NAME##_remove(long n) { return in_parts(&kinds[KIND], n, NAME##_part_remove, false); }               \
    static double NAME##_traverse(long n) { return walk(&kinds[KIND], n); }
RUNS(rma, RMA)
RUNS(raw, RAW)
RUNS(mpi, MPI)

enum row { INSERT, LINK, TRAVERSE, REMOVE, N_ROWS };

static double (*const parts[N_ROWS][N_METHODS])(long n) = {
    [INSERT] = {rma_part_insert, raw_part_insert, mpi_part_insert},
    [LINK] = {rma_part_link, raw_part_link, mpi_part_link},
    [REMOVE] = {rma_part_remove, raw_part_remove, mpi_part_remove},
};

/* Checks. */

/* How many nodes there are, and the sum of the squares of their payloads: a missing, wrong or duplicate node changes
 * one of the two. */
struct tally {
    uint64_t nodes, squares;
};

static void count_node(struct tally *t, uint64_t of) {
    t->nodes++;
    t->squares += of * of;
}

static size_t check(const struct bench_method *m) {
    const int method = bench_column(m);
    const enum row row = (enum row)bench.row;
    const struct kind *k = &kinds[method];
    bool slow = method == MPI || bench.far; /* otherwise as many as there can be, so that PEs meet */
    long n = slow && n_nodes > CHECKED ? CHECKED : n_nodes;
    struct tally found = {0}, wanted = {0};
    struct node copy;
    uint64_t at;
    for (uint64_t i = 1; i <= (uint64_t)n * (uint64_t)bench.n_pes; i++) count_node(&wanted, FACTOR * i);
    if (row != TRAVERSE)
        parts[row][method](n);
    else if (n < n_nodes)
        begin_full(k, n, true);
    k->meet();
    for (long i = 0; row == REMOVE && i < n; i++) {
        if (removed[i] == 0) continue;
        k->read(removed[i], &copy);
        count_node(&found, copy.payload);
    }
    for (at = bench.pe == 0 ? k->head() : 0; at != 0 && found.nodes <= wanted.nodes; at = copy.next) {
        k->read(at, &copy);
        count_node(&found, copy.payload);
    }
    k->meet();
    if (row == INSERT) drop_all(k, n);
    BENCH_MPI(MPI_Allreduce(MPI_IN_PLACE, &found, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
    return bench.pe == 0 && (found.nodes != wanted.nodes || found.squares != wanted.squares);
}

/* Memory. */

/* Tells all PEs where this PE's nodes begin. */
static void tell(struct pool *pool, uint64_t first) {
    pool->first = calloc((size_t)bench.n_pes, sizeof *pool->first);
    if (!pool->first) bench_fail("calloc", MPI_ERR_NO_MEM);
    BENCH_MPI(MPI_Allgather(&first, 1, MPI_UINT64_T, pool->first, 1, MPI_UINT64_T, MPI_COMM_WORLD));
    memset(pool->nodes, 0, (size_t)n_nodes * sizeof *pool->nodes);
}

/* n_nodes nodes in the local heap, which others reach by global pointers. */
static void open_pool(struct pool *pool) {
    if (bench_agree(rma_alloc_mem((size_t)n_nodes * sizeof *pool->nodes, &pool->nodes) != RMA_SUCCESS))
        bench_refuse(1, "no memory for twice %ld nodes on every PE", n_nodes);
    tell(pool, rma_gptr(pool->nodes, bench.pe));
}

static void close_pool(struct pool *pool) {
    BENCH_RMA(rma_free_mem(pool->nodes));
    free(pool->first);
}

static void open_shared(void) {
    bool far = false;
    shared_head = bench_symmetric(sizeof *shared_head, 16 * sizeof *shared_head);
    open_pool(&rma_pool);
    open_pool(&raw_pool);
    raw_base = calloc((size_t)bench.n_pes, sizeof *raw_base);
    if (!raw_base) bench_fail("calloc", MPI_ERR_NO_MEM);
    for (int pe = 0; pe < bench.n_pes; pe++) {
        raw_base[pe] = rma_gptr_ptr(raw_pool.first[pe]);
        far = far || !raw_base[pe];
        raw_pool.first[pe] = (uint64_t)(pe + 1) << OFFSET_BITS;
    }
    raw_head = bench_agree(far) ? NULL : (uint64_t *)rma_ptr(shared_head, 0) + 8; /* a line further */
}

/* Returns whether MPI's pointers fit into a word. */
static bool open_mpi(void) {
    size_t size = (size_t)n_nodes * sizeof(struct node);
    BENCH_MPI(MPI_Alloc_mem((MPI_Aint)size, MPI_INFO_NULL, &mpi_pool.nodes));
    BENCH_MPI(MPI_Win_attach(win, mpi_pool.nodes, (MPI_Aint)size));
    tell(&mpi_pool, mpi_pointer(mpi_pool.nodes));
    if (bench.pe == 0) {
        BENCH_MPI(MPI_Alloc_mem(64, MPI_INFO_NULL, &mpi_head));
        BENCH_MPI(MPI_Win_attach(win, mpi_head, 64));
        BENCH_MPI(MPI_Get_address(mpi_head, &mpi_head_at));
    }
    BENCH_MPI(MPI_Bcast(&mpi_head_at, 1, MPI_AINT, 0, MPI_COMM_WORLD));
    return !bench_agree((uint64_t)(uintptr_t)mpi_pool.nodes >> ADDRESS_BITS != 0 ||
                        bench.n_pes > 1 << (64 - ADDRESS_BITS));
}

/* In Open MPI 4.1.4 the compare-and-swap in dynamic windows crashes with osc/rdma over vader, and with osc/ucx. */
static bool mpi_has_atomics(void) {
#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
    return false;
#else
    return true;
#endif
}

/* Open MPI has room for 64 regions, and an access to one of them may fail while its owner attaches another
 * (MPI_ERR_RMA_RANGE; 5.0.7, in 3 of 10 runs with 16 nodes). */
static bool mpi_attaches_all(void) {
#if defined OPEN_MPI
    return false;
#else
    return true;
#endif
}

static void close_mpi(void) {
    bench_sync();
    if (bench.pe == 0) {
        BENCH_MPI(MPI_Win_detach(win, mpi_head));
        BENCH_MPI(MPI_Free_mem(mpi_head));
    }
    BENCH_MPI(MPI_Win_detach(win, mpi_pool.nodes));
    BENCH_MPI(MPI_Free_mem(mpi_pool.nodes));
    bench_dynamic_window_free(&win);
    free(mpi_pool.first);
}

static void close_shared(void) {
    bench_sync(); /* nobody reads nodes any more */
    close_pool(&rma_pool);
    close_pool(&raw_pool);
    BENCH_RMA(rma_free(shared_head));
    free(raw_base);
}

/* What MPI can do: its dynamic windows, and INSERT. */
static bool by_mpi, attaches;

static struct bench_spec spec;

static void begin(void) {
    own = calloc((size_t)n_nodes, sizeof *own);
    removed = calloc((size_t)n_nodes, sizeof *removed);
    if (bench_agree(!own || !removed)) bench_refuse(1, "no memory for the addresses of %ld nodes", n_nodes);
    open_shared();
    by_mpi = mpi_has_atomics() && bench_dynamic_window(&win) && open_mpi();
    attaches = by_mpi && mpi_attaches_all();
}

static void before(struct bench_method *methods) {
    for (int kind = 0; kind < N_METHODS; kind++) {
        const bool possible =
            kind == RAW ? raw_head != NULL : kind == RMA || (by_mpi && (bench.row != INSERT || attaches));
        methods[kind].run = possible ? spec.rows[bench.row].run[kind] : NULL;
        methods[kind].callers = bench.row == TRAVERSE ? BENCH_ORIGINS : BENCH_ALL;
        if (bench.row == TRAVERSE && possible) begin_full(&kinds[kind], n_nodes, true);
    }
}

static void end(void) {
    if (win != MPI_WIN_NULL) close_mpi();
    close_shared();
    free(own);
    free(removed);
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [RMA] = {.name = "Latency (ns)", .check = check},
        [RAW] = {.name = "raw (ns)", .check = check},
        [MPI] = {.name = "MPI (ns)", .check = check, .mpi = true},
        {0},
    };
    static const struct bench_row rows[] = {
        [INSERT] = {"insert", {rma_insert, raw_insert, mpi_insert}, 0},
        [LINK] = {"link", {rma_link, raw_link, mpi_link}, 0},
        [TRAVERSE] = {"traverse", {rma_traverse, raw_traverse, mpi_traverse}, 0},
        [REMOVE] = {"remove", {rma_remove, raw_remove, mpi_remove}, 0},
        {0},
    };
    static const struct bench_option options[] = {
        {"nodes", 'n', BENCH_COUNT, &n_nodes, 1, NODES_MAX, "N", "nodes of a list that lie on each PE, at most [2048]"},
        {0},
    };
    spec = (struct bench_spec){
        .title = "linked list",
        .note = "all PEs, but in traverse PE 0 alone; the head lies on PE 0",
        .help = "Time of an operation on a linked list whose nodes lie on all PEs:\n"
                "  Latency (ns)  librma\n"
                "  raw (ns)      loads, stores and the processor's compare-and-swap through rma_ptr and rma_gptr_ptr; "
                "'-' unless all PEs\n"
                "                are on one node\n"
                "  MPI (ns)      a window of MPI_Win_create_dynamic: MPI_Compare_and_swap, MPI_Get and "
                "MPI_Fetch_and_op, each with\n"
                "                MPI_Win_flush; '-' with Open MPI 4, whose dynamic windows cannot do it\n"
                "The rows; in all but traverse the PEs work at once, and the time is that of one operation as a PE "
                "sees it:\n"
                "  insert    allocate a node in the PE's own memory, and link it at the head: rma_alloc_mem; raw: the "
                "next of an array;\n"
                "            MPI_Alloc_mem and MPI_Win_attach, '-' with Open MPI, which has no room for so many\n"
                "  link      the same with nodes that are there already\n"
                "  traverse  read the next node, which lies on any PE in any place: 16 bytes, by rma_gptr_get, load, "
                "MPI_Get\n"
                "  remove    unlink the first node\n"
                "After --nodes insertions or removals of each PE the list begins anew, which is not timed.\n"
                "With --way=dynamic nodes are read through librma's window, atomics go by messages, and '-' is where\n"
                "nothing is read.",
        .options = options,
        .methods = methods,
        .ratios = bench_ratios,
        .rows = rows,
        .first = "Operation",
        .value = BENCH_NS,
        .budget = 10e-3,
        .ways = true,
        .begin = begin,
        .before = before,
        .end = end,
    };
    return bench_main(argc, argv, &spec);
}
