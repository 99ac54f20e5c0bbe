# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# leftovers.sh: finds the processes and the files in /dev/shm that a job has left behind. Scripts that start jobs source
# this file, and deadline.sh.
#
# The script sets $dir, its own folder, and $job_mark, NAME=VALUE; it runs shm_files >"$dir/shm.before" and then starts
# the job with that variable in its environment, which identifies the job's processes wherever they were forked.

# shellcheck disable=SC2154
# Open MPI 5 leaves its segments (sm_segment) if it is killed or a process has no launcher; LLVM's OpenMP leaves its
# files (__KMP_) if it is killed. Jobs of other scripts, which run at the same time, also do.
shm_files() {
    find /dev/shm -maxdepth 1 -type f -user "$(id -u)" ! -name "sm_segment.*" ! -name "__KMP_*" 2>/dev/null | sort
}

# shm_in_use FILE: a process maps FILE or has it open, so it belongs to another job, which may come and go.
shm_in_use() {
    grep -qsF " $1" /proc/[0-9]*/maps 2>/dev/null ||
        find /proc/[0-9]*/fd -maxdepth 1 -lname "$1" 2>/dev/null | grep -q .
}

# left_shm: the new files that no process uses.
left_shm() {
    shm_files >"$dir/shm.after"
    comm -13 "$dir/shm.before" "$dir/shm.after" | while IFS= read -r file; do
        shm_in_use "$file" || echo "$file"
    done
}

# left_processes: /proc/PID/environ of each process of the job.
left_processes() { grep -lszxF "$job_mark" /proc/[0-9]*/environ 2>/dev/null || true; }

# settle COMMAND: waits until COMMAND prints nothing, at most 5 s (test/deadline.sh); prints what COMMAND printed last.
settle() {
    tries=0
    while left=$("$@"); [ -n "$left" ] && [ $tries -lt "$(seconds 50)" ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    echo "$left" | tr '\n' ' ' | sed 's/ $//'
}
