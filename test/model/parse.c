/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of litmus models (litmus.h), line by line; expressions become reverse Polish notation, by precedence
 * climbing. */
#include "litmus.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABELS    16
#define CONSTANTS 16

struct text {
    FILE *f;
    char path[200];
    int line, again; /* again: the line in `buffer` is still to be read */
    char buffer[400];
};

static struct text *reading;

static void wrong(const char *format, ...) {
    va_list list;
    fprintf(stderr, "%s:%d: ", reading->path, reading->line);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(2);
}

/* ---- words of the text ---- */

static void skip_blanks(const char **at) { *at += strspn(*at, " \t\n"); }

static int take(const char **at, const char *mark) {
    size_t len = strlen(mark);
    skip_blanks(at);
    if (strncmp(*at, mark, len) != 0) return 0;
    if (isalnum((unsigned char)mark[len - 1]) && (isalnum((unsigned char)(*at)[len]) || (*at)[len] == '_')) return 0;
    *at += len;
    return 1;
}

static int take_name(const char **at, char name[NAME]) {
    size_t n = 0;
    skip_blanks(at);
    if (!isalpha((unsigned char)**at)) return 0;
    while (isalnum((unsigned char)**at) || **at == '_' || **at == '-') {
        if (**at == '-' && !isalnum((unsigned char)(*at)[1])) break;
        if (n == NAME - 1) wrong("a name is longer than %d", NAME - 1);
        name[n++] = *(*at)++;
    }
    name[n] = 0;
    return 1;
}

static void need(const char **at, const char *mark) {
    if (!take(at, mark)) wrong("'%s' is missing before '%s'", mark, *at);
}

static void need_name(const char **at, char name[NAME]) {
    if (!take_name(at, name)) wrong("a name is missing before '%s'", *at);
}

static int need_number(const char **at) {
    char *end;
    long value = strtol(*at, &end, 0);
    if (end == *at) wrong("a number is missing before '%s'", *at);
    *at = end;
    return (int)value;
}

static int word_named(const struct model *m, const char *name) {
    for (int i = 0; i < m->n_names; i++)
        if (strcmp(m->word[i], name) == 0) return i;
    return -1;
}

static int register_named(const struct thread *t, const char *name) {
    for (int i = 0; i < t->n_registers; i++)
        if (strcmp(t->reg[i], name) == 0) return i;
    return -1;
}

/* ---- expressions ---- */

static struct {
    char name[NAME];
    int value;
} constant[CONSTANTS];
static int n_constants;

static const struct {
    const char *text;
    int binds, code;
} operators[] = {{"||", 1, 'o'}, {"&&", 2, 'a'}, {"==", 6, 'e'}, {"!=", 6, 'n'}, {"<=", 7, 'l'},
                 {">=", 7, 'g'}, {"|", 3, '|'},  {"^", 4, '^'},  {"&", 5, '&'},  {"<", 7, '<'},
                 {">", 7, '>'},  {"+", 8, '+'},  {"-", 8, '-'},  {"*", 9, '*'},  {"%", 9, '%'}};

static void put_item(struct expression *e, enum kind kind, int value, int thread) {
    if (e->n == CODE) wrong("an expression is too long");
    e->item[e->n].kind = kind;
    e->item[e->n].value = value;
    e->item[e->n++].thread = thread;
}

static void parse_expression(const char **at, const struct model *m, const struct thread *t, struct expression *e,
                             int binds);

static void parse_name(const char *name, const char **at, const struct model *m, const struct thread *t,
                       struct expression *e) {
    for (int i = 0; i < n_constants; i++)
        if (strcmp(constant[i].name, name) == 0) {
            put_item(e, NUMBER, constant[i].value, -1);
            return;
        }
    if (t && register_named(t, name) >= 0) {
        put_item(e, REGISTER, register_named(t, name), -1);
        return;
    }
    for (int i = 0; !t && i < m->n_threads; i++)
        if (strcmp(m->thread[i].name, name) == 0) {
            char reg[NAME];
            need(at, ".");
            need_name(at, reg);
            if (register_named(&m->thread[i], reg) < 0) wrong("thread %s has no register %s", name, reg);
            put_item(e, REGISTER, register_named(&m->thread[i], reg), i);
            return;
        }
    if (t || word_named(m, name) < 0) wrong("nothing is called %s here", name);
    put_item(e, LAST, m->first[word_named(m, name)], -1);
}

