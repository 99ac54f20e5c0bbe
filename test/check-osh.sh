#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-osh.sh: osh_bench measures each of its rows and finds its data correct; osh_compare survives a peer (another
# OpenSHMEM) that fails.
#
# Broken by a row that hangs or is missing, on one node or several, with PEs that take no part; by wrong data, or by
# lost data that osh_bench does not notice; by collectives over active sets; by a comparison that dies with its peer, or
# leaves files or processes. Here the peer is also librma, with a header that makes it fail. The script checks no times.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cc=${CC:-cc}

[ -e "$top_builddir/librma_shmem.la" ] || skip "needs librma_shmem, which was not built in $top_builddir (make)"
skip_with_sanitizers

hanging=
trap '[ -z "$hanging" ] || { kill "$hanging" 2>/dev/null && wait "$hanging"; } || :; rm -rf "$dir"' EXIT

# A compiler command that finds the library in the build folder: osh_compare calls it as
# "COMMAND FLAGS -o PROGRAM SOURCE". It compiles once for each set of flags, and then only links.
cat >"$dir/oshcc" <<END
#!/bin/sh
set -eu
flags=
while [ "\$1" != -o ]; do flags="\$flags \$1"; shift; done
object="$dir/\$(echo "\$flags" | cksum | tr ' ' -).o"
if [ ! -e "\$object" ]; then
    $cc \$flags -I"$top_srcdir/include" -c -o "\$object.\$\$" "\$3"
    mv "\$object.\$\$" "\$object"
fi
exec "$top_builddir/libtool" --quiet --tag=CC --mode=link $cc \$flags -no-install -o "\$2" "\$object" \\
    "$top_builddir/librma_shmem.la" "$top_builddir/librma.la"
END
# With lossy.h the peer loses some puts; with failing.h it ends the job in one call, and waits for ever in another.
cat >"$dir/lossy.h" <<'END'
#include <shmem.h>
static inline void lossy_put(void *dest, const void *source, size_t n, int pe) {
    if (n != 64) shmem_putmem(dest, source, n, pe);
}
#undef shmem_putmem
#define shmem_putmem lossy_put
END
cat >"$dir/failing.h" <<'END'
#include <shmem.h>
#include <stdlib.h>
#include <unistd.h>
static inline void failing_sync(void) { abort(); }
static inline void failing_lock(long *lock) { (void)lock; pause(); }
#undef shmem_sync_all
#undef shmem_set_lock
#define shmem_sync_all failing_sync
#define shmem_set_lock failing_lock
END
chmod +x "$dir/oshcc"
# osh_sets is osh_bench as a library of OpenSHMEM 1.4 gets it.
program=osh_bench
if ! "$dir/oshcc" -O2 -o "$dir/osh_bench" "$top_srcdir/bench/osh_bench.c" >"$dir/out" 2>"$dir/err" ||
    ! "$dir/oshcc" -O2 -DHAS_TEAMS=0 -o "$dir/osh_sets" "$top_srcdir/bench/osh_bench.c" >"$dir/out" 2>"$dir/err"; then
    fail "osh_bench can be compiled"
    exit 1
fi

# job SWITCH N ARGUMENT...: SWITCH is a setting of the environment. mpiexec may be a command with arguments.
job() {
    switch=$1 n=$2
    shift 2
    status=0
    # shellcheck disable=SC2086
    env "$switch" timeout -k 5 "$(seconds 120)" $mpiexec -n "$n" "$dir/$program" "$@" \
        >"$dir/out" 2>"$dir/err" </dev/null || status=$?
}

# run_compare TAG ARGUMENT...: runs osh_compare; its exit code, its output and the files that it leaves are in
# $dir/TAG.*.
run_compare() {
    tag=$1 code=0
    shift
    mkdir "$dir/$tag.tmp"
    TMPDIR=$dir/$tag.tmp sh "$top_srcdir/bench/osh_compare" \
        "--oshcc=$dir/oshcc" "--oshrun=$mpiexec" "--peer-oshrun=$mpiexec" \
        --csv "$@" >"$dir/$tag.out" 2>"$dir/$tag.err" </dev/null || code=$?
    echo $code >"$dir/$tag.status"
}
# judge CODE TAG: osh_compare has ended with CODE, and has left no file. Copies its output to $dir/out and $dir/err,
# where row and says read it.
judge() {
    cp "$dir/$2.out" "$dir/out"
    cp "$dir/$2.err" "$dir/err"
    [ "$(cat "$dir/$2.status")" -eq "$1" ] || fail "osh_compare, $2: exit $(cat "$dir/$2.status"), not $1"
    [ -z "$(ls "$dir/$2.tmp")" ] || fail "osh_compare, $2: leaves $(ls "$dir/$2.tmp")"
    rm -rf "$dir/$2.tmp"
}
# compare CODE TAG ARGUMENT...: run_compare, then judge.
compare() {
    expected=$1 name=$2
    shift 2
    run_compare "$name" "--deadline=$(seconds 20)" "$@"
    judge "$expected" "$name"
}

