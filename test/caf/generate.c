/* SPDX-License-Identifier: BSD-3-Clause */
/* generate: prints a random Fortran program with coarrays, which knows its own results.
 *
 * Each image of the program keeps a model in ordinary arrays: the variables of all images. It executes its own part of
 * each statement on its coarrays and local variables, and the parts of all images, one after the other, on the model.
 * Between two image control statements no image reads or writes what another one writes; so the order does not matter.
 * After each phase each image compares all of its own variables with the model. */
#include "generate.h"

#include <stdlib.h>
#include <string.h>

const char *const feature_names[N_FEATURES] = {
#define X(name) #name,
    FEATURES(X)
#undef X
};

size_t draw(struct draws *d, size_t n) {
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return n > 1 ? (size_t)(z >> 11) % n : 0;
}
int between(struct draws *d, int from, int to) { return from + (int)draw(d, to > from ? (size_t)(to - from + 1) : 1); }
int chance(struct draws *d, size_t n) { return draw(d, n) == 0; }

int with(const struct generator *g, enum feature f) { return (int)(g->features >> f & 1); }

/* What every program has: values, and the images of the current team in the real program and in the model. */
static const char values[] =
    "pure elemental integer function vi(p, a)\n"
    "integer, intent(in) :: p, a\n"
    "vi = mod(p * 37 + a * 11 + p * a, 101) - 50\n"
    "end function\n"
    "pure elemental real function vr(p, a)\n"
    "integer, intent(in) :: p, a\n"
    "vr = 0.5 * vi(p, a)\n"
    "end function\n"
    "pure elemental complex function vc(p, a)\n"
    "integer, intent(in) :: p, a\n"
    "vc = cmplx(vr(p, a), vr(p, a + 3))\n"
    "end function\n"
    "pure elemental logical function vl(p, a)\n"
    "integer, intent(in) :: p, a\n"
    "vl = mod(vi(p, a), 2) == 0\n"
    "end function\n"
    "pure elemental character(7) function vs(p, a)\n"
    "integer, intent(in) :: p, a\n"
    "vs = repeat(achar(98 + vi(p, a) / 3 + 16), 1 + modulo(p + a, 6)) // achar(97 + modulo(a, 26))\n"
    "end function\n"
    "pure elemental function vw(p, a)\n"
    "integer, intent(in) :: p, a\n"
    "character(7, kind=4) :: vw\n"
    "vw = repeat(char(98 + vi(p, a) / 3 + 16, 4), 1 + modulo(p + a, 6)) // char(97 + modulo(a, 26), 4)\n"
    "end function\n";