static void parse_operand(const char **at, const struct model *m, const struct thread *t, struct expression *e) {
    char name[NAME];
    if (take(at, "!")) {
        parse_operand(at, m, t, e);
        put_item(e, OPERATOR, '!', -1);
    } else if (take(at, "(")) {
        parse_expression(at, m, t, e, 1);
        need(at, ")");
    } else if (take_name(at, name)) {
        parse_name(name, at, m, t, e);
    } else {
        put_item(e, NUMBER, need_number(at), -1);
    }
}

static void parse_expression(const char **at, const struct model *m, const struct thread *t, struct expression *e,
                             int binds) {
    parse_operand(at, m, t, e);
    for (;;) {
        size_t i, n = sizeof operators / sizeof *operators;
        const char *before = *at;
        for (i = 0; i < n && !take(at, operators[i].text); i++) continue;
        if (i == n) return;
        if (operators[i].binds < binds) {
            *at = before;
            return;
        }
        parse_expression(at, m, t, e, operators[i].binds + 1);
        put_item(e, OPERATOR, operators[i].code, -1);
    }
}

static int apply(int operator, int a, int b) {
    switch (operator) {
        case 'o': return a || b;
        case 'a': return a && b;
        case 'e': return a == b;
        case 'n': return a != b;
        case 'l': return a <= b;
        case 'g': return a >= b;
        case '<': return a < b;
        case '>': return a > b;
        case '|': return a | b;
        case '^': return a ^ b;
        case '&': return a & b;
        case '+': return a + b;
        case '-': return a - b;
        case '*': return a * b;
        default: return b ? a % b : 0;
    }
}

int litmus_evaluate(const struct expression *e, const int16_t *own, const int16_t (*all)[REGISTERS],
                    const int16_t *last) {
    int stack[CODE], n = 0;
    for (int i = 0; i < e->n; i++) {
        const struct item *x = &e->item[i];
        switch (x->kind) {
            case NUMBER: stack[n++] = x->value; break;
            case REGISTER: stack[n++] = x->thread < 0 ? own[x->value] : all[x->thread][x->value]; break;
            case LAST: stack[n++] = last[x->value]; break;
            case OPERATOR:
                if (x->value == '!') {
                    stack[n - 1] = !stack[n - 1];
                } else {
                    n--;
                    stack[n - 1] = apply(x->value, stack[n - 1], stack[n]);
                }
        }
    }
    return stack[0];
}

/* ---- what a thread does ---- */

static char label[LABELS][NAME], wanted[STEPS][NAME];
static int label_at[LABELS], n_labels;

static int access_named(struct model *m, const char *name) {
    for (int i = 0; i < m->n_accesses; i++)
        if (strcmp(m->access[i].name, name) == 0) {
            m->access[i].used = 1;
            return i;
        }
    wrong("no access is called %s: `at` or `order` says what it is", name);
    return -1;
}

static void parse_word(const char **at, const struct model *m, const struct thread *t, struct step *s) {
    char name[NAME];
    int w;
    need_name(at, name);
    if ((w = word_named(m, name)) < 0) wrong("no word is called %s", name);
    s->word = m->first[w];
    s->n_words = m->length[w];
    if (take(at, "[")) {
        parse_expression(at, m, t, &s->index, 1);
        need(at, "]");
    }
}

static int add_register(struct thread *t, const char *name) {
    int i = register_named(t, name);
    if (i >= 0) return i;
    if (t->n_registers == REGISTERS) wrong("a thread has more than %d registers", REGISTERS);
    strcpy(t->reg[t->n_registers], name);
    return t->n_registers++;
}

