#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-models.sh: the models of test/model have no error, and each error that is inserted on purpose is found.
#
# There are two kinds. Models for spin (*.pml) try every order of steps, with sequentially consistent memory. Models for
# test/model/litmus (*.litmus, test/model/litmus.h) try every execution that C11's weaker memory model allows, with the
# memory orders of the source.
#
# A model that cannot fail proves nothing: so the script also breaks each of spin's models in each way that its header
# names (BROKEN_...), and an assertion must then fail; and litmus weakens each memory order of its models. Bounds and
# assumptions are in the models' headers.
#
# Searches run at the same time, one for each processor: each search is this script again, with --one.
# RMA_TEST_DEPTH=long (test/depth.sh) takes the larger bounds that the headers name.
#
#     RMA_TEST_MODELS=large   still larger bounds: about a minute and 2 GiB of memory
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cc=${CC:-cc}

if ! command -v "${cc%% *}" >/dev/null 2>&1; then
    skip "needs a compiler, and there is no $cc (Debian package gcc)"
fi

cd "$dir"

# search MODEL [-D...]: searches the whole state space, and sets $states and $errors from pan's output; returns 1 if the
# search did not complete.
search() {
    model=$1
    shift
    rm -f pan pan.* ./*.trail
    # CC may have arguments.
    # shellcheck disable=SC2086
    if ! spin -a "$@" "$top_srcdir/test/model/$model.pml" >log 2>&1 ||
        ! $cc $optimize -w -DSAFETY -DMEMLIM=4096 -o pan pan.c >log 2>&1; then
        return 1
    fi
    # shellcheck disable=SC2086
    timeout "$(seconds 300)" ./pan $memory >log 2>&1 || return 1
    errors=$(sed -n 's/^State-vector.*errors: //p' log)
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' log)
    [ -n "$errors" ] || return 1
    # A search that reached a limit proves nothing.
    ! grep -q 'search depth too small\|out of memory\|Search not completed\|max depth' log || [ "$errors" -gt 0 ]
}

no_way_to_break() { : >log; fail "$1: no way to break it"; }

# holds MODEL [-D...]: spin finds no error, and reaches each line of the model.
holds() {
    if ! search "$@"; then
        fail "$*: not searched to the end"
    elif [ "$errors" -ne 0 ]; then
        fail "$*: $errors errors"
    elif grep -A 1 '^unreached in' log | grep -q '^[[:space:]]*([1-9]'; then
        fail "$*: parts of the model are never reached"
    else
        echo "ok   $*: holds in $states states"
    fi
}

# breaks MODEL -D...: an assertion fails.
breaks() {
    if ! search "$@"; then
        fail "$*: not searched"
    elif [ "$errors" -eq 0 ] || ! grep -q '^pan:1: assertion violated' log; then
        fail "$*: nothing fails"
    else
        echo "ok   $*: breaks: $(sed -n 's/^pan:1: //p' log)"
    fi
}

if [ "${1-}" = --one ]; then # --one "holds|breaks MODEL [-D...]"
    # spin finds an error at once, in few states, and searches small bounds in a second: with optimization the compiler
    # would take most of the time.
    optimize=-O0 memory="-m1000000 -w20"
    case $2 in
    breaks*) memory="-m10000 -w18" ;;
    *) if deep; then optimize=-O2 memory=-m1000000; fi ;;
    esac
    # $2 is a list of words. Its output is printed at once, so that it is not mixed with that of other searches.
    # shellcheck disable=SC2086
    $2 >said
    cat said
    exit $failures
fi

# ---- litmus ----

# Known litmus tests give the known results, wrong models are refused, and changes of the source are noticed.
check_litmus_itself() {
    models=$top_srcdir/test/model
    # CC may have arguments.
    # shellcheck disable=SC2086
    if ! $cc -O1 -w -o litmus "$models/litmus.c" "$models/parse.c" "$models/order.c" "$models/explore.c" >log 2>&1 ||
        ! ./litmus "$top_srcdir" "$models/self-test.litmus" >log 2>&1; then
        fail "litmus: its own test"
        return
    fi
    ./litmus "$top_srcdir" "$models/self-test-wrong.litmus" >log 2>&1 || true
    sed -n 's/^model //p' "$models/self-test-wrong.litmus" >wrong
    while read -r model; do
        grep -q "^FAIL $model: " log || fail "litmus: it accepts: $model"
    done <wrong
    mkdir changed
    (cd "$top_srcdir" && tar -cf - base heap include runtime) | (cd changed && tar -xf -)
    chmod -R u+w changed
    notices 'FAIL mailbox: a post, .* races' 's/\(&e->value, near->epoch, memory_order_\)release/\1relaxed/' \
        runtime/node/mailbox.c
    notices 'not there any more' 's/\(atomic_store_explicit(&e\)->value, near/\1[0].value, near/' \
        runtime/node/mailbox.c
}

# notices TEXT SED FILE: a model of near.litmus fails with this change of the source, and says TEXT.
notices() {
    sed "$2" "$top_srcdir/$3" >changed/"$3"
    if cmp -s "$top_srcdir/$3" changed/"$3"; then
        fail "litmus: $2 changes nothing in $3"
    elif ./litmus changed "$top_srcdir/test/model/near.litmus" >log 2>&1 || ! grep -q "$1" log; then
        fail "litmus: it does not notice $2 in $3"
    fi
    cp "$top_srcdir/$3" changed/"$3"
}

# Each memory order in the source that is stronger than relaxed is in a model, or in the list that says why it is in
# none.
check_all_are_modelled() {
    models=$top_srcdir/test/model
    ./litmus "$top_srcdir" --places "$models/near.litmus" "$models/locks.litmus" "$models/memory.litmus" \
        "$models/public.litmus" >named
    grep -v '^#\|^$' "$models/unmodelled" >>named
    (cd "$top_srcdir" && find base collectives heap include runtime interfaces/shmem -name '*.[ch]') | sort >sources
    # shellcheck disable=SC2046
    ./litmus "$top_srcdir" --orders $(cat sources) >places
    while IFS= read -r place; do
        grep -qxF "$place" named || { echo "$place" >log; fail "in no model, and not in test/model/unmodelled"; }
    done <places
    grep -v '^#\|^$' "$models/unmodelled" >listed
    while IFS= read -r place; do
        grep -qxF "$place" places || { echo "$place" >log; fail "in test/model/unmodelled, and not in the source"; }
    done <listed
    [ -s places ] || fail "no place in the source has an order"
}

check_litmus_itself
[ $failures -ne 0 ] || check_all_are_modelled
if [ $failures -eq 0 ]; then
    echo "ok   litmus: its own test"
    for file in near locks memory public; do
        ./litmus "$top_srcdir" "$top_srcdir/test/model/$file.litmus" >log 2>&1 || failures=$((failures + 1))
        cat log
    done
fi
if [ $failures -ne 0 ]; then
    echo "some failed"
    exit 1
fi
if ! command -v spin >/dev/null 2>&1; then
    echo "check-models: skipped: all but C11's models: needs spin (Debian package spin)"
    exit 77
fi

# ---- spin ----

{
    if deep; then
        echo holds returned
        echo holds returned -DGIVERS=3 -DBLOCKS=2 -DROUNDS=4
        echo holds returned -DOWNER_CLAIMS
        echo holds list
        echo holds list -DOPERATIONS=3 -DKEYS=2
        echo holds lock
    else
        echo holds returned -DROUNDS=4
        echo holds returned -DGIVERS=3 -DBLOCKS=2 -DROUNDS=3
        echo holds returned -DROUNDS=4 -DOWNER_CLAIMS
        echo holds list -DKEYS=2
        echo holds lock -DTURNS=3
    fi
    echo holds list -DPES=3 -DOPERATIONS=1 -DKEYS=1
    if [ "${RMA_TEST_MODELS-}" = large ]; then
        echo holds lock -DPES=3 -DTURNS=3
        echo holds returned -DGIVERS=3 -DROUNDS=4
        echo holds list -DPES=3 -DOPERATIONS=1 -DKEYS=2
    fi

    # Each way to break a model that its header names.
    for model in returned list lock; do
        grep -o '^#if[a-z]* *BROKEN_[A-Z]*\|defined(BROKEN_[A-Z]*)' "$top_srcdir/test/model/$model.pml" |
            grep -o 'BROKEN_[A-Z]*' | sort -u >ways || true
        [ -s ways ] || echo "no_way_to_break $model"
        sed "s/^/breaks $model -D/" ways
    done
} >searches

# xargs fails if one of the searches does.
export top_srcdir
if ! xargs -P "$(nproc)" -I SEARCH sh "$top_srcdir/test/check-models.sh" --one SEARCH <searches; then
    echo "some failed"
    exit 1
fi
