# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# leftovers.sh: for scripts that start jobs to source: what a job that is over has left behind, processes and files of /dev/shm.
#
# Wants $dir, a folder of the script's own. The job is started with the variable that $job_mark has, NAME=VALUE, in its environment, by which
# its processes are known wherever they were forked, and after shm_files >"$dir/shm.before".

# shellcheck disable=SC2154
shm_files() { find /dev/shm -maxdepth 1 -type f -user "$(id -u)" 2>/dev/null | sort; }

# Of other jobs, which come and go: what somebody maps or has open. find, not ls: a name with any character in it.
shm_in_use() {
    grep -qsF " $1" /proc/[0-9]*/maps 2>/dev/null || find /proc/[0-9]*/fd -maxdepth 1 -lname "$1" 2>/dev/null | grep -q .
}

# left_shm: files that were not there before and that nobody uses.
left_shm() {
    shm_files >"$dir/shm.after"
    comm -13 "$dir/shm.before" "$dir/shm.after" | while IFS= read -r file; do shm_in_use "$file" || echo "$file"; done
}

# left_processes: /proc/PID/environ of each.
left_processes() { grep -lszxF "$job_mark" /proc/[0-9]*/environ 2>/dev/null || true; }

# settle COMMAND: wait until it prints nothing, at most 5 s; what it last printed.
settle() {
    tries=0
    while left=$("$@"); [ -n "$left" ] && [ $tries -lt 50 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    echo "$left" | tr '\n' ' ' | sed 's/ $//'
}
