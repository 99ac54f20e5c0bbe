#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-bench-command.sh: rma_bench starts each benchmark by its name, on the PEs of a job, and all of them one after
# the other; test/check-install.sh tests the installed rma_bench.
#
# Broken by a name that leads to no program, by a title that is not the program's, by PEs that do not find their job, by
# arguments that are cut or dropped, by errors that are not named or that every PE prints, and by a job that outlives
# rma_bench. For `all` a stand-in replaces the launcher, and starts one real job.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
unset PMIX_RANK OMPI_COMM_WORLD_RANK PMI_RANK MPIEXEC

running=
# shellcheck disable=SC2329
clean() {
    [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
command=$top_builddir/tools/rma_bench
# mpiexec may be a command with arguments.
# shellcheck disable=SC2086
job() { run $mpiexec -n 2 "$@"; }
# told CODE FILE TEXT WHAT: the last command ended with CODE, and the file (out, err) has one line with the text.
told() {
    if [ $status -eq "$1" ] && [ "$(grep -cF -e "$3" "$dir/$2")" -eq 1 ]; then
        ok "$4"
    else
        fail "$4: exit $status, not $1, or not one line '$3'"
    fi
}

# ---- by name ----

run "$command" --list
for source in "$top_srcdir"/bench/rma_*.c; do basename "$source" .c; done | sed 's/^rma_//' |
    LC_ALL=C sort >"$dir/names"
if [ $status -eq 0 ] && sed 's/ .*//' "$dir/out" | LC_ALL=C sort | cmp -s - "$dir/names" &&
    ! grep -qv '^[a-z_]*  *[^ ]' "$dir/out"; then
    ok "--list: each benchmark, with a title"
else
    fail "--list: exit $status, or other names than bench/rma_*.c"
fi
sed 's/  *OSU: .*//' "$dir/out" >"$dir/list"
sed -n 's/^\([a-z_]*\) .*  *OSU: /\1 /p' "$dir/out" >"$dir/osu"
for arguments in "put_bw -m 8:8" barrier; do
    name=${arguments%% *}
    # shellcheck disable=SC2086
    job "$command" $arguments -i 1 -x 0 -r 1
    title=$(sed -n "s/^$name  *//p" "$dir/list")
    told 0 out "# librma $title (" "$name, on 2 PEs, has the title of --list, said once"
done
job "$command" rma_put_latency -i 1 -x 0 -r 1 -m 8:8 --csv="$dir/a file"
if [ $status -eq 0 ] && [ "$(wc -l <"$dir/a file")" -eq 2 ]; then
    ok "rma_put_latency is the same benchmark, and its arguments are whole"
else
    fail "rma_put_latency with a file whose name has a space: exit $status"
fi
# Each OSU name that --list prints, with and without OSU's prefix, and our names with the prefix.
wrong=''
while read -r name osu; do
    for alias in $osu; do
        for prefix in '' osu_ osu_oshm_; do
            run "$command" "$prefix$alias" --help
            grep -q "^Usage: .* rma_bench $name " "$dir/out" || wrong="$wrong $prefix$alias"
        done
    done
done <"$dir/osu"
run "$command" osu_put_latency --help
grep -q "^Usage: .* rma_bench put_latency " "$dir/out" || wrong="$wrong osu_put_latency"
if [ -z "$wrong" ] && grep -qx 'reduce allreduce' "$dir/osu" && grep -qx 'bcast broadcast' "$dir/osu"; then
    ok "names of OSU"
else
    fail "names of OSU:${wrong:- --list does not have all}"
fi
ln -s "$command" "$dir/link"
run "$dir/link" wait --help
told 0 out "Usage: mpiexec -n N rma_bench wait " "by a symbolic link, without a launcher: NAME --help"
job "$command" put_latency --help
told 0 out "Usage: mpiexec -n N rma_bench put_latency " "put_latency --help, said once"

job "$command" --help
told 0 out "rma_bench NAME [OPTION...]" "--help, said once"
run "$command" --version
told 0 out "rma_bench (librma) " "--version"
job "$command"
told 2 err "rma_bench NAME [OPTION...]" "no name: the usage, said once"
job "$command" --no-such-option
told 2 err "unknown option '--no-such-option'" "an unknown option of rma_bench, said once"
for name in nothing ../tools/info 'put.latency' 'put latency' ''; do
    [ -n "$name" ] || name=rma_
    run "$command" "$name"
    told 2 err "there is no benchmark '${name#rma_}'" "there is no '$name'"
done
job "$command" nothing
told 2 err "there is no benchmark 'nothing'" "the same by 2 PEs, said once"

# ---- a build folder in which a program is missing and the other programs are stand-ins ----

mkdir "$dir/build" "$dir/build/tools" "$dir/build/bench"
cp "$command" "$dir/build/tools/rma_bench"
: >"$dir/build/config.status"
run "$dir/build/tools/rma_bench" lock
told 2 err "lock: its program $dir/build/tools/../bench/rma_lock is not there" "a program that is missing is named"
while read -r name; do
    ln -s "$top_builddir/bench/rma_$name" "$dir/build/bench/rma_$name"
done <"$dir/names"

# launcher: runs the barrier by the real launcher. get_bw refuses, as it does with 1 PE; with $refuse all programs do.
# scan ends with the exit code $fail; wait writes its process number to the file $waits, and waits; the others succeed.
cat >"$dir/launcher" <<'END'
#!/bin/sh
printf '<%s>' "$@"
echo
[ -z "${refuse-}" ] || exit 2
case "$3" in
*/rma_barrier) exec $TRUE_LAUNCHER "$@" ;;
*/rma_get_bw) exit 2 ;;
*/rma_scan) exit "${fail:-0}" ;;
*/rma_wait)
    [ -n "${waits-}" ] || exit 0
    echo $$ >"$waits.part"
    mv "$waits.part" "$waits"
    exec sleep 600 # the script ends it
    ;;
