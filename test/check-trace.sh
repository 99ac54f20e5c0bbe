#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-trace.sh: rma_trace records a job, its numbers are those of rma_stats, and its advice is about the mistakes that
# the program has, and about none that it has not.
#
# Broken by a call that is not counted, or twice; by JSON that no reader takes; by advice without a reason, or none
# where there is one; by a page that fails in a browser; by a record that is lost with a killed job; by a user's
# mistake or a full disk that is told late, or not at all.
# The launcher, and rma_trace with its option, are several words.
# shellcheck disable=SC2046,SC2086,SC2119
set -eu

case "${1-}" in
--help)
    echo "usage: check-trace.sh"
    echo "Tries rma_trace and oshcc --trace of this build."
    exit 0
    ;;
esac
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers
need_lines
unset_settings
[ -f "$top_builddir/librma_trace.la" ] || skip "needs librma_trace, which was not built in $top_builddir (make)"
# shellcheck source=stage.sh
. "$top_srcdir/test/stage.sh"
stage "$dir/stage" || exit 1
oshcc=$dir/stage/bin/oshcc
LD_LIBRARY_PATH=$stage_prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
source=$top_srcdir/test/trace
cd "$dir"

rma_trace() { echo "$stage_prefix/bin/rma_trace --library $stage_prefix/lib/librma_trace.so"; }
must() { "$@" >"$dir/log" 2>&1 || { fail "$*"; verdict; }; }
must "$oshcc" --trace -O2 "$source/planted.c" -o planted
must "$oshcc" -O2 -DSHMEM_PROFILE "$source/planted.c" -o functions
must "$oshcc" -O2 "$source/planted.c" -o inlined
# shellcheck disable=SC2086
must ${CC:-cc} -I"$top_srcdir" "$source/record.c" -o record
# shellcheck disable=SC2086
must ${CC:-cc} "$source/json.c" -o json
line_of() { grep -n "TRACE: $1\>" "$source/${2:-planted.c}" | cut -d: -f1; } # line_of MARK [FILE]
has() { # has WHAT TEXT: the last run's stderr has the text
    if grep -q -- "$2" err; then ok "$1"; else fail "$1: no '$2'"; fi
}
# advises WHAT TEXT: there is this advice, or none, since the machine was busy.
advises() {
    if grep -q "so times say little, and there is no advice" err; then
        if grep "advice: " err; then fail "$1: advice although times say little"; else ok "$1: the machine was busy"; fi
    else
        has "$1" "advice: $2"
    fi
}
has_not() { if grep -q -- "$2" err; then fail "$1: '$2'"; else ok "$1"; fi; }
# Adds up what the page has of all PEs: puts, bytes, gets, bytes, atomics.
page_sums() {
    sed -n '/^"time":/,/^"rows":/p' "$1.html" | grep -v '^"rows"' | tr -d '"time:[]' | awk -F, 'NF >= 12 {
        for (i = 0; i < 5; i++) sum[i] += $(7 + i) } END { print sum[0], sum[1], sum[2], sum[3], sum[4] }'
}

# ---- the numbers, and the planted mistakes ----

