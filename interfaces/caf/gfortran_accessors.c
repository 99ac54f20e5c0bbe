/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's transfers since version 15, by accessors. The compiler makes a function of the program, an accessor, of
 * each reference to a coarray on another image: it copies from a coarray that begins at a given address to a variable,
 * or the other way round. A program registers its accessors when it starts, so all images have the same ones.
 *
 * An accessor may follow pointers in the coarray, which hold addresses of the process that owns it. So this image
 * executes the accessor itself only if load and store reach the coarray, and its type has no components. Else the
 * accessor, the variables of its subscripts and the data travel in a request (serve.h), and the owner executes it.
 *
 * A subscript that is an array of unknown size does not travel: the accessor fetches it from the image that asks, by a
 * coarray reference to its variables. That coarray is `lent` to it. */
#include "config.h"

#include "interfaces/caf/gfortran.h"
#include "interfaces/caf/serve.h"
#include "interfaces/caf/team.h"

#include <stdlib.h>
#include <string.h>

typedef void any_accessor(void);
typedef void get_accessor(void *variables, const int *image, void *to, int32_t *free_to, void *from, caf_token lent,
                          size_t offset, size_t *to_characters, const size_t *from_characters);
typedef void put_accessor(void *variables, const int *image, void *to, const void *from, caf_token lent, size_t offset,
                          const size_t *to_characters, const size_t *from_characters);
typedef void present_accessor(void *variables, const int *image, int32_t *present, void *of, caf_token lent,
                              size_t offset);

#pragma GCC visibility push(default)
void _gfortran_caf_register_accessor(int hash, any_accessor *accessor);
void _gfortran_caf_register_accessors_finish(void);
int _gfortran_caf_get_remote_function_index(int hash);
void _gfortran_caf_get_from_remote(caf_token token, const struct descriptor *from, const size_t *from_characters,
                                   int image, size_t size, void **data, size_t *to_characters, struct descriptor *to,
                                   bool reallocatable, int index, void *variables, size_t variables_size, int *stat,
                                   caf_team *team, int *team_number);
int32_t _gfortran_caf_is_present_on_remote(caf_token token, int image, int index, void *variables,
                                           size_t variables_size);
void _gfortran_caf_send_to_remote(caf_token token, struct descriptor *to, const size_t *to_characters, int image,
                                  size_t size, const void *data, const size_t *from_characters,
                                  const struct descriptor *from, int index, void *variables, size_t variables_size,
                                  int *stat, caf_team *team, int *team_number);
void _gfortran_caf_transfer_between_remotes(caf_token to_token, struct descriptor *to, size_t *to_characters,
                                            int to_image, int to_index, void *to_variables, size_t to_variables_size,
                                            caf_token from_token, const struct descriptor *from,
                                            const size_t *from_characters, int from_image, int from_index,
                                            void *from_variables, size_t from_variables_size, size_t size, bool scalar,
                                            int *to_stat, int *from_stat, caf_team *to_team, int *to_team_number,
                                            caf_team *from_team, int *from_team_number);
#pragma GCC visibility pop

/* ---- the table of accessors, sorted by their hash ---- */

struct entry {
    int hash;
    any_accessor *accessor;
};
static struct entry *entries;
static int n_entries, room, sorted;
int rmai_caf_has_accessors;

void _gfortran_caf_register_accessor(int hash, any_accessor *accessor) {
    if (n_entries == room) {
        struct entry *larger = rmai_caf_memory("start of the coarrays", (size_t)(2 * room + 16) * sizeof *larger);
        if (entries) memcpy(larger, entries, (size_t)n_entries * sizeof *larger);
        free(entries);
        entries = larger;
        room = 2 * room + 16;
    }
    entries[n_entries++] = (struct entry){.hash = hash, .accessor = accessor};
    sorted = 0;
    rmai_caf_has_accessors = 1;
}

