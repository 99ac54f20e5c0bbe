/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective subroutines, atomic subroutines, locks and critical sections. */
#include "generate.h"

#include <string.h>

/* The operations of co_reduce, which are associative and commutative. */
static const char *reduction(enum kind kind) {
    switch (kinds[kind].class) {
        case NUMERIC: return kind == C4 || kind == C8 ? "a + b" : kind < R4 ? "ieor(a, b)" : "max(a, b)";
        case LOGICAL: return "a .neqv. b";
        default: return NULL;
    }
}

void print_reductions(struct generator *g) {
    for (int k = 0; k < N_KINDS; k++) {
        if (!reduction((enum kind)k)) continue;
        fprintf(g->types_text,
                "pure function reduce_%s(a, b) result(c)\n%s, intent(in) :: a, b\n%s :: c\nc = %s\n"
                "end function\n",
                kinds[k].name, kinds[k].words, kinds[k].words, reduction((enum kind)k));
    }
    fprintf(g->types_text, "pure function reduce_pair(a, b) result(c)\ntype(pair), intent(in) :: a, b\n"
                           "type(pair) :: c\nc%%n = ieor(a%%n, b%%n)\nc%%more = a%%more + b%%more\nc%%r = max(a%%r, "
                           "b%%r)\nend function\n");
}

/* A value that is small enough for all images' sum. */
static char *summand(struct generator *g, enum kind kind, const struct shape *shape) {
    char *value = fresh_kind(g, kind, shape);
    if (kinds[kind].class != NUMERIC) return value;
    return kind < R4 ? words("mod(%s,4)", value) : value;
}

/* What the model does for all images of p's team, if p is its first image. */
static void model_of_team(struct generator *g, const struct ref *r, const char *combine, const char *from, char *root) {
    char *own = expand(g, r->text, "tg(j,p)");
    char *shape = words("%s", "");
    for (int d = 0; d < r->shape.rank; d++) shape = words("%s%s%d", shape, d ? "," : "", r->shape.extent[d]);
    fprintf(g->model, "if (tr(p) == 1) then\nblock\n");
    linef(g->model, "%s :: s%s%s%s", type_words(r->kind, r->len, NULL), r->shape.rank ? "(" : "", shape,
          r->shape.rank ? ")" : "");
    linef(g->model, "s = %s", expand(g, r->text, words("tg(%s,p)", from)));
    if (combine) {
        fprintf(g->model, "do j = 2, ts(p)\n");
        const char *hole = strstr(combine, "%s");
        linef(g->model, "s = %.*s%s%s", (int)(hole - combine), combine, own, hole + 2);
        fprintf(g->model, "end do\n");
    }
    fprintf(g->model, "do j = 1, ts(p)\n");
    if (root) {
        linef(g->model, "if (j == %s) then", root);
        linef(g->model, "%s = s", own);
        fprintf(g->model, "else\n%s = ", own);
        const char *zero = kinds[r->kind].class == NUMERIC ? "1" : kinds[r->kind].class == LOGICAL ? ".true." : "' '";
        fprintf(g->model, "%s%s\nend if\n", r->kind == WIDE ? "4_" : "", zero);
    } else {
        linef(g->model, "%s = s", own);
    }
    fprintf(g->model, "end do\nend block\nend if\n");
    g->modelled = 1;
}

