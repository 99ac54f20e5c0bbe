#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-settings.sh: a bad value of a setting ends the job with one line that quotes it; librma uses a good one.
#
# Broken by a bad value that librma silently replaces by the default, by a line from each PE, by PEs that wait for the
# PE that has given up, by a line that is lost on its way out of the job, and by a missing note about a misspelt name or
# a removed setting.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
hello=$top_builddir/examples/hello
rma_info=$top_builddir/tools/rma_info

need "$hello" "$rma_info"

unset_settings

# job SETTING...: hello on 2 PEs. mpiexec may be a command with arguments.
# shellcheck disable=SC2086
job() { run env "$@" $mpiexec -n 2 "$hello"; }

lines() { grep -c '^librma: ' "$dir/err" || true; }
ran() { [ $status -eq 0 ] && [ "$(grep -c '^hello from PE [01] of 2' "$dir/out")" -eq 2 ]; }

# refused SETTING...: the job ends with one line that quotes the first of them.
refused() {
    job "$@"
    if [ $status -eq 0 ] || [ $status -eq 124 ]; then
        fail "$*: exit $status"
    elif [ "$(lines)" -ne 1 ]; then
        fail "$*: $(lines) lines, not one"
    elif ! grep -a '^librma: ' "$dir/err" | grep -qF -- "$1: "; then
        fail "$*: the value is not quoted"
    elif grep -q '^hello' "$dir/out"; then
        fail "$*: the program ran"
    else
        ok "refused: $*"
    fi
}

# accepted SETTING...: the job runs, and librma says nothing.
accepted() {
    job "$@"
    if ran && [ "$(lines)" -eq 0 ]; then ok "accepted: $*"; else fail "$*: exit $status"; fi
}

refused RMA_HEAP_MAX=lots
refused RMA_HEAP_MAX=-1
refused RMA_HEAP_MAX=
refused RMA_LOCAL_MAX=900T
refused RMA_HEAP_MAX=10
grep -qF 'too small: 64 KiB is the least' "$dir/err" || fail 'RMA_HEAP_MAX=10: the least is not said'
refused RMA_HEAP_MAX=65535
refused RMA_LOCAL_MAX=0
refused RMA_LOCAL_MAX=0%
refused RMA_LOCAL_MAX=101%
refused RMA_SPIN=-3
refused RMA_SPIN=99999999999999999999
refused RMA_NODE_PES=0
refused RMA_NODE_PES=-1
refused RMA_NODE_PES=two
refused RMA_INFO=maybe
refused RMA_ERRORS=explode

accepted RMA_HEAP_MAX=8M RMA_LOCAL_MAX=1.5MiB
accepted RMA_HEAP_MAX=1% RMA_SPIN=0
accepted RMA_SPIN=AUTO RMA_INFO=off RMA_FINALIZE_HELPER=no RMA_ERRORS=abort
accepted RMA_RACE=no
accepted RMA_TRACE=no
accepted RMA_RACE=exitcode=3,history=16
accepted RMA_HEAP_MAX=64k RMA_LOCAL_MAX=65536
accepted RMA_NODE_PES=1
accepted RMA_NODE_PES=1000000000000
accepted RMA_NODE_PES=auto

# A bad value on one PE alone: that PE says why, and the job ends. The script recognizes the PE by its rank: the
# launcher of Open MPI 5.0.7 (Debian 13) crashes if it gets two programs separated by a colon.
# shellcheck disable=SC2016,SC2086
run $mpiexec -n 2 sh -c '[ "${PMI_RANK-${OMPI_COMM_WORLD_RANK-}}" != 1 ] || export RMA_SPIN=soon; exec "$0"' "$hello"
if [ $status -ne 0 ] && [ "$(lines)" -eq 1 ] && grep -q '^librma: PE 1 .*RMA_SPIN=soon: ' "$dir/err"; then
    ok "refused: RMA_SPIN=soon on PE 1 alone"
else
    fail "RMA_SPIN=soon on PE 1 alone: exit $status"
fi

# With RMA_ERRORS=return the program decides; hello ends with 1 and says nothing.
job RMA_ERRORS=return RMA_SPIN=soon
if [ $status -eq 1 ] && [ "$(lines)" -eq 0 ] && ! grep -q '^hello' "$dir/out"; then
    ok "RMA_ERRORS=return leaves it to the program"
else
    fail "RMA_ERRORS=return RMA_SPIN=soon: exit $status"
fi
accepted RMA_ERRORS=return

