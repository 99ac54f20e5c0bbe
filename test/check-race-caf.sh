#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-race-caf.sh: rmafc --race finds the data race of each coarray program of test/race, names its two lines, and
# reports nothing for the corrected versions of these programs.
#
# Each test/race/caf_NAME.f90 is compiled twice. With -DRACY it has one race, between the lines that end with the
# comments "RACE: first" and "RACE: second": the job must end with 66, and one report must name both lines, and none
# other lines; the reports contain the text of a comment "SAYS: text". With -DMENDED it has no race: the job must end
# with 0 and report nothing. "IMAGES: n" tells with how many images it runs; 2 by default.
# Broken by a race that is not found, or reported for other lines; by a report about a correct program; by a program
# that hangs or fails under the detector; by options that contradict each other and are accepted.
set -eu

usage() {
    cat <<'TEXT'
usage: check-race-caf.sh [OPTION...]
  --only PATTERN    only programs of test/race whose name (without caf_ and .f90) the shell pattern fits
  --jobs N          run N programs at once (default: 2)
  --keep            leave the programs and what they printed, and say where
  --help            print this
TEXT
}
only='*' jobs=2 keep=no one=
while [ $# -gt 0 ]; do
    option=$1
    shift
    case $option in
    --only | --jobs | --one)
        [ $# -gt 0 ] || { echo "check-race-caf: $option: a value is missing" >&2; exit 2; }
        option=$option=$1
        shift
        ;;
    esac
    case $option in
    --only=*) only=${option#*=} ;;
    --jobs=*) jobs=${option#*=} ;;
    --one=*) one=${option#*=} ;; # the script's own call of itself, for one program
    --keep) keep=yes ;;
    --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# ---- one program ----

# line_of FILE WHICH: the number of the line that ends with the mark.
line_of() { grep -n "! RACE: $2\$" "$1" | head -n 1 | cut -d: -f1; }

# reports_of FILE FIRST SECOND LOG: prints how many reports of the log name both lines, and how many do not.
reports_of() {
    awk -v file="$1" -v first="$2" -v second="$3" '
        function judge() {
            if (n == 2 && ((at[1] == first && at[2] == second) || (at[1] == second && at[2] == first))) right++
            else if (n) other++
            n = 0
        }
        function take(    place) {
            if (!match($0, " at " file ":[0-9]+")) return
            place = substr($0, RSTART, RLENGTH)
            sub(/.*:/, "", place)
            at[++n] = place
        }
        /librma race:/ { judge(); inside = /librma race: image [0-9]+: / }
        /what would order them/ { inside = 0 }
        inside && (/^ *at / || /^ *image [0-9]+: /) { take() }
        END { judge(); print right + 0, other + 0 }' "$4"
}

# try_version VERSION: compiles $file so, and runs it. Sets `code`; what it printed is in $log.out. Fails, with the
# reason in $why, if it does not compile or does not end.
try_version() {
    log=$RACE_DIR/programs/$name.$1 why='' code=0
    mkdir -p "$log.d"
    if ! (cd "$log.d" && RMA_FC=$RACE_FC "$RACE_BIN/rmafc" --race -cpp -O1 "-D$1" -o "$log" "$file") \
        >"$log.out" 2>&1 </dev/null; then
        why="does not compile"
        return 1
    fi
    deadline=$(seconds 60)
    # shellcheck disable=SC2086
    timeout -k 5 "$deadline" $mpiexec -n "$images" "$log" >"$log.out" 2>&1 </dev/null || code=$?
    if [ $code -eq 124 ] || [ $code -eq 137 ]; then
        why="does not end within $deadline seconds"
        return 1
    fi
}

judge_racy() {
    first=$(line_of "$file" first) second=$(line_of "$file" second)
    # shellcheck disable=SC2046
    set -- $(reports_of "${file##*/}" "$first" "$second" "$log.out")
    if [ "$1" -eq 0 ]; then
        why="exit $code, and no report names both line $first and line $second"
    elif [ "$code" -ne 66 ] && ! { [ "$code" -eq 0 ] && [ "$loses_codes" = yes ]; }; then
        why="exit $code, not 66, with a right report"
    elif [ "$2" -gt 0 ]; then
        why="reports that do not name lines $first and $second"
    elif [ -n "$says" ] && ! grep -qF -e "$says" "$log.out"; then
        why="the report does not say: $says"
    fi
    [ -z "$why" ]
}

judge_silent() {
    if grep -q 'librma race:' "$log.out"; then
        why="exit $code, and reports of a correct program"
    elif [ "$code" -ne 0 ]; then
        why="exit $code, not 0"
    fi
    [ -z "$why" ]
}

try_file() {
    file=$one
    name=${one##*/}
    name=${name%.f90}
    result=$RACE_DIR/results/$name
    : >"$result"
    images=$(sed -n 's/^! IMAGES: //p' "$file")
    images=${images:-2} says=$(sed -n 's/^! SAYS: //p' "$file")
    versions='RACY MENDED'
    case $name in caf_*) ;; *) versions=QUIET ;; esac
    for version in $versions; do
        expected=judge_silent
        [ "$version" != RACY ] || expected=judge_racy
        if try_version "$version" && $expected; then
            echo "ok $version" >>"$result"
        else
            echo "failed $version" >>"$result"
            said=$(head -n 24 "$log.out" | sed 's/^/    /')
            printf '%s\n' "FAIL ${file##*/}, $version, $images images: $why${said:+
