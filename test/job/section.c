/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections, elements by index and blocks move exactly the bytes that a loop over their elements moves, for any shape,
 * with memory of every kind, in every form; a call with bad input names it and moves nothing.
 *
 * Shapes are random: 0 to 15 dimensions in any order of strides, negative strides, strides of 0 on the side that is
 * read, counts of 1 and of 0, elements of 1 to 40 bytes. RMA_TEST_SEED repeats a run.
 * Broken by a loop order that mixes up two dimensions, by merging dimensions that are contiguous on one side only, by
 * padding between elements that is written, by the wrong end of a negative stride, by a piece of a message that begins
 * in the middle of an element, by elements of dest that overlap and are not found, or are found where none are. */
#include "forms.h"

#include <sys/mman.h>

#define MOST  FORMS_MOST
#define APART ((size_t)16 << 20) /* rows that are so far apart lie on different huge pages */

/* What this PE's slices hold, and its own buffer, as it is and as it should be. */
static unsigned char model[JOB_PES_MAX][KINDS][SLICE];
static unsigned char near[SLICE], expected[SLICE];

/* ---- sections ---- */

/* Whether two of n elements have a byte in common. */
static int overlaps(const ptrdiff_t *at, size_t n, size_t elem, ptrdiff_t low) {
    static unsigned char used[SLICE];
    memset(used, 0, sizeof used);
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < elem; b++)
            if (used[at[i] - low + (ptrdiff_t)b]++) return 1;
    return 0;
}

/* Strides of a side that is read, or one whose overlaps are to be found: any, 0 too. */
static void any_strides(uint64_t *random, const struct shape *s, struct side *x, size_t unit) {
    (void)unit;
    for (int d = 0; d < s->dims; d++)
        x->stride[d] = job_below(random, 4) ? (ptrdiff_t)job_length(random, 96) - 32 : (ptrdiff_t)s->elem;
}

static const char *describe(const struct shape *s, const struct side *dest, const struct side *source) {
    static char text[900];
    int at = snprintf(text, sizeof text, "%d dimensions of %zu bytes:", s->dims, s->elem);
    for (int d = 0; d < s->dims; d++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %zu by %td from %td", s->count[d], dest->stride[d],
                       source->stride[d]);
    return text;
}

/* One section, put or got. */
static void one_section(uint64_t *random) {
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    static ptrdiff_t to[MOST], from[MOST];
    const int get = (int)job_below(random, 2), pe = (int)job_below(random, (size_t)job.n);
    const int kind = (int)job_below(random, KINDS), may_overlap = job_below(random, 4) == 0;
    const struct form f = form_number((unsigned)job_random(random), kind);
    const char *name = form_name(f, get ? "get_section" : "put_section");
    struct shape s;
    struct side dest, source;
    ptrdiff_t far_at, near_at;
    size_t wrong = 0;
    do {
        s.elem = job_below(random, 2) ? sizes[job_below(random, 5)] : 1 + job_below(random, 40);
        shape_random(random, &s, MOST);
        (may_overlap ? any_strides : side_nested)(random, &s, &dest, 1);
        (job_below(random, 3) ? side_nested : any_strides)(random, &s, &source, 1);
        side_measure(&s, &dest);
        side_measure(&s, &source);
    } while (dest.high - dest.low > SLICE || source.high - source.low > SLICE);
    side_offsets(&s, &dest, to);
    side_offsets(&s, &source, from);
    const struct side *far = get ? &source : &dest, *here = get ? &dest : &source;
    far_at = (ptrdiff_t)job_below(random, SLICE - (size_t)(far->high - far->low) + 1) - far->low;
    near_at = (ptrdiff_t)job_below(random, SLICE - (size_t)(here->high - here->low) + 1) - here->low;
    const struct remote r = form_remote(f, pe, kind, job.me, far_at);
    unsigned char *there = model[pe][kind] + far_at;
    job_fill(near, 0, SLICE, job_random(random));
    memcpy(expected, near, SLICE);
    DOING(describe(&s, &dest, &source));
    if (overlaps(to, s.n, s.elem, dest.low)) {
        if (get)
            EXPECT(name,
                   FORM_GET(f, r, get_section, near + near_at, dest.stride, source.stride, s.elem, s.dims, s.count),
                   RMA_ERR_ARG, "overlap");
        else
            EXPECT(name,
                   FORM_PUT(f, r, put_section, near + near_at, dest.stride, source.stride, s.elem, s.dims, s.count),
                   RMA_ERR_ARG, "overlap");
    } else if (get) {
        OK(FORM_GET(f, r, get_section, near + near_at, dest.stride, source.stride, s.elem, s.dims, s.count));
        for (size_t i = 0; i < s.n; i++) memcpy(expected + near_at + to[i], there + from[i], s.elem);
    } else {
        OK(FORM_PUT(f, r, put_section, near + near_at, dest.stride, source.stride, s.elem, s.dims, s.count));
        for (size_t i = 0; i < s.n; i++) memcpy(there + to[i], near + near_at + from[i], s.elem);
    }
    if (!rma_on_node(pe)) form_quiet(f);
    while (wrong < SLICE && near[wrong] == expected[wrong]) wrong++;
    CHECK(wrong == SLICE, "%s: byte %zu of the buffer: %s", name, wrong, describe(&s, &dest, &source));
}

