#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-readme.sh: the pages' links lead somewhere; docs/structure.md lists the modules as their headers describe them;
# and README.md is true: at depth `long` test/type-readme types its commands in a new folder.
#
# Broken by a page, a heading or an example that gets another name, by a module that is new, gone or described anew
# without tools/modules --write, by a command of README.md that does not work any more, and by one that prints something
# else.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$top_srcdir"

# anchors FILE: the names that headings have in links. links FILE: the targets of relative links.
anchors() {
    # shellcheck disable=SC2016
    sed -n '/^```/,/^```/d; s/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -e 's/[^a-z0-9_ -]//g' -e 's/ /-/g'
}
links() { grep -oE '\]\([a-zA-Z_./#-][^):]*\)' "$1" | sed -e 's/^](//' -e 's/)$//' || true; }
n=0
for page in README.md CONTRIBUTING.md instruments/call_lists/README.md docs/*.md; do
    for link in $(links "$page"); do
        file=${link%%#*}
        file=$(dirname "$page")/$file
        [ "${link%%#*}" ] || file=$page
        n=$((n + 1))
        if [ ! -e "$file" ]; then
            fail "$page: no such file: $link"
        elif [ "$link" != "${link#*#}" ]; then
            anchors "$file" | grep -qxF -- "${link#*#}" || fail "$page: no such heading: $link"
        fi
    done
done
[ $n -gt 100 ] || fail "finds only $n links"
[ $failures -gt 0 ] || ok "$n links"

if sh tools/modules --check . >"$dir/out" 2>&1; then
    ok "the modules of docs/structure.md"
else
    cat "$dir/out"
    fail "docs/structure.md has other modules than the headers: run tools/modules --write"
fi

# The files that the commands name, but for those that the commands themselves make.
sh test/type-readme --list >"$dir/out" 2>&1 || fail "test/type-readme --list"
grep -oE '(examples|tools)/[a-z_0-9/.]*' "$dir/out" | sort -u >"$dir/files"
while IFS= read -r file; do
    [ -e "$file" ] || [ -e "$file.in" ] || fail "README.md: no such file: $file"
done <"$dir/files"
[ $failures -gt 0 ] || ok "the files of README.md's commands"

if deep && [ -e .git ] && [ "$mpi" = mpich ]; then
    status=0
    timeout -k 5 "$(seconds 1200)" sh test/type-readme >"$dir/out" 2>&1 </dev/null || status=$?
    exits 0 "README.md, typed"
    cat "$dir/out"
fi
verdict
