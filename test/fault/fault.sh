# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# fault.sh: compiles test/fault/fault.c, and runs jobs under it. Scripts that inject faults source this file, after
# test/lib.sh.
#
# It sets $preload, and $begin, the program.

# shellcheck disable=SC2154
skip_with_sanitizers "they take the functions that faults are injected into"
begin=$top_builddir/test/job/begin
need "$begin"
preload=$dir/fault.so
${MPICC:-mpicc.mpich} -shared -fPIC -O1 -w -o "$preload" "$(dirname "$0")/fault/fault.c" -ldl >"$dir/out" 2>&1 || {
    echo "$script: test/fault/fault.c does not compile:" >&2
    cat "$dir/out" >&2
    exit 99
}

job_id=$$.0

# fault_job N SETTING...: runs $program, if set, else test/job/begin, with the library $above, if set, loaded before
# fault.c, as N PEs with these settings, those of the fault among them, and with
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
        timeout -k 5 "$(seconds 60)" $mpiexec -n "$n" \
        sh -c 'if [ "${PMI_RANK-${OMPI_COMM_WORLD_RANK-}}" = "$1" ]; then own=$2; else own=; fi
               shift 2
               exec env $own "$@"' sh "${own_pe-}" "${own-}" \
        LD_PRELOAD="${above:+$above:}$preload" "${program:-$begin}" \
        >"$dir/out" 2>"$dir/err" </dev/null || status=$?
    [ $status -ne 137 ] || status=124
    left=$(settle left_processes)
    for file in $left; do kill -KILL "$(echo "$file" | tr -dc 0-9)" 2>/dev/null || true; done
    left="$left$(settle left_shm)"
}

fault_hit() { [ -e "$dir/note" ]; }
# all_passed N: each of the N PEs has come to the end of its program.
all_passed() { [ $status -eq 0 ] && [ "$(grep -c '^PE [0-9]* passed' "$dir/out")" -eq "$1" ]; }
