#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-cpp.sh: rma.h and shmem.h as C++. They compile without a warning, in any order, from C++11 to C++23, and in two
# files of one program; the generic forms are overloads that do what the typed calls do; a type outside the lists is
# refused; README's first program compiles and runs.
#
# Broken by a generic form without an overload, or one that calls another type's function; by a cast or a null pointer
# in a header that a C++ compiler warns of; by an overload with C's linkage where a program includes a header inside
# extern "C"; by a type that an overload takes although C's macro refuses it.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

compilers=
for compiler in g++ clang++; do
    if command -v $compiler >/dev/null 2>&1; then compilers="$compilers $compiler"; fi
done
if [ -z "$compilers" ]; then
    skip "needs a C++ compiler (Debian package g++ or clang)"
fi

include=-I$top_srcdir/include

# ---- headers ----

# Handles and other constants are expanded in the program's own text, where no pragma of a header reaches.
cat >"$dir/use" <<'END'
static rma_team *const teams[] = {RMA_TEAM_INVALID, RMA_TEAM_WORLD, RMA_TEAM_SHARED};
static rma_ctx *const contexts[] = {RMA_CTX_INVALID, RMA_CTX_DEFAULT};
static const shmem_team_t shmem_teams[] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
static const shmem_ctx_t shmem_contexts[] = {SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT};
static const rma_gptr_t null = RMA_GPTR_NULL;
static const rma_lock_t lock = RMA_LOCK_INIT;
static const struct rma_hints hints = RMA_HINTS_NONE;
static long word;
static const struct rma_block blocks[] = {{0, 8}, {-8, 8}};
static const ptrdiff_t strides[] = {16, 8}, indices[] = {0, -1};
static const size_t counts[] = {1, 1};
long WHO();
int WHO(int type);
int WHO(int type) {
    const double half = 0.5;
    double values[4] = {}, old[4];
    return rma_put_section(&word, &word, strides, strides, 8, 2, counts, 0) +
           rma_ctx_get_section_nbi(RMA_CTX_DEFAULT, &word, &word, strides, strides, 8, 2, counts, 0) +
           rma_gptr_put_indexed(null, values, indices, sizeof half, 2) +
           rma_ctx_gptr_get_blocks_nbi(RMA_CTX_DEFAULT, values, null, blocks, 2, blocks, 2) +
           rma_accumulate(values, values, 4, RMA_DOUBLE, RMA_OP_SUM, &half, 0) +
           rma_get_accumulate_section(values, values, old, strides, strides, strides, 2, counts, type, RMA_OP_MAX,
                                      &half, 0) +
           rma_gptr_accumulate_indexed_nbi(null, values, indices, 2, RMA_ULLONG, RMA_OP_LAND, &half) +
           rma_ctx_get_accumulate_blocks(RMA_CTX_DEFAULT, values, values, old, blocks, 2, blocks, 2, blocks, 2, type,
                                         RMA_OP_FETCH, &half, 0);
}
long WHO() {
    rma_p(&word, 1, 0);
    shmem_p(&word, 1, 0);
    shmem_put(SHMEM_CTX_DEFAULT, &word, &word, 1, 0);
    rma_fence();
    return rma_g(&word, 0) + shmem_g(&word, 0) + hints.numa_node + (null == 0) + (lock.tail_ == 0) +
           (teams[1] == shmem_teams[1]) + (contexts[1] == shmem_contexts[1]);
}
END
# Programs include headers that they take for C's inside extern "C".
{
    printf '#define WHO one\nextern "C" {\n#include <rma.h>\n#include <shmemx.h>\n}\n#include <rma.h>\n'
    cat "$dir/use"
} >"$dir/one.cc"
{ printf '#define WHO two\n#include <shmem.h>\n#include <cstring>\n#include <rma.h>\n'; cat "$dir/use"; } >"$dir/two.cc"
warnings="-DSHMEM_WARNINGS_ -Wall -Wextra -Wold-style-cast -Wzero-as-null-pointer-constant -pedantic -Werror"
for compiler in $compilers; do
    for standard in $(by_depth "c++11 c++2b" "c++11 c++17 c++2b" "c++11 c++14 c++17 c++20 c++2b"); do
        for flags in "" -DRMA_PROFILE -DSHMEM_PROFILE; do
            [ -z "$flags" ] || [ "$standard" = c++17 ] || deep || continue
            for file in one two; do
                # shellcheck disable=SC2086
                $compiler -std="$standard" $flags $warnings "$include" -c "$dir/$file.cc" -o "$dir/$file.o" \
                    >"$dir/log" 2>&1 || fail "$file.cc with $compiler -std=$standard $flags"
            done
        done
    done
