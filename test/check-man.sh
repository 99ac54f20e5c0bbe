#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-man.sh: the manual pages agree with the headers (man/check-man lists what is compared), docs/settings.md and
# rma(7) agree with the table of settings in base/settings.c, and apropos(1) finds each page.
#
# Broken by a setting, a value or a default that is changed only in the table, or only in a manual, and by a NAME
# section that mandb(8) cannot read.
set -eu
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$(pwd)}
status=0
sh "$top_srcdir/man/check-man" "$top_srcdir" "$top_builddir" || status=1
sh "$top_srcdir/man/write-settings" --check "$top_builddir/tools/rma_info" "$top_srcdir" || status=1
[ $status -ne 0 ] || echo "write-settings: docs/settings.md and man/rma.7 have the table of settings"

# A manual as make install makes it, with mandb's index of names and descriptions.
if command -v mandb >/dev/null && command -v apropos >/dev/null; then
    dir=$(mktemp -d "${TMPDIR:-/tmp}/check-man.XXXXXX")
    trap 'rm -rf "$dir"' EXIT
    mkdir "$dir/man1" "$dir/man3" "$dir/man7"
    for page in "$top_srcdir"/man/*.[1-9]; do cp "$page" "$dir/man${page##*.}"; done
    mandb -cq "$dir" >"$dir/log" 2>&1 || true
    apropos -M "$dir" -l . >"$dir/found" 2>>"$dir/log" || true
    for page in "$top_srcdir"/man/*.[1-9]; do
        name=$(basename "$page")
        grep -q "^${name%.*} (${name##*.}) *- [a-zA-Z]" "$dir/found" && continue
        echo "apropos does not find man/$name:"
        cat "$dir/log"
        status=1
    done
    [ $status -ne 0 ] || echo "apropos finds $(wc -l <"$dir/found") names"
else
    echo "skipped: what apropos finds: needs mandb (Debian package man-db)"
fi
exit $status