static int compare_entries(const void *a, const void *b) {
    int x = ((const struct entry *)a)->hash, y = ((const struct entry *)b)->hash;
    return (x > y) - (x < y);
}

static struct rmai_caf_message execute(struct rmai_caf_message message);

void _gfortran_caf_register_accessors_finish(void) {
    if (n_entries) qsort(entries, (size_t)n_entries, sizeof *entries, compare_entries);
    sorted = 1;
    rmai_caf_start();
    rmai_caf_serve_start(execute);
}

int _gfortran_caf_get_remote_function_index(int hash) {
    struct entry key = {.hash = hash}, *found = NULL;
    if (sorted && n_entries) found = bsearch(&key, entries, (size_t)n_entries, sizeof *entries, compare_entries);
    return found ? (int)(found - entries) : -1;
}

/* ---- requests ---- */

enum action { GET, PUT, IS_PRESENT };

/* What the image that executes an accessor must know. In a message, the accessor's variables and the data of a put
 * follow. */
struct access {
    enum action action;
    int index;
    int caller;          /* the image that asks, in its current team */
    int is_array;        /* 1: the accessor takes the coarray's descriptor, which is in `coarray`; else its address */
    int is_static_array; /* of the coarray, without a descriptor */
    int is_local;        /* 1: `base` is an address, not a distance */
    int has_data_array;  /* 1: the other side has the descriptor in `data_array`; else it is a scalar of `size` bytes */
    uint64_t base;       /* where the coarray is: bytes from the owner's struct rmai_caf_image */
    uint64_t variables;  /* their address on the image that asks */
    size_t variables_size;
    size_t size; /* bytes of the data: of a scalar, or of all elements of a put; 0 if they are not known */
    int has_to_characters, has_from_characters;
    size_t to_characters, from_characters; /* character lengths; sizes then count bytes of one character */
    struct any_descriptor coarray, data_array;
} __attribute__((aligned(16)));

struct answer {
    int32_t present;
    int free_data; /* 1: data is of malloc */
    size_t size;
    size_t to_characters;
    struct any_descriptor data_array;
    char *data;
} __attribute__((aligned(16)));

/* The bytes of the elements of a contiguous array. An accessor that allocates it may not write the rank. */
static size_t bytes_of(struct any_descriptor *a, size_t size) {
    size_t n = (size_t)(a->d.span ? a->d.span : (ptrdiff_t)a->d.elem_len);
    if (a->d.rank == 0)
        while (a->d.rank < RMAI_CAF_DIMS && a->dim[a->d.rank].stride != 0) a->d.rank++;
    if (n == 0) return size;
    for (int i = 0; i < a->d.rank; i++) {
        ptrdiff_t count = a->dim[i].upper - a->dim[i].lower + 1;
        n *= count > 0 ? (size_t)count : 0;
    }
    return n;
}

static size_t scalar_bytes(const struct access *a, const size_t *characters) {
    return characters ? a->size * *characters : a->size;
}

/* Executes the accessor on the coarray at `base`. data: the data of a put. */
static void run_accessor(const struct access *a, char *base, void *variables, const char *data, struct answer *answer) {
    struct rmai_caf_coarray lent = {.base = (char *)(uintptr_t)a->variables, .size = a->variables_size, .lent = 1};
    struct access copy = *a; /* accessors write to descriptors and lengths */
    void *coarray = base;
    copy.coarray.d.base = base;
    if (copy.is_array) coarray = &copy.coarray;
    size_t *to_characters = copy.has_to_characters ? &copy.to_characters : NULL;
    size_t *from_characters = copy.has_from_characters ? &copy.from_characters : NULL;
    any_accessor *accessor = entries[copy.index].accessor;
    int32_t free_to = 0;
    switch (copy.action) {
        case IS_PRESENT: /* for a scalar this accessor, and no other, takes a pointer to the pointer */
            ((present_accessor *)accessor)(variables, &copy.caller, &answer->present,
                                           copy.is_array || copy.is_static_array ? coarray : (void *)&base, &lent, 0);
            break;
        case PUT:
            copy.data_array.d.base = (char *)(uintptr_t)data;
            ((put_accessor *)accessor)(variables, &copy.caller, coarray,
                                       copy.has_data_array ? (const void *)&copy.data_array : data, &lent, 0,
                                       to_characters, from_characters);
            break;
        default:
            answer->data = NULL;
            copy.data_array.d.base = NULL;
            ((get_accessor *)accessor)(variables, &copy.caller,
                                       copy.has_data_array ? (void *)&copy.data_array : (void *)&answer->data, &free_to,
                                       coarray, &lent, 0, to_characters, from_characters);
            answer->to_characters = copy.to_characters;
            answer->size =
                copy.has_data_array ? bytes_of(&copy.data_array, copy.size) : scalar_bytes(&copy, to_characters);
            answer->free_data = copy.has_data_array || free_to;
            if (copy.has_data_array) answer->data = copy.data_array.d.base;
            answer->data_array = copy.data_array;
    }
}