static const char helpers[] =
    "integer function color(i, teams, apart)\n"
    "integer, intent(in) :: i, teams, apart\n"
    "color = 1 + mod(tr(i) / apart, teams)\n"
    "end function\n"
    "subroutine begin()\n"
    "integer :: i\n"
    "me = this_image()\n"
    "n = num_images()\n"
    "z = command_argument_count()\n"
    "allocate (tr(n), ts(n), tg(n,n), g(n,-3:3), trs(n,2), tss(n,2), tgs(n,n,2))\n"
    "ts = n\n"
    "tr = [(i, i = 1, n)]\n"
    "tg = spread(tr, 2, n)\n"
    "call places()\n"
    "end subroutine\n"
    "subroutine places()\n"
    "integer :: k, p\n"
    "if (this_image() /= tr(me)) call differs('this_image()','is',number(this_image()),number(tr(me)))\n"
    "if (num_images() /= ts(me)) call differs('num_images()','is',number(num_images()),number(ts(me)))\n"
    "do k = -3, 3\n"
    "q(k) = 1 + modulo(tr(me) - 1 + k, ts(me))\n"
    "do p = 1, n\n"
    "g(p,k) = tg(1 + modulo(tr(p) - 1 + k, ts(p)), p)\n"
    "end do\n"
    "end do\n"
    "end subroutine\n"
    "subroutine enter(teams, apart)\n"
    "integer, intent(in) :: teams, apart\n"
    "integer :: p, i, of(n), rank(n), size(n), list(n,n)\n"
    "do p = 1, n\n"
    "of(p) = color(p, teams, apart)\n"
    "end do\n"
    "do p = 1, n\n"
    "size(p) = 0\n"
    "do i = 1, ts(p)\n"
    "if (of(tg(i,p)) /= of(p)) cycle\n"
    "size(p) = size(p) + 1\n"
    "list(size(p),p) = tg(i,p)\n"
    "if (tg(i,p) == p) rank(p) = size(p)\n"
    "end do\n"
    "end do\n"
    "level = level + 1\n"
    "trs(:,level) = tr\n"
    "tss(:,level) = ts\n"
    "tgs(:,:,level) = tg\n"
    "tr = rank\n"
    "ts = size\n"
    "tg = list\n"
    "call places()\n"
    "end subroutine\n"
    "subroutine leave()\n"
    "tr = trs(:,level)\n"
    "ts = tss(:,level)\n"
    "tg = tgs(:,:,level)\n"
    "level = level - 1\n"
    "call places()\n"
    "end subroutine\n"
    "subroutine sync_pair(k)\n"
    "integer, intent(in) :: k\n"
    "if (q(k) == q(0)) return\n"
    "if (q(k) == q(-k)) then\n"
    "sync images (q(k))\n"
    "else\n"
    "sync images ([q(k), q(-k)])\n"
    "end if\n"
    "end subroutine\n"
    "subroutine broadcast_any(x, from)\n"
    "class(*), intent(inout) :: x(:)\n"
    "integer, intent(in) :: from\n"
    "select type (x)\n"
    "type is (integer(4))\n"
    "call co_broadcast(x, from)\n"
    "type is (real(8))\n"
    "call co_broadcast(x, from)\n"
    "type is (character(*))\n"
    "call co_broadcast(x, from)\n"
    "end select\n"
    "end subroutine\n"
    "function number(i)\n"
    "integer, intent(in) :: i\n"
    "character(12) :: number\n"
    "write (number,'(i0)') i\n"
    "end function\n"
    "function truth(l)\n"
    "logical, intent(in) :: l\n"
    "character(5) :: truth\n"
    "truth = merge('true ', 'false', l)\n"
    "end function\n"
    "function at(subscripts)\n"
    "integer, intent(in) :: subscripts(:)\n"
    "character(:), allocatable :: at\n"
    "integer :: d\n"
    "at = ''\n"
    "do d = 1, size(subscripts)\n"
    "at = at // merge('(', ',', d == 1) // trim(number(subscripts(d)))\n"
    "end do\n"
    "if (size(subscripts) > 0) at = at // ')'\n"
    "end function\n"
    "function place(i, lower, extents)\n"
    "integer, intent(in) :: i, lower(:), extents(:)\n"
    "character(:), allocatable :: place\n"
    "integer :: d, left, subscripts(size(lower))\n"
    "left = i - 1\n"
    "do d = 1, size(lower)\n"
    "subscripts(d) = lower(d) + mod(left, extents(d))\n"
    "left = left / extents(d)\n"
    "end do\n"
    "place = at(subscripts)\n"
    "end function\n"
    "subroutine differs(what, how, is, should)\n"
    "character(*), intent(in) :: what, how, is, should\n"
    "print '(a,i0,a,i0,a,i0,10a)', 'seed ', seed, ': image ', me, ', phase ', phase, ': ', what, ' ', how, ' ', &\n"
    "trim(adjustl(is)), ', not ', trim(adjustl(should))\n"
    "error stop 1\n"
    "end subroutine\n"
    "subroutine check_bounds(name, x, y)\n"
    "character(*), intent(in) :: name\n"
    "integer, intent(in) :: x(:), y(:)\n"
    "if (any(x /= y)) call differs(name, 'has bounds', at(x), at(y))\n"
    "end subroutine\n";

/* Compares all variables of an image with the model's. */
static void print_check_of_all(struct generator *g) {
    FILE *to = g->procedures;
    fprintf(to, "subroutine check(now)\ninteger, intent(in) :: now\ninteger :: i1, i2\nphase = now\n");
    for (int i = 0; i < g->n; i++) {
        const struct variable *v = &g->variables[i];
        const char *name = v->name, *colons = whole(v->box.rank), *comma = v->box.rank ? "," : "";
        if (v->allocatable)
            linef(to,
                  "if (allocated(%s) .neqv. allocated(m_%s)) call differs('%s','is allocated:',truth(allocated(%s)),"
                  "truth(allocated(m_%s)))",
                  name, name, name, name, name);
        if (v->allocatable) fprintf(to, "if (allocated(%s)) then\n", name);
        if (v->type) {
            char *subs = words("%s", ""), *at = words("%s", "");
            for (int d = 1; d <= v->box.rank; d++) {
                fprintf(to, "do i%d = lbound(%s,%d), ubound(%s,%d)\n", d, name, d, name, d);
                subs = words("%s%si%d", subs, d > 1 ? "," : "", d);
            }
            if (v->box.rank) at = words("//at([%s])", subs);
            linef(to, "call check_%s('%s'%s,%s%s%s%s,m_%s(%s%sme))", v->type->name, name, at, name, comma[0] ? "(" : "",
                  subs, comma[0] ? ")" : "", name, subs, comma);
            for (int d = 0; d < v->box.rank; d++) fprintf(to, "end do\n");
        } else if (v->box.rank) {
            linef(to, "call check_%s('%s',%s,m_%s(%s,me),lbound(%s),shape(%s))", kinds[v->kind].name, name, name, name,
                  colons, name, name);
        } else {
            linef(to, "call check_%s('%s',[%s],[m_%s(me)],none,none)", kinds[v->kind].name, name, name, name);
        }
        if (v->allocatable) fprintf(to, "end if\n");
    }
    fprintf(to, "end subroutine\n");
}

