/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of test/caf/generate share: numbers drawn from a seed, the variables of the program that is made, and
 * statements, which are written once and printed twice.
 *
 * A statement is a template. {5|1:3,2|k} in it is a section of variable 5:
 *
 *   k      in the program                 in the model, for image p
 *   o      x(1:3,2)                       m_x(1:3,2,p)
 *   2      x(1:3,2)[q(2)]                 m_x(1:3,2,g(p,2))        two images on in the current team, in a circle
 *   t3     x(1:3,2)[1+mod(3,num_images()] m_x(1:3,2,tg(1+mod(3,ts(p)),p))      the same image for all images
 *
 * @ is the number of the image: me in the program, p in the model. */
#ifndef TEST_CAF_GENERATE_H
#define TEST_CAF_GENERATE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* clang-format off */
#define FEATURES(X) \
    /* the elements and their subscripts */ \
    X(strides) X(empty) X(vectors) X(rank3) X(rank7) X(corank) X(complex) X(logical) X(characters) X(wide) X(quad) \
    /* the variables */ \
    X(static) X(first_put) X(allocatable) X(reallocate) X(move_alloc) X(explicit_shape) X(assumed_shape) \
    X(allocatable_dummy) X(types) X(fields) X(nested) X(components) X(pointers) X(pointer_targets) X(local_targets) \
    /* how components get memory */ \
    X(source) X(moved) X(assigned) X(results) X(intent_out) X(class_dummies) \
    /* the statements */ \
    X(sendget) X(expressions) X(conversions) X(queries) X(sum) X(minmax) X(broadcast) X(reduce) X(result_image) \
    X(sections_reduced) X(broadcast_types) X(class) X(reduce_types) X(events) X(locks) X(critical) X(sync_images) \
    X(atomics) X(teams) X(nested_teams) X(team_allocate) X(team_components) X(sync_team)
/* clang-format on */

enum feature {
#define X(name) WITH_##name,
    FEATURES(X)
#undef X
        N_FEATURES
};
extern const char *const feature_names[N_FEATURES];

/* The types of elements. */
enum kind { I1, I2, I4, I8, I16, R4, R8, R10, R16, C4, C8, L1, L4, L8, TEXT, WIDE, N_KINDS };
enum class { NUMERIC, LOGICAL, CHARACTERS };
extern const struct kind_words {
    const char *name, *words;
    enum class class;
} kinds[N_KINDS];

/* The first version of gfortran with accessors. */
enum { ACCESSORS = 15 };

enum { MOST_RANK = 7, MOST_PARTS = 8, MOST_VARIABLES = 200, MOST_TYPES = 4, SHIFTS = 3 };

struct box {
    int rank, lower[MOST_RANK], upper[MOST_RANK];
};
struct shape {
    int rank, extent[MOST_RANK];
};

/* A component, as the type has it; `state` is what a variable's components hold now: the same on all images, and in all
 * elements of an array. */
enum how { FIXED, ALLOCATABLE, POINTER }; /* the latter two are bits */
struct part {
    char name[16];
    enum how how;
    enum kind kind;
    int len;
    struct type *type; /* null: of `kind` */
    struct box box;    /* how == FIXED, and what the type's own procedures allocate */
};
struct type {
    char name[16];
    int n;
    struct part parts[MOST_PARTS];
};
struct state {
    int there[MOST_PARTS]; /* allocated or associated */
    struct box box[MOST_PARTS];
    struct state *below[MOST_PARTS];
};

/* Who may access a variable between two image control statements: its own image; one other image, `shift` images before
 * it; or all images, which read. */
enum access { NOBODY, OWN, SHIFTED, READ };
struct variable {
    char name[16];
    enum kind kind;
    int len;
    struct type *type;
    struct state *state;
    struct box box;
    int coarray, corank, colower[2], coextent; /* of corank 2: [colower[0]:colower[0]+coextent-1, colower[1]:*] */
    int allocatable, allocated, target;
    int reserved; /* only for certain statements */
    int initial;  /* has initial values, all the same */
    int pointed;  /* pointers may point to it: accessed as the variables of derived types are */
    enum access access;
    int shift;
};

struct draws {
    uint64_t state;
};
size_t draw(struct draws *d, size_t n); /* 0..n-1 */
int between(struct draws *d, int from, int to);
int chance(struct draws *d, size_t n); /* 1 of n */

struct generator {
    struct draws draws;
    uint64_t features;
    long seed;
    int phases, wrong;
    int compiler; /* the version of gfortran that is to compile it */
    int phase, level, names, syncs;
    int n;
    struct variable variables[MOST_VARIABLES];
    int n_types;
    struct type types[MOST_TYPES];
    FILE *types_text, *declarations, *program, *model, *procedures;
    FILE *statements; /* where statements go: the program, or a procedure of it */
    int modelled;
};

int with(const struct generator *g, enum feature f);
void *make(size_t size);
char *words(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* generate_text.c: printing. */
char *expand(const struct generator *g, const char *template, const char *image);
void line(FILE *to, const char *text);
void linef(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void only_real(struct generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void only_model(struct generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void both(struct generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_model(struct generator *g); /* prints the statements of the model since the last time, in a loop */
char *type_words(enum kind kind, int len, const struct type *type);

/* generate_refs.c: references to variables, and values. */
struct ref {
    char *text;
    enum kind kind;
    int len, variable, remote;
    int dynamic; /* of a type with pointer or allocatable components */
    int behind;  /* in memory of such a component */
    int scalars; /* so many subscripts of the array that has the sections are not sections */
    int component;
    int field;   /* a component of each element of an array */
    int pointed; /* in memory that a pointer may point to */
    struct shape shape;
};
enum {
    FOR_WRITING = 1,
    NO_VECTORS = 2,
    SAME_ON_ALL = 4,
    OWN_ONLY = 8,
    BOTH_BOUNDS = 16,
    MUST_BE_REMOTE = 32,
    NO_FIELDS = 64
};
char *bounds_words(const struct box *box, int model);
struct box random_box(struct generator *g, int rank, int most_elements);
enum kind random_kind(struct generator *g);
int random_len(struct generator *g, enum kind kind);
int shape_size(const struct shape *s);
struct shape box_shape(const struct box *box);
char *whole(int rank);
int has_vector(const char *reference);
char *subscripts(struct generator *g, const struct box *box, struct shape *shape, int given, int flags);
int pick_ref(struct generator *g, struct ref *r, const struct shape *given, int class, int flags);
char *fresh(struct generator *g, enum class class, const struct shape *shape);
char *fresh_kind(struct generator *g, enum kind kind, const struct shape *shape);

/* generate_types.c: derived types and components. */
void make_types(struct generator *g);
int has_memory(const struct type *t); /* pointer or allocatable components */
struct state *new_state(const struct type *t);
void fill_components(struct generator *g, int variable);
void print_checks(struct generator *g);

/* generate_variables.c */
int add_variable(struct generator *g, const struct variable *like);
void make_variables(struct generator *g);
void allocate_coarray(struct generator *g, int variable);
void deallocate_coarray(struct generator *g, int variable);
void all_own(struct generator *g);

/* generate_phases.c, generate_calls.c: what happens between two checks. */
void print_phases(struct generator *g);
void check_now(struct generator *g);
void assignments(struct generator *g, int n);
void collectives(struct generator *g);
void atomics(struct generator *g);
void exclusion(struct generator *g);
void print_reductions(struct generator *g);

#endif
