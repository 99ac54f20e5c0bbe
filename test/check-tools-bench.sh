#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-tools-bench.sh: tools/bench runs the requested jobs, keeps their results, notices failures, and draws.
#
# Broken by missing or truncated results, by a failure that goes unnoticed or ends the run, by figures without curves,
# by layouts that are not side by side, by the name of a host or folder in the output, and by ignored options. Each job
# runs a few batches; the script checks no times.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# good WHAT COMMAND...: the command succeeds.
good() {
    what=$1
    shift
    if "$@" >>"$dir/out" 2>>"$dir/err"; then ok "$what"; else fail "$what: $*"; fi
}

# bench BUILD ARGUMENT...
bench() {
    build=$1 status=0
    shift
    top_builddir=$build MPIEXEC=$mpiexec timeout -k 5 "$(seconds 400)" sh "$top_srcdir/tools/bench" "$@" \
        >"$dir/out" 2>"$dir/err" </dev/null || status=$?
}

# without DIR WORD: no file in DIR has the word.
# shellcheck disable=SC2329
without() { ! grep -rqF -e "$2" "$1"; }
# rows FILE N: a header and N rows, all valid.
# shellcheck disable=SC2329
rows() { [ "$(wc -l <"$1")" -eq $(($2 + 1)) ] && [ "$(grep -c ',Pass$' "$1")" -eq "$2" ]; }
# points FILE N: of curves and their legend, and the file is complete.
# shellcheck disable=SC2329
points() {
    [ "$(grep -c "<use xlink:href='#gpPt[0-9]*' transform='translate" "$1")" -eq "$2" ] && grep -qx '</svg>' "$1"
}
# has_in_row_2 FILE CONDITION: the columns of the first row below the titles meet awk's CONDITION.
# shellcheck disable=SC2329
has_in_row_2() { awk -F, "NR == 2 && $2 { found = 1 } END { exit !found }" "$1"; }
# side_by_side WHAT: the summary has one row of it, with all numbers of one node, the limit too, and of the other
# layout.
# shellcheck disable=SC2329
side_by_side() {
    awk -F '|' -v what=" $1 " '
        $2 == what {
            rows++
            for (i = 5; i <= 12; i++) if ($i !~ /^ [0-9.e+-]+ $/) bad++
            if ($3 != " 2 " || $4 != " us " || NF != 13) bad++
        }
        END { exit rows != 1 || bad }' "$dir/results/summary.md"
}

bench "$top_builddir" --quick --repeat=1 --layouts="one nolocal" --pes=2 --sizes=8:32 \
    --only="put_latency rma_barrier" --no-plots --output="$dir/results"
exits 0 "two programs on two layouts"
for layout in one nolocal; do
    good "$layout: rows for three sizes" rows "$dir/results/$layout/rma_put_latency.csv" 3
    good "$layout: a row for the barrier" rows "$dir/results/$layout/rma_barrier-pes2.csv" 1
    for name in rma_put_latency rma_barrier-pes2; do
        good "$layout/$name.txt has one batch" without "$dir/results/$layout/$name.txt" "medians of"
        good "$layout/$name.txt is the table" grep -q '^# librma ' "$dir/results/$layout/$name.txt"
    done
done
for name in rma_put_latency rma_barrier-pes2; do
    good "$name has the same columns on one node and on two" \
        [ "$(head -n 1 "$dir/results/one/$name.csv")" = "$(head -n 1 "$dir/results/nolocal/$name.csv")" ]
done
# shellcheck disable=SC2016
good "one node has a limit" has_in_row_2 "$dir/results/one/rma_put_latency.csv" '$3 > 0 && $5 > 0'
# shellcheck disable=SC2016
good "several have none" has_in_row_2 "$dir/results/nolocal/rma_put_latency.csv" '$3 == "" && $5 == "" && $6 > 0'
good "all jobs are told of" [ "$(grep -c ',ok$' "$dir/results/jobs.csv")" -eq 4 ]
good "each with its command" [ "$(grep -c ' -n 2 rma_bench put_latency ' "$dir/results/jobs.csv")" -eq 2 ]
good "the summary has puts on one node beside those on two" side_by_side "put, 8 bytes"
good "and barriers" side_by_side "barrier"
for what in date library processor cores kernel MPI compiler note; do
    good "machine.txt tells the $what" grep -q "^$what: ." "$dir/results/machine.txt"
done
good "no folder is named" without "$dir/results" "$top_builddir"
good "nor where results are" without "$dir/results" "$dir"
cp -r "$dir/results" "$dir/before"

# Programs that fail in each way replace two that are run; one is unchanged.
mkdir -p "$dir/build/bench" "$dir/build/tools"
ln -s "$top_builddir/bench/rma_barrier" "$dir/build/bench/rma_barrier"
ln -s "$top_builddir/tools/rma_info" "$dir/build/tools/rma_info"
printf '#!/bin/sh\necho about to fail\nexit 3\n' >"$dir/build/bench/rma_put_latency"
printf '#!/bin/sh\nexec sleep 600\n' >"$dir/build/bench/rma_get_latency"
cat >"$dir/build/bench/rma_put_mr" <<'END'
#!/bin/sh
for arg; do case "$arg" in --csv=*) printf 'Size,Rate (M/s),Validation\n8,1.0,Fail\n' >"${arg#--csv=}" ;; esac; done
exit 1
END
# A program that succeeds while others use the machine: a process that it leaves behind is nobody's child.
cat >"$dir/build/bench/rma_signal" <<'END'
#!/bin/sh
for arg; do
    case "$arg" in --csv=*) printf 'Size,Latency (us),Validation\n8,1.0,Pass\n' >"${arg#--csv=}" ;; esac
