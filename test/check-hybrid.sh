#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-hybrid.sh: with rma_mpi, programs that use MPI's windows and also OpenSHMEM, rma.h or coarrays, in any order of
# start and end, behave as without it.
#
# Broken by an interface whose calls move nothing or whose mistakes are not reported by its own handler, by one that
# ends with another one, by a start or an end that is counted twice, by windows that end before the program's attributes
# of MPI_COMM_SELF, and by settings that contradict silently.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers "the library is preloaded"
unset_settings

need_rma_mpi
libraries="-L$top_builddir/.libs -lrma_shmem -lrma -Wl,-rpath,$top_builddir/.libs"
# shellcheck disable=SC2086
${MPICC:-mpicc.mpich} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$top_srcdir/include" -o "$dir/hybrid" \
    "$top_srcdir/test/mpi/hybrid.c" $libraries -pthread >"$dir/log" 2>&1 ||
    { fail "hybrid.c does not compile"; verdict; }
: >"$dir/log"

# hybrid LAYOUT COUNT STEPS: runs the program; COUNT processes.
hybrid() {
    # shellcheck disable=SC2046,SC2086
    run env $(layout_switches "$1" "$2") $mpiexec -n "$2" $preload "$dir/hybrid" $3
}

# Each line is a life: the steps in their order.
lives() {
    cat <<'END'
mpi+ keep shmem+ shmem- rma+ rma- free mpi-
shmem+ mpi+ keep rma+ free mpi- rma- shmem-
shmem+ shmem-
rma+ rma-
mpi+ rma+ shmem+ mpi- rma- shmem-
mpi+ keep shmemM+ shmem- free mpi-
mpi+ keep self shmem+ mpi- shmem-
mpi+ keep self rma+ mpi- rma-
END
    quick || cat <<'END'
mpi+ shmem+ mpi- shmem-
mpi+ rma+ mpi- rma-
mpi+ rma+ keep shmem+ rma- shmem- shmem+ shmem- free mpi-
shmem+ rma+ mpi+ keep shmem- rma- free mpi-
shmem+ mpi+ shmem- mpi-
rma+ shmem+ shmem- rma-
shmem+ shmem- mpi+ keep shmem+ shmem- free mpi-
mpiM+ keep shmemM+ free shmem- mpi-
mpi+ rmaM+ shmem+ shmem- rma- mpi-
shmemM+ mpiM+ mpi- shmem-
shmem+ exit
mpi+ keep self rma+ rma- mpi-
mpi+ keep self shmem+ shmem- mpi-
shmem+ mpi+ keep self shmem- mpi-
shmem+ rma+ mpi+ keep self mpi- shmem- rma-
mpi+ rma+ keep shmem+ self mpi- rma- shmem-
END
}
jobs="one:2 nolocal:2 blocks2:4"
! quick || jobs="one:2 nolocal:2"
! deep || jobs="one:1 one:2 one:3 nolocal:2 nolocal:3 blocks2:4 own:4"
lives >"$dir/lives"
while read -r life; do
    for job in $jobs; do
        layout=${job%:*} count=${job#*:}
        hybrid "$layout" "$count" "$life"
        exits 0 "$life: $count processes, $(layout_words "$layout")"
        if deep && [ "$job" = one:2 ]; then
            # shellcheck disable=SC2086
            run $mpiexec -n 2 "$dir/hybrid" $life
            exits 0 "$life: without rma_mpi"
        fi
    done
done <"$dir/lives"

# Global variables that stay in place are symmetric as well.
RMA_STATICS=window
export RMA_STATICS
hybrid one 2 "mpi+ shmem+ shmem- rma+ rma- mpi-"
exits 0 "RMA_STATICS=window"
unset RMA_STATICS

# says CODE WORDS WHAT: `run` has ended with CODE and printed WORDS.
says() {
    if [ "$status" -eq "$1" ] && grep -q "$2" "$dir/err"; then ok "$3"; else fail "$3: exit $status, '$2'"; fi
}

# Mistakes: each interface reports its own, by its own handler.
hybrid one 2 "mpi+ shmem+ bad-shmem"
says 82 'shmem_long_p: PE 99 is outside' "a mistake of OpenSHMEM ends the job"
hybrid one 2 "mpi+ rma+ bad-rma"
says 82 'rma_put: PE 99 is outside' "a mistake of rma.h ends the job"
hybrid one 2 "mpi+ rma+ returns bad-rma rma- mpi-"
exits 0 "a mistake of rma.h is returned with rma_errors_return"
hybrid one 2 "mpi+ keep rma+ returns bad-window"
if [ "$status" -ne 0 ] && grep -q 'MPI_Put: displacement 64' "$dir/err"; then
    ok "rma_errors_return is not for windows"
else
    fail "rma_errors_return is not for windows: exit $status"
fi
hybrid one 2 "mpi+ rma+ rma- rma-"
says 86 'rma_finalize: called more often than rma_init' "an rma_finalize too many does not end the windows"

# Settings and levels that contradict.
RMA_STATICS=off
export RMA_STATICS
hybrid one 2 "mpi+ shmem+"
says 83 'shmem_long_p: .*not symmetric in this job: see RMA_STATICS' "RMA_STATICS=off is named"
unset RMA_STATICS
SHMEM_SYMMETRIC_SIZE=20M
export SHMEM_SYMMETRIC_SIZE
hybrid one 2 "mpi+ shmem+ shmem- mpi-"
says 0 'SHMEM_SYMMETRIC_SIZE=20M has no effect.*RMA_HEAP_MAX' "a size of the heap that comes too late is named"
unset SHMEM_SYMMETRIC_SIZE
hybrid one 2 "shmem+ mpiM+ mpi- shmem-"
says 0 'asks for MPI_THREAD_MULTIPLE' "a level of MPI that comes too late is named"

# A program with a librma of its own.
if [ -r "$top_builddir/.libs/librmai.a" ]; then
    cat >"$dir/static.c" <<'END'
#include <mpi.h>
#include <rma.h>
int main(void) { return MPI_Init(0, 0) || rma_init() || rma_finalize() || MPI_Finalize(); }
END
    hwloc=$(sed -n "s/^HWLOC_LIBS = //p" "$top_builddir/Makefile")
    # shellcheck disable=SC2086
    if ${MPICC:-mpicc.mpich} -I"$top_srcdir/include" -o "$dir/static" "$dir/static.c" "$top_builddir/.libs/librmai.a" \
        $hwloc -pthread >"$dir/log" 2>&1; then
        : >"$dir/log"
        # shellcheck disable=SC2086
        run $mpiexec -n 2 $preload "$dir/static"
        says 86 'linked with a static librma' "a second librma in the program is named"
    else
        fail "a program with a static librma does not compile"
    fi
fi

# Coarrays and all the others.
fortran=mpifort.$mpi
if command -v "$fortran" >/dev/null && [ -r "$top_builddir/.libs/librma_caf.so" ]; then
    # shellcheck disable=SC2086
    if (cd "$dir" && $fortran -O1 -fcoarray=lib -o coarrays "$top_srcdir/test/mpi/hybrid.f90" -lrma_caf $libraries \
        -L"$top_builddir/.libs") >"$dir/log" 2>&1; then
        : >"$dir/log"
        for job in one:3 nolocal:2; do
            layout=${job%:*} count=${job#*:}
            # shellcheck disable=SC2046,SC2086
            run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" $preload "$dir/coarrays"
            exits 0 "coarrays with windows, OpenSHMEM and rma.h: $count images, $(layout_words "$layout")"
        done
    else
        fail "hybrid.f90 does not compile"
    fi
fi
verdict
