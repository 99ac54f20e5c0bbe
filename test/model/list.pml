/* SPDX-License-Identifier: BSD-3-Clause */
/* list.pml: a sorted linked list that all PEs change at once, with removal by marks and memory given back by epochs, as
 * in examples/linked_list.c, for spin. test/check-models.sh runs it.
 *
 * After T. Harris, "A pragmatic implementation of non-blocking linked-lists", DISC 2001, figures 3 to 5: a PE removes
 * an element by marking the next word of its node, and the next PE that finds the mark unlinks the node. One change:
 * there a garbage collector frees memory; here the PE whose compare-and-swap unlinks nodes retires them, and a retired
 * node is freed once every PE that was inside an operation after the unlinking has left it. A PE that retires asks the
 * others one by one whether they are inside; it no longer waits for one that has left (in a program: whose counter has
 * changed).
 *
 * Shown, for every interleaving:
 *   a compare-and-swap that inserts finds the key absent, one that marks finds it present: no element is lost
 *     or doubled
 *   in the end the list holds, in order, exactly the keys that were inserted and not removed
 *   no PE reads or swaps a word of a freed node, and no node is freed that can be reached from the head
 *   a node is retired exactly once, and in the end each is in the list or free again
 * Bounds: 2 PEs with OPERATIONS 2 each on KEYS 3 keys; then 2, 3, 2; then 3, 1, 1. An operation is any of insert or
 * remove with any key. The list begins with all keys. NODES 4: memory is soon used again, so that a pointer kept too
 * long points to a new node. Memory is sequentially consistent.
 *
 * What breaks it, each by one -D:
 *   BROKEN_MARK      remove unlinks without marking
 *   BROKEN_EPOCH     a retired node is freed at once
 *   BROKEN_ENTER     a PE reads the first pointer before it says that it is inside
 *   BROKEN_SNAPSHOT  a PE asks who is inside before it unlinks the node
 *   BROKEN_RETIRE    the PE that marked a node retires it, even if another PE has unlinked it
 *   BROKEN_CHAIN     of several nodes that are unlinked together, only the first is retired */
#ifndef PES
#define PES 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 2
#endif
#ifndef KEYS
#define KEYS 3
#endif
#ifndef NODES
#define NODES 4
#endif

#define HEAD 0
#define TAIL (NODES + 1)
#define NONE 255
/* A next word: twice the number of the following node, plus one if the node it stands in is removed. */
#define WORD(n) ((n) * 2)
#define NODE(word) ((word) / 2)
#define MARKED(word) ((word) % 2 == 1)
#define MARK(word) ((word) + 1)
#define BIT(pe) (1 << (pe))

mtype = { INSERT, REMOVE, CLEAN };

/* Shared memory. */
byte next[NODES + 1];
byte key[NODES + 1];
bool inside[PES];
byte waits[NODES + 1]; /* a bit for each PE that a retired node waits for */
#ifdef BROKEN_SNAPSHOT
byte asked[PES];
#endif

/* What only the assertions read. */
bool live[NODES + 1]; /* not free */
bool retired[NODES + 1];
bool present[KEYS + 1];
byte done;

/* All inlines but search and retire are parts of one step. */

inline release(n) {
    at = HEAD;
    do
    :: at != TAIL -> assert(at != n); at = NODE(next[at])
    :: else -> break
    od;
    at = 0;
    assert(live[n]);
    live[n] = false; retired[n] = false; next[n] = NONE; key[n] = 0
}

inline read_node(word, its_key, n) { assert(live[n]); word = next[n]; its_key = key[n] }

inline swap(n, old, new) {
    assert(live[n]);
    swapped = (next[n] == old);
    if
    :: swapped -> next[n] = new
    :: else
    fi
}

inline enter() { inside[me] = true }

inline leave() {
    inside[me] = false;
    i = 1;
    do
    :: i <= NODES ->
        waits[i] = waits[i] & ~BIT(me);
        if
        :: retired[i] && waits[i] == 0 -> release(i)
        :: else
        fi;
        i++
    :: else -> break
    od;
#ifdef BROKEN_SNAPSHOT
    i = 0;
    do
    :: i < PES -> asked[i] = asked[i] & ~BIT(me); i++
    :: else -> break
    od;
#endif
    i = 0
}

#ifdef BROKEN_SNAPSHOT
inline ask() {
    d_step {
        asked[me] = 0;
        do
        :: i < PES -> asked[me] = asked[me] | (inside[i] << i); i++
        :: else -> break
        od;
        i = 0
    }
}
#else
inline ask() { skip }
#endif

/* Retires the nodes from `first` to before `end`, which this PE has unlinked. They are marked, so their words stay. */
inline retire(first, end) {
    r = first;
    do
    :: r != end ->
        d_step {
            assert(live[r] && !retired[r]);
            retired[r] = true;
            rest = NODE(next[r]);
#ifdef BROKEN_SNAPSHOT
            waits[r] = asked[me]
#else
            waits[r] = BIT(me)
#endif
        };
#ifdef BROKEN_EPOCH
        d_step { release(r) };
#else
#ifndef BROKEN_SNAPSHOT
        do
        :: i < PES -> d_step { waits[r] = waits[r] | (inside[i] << i); i++ }
        :: else -> i = 0; break
        od;
#endif
#endif
#ifdef BROKEN_CHAIN
        r = end
#else
        r = rest
#endif
    :: else -> d_step { r = 0; rest = 0 }; break
    od
}

