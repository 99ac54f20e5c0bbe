#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-stall.sh: no wait is silent. A PE that has waited for RMA_STALL seconds, in any call and on any node, names the
# missing PE. If that PE is stopped, the job ends after RMA_TIMEOUT seconds; if it is dead and on the same node, at
# once; if it is only late, never.
#
# The jobs mostly sleep, so they all run at once. Broken by a wait that never checks the other PE, by a question to the
# other PE that needs an exhausted resource, and by ending a job whose PEs all answer.
#
# Whether puts and gets through MPI's window wait for a stopped target depends on MPI and the network: test/job/stall
# finds out. If they do not wait, they must continue without a report.
set -eu

top_builddir=${top_builddir:-$(pwd)}
mpiexec=${MPIEXEC:-mpiexec.mpich}
mpi=''
# shellcheck source=/dev/null
. "$(dirname "$0")/launcher.sh"
program=$top_builddir/test/job/stall
# shellcheck source=deadline.sh
. "$(dirname "$0")/deadline.sh"
deadline=$(seconds 60)
[ -x "$program" ] || { echo "check-stall: there is no $program" >&2; exit 99; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/check-stall.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
failures=0
as=
pes=2
pin= # a command that binds the job to a processor, or none
# On a busy machine a PE may lose its processor for a second or two.
RMA_STALL=1 RMA_TIMEOUT=$(seconds 2)
export RMA_STALL RMA_TIMEOUT

# name_of WAIT: prints the call in which the PEs wait, as a regular expression.
name_of() {
    case $1 in
    barrier) echo rma_barrier_all ;;
    team) echo rma_team_sync ;;
    collective) echo rma_sum_reduce_long ;;
    lock) echo rma_set_lock ;;
    wait | any) echo 'rma_[a-z_]*wait[a-z_]*' ;;
    malloc) echo rma_malloc ;;
    split) echo rma_team_split_strided ;;
    finalize) echo rma_finalize ;;
    test) echo 'rma_test[a-z_]*' ;;
    testany) echo 'rma_test_any[a-z_]*' ;;
    testlock) echo rma_test_lock ;;
    signal) echo 'rma_signal_wait_until' ;;
    flood) echo 'rma_[a-z_]*atomic[a-z_]*' ;;
    esac
}

# start LAYOUT WAIT HINDRANCE [SETTING...]: starts a job in the background; its status goes to $dir/NAME.status.
start() {
    name=${as:-$1.$2.$3}
    case $1 in one) nodes=RMA_NODE_PES=64 ;; two) nodes=RMA_NODE_PES=2 ;; *) nodes=RMA_NODE_PES=1 ;; esac
    wait=$2 hindrance=$3
    shift 3
    (
        status=0
        # A shell around each PE hides its death from the launcher: then only the library can notice it.
        # shellcheck disable=SC2086
        if [ "$hindrance" = die ]; then
            set -- "$@" timeout -k 5 "$deadline" $mpiexec -n $pes sh -c '"$0" "$@"; sleep 30' "$program"
        else
            set -- "$@" $pin timeout -k 5 "$deadline" $mpiexec -n $pes "$program"
        fi
        env "$nodes" "STALL_UNTIL=$dir/$name.until" "$@" "$wait" "$hindrance" >"$dir/$name.out" 2>"$dir/$name.err" \
            </dev/null || status=$?
        echo $status >"$dir/$name.status"
    ) &
}

# start_late LAYOUT WAIT: the same with the hindrance `late`, which ends when a PE has reported the wait.
start_late() {
    start "$1" "$2" late "RMA_TIMEOUT=$deadline"
    {
        tries=0
        until grep -qE "$(reported_late "$2")" "$dir/$name.err" || [ -e "$dir/$name.status" ] ||
            [ $tries -ge $((deadline * 10)) ]; do
            tries=$((tries + 1))
            sleep 0.1
        done 2>/dev/null
        : >"$dir/$name.until"
    } &
}
place='( at stall\.c:[0-9]+, in [a-z_]+)?'
# reported_late WAIT: prints the report about a PE that answers but does not come.
reported_late() {
    case $1 in
    wait | signal) told="$place(, until [^:]*)?: any PE may end that; 1 PE was asked, and answers" ;;
    team) told=" .team 2.$place: PE 1 answers, and waits in no call" ;;
    *) told="$place: PE 1 answers, and waits in no call" ;;
    esac
    echo "has waited [0-9]+ s in $(name_of "$1")$told"
}