for n in $(by_depth "2" "2 8" "2 8 64"); do
    run env RMA_STATS=yes $mpiexec -n "$n" ./planted good
    exits 0 "$n PEs: a program compiled with --trace runs, and is not recorded"
    [ ! -e rma_trace.html ] || fail "a report that nobody has asked for"
    run env RMA_TRACE="$dir/job$n" $mpiexec -n "$n" ./planted
    exits 0 "$n PEs: RMA_TRACE=FILE"
    advises "$n PEs: advice on blocking gets" "planted.c:$(line_of gets): up to .* blocking gets of 8 bytes"
    advises "$n PEs: advice on the wait" "planted.c:$(line_of wait): the wait is .* for PE 0, which computes"
    advises "$n PEs: advice on the late PE" "planted.c:$(line_of late): .* PE $((n - 1)) is the last"
    ./json <"job$n.json" >out || fail "$n PEs: the timeline is no JSON: $(cat out)"
    grep -q "arrows $((4 * (n - 1)))\$" out || fail "$n PEs: not $((4 * (n - 1))) arrows to waits: $(cat out)"
    [ ! -e "job$n.parts" ] || fail "$n PEs: the parts are left"
    # With RMA_STATS=yes the library counts the calls on a node, too.
    run env RMA_STATS=yes $mpiexec -n "$n" $(rma_trace) -o sums ./functions
    exits 0 "$n PEs: rma_trace ./program"
    stats=$(sed -n 's/^stats //p' out)
    # Later than the program's question are only collectives.
    if [ "$stats" = "$(page_sums sums)" ]; then ok "$n PEs: the page has the numbers of rma_stats"; else
        fail "$n PEs: rma_stats counts $stats, the page has $(page_sums sums)"
    fi
    ./json <sums.json >json_says || fail "$n PEs: $(cat json_says)"
    bytes=$(echo "$stats" | awk '{ print $2 + $4 }')
    if [ "$(cut -d' ' -f2 json_says)" = "$bytes" ]; then ok "$n PEs: the timeline moves as many bytes"; else
        fail "$n PEs: the timeline has $(cat json_says), rma_stats $bytes bytes"
    fi
done

# Times of a real job depend on the machine, so these are written.
must ./record good 4 1
run "$stage_prefix/bin/rma_trace" --merge good
exits 0 "a record in which PEs wait 1 % of their time"
has_not "no advice where PEs wait 1 % of their time" "advice:"
must ./record bad 4 30
run "$stage_prefix/bin/rma_trace" --merge bad
has "advice where a PE waits 30 % of its time" "advice: .*the wait is 30 % of the time of PE 1, for PE 0, which comp"
has "advice where the PEs wait 30 % for the last" "advice: .*costs PE [0-2] 30 % of its time; PE 3 is the last in 10"
must ./record once 4 30 1
run "$stage_prefix/bin/rma_trace" --merge once
has "a number of one" "shmem_signal_wait_until: 1 call, "
has_not "no advice from one event" "advice:"
must ./record busy 4 30 10 30
run "$stage_prefix/bin/rma_trace" --merge busy
has "PEs that waited for a processor" "note: the machine was busy: PE 0 waited 30 % .*, and there is no advice"
has_not "no advice where times say little" "advice:"

run $mpiexec -n 2 $(rma_trace) -o inlined ./inlined good
has "inlined calls: the report says that they are not seen" "note: the program has inlined calls"

# ---- MPI's windows, and coarrays ----

case $mpi in
mpich)
    must ${MPICC:-mpicc.mpich} -g -I"$top_srcdir/test/mpi" "$top_srcdir/test/mpi/moves.c" -o moves
    run $mpiexec -n 2 "$stage_prefix/bin/rma_mpi" --library "$stage_prefix/lib/librma/librma_mpi.so" \
        $(rma_trace) -o windows ./moves
    exits 0 "MPI's windows"
    has "their puts have places" "moves.c:[0-9]* MPI_"
    if page_sums windows | grep -q '^[1-9][0-9]* [1-9][0-9]* [1-9]'; then ok "their puts and gets are counted"; else
        fail "MPI's windows: $(page_sums windows)"
    fi
    must ${MPICC:-mpicc.mpich} -g -O2 "$source/polls.c" -o polls
    must ${MPICC:-mpicc.mpich} -g0 -O2 "$source/polls.c" -o nameless
    polls() { # polls PROGRAM ARGUMENT...: on 3 PEs
        run $mpiexec -n 3 "$stage_prefix/bin/rma_mpi" --library "$stage_prefix/lib/librma/librma_mpi.so" \
            $(rma_trace) -o polls "$@"
        exits 0 "loops that poll: $*"
    }
    polls ./polls
    for call in fetch:MPI_Fetch_and_op flush:MPI_Win_flush; do
        advises "a loop of ${call#*:} waits for PE 0" "polls.c:$(line_of ${call%:*} polls.c): the wait in a loop of \
${call#*:} is .* % of the time of PE 1, for PE 0, which computes meanwhile"
    done
    shares=$(sed -n 's/.* computing, \([0-9]*\) % moving data, \([0-9]*\) % waiting.*/\1 \2/p' err)
    if [ "${shares% *}" -le 5 ] && [ "${shares#* }" -ge 10 ]; then ok "polling counts as waiting: ${shares#* } %"; else
        fail "polling counts as waiting, and not as moving data: '$shares' %"
    fi
    polls ./polls once
    has_not "no advice from one poll" "a loop of"
    polls ./nameless
    has "without -g the report says what gives lines" "note: [0-9]* of [0-9]* places are an offset .*: compile with -g"
    ;;
