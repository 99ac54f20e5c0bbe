#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-mpi-random.sh: random sequences of window calls (test/mpi/random.c) on librma, on one node and between nodes;
# and on MPI alone those that MPI does right, which shows that the program asks for what MPI promises.
#
# Broken by a window call that moves or computes wrong data, that refuses what MPI allows, or that hangs; and by a
# program that compares nothing.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers "the library is preloaded"
unset_settings

need_rma_mpi
options="-std=gnu11 -O1 -Wall -Wextra -Werror"
# shellcheck disable=SC2086
${MPICC:-mpicc.mpich} $options -pthread -o "$dir/random" "$top_srcdir"/test/mpi/random*.c >"$dir/log" 2>&1 ||
    { fail "random.c does not compile"; verdict; }
: >"$dir/log"

# scripts LAYOUT N SEEDS [OPTION...]: seeds 1 to SEEDS on librma.
scripts() {
    layout=$1 count=$2 seeds=$3
    shift 3
    # shellcheck disable=SC2046,SC2086
    run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" $preload "$dir/random" --seeds "1:$seeds" "$@"
    exits 0 "$seeds seeds, $count processes, $(layout_words "$layout")${*:+, $*}"
}

scripts one 2 "$(by_depth 50 300 5000)"
scripts one 1 "$(by_depth 20 100 5000)"
scripts nolocal 2 "$(by_depth 10 50 1000)"
scripts one 2 "$(by_depth 10 50 1000)" --threads
if ! quick; then
    scripts blocks2 4 "$(by_depth 0 15 300)"
    scripts one 3 "$(by_depth 0 20 500)"
    scripts nolocal 2 "$(by_depth 0 15 300)" --threads
fi
if deep; then
    scripts blocks2 4 100 --threads
    scripts nolocal 3 300
    scripts one 4 300
fi

# MPI alone. Only MPICH's faults are known to --plain.
if [ "$mpi" = mpich ]; then
    for count in 1 2; do
        # shellcheck disable=SC2086
        run $mpiexec -n "$count" "$dir/random" --plain --seeds "1:$(by_depth 5 20 500)"
        exits 0 "on MPI alone, $count processes"
    done
fi

# The comparison itself: a byte that the program's model does not expect is found.
# Open MPI makes no window of one process.
[ "$mpi" = mpich ] || { verdict; exit 0; }
cat >"$dir/wrong.c" <<'CODE'
#include <mpi.h>
int MPI_Put(const void *from, int n, MPI_Datatype type, int rank, MPI_Aint disp, int n_to, MPI_Datatype to,
            MPI_Win win) {
    static int calls;
    if (++calls == 40) return MPI_SUCCESS;
    return PMPI_Put(from, n, type, rank, disp, n_to, to, win);
}
CODE
# shellcheck disable=SC2086
if ${MPICC:-mpicc.mpich} -std=gnu11 -O1 -pthread -o "$dir/wrong" "$dir/wrong.c" "$top_srcdir"/test/mpi/random*.c; then
    # shellcheck disable=SC2086
    run $mpiexec -n 1 "$dir/wrong" --plain --seeds 1:50 --without counts
    if [ "$status" -eq 1 ] && grep -q 'seed [0-9]*, step [0-9]*, process 0 of 1: .* wrong' "$dir/err"; then
        ok "a put that is lost is found"
    else
        fail "a put that is lost is found: exit $status"
    fi
else
    fail "wrong.c does not compile"
fi
verdict
