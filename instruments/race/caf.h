/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran's images and coarrays, as the detector sees them. PE p of the job is image p + 1 of the initial team.
 *
 * Two images race if they access the same bytes of a coarray, at least one defines them, not both by atomic
 * subroutines, and their segments are not ordered (Fortran 2018, 11.6.2). Puts and gets are complete when their
 * statement is, as far as the image itself can tell, and for other images at the end of the segment. So all accesses of
 * an image are those of its thread (clock.h), and the image control statements alone tell other images of them. */
#ifndef RACE_CAF_H
#define RACE_CAF_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/call_lists/gfortran.h"
#include "instruments/race/events.h"
#include "instruments/race/group.h"
#include "instruments/race/report.h"
#include "instruments/race/shadow.h"

/* ---- teams (caf_coarrays.c) ---- */

struct race_caf_team {
    caf_team handle;
    struct race_group *group; /* its images, by their PEs */
    struct race_caf_team *parent, *next;
};

/* race_caf_team: the team of a handle; NULL: it is unknown. race_caf_current: the current team. race_caf_form: FORM
 * TEAM has formed a team; all images of the current team call it. race_caf_change, race_caf_end: CHANGE TEAM has
 * begun, END TEAM has ended. */
struct race_caf_team *race_caf_team(const void *handle_or_variable);
struct race_caf_team *race_caf_current(void);
void race_caf_form(caf_team handle, int number, int new_index);
void race_caf_change(struct race_caf_team *team);
void race_caf_end(void);

/* race_caf_handle_of_level: the handle of the initial team (0), or the parent or current one (1, 2). */
caf_team race_caf_handle_of_level(int *level);

/* race_caf_pe: the PE of an image of the current team, or of `team`; 0 is the calling image. -1: there is none. */
int race_caf_pe(int image, const struct race_caf_team *team);

/* ---- coarrays (caf_coarrays.c) ---- */

/* A descriptor of any rank. */
__extension__ struct any_shape {
    struct descriptor d;
    struct dimension dim[CALLS_DIMS];
};

__extension__ struct race_coarray {
    caf_token token;
    char *base; /* of this image */
    size_t size, elem;
    struct race_caf_team *team;  /* NULL: the initial team, whose images have it at the same offset */
    uint64_t *where;             /* else: its offset in the space of each image of the team; UINT64_MAX: unknown */
    const struct descriptor *at; /* of an allocatable coarray: where the program had its descriptor */
    size_t token_distance;       /* and how many bytes after it the token is; 0: not allocatable */
    struct any_shape shape;      /* a copy, made when it was allocated; base NULL: not known */
    uint32_t place;              /* where it was allocated */
    int is_words;                /* locks or events */
    struct race_coarray *next, *fresh;
};

/* race_coarray_of: the coarray of a token, or NULL. race_coarray_made, race_coarray_gone: the library has registered a
 * coarray, will free one. race_coarray_of_token_at: the coarray that DEALLOCATE with this variable frees; NULL: the
 * variable is a component. race_coarrays_read copies the bounds of coarrays that have just been allocated. */
struct race_coarray *race_coarray_of(caf_token token);
void race_coarray_made(const struct race_call *c, caf_token *token, size_t size, const struct descriptor *d, int type);
void race_coarray_gone(const struct race_call *c, struct race_coarray *a);
struct race_coarray *race_coarray_of_token_at(caf_token *token);
void race_coarrays_read(void);

/* race_coarray_offset: where the coarray begins in PE pe's space; UINT64_MAX if that is not known. race_coarray_at: the
 * coarray that has this byte of PE pe's space, and *at which one; NULL: none has.
 * race_coarray_next: each coarray after the other; NULL is before the first and after the last. */
uint64_t race_coarray_offset(const struct race_coarray *a, int pe);
const struct race_coarray *race_coarray_next(const struct race_coarray *a);
const struct race_coarray *race_coarray_at(int pe, uint64_t offset, size_t *at);

/* ---- accesses (caf_access.c) ---- */

/* One side of a transfer on another image: a coarray, and what part of it: a section, or a chain of references. */
struct race_part {
    caf_token token;
    int image;
    const struct race_caf_team *team; /* NULL: the current one */
    size_t offset;
    const struct descriptor *section;
    const struct vector *vector;
    const struct reference *refs; /* instead of a section */
};
void race_caf_far(const struct race_call *c, const struct race_part *part, int write);

/* The elements of a descriptor on this image; and some bytes. */
void race_caf_near(const struct race_call *c, const struct descriptor *d, int write);
void race_caf_bytes(const struct race_call *c, const void *p, size_t len, int write);

/* race_caf_collective: the argument of a collective subroutine, which is defined by it, or (write 0) referenced. */
void race_caf_collective(const struct race_call *c, const struct descriptor *d, int write);

/* An atomic subroutine. race_caf_atomic: before the library's call; race_caf_atomic_read: after it, if it has returned
 * a value. */
void race_caf_atomic(const struct race_call *c, caf_token token, size_t offset, int image, size_t len, int write);
void race_caf_atomic_read(caf_token token, size_t offset, int image, size_t len);

/* ---- order (caf_order.c) ---- */

/* Each image control statement begins with race_caf_statement. What the image has learnt by atomic subroutines counts
 * from then on (Fortran 2018, 11.6.5). race_caf_segment: a new segment begins. */
void race_caf_statement(void);
void race_caf_segment(void);

/* race_caf_meets: a statement in which all images of a team synchronize; call the first function before the library's
 * call, the second after it. The same for SYNC IMAGES. */
void race_caf_enter(struct race_group *g);
void race_caf_leave(struct race_group *g);
void race_caf_enter_images(int count, const int *images);
void race_caf_leave_images(int count, const int *images);

/* race_caf_word: tells (UNLOCK) or learns (LOCK) by a word of a coarray. race_caf_post: EVENT POST, before the
 * library's call. race_caf_awaited: EVENT WAIT has consumed `count` posts of this image's event. */
void race_caf_word(caf_token token, size_t index, int image, int tell);
void race_caf_post(caf_token token, size_t index, int image);
void race_caf_awaited(caf_token token, size_t index, int count);

/* race_caf_events_new: this image's events in the coarray have no posts. */
void race_caf_events_new(const struct race_coarray *a);

/* race_caf_telling: what an atomic subroutine that defines its variable tells: the segments that this one succeeds, and
 * not what the image has done since. */
struct race_operation race_caf_telling(void);

/* race_caf_learn: what the writers of a cell's bytes have told counts from the next image control statement on. */
void race_caf_learn(struct race_cell *cell, race_epoch mask);

/* ---- reports (caf_report.c, caf_names.c) ---- */

/* The words of reports (report.h). */
extern const struct race_wording race_caf_wording;

/* race_caf_append adds to a text, which it cuts to the room. */
void race_caf_append(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* race_caf_name: the name of the variable whose value, or whose descriptor's first word, is `base`, and what the
 * program's debugging information tells about its type. Returns 0 if no variable is found. */
struct race_caf_named {
    char name[64];
    int dims; /* of an array whose bounds are constants */
    ptrdiff_t lower[CALLS_DIMS], upper[CALLS_DIMS];
    size_t elem; /* bytes of an element; 0: not known */
};
int race_caf_name(const void *base, size_t at, struct race_caf_named *n, char *component, size_t component_room);

#endif
