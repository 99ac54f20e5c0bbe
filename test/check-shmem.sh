#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-shmem.sh: the headers of OpenSHMEM compile in each language with each available compiler; a tool can define
# functions under their names; the environment variables of the specification work, and so does oshrun.
#
# Broken by a header that a language does not accept or that gives a warning; by a function without a second name; by a
# call that the compiler inlines although the program is compiled for profiling; by a variable without effect, or whose
# wrong value librma accepts.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cc=${CC:-cc}
include=-I$top_srcdir/include
rpath=-Wl,-rpath,$top_builddir/.libs

# ---- the headers ----

# `long`: each header with each compiler and standard. `normal`: all of them for shmem.h, which includes all the rest;
# each other header once in either language. `quick`: only this build's compiler.
# CC may be a command with arguments: in the list the word CC stands for it.
if quick; then compilers=CC; elif [ "$cc" = gcc ]; then compilers="gcc clang"; else compilers="CC gcc clang"; fi
warnings="-DSHMEM_WARNINGS_ -pedantic -Wall -Wextra -Werror"
for header in shmem.h shmemx.h pshmem.h mpp/shmem.h mpp/shmemx.h; do
    if [ $header = shmem.h ] || deep; then all=yes; else all=no; fi
    cat >"$dir/one.c" <<END
#include <$header>
#include <$header>
static long word;
int main(void) {
    shmem_init();
    shmem_long_p(&word, shmem_long_g(&word, 0), 0);
    shmem_finalize();
    return 0;
}
END
    cp "$dir/one.c" "$dir/one.cc"
    for name in $compilers; do
        if [ "$name" = CC ]; then compiler=$cc; else compiler=$name; fi
        command -v "${compiler%% *}" >/dev/null 2>&1 || continue
        for flags in -std=c99 -std=c11 "-std=gnu17 -O2" "-std=c11 -DSHMEM_PROFILE" -std=c2x; do
            # shellcheck disable=SC2086
            $compiler $flags $warnings -Wconversion -Wshadow "$include" -c "$dir/one.c" -o "$dir/one.o" \
                >"$dir/log" 2>&1 || fail "<$header> with $compiler $flags"
            [ $all = yes ] || break 2
        done
    done
    for compiler in $(by_depth c++ 'g++ clang++' 'c++ g++ clang++'); do
        command -v "$compiler" >/dev/null 2>&1 || continue
        # The headers need variadic macros and long long, of which -pedantic warns before C++11.
        $compiler -std=c++98 -DSHMEM_WARNINGS_ -Wall -Wextra -Werror "$include" -c "$dir/one.cc" -o "$dir/one.o" \
            >"$dir/log" 2>&1 || fail "<$header> with $compiler -std=c++98"
        for flags in -std=c++11 -std=c++20 "-std=c++17 -DSHMEM_PROFILE"; do
            # shellcheck disable=SC2086
            $compiler $flags $warnings "$include" -c "$dir/one.cc" -o "$dir/one.o" >"$dir/log" 2>&1 ||
                fail "<$header> with $compiler $flags"
            [ $all = yes ] || break 2
        done
    done
done

# Before C99 each file that includes an inlined function would define it. There the header declares the library's
# functions instead, so that several such files can be linked together.
cat >"$dir/one.c" <<'END'
#include <shmem.h>
static long word;
void one(void);
void one(void) { shmem_long_p(&word, 1, shmem_my_pe()); }
END
for compiler in gcc clang; do
    command -v $compiler >/dev/null 2>&1 || continue
    what="$compiler -std=gnu89"
    $compiler -std=gnu89 -O2 -Wall -Wextra -Werror "$include" -c "$dir/one.c" -o "$dir/one.o" >"$dir/log" 2>&1 &&
        [ "$(nm "$dir/one.o" | grep -c ' T ')" -eq 1 ] || fail "$what: a file defines what the header declares"
done