done
(setsid timeout 3 sh -c 'while :; do :; done' >/dev/null 2>&1 &)
sleep 2
END
for program in put_latency get_latency put_mr signal; do chmod +x "$dir/build/bench/rma_$program"; done
# The short deadline is for the program that never ends.
bench "$dir/build" --quick --repeat=1 --layouts=one --pes=2 --deadline=1 --no-plots --output="$dir/results" \
    --only=rma_get_latency
exits 1 "a job that does not end is told of by the exit"
bench "$dir/build" --quick --repeat=1 --layouts=one --pes=2 --no-plots --output="$dir/results" \
    --only="rma_put_latency rma_put_mr rma_signal rma_barrier"
exits 1 "failures are told of by the exit"
good "an exit code is kept" grep -q '^one,rma_put_latency,.*,exit 3$' "$dir/results/jobs.csv"
good "what takes too long ends" grep -q '^one,rma_get_latency,.*,not done after 1 s$' "$dir/results/jobs.csv"
good "wrong data are seen" grep -q '^one,rma_put_mr,.*,wrong data$' "$dir/results/jobs.csv"
good "a job that was disturbed is told of" \
    grep -q 'one/rma_signal: .*; disturbed: other processes used [0-9.]* processors$' "$dir/out"
good "and kept" grep -q '^one,rma_signal,.*,librma [0-9.]*,[-0-9: ]* UTC,[0-9]*,[0-9.]*,ok$' "$dir/results/jobs.csv"
good "and named in machine.txt" grep -q '^other processes: disturbed in [0-9]* of 7 jobs$' "$dir/results/machine.txt"
good "and in the summary" grep -q '^- one/rma_signal: [0-9.]*$' "$dir/results/summary.md"
good "the run goes on" grep -q '^one,rma_barrier-pes2,.*,ok$' "$dir/results/jobs.csv"
good "other layouts' jobs stay" grep -q '^nolocal,rma_put_latency,.*,ok$' "$dir/results/jobs.csv"
good "the summary names three" [ "$(grep -c '^- one/.*, of `' "$dir/results/summary.md")" -eq 3 ]
good "what the job said is shown" grep -q 'about to fail' "$dir/err"
good "old rows of a failed job are gone" [ ! -e "$dir/results/one/rma_put_latency.csv" ]

# Published files: tables and the drawing beside.svg come from docs/results.
good "tables and docs/plots/beside.svg are of docs/results" sh "$top_srcdir/tools/publish" --check
mkdir -p "$dir/tree/docs/results" "$dir/tree/docs/plots"
cp "$top_srcdir/README.md" "$dir/tree"
cp "$top_srcdir/docs/performance.md" "$dir/tree/docs"
cp -r "$top_srcdir/docs/results" "$dir/tree/docs"
chmod -R u+w "$dir/tree"
sed 's/^| get, 8 bytes | 2 |.*/| get, 8 bytes | 2 | us | 1 | 1 | 1 | 1 | 99 | 1 | 1 | 1 |/' \
    "$top_srcdir/docs/results/summary.md" >"$dir/tree/docs/results/summary.md"