static void co_call(struct generator *g) {
    static const enum feature features[] = {WITH_sum, WITH_minmax, WITH_minmax, WITH_broadcast, WITH_reduce};
    static const char *const names[] = {"co_sum", "co_min", "co_max", "co_broadcast", "co_reduce"};
    const size_t what = draw(&g->draws, 5);
    struct ref r;
    char *root = NULL, *in_model = NULL, *arguments = words("%s", "");
    if (!with(g, features[what])) return;
    do { /* for x(:)%c gfortran 12 passes the type of x */
        if (!pick_ref(g, &r, NULL, -1, OWN_ONLY | NO_VECTORS | SAME_ON_ALL | FOR_WRITING | NO_FIELDS)) return;
    } while (!with(g, WITH_sections_reduced) && r.shape.rank > 0);
    const enum class class = kinds[r.kind].class;
    const int complex = r.kind == C4 || r.kind == C8;
    if (what == 0 && class != NUMERIC) return;
    if ((what == 1 || what == 2) && (class == LOGICAL || complex || r.kind == WIDE)) return;
    if (what != 3 && r.kind == R10) return; /* gfortran describes it as real(16) */
    if (what == 4 && !reduction(r.kind)) return;
    if (what == 3 || (with(g, WITH_result_image) && chance(&g->draws, 3))) {
        const int one = between(&g->draws, 0, 9);
        root = words("1+mod(%d,num_images())", one);
        in_model = words("1+mod(%d,ts(p))", one);
    }
    both(g, "%s = %s", r.text, summand(g, r.kind, &r.shape));
    if (what == 4) arguments = words(", reduce_%s", kinds[r.kind].name);
    if (root) arguments = words("%s, %s", arguments, root);
    run_model(g);
    only_real(g, "call %s(%s%s)", names[what], r.text, arguments);
    if (what == 3) {
        model_of_team(g, &r, NULL, in_model, NULL);
        return;
    }
    char combine[64];
    if (what == 0)
        snprintf(combine, sizeof combine, "s + %%s");
    else if (what == 4)
        snprintf(combine, sizeof combine, "reduce_%s(s,%%s)", kinds[r.kind].name);
    else
        snprintf(combine, sizeof combine, "%s(s,%%s)", what == 1 ? "min" : "max");
    /* reduce_ functions are not elemental */
    if (what == 4) {
        const char *text = reduction(r.kind);
        snprintf(combine, sizeof combine, "%s",
                 text[0] == 'a' && text[2] == '+' ? "s + %s"
                 : text[0] == 'a'                 ? "s .neqv. %s"
                 : text[0] == 'i'                 ? "ieor(s,%s)"
                                                  : "max(s,%s)");
    }
    model_of_team(g, &r, combine, "1", in_model);
    if (!root) return;
    /* The others' values are undefined. */
    only_real(g, "if (this_image() /= %s) then", root);
    const char *value = class == NUMERIC ? "1" : class == LOGICAL ? ".true." : "' '";
    only_real(g, "%s = %s%s", r.text, r.kind == WIDE ? "4_" : "", value);
    only_real(g, "end if");
}

/* Of an object with components: the model's object of the source image is copied. Local objects, since pointers would
 * point to another image's memory. */
static void broadcast_object(struct generator *g) {
    const struct type *t = &g->types[draw(&g->draws, 2)];
    const int root = between(&g->draws, 0, 9), a = between(&g->draws, 1, 9);
    for (int i = 0; i < t->n; i++)
        if (t->parts[i].how == POINTER) return;
    run_model(g);
    fprintf(g->statements, "block\ntype(%s) :: x, y\nx = make_%s(me,%d)\n", t->name, t->name, a);
    fprintf(g->statements, "call broadcast_%s(x,1+mod(%d,num_images()))\n", t->name, root);
    fprintf(g->statements, "y = make_%s(tg(1+mod(%d,ts(me)),me),%d)\n", t->name, root, a);
    fprintf(g->statements, "call check_%s('co_broadcast',x,y)\nend block\n", t->name);
}

static void broadcast_class(struct generator *g) {
    const int root = between(&g->draws, 0, 9), a = between(&g->draws, 1, 50);
    static const char *const types[] = {"integer(4)", "real(8)", "character(4)"}, *const values[] = {"vi", "vr", "vs"},
                             *const names[] = {"i4", "r8", "text"};
    const size_t what = draw(&g->draws, 3);
    run_model(g);
    fprintf(g->statements, "block\n%s :: x(7), y(7)\nx = %s(me,[(j,j=%d,%d)])\ny = x\n", types[what], values[what], a,
            a + 6);
    const char *section = chance(&g->draws, 2) ? "2:7:2" : ":";
    linef(g->statements, "y(%s) = %s(tg(1+mod(%d,ts(me)),me),[(j,j=%d,%d%s)])", section, values[what], root,
          section[0] == ':' ? a : a + 1, section[0] == ':' ? a + 6 : a + 5, section[0] == ':' ? "" : ",2");
    fprintf(g->statements, "call broadcast_any(x(%s),1+mod(%d,num_images()))\n", section, root);
    fprintf(g->statements, "call check_%s('co_broadcast of class(*)',x,y,[1],[7])\nend block\n", names[what]);
}

