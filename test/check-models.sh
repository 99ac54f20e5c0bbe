#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-models.sh: spin finds nothing wrong with the models in test/model, and does find what is broken on purpose.
#
# A model that cannot fail shows nothing: so each is also run with each of the steps that its header names left out, and
# must then fail. Bounds and assumptions stand in the models' headers.
#
#     RMA_TEST_MODELS=large   larger bounds too: about a minute and 2 GiB of memory
set -eu

top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
cc=${CC:-cc}

if ! command -v spin >/dev/null 2>&1; then
    echo "check-models: skipped: spin is not installed"
    exit 77
fi
if ! command -v "${cc%% *}" >/dev/null 2>&1; then
    echo "check-models: skipped: there is no compiler $cc"
    exit 77
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/check-models.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
failures=0
optimize=-O2
cd "$dir"

fail() { # fail TEXT, with the log of what was run last
    echo "FAIL $*"
    tail -n 20 log | sed 's/^/    /'
    failures=$((failures + 1))
}

# search MODEL [-D...]: the whole state space; $states and $errors as pan says, or 1 if it did not get that far.
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
    timeout 300 ./pan -m1000000 >log 2>&1 || return 1
    errors=$(sed -n 's/^State-vector.*errors: //p' log)
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' log)
    [ -n "$errors" ] || return 1
    # A search that was cut short has shown nothing.
    ! grep -q 'search depth too small\|out of memory\|Search not completed\|max depth' log || [ "$errors" -gt 0 ]
}

# holds MODEL [-D...]: no error, and no line of the model that is never reached.
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

holds returned
holds returned -DGIVERS=3 -DBLOCKS=2 -DROUNDS=4
holds returned -DOWNER_CLAIMS
holds lock
holds list
holds list -DOPERATIONS=3 -DKEYS=2
holds list -DPES=3 -DOPERATIONS=1 -DKEYS=1
if [ "${RMA_TEST_MODELS-}" = large ]; then
    holds lock -DPES=3 -DTURNS=3
    holds returned -DGIVERS=3 -DROUNDS=4
    holds list -DPES=3 -DOPERATIONS=1 -DKEYS=2
fi

# Each way to break a model that the model names.
optimize=-O0 # these are found at once, and most of the time would go into compiling
for model in returned list lock; do
    ways=$(grep -o '^#if[a-z]* *BROKEN_[A-Z]*\|defined(BROKEN_[A-Z]*)' "$top_srcdir/test/model/$model.pml" |
        grep -o 'BROKEN_[A-Z]*' | sort -u)
    [ -n "$ways" ] || fail "$model: no way to break it"
    for way in $ways; do breaks "$model" "-D$way"; done
done

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
