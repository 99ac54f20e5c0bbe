#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-man.sh: the manual pages say what the headers say (man/check-man says what is compared).
set -eu
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
exec sh "$top_srcdir/man/check-man" "$top_srcdir"