# With SHMEM_PROFILE <shmem.h> declares nothing of the native interface.
printf '#define SHMEM_PROFILE\n#include <shmem.h>\nint rma_put;\nint main(void) { return rma_put; }\n' >"$dir/one.c"
# shellcheck disable=SC2086
$cc -Werror "$include" -c "$dir/one.c" -o "$dir/one.o" >"$dir/log" 2>&1 || fail "names of rma.h with SHMEM_PROFILE"

# A program that uses a name of the header for something else gets one error with one note for it.
printf '#include <shmem.h>\nint shmem_long_p(int a);\nint shmem_team_sync;\n' >"$dir/one.c"
# shellcheck disable=SC2086
$cc -std=c11 "$include" -c "$dir/one.c" -o "$dir/one.o" >"$dir/log" 2>&1 || true
case $($cc --version) in
*clang*) ;; # shows two macros of its own
*)
    if [ "$(grep -c ' error: ' "$dir/log")" -ne 2 ] || [ "$(grep -c ' note: ' "$dir/log")" -ne 2 ]; then
        fail "names of the header that the program defines: not a note for each of two errors"
    fi
    ;;
esac

# The compiler refuses a type outside the lists.
for call in 'shmem_p(&s, s, 0)' 'shmem_atomic_add(&d, 1, 0)' 'shmem_and_reduce(SHMEM_TEAM_WORLD, &d, &d, 1)' \
    'shmem_put(&s, &s, 1)'; do
    cat >"$dir/one.c" <<END
#include <shmem.h>
void f(void);
void f(void) {
    struct { int i; } s = {0};
    double d = 0;
    (void)s, (void)d;
    $call;
}
END
    # shellcheck disable=SC2086
    if $cc -std=c11 "$include" -c "$dir/one.c" -o "$dir/one.o" >"$dir/log" 2>&1; then fail "$call is taken"; fi
done

[ $failures -eq 0 ] || verdict
skip_with_sanitizers "profiling and what follows"
need "$top_builddir/.libs/librma_shmem.so"

# ---- profiling ----

cat >"$dir/tool.c" <<'END'
#include <pshmem.h>
#include <stdio.h>
static long puts_seen, adds_seen, barriers_seen, controls_seen;
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}
long shmem_long_atomic_fetch_add(long *dest, long value, int pe) {
    adds_seen++;
    return pshmem_long_atomic_fetch_add(dest, value, pe);
}
void shmem_barrier_all(void) {
    barriers_seen++;
    pshmem_barrier_all();
}
void shmem_pcontrol(int level, ...) { controls_seen += level; }
void shmemx_signal_add(uint64_t *sig_addr, uint64_t signal, int pe) {
    adds_seen++;
    pshmemx_signal_add(sig_addr, signal, pe);
}
void shmem_finalize(void) {
    printf("seen %ld %ld %ld %ld\n", puts_seen, adds_seen, barriers_seen, controls_seen);
    fflush(stdout);
    pshmem_finalize();
}
END
cat >"$dir/program.c" <<'END'
#include <shmemx.h>
static long word[2];
static uint64_t signals;
int main(void) {
    long value = 5;
    shmem_init();
    for (int i = 0; i < 7; i++) shmem_put(word, &value, 1, 0);
    for (int i = 0; i < 11; i++) shmem_atomic_fetch_add(word + 1, 1L, 0);
    for (int i = 0; i < 5; i++) shmemx_signal_add(&signals, 1, 0);
    shmem_barrier_all();
    shmem_pcontrol(3);
    if (shmem_my_pe() == 0 && (word[0] != 5 || word[1] != 11L * shmem_n_pes())) return 2;
    shmem_finalize();
    return 0;
}
END
libraries="$top_builddir/.libs/librma_shmem.so $top_builddir/.libs/librma.so"
# shellcheck disable=SC2086
compile() { $cc -std=gnu11 -O2 -Wall -Wextra -Werror "$include" "$@"; }
compile -fPIC -shared "$dir/tool.c" -o "$dir/tool.so"
compile -c "$dir/tool.c" -o "$dir/tool.o"
# shellcheck disable=SC2086
{
    compile -DSHMEM_PROFILE "$dir/program.c" -o "$dir/profiled" $libraries "$rpath"
    compile -DSHMEM_PROFILE "$dir/program.c" "$dir/tool.o" -o "$dir/linked" $libraries "$rpath"
    compile "$dir/program.c" -o "$dir/plain" $libraries "$rpath"
}
seen() { # seen PROGRAM WANTED [PRELOAD]
    # shellcheck disable=SC2086
    timeout "$(seconds 60)" $mpiexec -n 2 env ${3:+LD_PRELOAD="$3"} "$dir/$1" >"$dir/log" 2>&1 || fail "$1 ended badly"
    [ "$(grep -c "^seen $2\$" "$dir/log")" = 2 ] || fail "$1: not 'seen $2' from both PEs"
}
seen profiled "7 16 1 3" "$dir/tool.so"
seen linked "7 16 1 3"
seen plain "0 0 1 3" "$dir/tool.so" # the compiler has inlined put and add: the tool sees calls only

