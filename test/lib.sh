# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# lib.sh: the common part of the scripts test/check-NAME.sh, each of which sources this file first.
#
#   script                     check-NAME
#   top_srcdir, top_builddir   absolute; from the environment, as make sets them, else the script's own place and the
#                              current folder
#   dir                        the script's own folder, which is removed when the script ends
#   mpiexec                    the launcher: one word or more
#
# It also sources launcher.sh, layout.sh, depth.sh, deadline.sh and leftovers.sh, whose heads describe them.

# shellcheck disable=SC2034,SC2329
script=$(basename "$0" .sh)
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/..}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
mpiexec=${MPIEXEC:-mpiexec.mpich}
export top_srcdir top_builddir
# shellcheck source=launcher.sh
. "$top_srcdir/test/launcher.sh"
# shellcheck source=layout.sh
. "$top_srcdir/test/layout.sh"
# shellcheck source=depth.sh
. "$top_srcdir/test/depth.sh"
# shellcheck source=deadline.sh
. "$top_srcdir/test/deadline.sh"
# shellcheck source=leftovers.sh
. "$top_srcdir/test/leftovers.sh"

# For programs, which multiply their own deadlines by it, and for scripts that are started from here.
RMA_TEST_SLOW=$(slow)
export RMA_TEST_SLOW

dir=$(mktemp -d "${TMPDIR:-/tmp}/$script.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM

# skip WHY: the script cannot test anything here. hard WHY: the test could not be tried.
skip() { echo "$script: skipped: $*"; exit 77; }
hard() { echo "$script: $*" >&2; exit 99; }
# need PROGRAM...: fails hard unless all of them have been built.
need() { for program; do [ -x "$program" ] || hard "there is no $program"; done; }
# skip_with_sanitizers: for scripts whose programs are compiled without sanitizers, or are preloaded.
skip_with_sanitizers() {
    case ${SANITIZERS-} in *-fsanitize*) skip "needs a build without --enable-sanitizers${1:+: $1}" ;; esac
}
# need_lines: the build reads debugging information.
need_lines() {
    grep -q '^#define HAVE_ELFUTILS_LIBDWFL_H 1' "$top_builddir/config.h" ||
        skip "needs a build with libdw (Debian package libdw-dev)"
}
# need_rma_mpi: sets $preload to the words that start a program with this build's rma_mpi.
need_rma_mpi() {
    library=$top_builddir/.libs/librma_mpi.so
    [ -r "$library" ] || hard "there is no $library"
    LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    preload="sh $top_builddir/tools/rma_mpi --library $library"
}
# unset_settings: removes the caller's settings of the library, which must not change the test.
unset_settings() {
    for name in $(env | sed -n 's/^\(RMA_[A-Za-z0-9_]*\)=.*/\1/p'); do
        case $name in RMA_TEST_*) ;; *) unset "$name" ;; esac
    done
}

# run COMMAND...: sets $status to its exit code; 124 or 137: it has not ended within a minute. What it has printed is in
# $dir/out and $dir/err.
run() {
    status=0
    timeout -k 5 "$(seconds 60)" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
}

failures=0
ok() { echo "ok   $*"; }
# fail TEXT: counts a failure, and shows the end of what was printed last.
fail() {
    echo "FAIL $*"
    for said in "$dir/log" "$dir/out" "$dir/err"; do
        [ ! -s "$said" ] || tail -n 60 "$said" | sed 's/^/    /'
    done
    failures=$((failures + 1))
}
# exits CODE WHAT: `run` has ended with CODE.
exits() { if [ "$status" -eq "$1" ]; then ok "$2"; else fail "$2: exit $status, not $1"; fi; }
# code_is_lost: a job that must fail has ended with 0, and its launcher may have lost the exit code. Counts them.
lost=0
code_is_lost() {
    [ "$loses_codes" = yes ] || return 1
    lost=$((lost + 1))
}
# verdict: the script's last command, which gives its exit code.
verdict() {
    [ $lost -eq 0 ] ||
        echo "skipped: $lost exit codes: needs a launcher that does not lose them, as Hydra 4.2 does (mpich 7057)"
    [ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
}
