#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-race.sh: oshcc --race and rmacc --race find the data race of each program of test/race, name its two lines, and
# report nothing for the corrected versions of these programs.
#
# Each file is compiled twice. With -DRACY it has one race, between the lines that end with the comments "RACE: first"
# and "RACE: second": the job must end with 66, and one report must name both lines; what is printed has the text of
# each line "SAYS: text", and not that of a line "SAYS NOT: text". Without RACY, and for files called quiet_..., which
# have no race, the job must end with 0 and report nothing.
# Programs with OpenMP are also compiled with clang, if it is installed with its OpenMP runtime, which reports ordering
# in another way than gcc's. At the depth long all programs are.
# Broken by a race that is not found, or reported for other lines; by a report about a correct program; by a program
# that hangs or fails under the detector.
set -eu

usage() {
    cat <<'TEXT'
usage: check-race.sh [OPTION...]
  --folder NAME     the programs of this folder below test/race; mpi: programs of MPI windows, with rma_mpicc --race
  --only PATTERNS   only programs whose names (without .c) one of the shell patterns fits: --only 'lock_* thread_c11'
  --jobs N          run N programs at once (default: 2)
  --compiler=NAME   compile with this C compiler alone, and the C++ compiler that belongs to it: --compiler=clang
  --prefix=FOLDER   use the librma that is installed there; the default is to install this build in a temporary folder
  --strict          a racy program fails, too, if there is a report that does not name the marked lines
  --plain           compile without --race: both versions of each program must end with 0
  --keep            leave the programs and what they printed, and say where
  --help            print this
TEXT
}
refuse() { # refuse TEXT
    echo "check-race: $*" >&2
    exit 2
}

folder=. only='*' jobs=2 compiler='' prefix='' strict=no plain=no keep=no one=
while [ $# -gt 0 ]; do
    option=$1
    shift
    case $option in
    --folder | --only | --jobs | --compiler | --prefix | --one)
        [ $# -gt 0 ] || refuse "$option: a value is missing"
        option=$option=$1
        shift
        ;;
    esac
    case $option in
    --folder=*) folder=${option#*=} ;;
    --only=*) only=${option#*=} ;;
    --jobs=*) jobs=${option#*=} ;;
    --compiler=*) compiler=${option#*=} ;;
    --prefix=*) prefix=${option#*=} ;;
    --one=*) one=${option#*=} ;; # the script's own call of itself, for one program
    --strict) strict=yes ;;
    --plain) plain=yes ;;
    --keep) keep=yes ;;
    --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done
case $jobs in
'' | *[!0-9]* | 0) refuse "--jobs $jobs: not a number of programs" ;;
esac

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# ---- one program ----

# marker FILE NAME: the text in the line /* NAME: ... */ of the file.
marker() { sed -n "s,^/\* $2: \(.*\) \*/\$,\1,p" "$1" | head -n 1; }
# line_of FILE WHICH: the number of the line that ends with the mark, WHICH being first or second. One line may carry
# both marks.
line_of() { grep -nE "/\* RACE: $2 \*/( /\* RACE: second \*/)?\$" "$1" | head -n 1 | cut -d: -f1; }

# reports_of FILE FIRST SECOND LOG: prints how many reports of the log name both lines, and how many do not. The place
# where a block was allocated does not count, nor does the text after "what would order them". A line that is both must
# be named twice.
reports_of() {
    awk -v file="$1" -v first="$2" -v second="$3" '
        function named(line,    text, pattern, n) {
            pattern = file ":" line
            text = report
            n = 0
            while (at = index(text, pattern)) {
                text = substr(text, at + length(pattern))
                if (text !~ /^[0-9]/) n++
            }
            return n
        }
        function judge() {
            if (report == "") return
            if (first == second ? named(first) >= 2 : named(first) && named(second)) right++
            else other++
            report = ""
        }
        /librma race:/ { judge(); inside = 0 }
        /librma race: (PE|rank) [0-9]+[,a-z0-9 ]* (reads|writes|frees|has left) / { inside = 1 }
        /what would order them/ { inside = 0 }
        inside {
            gsub(/allocated (in [^ ]* )?at [^ ,)]*/, "")
            gsub(/\(MPI_Win_[a-z_]* at [^ ,)]*\)/, "")
            report = report $0 "\n"
        }
        END { judge(); print right + 0, other + 0 }' "$4"
}

