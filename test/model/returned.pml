/* SPDX-License-Identifier: BSD-3-Clause */
/* returned.pml: the list of blocks that peers give back (heap/returned.c over retire and free_retired of heap/tlsf.c),
 * for spin. test/check-models.sh runs it.
 *
 * One owner allocates blocks, frees them, hands them out, and drains the list; GIVERS peers give back the blocks that
 * they were handed. Now and then the owner hands the same block to two peers. That is a mistake of the program, and
 * exactly one of the two must get an error.
 *
 * Shown, for every interleaving:
 *   a block handed out is accepted from exactly one peer, and freed exactly once, before it is allocated again
 *   only retired blocks are on the list, and following it from its head ends
 *   when all have finished, and the owner has drained once more, every block is free
 *   nobody waits for ever (spin's invalid end states)
 * Bounds: GIVERS 2, BLOCKS 3, ROUNDS 6 steps of the owner, each an allocation or a drain; then 3, 2, 4. Memory is
 * sequentially consistent here; whether the code's orderings suffice is for test/check-tsan.sh. The pool's free lists
 * are left out: any free block may be allocated. Assumed: no peer gives back a block that has been allocated again
 * since the peer was handed it; no allocator can notice that.
 *
 * What breaks it, each by one -D:
 *   BROKEN_RETIRE  retire looks at the state and stores it in two steps
 *   BROKEN_AGAIN   free_retired marks the block live for a moment, so that a second giver finds it so
 *   BROKEN_LINK    the link is not written again after a failed compare-and-swap of the head
 *   BROKEN_PUSH    push stores the head instead of swapping it
 *   BROKEN_DRAIN   drain reads the head and empties the list in two steps
 *   BROKEN_WALK    drain frees a block before it reads the link in it
 *   BROKEN_OWNER   the owner also frees, by a look and a store, a block that a peer gives back
 * And one that holds:
 *   OWNER_CLAIMS   the owner frees such a block too, but takes it by a compare-and-swap as peers do */
#ifndef GIVERS
#define GIVERS 2
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif
#ifndef ROUNDS
#define ROUNDS 6
#endif
#define JUNK 255 /* what the free list writes where the link stood */

mtype = { FREE, LIVE, RETIRED };

/* The shared memory. Blocks are 1..BLOCKS, as in the code's head; 0 is none. */
mtype state[BLOCKS + 1] = FREE;
byte link[BLOCKS + 1] = JUNK;
byte head;

/* The program: what each peer has been handed, and by how many a block is yet to be given back. */
byte hand[GIVERS];
byte holders[BLOCKS + 1];
bool finished;

/* What only the assertions read: of the block's present life. */
byte accepted[BLOCKS + 1];
byte freed[BLOCKS + 1];
bool out[BLOCKS + 1];

inline look_at_list() {
    d_step {
        walk = head; n = 0;
        do
        :: walk != 0 ->
            assert(walk <= BLOCKS && state[walk] == RETIRED);
            n++;
            assert(n <= BLOCKS);
            walk = link[walk]
        :: else -> break
        od;
        walk = 0; n = 0
    }
}

inline free_block(f) {
    d_step {
        state[f] = FREE;
        link[f] = JUNK;
        freed[f]++;
        assert(freed[f] == 1)
    }
}

/* The compare-and-swap of retire. */
inline claim(b) {
#ifdef BROKEN_RETIRE
    if
    :: state[b] == LIVE ->
        d_step { state[b] = RETIRED; won = true; accepted[b]++; assert(accepted[b] == 1) }
    :: else -> won = false
    fi
#else
    d_step {
        if
        :: state[b] == LIVE -> state[b] = RETIRED; won = true; accepted[b]++; assert(accepted[b] == 1)
        :: else -> won = false
        fi
    }
#endif
}

proctype giver(byte me) {
    byte b, seen, walk, n;
    bool won, swapped;
    do
    :: hand[me] != 0 ->
        b = hand[me];
        claim(b);
        if
        :: won ->
            seen = head;
#ifdef BROKEN_LINK
            link[b] = seen;
#endif
            swapped = false;
            do
            :: !swapped ->
#ifndef BROKEN_LINK
                link[b] = seen;
#endif
                d_step {
#ifdef BROKEN_PUSH
                    head = b; swapped = true
#else
                    if
                    :: head == seen -> head = b; swapped = true
                    :: else -> seen = head
                    fi
#endif
                }
            :: else -> break
            od;
            look_at_list()
        :: else
        fi;
        d_step { hand[me] = 0; holders[b]--; b = 0; seen = 0; won = false; swapped = false }
    :: finished && hand[me] == 0 -> break
    od
}

inline drain() {
    if
    :: head != 0 ->
#ifdef BROKEN_DRAIN
        at = head;
        head = 0;
#else
        d_step { at = head; head = 0 }
#endif
        do
        :: at != 0 ->
            assert(at <= BLOCKS && state[at] == RETIRED);
#ifdef BROKEN_WALK
            free_block(at);
            at = link[at]
#else
            d_step { b = at; at = link[at] }
#ifdef BROKEN_AGAIN
            state[b] = LIVE;
            assert(state[b] == LIVE);
#endif
            free_block(b)
#endif
        :: else -> break
        od;
        b = 0
    :: else
    fi
}

/* Block b, if it is free and no peer still has it from its last life, which then ended as it should; else b is 0. */
inline allocate() {
    d_step {
        if
        :: state[b] == FREE && holders[b] == 0 ->
            assert(!out[b] || (accepted[b] == 1 && freed[b] == 1));
            state[b] = LIVE; accepted[b] = 0; freed[b] = 0; out[b] = false
        :: else -> b = 0
        fi
    }
}

inline hand_out(to) { hand[to] = b; holders[b]++; out[b] = true }

active proctype owner() {
    byte b, p, q, at, rounds, n;
    bool won;
    for (p : 0 .. GIVERS - 1) { run giver(p) }
    do
    :: rounds < ROUNDS ->
        rounds++;
        if
        :: drain()
        :: atomic { select(b : 1 .. BLOCKS); select(p : 0 .. GIVERS - 1); select(q : 0 .. GIVERS - 1); allocate() }
            if
            :: b == 0
            :: b != 0 -> free_block(b) /* kept, and freed by its owner */
            :: b != 0 && hand[p] == 0 -> d_step { hand_out(p) }
            :: b != 0 && p < q && hand[p] == 0 && hand[q] == 0 -> d_step { hand_out(p); hand_out(q) } /* a mistake */
#if defined(BROKEN_OWNER) || defined(OWNER_CLAIMS)
            :: b != 0 && hand[p] == 0 -> /* the same mistake by owner and peer */
                d_step { hand_out(p) }
#ifdef BROKEN_OWNER
                if
                :: state[b] == LIVE -> accepted[b]++; free_block(b)
                :: else
                fi
#else
                claim(b);
                if
                :: won -> free_block(b)
                :: else
                fi
#endif
#endif
            fi;
            b = 0; p = 0; q = 0; won = false
        fi
    :: else -> break
    od;
    finished = true;
    for (p : 0 .. GIVERS - 1) { hand[p] == 0 }
    drain();
    d_step {
        assert(head == 0);
        n = 1;
        do
        :: n <= BLOCKS ->
            assert(state[n] == FREE);
            assert(!out[n] || (accepted[n] == 1 && freed[n] == 1));
            n++
        :: else -> break
        od
    }
}