/* REG = ... or WORD = ... or REG := ... */
static void parse_assignment(const char **at, const struct model *m, struct thread *t, struct step *s) {
    static const struct {
        const char *text;
        enum what what;
    } updates[] = {{"swap", SWAP}, {"add", ADD}, {"or", OR}, {"and", AND}, {"xor", XOR}, {"cas", CAS}};
    const char *begin = *at;
    char name[NAME];
    need_name(at, name);
    if (word_named(m, name) >= 0) {
        *at = begin;
        parse_word(at, m, t, s);
        need(at, "=");
        s->what = STORE;
        parse_expression(at, m, t, &s->value, 1);
        return;
    }
    if (take(at, ":=")) {
        s->what = LET;
        parse_expression(at, m, t, &s->value, 1);
        s->reg = add_register(t, name);
        return;
    }
    need(at, "=");
    s->reg = add_register(t, name);
    s->what = LOAD;
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++)
        if (take(at, updates[i].text)) s->what = updates[i].what;
    parse_word(at, m, t, s);
    if (s->what != LOAD) {
        need(at, ",");
        parse_expression(at, m, t, &s->value, 1);
    }
    if (s->what == CAS) {
        need(at, ",");
        parse_expression(at, m, t, &s->stored, 1);
    }
    if (take(at, "until")) parse_expression(at, m, t, &s->until, 1);
}

/* The atomic function by which the source does each kind of step. */
static int call_fits(enum what what, const struct access *a) {
    static const char *const call[] = {[LOAD] = "load",     [STORE] = "store",          [SWAP] = "exchange",
                                       [ADD] = "fetch_add", [OR] = "fetch_or",          [AND] = "fetch_and",
                                       [XOR] = "fetch_xor", [CAS] = "compare_exchange", [FENCE] = "thread_fence"};
    if (!a->found || what == MEMBARRIER) return 1;
    if (a->plain) return what == LOAD || what == STORE;
    if (what == OR && strncmp(a->call, "or_fetch", 8) == 0) return 1;
    if (what == ADD && strncmp(a->call, "fetch_sub", 9) == 0) return 1;
    if (what == AND && strncmp(a->call, "and_fetch", 9) == 0) return 1;
    return strncmp(a->call, call[what], strlen(call[what])) == 0;
}

static void parse_step(const char *at, struct model *m, struct thread *t) {
    struct step *s = &t->step[t->n];
    const char *begin = at;
    char name[NAME];
    if (take(&at, "label")) {
        if (n_labels == LABELS) wrong("a thread has more than %d labels", LABELS);
        need_name(&at, label[n_labels]);
        label_at[n_labels++] = t->n;
        return;
    }
    if (t->n == STEPS - 1) wrong("a thread has more than %d steps", STEPS - 1);
    memset(s, 0, sizeof *s);
    s->line = reading->line;
    s->access = -1;
    wanted[t->n][0] = 0;
    t->n++;
    if (take_name(&at, name) && *at == ':' && at[1] != '=') {
        at++;
        s->access = access_named(m, name);
    } else {
        at = begin;
    }
    if (take(&at, "fence")) {
        s->what = FENCE;
    } else if (take(&at, "membarrier")) {
        s->what = MEMBARRIER;
    } else if (take(&at, "stop")) {
        s->what = STOP;
    } else if (take(&at, "assert")) {
        s->what = ASSERT;
        parse_expression(&at, m, t, &s->value, 1);
    } else if (take(&at, "goto")) {
        s->what = GOTO;
        need_name(&at, wanted[t->n - 1]);
    } else if (take(&at, "if")) {
        s->what = IF;
        parse_expression(&at, m, t, &s->value, 1);
        need(&at, "goto");
        need_name(&at, wanted[t->n - 1]);
    } else {
        parse_assignment(&at, m, t, s);
    }
    skip_blanks(&at);
    if (*at && *at != '#') wrong("'%s' is not understood", at);
    if (s->access >= 0 && !call_fits(s->what, &m->access[s->access]))
        wrong("in the source %s is %s", name, m->access[s->access].plain ? "no atomic" : m->access[s->access].call);
    if (s->access < 0 && s->what != LOAD && s->what != STORE && s->what < LET) wrong("this step needs an access");
    if (s->what <= CAS && (s->access < 0 || m->access[s->access].plain))
        for (int w = s->word; w < s->word + (s->index.n ? s->n_words : 1); w++) m->raced[w] = 1;
}