# lacks FILE LOG: prints a text that the file wants in the log, but is not there, or that it does not want, but is.
lacks() {
    sed -n 's,^/\* SAYS: \(.*\) \*/$,\1,p' "$1" | while IFS= read -r text; do
        grep -qF -e "$text" "$2" || printf 'no text "%s"' "$text"
    done
    sed -n 's,^/\* SAYS NOT: \(.*\) \*/$,\1,p' "$1" | while IFS= read -r text; do
        ! grep -qF -e "$text" "$2" || printf 'the text "%s"' "$text"
    done
}

# try_version VERSION: compiles $file as RACY or MENDED, and runs it. Sets `code`; what it printed is in $log.out and
# $log.err. Fails, with the reason in $why, if it does not compile or does not end.
try_version() {
    log=$RACE_DIR/programs/$name.$1 why='' code=0
    # Lists of words.
    # shellcheck disable=SC2086
    if ! $command $RACE_OPTION -g -O1 $flags "-D$1" -o "$log" "$file" >"$log.out" 2>"$log.err" </dev/null; then
        why="does not compile"
        return 1
    fi
    deadline=$(seconds 60)
    # shellcheck disable=SC2086
    timeout -k 5 "$deadline" $mpiexec -n "$pes" $start "$log" >"$log.out" 2>"$log.err" </dev/null || code=$?
    if [ $code -eq 124 ] || [ $code -eq 137 ]; then
        why="does not end within $deadline seconds"
        return 1
    fi
}

# judge_racy: the run of a racy version found its race and no other. If not, $why has the reason.
judge_racy() {
    first=$(line_of "$file" first) second=$(line_of "$file" second)
    # shellcheck disable=SC2046
    set -- $(reports_of "${file##*/}" "$first" "$second" "$log.err")
    [ "$2" -eq 0 ] || echo "other $name: $2" >>"$result"
    if [ "$1" -eq 0 ] && [ "$2" -eq 0 ]; then
        why="exit $code, and no report of lines $first and $second"
    elif [ "$1" -eq 0 ]; then
        why="exit $code, and no report names both line $first and line $second"
    elif [ "$code" -ne 66 ] && ! { [ "$code" -eq 0 ] && [ "$loses_codes" = yes ]; }; then
        why="exit $code, not 66, with a right report"
    elif [ "$2" -gt 0 ] && [ "$RACE_STRICT" = yes ]; then
        why="reports that do not name lines $first and $second"
    else
        why=$(lacks "$file" "$log.err")
    fi
    [ -z "$why" ]
}

# judge_silent: the run of a correct version ended with 0 and reported nothing.
judge_silent() {
    if grep -q 'librma race:' "$log.out" "$log.err"; then
        why="exit $code, and reports of a correct program"
    elif [ "$code" -ne 0 ]; then
        why="exit $code, not 0"
    fi
    [ -z "$why" ]
}

