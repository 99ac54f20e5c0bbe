/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_tlsf: bytes are operations on a pool and its list of returned blocks, compared with the simplest possible model:
 * the content of each unit, and a list of blocks. tools/fuzz builds and runs it.
 *
 * With AddressSanitizer the uncommitted part of the table is poisoned, so an access to it ends the run. What the model
 * says:
 *   an allocation is aligned, in the pool, on free units; FULL only if no run of free units is sure to fit
 *   a denied call has changed nothing; what the commit callback granted is never asked for again
 *   exactly the bases of live blocks can be freed, resized or given back, and each once
 *   after a growth by rmai_tlsf_need the request succeeds
 *   drained and freed, the pool is one free block */
#include "config.h"

#include "heap/returned.h"
#include "heap/tlsf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif
#ifdef SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, len)   ((void)(start), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(start, len) ((void)(start), (void)(len))
#endif

#define UNIT       ((size_t)RMAI_TLSF_UNIT)
#define UNITS      8192u /* of the pool: eight steps of the table */
#define POOL       (UNITS * UNIT)
#define BLOCKS     1024
#define CHECK_EACH 16 /* operations */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "fuzz_tlsf: line %d: not %s (operation %zu)\n", __LINE__, #condition, n_operations);       \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct block {
    size_t offset, size; /* as asked for */
    int retired;
};

static struct rmai_tlsf pool;
static struct rmai_returned list;
static char *room;
static size_t room_size, n_operations;
static unsigned char granted[1u << 10]; /* by pages of RMAI_TLSF_STEP of the room */
static unsigned deny;                   /* so many commits from now are refused */

static unsigned short owner[UNITS]; /* 1 + number of the block that holds a unit; 0: free */
static struct block block[BLOCKS];
static size_t n_blocks, n_retired, n_units, used_units;

/* ---- the input ---- */

static const uint8_t *at, *end;
static unsigned byte(void) { return at < end ? *at++ : 0; }
static size_t word(void) {
    size_t low = byte();
    return low | (size_t)byte() << 8;
}

/* Sizes of all magnitudes: mostly small, some larger than the pool, some that overflow what counts in 32 or 64 bits. */
static size_t size_of_input(void) {
    size_t how = byte(), n = word();
    if (how < 128) return 1 + n % 512;
    if (how < 224) return 1 + (n << how % 4);
    if (how < 248) return 1 + (n << how % 8);
    if (how < 254) return RMAI_TLSF_MAX - n;
    return SIZE_MAX - n % 128;
}

/* ---- the model ---- */

static size_t units_of(size_t bytes) { return bytes / UNIT + (bytes % UNIT != 0); }

static void occupy(size_t first, size_t n, unsigned short who) {
    REQUIRE(first <= n_units && n <= n_units - first);
    for (size_t u = first; u < first + n; u++) {
        REQUIRE(!who || !owner[u]);
        owner[u] = who;
    }
}

static size_t longest_run(void) {
    size_t longest = 0, run = 0;
    for (size_t u = 0; u < n_units; u++) {
        run = owner[u] ? 0 : run + 1;
        if (run > longest) longest = run;
    }
    return longest;
}

static size_t free_runs(void) {
    size_t runs = 0;
    for (size_t u = 0; u < n_units; u++) runs += !owner[u] && (u == 0 || owner[u - 1]);
    return runs;
}

/* A run of so many free units is sure to be found: the request and what the classes round away, below 1/32. */
static size_t sure(size_t alignment, size_t size) {
    size_t units = units_of(size) + (alignment > UNIT ? alignment / UNIT - 1 : 0), step = 1;
    while (units / step >= 64) step *= 2;
    return (units + step - 1) / step * step;
}

static int commit(void *context, void *start, size_t len) {
    size_t first = (size_t)((char *)start - room);
    (void)context;
    REQUIRE(first % RMAI_TLSF_STEP == 0 && first < room_size && len <= room_size - first);
    if (deny && --deny == 0) return -1;
    for (size_t s = first / RMAI_TLSF_STEP; s < (first + len + RMAI_TLSF_STEP - 1) / RMAI_TLSF_STEP; s++) {
        REQUIRE(!granted[s]);
        granted[s] = 1;
    }
    ASAN_UNPOISON_MEMORY_REGION(start, len);
    memset(start, 0, len);
    return 0;
}

