#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-format.sh: no line of code, comment or Markdown has more than 120 columns, and C is as .clang-format says.
#
# Rows of Markdown's tables are left out: they cannot be broken. Other versions of clang-format than 14 (Debian 12's)
# break lines elsewhere, so with these, and without clang-format, only the columns are looked at.
set -eu

srcdir=${srcdir:-$(dirname "$0")/..}
cd "$srcdir"
folders='base heap runtime collectives shmem include bench examples test tools docs'
# shellcheck disable=SC2086
code=$(find $folders -name build -prune -o -type f -name '*.[ch]' -print | LC_ALL=C sort)
# shellcheck disable=SC2086
prose=$(find $folders -type f -name '*.md' ! -path 'docs/results/*' -print | LC_ALL=C sort)
prose="README.md CHANGELOG.md CONTRIBUTING.md $prose"
[ -n "$code" ] || { echo "check-format: there is no source file in $srcdir" >&2; exit 99; }

status=0
# Columns, not bytes: a letter with an accent is one.
# shellcheck disable=SC2086
LC_ALL=C awk '
    { line = $0; gsub(/[\200-\277]/, "", line) }
    length(line) > 120 && !(FILENAME ~ /\.md$/ && line ~ /^ *\|/) {
        printf "%s:%d: %d columns, 120 are the most\n", FILENAME, FNR, length(line)
        bad = 1
    }
    END { exit bad }' $code $prose || status=1

case $(clang-format --version 2>/dev/null || echo none) in
*' version 14.'*)
    # shellcheck disable=SC2086
    clang-format --dry-run -Werror $code || { echo 'check-format: run clang-format -i on these files'; status=1; }
    ;;
none) echo 'check-format: clang-format is not there: only columns were looked at' ;;
*) echo "check-format: $(clang-format --version): only version 14 breaks lines as this tree does; only columns were looked at" ;;
esac
exit $status