/* The rmai_caf_execute of serve.h. */
static struct rmai_caf_message execute(struct rmai_caf_message message) {
    struct access a;
    struct answer answer = {0};
    memcpy(&a, message.data, sizeof a);
    char *variables = message.data + sizeof a;
    char *base = a.is_local ? (char *)(uintptr_t)a.base : (char *)rmai_caf.self + a.base;
    run_accessor(&a, base, variables, variables + (a.variables_size + 15) / 16 * 16, &answer);
    struct rmai_caf_message reply = {.len = sizeof answer + answer.size};
    reply.data = rmai_caf_memory("request of another image", reply.len);
    memcpy(reply.data, &answer, sizeof answer);
    if (answer.size && answer.data) memcpy(reply.data + sizeof answer, answer.data, answer.size);
    if (answer.free_data) free(answer.data);
    return reply;
}

/* Lets another image execute the accessor; pe is -1 for the image that asks this one. */
static void ask(const char *statement, const struct access *a, int pe, const void *variables, const char *data,
                struct answer *answer) {
    size_t gap = (a->variables_size + 15) / 16 * 16, len = a->action == PUT ? a->size : 0;
    struct rmai_caf_message request = {.len = sizeof *a + gap + len}, reply;
    request.data = rmai_caf_memory(statement, request.len);
    memcpy(request.data, a, sizeof *a);
    if (a->variables_size) memcpy(request.data + sizeof *a, variables, a->variables_size);
    if (len) memcpy(request.data + sizeof *a + gap, data, len);
    reply = pe < 0 ? rmai_caf_ask_back(request) : rmai_caf_ask(statement, pe, request);
    free(request.data);
    memcpy(answer, reply.data, sizeof *answer);
    answer->data = reply.data;
    answer->free_data = 1;
    memmove(reply.data, reply.data + sizeof *answer, answer->size);
}

/* ---- an access of this image ---- */

static const struct rmai_caf_team *find_team(struct rmai_caf_result r, const char *statement, caf_team *team,
                                             const int *number) {
    if (team) return *team;
    return number ? rmai_caf_team_numbered(r, statement, *number) : rmai_caf.team;
}

/* Executes the accessor of *a, whose first fields are set, here or elsewhere. Returns 0 after it has reported an
 * error. */