# try_file: both versions of $one; a line of the result file for each version that was tried.
try_file() {
    file=$one base=${one##*/}
    name=${base%.*} by=''
    case $one in
    clang:*)
        file=${one#clang:} name=$name.clang by=', clang'
        OSHCC=clang RMA_CC=clang OSHCXX=clang++ MPICH_CC=clang OMPI_CC=clang
        export OSHCC RMA_CC OSHCXX MPICH_CC OMPI_CC
        ;;
    esac
    result=$RACE_DIR/results/$name
    : >"$result"
    pes=$(marker "$file" PES) flags=$(marker "$file" FLAGS)
    pes=${pes:-2}
    case $flags.$(uname -m) in
    -m*.x86_64) ;;
    -m*) flags= ;; # options of x86-64's instructions; the program does without on other processors
    esac
    start=''
    if grep -q '^/\* RMA_MPI \*/$' "$file"; then start=$preload; fi
    case $RACE_FOLDER$base in
    mpi*) command=$RACE_BIN/rma_mpicc ;;
    *.cc) command=$RACE_BIN/oshc++ ;;
    *)
        command=$RACE_BIN/oshcc
        if grep -q '^/\* NATIVE \*/$' "$file"; then command=$RACE_BIN/rmacc; fi
        ;;
    esac
    versions='RACY MENDED'
    case $base in quiet_*) versions=QUIET ;; esac
    for version in $versions; do
        expected=judge_silent
        [ "$version" != RACY ] || [ -z "$RACE_OPTION" ] || expected=judge_racy
        if try_version "$version" && $expected; then
            echo "ok $version" >>"$result"
        elif [ $expected = judge_racy ] && [ "$code" -eq 0 ] && try_version "$version" && $expected; then
            # Two accesses of 8 bytes at the very same moment may miss each other (docs/race.md): once, but not twice.
            echo "ok $version" >>"$result"
        else
            echo "failed $version" >>"$result"
            # One write: programs that run at once do not mix their lines.
            said=$(cat "$log.out" "$log.err" | head -n 24 | sed 's/^/    /')
            printf '%s\n' "FAIL $base, $version, $pes PEs$by: $why${said:+
$said}"
        fi
        [ "$RACE_KEEP" = yes ] || rm -f "$log"
    done
}

if [ -n "$one" ]; then
    path=$LD_LIBRARY_PATH
    need_rma_mpi
    LD_LIBRARY_PATH=$path # not the build's libraries before those of --prefix
    try_file
    exit 0
fi

# ---- the compiler commands ----

[ -e "$top_srcdir/test/race/$folder" ] || hard "there is no $top_srcdir/test/race/$folder"
skip_with_sanitizers
need_lines
[ $keep = no ] || trap 'echo "kept: $dir"' EXIT
mkdir "$dir/programs" "$dir/results"

# Without --prefix: an installation below a temporary folder. The loader finds the libraries by the environment.
if [ -z "$prefix" ]; then
    if [ ! -f "$top_builddir/librma_shmem.la" ]; then
        skip "needs librma_shmem, which was not built in $top_builddir (make)"
    fi
    if ! grep -q -e --race "$top_builddir/tools/oshcc"; then
        [ $plain = yes ] || skip "needs an oshcc that has --race"
    fi
    # shellcheck source=stage.sh
    . "$top_srcdir/test/stage.sh"
    stage "$dir/stage" || exit 1
    prefix=$stage_prefix bin=$dir/stage/bin
else
    bin=$(cd "$prefix/bin" && pwd) || refuse "--prefix=$prefix: there is no folder bin"
    prefix=${bin%/bin}
    if [ $plain = no ] && ! "$bin/oshcc" --help | grep -q -e --race; then
        skip "needs an oshcc with --race, unlike $bin/oshcc"
    fi
fi
LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

if [ -n "$compiler" ]; then
    case $compiler in
    *clang*) cxx=$(echo "$compiler" | sed 's/clang/clang++/') ;;
    *gcc*) cxx=$(echo "$compiler" | sed 's/gcc/g++/') ;;
    *) cxx=c++ ;;
    esac
    OSHCC=$compiler RMA_CC=$compiler OSHCXX=$cxx
    export OSHCC RMA_CC OSHCXX
fi

if [ $plain = yes ]; then option=''; else option=--race; fi
# compiles COMMAND SUFFIX FLAG: the compiler command takes a program of one line.
compiles() {
    echo 'int main(void) { return 0; }' >"$dir/probe.$2"
    # shellcheck disable=SC2086
    "$1" $option "$3" -o "$dir/probe" "$dir/probe.$2" >"$dir/log" 2>&1 </dev/null
}
if ! compiles "$bin/oshcc" c -g; then
    echo "FAIL oshcc $option does not compile"
    head -n 20 "$dir/log" | sed 's/^/    /'
    exit 1
