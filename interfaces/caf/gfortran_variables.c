/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the program keeps an allocatable coarray, also after MOVE_ALLOC. It is in a descriptor, at whose end is the
 * token. gfortran passes the addresses of both when it registers the coarray, sets the bounds after that, and always
 * executes a SYNC ALL then. MOVE_ALLOC copies both to another variable, and tells nobody. So this module copies the
 * bounds at that SYNC ALL. END TEAM has to deallocate the variable: if it is no longer where it was registered, which
 * may have been in the frame of a procedure that has returned, this module searches for it in the program's memory. */
#include "config.h"

#include "interfaces/caf/component.h"
#include "interfaces/caf/gfortran.h"

#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct rmai_caf_variable {
    struct rmai_caf_coarray *coarray;
    struct descriptor *at; /* where it was registered, */
    size_t token;          /* and how many bytes further the token is */
    struct any_descriptor shape;
    struct rmai_caf_variable *next; /* of those whose bounds have not been copied yet */
};

struct rmai_caf_variable *rmai_caf_variables_fresh;

static caf_token *token_of(const struct rmai_caf_variable *v, char *descriptor) {
    return (caf_token *)(void *)(descriptor + v->token);
}

/* 1 if the coarray's variable is at that address, where nothing may be mapped. */
static int is_at(const struct rmai_caf_variable *v, char *address) {
    const void *base;
    caf_token token;
    rmai_caf_peek(&base, address, sizeof base);
    if (base != v->coarray->base) return 0;
    rmai_caf_peek(&token, token_of(v, address), sizeof token);
    return token == v->coarray;
}

void rmai_caf_variables_read(void) {
    for (struct rmai_caf_variable *v = rmai_caf_variables_fresh; v; v = v->next)
        if (is_at(v, (char *)v->at)) rmai_caf_descriptor_copy(&v->shape, v->at);
    rmai_caf_variables_fresh = NULL;
}

const struct descriptor *rmai_caf_variable_shape(const struct rmai_caf_coarray *c) {
    if (rmai_caf_variables_fresh) rmai_caf_variables_read();
    return c->variable && c->variable->shape.d.base && c->variable->shape.d.rank > 0 ? &c->variable->shape.d : NULL;
}

int rmai_caf_variable_is_at(const struct descriptor *d, const caf_token *token) {
    for (int dims = d->rank; dims <= RMAI_CAF_DIMS; dims++)
        if ((const char *)token == (const char *)&d->dim[dims]) return 1;
    return 0;
}

int rmai_caf_variable_has(const struct rmai_caf_coarray *c, caf_token *token) {
    return !c->variable || is_at(c->variable, (char *)token - c->variable->token);
}

void rmai_caf_variable_made(struct rmai_caf_coarray *c, struct descriptor *d, caf_token *token) {
    const size_t distance = (size_t)((char *)token - (char *)d);
    struct rmai_caf_variable *v = rmai_caf_memory("ALLOCATE", sizeof *v);
    v->coarray = c;
    v->at = d;
    v->token = distance;
    v->shape.d.base = NULL; /* the rest of it is copied later: clearing it takes longer than all others */
    v->shape.d.rank = 0;
    v->next = rmai_caf_variables_fresh;
    rmai_caf_variables_fresh = c->variable = v;
}

void rmai_caf_variable_gone(struct rmai_caf_coarray *c) {
    struct rmai_caf_variable **p = &rmai_caf_variables_fresh;
    while (*p && *p != c->variable) p = &(*p)->next;
    if (*p) *p = c->variable->next;
    free(c->variable);
    c->variable = NULL;
}

/* ---- a variable that has moved ---- */

#define PIECE         ((size_t)65536)   /* bytes that are searched at a time, */
#define SEARCHED_MOST ((size_t)4 << 30) /* and in one mapping at most */

static int clear_at(const struct rmai_caf_variable *v, char *address) {
    if (!is_at(v, address)) return 0;
    *token_of(v, address) = NULL;
    *(void **)(void *)address = NULL; /* a descriptor begins with the address */
    return 1;
}

static int looks_like(const struct rmai_caf_variable *v, char *copy) {
    return *(char **)(void *)copy == v->coarray->base && *token_of(v, copy) == v->coarray;
}

/* 1 if the address is in the copy of memory that is searched. */
static int is_in_buffer(const struct rmai_caf_variable *v, const char *buffer, const char *address) {
    return (uintptr_t)address - (uintptr_t)buffer < PIECE + v->token + sizeof(caf_token);
}

/* Clears the variables of this coarray in [low, high), which may be unmapped meanwhile. Returns how many there are. */
static int clear_within(const struct rmai_caf_variable *v, uintptr_t low, uintptr_t high, char *buffer) {
    const size_t bytes = v->token + sizeof(caf_token);
    int found = 0;
    for (uintptr_t at = low; at < high; at += PIECE) {
        struct iovec here = {.iov_base = buffer, .iov_len = PIECE + bytes};
        struct iovec there = {.iov_base = (void *)at, .iov_len = here.iov_len < high - at ? here.iov_len : high - at};
        const ssize_t n = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
        for (size_t i = 0; n >= (ssize_t)bytes && i <= (size_t)n - bytes && i < PIECE; i += sizeof(void *))
            if (looks_like(v, buffer + i) && !is_in_buffer(v, buffer, (char *)at + i))
                found += clear_at(v, (char *)at + i);
    }
    return found;
}

struct search {
    const struct rmai_caf_variable *v;
    char *buffer;
    int found;
};

/* Called by dl_iterate_phdr(3) with each object of the program: searches its global variables. */
static int clear_in_object(struct dl_phdr_info *object, size_t size, void *context) {
    struct search *s = context;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        const uintptr_t low = object->dlpi_addr + p->p_vaddr, word = sizeof(void *);
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W))
            s->found += clear_within(s->v, (low + word - 1) / word * word, low + p->p_memsz, s->buffer);
    }
    return 0;
}

/* Variables that are not global are in private memory that can be written, and not in coarrays. What lies below this
 * frame of the stack is no variable, and a mapping of many GiB is address space that somebody has reserved. */
static void clear_in_memory(struct search *s) {
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low, high;
    char line[512], way[5];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &low, &high, way) != 3 || strcmp(way, "rw-p") != 0) continue;
        if (rmai_caf_component_holds((void *)low) || high - low > SEARCHED_MOST) continue;
        if (low < frame && frame < high) low = frame / sizeof(void *) * sizeof(void *);
        s->found += clear_within(s->v, low, high, s->buffer);
    }
    if (maps) fclose(maps);
}

static int clear_wherever(const struct rmai_caf_variable *v) {
    struct search s = {.v = v, .buffer = malloc(PIECE + v->token + sizeof(caf_token))};
    if (!s.buffer) return 0;
    dl_iterate_phdr(clear_in_object, &s);
    clear_in_memory(&s);
    free(s.buffer);
    return s.found;
}

int rmai_caf_variable_clear(const struct rmai_caf_coarray *c) {
    const struct rmai_caf_variable *v = c->variable;
    return v && (clear_at(v, (char *)v->at) || clear_wherever(v));
}