static int perform(struct rmai_caf_result r, const char *statement, struct access *a, caf_token token,
                   const struct descriptor *d, int image, caf_team *team, const int *team_number, void *variables,
                   const char *data, struct answer *answer) {
    const struct rmai_caf_team *in;
    int pe;
    if (__builtin_expect(a->index < 0 || a->index >= n_entries, 0)) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: the program has not registered the accessor with index %d",
                        statement, a->index);
        return 0;
    }
    a->caller = rmai_caf.team->me + 1;
    a->variables = (uint64_t)(uintptr_t)variables;
    a->is_array = d != NULL;
    if (d) rmai_caf_descriptor_copy(&a->coarray, d);
    if (token && token->lent) {
        a->base = (uint64_t)(uintptr_t)token->base;
        a->is_local = 1;
        if (rmai_caf_serving())
            ask(statement, a, -1, variables, data, answer);
        else
            run_accessor(a, token->base, variables, data, answer);
        return 1;
    }
    if (__builtin_expect(!token, 0)) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: the coarray is not allocated", statement);
        return 0;
    }
    if (!(in = find_team(r, statement, team, team_number))) return 0;
    if ((pe = rmai_caf_pe(r, statement, in, image)) < 0 || has_failed(r, statement, pe)) return 0;
    /* A dummy argument may be a part of the coarray. */
    size_t offset = d ? (size_t)((char *)d->base - token->base) : 0;
    if (__builtin_expect(!rmai_caf_holds(token, offset, 0), 0)) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                        "%s: the array at byte %td is outside its coarray, which has %zu bytes", statement,
                        (ptrdiff_t)offset, token->size);
        return 0;
    }
    struct rmai_caf_place at = rmai_caf_place(token, offset, pe);
    if (at.near && (token->is_plain || pe == rmai_caf.me)) {
        run_accessor(a, at.near, variables, data, answer);
    } else {
        a->base = at.far - (rmai_caf.first + ((rma_gptr_t)(uint32_t)pe << 40));
        ask(statement, a, pe, variables, data, answer);
    }
    return 1;
}

static struct access access_of(enum action action, int index, size_t variables_size, size_t size,
                               const size_t *to_characters, const size_t *from_characters) {
    struct access a = {.action = action, .index = index, .variables_size = variables_size, .size = size};
    if (to_characters) a.has_to_characters = 1, a.to_characters = *to_characters;
    if (from_characters) a.has_from_characters = 1, a.from_characters = *from_characters;
    return a;
}

/* ---- the calls ---- */

void _gfortran_caf_get_from_remote(caf_token token, const struct descriptor *from, const size_t *from_characters,
                                   int image, size_t size, void **data, size_t *to_characters, struct descriptor *to,
                                   bool reallocatable, int index, void *variables, size_t variables_size, int *stat,
                                   caf_team *team, int *team_number) {
    static const char statement[] = "reference to a coarray of another image";
    struct rmai_caf_result r = result_at(stat, NULL, 0);
    struct access a = access_of(GET, index, variables_size, size, to_characters, from_characters);
    struct answer answer;
    if ((a.has_data_array = to != NULL)) rmai_caf_descriptor_copy(&a.data_array, to);
    if (!perform(r, statement, &a, token, from, image, team, team_number, variables, NULL, &answer)) return;
    if (to_characters) *to_characters = answer.to_characters;
    if (!to) {
        if (answer.free_data)
            memcpy(*data, answer.data, answer.size);
        else
            *data = answer.data; /* the compiler reads it at once */
    } else {
        void *base = to->base;
        memcpy(to, &answer.data_array, sizeof *to + (size_t)to->rank * sizeof to->dim[0]);
        if (!reallocatable && base) {
            memcpy(base, answer.data, answer.size);
            to->base = base;
        } else {
            free(base);
            to->base = answer.data;
            answer.free_data = 0;
        }
    }
    if (answer.free_data) free(answer.data);
    rmai_caf_done(r);
}

int32_t _gfortran_caf_is_present_on_remote(caf_token token, int image, int index, void *variables,
                                           size_t variables_size) {
    struct access a = access_of(IS_PRESENT, index, variables_size, 0, NULL, NULL);
    struct answer answer = {0};
    if (!token) return 0;
    a.is_static_array = token->is_static_array;
    perform(RMAI_CAF_NO_RESULT, "ALLOCATED of a part of a coarray of another image", &a, token,
            rmai_caf_variable_shape(token), image, NULL, NULL, variables, NULL, &answer);
    int32_t present = answer.present;
    if (answer.free_data) free(answer.data);
    return present;
}

