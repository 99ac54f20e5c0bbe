# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# fault.sh: compiles test/fault/fault.c, and runs jobs under it. Scripts that inject faults source this file, after
# test/launcher.sh.
#
# The script sets $script (its name), $dir (a folder of its own, which it removes at the end) and $top_builddir. This
# file sets $preload, and $begin with $libraries: the program test/job/begin itself, since the shell of libtool's
# wrapper would be preloaded too.

# shellcheck disable=SC2154
case ${SANITIZERS-} in
?*) echo "$script: skipped: needs a build without --enable-sanitizers (they take the functions that fail)"; exit 77 ;;
esac
begin=$top_builddir/test/job/begin
[ -x "$begin" ] || { echo "$script: there is no $begin" >&2; exit 99; }
[ ! -x "$top_builddir/test/job/.libs/begin" ] || begin=$top_builddir/test/job/.libs/begin
libraries=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
preload=$dir/fault.so
${MPICC:-mpicc.mpich} -shared -fPIC -O1 -w -o "$preload" "$(dirname "$0")/fault/fault.c" -ldl >"$dir/out" 2>&1 || {
    echo "$script: test/fault/fault.c does not compile:" >&2
    cat "$dir/out" >&2
    exit 99
}

job_id=$$.0
# shellcheck source=/dev/null
. "$(dirname "$0")/leftovers.sh"

# unset_settings: what the caller's environment sets of librma, except for the tests themselves (RMA_TEST_...).
# shellcheck disable=SC2329
unset_settings() {
    for name in $(env | sed -n 's/^\(RMA_[A-Za-z0-9_]*\)=.*/\1/p'); do
        case $name in
        RMA_TEST_*) ;;
        *) unset "$name" ;;
        esac
    done
}

# fault_job N SETTING...: runs test/job/begin as N PEs with these settings, those of the fault among them, and with
# $own, if set, on PE $own_pe alone. Sets $status (124: the job has not ended in time), and $left: the processes and
# files of /dev/shm that the job has left behind. The job's output is in $dir/out and $dir/err.
fault_job() {
    n=$1
    shift
    job_id=$$.$((${job_id##*.} + 1)) job_mark=RMA_TEST_JOB_ID=$job_id
    rm -f "$dir/note"
    shm_files >"$dir/shm.before"
    status=0
    # mpiexec may be a command with arguments.
    # shellcheck disable=SC2086,SC2016
    env RMA_TEST_JOB_ID="$job_id" RMA_TEST_FAULT_NOTE="$dir/note" "$@" \
        timeout -k 5 "${fault_deadline:-30}" $mpiexec -n "$n" \
        sh -c 'if [ "${PMI_RANK-${OMPI_COMM_WORLD_RANK-}}" = "$1" ]; then own=$2; else own=; fi
               shift 2
               exec env $own "$@"' sh "${own_pe-}" "${own-}" \
        LD_LIBRARY_PATH="$libraries" LD_PRELOAD="$preload" "$begin" \
        >"$dir/out" 2>"$dir/err" </dev/null || status=$?
    [ $status -ne 137 ] || status=124
    left=$(settle left_processes)
    for file in $left; do kill -KILL "$(echo "$file" | tr -dc 0-9)" 2>/dev/null || true; done
    left="$left$(settle left_shm)"
}

fault_hit() { [ -e "$dir/note" ]; }
# all_passed N: each of the N PEs has come to the end of its program.
all_passed() { [ $status -eq 0 ] && [ "$(grep -c '^PE [0-9]* passed' "$dir/out")" -eq "$1" ]; }