$said}"
        fi
        [ "$RACE_KEEP" = yes ] || rm -rf "$log" "$log.d"
    done
}

if [ -n "$one" ]; then
    try_file
    exit 0
fi

# ---- the compiler command ----

fortran=${FC:-gfortran}
if ! command -v "${fortran%% *}" >/dev/null 2>&1; then
    skip "needs a Fortran compiler, and there is no $fortran (Debian package gfortran)"
fi
version=$($fortran -dumpversion 2>/dev/null || :)
if [ "${version%%.*}" -ge 15 ] 2>/dev/null; then
    skip "needs gfortran 14 or older, and $fortran is version $version"
fi
[ -f "$top_builddir/.libs/librma_caf.so" ] || skip "needs librma_caf, which was not built in $top_builddir (make)"
skip_with_sanitizers
need_lines
[ $keep = no ] || trap 'echo "kept: $dir"' EXIT
mkdir "$dir/programs" "$dir/results"
# shellcheck source=stage.sh
. "$top_srcdir/test/stage.sh"
stage "$dir/stage" || exit 1
bin=$dir/stage/bin
LD_LIBRARY_PATH=$stage_prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
unset_settings

# ---- users' mistakes ----

failures=0
cd "$dir"
export RMA_FC="$fortran"
# refused TEXT OPTION...: rmafc refuses these options, and says so.
refused() {
    text=$1
    shift
    run "$bin/rmafc" "$@" mistake.f90
    if [ "$status" -ne 2 ] || ! grep -qF -e "$text" "$dir/err"; then fail "rmafc $*: exit $status"; fi
}
refused 'leave out -static and -static-librma' --race -static-librma
refused 'leave out -static and -static-librma' --race -static
refused 'leave out -fsanitize=address' --race -fsanitize=address
refused 'rmafc: --race and --trace: a program has one tool that takes its calls' --race --trace
refused 'leave out -static-libgfortran' --race -static-libgfortran
refused '-fcoarray=single makes a program of one image' -fcoarray=single --race
run "$bin/rmafc" --help
grep -q '^  --race ' "$dir/out" || fail "rmafc --help: no --race"
# Without --race the command has none of its options.
run "$bin/rmafc" --show x.f90
if grep -q -e lrma_race -e --wrap -e -specs "$dir/out"; then fail "rmafc --show: options of --race"; fi

# A file that was compiled without --race is named, once.
cat >plain.f90 <<'END'
subroutine plain(x)
  integer :: x[*]
  x = x + 1
end subroutine
END
cat >instrumented.f90 <<'END'
program instrumented
  interface
    subroutine plain(x)
      integer :: x[*]
    end subroutine
  end interface
  integer :: x[*]
  x = 1
  call plain(x)
  sync all
end program
END
{ "$bin/rmafc" -c plain.f90 && "$bin/rmafc" --race -c instrumented.f90 &&
    "$bin/rmafc" --race instrumented.o plain.o -o partly && "$bin/rmafc" -c instrumented.f90 &&
    "$bin/rmafc" --race instrumented.o plain.o -o calls_only; } >log 2>&1 ||
    fail "programs that are partly instrumented"
unset RMA_FC
# said TEXT PROGRAM: the program's 2 images print this, once.
said() {
    # shellcheck disable=SC2086
    run $mpiexec -n 2 "$2"
    [ "$status" -eq 0 ] && [ "$(grep -c 'librma race:' "$dir/err")" -eq 1 ] && grep -qF "librma race: $1" "$dir/err" ||
        fail "$2: exit $status"
}
said 'compiled without --race: plain.f90; its loads and stores are not seen' ./partly
said 'the program was compiled without --race: its loads and stores are not seen, only its calls' ./calls_only
rm -f log
mistakes=$failures

# ---- all programs ----

tests=$(cd "$top_srcdir/test" && pwd)
step=$(by_depth 8 1 1)
n=-1
for file in "$tests"/race/caf_*.f90; do
    base=${file##*/caf_}
    # shellcheck disable=SC2254
    case ${base%.f90} in
    $only) ;;
    *) continue ;;
    esac
    n=$((n + 1))
    [ $((n % step)) -eq 0 ] || [ "$only" != '*' ] || continue
    echo "$file"
done >"$dir/files"
[ -s "$dir/files" ] || { echo "check-race-caf: --only $only: no program has such a name" >&2; exit 2; }
RACE_DIR=$dir RACE_BIN=$bin RACE_KEEP=$keep RACE_FC=$fortran
export RACE_DIR RACE_BIN RACE_KEEP RACE_FC top_srcdir top_builddir
tr '\n' '\0' <"$dir/files" | xargs -0 -n 1 -P "$jobs" sh "$top_srcdir/test/check-race-caf.sh" --one
count() { cat "$dir"/results/* 2>/dev/null | grep -c "^$1" || :; } # count PATTERN: lines of all results
failures=$((mistakes + $(count failed)))
tried=$(wc -l <"$dir/files")
ended=$(find "$dir/results" -type f | wc -l)
[ "$tried" -eq "$ended" ] || { echo "FAIL $tried programs, $ended results"; failures=$((failures + 1)); }
echo "$tried programs: racy $(count 'ok RACY') ok, $(count 'failed RACY') failed;" \
    "mended $(count 'ok MENDED') ok, $(count 'failed MENDED') failed"
[ "$failures" -eq 0 ]