static void check(void) {
    const char *wrong = rmai_tlsf_check(&pool);
    if (wrong) {
        fprintf(stderr, "fuzz_tlsf: operation %zu: not so: %s\n", n_operations, wrong);
        abort();
    }
    REQUIRE(pool.state->n_free == free_runs());
    REQUIRE(rmai_returned_count(&list, &pool) == n_retired);
    size_t seen = 0, offset = 0, next, size, live = 0;
    struct rmai_tlsf_block b;
    while ((next = rmai_tlsf_next(&pool, offset, &b)) != 0) {
        REQUIRE(b.offset == offset && next > offset && b.live == rmai_tlsf_live(&pool, offset, &size));
        unsigned short who = owner[offset / UNIT];
        REQUIRE(b.live == (who && !block[who - 1].retired));
        if (who) REQUIRE(block[who - 1].offset == offset && next - offset == units_of(block[who - 1].size) * UNIT);
        if (b.live) REQUIRE(b.size == block[who - 1].size && size == b.size);
        live += (size_t)b.live;
        seen += who != 0;
        offset = next;
    }
    REQUIRE(offset == n_units * UNIT && seen == n_blocks && live == n_blocks - n_retired);
}

static void counts_agree(void) {
    REQUIRE(pool.state->n_units == n_units && pool.state->used_units == used_units);
    REQUIRE(pool.state->n_used == n_blocks && rmai_returned_any(&list) == (n_retired != 0));
}

/* Block number i leaves the model; the last one takes its number. */
static void forget(size_t i) {
    size_t units = units_of(block[i].size);
    occupy(block[i].offset / UNIT, units, 0);
    used_units -= units;
    n_retired -= (size_t)block[i].retired;
    block[i] = block[--n_blocks];
    if (i < n_blocks) {
        size_t first = block[i].offset / UNIT;
        for (size_t u = first; u < first + units_of(block[i].size); u++) owner[u] = (unsigned short)(i + 1);
    }
}

/* ---- the operations ---- */

static size_t allocate(size_t alignment, size_t size) {
    unsigned denials = deny;
    size_t offset = rmai_tlsf_alloc(&pool, alignment, size);
    if (offset == RMAI_TLSF_DENIED) {
        REQUIRE(denials && !deny);
    } else if (offset == RMAI_TLSF_FULL) {
        REQUIRE(size > POOL || alignment > POOL || longest_run() < sure(alignment, size));
    } else {
        REQUIRE(offset % alignment == 0 && offset % UNIT == 0 && n_blocks < BLOCKS);
        block[n_blocks] = (struct block){offset, size, 0};
        occupy(offset / UNIT, units_of(size), (unsigned short)(n_blocks + 1));
        n_blocks++;
        used_units += units_of(size);
    }
    return offset;
}

static int grow(size_t units) {
    unsigned denials = deny;
    size_t before = n_units;
    if (rmai_tlsf_grow(&pool, units * UNIT) != 0) {
        REQUIRE(denials && !deny);
        return -1;
    }
    n_units += units;
    REQUIRE(pool.state->n_units == before + units);
    return 0;
}

static void grow_as_needed(size_t alignment, size_t size) {
    size_t need = rmai_tlsf_need(&pool, alignment, size), offset;
    if (!need || need / UNIT > UNITS - n_units) return;
    deny = 0;
    if (byte() % 2) {
        REQUIRE(rmai_tlsf_prepare(&pool) == 0);
        deny = 1; /* a growth that was prepared asks for nothing */
    }
    REQUIRE(grow(need / UNIT) == 0);
    deny = 0;
    offset = allocate(alignment, size);
    REQUIRE(offset < RMAI_TLSF_DENIED);
}

static void resize(size_t i, size_t size) {
    size_t first = block[i].offset / UNIT, old = units_of(block[i].size), n = units_of(size), room_for = old, now;
    unsigned denials = deny;
    if (block[i].retired) return;
    while (first + room_for < n_units && !owner[first + room_for]) room_for++;
    int code = rmai_tlsf_resize(&pool, block[i].offset, size);
    if (code == -2) {
        REQUIRE(denials && !deny && n <= room_for);
    } else if (code == -1) {
        REQUIRE(n > room_for);
    } else {
        REQUIRE(code == 0 && n <= room_for);
        occupy(first, old, 0);
        occupy(first, n, (unsigned short)(i + 1));
        block[i].size = size;
        used_units += n;
        used_units -= old;
    }
    REQUIRE(rmai_tlsf_live(&pool, block[i].offset, &now) && now == block[i].size);
}

