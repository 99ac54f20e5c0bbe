/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.pml: the lock of a job of one node (rma_inline.h, runtime/api/locks.c), for spin. test/check-models.sh runs it.
 *
 * PES PEs take and release one lock TURNS times each, each time by setting or by testing, as they like.
 *
 * Shown, for every interleaving:
 *   one PE at a time holds the lock
 *   PEs get it in the order in which they exchanged the tail
 *   a PE that comes again finds its word without the mark of a sleeper, as the inlined calls assume
 *   no PE waits for ever (the assertion of `watch`)
 * Bounds: PES 2, TURNS 4; then 3, 3. Memory is sequentially consistent here. A PE that sleeps wakes when the word has
 * changed. In the code a release may miss a sleeper, which then wakes a millisecond later; the model leaves that out.
 *
 * What breaks it, each by one -D:
 *   BROKEN_PHASE   the phase does not alternate
 *   BROKEN_STORE   a PE stores its own word after it has exchanged the tail
 *   BROKEN_SECOND  test_lock does not read the word again after its compare-and-swap: the tail's PE may have been in
 *                  the queue twice more
 *   BROKEN_SLEEP   a PE marks its sleep on a word without comparing it */
#ifndef PES
#define PES 2
#endif
#ifndef TURNS
#define TURNS 4
#endif
#define NOBODY 7

/* The shared memory: the tail, and each PE's word. */
byte tail_pe = NOBODY;
bit tail_phase;
bool held[PES], asleep[PES];
bit phase[PES];

/* What only the assertions read. */
byte inside, came, served, finished;

inline in_queue() { number = came; came++ }

inline enter() {
    d_step {
        inside++;
        assert(inside == 1);
        assert(served == number);
        served++
    }
}

/* The PE that was the tail has released the lock, by its word. */
#define PAST (before_pe == NOBODY || before_pe == me || !held[before_pe] || phase[before_pe] != before_phase)

inline wait() {
    do
    :: PAST -> break
    :: !PAST ->
#ifdef BROKEN_SLEEP
        asleep[before_pe] = true;
#else
        /* A compare-and-swap of the word as it was seen to be. */
        d_step {
            if
            :: !PAST -> asleep[before_pe] = true
            :: else
            fi
        }
#endif
        PAST
    od
}

inline come() {
#ifdef BROKEN_PHASE
    next = phase[me];
#else
    next = 1 - phase[me];
#endif
    assert(!held[me] && !asleep[me])
}

inline store_word() { d_step { held[me] = true; phase[me] = next } }

inline set() {
    come();
#ifndef BROKEN_STORE
    store_word();
#endif
    d_step { before_pe = tail_pe; before_phase = tail_phase; tail_pe = me; tail_phase = next; in_queue() }
#ifdef BROKEN_STORE
    store_word();
#endif
    wait();
    got = true
}

inline test() {
    d_step { before_pe = tail_pe; before_phase = tail_phase }
    if
    :: PAST ->
        come();
        store_word();
        d_step {
            if
            :: tail_pe == before_pe && tail_phase == before_phase ->
                tail_pe = me; tail_phase = next; in_queue(); got = true
            :: else -> got = false
            fi
        }
        if
        :: got ->
#ifndef BROKEN_SECOND
            wait()
#else
            skip
#endif
        :: else -> d_step { held[me] = false; phase[me] = 1 - next }
        fi
    :: else -> got = false
    fi
}

/* In the code: if nobody sleeps a store, else an exchange and a wake-up. In the model both are the same. */
inline clear() {
    if
    :: asleep[me]
    :: !asleep[me]
    fi;
    d_step { inside--; held[me] = false; asleep[me] = false }
}

active [PES] proctype pe() {
    byte me = _pid, before_pe, number, turns;
    bit before_phase, next;
    bool got;
    do
    :: turns < TURNS ->
        turns++;
        if
        :: set()
        :: test()
        fi;
        if
        :: got -> enter(); clear()
        :: else
        fi;
        d_step { before_pe = 0; before_phase = 0; next = 0; number = 0; got = false }
    :: else -> break
    od;
    finished++
}

active proctype watch() {
    if
    :: timeout -> assert(finished == PES)
    fi
}