# ---- environment variables ----

cat >"$dir/heap.c" <<'END'
#include <shmem.h>
#include <stdio.h>
int main(void) {
    shmem_init();
    /* Ten times 100000 bytes are within a megabyte; a hundred times are not. */
    int i = 0;
    while (i < 100 && shmem_malloc(100000)) i++;
    if (shmem_my_pe() == 0) printf("blocks %d\n", i);
    shmem_finalize();
    return 0;
}
END
# shellcheck disable=SC2086
$cc -std=gnu11 -O2 "$include" "$dir/heap.c" -o "$dir/heap" $libraries "$rpath"
with() { # with VARIABLE=VALUE PATTERN: the output has it
    # shellcheck disable=SC2086
    timeout "$(seconds 60)" $alone env "$1" "$dir/heap" >"$dir/log" 2>&1 || true
    grep -qE -- "$2" "$dir/log" || fail "$1: no '$2'"
}
# MPICH's launcher may drop the last words of a job that aborts: its jobs of one PE do without a launcher.
if [ $mpi = mpich ]; then alone=; else alone="$mpiexec -n 1"; fi
with SHMEM_SYMMETRIC_SIZE=1000000 '^blocks 1[0-9]$'
with SHMEM_SYMMETRIC_SIZE=1m '^blocks 1[0-9]$'
with SHMEM_SYMMETRIC_SIZE=0.5M '^blocks [5-9]$'
with SMA_SYMMETRIC_SIZE=1000K '^blocks 1[0-9]$'
with RMA_HEAP_MAX=50m '^blocks 100$'
for wrong in 20kk 5x -1 0 "" nan 0x10 1e6 m; do
    with SHMEM_SYMMETRIC_SIZE=$wrong "shmem_init: SHMEM_SYMMETRIC_SIZE=$wrong: not a positive"
done
with SMA_SYMMETRIC_SIZE=5x 'shmem_init: SMA_SYMMETRIC_SIZE=5x: not a positive'
with SHMEM_SYMMETRIC_SIZE=900T 'shmem_init: SHMEM_SYMMETRIC_SIZE=900T: more than this node.s memory'
with SMA_SYMMETRIC_SIZE=900T 'shmem_init: SMA_SYMMETRIC_SIZE=900T: more than'
with SHMEM_VERSION=1 '^librma [0-9.]+: OpenSHMEM 1[.]6$'
with SMA_VERSION= 'OpenSHMEM 1[.]6$'
with SHMEM_INFO=x 'SHMEM_SYMMETRIC_SIZE  size of'
with SHMEM_DEBUG=1 'RMA_CHECK .*yes'
with SHMEM_DEBUG=1 'version .* PEs? on '

# ---- the launcher's wrapper ----

