#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-man.sh: the manual pages agree with the headers (man/check-man lists what is compared), and docs/settings.md and
# rma(7) agree with the table of settings in base/settings.c.
#
# Broken by a setting, a value or a default that is changed only in the table, or only in a manual.
set -eu
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$(pwd)}
status=0
sh "$top_srcdir/man/check-man" "$top_srcdir" || status=1
sh "$top_srcdir/man/write-settings" --check "$top_builddir/tools/rma_info" "$top_srcdir" || status=1
[ $status -ne 0 ] || echo "write-settings: docs/settings.md and man/rma.7 have the table of settings"
exit $status
