#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# autogen.sh: make the configure script of a fresh clone. Releases come with it.
set -eu
case ${1-} in
-h | --help) echo "usage: ./autogen.sh      then: ./configure && make && make check"; exit 0 ;;
esac
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize pkg-config; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "autogen.sh: $tool is missing; tools/deps --install installs what is needed" >&2
        exit 1
    }
done
mkdir -p m4 build-aux
exec autoreconf --force --install