static void reduce_object(struct generator *g) {
    const int a = between(&g->draws, 1, 50);
    run_model(g);
    fprintf(g->statements,
            "block\ntype(pair) :: x(3), y(3)\nx%%n = vi(me,[%d,%d,%d])\nx%%more = me\nx%%r = vr(me,[3,1,2])\n", a,
            a + 1, a + 2);
    fprintf(g->statements, "call co_reduce(x,reduce_pair)\ny%%n = 0\ny%%r = -99\ndo j = 1, ts(me)\n");
    fprintf(g->statements, "y%%n = ieor(y%%n,vi(tg(j,me),[%d,%d,%d]))\n", a, a + 1, a + 2);
    fprintf(g->statements, "y%%r = max(y%%r,real(vr(tg(j,me),[3,1,2]),8))\nend do\n");
    fprintf(g->statements, "call check_i4('co_reduce',x(:)%%n,y(:)%%n,[1],[3])\n");
    fprintf(g->statements, "if (any(x%%more /= sum(tg(1:ts(me),me)))) call differs('co_reduce','is','wrong','sum')\n");
    fprintf(g->statements, "call check_r8('co_reduce',x(:)%%r,y(:)%%r,[1],[3])\nend block\n");
}

void collectives(struct generator *g) {
    for (int i = between(&g->draws, 3, 6); i > 0; i--) {
        const size_t what = draw(&g->draws, 7);
        if (what == 0 && with(g, WITH_broadcast_types) && g->n_types)
            broadcast_object(g);
        else if (what == 1 && with(g, WITH_class))
            broadcast_class(g);
        else if (what == 2 && with(g, WITH_reduce_types))
            reduce_object(g);
        else
            co_call(g);
    }
}

/* Words that one other image alone accesses: what the functions return is known. Variable 1 has them; variable 0
 * takes the results. */
static void atomic_words(struct generator *g, int shift) {
    static const char *const names[] = {"add", "and", "or", "xor"};
    static const char *const results[] = {"%s + %s", "iand(%s,%s)", "ior(%s,%s)", "ieor(%s,%s)"};
    for (int i = between(&g->draws, 3, 6); i > 0; i--) {
        char *word = words("{1|%d|%d}", between(&g->draws, 1, 8), shift);
        char *to = words("{0|%d|o}", between(&g->draws, 13, 30)), *value = fresh_kind(g, I4, NULL);
        const size_t what = draw(&g->draws, 7), op = draw(&g->draws, 4);
        if (what == 0) {
            only_real(g, "call atomic_define(%s,%s)", word, value);
            only_model(g, "%s = %s", word, value);
        } else if (what == 1) {
            only_real(g, "call atomic_ref(j,%s)", word);
            only_real(g, "%s = j", to);
            only_model(g, "%s = %s", to, word);
        } else if (what == 2) {
            char *compare = words("vi(@,%d)", between(&g->draws, 1, 3));
            if (chance(&g->draws, 2)) {
                only_real(g, "call atomic_ref(k1,%s)", word);
                compare = words("%s", word);
            } else {
                only_real(g, "k1 = %s", compare);
            }
            only_real(g, "k2 = %s", value);
            only_real(g, "call atomic_cas(%s,j,k1,k2)", word);
            only_real(g, "%s = j", to);
            only_model(g, "%s = %s", to, word);
            only_model(g, "if (%s == %s) %s = %s", word, compare, word, value);
        } else {
            const int fetch = what < 5;
            only_real(g, "k1 = %s", value);
            only_real(g, "call atomic_%s%s(%s,k1%s)", fetch ? "fetch_" : "", names[op], word, fetch ? ",j" : "");
            if (fetch) only_real(g, "%s = j", to);
            if (fetch) only_model(g, "%s = %s", to, word);
            const char *first = strstr(results[op], "%s"), *second = strstr(first + 2, "%s");
            only_model(g, "%s = %.*s%s%.*s%s%s", word, (int)(first - results[op]), results[op], word,
                       (int)(second - first - 2), first + 2, value, second + 2);
        }
    }
}

