#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-format.sh: no line of code, comment, script, build file, manual page or Markdown has more than 120 columns, and
# C is formatted by .clang-format.
#
# Rows of Markdown's tables are left out: they cannot be broken. Other versions of clang-format than 14 (Debian 12's)
# break lines elsewhere, so with these, and without clang-format, the script checks only the columns. It also checks the
# reasons for which tests are skipped.
set -eu

srcdir=${srcdir:-$(dirname "$0")/..}
cd "$srcdir"
folders='base heap runtime collectives interfaces instruments include bench examples test tools docs'
# shellcheck disable=SC2086
code=$(find $folders -name build -prune -o -type f -name '*.[ch]' -print | LC_ALL=C sort)
# shellcheck disable=SC2086
prose=$(find $folders -type f -name '*.md' ! -path 'docs/results/*' -print | LC_ALL=C sort)
prose="README.md CHANGELOG.md CONTRIBUTING.md $prose"
[ -n "$code" ] || { echo "check-format: there is no source file in $srcdir" >&2; exit 99; }

# Finds scripts, tables, models and pages without git, which a tarball does not have. A file without a suffix is our
# script if it names the licence, which libtool's wrappers of programs do not. Files that configure generates from
# NAME.in are left out.
script_folders='man test tools bench'
[ ! -d .ci ] || script_folders="$script_folders .ci" # a tarball has it not
# shellcheck disable=SC2086
text=$({
    echo Makefile.am
    echo configure.ac
    find autogen.sh man/aliases test/job/plan test/perf/counts.*
    find man -type f -name '*.[1-9]'
    find $script_folders -type f \( -name '*.sh' -o -name '*.awk' -o -name '*.gp' -o -name '*.in' -o -name '*.pml' \
        -o -name '*.supp' \)
    find $script_folders -type f ! -name '*.*' ! -name 'oshc++' | while IFS= read -r file; do
        [ -e "$file.in" ] || ! head -n 3 "$file" | grep -aq '^# SPDX-License-Identifier' || echo "$file"
    done
} | LC_ALL=C sort -u)
for file in test/check-format.sh tools/check test/hosts man/check-man man/rma.7 test/model/lock.pml tools/rmacc.in; do
    case " $(echo "$text" | tr '\n' ' ') " in
    *" $file "*) ;;
    *) echo "check-format: does not find $file" >&2; exit 99 ;;
    esac
done

status=0
# Columns, not bytes: an accented letter is one column, and a tab extends to the next multiple of 8.
# shellcheck disable=SC2086
LC_ALL=C awk '
    {
        line = $0
        gsub(/[\200-\277]/, "", line)
        while (at = index(line, "\t"))
            line = substr(line, 1, at - 1) substr("        ", 1 + (at - 1) % 8) substr(line, at + 1)
    }
    length(line) > 120 && !(FILENAME ~ /\.md$/ && line ~ /^ *\|/) {
        printf "%s:%d: %d columns, 120 are the most\n", FILENAME, FNR, length(line)
        bad = 1
    }
    END { exit bad }' $code $prose $text || status=1

# A test that is skipped says what it needs: the package, the privilege, the build.
if grep -nE '(job_skip\(|[^_]skip )"[^$]|skipped: [^$%]' test/*.sh test/hosts test/*/*.sh test/job/*.c test/shmem/*.c |
    grep -vE '^[^:]*:[0-9]*: *#|needs|check-format'; then
    echo 'check-format: these reasons to skip do not say what the test needs'
    status=1
fi

version=$(clang-format --version 2>/dev/null || echo none)
case $version in
*' version 14.'*)
    # shellcheck disable=SC2086
    clang-format --dry-run -Werror $code || { echo 'check-format: run clang-format -i on these files'; status=1; }
    ;;
*) echo "skipped: the layout of C: needs clang-format 14 (Debian 12's package clang-format), here is: $version" ;;
esac
exit $status