/* Two nodes that stood beside each other in one moment, unmarked: left with the last key before k, and right. Unlinks
 * the marked ones that it finds between them. */
inline search() {
#ifdef BROKEN_ENTER
    d_step { enter() };
#endif
    do
    :: MARKED(right_next) || right_key < k ->
        d_step {
            if
            :: !MARKED(right_next) -> left = right; left_next = right_next
            :: else
            fi;
            right = NODE(right_next);
            if
            :: right == TAIL -> right_next = 0; right_key = KEYS + 1
            :: else -> read_node(right_next, right_key, right)
            fi
        }
    :: else -> break
    od;
    if
    :: NODE(left_next) != right ->
        ask();
        d_step { swap(left, left_next, WORD(right)) };
        if
        :: swapped -> retire(NODE(left_next), right)
        :: else -> goto again
        fi
    :: else
    fi;
    if
    :: right == TAIL
    :: right != TAIL ->
        d_step { read_node(right_next, right_key, right) };
        if
        :: MARKED(right_next) -> goto again
        :: else
        fi
    fi
}

proctype worker(byte me) {
    byte k, node, left, left_next, right, right_next, right_key, r, rest, i, at, count;
    bool swapped;
    mtype doing;
    do
    :: count < OPERATIONS ->
        atomic {
            if
            :: doing = INSERT
            :: doing = REMOVE
            fi;
            select(k : 1 .. KEYS);
#ifndef BROKEN_ENTER
            enter()
#endif
        };
again:
        right = HEAD;
        d_step { read_node(right_next, right_key, right) };
        search();
        if
        :: doing == INSERT && right_key == k /* it is there already */
        :: doing == INSERT && right_key != k ->
            d_step {
                i = 1;
                do
                :: node == 0 && i <= NODES && live[i] -> i++
                :: node == 0 && i <= NODES && !live[i] -> node = i; live[i] = true; key[i] = k
                :: else -> break
                od;
                i = 0;
                if
                :: node != 0 -> next[node] = WORD(right)
                :: else
                fi
            };
            if
            :: node != 0 ->
                d_step {
                    swap(left, WORD(right), WORD(node));
                    if
                    :: swapped -> assert(!present[k]); present[k] = true; node = 0
                    :: else
                    fi
                };
                if
                :: swapped
                :: else -> goto again
                fi
            :: else /* no memory */
            fi
        :: doing == REMOVE && right_key != k /* it is not there */
        :: doing == REMOVE && right_key == k ->
            d_step { read_node(right_next, right_key, right) };
            if
            :: MARKED(right_next) -> goto again
            :: else
            fi;
#ifndef BROKEN_MARK
            d_step {
                swap(right, right_next, MARK(right_next));
                if
                :: swapped -> assert(present[k]); present[k] = false
                :: else
                fi
            };
            if
            :: swapped
            :: else -> goto again
            fi;
#endif
            ask();
            d_step {
                swap(left, WORD(right), right_next);
#ifdef BROKEN_MARK
                if
                :: swapped -> assert(present[k]); present[k] = false
                :: else
                fi
#endif
            };
            if
            :: swapped -> retire(right, NODE(right_next))
#ifdef BROKEN_MARK
            :: else -> goto again
#else
            :: else -> /* a search for the key unlinks what stands before it */
#ifdef BROKEN_RETIRE
                retire(right, NODE(right_next));
#endif
                doing = CLEAN;
                goto again
#endif
            fi
        :: doing == CLEAN
        fi;
        count++;
        d_step {
            if
            :: node != 0 -> live[node] = false; next[node] = NONE; key[node] = 0
            :: else
            fi;
            leave();
            k = 0; node = 0; left = 0; left_next = 0; right = 0; right_next = 0; right_key = 0;
            swapped = false; doing = 0
        }
    :: else -> break
    od;
    count = 0; /* spin has it that no jump may end at a d_step */
    d_step {
        done++;
        if
        :: done == PES -> /* the last one looks at what all have left */
            at = NODE(next[HEAD]);
            do
            :: at != TAIL ->
                assert(live[at] && !MARKED(next[at]) && key[at] > k && present[key[at]]);
                k = key[at]; present[k] = false; live[at] = false; at = NODE(next[at])
            :: else -> break
            od;
            for (i : 1 .. KEYS) { assert(!present[i]) }
            for (i : 1 .. NODES) { assert(!live[i]) }
        :: else
        fi
    }
}

init {
    byte i;
    d_step {
        live[HEAD] = true;
        next[HEAD] = WORD(1);
        for (i : 1 .. NODES) {
            if
            :: i <= KEYS -> live[i] = true; key[i] = i; present[i] = true; next[i] = WORD(i == KEYS -> TAIL : i + 1)
            :: else -> next[i] = NONE
            fi
        }
    };
    atomic { for (i : 0 .. PES - 1) { run worker(i) } }
}
