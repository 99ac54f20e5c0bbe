# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
# The options of --race, for oshcc, rmacc and rma_mpicc, which source this file after they have set name, compiler and
# libdir. It sets race_compile and race_link, lists of words, and race_specs, one word or none.
#
# --race adds: the compilers' instrumentation of loads and stores for ThreadSanitizer, without linking its library (gcc:
# the specs pass the option only to the compiler proper; clang: -Xclang does); and calls of the C library (race.wraps).
# _GLIBCXX_ASSERTIONS: also makes std::string come from the headers and not from C++'s library. -fno-plt: these calls
# are frequent. -fno-optimize-sibling-calls: a function's last call keeps its own line.
race_compile='' race_specs='' race_link=''
while read -r taken how; do
    case $taken in '' | \#*) continue ;; esac
    [ "$how" != call ] || race_compile="$race_compile -fno-builtin-$taken"
    race_link="$race_link -Wl,--wrap=$taken"
done <"$libdir/librma/race.wraps"
race_link=${race_link# }
race_compile="${race_compile# } -g -fno-plt -fno-optimize-sibling-calls -U_FORTIFY_SOURCE -D_GLIBCXX_ASSERTIONS"
# shellcheck disable=SC2086
case $($compiler --version 2>/dev/null) in
*clang*)
    race_compile="$race_compile -Xclang -fsanitize=thread -mllvm -tsan-instrument-func-entry-exit=0"
    # clang does not instrument accesses of more than 16 bytes, so its loops must not use longer ones; and two calls in
    # two branches stay two, each with its line.
    race_compile="$race_compile -mprefer-vector-width=128"
    race_compile="$race_compile -mllvm -enable-tail-merge=false -mllvm -sink-common-insts=false"
    # clang leaves out elements of arrays on the stack, unless it looks at no use of the array's address.
    looks='-mllvm -capture-tracking-max-uses-to-explore=0'
    if $compiler $looks -x c -fsyntax-only /dev/null >/dev/null 2>&1; then
        race_compile="$race_compile $looks"
    else
        echo "$name: --race: this clang leaves out elements of arrays on the stack: races there are not found" >&2
    fi
    ;;
*)
    race_specs=-specs=$libdir/librma/race.specs
    race_compile="$race_compile -include $libdir/librma/uninstrumented.h -include $libdir/librma/unseen.h"
    race_compile="$race_compile -include $libdir/librma/inline.h"
    ;;
esac