static void release(size_t i) {
    int retired = block[i].retired;
    REQUIRE(rmai_tlsf_free(&pool, block[i].offset) == (retired ? -1 : 0));
    if (!retired) forget(i);
}

static void push(size_t i) {
    int code = rmai_returned_push(&list, &pool, block[i].offset);
    REQUIRE(code == (block[i].retired ? -1 : 0));
    n_retired += !block[i].retired;
    block[i].retired = 1;
}

static void drain(void) {
    REQUIRE(rmai_returned_drain(&list, &pool) == n_retired);
    for (size_t i = n_blocks; i-- > 0;)
        if (block[i].retired) forget(i);
    REQUIRE(n_retired == 0);
}

/* Any number: it can be given back if it is the base of a live block, and where it is, is told. */
static void look_at(size_t offset) {
    size_t u = offset / UNIT;
    unsigned short who = u < n_units ? owner[u] : 0;
    int base = who && !block[who - 1].retired && block[who - 1].offset == offset;
    struct rmai_tlsf_block b;
    REQUIRE(rmai_tlsf_live(&pool, offset, NULL) == base);
    enum rmai_tlsf_kind kind = rmai_tlsf_where(&pool, offset, &b);
    if (u >= n_units)
        REQUIRE(kind == RMAI_TLSF_OUTSIDE);
    else if (!who)
        REQUIRE(kind == RMAI_TLSF_FREED);
    else if (block[who - 1].retired)
        REQUIRE(kind == RMAI_TLSF_RETIRED && b.offset == block[who - 1].offset);
    else
        REQUIRE(kind == (base ? RMAI_TLSF_LIVE : RMAI_TLSF_INSIDE) && b.offset == block[who - 1].offset &&
                b.size == block[who - 1].size);
    if (base) return;
    REQUIRE(rmai_tlsf_free(&pool, offset) == -1);
    REQUIRE(rmai_returned_push(&list, &pool, offset) == -1);
}

static void operate(unsigned what) {
    size_t i = n_blocks ? word() % n_blocks : 0;
    switch (what % 16) {
        case 0:
        case 1:
        case 2:
        case 3:
            if (n_blocks < BLOCKS) allocate(1, size_of_input());
            break;
        case 4:
        case 5:
            if (n_blocks < BLOCKS) allocate((size_t)1 << byte() % 24, size_of_input());
            break;
        case 6:
        case 7:
            if (n_blocks) release(i);
            break;
        case 8:
        case 9:
            if (n_blocks) resize(i, size_of_input());
            break;
        case 10:
        case 11:
            if (n_blocks) push(i);
            break;
        case 12: drain(); break;
        case 13: {
            size_t units = word() >> byte() % 16;
            if (units <= UNITS - n_units) grow(units);
            break;
        }
        case 14:
            if (n_blocks < BLOCKS) {
                size_t alignment = (size_t)1 << byte() % 16;
                grow_as_needed(alignment, size_of_input());
            }
            break;
        default:
            switch (byte() % 4) {
                case 0: deny = 1 + byte() % 3; break;
                case 1: deny = 0; break;
                case 2: look_at(word() * 16); break;
                default: look_at(n_blocks ? block[i].offset + byte() % 2 * UNIT : SIZE_MAX - word()); break;
            }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    at = data;
    end = data + size;
    n_operations = n_blocks = n_retired = n_units = used_units = 0;
    deny = 0;
    memset(granted, 0, sizeof granted);
    memset(owner, 0, sizeof owner);
    memset(&list, 0, sizeof list);
    if (!room) {
        room_size = rmai_tlsf_room(POOL);
        room = aligned_alloc(RMAI_PAGE, room_size);
        REQUIRE(room && room_size / RMAI_TLSF_STEP <= sizeof granted);
    }
    ASAN_POISON_MEMORY_REGION(room, room_size);
    deny = byte() % 8 == 0;
    if (rmai_tlsf_create(&pool, room, POOL, commit, NULL) != 0) {
        REQUIRE(deny == 0);
        REQUIRE(rmai_tlsf_create(&pool, room, POOL, commit, NULL) == 0);
    }
    while (at < end) {
        operate(byte());
        counts_agree();
        if (++n_operations % CHECK_EACH == 0) check();
    }
    check();
    drain();
    while (n_blocks) release(n_blocks - 1);
    check();
    REQUIRE(pool.state->n_used == 0 && pool.state->used_units == 0 && pool.state->n_free == (n_units != 0));
    ASAN_UNPOISON_MEMORY_REGION(room, room_size);
    return 0;
}