/* ---- elements by index ---- */

static void one_indexed(uint64_t *random) {
    static ptrdiff_t index[MOST];
    const int get = (int)job_below(random, 2), pe = (int)job_below(random, (size_t)job.n);
    const int kind = (int)job_below(random, KINDS);
    const struct form f = form_number((unsigned)job_random(random), kind);
    const size_t elem = 1 + job_below(random, 40), room = SLICE / elem,
                 n = job_length(random, room < MOST ? room : MOST);
    const size_t first = job_below(random, room); /* the element that has index 0 */
    const struct remote r = form_remote(f, pe, kind, job.me, (ptrdiff_t)(first * elem));
    unsigned char *there = model[pe][kind] + first * elem;
    job_fill(near, 0, SLICE, job_random(random));
    memcpy(expected, near, SLICE);
    if (get) {
        for (size_t i = 0; i < n; i++) index[i] = (ptrdiff_t)job_below(random, room) - (ptrdiff_t)first;
        OK(FORM_GET(f, r, get_indexed, near, index, elem, n));
        for (size_t i = 0; i < n; i++) memcpy(expected + i * elem, there + index[i] * (ptrdiff_t)elem, elem);
    } else { /* different elements: a random order of n of them */
        static ptrdiff_t all[SLICE];
        for (size_t i = 0; i < room; i++) all[i] = (ptrdiff_t)i - (ptrdiff_t)first;
        for (size_t i = 0; i < n; i++) {
            const size_t other = i + job_below(random, room - i);
            index[i] = all[other];
            all[other] = all[i];
        }
        OK(FORM_PUT(f, r, put_indexed, near, index, elem, n));
        for (size_t i = 0; i < n; i++) memcpy(there + index[i] * (ptrdiff_t)elem, near + i * elem, elem);
    }
    if (f.nbi) memset(index, 0x55, sizeof index); /* the call is done with the list */
    if (!rma_on_node(pe)) form_quiet(f);
    CHECK(memcmp(near, expected, SLICE) == 0, "%s: %zu elements of %zu bytes", form_name(f, get ? "get" : "put"), n,
          elem);
}