esac
if command -v gfortran >/dev/null; then
    must gfortran -g -fcoarray=lib "$top_srcdir/examples/coarray/teams.f90" -o teams \
        -L"$stage_prefix/lib" -lrma_caf -lrma
    run $mpiexec -n 4 $(rma_trace) -o coarrays ./teams
    exits 0 "coarrays"
    grep -q '"at":"teams.f90:[0-9]*","in":"[A-Za-z_]*","call":"caf_sync_all"' coarrays.html ||
        fail "coarrays: their calls have no places"
    ! grep -q '"call":"rma_' coarrays.html || fail "coarrays: librma_caf's own calls are recorded"
    if [ "$(page_sums coarrays)" = "2 8 4 64 0" ]; then ok "their puts and gets are counted"; else
        fail "coarrays: $(page_sums coarrays)"
    fi
    must gfortran -g -fcoarray=lib "$source/late.f90" -o late -L"$stage_prefix/lib" -lrma_caf -lrma
    run $mpiexec -n 3 $(rma_trace) -o late ./late
    exits 0 "coarrays: sync images and events"
    advises "sync images: for whom an image waits" \
        "late.f90:$(line_of sync late.f90): the wait is .* PE [01], for PE 2, which computes"
    advises "event wait: for whom an image waits" \
        "late.f90:$(line_of event late.f90): the wait is .* PE 0, for PE 1, which computes"
fi

# ---- a browser ----

browser=$(command -v chromium || command -v chromium-browser || true)
dom() { # dom FILE: what the page has become when its program has run
    HOME=$dir timeout -k 5 "$(seconds 60)" "$browser" --headless --no-sandbox --disable-gpu --dump-dom \
        "file://$dir/$1" 2>/dev/null >dom </dev/null || true
}
ready() { sed -n 's/.*<html[^>]* data-ready="\([0-9]*\)".*/\1/p' dom; }
if [ -z "$browser" ]; then
    echo "no chromium: the page is not tried in a browser"
else
    dom sums.html
    if [ -n "$(ready)" ] && ! grep -q 'data-error' dom; then ok "the page loads without an error"; else
        fail "the page in a browser: $(grep -o '<html[^>]*>' dom)"
    fi
    shown=
    for k in puts put-bytes gets get-bytes atomics; do
        shown="$shown $(sed -n "s/.*id=\"total-$k\" data-value=\"\([0-9]*\)\".*/\1/p" dom)"
    done
    if [ "${shown# }" = "$stats" ]; then ok "the browser shows the numbers of rma_stats"; else
        fail "the browser shows$shown, rma_stats counts $stats"
    fi
    must ./record thousand 1024
    run "$stage_prefix/bin/rma_trace" --merge thousand
    exits 0 "a record of 1024 PEs"
    dom thousand.html
    took=$(ready)
    if [ -n "$took" ] && [ "$took" -lt $(($(seconds 2) * 1000)) ]; then
        ok "1024 PEs: the page is ready in $took ms"
    else
        fail "1024 PEs: the page is not ready after $(seconds 2) s: '$took' ms"
    fi
fi

# ---- jobs that die ----

timeout -k 5 "$(seconds 60)" $mpiexec -n 2 $(rma_trace) -o killed ./functions forever >out 2>err </dev/null &
begun() {
    [ "$(grep -c '^pid' out)" -eq 2 ] && [ -s killed.parts/pe.1 ] && [ "$(wc -c <killed.parts/pe.0)" -gt 20000 ]
}
until begun; do
    kill -0 $! || { fail "a job that is to be killed"; break; }
    sleep 0.1