# A peer that hangs, and one that ends early, sleep most of the time: the rest of this script runs meanwhile.
if deep; then failing_rounds=2 failing_deadline=20; else failing_rounds=1 failing_deadline=4; fi
run_compare failing --deadline="$(seconds $failing_deadline)" "--peer-oshcc=$dir/oshcc -include $dir/failing.h" \
    -r $failing_rounds -- -r 1 -b 1 -t quiet,lock,sync_all,malloc_free &
hanging=$!

# Rows with -m 64: sizes 8, 16 and 64 of four tests, and one row of each of the other 23, four of which have no data to
# check. Without `long`: the two PEs of the pair on two nodes; both on one node, with a third PE on another.
if deep; then
    cases="RMA_NODE_PES=auto:2 RMA_NODE_PES=1:2 RMA_NODE_PES=auto:3 RMA_NODE_PES=2:3" rounds=2
else
    cases="RMA_NODE_PES=1:2 RMA_NODE_PES=2:3" rounds=1
fi
for case in $cases; do
    switch=${case%:*} n=${case#*:}
    job "$switch" "$n" --csv -c -r $rounds -b 1 -m 64
    if [ $status -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 36 ] && [ "$(grep -c ',Pass$' "$dir/out")" -eq 31 ]; then
        ok "osh_bench, $n PEs, $switch: every row, and its data"
    else
        fail "osh_bench, $n PEs, $switch: exit $status, every row, and its data"
    fi
done
program=osh_sets
job RMA_NODE_PES=auto 3 --csv -c -r 1 -b 1 -t broadcast,fcollect,alltoall,sum_reduce
if [ $status -eq 0 ] && [ "$(grep -c ',Pass$' "$dir/out")" -eq 12 ]; then
    ok "osh_bench, by active sets"
else
    fail "osh_bench, by active sets: exit $status"
fi
program=osh_bench
for arguments in "-t nix" "-m 7" "-r 0" "--nix" "nix"; do
    # shellcheck disable=SC2086
    job RMA_NODE_PES=auto 2 $arguments
    if [ $status -eq 2 ] && ! [ -s "$dir/out" ]; then
        ok "osh_bench $arguments is refused"
    else
        fail "osh_bench $arguments: exit $status"
    fi
done

# row PATTERN WHAT: the table has such a row, and only one.
row() {
    if [ "$(grep -c "$1" "$dir/out")" -eq 1 ]; then ok "osh_compare: $2"; else fail "osh_compare: $2: no row $1"; fi
}
# says PATTERN WHAT: the standard error output has such a line.
says() {
    if grep -q "$1" "$dir/err"; then ok "osh_compare: $2"; else fail "osh_compare: $2: nothing says $1"; fi
}
number='[0-9][0-9.]*'

compare 0 both "--peer-oshcc=$dir/oshcc" -r $failing_rounds -- -c -r 1 -b 1 -t long_p,barrier_all
row "^long_p,8,ns,$number,$number,$number," "both are measured"
row "^barrier_all,0,ns,$number,$number,$number," "both are measured"
if deep; then
    compare 0 absent "--peer-oshcc=$dir/nix"
else
    compare 0 absent "--peer-oshcc=$dir/nix" -r 1 -- -r 1 -b 1 -t quiet
fi
says 'there is no peer' "a peer that is absent is said to be"
compare 77 required "--peer-oshcc=$dir/nix" --require-peer -- -t quiet
compare 0 lossy "--peer-oshcc=$dir/oshcc -include $dir/lossy.h" -r 1 -- -c -r 1 -b 1 -m 64 -t quiet,putmem
row "^putmem,64,ns,$number,,," "wrong data are no value"
row "^putmem,16,ns,$number,$number,$number," "and cost only this one"
says 'peer, putmem, 64 bytes: wrong data' "wrong data are said"
wait $hanging
hanging=
judge 0 failing
row "^lock,0,ns,$number,,," "a peer that hangs has no value"
says 'peer, lock: no end after' "and that is said"
row "^sync_all,0,ns,$number,,," "a peer that ends early has none"
row "^malloc_free,1024,ns,$number,$number,$number," "and is measured in what comes later"

verdict
