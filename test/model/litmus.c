/* SPDX-License-Identifier: BSD-3-Clause */
/* litmus runs each model of the named files (litmus.h) with the memory orders of the source, and nothing may go wrong.
 * Then it weakens each acquire, release and sequentially consistent fence, one at a time, and something must go wrong,
 * unless the model says that the order is `stronger` than this model needs. So each order of a model is necessary, and
 * the model notices if the source loses it. */
#include "litmus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, verbose;

static const char *part_name(int part) {
    return part == ACQUIRE ? "acquire" : part == RELEASE ? "release" : part == SEQ_CST ? "seq_cst" : "failing acquire";
}

static void report(const struct model *m, const char *text, const char *what, const struct outcome *o) {
    printf("FAIL %s: %s%s\n%s", m->name, text, what, o ? o->trace : "");
    failures++;
}

/* Takes one part of an access's order away. Returns what then goes wrong, or NULL. */
static const char *weaken(const struct model *m, int access, int part, struct outcome *o) {
    static struct model weaker;
    weaker = *m;
    if (part == FAILING)
        weaker.access[access].fails = 0;
    else
        weaker.access[access].order &= ~part;
    return litmus_explore(&weaker, o);
}

static void check_part(const struct model *m, int i, int part) {
    static struct outcome o;
    const struct access *a = &m->access[i];
    const char *wrong = weaken(m, i, part, &o);
    char text[100];
    snprintf(text, sizeof text, "without the %s of %s ", part_name(part), a->name);
    if (!wrong && !(a->stronger & part)) report(m, text, "nothing goes wrong", NULL);
    if (wrong && a->stronger & part) report(m, text, "it should hold: it is not stronger than needed", &o);
    if (verbose && wrong) printf("     %s: %s%s\n", m->name, text, wrong);
}

/* The parts of an access's order that can be made weaker one at a time. A program's own access has none. Of a seq_cst
 * fence only that it is one: its model is about what acquire and release do not give. */
static int parts_of(const struct access *a) {
    int parts = a->order;
    if (!a->found) return 0;
    if (a->order & SEQ_CST && strcmp(a->call, "thread_fence") == 0) return SEQ_CST;
    if (strncmp(a->call, "compare_exchange", 16) == 0 && a->fails & ACQUIRE) parts |= FAILING;
    return parts & ~(a->order & SEQ_CST);
}

static void check_model(const struct model *m) {
    static struct outcome o;
    const char *wrong = litmus_explore(m, &o);
    const int before = failures;
    const size_t states = o.states;
    int weaker = 0;
    if (wrong) {
        report(m, wrong, "", &o);
        return;
    }
    for (int i = 0; i < m->n_conditions; i++)
        if (!m->condition[i].never && !(o.seen & 1u << i)) report(m, "not seen: ", m->condition[i].text, NULL);
    for (int i = 0; i < m->n_accesses; i++) {
        const struct access *a = &m->access[i];
        const int parts = parts_of(a);
        if (a->stronger & ~parts) report(m, a->name, ": it does not have what is called stronger", NULL);
        for (int part = ACQUIRE; part <= FAILING; part *= 2)
            if (parts & part) {
                check_part(m, i, part);
                weaker++;
            }
    }
    if (failures == before) printf("ok   %s: holds in %zu states; %d orders made weaker\n", m->name, states, weaker);
}

static void usage(void) {
    fputs("usage: litmus SOURCE FILE.litmus...             tries the models\n"
          "       litmus SOURCE --verbose FILE.litmus...   and says what goes wrong with each order made weaker\n"
          "       litmus SOURCE --places FILE.litmus...    prints the places in the source that the models name\n"
          "       litmus SOURCE --orders FILE.c...         prints all that have an order\n",
          stderr);
    exit(2);
}

int main(int argc, char **argv) {
    static struct model m;
    int i = 2, orders = 0;
    if (argc > 2 && strncmp(argv[2], "--", 2) == 0) {
        verbose = strcmp(argv[2], "--verbose") == 0;
        litmus_says_places = strcmp(argv[2], "--places") == 0;
        orders = strcmp(argv[2], "--orders") == 0;
        if (!verbose && !litmus_says_places && !orders) usage();
        i++;
    }
    if (argc <= i) usage();
    for (; i < argc; i++) {
        struct text *text;
        if (orders) {
            litmus_list_orders(argv[1], argv[i]);
            continue;
        }
        text = litmus_open(argv[i]);
        while (litmus_read(text, &m, argv[1])) {
            if (!litmus_says_places) check_model(&m);
            fflush(stdout);
        }
        litmus_close(text);
    }
    return failures != 0;
}
