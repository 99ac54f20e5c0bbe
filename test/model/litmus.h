/* SPDX-License-Identifier: BSD-3-Clause */
/* Litmus models: small programs of a few threads. test/model/litmus tries every execution that C11 allows.
 *
 * spin's models (*.pml) find errors in the order of steps; their memory is sequentially consistent. Those in *.litmus
 * find orders that are too weak: on x86, where nearly every load is an acquire and every store a release, no test shows
 * them. A model does not state the orders: each of its accesses names the place in the source that it stands for, and
 * the order is read there. A changed order changes the model, and a place that is no longer found is an error.
 *
 *     model NAME
 *     vars a b[3]=7               words of memory; 0 at first unless said otherwise; in brackets how many
 *     at NAME FILE FUNCTION TEXT  the access NAME is the call of an atomic function that TEXT (its beginning) finds in
 *                                 FUNCTION of FILE (- for all of the file). If there are several, all have one order
 *     order NAME ORDER [ORDER]    an access of the user's program, or of a test of this checker, with that order (and,
 *                                 of a compare-and-swap, another one if it fails)
 *     stronger NAME PART WHY      this model does not need PART of NAME's order: acquire, release, seq_cst, or failing,
 *                                 which is the acquire of a compare-and-swap that stores nothing
 *     const NAME NUMBER
 *     thread NAME [COPIES]        the lines that follow are what it does; copies know their number, `me`
 *         a = 1                   a plain store,
 *         r = a                   a plain load into a register
 *         NAME: b[me] = r + 1     the same by the access NAME
 *         NAME: r = b[0] until r == 3    a loop that ends when the condition holds
 *         NAME: r = swap a, 1     read-modify-writes: the old value is the result; also add, or, and, xor;
 *         NAME: r = cas a, 0, 1   cas compares with the first value and stores the second. They may have `until` too
 *         NAME: fence
 *         NAME: membarrier        a fence of each thread at some time between beginning and end of this step
 *         r := 2 * r              arithmetic, as in C
 *         if r == 0 goto L        label L        goto L        stop        assert r == 1
 *     never CONDITION             at the end of no execution; THREAD.REGISTER, and the last values of words
 *     seen CONDITION              at the end of some execution: the model shows that this can happen
 *
 * Wrong in every model are a data race (two accesses to a word, one of them plain, one of them a store, of which none
 * happens before the other), an assertion that fails, and a thread that can never go on.
 *
 * The memory is that of C11 as repaired by O. Lahav and others, "Repairing sequential consistency in C/C++11" (2017),
 * with the release sequences of C++20 (only read-modify-writes continue one), in the form of J. Kang and others, "A
 * promising semantics for relaxed-memory concurrency" (2017), without promises: a thread has a view, which tells of
 * each word the oldest store that it may still read; a store may be put before others that the thread has not seen; a
 * release store carries its thread's view, and an acquire load takes it. Left out: stores that come before an earlier
 * load of their thread (load buffering), which is allowed for relaxed accesses; between plain accesses it is a data
 * race, which is found. A seq_cst access other than a fence counts as acquire and release. */
#ifndef LITMUS_H
#define LITMUS_H

#include <stddef.h>
#include <stdint.h>

#define WORDS     16 /* of a model, at most; the same for the others */
#define THREADS   4
#define ACCESSES  24
#define STEPS     64 /* of a thread */
#define CODE      48 /* of an expression */
#define REGISTERS 12
#define STORES    16 /* to one word, that some thread can still read */
#define NAME      32

enum order { ACQUIRE = 1, RELEASE = 2, SEQ_CST = 4, FAILING = 8 }; /* 0: relaxed; FAILING: a part to make weaker */

struct access {
    char name[NAME];
    char call[2 * NAME]; /* the atomic function's name without its prefix; empty if the place has none */
    int plain;           /* the place in the source is no atomic call */
    int found;           /* in the source: its order is weakened on purpose */
    int order, fails;    /* enum order; fails: of a compare-and-swap that stores nothing */
    int stronger;        /* the parts that are not needed */
    int used;
};

/* An expression in reverse Polish notation. */
struct item {
    enum kind { NUMBER, REGISTER, LAST, OPERATOR } kind;
    int value, thread; /* thread: of a register, -1 for the own one */
};
struct expression {
    int n;
    struct item item[CODE];
};

enum what { LOAD, STORE, SWAP, ADD, OR, AND, XOR, CAS, FENCE, MEMBARRIER, LET, IF, GOTO, ASSERT, STOP };
struct step {
    enum what what;
    int line;
    int access; /* -1: plain */
    int word;   /* the first one, where an index follows */
    int n_words;
    int reg;
    int target;
    struct expression index, value, stored, until; /* until.n 0: none */
};

struct thread {
    char name[NAME];
    int me, n, n_registers;
    char reg[REGISTERS][NAME];
    struct step step[STEPS];
};

struct condition {
    struct expression holds;
    int never; /* else it is seen */
    int line;
    char text[160];
};

struct model {
    char file[200], name[120];
    int n_words, n_threads, n_accesses, n_conditions;
    char word[WORDS][NAME];
    int first[WORDS], length[WORDS]; /* by name: word w of the names is first[w]... */
    int n_names;
    int initial[WORDS];
    int raced[WORDS]; /* some access to the word is plain */
    struct access access[ACCESSES];
    struct thread thread[THREADS];
    struct condition condition[8];
};

/* litmus_read reads the next model of an open file. Returns 0 at the file's end. Exits after an error in the text. */
struct text;
struct text *litmus_open(const char *path);
int litmus_read(struct text *t, struct model *m, const char *source);
void litmus_close(struct text *t);

/* litmus_find reads the order of an access in the source. Returns NULL, or what is wrong. */
const char *litmus_find(struct access *a, const char *source, const char *file, const char *function, const char *text);

/* 1: litmus_find prints each place that it finds. litmus_list_orders prints, in the same form, all places in a file of
 * the source whose order is more than relaxed. */
extern int litmus_says_places;
void litmus_list_orders(const char *source, const char *file);

/* litmus_explore tries all executions. Returns NULL, or what goes wrong in one of them. */
struct outcome {
    size_t states;
    unsigned seen;    /* a bit for each condition that held at the end of an execution */
    char trace[4096]; /* the execution that goes wrong */
};
const char *litmus_explore(const struct model *m, struct outcome *o);

/* litmus_evaluate computes an expression from a thread's registers; those of all threads, and the last values of all
 * words, may be NULL where the expression names none. */
int litmus_evaluate(const struct expression *e, const int16_t *own, const int16_t (*all)[REGISTERS],
                    const int16_t *last);

#endif
