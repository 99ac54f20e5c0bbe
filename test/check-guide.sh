#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-guide.sh: docs/from_mpi_and_shmem.md and the programs of examples/from agree: each call in a table of the page,
# of librma and of the other interface, is in the program that the head of the table names; the page names each
# program; and each program compiles without a warning, runs, and finds its own result right.
#
# Broken by a call that changes its name or arguments, and by a page that is changed without the program.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
unset_settings

page=$top_srcdir/docs/from_mpi_and_shmem.md
programs=$top_srcdir/examples/from

# A line "PROGRAM<tab>CALL" for each piece of code in a table.
awk '
    match($0, /\[[a-z_]+\.c\]/) { program = substr($0, RSTART + 1, RLENGTH - 2) }
    /^\|/ {
        while (match($0, /`[^`]+`/)) {
            print program "\t" substr($0, RSTART + 1, RLENGTH - 2)
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' "$page" >"$dir/calls"
awk -F '\t' -v folder="$programs" '
    function read(name,    line, text) {
        while ((getline line <(folder "/" name)) > 0) text = text line " "
        gsub(/[ \t]+/, " ", text)
        return text
    }
    !($1 in code) { code[$1] = read($1) }
    !index(code[$1], $2) { print $1 " does not have: " $2; bad = 1 }
    END { exit bad || NR < 100 }' "$dir/calls" >"$dir/out" || fail "the page has other calls than the programs"
[ $failures -gt 0 ] || ok "$(wc -l <"$dir/calls") calls of the page are in the programs"

for file in "$programs"/*.c; do
    name=$(basename "$file" .c)
    grep -q "^| .*(\[$name\.c\](\.\./examples/from/$name\.c)" "$page" || fail "the page does not name $name.c"
    # The library is that of the build; SANITIZERS and the compiler are lists of words.
    # shellcheck disable=SC2086
    if ! ${MPICC:-mpicc.mpich} -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror ${SANITIZERS-} \
        -I"$top_srcdir/include" "$file" -o "$dir/$name" -L"$top_builddir/.libs" -lrma \
        -Wl,-rpath,"$top_builddir/.libs" >"$dir/out" 2>&1; then
        fail "$name.c does not compile"
        continue
    fi
    jobs=one:2
    ! deep || jobs="one:1 one:2 one:3 nolocal:2 blocks2:4"
    for job in $jobs; do
        layout=${job%:*} count=${job#*:}
        # shellcheck disable=SC2046,SC2086
        run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" "$dir/$name"
        exits 0 "$name, $count PEs, $(layout_words "$layout")"
    done
done
verdict
