/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_attached: bytes are operations on a table of attached regions, compared with a list of these. Global pointers of
 * other PEs are resolved by these lookups, so offsets and lengths have any value.
 *
 * What the model says:
 *   two regions share no granule, and an added region is found at every byte, and not one byte beyond
 *   an offset that is in no region, or in one that is closed or gone, gives no address
 *   who has entered a region keeps it from being empty, and no other region
 *   a refused commit leaves everything as it was; what was granted is never asked for again */
#include "config.h"

#include "heap/attached.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGIONS 256
#define SPAN    ((uint64_t)RMAI_GRANULES * RMAI_GRANULE)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "fuzz_attached: line %d: not %s\n", __LINE__, #condition);                                 \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct known {
    uint64_t address, size;
    size_t offset;
    struct rmai_region *inside[4];
    unsigned n_inside;
    int closed;
};

static struct known known[REGIONS];
static unsigned n_known, deny;
static char *room;
static const uint8_t *at, *end;

static unsigned byte(void) { return at < end ? *at++ : 0; }
static uint64_t number(void) {
    uint64_t n = 0;
    for (unsigned i = byte() % 6; i > 0; i--) n = n << 8 | byte();
    return n;
}

static int commit(void *context, void *start, size_t len) {
    (void)context;
    REQUIRE((char *)start >= room && (char *)start + len <= room + rmai_attached_room());
    if (deny && --deny == 0) return -1;
    return mprotect(start, (len + 4095) / 4096 * 4096, PROT_READ | PROT_WRITE);
}

static uint64_t span_of(const struct known *k) { return (k->size + RMAI_GRANULE - 1) / RMAI_GRANULE * RMAI_GRANULE; }

static struct known *find_known(size_t offset) {
    for (unsigned i = 0; i < n_known; i++)
        if (offset >= known[i].offset && offset - known[i].offset < span_of(&known[i])) return &known[i];
    return NULL;
}

static uint64_t expected(const struct known *k, size_t offset, size_t len) {
    uint64_t into;
    if (!k) return 0;
    into = offset - k->offset;
    return into <= k->size && len <= k->size - into ? k->address + into : 0;
}

static void add(struct rmai_attached *a) {
    struct known k = {.address = 1 + number(), .size = 1 + number() % (byte() & 1 ? SPAN : 4 * RMAI_GRANULE)};
    unsigned denied;
    if (n_known == REGIONS) return;
    deny = byte() % 8 == 0 ? 1 + byte() % 2 : 0;
    denied = deny;
    k.offset = rmai_attached_add(a, k.address, k.size, commit, NULL);
    if (k.offset == SIZE_MAX) {
        uint64_t free =
            SPAN; /* full only if no run is long enough: certain as long as half of it is free for a small one */
        for (unsigned i = 0; i < n_known; i++) free -= span_of(&known[i]);
        REQUIRE((denied && !deny) || n_known > 0);
        REQUIRE((denied && !deny) || free / (n_known + 1) < span_of(&k));
        deny = 0;
        return;
    }
    deny = 0;
    REQUIRE(k.offset % RMAI_GRANULE == 0 && k.offset + span_of(&k) <= SPAN);
    for (unsigned i = 0; i < n_known; i++)
        REQUIRE(k.offset + span_of(&k) <= known[i].offset || known[i].offset + span_of(&known[i]) <= k.offset);
    known[n_known++] = k;
    REQUIRE(a->state->n_live == n_known);
}

static void look(struct rmai_attached *a) {
    size_t offset = number(), len = number();
    struct known *k;
    struct rmai_region *region = NULL;
    uint64_t address;
    if (n_known && byte() & 1) { /* near the ends of one that is there */
        k = &known[byte() % n_known];
        offset = k->offset + (byte() & 1 ? k->size : 0) + byte() % 5 - 2;
        len = byte() & 1 ? len % 4 : k->size + byte() % 3 - 1;
    }
    if (offset >= SPAN) offset %= SPAN; /* the callers have cut the offset out of a pointer */
    k = find_known(offset);
    REQUIRE(rmai_attached_find(a, offset, len) == expected(k, offset, len));
    address = rmai_attached_enter(a, offset, len, &region);
    REQUIRE(address == (k && k->closed ? 0 : expected(k, offset, len)));
    if (!address) return;
    if (k->n_inside < 4 && byte() & 1)
        k->inside[k->n_inside++] = region;
    else
        rmai_attached_leave(region);
}

static void take_out(struct rmai_attached *a, unsigned i) {
    struct known *k = &known[i];
    if (!k->closed) rmai_attached_close(a, k->offset);
    k->closed = 1;
    REQUIRE(rmai_attached_empty(a, k->offset) == (k->n_inside == 0));
    if (k->n_inside) {
        rmai_attached_leave(k->inside[--k->n_inside]);
        return;
    }
    rmai_attached_remove(a, k->offset, 1);
    known[i] = known[--n_known];
    REQUIRE(a->state->n_live == n_known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rmai_attached a;
    at = data;
    end = data + size;
    n_known = deny = 0;
    room = mmap(NULL, rmai_attached_room(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(room != MAP_FAILED);
    REQUIRE(rmai_attached_create(&a, room, commit, NULL) == 0);
    while (at < end) switch (byte() % 4) {
            case 0: add(&a); break;
            case 1:
                if (n_known) take_out(&a, byte() % n_known);
                break;
            default: look(&a);
        }
    for (unsigned i = 0; i < n_known; i++)
        if (!known[i].closed) REQUIRE(rmai_attached_find(&a, known[i].offset, known[i].size) == known[i].address);
    while (n_known) take_out(&a, 0);
    munmap(room, rmai_attached_room());
    return 0;
}
