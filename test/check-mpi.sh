#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-mpi.sh: MPI's windows on librma (rma_mpi). The programs of test/mpi are plain MPI; they run on librma, on one
# node and between nodes, and at depth `long` on MPI alone, which shows that they ask for what MPI promises. Then jobs
# that rma_mpi must refuse.
#
# Broken by a call that does not do what the standard says, by a window that is left to MPI silently, and by a job of
# which only some processes are preloaded that hangs.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers "the library is preloaded"
unset_settings

need_rma_mpi
options="-std=gnu11 -O1 -Wall -Wextra -Werror"

for program in moves shorter made updates operations sums swaps pairs accesses regions wide epochs locks windows \
    threads concurrent self crowded collectives; do
    # shellcheck disable=SC2086
    ${MPICC:-mpicc.mpich} $options -I"$top_srcdir/test/mpi" -o "$dir/$program" "$top_srcdir/test/mpi/$program.c" \
        >"$dir/log" 2>&1 || { fail "$program.c does not compile"; continue; }
    : >"$dir/log"
    jobs="one:2 nolocal:2"
    case $program in
    locks | concurrent) jobs="one:3 nolocal:2 blocks2:4" ;; # two readers and a writer
    crowded) jobs="one:4 nolocal:2" ;;
    collectives) jobs="one:3 one:2 nolocal:2 blocks2:4" ;;
    shorter | sums | self | regions | accesses) jobs="$jobs blocks2:4" ;;
    esac
    ! quick || jobs=${jobs%% *}
    if deep; then
        # shellcheck disable=SC2086
        run $mpiexec -n 2 "$dir/$program"
        exits 0 "$program on MPI alone, 2 processes"
        jobs="one:1 one:2 one:3 one:4 nolocal:2 nolocal:3 blocks2:4"
    fi
    for job in $jobs; do
        layout=${job%:*} count=${job#*:}
        # shellcheck disable=SC2046,SC2086
        run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" $preload "$dir/$program"
        exits 0 "$program on librma, $count processes, $(layout_words "$layout")"
    done
done

# Several threads of each process update the same elements.
for job in one:2 nolocal:2 blocks2:4; do
    layout=${job%:*} count=${job#*:}
    ! quick || [ "$layout" = one ] || continue
    # shellcheck disable=SC2046,SC2086
    run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" $preload "$dir/sums" threads
    exits 0 "sums of several threads on librma, $count processes, $(layout_words "$layout")"
done

# shellcheck disable=SC2086
run $mpiexec -n 4 $preload "$dir/crowded" threads
exits 0 "more processes than processors, with threads, on librma, 4 processes, one node"

# A process that waits in MPI serves the others, here without a progress thread.
# shellcheck disable=SC2086
if ${MPICC:-mpicc.mpich} $options -I"$top_srcdir/test/mpi" -o "$dir/waits" "$top_srcdir/test/mpi/waits.c"; then
    # shellcheck disable=SC2046,SC2086
    run env RMA_PROGRESS=none $(layout_switches nolocal 3) $mpiexec -n 3 $preload "$dir/waits"
    exits 0 "a process that waits in MPI serves others, $(layout_words nolocal)"
    # shellcheck disable=SC2086
    run $mpiexec -n 2 $preload "$dir/waits"
    exits 0 "a process that waits in MPI, one node"
else
    fail "waits.c does not compile"
fi

# From Fortran, whose library calls the functions of C.
if command -v mpifort.mpich >/dev/null && [ "$mpi" = mpich ]; then
    if (cd "$dir" && mpifort.mpich -o fortran "$top_srcdir/test/mpi/windows.f90") >"$dir/log" 2>&1; then
        # shellcheck disable=SC2086
        run $mpiexec -n 2 $preload "$dir/fortran"
        exits 0 "windows.f90 on librma"
    else
        fail "windows.f90 does not compile"
    fi
fi

# RMA_MPI_INFO says whose each window is.
# shellcheck disable=SC2086
run env RMA_MPI_INFO=1 $mpiexec -n 2 $preload "$dir/windows"
if [ "$(grep -c 'window [0-9]* of librma' "$dir/err")" -ge 5 ] && ! grep -q 'left to MPI' "$dir/err"; then
    ok "RMA_MPI_INFO=1 prints a line for each window"
else
    fail "RMA_MPI_INFO=1 prints a line for each window"
fi

# Some processes without the library: named at once.
# shellcheck disable=SC2086
run $mpiexec -n 1 $preload "$dir/epochs" : -n 1 "$dir/epochs"
if [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && grep -q 'process 1 of the job .* without rma_mpi' "$dir/err"; then
    ok "a process without rma_mpi is named"
else
    fail "a process without rma_mpi is named: exit $status"
fi

# A process that cannot see the others' processes, as if they were on another host. UCX must not see it either.
if deep && [ "$mpi" = mpich ] && unshare -pf --mount-proc true 2>/dev/null; then
    # shellcheck disable=SC2086
    run env UCX_TLS=tcp,self $mpiexec -n 1 unshare -pf --mount-proc $preload "$dir/epochs" : -n 1 "$dir/epochs"
    if [ "$status" -ne 0 ] && [ "$status" -ne 124 ] &&
        grep -q 'process 1 of the job has not answered .* without rma_mpi' "$dir/err"; then
        ok "a process without rma_mpi on another host is named"
    else
        fail "a process without rma_mpi on another host is named: exit $status"
    fi
fi

# A shell that starts the program in the process of the launcher has no library, but the program has.
# shellcheck disable=SC2086
run $mpiexec -n 1 $preload "$dir/epochs" : -n 1 sh -c "$preload $dir/epochs || exit"
exits 0 "one of the processes is started by a shell"

# The report of a long wait for a lock names the process that has it, which has it until the report has come. One of the
# two may have called MPI_Win_lock_all.
cat >"$dir/holder.c" <<'END'
#include "check.h"
static MPI_Win win;
static int lock_as(const char *how, int type) {
    return strcmp(how, "all") == 0 ? MPI_Win_lock_all(0, win) : MPI_Win_lock(type, 0, 0, win);
}
static int unlock_as(const char *how) {
    return strcmp(how, "all") == 0 ? MPI_Win_unlock_all(win) : MPI_Win_unlock(0, win);
}
int main(int argc, char **argv) {
    const char *holds = argv[argc - 3], *waits = argv[argc - 2], *seen = argv[argc - 1];
    long *base;
    begin();
    MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == 2 % n) lock_as(holds, MPI_LOCK_EXCLUSIVE);
    MPI_Barrier(MPI_COMM_WORLD);
    while (rank == 2 % n && access(seen, F_OK) != 0) usleep(1000);
    if (rank != 2 % n) lock_as(waits, strcmp(holds, "all") == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED);
    unlock_as(rank == 2 % n ? holds : waits);
    MPI_Win_free(&win);
    return end();
}
END
# shellcheck disable=SC2086
${MPICC:-mpicc.mpich} $options -I"$top_srcdir/test/mpi" -o "$dir/holder" "$dir/holder.c"
for job in one:lock:lock one:lock:all one:all:lock nolocal:lock:lock nolocal:lock:all nolocal:all:lock; do
    layout=${job%%:*} holds=${job#*:} waits=${job##*:}
    holds=${holds%:*}
    case $waits in all) call=MPI_Win_lock_all ;; *) call=MPI_Win_lock ;; esac
    title="a long wait in $call names the holder of the lock, $(layout_words "$layout")"
    [ "$holds" = lock ] || title="$title, which has all"
    ! quick || [ "$layout" = one ] || continue
    rm -f "$dir/seen" "$dir/err"
    # shellcheck disable=SC2046,SC2086
    (run env RMA_STALL=1 $(layout_switches $layout 3) $mpiexec -n 3 $preload "$dir/holder" $holds $waits "$dir/seen"
    exit "$status") &
    job=$!
    tries=$(($(seconds 20) * 10))
    while [ $tries -gt 0 ] && ! grep -q "PE 1 .*waited .* in $call.*: PE 2 answers" "$dir/err" 2>/dev/null; do
        tries=$((tries - 1))
        sleep 0.1
    done
    touch "$dir/seen"
    status=0
    wait $job || status=$?
    if [ "$status" -eq 0 ] && [ $tries -gt 0 ]; then ok "$title"; else fail "$title: exit $status"; fi
done

# Processes in different collective calls, which hang on MPI alone.
cat >"$dir/differ.c" <<'END'
#include "check.h"
int main(void) {
    begin();
    if (rank) MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
END
# shellcheck disable=SC2086
${MPICC:-mpicc.mpich} $options -I"$top_srcdir/test/mpi" -o "$dir/differ" "$dir/differ.c"
# shellcheck disable=SC2086
run $mpiexec -n 2 $preload "$dir/differ"
if [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && grep -q 'PE 0\( is\)\? in MPI_Barrier' "$dir/err"; then
    ok "processes in different collective calls of MPI are named"
else
    fail "processes in different collective calls of MPI are named: exit $status"
fi

# Window calls before MPI_Init are MPI's own error.
cat >"$dir/early.c" <<'END'
#include <mpi.h>
int main(void) {
    MPI_Win win;
    void *base;
    return MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS;
}
END
${MPICC:-mpicc.mpich} -o "$dir/early" "$dir/early.c"
# shellcheck disable=SC2086
run $preload "$dir/early"
if [ "$status" -ne 0 ] && [ "$status" -lt 128 ] && grep -Eq 'before (initializing|MPI_INIT)' "$dir/out" "$dir/err"; then
    ok "a window before MPI_Init is an error"
else
    fail "a window before MPI_Init is an error: exit $status"
fi

# So are those after MPI_Finalize, also with a window that was never freed.
cat >"$dir/after.c" <<'END'
#include <mpi.h>
int main(void) {
    MPI_Win win;
    void *base;
    MPI_Init(0, 0);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    MPI_Finalize();
    return MPI_Put(&win, 1, MPI_INT, 0, 0, 1, MPI_INT, win) == MPI_SUCCESS;
}
END
${MPICC:-mpicc.mpich} -o "$dir/after" "$dir/after.c"
# shellcheck disable=SC2086
run $mpiexec -n 1 $preload "$dir/after"
if [ "$status" -ne 0 ] && [ "$status" -lt 128 ] && grep -qi 'after .*finaliz' "$dir/out" "$dir/err"; then
    ok "a put after MPI_Finalize is an error"
else
    fail "a put after MPI_Finalize is an error: exit $status"
fi

# A program of the other MPI is refused before it starts; behind a command, in MPI_Init.
case $mpi in mpich) other=openmpi ;; *) other=mpich ;; esac
if command -v mpicc.$other >/dev/null; then
    mpicc.$other -o "$dir/other" "$dir/after.c"
    # shellcheck disable=SC2086
    run $preload "$dir/other"
    if [ "$status" -eq 89 ] &&
        grep -q "^rma_mpi: '$dir/other' is linked with .* this librma is built with" "$dir/err"; then
        ok "a program of another MPI is refused"
    else
        fail "a program of another MPI is refused: exit $status"
    fi
    # shellcheck disable=SC2086
    run $preload env "$dir/other"
    if [ "$status" -eq 89 ] && grep -q 'this librma was built for .* use a build of the program' "$dir/err"; then
        ok "a program of another MPI is refused behind another command"
    else
        fail "a program of another MPI is refused behind another command: exit $status"
    fi
fi

# A program that ends without MPI_Finalize keeps its exit code, as on MPICH alone. Open MPI's launcher takes it for a
# failure.
cat >"$dir/late.c" <<'END'
#include <mpi.h>
int main(void) { return MPI_Init(0, 0); }
END
${MPICC:-mpicc.mpich} -o "$dir/late" "$dir/late.c"
# shellcheck disable=SC2086
run $mpiexec -n 2 $preload "$dir/late"
if [ $mpi = openmpi ]; then status=0; fi
if [ "$status" -eq 0 ] && grep -q 'without MPI_Finalize' "$dir/err"; then
    ok "a program without MPI_Finalize gets a note"
else
    fail "a program without MPI_Finalize gets a note: exit $status"
fi

# The command.
run sh "$top_builddir/tools/rma_mpi" --help
exits 0 "rma_mpi --help"
run sh "$top_builddir/tools/rma_mpi"
exits 2 "rma_mpi without a program"
run sh "$top_builddir/tools/rma_mpi" --nonsense program
exits 2 "rma_mpi with an unknown argument"
run sh "$top_builddir/tools/rma_mpi" --library "$dir/none" true
if [ "$status" -eq 1 ] && grep -q "$dir/none" "$dir/err"; then
    ok "a library that does not exist is named"
else
    fail "a library that does not exist is named: exit $status"
fi
verdict
