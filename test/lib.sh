# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# lib.sh: what the scripts test/check-NAME.sh have in common. Each of them sources this file first.
#
#   script                     check-NAME
#   top_srcdir, top_builddir   absolute; from the environment, as make sets them, else by where the script stands and
#                              where it is started
#   dir                        a folder of the script's own, which is removed when the script ends
#   mpiexec                    the launcher: one word or more
#
# It also sources launcher.sh, layout.sh, depth.sh, deadline.sh and leftovers.sh, whose heads say what they have.

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

# For the programs, whose own deadlines are as many times as long, and for scripts that are started from here.
RMA_TEST_SLOW=$(slow)
export RMA_TEST_SLOW

dir=$(mktemp -d "${TMPDIR:-/tmp}/$script.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM

# skip WHY: the script cannot show anything here. hard WHY: it could not be tried.
skip() { echo "$script: skipped: $*"; exit 77; }
hard() { echo "$script: $*" >&2; exit 99; }
# need PROGRAM...: each of them has been built.
need() { for program; do [ -x "$program" ] || hard "there is no $program"; done; }
# skip_with_sanitizers: for scripts whose programs are compiled without them, or are preloaded.
skip_with_sanitizers() {
    case ${SANITIZERS-} in *-fsanitize*) skip "needs a build without --enable-sanitizers${1:+: $1}" ;; esac
}
# unset_settings: takes the caller's settings of the library away, which must not change the test.
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
# exits CODE WHAT: how `run` has ended.
exits() { if [ "$status" -eq "$1" ]; then ok "$2"; else fail "$2: exit $status, not $1"; fi; }
# verdict: the script's last line: its exit code.
verdict() { [ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }; }