static void end_thread(struct thread *t) {
    t->step[t->n].what = STOP;
    for (int i = 0; i < t->n; i++) {
        if (t->step[i].what != IF && t->step[i].what != GOTO) continue;
        t->step[i].target = -1;
        for (int l = 0; l < n_labels; l++)
            if (strcmp(label[l], wanted[i]) == 0) t->step[i].target = label_at[l];
        if (t->step[i].target < 0) wrong("thread %s has no label %s", t->name, wanted[i]);
    }
    n_labels = 0;
}

/* ---- a model ---- */

static int order_named(const char **at) {
    if (take(at, "relaxed")) return 0;
    if (take(at, "acquire")) return ACQUIRE;
    if (take(at, "release")) return RELEASE;
    if (take(at, "acq_rel")) return ACQUIRE | RELEASE;
    if (take(at, "seq_cst")) return ACQUIRE | RELEASE | SEQ_CST;
    return -1;
}

static void parse_words(const char *at, struct model *m) {
    char name[NAME];
    while (take_name(&at, name)) {
        int w = m->n_names++, n = 1, value = 0;
        if (take(&at, "[")) {
            n = need_number(&at);
            need(&at, "]");
        }
        if (take(&at, "=")) value = need_number(&at);
        if (m->n_words + n > WORDS) wrong("more than %d words", WORDS);
        strcpy(m->word[w], name);
        m->first[w] = m->n_words;
        m->length[w] = n;
        for (int i = 0; i < n; i++) m->initial[m->n_words++] = value;
    }
}

static struct access *add_access(const char **at, struct model *m) {
    struct access *a = &m->access[m->n_accesses];
    if (m->n_accesses++ == ACCESSES) wrong("more than %d accesses", ACCESSES);
    memset(a, 0, sizeof *a);
    need_name(at, a->name);
    return a;
}

static void parse_place(const char *at, struct model *m, const char *source) {
    struct access *a = add_access(&at, m);
    char file[100], function[64];
    const char *error;
    int n = 0;
    if (sscanf(at, "%99s %63s %n", file, function, &n) != 2 || !at[n]) wrong("at NAME FILE FUNCTION TEXT");
    error = litmus_find(a, source, file, function, at + n);
    if (error) wrong("%s: in %s, %s: %s: '%s'", m->name, file, function, error, at + n);
}

static void parse_literal(const char *at, struct model *m) {
    struct access *a = add_access(&at, m);
    if ((a->order = order_named(&at)) < 0) wrong("no order: '%s'", at);
    a->fails = order_named(&at);
    if (a->fails < 0) a->fails = a->order & ACQUIRE;
}

static void parse_stronger(const char *at, struct model *m) {
    char name[NAME];
    int part;
    need_name(&at, name);
    part = take(&at, "acquire")   ? ACQUIRE
           : take(&at, "release") ? RELEASE
           : take(&at, "seq_cst") ? SEQ_CST
           : take(&at, "failing") ? FAILING
                                  : 0;
    skip_blanks(&at);
    if (!part || !*at) wrong("stronger NAME acquire|release|seq_cst|failing WHY");
    m->access[access_named(m, name)].stronger |= part;
}

/* Adds one thread; its copies are made when all of its lines are read. */
static int parse_thread(const char *at, struct model *m) {
    struct thread *t;
    int copies = 1;
    if (m->n_threads == THREADS) wrong("more than %d threads", THREADS);
    t = &m->thread[m->n_threads++];
    memset(t, 0, sizeof *t);
    need_name(&at, t->name);
    strcpy(t->reg[t->n_registers++], "me");
    skip_blanks(&at);
    if (isdigit((unsigned char)*at)) copies = need_number(&at);
    return copies;
}