done
kill -KILL "$(sed -n 's/^pid 1 //p' out)"
wait $! || true
run "$stage_prefix/bin/rma_trace" --merge killed
exits 0 "a job that was killed: --merge"
has "its report says that the end is missing" "note: .* no end in their record"
has "its calls are there" "shmem_barrier_all"
./json <killed.json >out || fail "its timeline is no JSON: $(cat out)"
[ -s killed.parts/pe.0 ] || fail "--merge removes the record"
head -c 9000 killed.parts/pe.0 >part && mv part killed.parts/pe.0
run "$stage_prefix/bin/rma_trace" --merge killed
exits 0 "a part that is cut"

# ---- mistakes, and full disks ----

refused() { # refused CODE TEXT ARGUMENT...: of rma_trace
    code=$1 text=$2
    shift 2
    run $(rma_trace) "$@"
    if [ $status -eq "$code" ] && grep -qF -- "$text" err; then ok "rma_trace $*: $text"; else
        fail "rma_trace $*: exit $status, not $code with '$text'"
    fi
}
refused 2 "unknown option '--outpt'" --outpt x ./planted
refused 2 "which program?" -o x
refused 2 "\"limit=many\" is not keep or limit=" --limit many ./planted
refused 2 "--limit needs a value" --limit
refused 2 "one argument too many" --merge x ./planted
refused 1 "no record of a PE in $dir/nothing.parts" --merge nothing
refused 1 "cannot create the folder $dir/none/x.parts: No such file" -o none/x ./planted
refused 127 "cannot start './nothing'" -o x ./nothing
run env RMA_TRACE=none/x $mpiexec -n 2 ./planted good
exits 0 "RMA_TRACE with a file that cannot be written: the program runs"
has "and PE 0 says why at the start" "RMA_TRACE: cannot create the folder .*none/x.parts"
run env RMA_TRACE=x,limits=1 $mpiexec -n 2 ./planted good
exits 0 "RMA_TRACE with an unknown option: the program runs"
has "and PE 0 names the option" "RMA_TRACE: x,limits=1: \"limits=1\" is not keep"
run "$oshcc" --trace --race "$source/planted.c" -o x
exits 2 "oshcc --trace --race"
run "$oshcc" --trace -static "$source/planted.c" -o x
exits 2 "oshcc --trace -static"

# The program must not notice a full disk.
mkdir full
cat >full.sh <<END
mount -t tmpfs -o size=256k none full || exit 77
$mpiexec -n 2 $(rma_trace) -o full/job ./functions good
END
run unshare -m sh full.sh
if [ $status -eq 77 ] || grep -q "unshare failed" err; then
    echo "no mount namespace: a full disk is not tried"
else
    exits 0 "a small disk that suffices"
    sed -i 's/size=256k/size=12k/' full.sh
    run unshare -m sh full.sh
    exits 0 "a full disk: the program runs"
    has "and the PE says so" "cannot write .*full/job.*: No space left on device"
fi

# Two hosts: their clocks differ by hours, and they share no disk.
cat >host.sh <<END
if [ "\$PMI_RANK" = 1 ]; then
    mkdir -p $dir/far
    exec unshare -m --time --monotonic 7200 --fork sh -c 'mount -t tmpfs none $dir/far && exec "\$@"' sh "\$@"
fi
mkdir -p $dir/far
exec "\$@"
END
# shellcheck disable=SC2154
if [ "$mpi" = mpich ] && unshare -m --time --monotonic 7200 true 2>/dev/null; then
    run env MPIR_CVAR_NOLOCAL=1 $mpiexec -n 2 sh host.sh $(rma_trace) -o far/job ./functions few
    exits 0 "two hosts with clocks of their own"
    has "the clocks were compared" "clocks of the nodes were compared with an error of at most"
    has "they agree" "longest waiting of one PE for another: PE 1 for PE 0"
    if [ "$(sed -n 's/.*"elapsed":\([0-9]*\).*/\1/p' far/job.html)" -lt 1000000000000 ]; then
        ok "the job did not take hours"
    else
        fail "the job took hours: $(sed -n 's/.*"elapsed":\([0-9]*\).*/\1/p' far/job.html)"
    fi
else
    echo "no time namespaces, or not MPICH: two hosts are not tried"
fi
verdict