esac
END
chmod +x "$dir/launcher"
TRUE_LAUNCHER=$mpiexec MPIEXEC="$dir/launcher"
export TRUE_LAUNCHER MPIEXEC
all() { run "$dir/build/tools/rma_bench" all "$@"; }

n=$(wc -l <"$dir/names")
all -n 3 -r 1 "--stats"
told 0 out "## measured: $((n - 1)); refused: get_bw; failed: none" "all: those that refuse are named"
told 0 out '# librma barrier latency' "all: a job of the true launcher"
if [ "$(grep -c '^<-n><3><.*/bench/rma_[a-z_]*><-r><1><--stats>$' "$dir/out")" -eq $n ] &&
    [ "$(grep -c "^## [0-9]* of $n: $dir/launcher -n 3 rma_bench " "$dir/out")" -eq $n ] &&
    grep -q "^## $n of $n: " "$dir/out"; then
    ok "all: each benchmark, with the options and PEs"
else
    fail "all -n 3 -r 1 --stats: not $n jobs"
fi
fail=5 all -i 1 -r 1
told 1 err "all: scan failed: exit code 5" "all: one that fails is named"
told 1 out "## measured: $((n - 2)); refused: get_bw; failed: scan" "all goes on, and counts"
refuse=yes all
told 2 out "## measured: 0; refused: accumulate " "all: nothing measured"

rm "$dir/build/bench/rma_wait"
all
told 2 err "wait: its program " "all: a program that is missing is named, before any job"
ln -s "$top_builddir/bench/rma_wait" "$dir/build/bench/rma_wait"
for arguments in "-n" "-n 0" "-n x" "-np -1"; do
    # shellcheck disable=SC2086
    all $arguments
    told 2 err "all: option ${arguments%% *}" "all $arguments is refused"
done
all -c -n 4
told 2 err "all: option -n: write 'rma_bench all -n PES'" "all -c -n 4 is refused"
all --csv="$dir/rows"
told 2 err "all: option --csv=$dir/rows: each benchmark would replace the file" "all --csv=FILE is refused"
MPIEXEC=$dir/no/launcher all
told 2 err "the launcher '$dir/no/launcher' is not there" "all without a launcher"
job "$command" all
told 2 err "all starts its jobs itself" "all under a launcher is refused, said once"

# A signal also ends the job: by then the stand-in sleeps.
waits=$dir/waits "$dir/build/tools/rma_bench" all -i 1 -r 1 >"$dir/out" 2>"$dir/err" </dev/null &
running=$!
tries=0
while [ ! -e "$dir/waits" ] && [ $tries -lt "$(seconds 600)" ]; do
    sleep 0.1
    tries=$((tries + 1))
done
status=0
kill -TERM $running
wait $running || status=$?
running=
if [ $status -eq 143 ] && [ -e "$dir/waits" ] && ! kill -0 "$(cat "$dir/waits")" 2>/dev/null; then
    ok "all: a signal ends the job that is running"
else
    fail "all and SIGTERM: exit $status, not 143, or its job is still there"
fi

verdict
