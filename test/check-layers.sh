#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-layers.sh: the sources keep to the layers (tools/check-layers says which rules).
set -eu
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
exec sh "$top_srcdir/tools/check-layers" "$top_srcdir"