done

# Before C++11, without what needs it; -pedantic warns of variadic macros and long long there.
cat >"$dir/old.cc" <<'END'
#include <rma.h>
#include <shmemx.h>
static long word;
static uint64_t signal_word;
long old();
long old() {
    rma_p(&word, 1L, 0);
    shmem_put(SHMEM_CTX_DEFAULT, &word, &word, 1, 0);
    shmemx_signal_add(SHMEM_CTX_DEFAULT, &signal_word, 1, 0);
    rma_sum_reduce(RMA_TEAM_WORLD, &word, &word, 1);
    rma_accumulate(&word, &word, 1, RMA_LONG, RMA_OP_SUM, &word, 0);
    rma_put_section(&word, &word, NULL, NULL, sizeof word, 0, NULL, 0);
    return shmem_atomic_fetch_add(&word, 1L, 0) + rma_g(&word, 0);
}
END
for compiler in $compilers; do
    $compiler -std=c++98 -Wall -Wextra -Werror -DSHMEM_WARNINGS_ "$include" -c "$dir/old.cc" -o "$dir/old.o" \
        >"$dir/log" 2>&1 || fail "old.cc with $compiler -std=c++98"
done

# ---- what no overload takes ----

# Each call stands in a line of its own: taken.cc must compile, and in refused.cc each line must be an error.
compiler=${compilers# }
compiler=${compiler%% *}
printf '#include <rma.h>\n#include <shmem.h>\nstruct pair { int a, b; };\n' >"$dir/taken.cc"
cp "$dir/taken.cc" "$dir/refused.cc"
line=0
call() { # call FILE TYPE CALL: of t, a TYPE *
    line=$((line + 1))
    echo "void f$line($2 *t); void f$line($2 *t) { $3; }" >>"$dir/$1.cc"
}
for call in 'rma_p(t, *t, 0)' 'rma_atomic_add(t, 1, 0)' 'rma_ctx_atomic_and(RMA_CTX_DEFAULT, t, 1, 0)' \
    'rma_sum_reduce(RMA_TEAM_WORLD, t, t, 1)' 'rma_wait_until(t, RMA_CMP_EQ, 1)' \
    'shmem_put(t, t, 1, 0)' 'shmem_atomic_add(SHMEM_CTX_DEFAULT, t, 1, 0)' \
    'shmem_or_reduce(SHMEM_TEAM_WORLD, t, t, 1)' 'shmem_wait_until(t, SHMEM_CMP_EQ, 1)'; do
    call taken 'unsigned long' "$call"
    for type in 'pair' bool 'void *'; do
        case "$type $call" in
        'bool rma_p('*) call taken bool "$call" ;;
        *) call refused "$type" "$call" ;;
        esac
    done
done
for call in 'double rma_atomic_and(t, 1, 0)' 'double rma_atomic_compare_swap(t, 0, 1, 0)' \
    'char rma_atomic_add(t, 1, 0)' 'double shmem_atomic_add(t, 1, 0)' 'char shmem_wait_until(t, SHMEM_CMP_EQ, 1)' \
    'double shmem_and_reduce(SHMEM_TEAM_WORLD, t, t, 1)' 'double rma_xor_reduce(RMA_TEAM_WORLD, t, t, 1)' \
    'long shmem_put(t, reinterpret_cast<int *>(t), 1, 0)' 'const\ long rma_p(t, 1, 0)'; do
    case $call in
    'const\ long '*) call refused 'const long' "${call#const\\ long }" ;;
    *) call refused "${call%% *}" "${call#* }" ;;
    esac
