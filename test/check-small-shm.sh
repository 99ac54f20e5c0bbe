#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-small-shm.sh: a small /dev/shm gives an error message, not a SIGBUS; and scarce memory gives an error message,
# not a kill by the kernel.
#
# In containers /dev/shm has 64 MiB; a program can map more, and dies when it touches more. This script mounts a file
# system of that size over /dev/shm, which only the script and its children see. test/job/exhaustion then requests more
# than there is, on one PE and on all PEs together, checks the error and that the memory is released, and continues with
# less; and it allocates until memory is exhausted, which leaves a part to the system and to MPI unless a limit is set.
# The same with a machine that shows little memory (test/fault/fault.c), where a PE that takes more than that is killed.
# If address space is scarce, rma_init reserves less of it, for the larger heap, and does not report the refused
# attempts.
# Broken by memory that a PE touches before it commits it, by PEs that each take the memory left for all, by a failed
# commit that leaves /dev/shm full, by a reason that only one PE knows, and by an rma_init that dies if there is almost
# no memory.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
exhaustion=$top_builddir/test/job/exhaustion
hello=$top_builddir/examples/hello
queries=$top_builddir/test/job/queries

if [ "${1-}" != inside ]; then
    need "$exhaustion" "$hello" "$queries"
    command -v unshare >/dev/null 2>&1 || skip "needs unshare (Debian package util-linux)"
    # As root, or as root of a user namespace of one's own.
    for options in -m -rm; do
        if unshare $options sh -c 'mount -t tmpfs -o size=64m tmpfs /dev/shm' 2>/dev/null; then
            rmdir "$dir"
            exec unshare $options sh "$0" inside
        fi
    done
    skip "needs root, or namespaces for users, to mount a small /dev/shm"
fi

# Each mount covers the previous one; all of them end with the namespace.
shm() { mount -t tmpfs -o "size=$1" tmpfs /dev/shm; }
died() { grep -qiE 'signal 7|bus error' "$dir/out" "$dir/err" || [ "$status" -eq 135 ] || [ "$status" -eq 7 ]; }

shm 64m
for n in 2 4; do
    # mpiexec may be a command with arguments.
    # shellcheck disable=SC2086
    run env RMA_TEST_SHM=1 $mpiexec -n $n "$exhaustion"
    if died; then
        fail "$n PEs and 64 MiB: SIGBUS"
    elif [ "$status" -ne 0 ]; then
        fail "$n PEs and 64 MiB: exit $status"
    else
        ok "$n PEs and 64 MiB"
    fi
done

# With a set limit there is no reserve.
# shellcheck disable=SC2086
run env RMA_TEST_SHM=1 RMA_TEST_LIMITED=1 $mpiexec -n 2 "$exhaustion"
if [ "$status" -ne 0 ]; then fail "2 PEs with a limit: exit $status"; else ok "2 PEs with a limit"; fi

# There is memory for one PE, and all PEs populate at once. Heaps without limits leave a part of it to others, heaps
# with limits only a margin. /dev/shm is larger than the memory, but not much, so that a bug does not take the
# machine's. UCX would replace the functions that fault.c replaces.
if [ -z "${SANITIZERS-}" ]; then
    shm 480m
    mib=320
    ${MPICC:-mpicc.mpich} -shared -fPIC -O1 -w -o "$dir/fault.so" "$(dirname "$0")/fault/fault.c" -ldl
    for limited in '' RMA_TEST_LIMITED=1; do
        # shellcheck disable=SC2086
        run env UCX_MEM_MMAP_HOOK_MODE=none $mpiexec -n 4 \
            env $limited RMA_TEST_MEMORY=$((mib << 20)) RMA_TEST_FAULT_MEMORY=$((mib << 20)) \
            LD_PRELOAD="$dir/fault.so" "$exhaustion"
        if [ "$status" -ne 0 ]; then
            fail "4 PEs and $mib MiB of memory${limited:+, heaps with limits}: exit $status"
        else
            ok "4 PEs and $mib MiB of memory${limited:+, heaps with limits}"
        fi
    done
    shm 64m
fi

# test/job/queries begins with a look at the last error. A sanitizer needs all addresses for itself.
if [ -z "${SANITIZERS-}" ]; then
    # shellcheck disable=SC2086
    run prlimit --as=$((20000000 << 10)) $mpiexec -n 2 "$queries"
    if [ "$status" -ne 0 ]; then fail "20 GB of addresses: exit $status"; else ok "20 GB of addresses"; fi
    # Only the symmetric heap shrinks, which has no limit: a small limit of the other heap is kept.
    # shellcheck disable=SC2086
    run env RMA_LOCAL_MAX=2M RMA_INFO=1 prlimit --as=$((20000000 << 10)) $mpiexec -n 2 "$queries"
    if [ "$status" -ne 0 ] || ! grep -q ' and 2 MiB (local) per PE' "$dir/out" "$dir/err"; then
        fail "20 GB of addresses, 2 MiB of local heap: exit $status"
    else
        ok "20 GB of addresses, 2 MiB of local heap"
    fi
fi

# Down to nothing. UCX_TLS keeps MPI's own shared memory out of /dev/shm: otherwise MPI fails before librma begins. (TCP
# would do that, too, but with TCP MPI_Finalize of MPICH 4.0.2 hangs in one run of a hundred, without librma as well.)
accepted=0 refused=0
for size in 32k 128k 256k 512k 640k 768k 1m 4m; do
    shm $size
    # shellcheck disable=SC2086
    run env UCX_TLS=self,sysv $mpiexec -n 2 "$hello"
    if grep -q 'rma_init: .*/dev/shm' "$dir/out" "$dir/err" && [ "$status" -ne 0 ] && ! died; then
        refused=$((refused + 1))
        ok "$size is refused: $(sed -n 's/.*rma_init: \([^;]*\);.*/\1/p' "$dir/out" "$dir/err" | head -n 1)"
    elif [ "$status" -eq 0 ] && [ "$(grep -c '^hello' "$dir/out")" -eq 2 ]; then
        accepted=$((accepted + 1))
        ok "$size is enough for 2 PEs that need little"
    elif grep -qE 'MPI_?[A-Z]*_Init|UCX +ERROR' "$dir/out" "$dir/err"; then
        ok "$size is too little for MPI itself"
    else
        fail "$size: exit $status, and no word of /dev/shm"
    fi
done
[ $accepted -gt 0 ] || fail "nothing was enough"
[ $refused -gt 0 ] || echo "note: librma has refused none of these sizes, so its refusal was not seen"

verdict