static void print_program(struct generator *g, FILE *to) {
    char *types, *declarations, *program, *procedures;
    size_t size;
    g->types_text = open_memstream(&types, &size);
    g->declarations = open_memstream(&declarations, &size);
    g->statements = g->program = open_memstream(&program, &size);
    g->procedures = open_memstream(&procedures, &size);
    if (!g->types_text || !g->declarations || !g->program || !g->procedures) abort();
    run_model(g);
    make_types(g);
    fprintf(g->types_text,
            "type pair\ninteger :: n = 0\ninteger(8) :: more = 0\nreal(8) :: r = 0\nend type\ncontains\n");
    print_reductions(g);
    make_variables(g);
    print_phases(g);
    print_checks(g);
    print_check_of_all(g);
    fclose(g->types_text), fclose(g->declarations), fclose(g->program), fclose(g->procedures);
    fprintf(to, "! Made by generate --seed %ld.\nmodule parts\nimplicit none\n%s%send module\n", g->seed, types,
            values);
    fprintf(to,
            "program random_program\nuse iso_fortran_env\nuse parts\nimplicit none\ninteger, parameter :: seed = %ld\n"
            "integer, parameter :: none(0) = [integer ::]\n"
            "integer :: me, n, z, p, j, i1, i2, k1, k2, level = 0, phase = 0, q(-3:3)\nlogical :: got\n"
            "integer, allocatable :: tr(:), ts(:), tg(:,:), g(:,:), trs(:,:), tss(:,:), tgs(:,:,:)\n",
            g->seed);
    fprintf(to,
            "type(team_type) :: team1, team2\ntype(lock_type), save :: lk(4)[*]\n"
            "type(event_type), save :: ev(%d)[*]\n%scall begin()\n%ssync all\n"
            "if (me == 1) print '(a,i0,a)', 'seed ', seed, ': passed'\ncontains\n%s%send program\n",
            g->syncs + 1, declarations, program, helpers, procedures);
}

static void usage(FILE *to) {
    fprintf(to, "usage: generate [--seed N] [--phases N] [--compiler N] [--only LIST] [--without LIST] [--wrong] "
                "[--list]\n"
                "Prints a random Fortran program with coarrays, which compares its results with a model.\n\n"
                "  --seed N        the program (1)\n"
                "  --phases N      between two of them the images compare all their variables (5)\n"
                "  --compiler N    without what gfortran N is known to compile wrong (12)\n"
                "  --only LIST     these features, and none else\n"
                "  --without LIST  all features but these\n"
                "  --wrong         the model has one wrong value at the end: the program fails\n"
                "  --list          print the names of the features, separated by commas in a LIST\n");
}

static int parse_features(const char *list, uint64_t *features) {
    *features = 0;
    while (*list) {
        const size_t len = strcspn(list, ",");
        int found = -1;
        for (int f = 0; f < N_FEATURES; f++)
            if (strlen(feature_names[f]) == len && strncmp(feature_names[f], list, len) == 0) found = f;
        if (found < 0) {
            fprintf(stderr, "generate: there is no feature '%.*s'; --list names them\n", (int)len, list);
            return 0;
        }
        *features |= UINT64_C(1) << found;
        list += len + (list[len] == ',');
    }
    return 1;
}

int main(int argc, char **argv) {
    static struct generator g = {.features = (UINT64_C(1) << N_FEATURES) - 1, .seed = 1, .phases = 5, .compiler = 12};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        uint64_t list;
        char *end = NULL;
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            return 0;
        } else if (strcmp(argv[i], "--list") == 0) {
            for (int f = 0; f < N_FEATURES; f++) puts(feature_names[f]);
            return 0;
        } else if (strcmp(argv[i], "--wrong") == 0) {
            g.wrong = 1;
        } else if (strcmp(argv[i], "--only") == 0 && parse_features(value, &list)) {
            g.features = list, i++;
        } else if (strcmp(argv[i], "--without") == 0 && parse_features(value, &list)) {
            g.features &= ~list, i++;
        } else if (strcmp(argv[i], "--seed") == 0 && *value && (g.seed = strtol(value, &end, 10)) >= 0 && !*end) {
            i++;
        } else if (strcmp(argv[i], "--compiler") == 0 && *value && (g.compiler = (int)strtol(value, &end, 10)) > 0 &&
                   !*end) {
            i++;
        } else if (strcmp(argv[i], "--phases") == 0 && *value && (g.phases = (int)strtol(value, &end, 10)) > 0 &&
                   g.phases <= 100 && !*end) {
            i++;
        } else {
            fprintf(stderr, "generate: '%s%s%s' is not understood; --help lists the options\n", argv[i],
                    *value ? " " : "", value);
            return 2;
        }
    }
    g.draws.state = (uint64_t)g.seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    draw(&g.draws, 2);
    print_program(&g, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fprintf(stderr, "generate: the program could not be written\n");
    return 1;
}
