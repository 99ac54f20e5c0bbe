#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-nwchem.sh: NWChem of Debian on librma, without changes (rma_mpi). The energies of two waters in a job of several
# processes are those of one process on MPI alone, but for 1e-9, because the order of sums differs: Hartree-Fock, and
# at depth `long` MP2 and density functional theory.
# Skipped where NWChem is not installed (packages nwchem-mpich and nwchem-openmpi).
#
# Broken by anything that gives Global Arrays other data than were put: MPICH 4.0 alone never converges with 2
# processes.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers "the library is preloaded"
unset_settings
# shellcheck disable=SC2154
nwchem=nwchem.$mpi
command -v "$nwchem" >/dev/null || skip "needs NWChem (package nwchem-$mpi)"

need_rma_mpi
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

cp "$top_srcdir/examples/water.nw" "$dir"
tasks=1
if deep; then
    cat >>"$dir/water.nw" <<'END'
task mp2 energy
dft; xc b3lyp; convergence energy 1e-9 density 1e-8 gradient 1e-7; tolerances tight; end
task dft energy
END
    tasks=3
fi

# same FILE FILE: whether the names are the same, and the energies but for 1e-9.
same() {
    paste -d' ' "$1" "$2" |
        awk '$1 != $3 || NF != 4 || $2 - $4 > 1e-9 || $4 - $2 > 1e-9 { bad = 1 } END { exit bad || !NR }'
}
# energies FILE: the results that the job has printed.
energies() { sed -n 's/^ *Total \(SCF\|MP2\|DFT\) energy[ :=]*\(-[0-9.]*\).*/\1 \2/p' "$1"; }

mkdir "$dir/alone"
cd "$dir/alone"
# shellcheck disable=SC2086
run $mpiexec -n 1 "$nwchem" "$dir/water.nw"
energies "$dir/out" >"$dir/right"
if [ "$status" -eq 0 ] && [ "$(sed 's/ .*//' "$dir/right" | sort -u | wc -l)" -eq $tasks ]; then
    ok "1 process on MPI alone: $(tr '\n' ' ' <"$dir/right")"
else
    fail "1 process on MPI alone: exit $status"
fi
# With more processes than processors, MPICH's own collectives take milliseconds.
jobs="one:1 one:2 nolocal:2"
! deep || jobs="$jobs one:3 one:4 nolocal:4 blocks2:4"
for job in $jobs; do
    layout=${job%:*} count=${job#*:}
    rm -rf "$dir/job"
    mkdir "$dir/job"
    cd "$dir/job"
    # shellcheck disable=SC2046,SC2086
    run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" $preload "$nwchem" "$dir/water.nw"
    energies "$dir/out" >"$dir/energies"
    if [ "$status" -eq 0 ] && same "$dir/right" "$dir/energies"; then
        ok "$count processes on librma, $(layout_words "$layout"): the same energies"
    else
        fail "$count processes on librma, $(layout_words "$layout"): exit $status, $(tr '\n' ' ' <"$dir/energies")"
    fi
done
verdict