done
$compiler -std=c++17 "$include" -fsyntax-only "$dir/taken.cc" >"$dir/log" 2>&1 ||
    fail "an overload refuses what it should take"
case $compiler in clang*) limit=-ferror-limit=0 ;; *) limit=-fmax-errors=0 ;; esac
if $compiler -std=c++17 $limit "$include" -fsyntax-only "$dir/refused.cc" >"$dir/log" 2>&1; then
    fail "the overloads take all of refused.cc"
fi
sed -nE 's/^.*refused\.cc:([0-9]+):[0-9]+: error: .*/\1/p' "$dir/log" | sort -u >"$dir/refused"
awk 'FILENAME == ARGV[1] { refused[$1] = 1; next } /^void f/ && !(FNR in refused) { print; n++ } END { exit n > 0 }' \
    "$dir/refused" "$dir/refused.cc" >"$dir/accepted" || {
    echo "    $(cat "$dir/accepted")"
    fail "an overload takes what it should refuse"
}

# ---- programs ----

if [ ! -f "$top_builddir/.libs/librma_shmem.so" ] ||
    grep -q '^SAN_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
    [ $failures -eq 0 ] || exit 1
    echo "check-cpp: skipped: the programs: needs a shared library without sanitizers (no --enable-sanitizers)"
    exit 77
fi
link="-L$top_builddir/.libs -lrma_shmem -lrma -Wl,-rpath,$top_builddir/.libs"

runs() { # runs PROGRAM PES...
    program=$1
    shift
    for pes; do
        # shellcheck disable=SC2086
        timeout "$(seconds 60)" $mpiexec -n "$pes" "$dir/$program" >"$dir/log" 2>&1 || fail "$program on $pes PEs"
    done
}
for compiler in $compilers; do
    # shellcheck disable=SC2086
    if $compiler -std=c++11 -O1 $warnings "$include" "$top_srcdir/test/cpp/generic.cc" -o "$dir/generic" $link \
        >"$dir/log" 2>&1; then
        runs generic 1 2
    else
        fail "test/cpp/generic.cc with $compiler"
    fi
    # The test of C's generic forms, as C++: its own text casts as C does.
    # shellcheck disable=SC2086
    if $compiler -x c++ -std=c++17 -O1 -Wall "$include" "$top_srcdir/test/shmem/osh_generic.c" \
        -o "$dir/osh_generic" $link >"$dir/log" 2>&1; then
        runs osh_generic 1 2
    else
        fail "test/shmem/osh_generic.c with $compiler"
    fi
    deep || break
done

compiler=${compilers# }
compiler=${compiler%% *}
sed -n '/^```c$/,/^```$/p' "$top_srcdir/README.md" | sed '/^```/d' >"$dir/hello.cc"
# shellcheck disable=SC2086
if $compiler -Wall -Wextra -Werror "$include" "$dir/hello.cc" -o "$dir/hello" $link >"$dir/log" 2>&1; then
    runs hello 2
    grep -qx 'PE 0 was given 1' "$dir/log" || fail "README's first program does not print what it should"
else
    fail "README's first program as C++"
fi

# Both files with the two headers, linked together.
echo 'long one(); long two(); int main(int argc, char **) { return argc > 9 && one() + two() > 0; }' >"$dir/main.cc"
# shellcheck disable=SC2086
if $compiler "$include" "$dir/main.cc" "$dir/one.cc" "$dir/two.cc" -o "$dir/both" $link >"$dir/log" 2>&1; then
    "$dir/both" >"$dir/log" 2>&1 || fail "two files that include the headers, linked"
else
    fail "two files that include the headers do not link"
fi

verdict