/* A put that names an element twice gives it one of the two values. */
static void twice(uint64_t *random) {
    const int pe = (int)job_below(random, (size_t)job.n), kind = (int)job_below(random, KINDS);
    const struct form f = form_number((unsigned)job_random(random), kind);
    const struct remote r = form_remote(f, pe, kind, job.me, 800);
    const ptrdiff_t index[] = {3, -5, 3};
    uint64_t value[3] = {job_random(random), job_random(random), job_random(random)}, got;
    OK(FORM_PUT(f, r, put_indexed, value, index, 8, 3));
    form_quiet(f);
    OK(rma_gptr_get(&got, form_remote(f, pe, kind, job.me, 824).g, 8));
    CHECK(got == value[0] || got == value[2], "%llx", (unsigned long long)got);
    memcpy(model[pe][kind] + 824, &got, 8);
    memcpy(model[pe][kind] + 760, &value[1], 8);
}

/* ---- blocks ---- */

static size_t gather(unsigned char *bytes, const unsigned char *from, const struct rma_block *list, size_t n) {
    size_t at = 0;
    for (size_t i = 0; i < n; at += list[i++].len) memcpy(bytes + at, from + list[i].offset, list[i].len);
    return at;
}

static void scatter(unsigned char *to, const struct rma_block *list, size_t n, const unsigned char *bytes) {
    for (size_t i = 0; i < n; bytes += list[i++].len) memcpy(to + list[i].offset, bytes, list[i].len);
}

static void one_blocks(uint64_t *random) {
    static unsigned char bytes[SLICE];
    const int get = (int)job_below(random, 2), pe = (int)job_below(random, (size_t)job.n);
    const int kind = (int)job_below(random, KINDS), null = (int)job_below(random, 6);
    const struct form f = form_number((unsigned)job_random(random), kind);
    const size_t total = job_length(random, SLICE / 2);
    ptrdiff_t far_at = (ptrdiff_t)job_below(random, SLICE + 1), near_at = (ptrdiff_t)job_below(random, SLICE + 1);
    struct rma_block to[40], from[40], *lists[2] = {to, from};
    size_t n[2] = {cut(random, to, total, SLICE, get ? near_at : far_at, 1),
                   cut(random, from, total, SLICE, get ? far_at : near_at, 1)};
    if (null < 2 && total) { /* 0: to, 1: from */
        ptrdiff_t *at = (null == 0) == get ? &near_at : &far_at;
        if (*at > SLICE - (ptrdiff_t)total) *at = SLICE - (ptrdiff_t)total;
        lists[null][0] = (struct rma_block){0, total};
        n[null] = 1;
        /* The other list's offsets count from its own address, which is unchanged. */
    }
    const struct rma_block *to_list = null == 0 && total ? NULL : to, *from_list = null == 1 && total ? NULL : from;
    const size_t n_to = to_list ? n[0] : 0, n_from = from_list ? n[1] : 0;
    const struct remote r = form_remote(f, pe, kind, job.me, far_at);
    unsigned char *there = model[pe][kind] + far_at;
    job_fill(near, 0, SLICE, job_random(random));
    memcpy(expected, near, SLICE);
    if (get) {
        OK(FORM_GET(f, r, get_blocks, near + near_at, to_list, n_to, from_list, n_from));
        gather(bytes, there, from, n[1]);
        scatter(expected + near_at, to, n[0], bytes);
    } else {
        OK(FORM_PUT(f, r, put_blocks, near + near_at, to_list, n_to, from_list, n_from));
        gather(bytes, near + near_at, from, n[1]);
        scatter(there, to, n[0], bytes);
    }
    if (f.nbi) memset(to, 0x55, sizeof to), memset(from, 0x55, sizeof from); /* the call is done with the lists */
    if (!rma_on_node(pe)) form_quiet(f);
    CHECK(memcmp(near, expected, SLICE) == 0, "%s: %zu bytes in %zu blocks from %zu",
          form_name(f, get ? "get_blocks" : "put_blocks"), total, n[0], n[1]);
}

/* ---- all PEs' memory against the models ---- */