oshrun=$top_builddir/tools/oshrun
if sh "$oshrun" --version >"$dir/log" 2>&1 && grep -q 'OpenSHMEM 1[.]6' "$dir/log" &&
    sh "$oshrun" --help >"$dir/log" && grep -q '^usage: oshrun' "$dir/log"; then
    for flag in -n -np; do
        timeout "$(seconds 60)" sh "$oshrun" $flag 2 "$dir/heap" >"$dir/log" 2>&1 || fail "oshrun $flag 2 ended badly"
        grep -q "^blocks 100\$" "$dir/log" || fail "oshrun $flag 2"
    done
    timeout "$(seconds 60)" sh "$oshrun" -c 2 -x SHMEM_SYMMETRIC_SIZE=1m -q --oversubscribe --allow-run-as-root \
        "$dir/heap" >"$dir/log" 2>&1 || fail "oshrun -c 2 -x SHMEM_SYMMETRIC_SIZE=1m ended badly"
    grep -qE '^blocks [0-9]{1,2}$' "$dir/log" || fail "oshrun -x SHMEM_SYMMETRIC_SIZE=1m"
    sh "$oshrun" --show -np 2 x --show | grep -q " -n 2 x --show\$" || fail "oshrun --show"
else
    fail "oshrun --version, --help"
fi

# The arguments that a launcher gets. These stand-ins print their arguments, one on each line.
for whose in 'HYDRA build details' 'mpirun (Open MPI) 4.1.4' 'mpirun5 (Open MPI) 5.0.7' 'slurm 23'; do
    cat >"$dir/launcher.${whose%% *}" <<END
#!/bin/sh
if [ "\$1" = --version ]; then echo "$whose"; else printf '<%s>' "\$@"; fi
END
done
chmod +x "$dir"/launcher.*
given() { # given LAUNCHER WANTED ARGUMENT...: oshrun calls the launcher so; a wrong option is told, with exit 2
    wanted=$2 code=0
    OSHRUN="$dir/launcher.$1" said=$1
    export OSHRUN
    shift 2
    sh "$oshrun" "$@" >"$dir/log" 2>&1 || code=$?
    case $wanted in
    '<'*) [ $code -eq 0 ] && [ "$(cat "$dir/log")" = "$wanted" ] ;;
    *) [ $code -eq 2 ] && grep -qF -- "oshrun: $wanted" "$dir/log" ;;
    esac || fail "oshrun $* with $said: exit $code, not $wanted"
    unset OSHRUN
}
set -- -c 3 -N 2 -x A=b=c -x HOME -H h1,h2 -q --oversubscribe --allow-run-as-root --tag-output ./p -x 'two words' --show
given HYDRA '<-n><3><-ppn><2><-genv><A><b=c><-hosts><h1,h2><-prepend-rank><./p><-x><two words><--show>' "$@"
given mpirun "<-n><3><-N><2><-x><A=b=c><-x><HOME><-H><h1,h2><-q><--oversubscribe><--allow-run-as-root><--tag-output>\
<./p><-x><two words><--show>" "$@"
given mpirun5 '<-n><2><--oversubscribe><p><-q>' -q -n 2 --quiet --oversubscribe p -q
given slurm '<-c><3><-N><2><-n><4><./p>' -c 3 -N 2 -np 4 ./p
given HYDRA '<-bind-to><core><-genv><A><B><-n><2><p><-c><1><:><-n><1><q><-np><1>' \
    -bind-to core -genv A B -c 2 p -c 1 : -c 1 q -np 1
given HYDRA '<-new><p><-c><1>' -new p -c 1
given mpirun '<--mca><a><b><-n><2><p>' --mca a b -c 2 p
for option in -n -np -c -N -H --host -x; do given HYDRA "$option: its value is missing" -n 2 $option; done
for option in -n -np -c -N; do
    for value in x 0 1.5 -1 ''; do given HYDRA "$option $value: not a number of PEs" $option "$value" p; done