/* Words of one image that all images update at once, each by one operation. */
static void contended_words(struct generator *g) {
    static const char *const names[] = {"add", "and", "or", "xor"};
    static const char *const results[] = {"%s + k1", "iand(%s,k1)", "ior(%s,k1)", "ieor(%s,k1)"};
    const int image = between(&g->draws, 0, 9);
    for (int i = 1; i <= 8; i++) {
        const size_t op = draw(&g->draws, 4);
        char *word = words("{2|%d|t%d}", i, image);
        if (chance(&g->draws, 2)) continue;
        both(g, "k1 = mod(vi(@,%d),8)", i);
        const int fetch = chance(&g->draws, 2);
        only_real(g, "call atomic_%s%s(%s,k1%s)", fetch ? "fetch_" : "", names[op], word, fetch ? ",j" : "");
        const char *hole = strstr(results[op], "%s");
        only_model(g, "%s = %.*s%s%s", word, (int)(hole - results[op]), results[op], word, hole + 2);
    }
}

void atomics(struct generator *g) {
    if (!with(g, WITH_atomics)) return;
    const int shift = between(&g->draws, -SHIFTS, SHIFTS);
    fprintf(g->statements, "sync all\n");
    atomic_words(g, shift);
    run_model(g);
    contended_words(g);
    run_model(g);
    fprintf(g->statements, "sync all\n");
}

/* exclusion: updates of shared elements in any order, with locks or in a critical section. Exclusive or of numbers in
 * 0..63 is in 0..63, and any order gives the same. */
void exclusion(struct generator *g) {
    const int image = between(&g->draws, 0, 9), where = between(&g->draws, 0, 9), word = between(&g->draws, 1, 4);
    const int critical = with(g, WITH_critical) && (!with(g, WITH_locks) || g->level || chance(&g->draws, 3));
    if (!critical && !with(g, WITH_locks)) return;
    if (critical && g->level) return; /* images of other teams meet in it, too */
    fprintf(g->statements, "sync all\n");
    if (critical) {
        fprintf(g->statements, "critical\n");
    } else if (chance(&g->draws, 3)) {
        fprintf(g->statements, "got = .false.\ndo while (.not. got)\n");
        fprintf(g->statements, "lock (lk(%d)[1+mod(%d,num_images())], acquired_lock=got)\nend do\n", word, where);
    } else {
        fprintf(g->statements, "lock (lk(%d)[1+mod(%d,num_images())]%s)\n", word, where,
                chance(&g->draws, 2) ? ", stat=j" : "");
    }
    for (int i = between(&g->draws, 1, 3); i > 0; i--) {
        const struct variable *v = &g->variables[3];
        struct shape shape = {0};
        /* gfortran 12 passes wrong offsets for vector subscripts within an expression. */
        char *subs = subscripts(g, &v->box, &shape, 0, SAME_ON_ALL | NO_VECTORS);
        both(g, "{3|%s|t%d} = ieor({3|%s|t%d},abs(%s))", subs, image, subs, image, fresh_kind(g, I4, &shape));
    }
    if (critical)
        fprintf(g->statements, "end critical\n");
    else
        fprintf(g->statements, "unlock (lk(%d)[1+mod(%d,num_images())])\n", word, where);
    run_model(g);
    fprintf(g->statements, "sync all\n");
}
