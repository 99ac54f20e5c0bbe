#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-cgroup.sh: if a control group has no memory left, PEs get an error message, and the kernel kills none.
#
# The script makes a control group with a memory limit, of version 1 or 2, and runs test/job/exhaustion in it: there one
# PE asks for more memory than there is, then all PEs together do, then they allocate until there is no more. Then it
# runs rma_info, which reports the limit as the machine's memory. Needs root, and a writable file system of control
# groups.
# Broken by a limit that librma does not find or respect, by PEs that each take the memory left for all, and by memory
# that PEs do not release.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
exhaustion=$top_builddir/test/job/exhaustion
info=$top_builddir/tools/rma_info
mib=384

need "$exhaustion" "$info"

# The memory controller belongs to one version: version 1 if it is mounted there, else version 2.
where=$(awk '{ n = split($0, half, " - "); split(half[1], a, " "); split(half[2], b, " ")
    if (b[1] == "cgroup" && ("," b[3] ",") ~ /,memory,/) { print 1, a[5]; exit }
    if (b[1] == "cgroup2" && !two) two = a[5] }
    END { if (two) print 2, two }' /proc/self/mountinfo | head -n 1)
[ -n "$where" ] || skip "needs control groups that are mounted, with the memory controller"
version=${where%% *}
group=${where#* }/librma-test.$$
case $version in
1) limit=memory.limit_in_bytes ;;
*) limit=memory.max ;;
esac
mkdir "$group" 2>/dev/null ||
    skip "needs root, and control groups that are mounted writable: none can be made in ${where#* }"

# The kernel releases a group only some time after its last process has ended.
clean() {
    rm -rf "$dir"
    tries=0
    while [ -d "$group" ] && ! rmdir "$group" 2>/dev/null && [ $tries -lt "$(seconds 50)" ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
}
trap clean EXIT
[ -e "$group/$limit" ] || skip "needs the memory controller, which $group has not"
echo $((mib << 20)) 2>/dev/null >"$group/$limit" || skip "needs root: the limit of $group cannot be set"
if [ "$version" = 2 ] && [ -e "$group/memory.swap.max" ]; then echo 0 >"$group/memory.swap.max"; fi

# A script that runs its arguments in the group.
# shellcheck disable=SC2016
printf 'echo $$ >"%s/cgroup.procs" && exec "$@"\n' "$group" >"$dir/inside"

# A /dev/shm that is smaller than the group refuses first. A node of one PE does not use it.
pes='1 2 4'
if [ "$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $2 }')" -le $((mib << 10)) ]; then
    echo "note: /dev/shm is no larger than the group: 1 PE only"
    pes=1
fi
for n in $pes; do
    # mpiexec may be a command with arguments.
    # shellcheck disable=SC2086
    run sh "$dir/inside" env RMA_TEST_GROUP=$((mib << 20)) $mpiexec -n $n "$exhaustion"
    if [ "$status" -ne 0 ]; then
        fail "$n PEs and $mib MiB: exit $status"
    else
        ok "$n PEs in a group of $mib MiB (version $version)"
    fi
done

run sh "$dir/inside" "$info"
if grep -qE "^ *memory +$mib(\.0)? MiB" "$dir/out"; then
    ok "100% is $mib MiB"
else
    fail "rma_info does not say that the memory is $mib MiB"
fi

verdict