# suspend_and_resume LAYOUT: stops PE 1, which is late; when PE 0 has said so, stops PE 0 for longer than RMA_TIMEOUT;
# then continues both, PE 0 first. PE 0 must not count the time in which it was stopped itself.
suspend_and_resume() {
    as=$1.suspended
    start "$1" barrier late "CHECK_STALL=$$.$1.suspended"
    tries=0
    until first=$(pe_of "$$.$1.suspended" 0) && second=$(pe_of "$$.$1.suspended" 1) &&
        grep -q running "$dir/$1.suspended.out"; do
        tries=$((tries + 1))
        [ $tries -lt $((deadline * 10)) ] || return 0
        sleep 0.1
    done
    kill -STOP "$second"
    until grep -qE 'PE 1 (is stopped|does not answer)' "$dir/$1.suspended.err" || [ $tries -ge $((deadline * 10)) ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -STOP "$first"
    sleep $((RMA_TIMEOUT + 1))
    kill -CONT "$first"
    sleep 0.3 # PE 0 runs for a moment while PE 1 does not
    kill -CONT "$second"
    : >"$dir/$1.suspended.until"
    wait
}
# pe_of ID PE: prints the process number of that PE of the job with CHECK_STALL=ID.
pe_of() {
    for pid in $(grep -lszxF "CHECK_STALL=$1" /proc/[0-9]*/environ 2>/dev/null | sed 's,^/proc/,,; s,/.*,,'); do
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qxE "(PMI_RANK|OMPI_COMM_WORLD_RANK)=$2" || continue
        echo "$pid"
        return 0
    done
    return 1
}

# judge NAME ended|passes REGEX [REGEX]: the job has ended so; a line of its stderr matches the first REGEX, if
# that is not empty, and none the second.
judge() {
    status=$(cat "$dir/$1.status" 2>/dev/null || echo none)
    why=
    case $2.$status.$loses_codes in
    ended.0.yes) ;;
    ended.0.no | *.none.* | *.124.* | *.137.*) why="exit $status" ;;
    ended.* | passes.0.*) ;;
    *) why="exit $status" ;;
    esac
    [ -z "$3" ] || grep -qE "$3" "$dir/$1.err" || why="$why; stderr has no '$3'"
    if [ -n "${4-}" ] && grep -qE "$4" "$dir/$1.err"; then why="$why; stderr has '$4'"; fi
    if [ -z "$why" ]; then
        echo "ok   $1"
        return
    fi
    echo "FAIL $1: $why"
    head -n 20 "$dir/$1.out" "$dir/$1.err" | sed 's/^/    /'
    failures=$((failures + 1))
}

for layout in one far; do
    for wait in barrier collective lock wait signal; do
        start $layout $wait stop
        start_late $layout $wait
    done
    [ $layout = far ] || pin='taskset -c 0' # on one processor the two PEs meet by a counter: another way to wait
    start_late $layout team
    pin=
    wait
done
tests="test testany testlock"
for wait in $tests; do start one $wait stop; done
# Nothing must be reported during several RMA_STALL. On a slow machine this proves less.
start one test late RMA_TIMEOUT="$deadline"
{ sleep 4; : >"$dir/one.test.late.until"; } &
start one sometimes stop
suspend_and_resume one &
suspend_and_resume far &
deaths="barrier team collective lock wait any signal malloc split finalize $tests"
for wait in $deaths; do start one $wait die; done
start far flood stop
pes=4
start two testlock stop
start two testlock die
pes=2
for level in single multiple; do
    as=far.put.$level
    start far put stop RMA_WINDOW=always "STALL_LEVEL=$level"
    as=far.get.$level
    start far get stop RMA_WINDOW=always "STALL_LEVEL=$level"