cp "$top_srcdir/docs/plots/beside.svg" "$dir/tree/docs/plots"
run sh "$top_srcdir/tools/beside" --check "$dir/tree"
exits 1 "another figure is another drawing"
run sh "$top_srcdir/tools/publish" --check --source="$dir/tree"
exits 1 "and another table"
good "of README and of the page" [ "$(grep -c 'has other tables than docs/results' "$dir/err")" -eq 2 ]
run sh "$top_srcdir/tools/publish" --steps="" --source="$dir/tree"
exits 0 "tables are written"
good "with the figure" [ "$(grep -c '^| get, 8 bytes | us | 1 | 1 | 1 | 1 | 99 |' "$dir/tree/README.md" \
    "$dir/tree/docs/performance.md" | grep -c ':1$')" -eq 2 ]
good "and are then right" sh "$top_srcdir/tools/publish" --check --source="$dir/tree"
grep -v '^| get, 8 bytes |' "$top_srcdir/docs/results/summary.md" >"$dir/tree/docs/results/summary.md"
run sh "$top_srcdir/tools/beside" "$dir/tree"
exits 99 "a row that is missing"
good "is named" grep -q 'no figure for: get of 8 bytes' "$dir/err"
run sh "$top_srcdir/tools/publish" --check --source="$dir/tree"
exits 99 "a table without its row"
good "is named, too" grep -q 'summary.md has no row "get, 8 bytes" of 2 PEs' "$dir/err"
run sh "$top_srcdir/tools/publish" --steps="bench nothing"
exits 2 "a step of publish that does not exist"

# From the first results.
if command -v gnuplot >/dev/null 2>&1; then
    bench "$dir/nowhere" --plot-only="$dir/before"
    exits 0 "figures from what is there"
    good "put_latency.svg: five curves of three points, and a legend" points "$dir/before/plots/put_latency.svg" 20
    good "put_latency.png is one" [ "$(head -c 4 "$dir/before/plots/put_latency.png" | tail -c 3)" = PNG ]
    good "it says which version" grep -q 'librma [0-9.]*, 2[-0-9]*' "$dir/before/plots/put_latency.svg"
    good "it says where" grep -q 'a node for each PE' "$dir/before/plots/put_latency.svg"
    good "no figure without values" [ "$(find "$dir/before/plots" -type f | wc -l)" -eq 2 ]
else
    drawn=no
fi
mkdir "$dir/bin"
for tool in sh awk sed grep head tail tr cut sort uniq cat cp mv rm mkdir mktemp dirname ls env uname wc date nproc \
    lscpu; do
    path=$(command -v $tool) && ln -s "$path" "$dir/bin/$tool"
done
rm -rf "$dir/before/plots"
run env PATH="$dir/bin" sh "$top_srcdir/tools/bench" --plot-only="$dir/before"
exits 0 "no gnuplot is no failure"
good "but is said" grep -q 'gnuplot-nox' "$dir/err"

# refused CODE WORDS ARGUMENT...
refused() {
    code=$1 words=$2
    shift 2
    bench "$top_builddir" "$@"
    if [ $status -eq "$code" ] && grep -qF -e "$words" "$dir/err"; then
        ok "refuses $*"
    else
        fail "$*: exit $status"
    fi
}
refused 2 "unknown argument '--no-such-option'" --no-such-option
refused 2 "'two' is not one of" --layouts=two
refused 2 "'rma_nothing' is not one of" --only=rma_nothing
refused 2 "'0' is not a positive number" --pes=0
refused 2 "'x' is not a positive number" --repeat=x
refused 2 "'8:' is not MIN:MAX" --sizes=8:
refused 2 "no job is left" --only=rma_alloc --layouts=nolocal --output="$dir/none"
refused 99 "holds something else" --only=rma_barrier --output="$dir/build"
refused 99 "holds no results" --plot-only="$dir/build"

verdict
[ "${drawn:-yes}" = yes ] || skip "figures: needs gnuplot (Debian package gnuplot-nox)"