done
given HYDRA '-n 2: the program is missing' -x A=1 -n 2
given HYDRA '-c 1: the program is missing' -n 1 p : -c 1
given HYDRA '-H a,,b: not names of hosts' -H a,,b p
for value in =3 1A A-B=2 ''; do given HYDRA "-x $value: not NAME or NAME=VALUE" -x "$value" p; done
OSHRUN="$dir/launcher.HYDRA" sh "$oshrun" -c 2 -x RMA_TEST_UNSET --show p >"$dir/log" 2>&1 || fail "oshrun -c -x"
if ! grep -q "^oshrun: note: -x RMA_TEST_UNSET: RMA_TEST_UNSET is not set" "$dir/log" ||
    ! grep -q 'launcher.HYDRA -n 2 p$' "$dir/log"; then
    fail "oshrun -x of what is not set"
fi

# ---- wrappers that would call themselves ----

mkdir "$dir/bin"
for name in oshcc rmacc oshrun oshc++; do ln -s "$top_builddir/tools/$name" "$dir/bin/$name"; done
ln -s oshcc "$dir/bin/cc-of-mine"
ln -s rmacc "$dir/bin/rmac++"
printf '#!/bin/sh\noshcc "$@"\n' >"$dir/bin/script"
printf '#!/bin/sh\nunset OSHCC\nexec oshcc "$@"\n' >"$dir/bin/once-more"
chmod +x "$dir/bin/script" "$dir/bin/once-more"
PATH=$dir/bin:$PATH
circle() { # circle WRAPPER NAMED VARIABLE=VALUE...: with these variables it is refused, and the message has NAMED
    wrapper=$1 named=$2 code=0
    shift 2
    timeout "$(seconds 50)" env "$@" "$wrapper" -n 1 "$dir/one.c" </dev/null >"$dir/log" 2>&1 || code=$?
    case $code in 0 | 124 | 126 | 127) false ;; *) grep -qF -- "$named" "$dir/log" ;; esac ||
        fail "$wrapper with $*: exit $code, not '$named'"
}
for value in "env oshcc" script; do
    circle oshcc ": OSHCC=$value: this command calls" OSHCC="$value"
done
circle rmac++ 'rmac++: RMA_CXX=env rmac++ -g: this' RMA_CXX='env rmac++ -g'
# itself VARIABLE=VALUE WRAPPER: the variable names the command itself: a note, and the compiler is as without it.
itself() {
    plain=$("$2" --show x.c 2>&1)
    code=0
    shown=$(env "$1" "$2" --show x.c 2>"$dir/log") || code=$?
    if [ $code -ne 0 ] || [ "$shown" != "$plain" ] ||
        ! grep -qxF "$2: note: $1 names this command itself, and is ignored" "$dir/log"; then
        fail "$2 with $1: exit $code, $shown"
    fi
}
for value in oshcc "$dir/bin/oshcc" "$top_builddir/tools/oshcc" cc-of-mine 'oshcc -g'; do
    itself OSHCC="$value" oshcc
done
itself OSHCXX=oshc++ oshc++
itself RMA_CC=rmacc rmacc
itself RMA_CXX='rmac++ -g' rmac++
OSHCC=oshcc oshcc -fsyntax-only "$include" "$dir/heap.c" 2>"$dir/log" || fail "OSHCC=oshcc: it does not compile"
circle oshcc 'again; unset ' OSHCC=rmacc RMA_CC=oshcc
circle oshrun 'oshrun: OSHRUN=oshrun: this' OSHRUN=oshrun
circle oshrun 'oshrun: OSHRUN=timeout 400 oshrun -v: this' OSHRUN='timeout 400 oshrun -v'
OSHCC=once-more oshcc --version >"$dir/log" 2>&1 || fail "oshcc --version with a script that calls oshcc"
OSHCC=once-more oshcc -fsyntax-only "$include" "$dir/heap.c" >"$dir/log" 2>&1 ||
    fail "OSHCC names a script that calls oshcc with another compiler"

verdict
