#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-abi.sh: tools/check-abi finds what is added, removed or changed in a library, and demands the version number
# that libtool's rules require. Broken by a change of abidiff's output, which the tool parses.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
command -v abidiff >/dev/null 2>&1 || skip "needs abidiff (Debian package abigail-tools)"

make_library() { # make_library FOLDER MAJOR.AGE.REVISION SOURCE
    mkdir -p "$dir/$1"
    rm -f "$dir/$1"/*
    printf '%s\n' "$3" >"$dir/$1.c"
    for name in librma librma_shmem; do
        ${CC:-cc} -g -shared -fPIC -Wl,-soname,$name.so."${2%%.*}" "$dir/$1.c" -o "$dir/$1/$name.so.$2"
        ln -s $name.so."$2" "$dir/$1/$name.so"
    done
}
expect() { # expect CODE TEXT MAJOR.AGE.REVISION SOURCE: of check-abi after this change
    make_library new "$3" "$4"
    code=0
    sh "$top_srcdir/tools/check-abi" --against="$dir/old" "$dir/new" >"$dir/log" 2>&1 || code=$?
    if [ $code -eq "$1" ] && grep -qF -- "$2" "$dir/log"; then
        ok "$3, $2"
    else
        fail "exit $code, not $1 with '$2'"
    fi
}

reach='struct rma_reach_ { long a; '
rest='}; struct rma_reach_ *rma_reach(void) { return 0; } struct pair { int a, b; };
long rma_take(struct pair *p) { return p->a; }'
first="$reach$rest int rma_gone(void) { return 1; }"
make_library old 0.0.2 "$first"
expect 0 "the same interface" 0.0.3 "$first"
expect 0 "the same interface" 0.0.2 "$reach long b; $rest int rma_gone(void) { return 2; }"
expect 1 "VERSION_INFO in configure.ac must be 1:0:1 at least" 0.0.3 "$first int rma_new(void) { return 1; }"
expect 0 "1 added, none changed" 0.1.0 "$first int rma_new(void) { return 1; }"
expect 1 "VERSION_INFO in configure.ac must be 1:0:0 at least" 0.1.0 "$reach$rest"
expect 0 "1 removed or changed" 1.0.0 "$reach$rest"
changed=$(echo "$first" | sed 's/int a, b/long a; int b/')
expect 1 "VERSION_INFO in configure.ac must be 1:0:0 at least" 0.0.3 "$changed"
expect 0 "1 removed or changed" 1.0.0 "$changed"
code=0
sh "$top_srcdir/tools/check-abi" --against=no-such-tag "$dir/new" >"$dir/log" 2>&1 || code=$?
if [ $code -ne 1 ] || ! grep -q 'against=no-such-tag is no folder, and no tag' "$dir/log"; then
    fail "a tag that is not there: exit $code"
fi
verdict