static void copy_thread(struct model *m, int copies) {
    const int at = m->n_threads - 1;
    char name[NAME];
    if (at < 0) return;
    end_thread(&m->thread[at]);
    if (copies == 1) return;
    if (at + copies > THREADS) wrong("more than %d threads", THREADS);
    strcpy(name, m->thread[at].name);
    for (int i = 0; i < copies; i++) {
        struct thread *t = &m->thread[at + i];
        if (i) *t = m->thread[at];
        t->me = i;
        snprintf(t->name, NAME, "%.*s%d", NAME - 4, name, i);
    }
    m->n_threads = at + copies;
}

static void parse_condition(const char *at, struct model *m, int never) {
    struct condition *c = &m->condition[m->n_conditions++];
    if (m->n_conditions > 8) wrong("more than 8 conditions");
    memset(c, 0, sizeof *c);
    snprintf(c->text, sizeof c->text, "%s", at + strspn(at, " "));
    c->never = never;
    c->line = reading->line;
    parse_expression(&at, m, NULL, &c->holds, 1);
    skip_blanks(&at);
    if (*at) wrong("'%s' is not understood", at);
}

struct text *litmus_open(const char *path) {
    struct text *t = calloc(1, sizeof *t);
    if (!t || !(t->f = fopen(path, "r"))) {
        perror(path);
        exit(2);
    }
    snprintf(t->path, sizeof t->path, "%s", path);
    return t;
}

void litmus_close(struct text *t) {
    fclose(t->f);
    free(t);
}

static int next_line(struct text *t) {
    if (t->again) {
        t->again = 0;
        return 1;
    }
    if (!fgets(t->buffer, sizeof t->buffer, t->f)) return 0;
    t->line++;
    t->buffer[strcspn(t->buffer, "\n")] = 0;
    return 1;
}

int litmus_read(struct text *text, struct model *m, const char *source) {
    int copies = 0; /* copies: of the thread whose lines are being read; 0 if none are */
    reading = text;
    memset(m, 0, sizeof *m);
    snprintf(m->file, sizeof m->file, "%s", text->path);
    n_constants = 0;
    while (next_line(text)) {
        const char *at = text->buffer;
        skip_blanks(&at);
        if (!*at || *at == '#') continue;
        if (take(&at, "model")) {
            if (*m->name) {
                text->again = 1;
                break;
            }
            snprintf(m->name, sizeof m->name, "%s", at + strspn(at, " "));
            continue;
        }
        if (!*m->name) wrong("a model begins with its name");
        if (text->buffer[0] == ' ') {
            if (!copies) wrong("a step of no thread");
            parse_step(at, m, &m->thread[m->n_threads - 1]);
            continue;
        }
        if (copies) copy_thread(m, copies);
        copies = 0;
        if (take(&at, "vars")) {
            parse_words(at, m);
        } else if (take(&at, "at")) {
            parse_place(at, m, source);
        } else if (take(&at, "order")) {
            parse_literal(at, m);
        } else if (take(&at, "stronger")) {
            parse_stronger(at, m);
        } else if (take(&at, "const")) {
            if (n_constants == CONSTANTS) wrong("more than %d constants", CONSTANTS);
            need_name(&at, constant[n_constants].name);
            constant[n_constants++].value = need_number(&at);
        } else if (take(&at, "thread")) {
            copies = parse_thread(at, m);
        } else if (take(&at, "never")) {
            parse_condition(at, m, 1);
        } else if (take(&at, "seen")) {
            parse_condition(at, m, 0);
        } else {
            wrong("'%s' is not understood", at);
        }
    }
    if (copies) copy_thread(m, copies);
    for (int i = 0; i < m->n_accesses; i++)
        if (!m->access[i].used) wrong("%s: no step uses the access %s", m->name, m->access[i].name);
    return *m->name != 0;
}
