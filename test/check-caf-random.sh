#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-caf-random.sh: random Fortran programs with coarrays, which know their own results (test/caf/generate.c): with
# one to four images on one node, with a node for each of two or three images, and on two nodes of two images.
#
#   RMA_TEST_SEEDS=1:300         these programs, in each layout
#   RMA_TEST_LAYOUTS="nolocal"   in these layouts: one, nolocal, blocks2
#   RMA_TEST_GENERATE="--without vectors"   options of the generator
#
# Broken by a statement with coarrays that moves or computes wrong data, or hangs; and by a program that compares
# nothing.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

fortran=${FC:-gfortran}
if ! command -v "${fortran%% *}" >/dev/null 2>&1; then
    skip "needs a Fortran compiler, and there is no $fortran (Debian package gfortran)"
fi
if [ ! -f "$top_builddir/.libs/librma_caf.so" ]; then skip "needs a shared library"; fi
skip_with_sanitizers "the program's compiler does not know them"
unset_settings

# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -o "$dir/generate" "$top_srcdir"/test/caf/generate*.c >"$dir/log" 2>&1 ||
    { fail "generate.c does not compile"; verdict; }
: >"$dir/log"
version=$(${fortran%% *} -dumpversion)
cd "$dir" # the compiler writes module files where it stands

# program SEED [OPTION...]: makes $dir/program. Returns 1 if the compiler cannot.
program() {
    seed=$1
    shift
    # shellcheck disable=SC2086
    ./generate --compiler "${version%%.*}" --seed "$seed" ${RMA_TEST_GENERATE-} "$@" >program.f90 ||
        hard "the generator fails with seed $seed"
    # shellcheck disable=SC2086
    if $fortran -O0 -fcoarray=lib program.f90 -o program -L"$top_builddir/.libs" -lrma_caf -lrma \
        -Wl,-rpath,"$top_builddir/.libs" >log 2>&1; then
        : >log
        return 0
    fi
    if grep -q 'internal compiler error' log; then
        refused=$((refused + 1))
        : >log
    else
        fail "seed $seed does not compile"
    fi
    return 1
}

# in_layout LAYOUT: runs it, with a number of images that depends on the seed.
in_layout() {
    case "$1" in
    one) images=$((1 + seed % 4)) ;;
    nolocal) images=$((2 + seed % 2)) ;;
    *) images=4 ;;
    esac
    # shellcheck disable=SC2046,SC2086
    run env $(layout_switches "$1" "$images") $mpiexec -n "$images" ./program
    runs=$((runs + 1))
    [ "$status" -ne 0 ] || grep -qx "seed $seed: passed" out || status="0, without its last line"
    [ "$status" = 0 ] || fail "seed $seed, $images images, $(layout_words "$1"): exit $status"
}

refused=0 runs=0
seeds=${RMA_TEST_SEEDS:-1:$(by_depth 2 6 100)}
at=${seeds%%:*}
while [ "$at" -le "${seeds##*:}" ]; do
    if program "$at"; then
        for layout in ${RMA_TEST_LAYOUTS:-one nolocal blocks2}; do in_layout "$layout"; done
    fi
    at=$((at + 1))
done
[ "$runs" -gt 0 ] || fail "no program was run"
[ "$refused" -eq 0 ] || echo "the compiler has an internal error for $refused programs"
[ "$failures" -gt 0 ] || ok "seeds $seeds: $runs runs"

# One value of the model is wrong: image 1 finds it.
if program 1 --wrong; then
    # shellcheck disable=SC2046,SC2086
    run env $(layout_switches one 2) $mpiexec -n 2 ./program
    if [ "$status" -eq 1 ] && grep -q 'seed 1: image 1, phase 5: sum[0-9]*(1,0) is .*, not' out; then
        ok "a wrong value is found"
    else
        fail "a wrong value is found: exit $status"
    fi
fi

# Errors of the generator's user.
: >log
for words in '--only sections' '--seed x' '--phases 0' '--compiler x' '--seed' nothing; do
    # shellcheck disable=SC2086
    run ./generate $words
    if [ "$status" -eq 2 ] && grep -q -- "${words##* }" err; then
        ok "generate $words"
    else
        fail "generate $words: exit $status"
    fi
done
verdict