static void compare(const char *when) {
    static unsigned char bytes[SLICE];
    for (int pe = 0; pe < job.n; pe++)
        for (int kind = 0; kind < KINDS; kind++) {
            size_t wrong = 0;
            OK(rma_gptr_get(bytes, forms_start[pe][kind] + (size_t)job.me * SLICE, SLICE));
            while (wrong < SLICE && bytes[wrong] == model[pe][kind][wrong]) wrong++;
            CHECK(wrong == SLICE, "%s: byte %zu in %s of PE %d", when, wrong, kinds[kind], pe);
        }
}

/* ---- mistakes ---- */

#define REFUSED_PUT(CALL, near, ...) EXPECT(form_name(f, #CALL), FORM_PUT(f, r, CALL, near, __VA_ARGS__), code, word)
#define REFUSED_GET(CALL, near, ...) EXPECT(form_name(f, #CALL), FORM_GET(f, r, CALL, near, __VA_ARGS__), code, word)
#define REFUSED_BOTH(SHAPE, near, ...)                                                                                 \
    do {                                                                                                               \
        REFUSED_PUT(put_##SHAPE, near, __VA_ARGS__);                                                                   \
        REFUSED_GET(get_##SHAPE, near, __VA_ARGS__);                                                                   \
    } while (0)

/* All calls with the remote address r. */
static void refused(struct form f, struct remote r, int code, const char *word) {
    const ptrdiff_t stride[2] = {64, 8}, index[] = {0, 1};
    const size_t count[2] = {3, 2};
    const struct rma_block list[2] = {{0, 8}, {16, 8}};
    REFUSED_BOTH(section, near, stride, stride, 8, 2, count);
    REFUSED_BOTH(indexed, near, index, 8, 2);
    REFUSED_BOTH(blocks, near, list, 2, list, 2);
}

static void mistakes(unsigned number, int kind) {
    const struct form f = form_number(number, kind);
    const int pe = job_any(1);
    const struct remote r = form_remote(f, pe, kind, job.me, SLICE / 2), null = {RMA_GPTR_NULL, NULL, r.pe};
    const ptrdiff_t stride[RMA_DIMS_MAX + 1] = {64, 8}, huge[2] = {PTRDIFF_MAX / 2, 8},
                                          far[2] = {(ptrdiff_t)1 << 36, 8};
    const ptrdiff_t back[2] = {-((ptrdiff_t)1 << 37), 8}, same[2] = {64, 0}, half[2] = {64, 4}, index[] = {0, 1, 2};
    const ptrdiff_t huge_index[] = {0, PTRDIFF_MAX / 4, 1}, far_index[] = {0, (ptrdiff_t)1 << 33, 1};
    const size_t count[RMA_DIMS_MAX + 1] = {3, 2}, none[2] = {0, 2}, product[2] = {SIZE_MAX / 2, 3};
    const struct rma_block list[2] = {{0, 8}, {16, 8}}, longer[2] = {{0, 8}, {16, 9}}, over[2] = {{0, 8}, {7, 8}};
    const struct rma_block sum[2] = {{0, SIZE_MAX / 2}, {16, SIZE_MAX / 2 + 9}},
                           far_list[2] = {{0, 8}, {(ptrdiff_t)1 << 36, 8}};
    int code = RMA_ERR_ARG;
    const char *word = "elem is 0";
    memset(near, 0x77, sizeof near);
    REFUSED_BOTH(section, near, stride, stride, 0, 2, count);
    REFUSED_BOTH(indexed, near, index, 0, 3);
    word = "dims -1";
    REFUSED_BOTH(section, near, stride, stride, 8, -1, count);
    word = "dims 16";
    REFUSED_BOTH(section, near, stride, stride, 8, 16, count);
    word = "dest_stride";
    REFUSED_BOTH(section, near, NULL, stride, 8, 2, count);
    word = "source_stride";
    REFUSED_BOTH(section, near, stride, NULL, 8, 2, count);
    word = "count";
    REFUSED_BOTH(section, near, stride, stride, 8, 2, NULL);
    word = "index";
    REFUSED_BOTH(indexed, near, NULL, 8, 3);
    word = "overflow";
    REFUSED_BOTH(section, near, huge, stride, 8, 2, count);
    REFUSED_BOTH(section, near, stride, huge, 8, 2, count);
    REFUSED_BOTH(section, near, stride, stride, 8, 2, product);
    REFUSED_BOTH(indexed, near, huge_index, 8, 3);
    REFUSED_BOTH(indexed, near, index, 8, SIZE_MAX / 4);
    REFUSED_BOTH(blocks, near, sum, 2, sum, 2);
    word = "overlap";
    REFUSED_BOTH(section, near, same, stride, 8, 2, count);
    REFUSED_BOTH(section, near, half, stride, 8, 2, count);
    word = "17";
    REFUSED_BOTH(blocks, near, list, 2, longer, 2);
    REFUSED_BOTH(blocks, near, longer, 2, list, 2);
    word = "null";
    REFUSED_PUT(put_section, NULL, stride, stride, 8, 2, count);
    REFUSED_GET(get_section, NULL, stride, stride, 8, 2, count);
    REFUSED_PUT(put_indexed, NULL, index, 8, 3);
    REFUSED_GET(get_indexed, NULL, index, 8, 3);
    REFUSED_PUT(put_blocks, NULL, list, 2, list, 2);
    REFUSED_GET(get_blocks, NULL, list, 2, list, 2);
    if (getenv("RMA_CHECK")) {
        word = "overlap";
        REFUSED_PUT(put_blocks, near, over, 2, list, 2);
        REFUSED_GET(get_blocks, near, over, 2, list, 2);
    }
    /* One element is outside. */
    code = RMA_ERR_ADDRESS;
    word = f.gptr ? "global pointer" : "dest";
    REFUSED_PUT(put_section, near, far, stride, 8, 2, count);
    REFUSED_PUT(put_section, near, back, stride, 8, 2, count);
    REFUSED_PUT(put_indexed, near, far_index, 8, 3);
    REFUSED_PUT(put_blocks, near, far_list, 2, list, 2);
    word = f.gptr ? "global pointer" : "source";
    REFUSED_GET(get_section, near, stride, far, 8, 2, count);
    REFUSED_GET(get_indexed, near, far_index, 8, 3);
    REFUSED_GET(get_blocks, near, list, 2, far_list, 2);
    refused(f, null, RMA_ERR_ADDRESS, "");
    if (!f.gptr) {
        struct remote wrong = r;
        char outside[32];
        snprintf(outside, sizeof outside, "PE %d", job.n);
        wrong.pe = job.n;
        refused(f, wrong, RMA_ERR_PE, outside);
        wrong.pe = -1;
        refused(f, wrong, RMA_ERR_PE, "PE -1");
    }
    if (f.ctx) {
        struct form no = f;
        no.ctx = (rma_ctx *)8;
        refused(no, r, RMA_ERR_ARG, "is no context");
    }
    /* Nothing to move: no list, no buffer, and no overlap either. */
    OK(FORM_PUT(f, r, put_section, near, stride, stride, 8, 2, none));
    OK(FORM_GET(f, r, get_section, near, same, same, 8, 2, none));
    OK(FORM_PUT(f, r, put_indexed, near, NULL, 8, 0));
    OK(FORM_GET(f, r, get_blocks, near, list, 0, list, 0));
    for (size_t i = 0; i < sizeof near; i++) CHECK(near[i] == 0x77, "a refused get wrote byte %zu", i);
}

/* ---- sizes ---- */

/* Long ones, which are moved in pieces. `rows` of `len` bytes, each `pitch` after the last, of attached memory
 * that is mapped and, but for what is moved, has no pages. */
static void long_rows(size_t rows, size_t len, size_t pitch, size_t near_pitch) {
    const size_t size = rows * pitch, page = (size_t)sysconf(_SC_PAGESIZE);
    const int pe = job_any(1), from = job_any(-1);
    unsigned char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *buffer = malloc(near_pitch ? rows * near_pitch : len);
    rma_gptr_t mine, all[JOB_PES_MAX];
    /* The rows from the last to the first, in pieces of 8 bytes: both must merge again. */
    const ptrdiff_t stride[2] = {-(ptrdiff_t)pitch, 8}, near_stride[2] = {(ptrdiff_t)near_pitch, 8};
    const size_t count[2] = {rows, len / 8};
    DOING(job_text("%zu rows of %zu bytes, %zu apart", rows, len, pitch));
    CHECK(base != MAP_FAILED && buffer, "%zu bytes", size);
    OK(rma_attach(base, size, &mine));
    MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (size_t row = 0; row < rows && (near_pitch || row == 0); row++)
        job_fill(buffer + row * near_pitch, 0, len, near_pitch ? row + (size_t)job.me * rows : (uint64_t)job.me);
    OK(rma_gptr_put_section_nbi(all[pe] + (rows - 1) * pitch, buffer, stride, near_stride, 8, 2, count));
    OK(rma_barrier_all());
    for (size_t row = 0; row < rows; row++) {
        const unsigned char *p = base + (rows - 1 - row) * pitch;
        const size_t wrong = job_differs(p, 0, len, near_pitch ? row + (size_t)from * rows : (uint64_t)from);
        CHECK(wrong == len, "byte %zu of row %zu", wrong, row);
        if (pitch > len + APART) { /* nobody has touched what lies between: it would be memory in use */
            unsigned char resident = 1;
            void *between = (void *)(((uintptr_t)p + (len + pitch) / 2) & ~(uintptr_t)(page - 1));
            CHECK(mincore(between, page, &resident) == 0 && !(resident & 1), "a page between two rows is resident");
        }
        for (size_t i = len; i < len + 64 && i < pitch; i++) CHECK(p[i] == 0, "byte %zu after row %zu", i - len, row);
    }
    if (near_pitch) {
        memset(buffer, 0, rows * near_pitch);
        OK(rma_gptr_get_section(buffer, all[pe] + (rows - 1) * pitch, near_stride, stride, 8, 2, count));
        for (size_t row = 0; row < rows; row++) {
            const size_t wrong = job_differs(buffer + row * near_pitch, 0, len, row + (size_t)job.me * rows);
            CHECK(wrong == len, "byte %zu of row %zu, got", wrong, row);
        }
    }
    OK(rma_barrier_all());
    OK(rma_detach(base));
    munmap(base, size);
    free(buffer);
}

/* A large list: 100000 elements. */
static void long_lists(void) {
    const size_t n = 100000;
    const int pe = job_any(1), from = job_any(-1);
    ptrdiff_t *index = malloc(n * sizeof *index);
    struct rma_block *list = malloc(n * sizeof *list);
    uint64_t *value = malloc(n * sizeof *value), *all = rma_malloc(3 * n * sizeof *all);
    CHECK(index && list && value && all, "%s", rma_last_error());
    DOING("long lists");
    memset(all, 0, 3 * n * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        index[i] = (ptrdiff_t)(i * 7919 % n * 2);
        list[i] = (struct rma_block){(ptrdiff_t)(i * 7907 % n * 24), 8};
        value[i] = (uint64_t)job.me << 32 | i;
    }
    OK(rma_barrier_all());
    OK(rma_put_indexed(all, value, index, 8, n, pe));
    OK(rma_barrier_all());
    for (size_t i = 0; i < n; i++)
        CHECK(all[index[i]] == ((uint64_t)from << 32 | i) && all[index[i] + 1] == 0, "element %zu", i);
    memset(value, 0, n * sizeof *value);
    OK(rma_get_indexed_nbi(value, all, index, 8, n, pe));
    OK(rma_quiet());
    for (size_t i = 0; i < n; i++) CHECK(value[i] == ((uint64_t)job.me << 32 | i), "element %zu, got", i);
    OK(rma_barrier_all());
    OK(rma_put_blocks_nbi(all, value, list, n, NULL, 0, pe));
    OK(rma_barrier_all());
    for (size_t i = 0; i < n; i++) CHECK(all[list[i].offset / 8] == ((uint64_t)from << 32 | i), "block %zu", i);
    memset(value, 0, n * sizeof *value);
    OK(rma_get_blocks(value, all, NULL, 0, list, n, pe));
    for (size_t i = 0; i < n; i++) CHECK(value[i] == ((uint64_t)job.me << 32 | i), "block %zu, got", i);
    OK(rma_barrier_all());
    OK(rma_free(all));
    free(index);
    free(list);
    free(value);
}

/* A request that fails leaves the gets that travel in its message as they are. Broken by a message that forgets which
 * of its elements has failed: the second get, which waits for the first one's reply, then brought nothing. */
static void gets_beside_a_failure(void) {
    const int pe = job_any(1);
    const ptrdiff_t from[] = {24}, to[] = {16};
    const size_t count[] = {5};
    long *all = rma_malloc(16 * sizeof *all), first[10] = {0}, second[10] = {0};
    rma_gptr_t *gone = rma_malloc(sizeof *gone), g;
    static long memory[64];
    rma_errhandler *before;
    long x = 0;
    DOING("gets beside a failure");
    CHECK(all && gone, "%s", rma_last_error());
    for (long i = 0; i < 16; i++) all[i] = i + 1;
    OK(rma_attach(memory, sizeof memory, gone));
    OK(rma_detach(memory));
    OK(rma_barrier_all());
    OK(rma_get(&g, gone, sizeof g, pe));
    before = rma_set_errhandler(rma_errors_return);
    OK(rma_get_section_nbi(first, all, to, from, 8, 1, count, pe));
    OK(rma_get_section_nbi(second, all, to, from, 8, 1, count, pe));
    CHECK(rma_gptr_get(&x, g, sizeof x) == RMA_ERR_ADDRESS, "got from memory that is detached");
    rma_set_errhandler(before);
    OK(rma_quiet());
    for (int i = 0; i < 10; i++) {
        const long want = i % 2 ? 0 : 3 * (i / 2) + 1;
        CHECK(first[i] == want && second[i] == want, "element %d: %ld and %ld, not %ld", i, first[i], second[i], want);
    }
    OK(rma_barrier_all());
    OK(rma_free(gone));
    OK(rma_free(all));
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    uint64_t random;
    if (size && atoi(size) == 4) setenv("RMA_WINDOW", "always", 0), setenv("RMA_CHECK", "yes", 0);
    job_start();
    random = job_stream((uint64_t)job.me);
    forms_open();
    for (long turn = job_far_rounds(30000, 8000, 1500); turn > 0; turn--) {
        one_section(&random);
        if (turn % 3 == 0) one_indexed(&random);
        if (turn % 3 == 1) one_blocks(&random);
        if (turn % 50 == 0 && !getenv("RMA_CHECK")) twice(&random);
    }
    compare("after operations");
    DOING("mistakes");
    OK(rma_barrier_all());
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned number = 0; number < 16; number++)
            if (form_number(number, kind).gptr == (int)(number % 4 / 2)) mistakes(number, kind);
    compare("after mistakes");
    forms_close();

    gets_beside_a_failure();
    long_lists();
    long_rows(100, 8, 4096, 4096);
    long_rows(3, 65536 + 8, 131072, 65536 + 8);
    long_rows(4, 8000, (size_t)1 << 30, 8000); /* a span of more than 3 GiB */
    if (!job.slow) long_rows(20, (size_t)1 << 20, ((size_t)1 << 20) + 64, (size_t)1 << 20);
    /* 3 GiB out of one row: 6 GiB in all. */
    if (job.part == 1 && !job.slow && job.n == 2) long_rows(3, (size_t)1 << 30, ((size_t)1 << 30) + 4096, 0);
    return job_end();
}