done
as=
# Each PE waits for the other one; or so it seems, and a thread or a signal of PE 1 ends its wait.
deadlocks="barrier team lock wait any signal malloc finalize"
for layout in one far; do
    for wait in $deadlocks; do start $layout $wait elsewhere; done
    start $layout team crossed
    [ $layout = far ] || start one barrier child "RMA_TIMEOUT=$deadline"
    for hindrance in thread signal; do start $layout barrier $hindrance "RMA_TIMEOUT=$deadline"; done
done
wait

for layout in one far; do
    if [ $layout = one ]; then
        silent='PE 1 is stopped'
        over='PE 1 .*has been stopped for .*RMA_TIMEOUT'
    else
        silent='PE 1 does not answer'
        over='PE 1 has not answered for .*RMA_TIMEOUT'
    fi
    for wait in barrier collective lock wait signal; do
        call=$(name_of $wait)
        judge $layout.$wait.stop ended "has waited [0-9]+ s in $call$place(, until [^:]*)?: $silent"
        judge $layout.$wait.stop ended "$call: $over"
        judge $layout.$wait.late passes "$(reported_late $wait)" 'PE 1 is stopped'
    done
    judge $layout.team.late passes "$(reported_late team)" 'PE 1 is stopped'
    judge $layout.suspended passes 'PE 1 (is stopped|does not answer)' 'RMA_TIMEOUT'
    for wait in $deadlocks; do
        call=$(name_of $wait)
        judge $layout.$wait.elsewhere ended "PE 0 waits in $call"
        judge $layout.$wait.elsewhere ended 'PE 1 waits in rma_broadcast'
        judge $layout.$wait.elsewhere ended "$call: deadlock: each of the 2 PEs waits for a call of another one"
    done
    word="until the word 0x[0-9a-f]* is 1 .it is 0."
    judge $layout.wait.elsewhere ended "PE 0 waits in rma_wait_until_long$place, $word"
    judge $layout.team.crossed ended 'PE 0 waits in rma_team_sync .team 2.'
    judge $layout.team.crossed ended 'PE 1 waits in rma_team_sync .team 3.'
    judge $layout.team.crossed ended 'rma_team_sync: deadlock'
    for hindrance in thread signal; do
        judge $layout.barrier.$hindrance passes "waits in rma_wait_until_long$place, until the word" deadlock
    done
done
judge one.barrier.child passes "waits in rma_wait_until_long$place, until the word" deadlock
judge far.flood.stop ended "$(name_of flood): PE 1 has not answered for .*RMA_TIMEOUT"
# Within a flush of MPI's window a PE asks no other PE, but checks the processes of its host.
flush="access to PE 1 through MPI's window"
stopped='PE 1 is stopped \(process [0-9]+ of this host\)'
for name in far.put.single far.put.multiple far.get.single far.get.multiple; do
    if grep -q '^without PE 1' "$dir/$name.out"; then # the network needs no process of the target
        judge $name passes '' 'PE 1 is stopped'
        continue
    fi
    judge $name ended "has waited [0-9]+ s in rma_[a-z_]*, $flush: $stopped"
    judge $name ended "rma_[a-z_]*: $flush is not over after [0-9]+ s \(RMA_TIMEOUT\): $stopped"
done
# A loop of tests is a wait. But it does not report computing PEs, since the program may do other work between tests.
for wait in $tests; do
    judge one.$wait.stop ended "has waited [0-9]+ s in $(name_of $wait)$place: PE 1 is stopped"
    judge one.$wait.stop ended "$(name_of $wait): PE 1 .*has been stopped for .*RMA_TIMEOUT"
done
judge one.test.late passes '' 'has waited [0-9]+ s in rma_test'
judge one.sometimes.stop passes '' 'has waited [0-9]+ s in rma_test'
for wait in $deaths; do
    judge one.$wait.die ended "$(name_of $wait): PE 1 has died \\(process [0-9]+ of this host\\)"
done
# The PEs of the other node wait for PE 0, the first of its node, which answers. They or PE 0 end the job.
over='(rma_barrier_all: PE 1 has not answered|rma_test_lock: PE 1 .*has been stopped) for .*RMA_TIMEOUT'
judge two.testlock.stop ended "$over"
judge two.testlock.die ended "rma_test_lock: PE 1 has died \\(process [0-9]+ of this host\\)"
[ $failures -eq 0 ]