/* Puts `data`, or the array `from`, which becomes contiguous: it may also be the memory that the accessor writes. */
static void put(struct rmai_caf_result r, const char *statement, struct access *a, caf_token token,
                const struct descriptor *to, int image, caf_team *team, const int *team_number, void *variables,
                const void *data, const struct descriptor *from) {
    struct answer answer = {0};
    char *packed = NULL;
    a->size = scalar_bytes(a, a->has_from_characters ? &a->from_characters : NULL);
    if ((a->has_data_array = from != NULL)) {
        struct rmai_caf_box box;
        ptrdiff_t stride[RMAI_CAF_DIMS], packed_stride[RMAI_CAF_DIMS];
        size_t elem = from->elem_len ? from->elem_len : (size_t)from->span;
        rmai_caf_descriptor_copy(&a->data_array, from);
        rmai_caf_box_of(from, &box, stride);
        rmai_caf_box_packed(&box, elem, packed_stride);
        a->size = box.n * elem;
        packed = rmai_caf_memory(statement, a->size);
        rmai_caf_copy(packed, packed_stride, from->base, stride, &box, elem);
        a->data_array.d.span = (ptrdiff_t)elem;
        a->data_array.d.offset = 0;
        for (int i = 0; i < box.dims; i++) {
            struct dimension *dim = &a->data_array.dim[i];
            dim->stride = elem ? packed_stride[i] / (ptrdiff_t)elem : 1;
            a->data_array.d.offset -= dim->stride * dim->lower;
        }
        data = packed;
    }
    if (perform(r, statement, a, token, to, image, team, team_number, variables, data, &answer)) rmai_caf_done(r);
    if (answer.free_data) free(answer.data);
    free(packed);
}

void _gfortran_caf_send_to_remote(caf_token token, struct descriptor *to, const size_t *to_characters, int image,
                                  size_t size, const void *data, const size_t *from_characters,
                                  const struct descriptor *from, int index, void *variables, size_t variables_size,
                                  int *stat, caf_team *team, int *team_number) {
    struct access a = access_of(PUT, index, variables_size, size, to_characters, from_characters);
    put(result_at(stat, NULL, 0), "assignment to a coarray of another image", &a, token, to, image, team, team_number,
        variables, data, from);
}

void _gfortran_caf_transfer_between_remotes(caf_token to_token, struct descriptor *to, size_t *to_characters,
                                            int to_image, int to_index, void *to_variables, size_t to_variables_size,
                                            caf_token from_token, const struct descriptor *from,
                                            const size_t *from_characters, int from_image, int from_index,
                                            void *from_variables, size_t from_variables_size, size_t size, bool scalar,
                                            int *to_stat, int *from_stat, caf_team *to_team, int *to_team_number,
                                            caf_team *from_team, int *from_team_number) {
    static const char statement[] = "assignment between coarrays of other images";
    struct rmai_caf_result from_r = result_at(from_stat, NULL, 0), to_r = result_at(to_stat, NULL, 0);
    struct access get = access_of(GET, from_index, from_variables_size, size, from_characters, from_characters);
    struct access write = access_of(PUT, to_index, to_variables_size, size, to_characters, from_characters);
    struct answer answer;
    get.has_data_array = !scalar;
    if (!perform(from_r, statement, &get, from_token, from, from_image, from_team, from_team_number, from_variables,
                 NULL, &answer))
        return;
    rmai_caf_done(from_r);
    if (from_characters) write.from_characters = answer.to_characters;
    if (!scalar) {
        answer.data_array.d.base = answer.data;
        if (!answer.data_array.d.elem_len && !answer.data_array.d.span) answer.data_array.d.elem_len = size;
    }
    put(to_r, statement, &write, to_token, to, to_image, to_team, to_team_number, to_variables, answer.data,
        scalar ? NULL : &answer.data_array.d);
    if (answer.free_data) free(answer.data);
}
