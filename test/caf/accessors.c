/* SPDX-License-Identifier: BSD-3-Clause */
/* accessors: the calls of a program that gfortran 15 or later has compiled, by hand. Each image reads and writes
 * elements, sections, components and character variables of its right neighbour.
 *
 * Broken by an accessor that runs on another image's pointers, by a request that is lost, cut or answered by another
 * image, by a subscript that does not reach the owner, by data that a transfer writes past or leaves out, and by a
 * span that CO_BROADCAST believes. */
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dimension {
    ptrdiff_t stride, lower, upper;
};
struct array { /* libgfortran's descriptor of rank 1 */
    void *base;
    ptrdiff_t offset;
    size_t elem_len;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span;
    struct dimension dim[1];
};
struct allocatable { /* an allocatable coarray */
    struct array array;
    struct dimension codimension;
    void *token;
};
enum { INTEGER = 1, DERIVED = 5, CHARACTER = 6 };
enum { STATIC = 0, ALLOCATABLE = 1, COMPONENT_MEMORY = 8 };

void _gfortran_caf_init(int *argc, char ***argv);
void _gfortran_caf_finalize(void);
void _gfortran_caf_fail_image(void);
int _gfortran_caf_this_image(void *team);
int _gfortran_caf_num_images(void *team, int *team_number);
void _gfortran_caf_form_team(int number, void **team, int *new_index, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_change_team(void *team, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_end_team(int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_sync_team(void *team, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_sync_all(int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_co_broadcast(void *a, int source, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_error_stop(int code, bool quiet);
void _gfortran_caf_register(size_t size, int type, void **token, void *desc, int *stat, char *errmsg, size_t len);
void _gfortran_caf_register_accessor(int hash, void (*accessor)(void));
void _gfortran_caf_register_accessors_finish(void);
int _gfortran_caf_get_remote_function_index(int hash);
void _gfortran_caf_get_from_remote(void *token, const struct array *from, const size_t *from_characters, int image,
                                   size_t size, void **data, size_t *to_characters, struct array *to, bool may_realloc,
                                   int index, void *variables, size_t variables_size, int *stat, void **team,
                                   int *team_number);
int32_t _gfortran_caf_is_present_on_remote(void *token, int image, int index, void *variables, size_t variables_size);
void _gfortran_caf_send_to_remote(void *token, struct array *to, const size_t *to_characters, int image, size_t size,
                                  const void *data, const size_t *from_characters, const struct array *from, int index,
                                  void *variables, size_t variables_size, int *stat, void **team, int *team_number);
void _gfortran_caf_transfer_between_remotes(void *to_token, struct array *to, size_t *to_characters, int to_image,
                                            int to_index, void *to_variables, size_t to_size, void *from_token,
                                            const struct array *from, const size_t *from_characters, int from_image,
                                            int from_index, void *from_variables, size_t from_size, size_t size,
                                            bool scalar, int *to_stat, int *from_stat, void **to_team, int *to_number,
                                            void **from_team, int *from_number);

static void check(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "image %d: %s\n", _gfortran_caf_this_image(NULL), what);
    _gfortran_caf_error_stop(1, 1);
}

#define N 10000 /* elements of the coarray: more than one piece of a message */

struct box { /* type box: integer :: tag; integer, allocatable :: part(:) */
    int tag;
    struct array part;
    void *part_token;
};

static struct array make_array(int *base, ptrdiff_t n) {
    return (struct array){
        .base = base, .offset = -1, .elem_len = 4, .rank = 1, .type = INTEGER, .span = 4, .dim = {{1, 1, n}}};
}

/* ---- accessors, as the compiler would make them ---- */

struct subscript { /* the variables of a subscript */
    int first, last;
    struct array list; /* an allocatable variable */
};

/* list, on the image that asks: a nested accessor, whose coarray is the variables */
static void get_list(void *v, const int *image, struct array *to, int32_t *free_to, struct subscript *from, void *lent,
                     size_t offset, size_t *tc, const size_t *fc) {
    (void)v, (void)image, (void)lent, (void)offset, (void)tc, (void)fc;
    size_t bytes = (size_t)from->list.dim[0].upper * 4;
    *to = make_array(malloc(bytes), from->list.dim[0].upper);
    memcpy(to->base, from->list.base, bytes);
    *free_to = 1;
}

/* a(first) */
static void get_element(struct subscript *v, const int *image, int **to, int32_t *free_to, int *a, void *lent,
                        size_t offset, size_t *tc, const size_t *fc) {
    (void)image, (void)lent, (void)offset, (void)tc, (void)fc;
    *to = &a[v->first - 1];
    *free_to = 0;
}

/* b(first:last) of an array with a descriptor */
static void get_section(struct subscript *v, const int *image, struct array *to, int32_t *free_to, struct array *b,
                        void *lent, size_t offset, size_t *tc, const size_t *fc) {
    (void)image, (void)lent, (void)offset, (void)tc, (void)fc;
    int n = v->last - v->first + 1;
    *to = make_array(malloc((size_t)n * 4), n);
    for (int i = 0; i < n; i++) ((int *)to->base)[i] = ((int *)b->base)[v->first - b->dim[0].lower + i];
    *free_to = 1;
}

static void fetch_list(struct array *list, int caller, void *lent);

/* a(list) */
static void get_by_list(struct subscript *v, const int *image, struct array *to, int32_t *free_to, int *a, void *lent,
                        size_t offset, size_t *tc, const size_t *fc) {
    (void)v, (void)offset, (void)tc, (void)fc;
    struct array list;
    fetch_list(&list, *image, lent);
    ptrdiff_t n = list.dim[0].upper;
    *to = make_array(malloc((size_t)n * 4), n);
    for (ptrdiff_t i = 0; i < n; i++) ((int *)to->base)[i] = a[((int *)list.base)[i] - 1];
    free(list.base);
    *free_to = 1;
}

/* x%part(first:last), through the owner's pointer */
static void get_part(struct subscript *v, const int *image, struct array *to, int32_t *free_to, struct box *x,
                     void *lent, size_t offset, size_t *tc, const size_t *fc) {
    get_section(v, image, to, free_to, &x->part, lent, offset, tc, fc);
}
static void get_tag(void *v, const int *image, int **to, int32_t *free_to, struct box *x, void *lent, size_t offset,
                    size_t *tc, const size_t *fc) {
    (void)v, (void)image, (void)lent, (void)offset, (void)tc, (void)fc;
    *to = &x->tag;
    *free_to = 0;
}
static void has_part(void *v, const int *image, int32_t *present, struct box **x, void *lent, size_t offset) {
    (void)v, (void)image, (void)lent, (void)offset;
    *present = (*x)->part.base != NULL;
}

/* allocated(shelf(3)%part), of a static array: without a descriptor */
static void has_third(void *v, const int *image, int32_t *present, struct box *shelf, void *lent, size_t offset) {
    (void)v, (void)image, (void)lent, (void)offset;
    *present = shelf[2].part.base != NULL;
}

/* a(first) = value; a(first:last) = array; x%part(first:last) = array */
static void put_element(struct subscript *v, const int *image, int *a, const int *from, void *lent, size_t offset,
                        const size_t *tc, const size_t *fc) {
    (void)image, (void)lent, (void)offset, (void)tc, (void)fc;
    a[v->first - 1] = *from;
}
static void put_section(struct subscript *v, const int *image, struct array *b, const struct array *from, void *lent,
                        size_t offset, const size_t *tc, const size_t *fc) {
    (void)image, (void)lent, (void)offset, (void)tc, (void)fc;
    for (int i = 0; i <= v->last - v->first; i++)
        ((int *)b->base)[v->first - b->dim[0].lower + i] = ((const int *)from->base)[i];
}
static void put_part(struct subscript *v, const int *image, struct box *x, const struct array *from, void *lent,
                     size_t offset, const size_t *tc, const size_t *fc) {
    put_section(v, image, &x->part, from, lent, offset, tc, fc);
}

/* a character variable, of as many characters as the other side says */
static void get_text(void *v, const int *image, char **to, int32_t *free_to, char *text, void *lent, size_t offset,
                     size_t *tc, const size_t *fc) {
    (void)v, (void)image, (void)lent, (void)offset;
    *to = text;
    *tc = *fc;
    *free_to = 0;
}

enum {
    LIST = 900,
    ELEMENT = 77,
    SECTION = -5,
    BY_LIST = 1,
    PART = 3,
    TAG = 2000,
    HAS_PART = 4,
    HAS_THIRD = 1800,
    PUT_ELEMENT = -1,
    PUT_SECTION = 12,
    PUT_PART = 99,
    TEXT = 5
};

static int index_of(int hash) {
    int index = _gfortran_caf_get_remote_function_index(hash);
    check(index >= 0, "an accessor is not found");
    return index;
}

static void fetch_list(struct array *list, int caller, void *lent) {
    void *data = NULL;
    *list = make_array(NULL, 0);
    _gfortran_caf_get_from_remote(lent, NULL, NULL, caller, 0, &data, NULL, list, 1, index_of(LIST), NULL, 0, NULL,
                                  NULL, NULL);
}

/* ---- the program ---- */

static struct array scalar_of(int type, size_t size) {
    return (struct array){.elem_len = size, .type = (signed char)type, .span = (ptrdiff_t)size};
}

static int value(int image, int i) { return image * 100000 + i; }

/* The last image fails; the statements of a team that it is in have a status. */
static void fail_in_team(int me, int n) {
    enum { FAILED = 6001 };
    void *team, *other = NULL;
    int stat;
    char message[40];
    _gfortran_caf_form_team(3, &team, NULL, NULL, NULL, 0);
    if (me == n) _gfortran_caf_fail_image();
    _gfortran_caf_change_team(team, &stat, message, sizeof message);
    check(stat == FAILED && memcmp(message, "CHANGE TEAM: image ", 19) == 0, "change team with a failed image");
    check(_gfortran_caf_this_image(NULL) == me, "inside of the team");
    _gfortran_caf_sync_team(team, &stat, NULL, 0);
    check(stat == FAILED, "sync team with a failed image");
    _gfortran_caf_form_team(4, &other, NULL, &stat, NULL, 0);
    check(stat == FAILED && !other, "form team with a failed image");
    _gfortran_caf_end_team(&stat, NULL, 0);
    check(stat == FAILED, "end team with a failed image");
    _gfortran_caf_finalize();
    exit(0);
}

/* Allocatable components of CO_BROADCAST, in descriptors whose span is left over from one of larger elements. malloc
 * may give 16 bytes more than are asked for. The first component is the one that no earlier one near it explains: it
 * has the smallest block of malloc. */
static void broadcast_components(int me) {
    void **larger = NULL; /* a list of blocks, each with the address of the next */
    for (int i = 20; i > 0; i--) {
        const int n = i == 20 ? 2 : i;
        int *component = malloc((size_t)n * sizeof *component);
        while (i == 20 && malloc_usable_size(component) > 24) {
            *(void **)(void *)component = larger;
            larger = (void **)(void *)component;
            component = malloc((size_t)n * sizeof *component);
        }
        struct array left_over = make_array(component, n);
        left_over.span = 12;
        for (int k = 0; k < n; k++) component[k] = value(me, k);
        _gfortran_caf_co_broadcast(&left_over, 1, NULL, NULL, 0);
        for (int k = 0; k < n; k++) check(component[k] == value(1, k), "broadcast of a component");
        free(component);
    }
    for (void **next; larger; larger = next) {
        next = *larger;
        free(larger);
    }
}

int main(int argc, char **argv) {
    struct array a_desc = scalar_of(INTEGER, 4), x_desc = scalar_of(DERIVED, sizeof(struct box)), shelf_desc = x_desc,
                 text_desc = scalar_of(CHARACTER, 5);
    struct allocatable whole = {.array = make_array(NULL, N)};
    void *a_token, *x_token, *shelf_token, *text_token;
    struct subscript v = {.first = 0};

#define ACCESSOR(HASH, FUNCTION) _gfortran_caf_register_accessor(HASH, (void (*)(void))FUNCTION)
    ACCESSOR(LIST, get_list);
    ACCESSOR(ELEMENT, get_element);
    ACCESSOR(SECTION, get_section);
    ACCESSOR(BY_LIST, get_by_list);
    ACCESSOR(PART, get_part);
    ACCESSOR(TAG, get_tag);
    ACCESSOR(HAS_PART, has_part);
    ACCESSOR(HAS_THIRD, has_third);
    ACCESSOR(PUT_ELEMENT, put_element);
    ACCESSOR(PUT_SECTION, put_section);
    ACCESSOR(PUT_PART, put_part);
    ACCESSOR(TEXT, get_text);
    _gfortran_caf_init(&argc, &argv);
    _gfortran_caf_register_accessors_finish();
    check(_gfortran_caf_get_remote_function_index(6) == -1, "an unknown accessor is found");
    int me = _gfortran_caf_this_image(NULL), n = _gfortran_caf_num_images(NULL, NULL), right = me % n + 1;

    _gfortran_caf_register(N * 4, STATIC, &a_token, &a_desc, NULL, NULL, 0);
    _gfortran_caf_register(sizeof(struct box), STATIC, &x_token, &x_desc, NULL, NULL, 0);
    _gfortran_caf_register(3 * sizeof(struct box), STATIC, &shelf_token, &shelf_desc, NULL, NULL, 0);
    _gfortran_caf_register(5, STATIC, &text_token, &text_desc, NULL, NULL, 0);
    _gfortran_caf_register(N * 4, ALLOCATABLE, &whole.token, &whole.array, NULL, NULL, 0);
    int *a = a_desc.base;
    struct box *x = x_desc.base, *shelf = shelf_desc.base;
    memset(x, 0, sizeof *x);
    memset(shelf, 0, 3 * sizeof *shelf);
    if (me % 3) shelf[2].part = make_array(&shelf->tag, 1);
    for (int i = 0; i < N; i++) a[i] = ((int *)whole.array.base)[i] = value(me, i + 1);
    memcpy(text_desc.base, me % 2 ? "odd  " : "even ", 5);
    x->tag = me;
    if (me % 2) { /* only images with odd numbers have a part, of different lengths */
        x->part = make_array(NULL, 2 * N + me);
        _gfortran_caf_register((size_t)(2 * N + me) * 4, COMPONENT_MEMORY, &x->part_token, &x->part, NULL, NULL, 0);
        for (int i = 0; i < 2 * N + me; i++) ((int *)x->part.base)[i] = value(me, i + 1);
    }
    if (argc > 1 && strcmp(argv[1], "image") == 0)
        _gfortran_caf_is_present_on_remote(x_token, n + 1, index_of(HAS_PART), NULL, 0);
    if (argc > 1 && strcmp(argv[1], "index") == 0) _gfortran_caf_is_present_on_remote(x_token, right, 1000, NULL, 0);
    if (argc > 1 && strcmp(argv[1], "base") == 0) {
        struct array elsewhere = make_array((int *)whole.array.base - 1, N);
        int result;
        void *data = &result;
        v.first = 1;
        _gfortran_caf_get_from_remote(whole.token, &elsewhere, NULL, right, 4, &data, NULL, NULL, 0, index_of(ELEMENT),
                                      &v, sizeof v, NULL, NULL, NULL);
    }
    _gfortran_caf_sync_all(NULL, NULL, 0);
    broadcast_components(me);
    if (argc > 1 && strcmp(argv[1], "failed") == 0) fail_in_team(me, n);

    for (int round = 0; round < 20; round++) {
        int result = 0, stat = 1;
        void *data = &result;
        v.first = 1 + 400 * round;
        _gfortran_caf_get_from_remote(a_token, NULL, NULL, right, 4, &data, NULL, NULL, 0, index_of(ELEMENT), &v,
                                      sizeof v, &stat, NULL, NULL);
        check(*(int *)data == value(right, v.first) && stat == 0, "get of an element");
        result = 0, data = &result;
        _gfortran_caf_get_from_remote(x_token, NULL, NULL, right, 4, &data, NULL, NULL, 0, index_of(TAG), NULL, 0, NULL,
                                      NULL, NULL);
        check(*(int *)data == right, "get of a component");
        check(_gfortran_caf_is_present_on_remote(x_token, right, index_of(HAS_PART), NULL, 0) == right % 2,
              "allocated");
        check(_gfortran_caf_is_present_on_remote(shelf_token, right, index_of(HAS_THIRD), NULL, 0) == (right % 3 != 0),
              "allocated, in an array");

        /* into memory of the caller, and into memory that the call allocates */
        static int here[2 * N];
        struct array to = make_array(here, N - 1);
        v.first = 2, v.last = N;
        data = here;
        _gfortran_caf_get_from_remote(whole.token, &whole.array, NULL, right, (N - 1) * 4, &data, NULL, &to, 0,
                                      index_of(SECTION), &v, sizeof v, NULL, NULL, NULL);
        check(to.base == here, "get of a section: another address");
        for (int i = 2; i <= N; i++) check(here[i - 2] == value(right, i), "get of a section");
        if (right % 2) {
            to = make_array(NULL, 0);
            v.first = 3, v.last = 2 * N;
            _gfortran_caf_get_from_remote(x_token, NULL, NULL, right, 4, &data, NULL, &to, 1, index_of(PART), &v,
                                          sizeof v, NULL, NULL, NULL);
            check(to.dim[0].upper == 2 * N - 2, "get of an allocatable component: length");
            for (int i = 3; i <= 2 * N; i++)
                check(((int *)to.base)[i - 3] == value(right, i), "get of an allocatable component");
            free(to.base);
        }
        static int many[5000];
        for (int i = 0; i < 5000; i++) many[i] = (i * 37 + round) % N + 1;
        v.list = make_array(many, 5000);
        to = make_array(NULL, 0);
        _gfortran_caf_get_from_remote(a_token, NULL, NULL, right, 4, &data, NULL, &to, 1, index_of(BY_LIST), &v,
                                      sizeof v, NULL, NULL, NULL);
        check(to.dim[0].upper == 5000, "get by a list: length");
        for (int i = 0; i < 5000; i++) check(((int *)to.base)[i] == value(right, many[i]), "get by a list");
        free(to.base);

        char text[6] = "";
        size_t characters = 5;
        data = text;
        _gfortran_caf_get_from_remote(text_token, NULL, &characters, right, 1, &data, &characters, NULL, 0,
                                      index_of(TEXT), NULL, 0, NULL, NULL, NULL);
        check(memcmp(data, right % 2 ? "odd  " : "even ", 5) == 0, "get of characters");
    }
    _gfortran_caf_sync_all(NULL, NULL, 0);

    /* puts: an element, every other element of an array, and a component */
    static int source[4 * N];
    for (int i = 0; i < 4 * N; i++) source[i] = -value(me, i);
    struct array every_other = make_array(source, N - 1);
    every_other.dim[0].stride = 2;
    v = (struct subscript){.first = 5};
    _gfortran_caf_send_to_remote(a_token, NULL, NULL, right, 4, &source[9], NULL, NULL, index_of(PUT_ELEMENT), &v,
                                 sizeof v, NULL, NULL, NULL);
    v.first = 2, v.last = N;
    _gfortran_caf_send_to_remote(whole.token, &whole.array, NULL, right, (N - 1) * 4, source, NULL, &every_other,
                                 index_of(PUT_SECTION), &v, sizeof v, NULL, NULL, NULL);
    if (right % 2)
        _gfortran_caf_send_to_remote(x_token, NULL, NULL, right, (N - 1) * 4, source, NULL, &every_other,
                                     index_of(PUT_PART), &v, sizeof v, NULL, NULL, NULL);
    _gfortran_caf_sync_all(NULL, NULL, 0);
    int left = (me + n - 2) % n + 1;
    check(a[4] == -value(left, 9) && a[3] == value(me, 4) && a[5] == value(me, 6), "put of an element");
    for (int i = 2; i <= N; i++)
        check(((int *)whole.array.base)[i - 1] == -value(left, 2 * (i - 2)), "put of a section");
    check(((int *)whole.array.base)[0] == value(me, 1), "put of a section: one element too many");
    if (me % 2) {
        for (int i = 2; i <= N; i++) check(((int *)x->part.base)[i - 1] == -value(left, 2 * (i - 2)), "put of a part");
        check(((int *)x->part.base)[N] == value(me, N + 1), "put of a part: one element too many");
    }
    _gfortran_caf_sync_all(NULL, NULL, 0);

    /* from the right neighbour to the left one: an element, and three elements by a list */
    int list[] = {1, 2, N}, last = a[6], right2 = right % n + 1;
    struct subscript from = {.first = 7, .list = make_array(list, 3)};
    v.first = 6;
    _gfortran_caf_transfer_between_remotes(a_token, NULL, NULL, left, index_of(PUT_ELEMENT), &v, sizeof v, a_token,
                                           NULL, NULL, right, index_of(ELEMENT), &from, sizeof from, 4, 1, NULL, NULL,
                                           NULL, NULL, NULL, NULL);
    v.first = 11, v.last = 13;
    _gfortran_caf_transfer_between_remotes(whole.token, &whole.array, NULL, left, index_of(PUT_SECTION), &v, sizeof v,
                                           a_token, NULL, NULL, right, index_of(BY_LIST), &from, sizeof from, 4, 0,
                                           NULL, NULL, NULL, NULL, NULL, NULL);
    _gfortran_caf_sync_all(NULL, NULL, 0);
    check(a[5] == value(right2, 7) && a[6] == last, "transfer of an element");
    for (int i = 0; i < 3; i++)
        check(((int *)whole.array.base)[10 + i] == value(right2, list[i]), "transfer by a list");
    check(((int *)whole.array.base)[13] == -value(left, 24), "transfer by a list: one element too many");
    _gfortran_caf_sync_all(NULL, NULL, 0);

    /* teams: all images in reverse order; accesses by the team's numbers, and by its number */
    void *team, *other = NULL;
    int number = 7, initial = -1, reverse = n + 1 - me, stat = 1, here = 0, same = 1;
    void *data = &here;
    _gfortran_caf_form_team(number, &team, &reverse, &stat, NULL, 0);
    check(stat == 0, "form team: stat");
    check(_gfortran_caf_num_images(team, NULL) == n && _gfortran_caf_this_image(team) == reverse, "form team");
    _gfortran_caf_sync_team(team, NULL, NULL, 0);
    _gfortran_caf_change_team(team, &stat, NULL, 0);
    check(_gfortran_caf_this_image(NULL) == reverse && stat == 0, "change team");
    check(_gfortran_caf_num_images(NULL, &number) == n, "num_images of a team number");
    _gfortran_caf_get_from_remote(x_token, NULL, NULL, 1, 4, &data, NULL, NULL, 0, index_of(TAG), NULL, 0, NULL, NULL,
                                  NULL);
    check(*(int *)data == n, "get in a team");
    data = &here;
    _gfortran_caf_get_from_remote(x_token, NULL, NULL, 1, 4, &data, NULL, NULL, 0, index_of(TAG), NULL, 0, NULL, NULL,
                                  &initial);
    check(*(int *)data == 1, "get by the number of the initial team");
    _gfortran_caf_end_team(&stat, NULL, 0);
    if (n > 1) {
        _gfortran_caf_form_team(9, &other, &same, &stat, NULL, 0);
        check(stat == 5015 && !other, "form team: the same new_index on all images");
    }
    if (me == 1) puts("accessors: passed");
    _gfortran_caf_finalize();
    return 0;
}