fi
without_cxx='' without_openmp='' with_clang='' all_with_clang=''
compiles "$bin/oshc++" cc -g || without_cxx=yes
compiles "$bin/oshcc" c -fopenmp || without_openmp=yes
if [ -z "$compiler" ] && [ $plain = no ] && (export OSHCC=clang && compiles "$bin/oshcc" c -fopenmp); then
    with_clang=yes
fi
if [ -z "$compiler" ] && [ $plain = no ] && [ "$(by_depth no no yes)" = yes ]; then
    if (export OSHCC=clang && compiles "$bin/oshcc" c -g); then all_with_clang=yes; else echo "clang was not tried"; fi
fi

# ---- all programs ----

# The kind of a program is the first word of its name. With `normal` the first program of each kind and each twelfth
# after it, with `quick` the first one alone.
fits() { # fits NAME: whether --only has a pattern for it
    set -f
    for pattern in $only; do
        # shellcheck disable=SC2254
        case $1 in $pattern) set +f; return 0 ;; esac
    done
    set +f
    return 1
}
step=$(by_depth 1000 12 1)
[ "$folder" = . ] || step=$(by_depth 3 1 1)
left_out=0 last_kind=
openmp=" $(grep -lx '/\* FLAGS: -fopenmp \*/' "$top_srcdir/test/race/$folder"/*.c | sed 's,.*/,,' | tr '\n' ' ')"
for file in "$top_srcdir/test/race/$folder"/*.c "$top_srcdir/test/race/$folder"/*.cc; do
    [ -e "$file" ] || continue
    base=${file##*/}
    fits "${base%.*}" || continue
    kind=${base%%_*}
    [ "$kind" = "$last_kind" ] || n=-1
    n=$((n + 1)) last_kind=$kind
    [ $((n % step)) -eq 0 ] || [ "$only" != '*' ] || continue
    case $openmp in
    *" $base "*)
        [ -z "$with_clang" ] || echo "clang:$file"
        lacks=$without_openmp
        ;;
    *)
        [ -z "$all_with_clang" ] || echo "clang:$file"
        lacks=
        ;;
    esac
    case $base in *.cc) lacks=$lacks$without_cxx ;; esac
    if [ -n "$lacks" ]; then left_out=$((left_out + 1)); else echo "$file"; fi
done >"$dir/files"
if [ ! -s "$dir/files" ]; then
    if [ $left_out -eq 0 ]; then refuse "--only $only: no program has such a name"; fi
    skip "needs a compiler for C++ (Debian package g++) or with OpenMP"
fi

RACE_DIR=$dir RACE_BIN=$bin RACE_OPTION=$option RACE_STRICT=$strict RACE_KEEP=$keep
RACE_FOLDER=${folder#.}
export RACE_FOLDER RACE_DIR RACE_BIN RACE_OPTION RACE_STRICT RACE_KEEP top_srcdir top_builddir
# File names may have blanks, through the source folder's name.
tr '\n' '\0' <"$dir/files" | xargs -0 -n 1 -P "$jobs" sh "$0" --one

count() { cat "$dir"/results/* 2>/dev/null | grep -c "^$1" || :; } # count PATTERN: lines of all results
failed=$(count failed)
others=$(cat "$dir"/results/* | sed -n 's/^other //p')
if [ -n "$others" ]; then
    echo "racy programs with reports of other lines, and how many:"
    printf '%s\n' "$others" | sed 's/^/    /'
fi
tried=$(wc -l <"$dir/files")
ended=$(find "$dir/results" -type f | wc -l)
[ "$tried" -eq "$ended" ] || { echo "FAIL $tried programs, $ended results"; failed=$((failed + 1)); }
[ -n "$compiler" ] || [ -n "$with_clang" ] || [ "$folder" != . ] ||
    echo "OpenMP was not tried with clang: there is none, or no libomp"
[ $left_out -eq 0 ] || echo "$left_out programs were left out: the compiler lacks C++ or OpenMP"
echo "$tried programs: racy $(count 'ok RACY') ok, $(count 'failed RACY') failed;" \
    "mended $(count 'ok MENDED') ok, $(count 'failed MENDED') failed;" \
    "quiet $(count 'ok QUIET') ok, $(count 'failed QUIET') failed"
[ "$failed" -eq 0 ]