# noted NAME=VALUE TEXT: the job runs, and PE 0 prints this once about a variable that is not a setting, or no longer
# one.
noted() {
    job "$1"
    if ran && [ "$(lines)" -eq 1 ] && grep -qxF "librma: ${1%%=*} is $2" "$dir/err"; then
        ok "noted: $1"
    else
        fail "noted: $1: exit $status"
    fi
}
noted RMA_HEAP_MAKS=1G 'not a setting; is RMA_HEAP_MAX meant?'
noted RMA_LOCALMAX=1G 'not a setting; is RMA_LOCAL_MAX meant?'
noted RMA_SOMETHING_ELSE_ALTOGETHER=1 'not a setting'
noted RMA_AMO=mpi "gone since 0.3.0: the processors of a word's node do the atomics on it"
noted RMA_BIND=core "gone since 0.3.0: launchers bind processes: -bind-to of MPICH's mpiexec, srun --cpu-bind"
noted RMA_COPY=stream 'gone since 0.3.0: all copies on a node are made by ordinary stores'
noted RMA_HEAP_INIT=1G 'gone since 0.3.0: the heaps begin small, and grow'
accepted RMA_CC=cc RMA_TEST_ANYTHING=1

job RMA_INFO=1 RMA_SPIN=77
if ran && grep -q '^librma: version [0-9.]*, 2 PEs on 1 node; ' "$dir/err" &&
    grep -q '^librma: *RMA_SPIN *77 *environment' "$dir/err" &&
    grep -q '^librma: *RMA_PROGRESS *auto *default' "$dir/err"; then
    ok "RMA_INFO=1 prints what is in force, and why"
else
    fail "RMA_INFO=1: exit $status"
fi

# The binding of PEs. A machine with one processor has none.
mine=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) all=$(getconf _NPROCESSORS_ONLN)
what="not bound"
[ "$mine" -eq "$all" ] || what="bound to $mine of $all processors"
job RMA_INFO=yes
if ran && grep -q "^librma: version.*$what" "$dir/err"; then ok "$what"; else fail "$what: exit $status"; fi
what="not bound"
[ "$all" -eq 1 ] || what="bound to 1 of $all processors"
job RMA_INFO=yes taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')"
if ran && grep -q "^librma: version.*$what" "$dir/err"; then
    ok "what a launcher has bound to one processor: $what"
else
    fail "$what, by taskset: exit $status"
fi

# rma_info reads the same settings, without a job.
# info STATUS TEXT COMMAND...: the command, run by env(1), ends with STATUS and prints TEXT.
info() {
    wanted=$1 text=$2
    shift 2
    run env "$@"
    if [ $status -eq "$wanted" ] && cat "$dir/out" "$dir/err" | grep -qF -- "$text"; then
        ok "rma_info exits with $wanted and says '$text'"
    else
        fail "rma_info: exit $status, not $wanted with '$text'"
    fi
}
info 0 'RMA_HEAP_MAX        64 MiB     environment' RMA_HEAP_MAX=64M "$rma_info"
info 0 'reduce:share      16 KiB   16 KiB   16 KiB' RMA_COLLECTIVES=reduce:share=16k "$rma_info"
wrong=RMA_COLLECTIVES=scan:share=1k,reduce:all=2
info 1 "$wrong: 'reduce:all=2' is not an algorithm" "$wrong" "$rma_info"
info 0 'RMA_HEAP_MAKS is not a setting; is RMA_HEAP_MAX meant?' RMA_HEAP_MAKS=1 "$rma_info"
info 0 'rma_info (librma)' "$rma_info" --version
info 0 'usage: rma_info' "$rma_info" --help
info 0 'window   the variables stay in place' "$rma_info" --settings
info 0 'For tests and tuning:' "$rma_info" --settings
if sed '/^For tests and tuning:$/,$d' "$dir/out" | grep -q '^RMA_WINDOW=auto | none$' &&
    sed '1,/^For tests and tuning:$/d' "$dir/out" | grep -q '^RMA_WINDOW=always | dynamic | static$' &&
    sed '1,/^For tests and tuning:$/d' "$dir/out" | grep -q '^RMA_SPIN='; then
    ok "settings for tests and tuning come last"
else
    fail "settings for tests and tuning do not come last"
fi
accepted RMA_WINDOW=static
info 2 "unknown argument '--settings=html'" "$rma_info" --settings=html
info 1 'RMA_HEAP_MAX=lots: ' RMA_HEAP_MAX=lots "$rma_info"
info 2 "unknown argument '--everything'" "$rma_info" --everything

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
