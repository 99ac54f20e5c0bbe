#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-agreement.sh: if one PE has another setting than the others, or finds another machine, then all PEs agree on one
# value, or rma_init refuses with a text that names both values.
#
# The settings are those of rma_info's table, so that none can be forgotten. The script gives one PE other values than
# the rest: words of the setting, or a few values of its kind, on one node and on two. Then it shows the PEs different
# processor quotas, memory sizes and boot ids (test/fault/fault.c). Each job must pass: it makes one call of each kind
# whose algorithm all PEs must choose alike (test/job/begin.c). Broken by PEs that each choose by their own values: they
# wait for each other, or fail an assertion.
# Lists of words: mpiexec, nodes.
# shellcheck disable=SC2086
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
rma_info=$top_builddir/tools/rma_info
need "$rma_info"
# shellcheck source=/dev/null
. "$(dirname "$0")/fault/fault.sh"
unset_settings
nodes=$(layout_switches nolocal 2)

jobs=0

# passes WHAT N SETTING...
passes() {
    what=$1 pes=$2
    shift 2
    jobs=$((jobs + 1))
    fault_job "$pes" "$@"
    [ -z "$left" ] || fail "$what: has left $left"
    if [ $status -eq 124 ]; then
        fail "$what: not ended in time"
        return 1
    elif ! all_passed "$pes"; then
        fail "$what: exit $status"
        return 1
    fi
}

# values NAME VALUE TEXT: prints the values to try for a setting, by its value in force and its line of help.
values() {
    case $1-$3 in
    RMA_COLLECTIVES-*)
        for size in 0 never; do
            sed -n 's/^  \([a-z]*:[a-z]*\)  *.*/\1/p' "$dir/info" | sed "s/\$/=$size/" | tr '\n' ',' | sed 's/,$/ /'
        done
        ;;
    *'['*'|'*']'*) echo "$3" | sed 's/.*\[\(.*|.*\)\].*/\1/' | tr '|' '\n' | grep -vxF -- "$2" ;;
    *)
        case $2 in
        *[KMGTPE]iB | *' B') echo 1M 10% ;;
        *' s') echo 7 ;;
        no) echo yes ;;
        yes) echo no ;;
        auto | [0-9]*) echo 1 ;;
        esac
        ;;
    esac
}

"$rma_info" >"$dir/info"
sed -n 's/^  \(RMA_[A-Z_]*\)  *\(.*[^ ]\)  *default  *\(.*\)/\1;\2;\3/p' "$dir/info" >"$dir/table"
rows=$(wc -l <"$dir/table")
if [ "$rows" -ne "$(grep -c '^  RMA_' "$dir/info")" ] || [ "$rows" -le 10 ]; then
    fail "rma_info's table is not understood"
    cat "$dir/info"
fi

# differ SETTING...: one PE has these, on one node and on two.
own_pe=0
differ() {
    own=$* own_pe=$((1 - own_pe))
    passes "$own on PE $own_pe of 2" 2 && passes "$own on PE $own_pe of 2, on two nodes" 2 $nodes
}

# The settings that decide which code the PEs reach differ alone, and all others at once: the first value of each, and
# the last. With `long` each value of each setting differs alone, and so it does after a failure, to find the setting.
first='' last=''
while IFS=';' read -r name value text <&3; do
    before=$failures
    # shellcheck disable=SC2046
    set -- $(values "$name" "$value" "$text")
    [ $# -gt 0 ] || fail "$name=$value: no other value to try"
    tried="$name: $*"
    case $depth.$name in
    long.* | *.RMA_COLLECTIVES | *.RMA_NODE_PES | *.RMA_WINDOW)
        for new; do differ "$name=$new" || true; done
        [ $failures -ne "$before" ] || ok "$tried"
        ;;
    *)
        first="$first $name=$1"
        for new; do :; done
        last="$last $name=$new"
        ;;
    esac
done 3<"$dir/table"
for together in "$first" "$last"; do
    [ -n "$together" ] || continue
    if differ $together; then
        ok "$together"
    else
        for single in $together; do differ "$single" || true; done
    fi
done

# Facts that one PE finds on its machine.
echo 0::/ >"$dir/cgroup"
echo 100000 100000 >"$dir/cpu.max"
echo 200000000 >"$dir/memory.max"
echo 01234567-89ab-cdef-0123-456789abcdef >"$dir/boot_id"
group=/proc/self/cgroup=$dir/cgroup
quota=$group,/sys/fs/cgroup/cpu.max=$dir/cpu.max,/sys/fs/cgroup//cpu.max=$dir/cpu.max
memory=$group,/sys/fs/cgroup/memory.max=$dir/memory.max,/sys/fs/cgroup//memory.max=$dir/memory.max
boot_id=/proc/sys/kernel/random/boot_id=$dir/boot_id

# finds WHAT FILES PE N SETTING...: that PE of N reads these FILES (NAME=REPLACEMENT,...) instead of the machine's.
finds() {
    what=$1 files=$2 pe=$3
    shift 3
    what="$what on PE $pe of $*"
    if passes "$what" "$@" RMA_TEST_FAULT_PE="$pe" RMA_TEST_FAULT_FILES="$files"; then ok "$what"; fi
}
finds "one processor's time" "$quota" 1 2
finds "one processor's time" "$quota" 0 2
finds "one processor's time" "$quota" 1 2 $nodes
finds "one processor's time" "$quota" 1 3 RMA_NODE_PES=2
finds "less memory" "$memory" 1 2
finds "less memory" "$memory" 1 2 RMA_HEAP_MAX=50%
finds "less memory" "$memory" 0 2 $nodes
finds "another machine" "$boot_id" 1 2
finds "another machine" "$boot_id" 0 2 $nodes
finds "another machine" "$boot_id" 1 3 RMA_NODE_PES=2
finds "another machine, and one processor's time" "$boot_id,$quota" 1 3 RMA_NODE_PES=2

# Two machines: one has more PEs than processors, the other as many PEs as processors.
if command -v taskset >/dev/null 2>&1; then
    cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
    mpiexec="taskset -c $cpu $mpiexec"
    finds "another machine, of one processor each," "$boot_id" 2 3 RMA_NODE_PES=2
    finds "another machine, of one processor each," "$boot_id" 0 3 RMA_NODE_PES=2
else
    echo "skipped: machines of one processor: needs taskset (Debian package util-linux)"
fi

echo "$jobs jobs"
verdict
