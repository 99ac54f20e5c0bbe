# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# cache.sh: sourced by tools/demo and tools/check, so that the second of them need not compile what the first has
# compiled.
#
# cached COMMAND...: runs COMMAND, a build, with the links from the compilers' names to ccache first in PATH. A cached
# object is used only for the same compiler, options, source and headers. It may come from another build folder: only
# the name of that folder in its debugging information then differs, and sources have their full names there. Without
# ccache, or if ccache does not work here, as without a home folder, the compilers run as ever.
ccache_links=
ccache_trial=$(mktemp -d "${TMPDIR:-/tmp}/rma-ccache.XXXXXX")
echo 'int x;' >"$ccache_trial/x.c"
for folder in /usr/lib/ccache /usr/lib64/ccache; do
    if [ -x "$folder/gcc" ] && "$folder/gcc" -c "$ccache_trial/x.c" -o "$ccache_trial/x.o" 2>/dev/null; then
        ccache_links=$folder
        break
    fi
done
rm -rf "$ccache_trial"

cached() {
    if [ -n "$ccache_links" ]; then
        env CCACHE_NOHASHDIR=1 "PATH=$ccache_links:$PATH" "$@"
    else
        "$@"
    fi
}
