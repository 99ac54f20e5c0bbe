#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-race-input.sh: a user's mistake with the race detector gives a clear message, and does not change the program's
# own result.
#
# Broken by a word of RMA_RACE that has an unrequested effect, or none without a message; by a suppression that does not
# suppress, or suppresses another race; by a program that fails or hangs because a part of it was compiled without
# --race, or because PEs have different settings; by exhausted memory.
set -eu

case "${1-}" in
--help)
    echo "usage: check-race-input.sh [--prefix=FOLDER]"
    echo "Tries oshcc --race and RMA_RACE. --prefix: the librma that is installed there; else this build's."
    exit 0
    ;;
esac
prefix=
case "${1-}" in
--prefix=*) prefix=${1#*=} ;;
esac
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers
need_lines

unset_settings

if [ -z "$prefix" ]; then
    if [ ! -f "$top_builddir/librma_shmem.la" ]; then
        skip "needs librma_shmem, which was not built in $top_builddir (make)"
    fi
    # shellcheck source=stage.sh
    . "$top_srcdir/test/stage.sh"
    stage "$dir/stage" || exit 1
    prefix=$stage_prefix
    oshcc=$dir/stage/bin/oshcc rmacc=$dir/stage/bin/rmacc rma_mpicc=$dir/stage/bin/rma_mpicc
else
    prefix=$(cd "$prefix" && pwd)
    oshcc=$prefix/bin/oshcc rmacc=$prefix/bin/rmacc rma_mpicc=$prefix/bin/rma_mpicc
fi
LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
cd "$dir"

# PE 1 reads what PE 0 has put, with a sync between that completes nothing. What each PE prints does not depend on it.
cat >racy.c <<'END'
#include <shmem.h>
#include <stdio.h>

long word_of(void);
void put_word(long value, int pe);

int main(void) {
    long seen;
    shmem_init();
    if (shmem_my_pe() == 0) put_word(5, 1);
    shmem_sync_all();
    seen = word_of();
    shmem_barrier_all();
    printf("PE %d has %ld%s\n", shmem_my_pe(), word_of(), seen < 0 ? "?" : "");
    shmem_finalize();
    return 0;
}
END
cat >word.c <<'END'
#include <shmem.h>

static long word;
long word_of(void);
void put_word(long value, int pe);

long word_of(void) { return word; }
void put_word(long value, int pe) { shmem_long_p(&word, value, pe); }
END
: >out
: >err
$oshcc --race racy.c word.c -o racy >out 2>err </dev/null || {
    head -n 5 err
    echo "check-race-input: skipped: needs a compiler that takes --race (gcc or clang)"
    exit 77
}

# Some launchers lose a process's exit code: then only reports are checked.
code=0
# shellcheck disable=SC2086
timeout "$(seconds 60)" $mpiexec -n 2 sh -c 'exit 66' >out 2>err </dev/null || code=$?
if [ $code -eq 66 ]; then loses_codes=no; else loses_codes=yes; fi

# job PROGRAM [SETTING...]: 2 PEs. Sets code.
job() {
    program=$1
    shift
    code=0
    # shellcheck disable=SC2086
    timeout -k 5 "$(seconds 60)" env "$@" $mpiexec -n 2 "$program" >out 2>err </dev/null || code=$?
}
# result: the program has printed the same as without the detector.
result() { [ "$(grep -c '^PE 0 has 0$' out)" -eq 1 ] && [ "$(grep -c '^PE 1 has 5$' out)" -eq 1 ]; }
reports() { grep -cE '^librma race: PE [01] (reads|writes) ' err || true; }
exit_is() { [ "$code" -eq "$1" ] || { [ $loses_codes = yes ] && [ "$code" -ne 124 ] && [ "$code" -ne 137 ]; }; }

# gives WHAT EXIT REPORTS [TEXT...]: checks the last job. Each TEXT must be once in its standard error.
gives() {
    what=$1 exit=$2 reports=$3
    shift 3
    if ! exit_is "$exit"; then
        fail "$what: exit $code, not $exit"
    elif ! result; then
        fail "$what: the program's own result is another one"
    elif [ "$(reports)" -ne "$reports" ]; then
        fail "$what: $(reports) reports, not $reports"
    else
        for text; do
            if [ "$(grep -cF -- "$text" err)" -ne 1 ]; then
                fail "$what: not once: $text"
                return
            fi
        done
        if [ $# -eq 0 ] && [ "$reports" -eq 0 ] && grep -q 'librma race' err; then
            fail "$what: a message"
        else
            ok "$what"
        fi
    fi
}

# ---- OpenMP of clang ----

cat >team.c <<'END'
#include <shmem.h>
#include <omp.h>
#include <stdio.h>
int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    printf("PE %d has %d\n", shmem_my_pe(), shmem_my_pe() ? 5 : 0);
#pragma omp parallel num_threads(2)
    (void)omp_get_thread_num();
    shmem_finalize();
    return 0;
}
END
echo 'void *ompt_start_tool(unsigned version) { return (void)version, (void *)0; }' >tool.c
if (export OSHCC=clang && $oshcc --race -fopenmp team.c -o team && $oshcc --race -fopenmp -rdynamic team.c tool.c \
    -o team_tool) >out 2>err </dev/null; then
    job ./team
    gives "OpenMP of clang" 0 0
    job ./team OMP_TOOL=disabled
    gives "OpenMP of clang, OMP_TOOL=disabled" 0 0 "OMP_TOOL=disabled: OpenMP's runtime does not report what it orders"
    job ./team_tool
    gives "OpenMP of clang, a tool of the program's own" 0 0 \
        "team_tool: OpenMP's runtime does not report what it orders"
    job ./team_tool RMA_RACE=no
    gives "OpenMP of clang, a tool of the program's own, no" 0 0 "RMA_RACE=no: no races are looked for"
else
    echo "check-race-input: OpenMP of clang is left out: there is none"
fi

# ---- RMA_RACE ----

job ./racy
gives "no setting" 66 1 "librma race: 1 pair of places races"
job ./racy RMA_RACE=yes
gives "yes" 66 1
for no in no 0 off; do
    job ./racy RMA_RACE=$no
    gives "$no" 0 0 "RMA_RACE=no: no races are looked for"
done
job ./racy RMA_RACE=
gives "an empty value" 66 1
for bad in exitcode=999 exitcode=-1 exitcode= exitcode=x exitcode=6x history=1 history=99999999999 suppressions maybe \
    atomics atomics=mine 'YES,'; do
    job ./racy RMA_RACE=$bad
    gives "$bad" 66 1 "RMA_RACE=$bad: \"${bad%,}\" is not yes, no, exitcode=0..255, history="
done
job ./racy RMA_RACE=maybe,exitcode=3,nonsense
gives "good words beside bad ones" 3 1 '"maybe" is not yes, no' '"nonsense" is not yes, no'
for pair in "yes no 66 1" "no on 0 0" "exitcode=3 exitcode=4 3 1" "history=16 history=17 66 1" \
    "atomics=librma atomics=specification 66 1"; do
    # shellcheck disable=SC2086
    set -- $pair
    job ./racy RMA_RACE="$1,$2"
    gives "$1 and $2" "$3" "$4" "RMA_RACE=$1,$2: \"$2\" contradicts \"$1\"; ignored"
done
for pair in yes,on,1 no,off exitcode=5,exitcode=5; do
    job ./racy RMA_RACE=$pair
    case $pair in
    no*) gives "$pair" 0 0 "RMA_RACE=no: no races are looked for" ;;
    yes*) gives "$pair" 66 1 ;;
    *) gives "$pair" 5 1 ;;
    esac
    ! grep -q contradicts err || fail "$pair: a message"
done
job ./racy RMA_RACE=exitcode=0
gives "exitcode=0" 0 1
job ./racy RMA_RACE=history=16
gives "history=16" 66 1
job ./racy RMA_RACE=no,exitcode=5
gives "no beside other words" 0 0 "RMA_RACE=no: no races are looked for"

# Atomics that the specification leaves undefined, and that librma executes as the program means them.
cat >types.c <<'END'
#include <shmem.h>
#include <stdio.h>

static long word;

int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_long_atomic_add(&word, 5, 1);
    else
        shmem_ulong_atomic_add((unsigned long *)&word, 0, 1);
    shmem_barrier_all();
    printf("PE %d has %ld\n", shmem_my_pe(), word);
    shmem_finalize();
    return 0;
}
END
$oshcc --race types.c -o types || fail "oshcc --race types.c"
job ./types
gives "atomics of two types" 66 1 ": atomics of different types"
job ./types RMA_RACE=atomics=specification
gives "atomics=specification" 66 1 ": atomics of different types"
job ./types RMA_RACE=atomics=librma
gives "atomics=librma" 0 0

# A program that leaves the end to the library: PE 0 must not end, with the code for races, before PE 1 has.
sed -e '/shmem_finalize/d' -e 's/^int main/#include <unistd.h>\n&/' \
    -e 's/^    printf/    if (shmem_my_pe() == 1) usleep(300000);\n&/' racy.c >no_end.c
$oshcc --race no_end.c word.c -o no_end || fail "oshcc --race no_end.c"
if [ $loses_codes = no ]; then
    job ./no_end
    gives "a program without shmem_finalize" 66 1 "librma race: 1 pair of places races" "the library calls it now"
    job ./no_end RMA_RACE=exitcode=0
    gives "a program without shmem_finalize, exitcode=0" 0 1 "librma race: 1 pair of places races"
fi

# A receive that any message fits, when the detector begins.
cat >receives.c <<'END'
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>

int main(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    int me, provided, word = 5;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    shmem_init();
    if (me == 1) {
        const int zero = 0;
        MPI_Send(&zero, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("PE %d has %d\n", me, word);
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
END
if $oshcc --race receives.c -o receives >out 2>err </dev/null; then
    job ./receives
    gives "a receive from any source with any tag" 0 0
else
    fail "oshcc --race does not compile a program of MPI"
fi

# PEs with different settings. The launcher starts one command on each PE, which knows its number.
cat >differ <<'END'
#!/bin/sh
case ${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}} in
0) RMA_RACE=$FIRST ;;
*) RMA_RACE=$SECOND ;;
esac
export RMA_RACE
exec ./racy
END
chmod +x differ
for pair in "no yes" "yes no"; do
    job ./differ FIRST="${pair% *}" SECOND="${pair#* }"
    gives "$pair: no of one PE is for all" 0 0 "RMA_RACE=no: no races are looked for"
done
job ./differ FIRST=history=16 SECOND=history=4096
gives "another history on each PE" 66 1

# Records of what operations told are often overwritten before another PE reads them: a correct program, whose PEs
# synchronize only by the words of a list, is not reported.
if $oshcc --race -O2 "$top_srcdir/examples/linked_list.c" -o list >out 2>err </dev/null; then
    for settings in history=16 history=1024; do
        code=0
        # shellcheck disable=SC2086
        timeout -k 5 "$(seconds 60)" env RMA_RACE=$settings $mpiexec -n 4 ./list 10 --ops=10000 >out 2>err </dev/null ||
            code=$?
        if [ $code -ne 0 ] || grep -q 'librma race' err; then
            fail "examples/linked_list, $settings: exit $code"
        else
            ok "examples/linked_list, $settings"
        fi
    done
else
    fail "examples/linked_list is not compiled"
fi

# ---- suppressions ----

job ./racy RMA_RACE=suppressions=no/such/file
gives "a file that is not there" 66 1 "suppressions=no/such/file: No such file or directory; nothing is suppressed"
for line in variable:word 'variable:w?r*' 'place:word.c:*' place:word.c:7 function:word_of 'function:put_*'; do
    printf '# what is known\n\n%s\n' "$line" >known
    job ./racy RMA_RACE=suppressions=known
    gives "suppressed: $line" 0 0
done
for line in variable:wor variable: place:word place:word.c function:main function:word '#variable:word'; do
    echo "$line" >known
    job ./racy RMA_RACE=suppressions=known
    gives "not suppressed: $line" 66 1
done
# A static variable of a function has a name of the compiler's.
cat >hidden.c <<'END'
#include <shmem.h>
#include <stdio.h>

int main(void) {
    static int remote;
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) shmem_int_p(&remote, 3, 1);
    if (shmem_my_pe() == 1) printf("%d\n", remote);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
END
echo variable:remote >known
for compiler in gcc clang; do
    if (export OSHCC=$compiler && $oshcc --race hidden.c -o hidden) >/dev/null 2>&1; then
        job ./hidden RMA_RACE=suppressions=known
        what="suppressed: a static variable of a function, $compiler"
        if [ $code -eq 0 ]; then ok "$what"; else fail "$what: exit $code"; fi
    else
        echo "check-race-input: static variables are not tried with $compiler: it does not compile them"
    fi
done
printf 'word\nvariable:other\n variable:word\n' >known
job ./racy RMA_RACE=suppressions=known
gives "lines of no form" 66 1 'known, line 1: "word" does not begin with' \
    'known, line 3: " variable:word" does not begin with'
printf 'function:main\n\nvariable:word\nplace:none.c:*\n' >known
job ./racy RMA_RACE=suppressions=known
gives "lines that match nothing" 0 0 'known, line 1: "function:main" suppresses nothing' \
    'known, line 4: "place:none.c:*" suppresses nothing'
printf 'variable:word' >known
job ./racy RMA_RACE=exitcode=9,suppressions=known
gives "a last line without an end" 0 0
: >known
job ./racy RMA_RACE=suppressions=known
gives "an empty file" 66 1

# ---- what reports say ----

cat >texts.c <<'END'
#include <shmem.h>
#include <pshmem.h>
#include <pthread.h>
#include <stdio.h>

static void past_end(void) {
    static long values[10];
    long *block = shmem_malloc(8 * sizeof *block), *next = shmem_malloc(8 * sizeof *next);
    if (shmem_my_pe() == 0) shmem_long_put(&block[2], values, 8, 1);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) shmem_long_put(block, values, 8, 1);
    shmem_free(next);
    shmem_free(block);
}

static void in_context(void) {
    static long word;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) return;
    if (shmem_my_pe() == 0) shmem_ctx_long_p(ctx, &word, 5, 1);
    shmem_barrier_all();
    if (shmem_my_pe() == 1 && word < 0) printf("no\n");
    shmem_ctx_destroy(ctx);
}

static void completed(void) {
    static long word;
    static int done;
    if (shmem_my_pe() == 0) shmem_long_p(&word, 5, 1);
    if (shmem_my_pe() == 0) shmem_quiet();
    /* Order that the detector does not see: only the text depends on it. */
    if (shmem_my_pe() == 0) pshmem_int_p(&done, 1, 1);
    while (shmem_my_pe() == 1 && !*(volatile int *)&done) pshmem_quiet();
    if (shmem_my_pe() == 1 && word < 0) printf("no\n");
}

static __attribute__((noinline)) void local_buffer(void) {
    static long table[4];
    long copy[4] = {0};
    shmem_long_get_nbi(copy, table, 4, 1);
    copy[1] = 0;
    shmem_quiet();
}

static long word;
static void *one_thread(void *unused) {
    word = 1;
    return unused;
}
static void threads(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, one_thread, NULL)) shmem_global_exit(1);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
}

int main(void) {
    int provided;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) return 1;
    past_end();
    in_context();
    completed();
    if (shmem_my_pe() == 0) local_buffer();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) threads();
    printf("PE %d has %d\n", shmem_my_pe(), shmem_my_pe() ? 5 : 0);
    shmem_finalize();
    return 0;
}
END
$oshcc --race texts.c -o texts || fail "oshcc --race texts.c"
job ./texts
gives "the texts of reports" 66 4 \
    "writes 64 bytes of PE 1's symmetric heap block of 64 bytes allocated at texts.c:8, offset 16 by" \
    "1 operation past the end of a block" "4 pairs of places race" \
    "shmem_ctx_quiet(ctx), then a flag that PE 1 waits for, or shmem_barrier_all" \
    "writes 8 bytes of \`copy\` (local variable of local_buffer of 32 bytes, offset 8)" \
    "in in_context, not completed" "completed, but PE 1 did not wait for it" \
    "them by shmem_long_get_nbi at texts.c:40 in local_buffer, not completed: no quiet or barrier between" \
    "what would order them: a mutex for both, or joining the thread between"
if ! grep -q 'PE 0, thread [12] writes' err || ! grep -q 'PE 0, thread [12] wrote' err; then
    fail "the texts of reports: threads"
fi
if grep -q 'shmem_fence' err; then fail "the texts of reports: a fence for a local buffer"; fi
if [ "$mpi" = mpich ]; then # Open MPI's launcher mixes the lines of the processes
    case $(tail -n 1 err) in
    *"pairs of places race") ok "the total comes last" ;;
    *) fail "the total does not come last" ;;
    esac
fi

# With optimization, too.
$oshcc --race -O2 texts.c -o texts || fail "oshcc --race -O2 texts.c"
job ./texts
gives "a local variable at -O2" 66 4 "writes 8 bytes of \`copy\` (local variable of local_buffer of 32 bytes, offset 8)"
mkdir none
printf '#!/bin/sh\nexit 1\n' >none/readelf
chmod +x none/readelf
job ./texts PATH="$PWD/none:$PATH"
gives "a local variable without readelf" 66 4 "writes 8 bytes of a local variable of local_buffer (texts.c:4"

# ---- a part of the program without --race ----

for file in racy word; do
    if ! $oshcc -O2 -c $file.c -o $file.plain.o || ! $oshcc --race -c $file.c -o $file.race.o; then
        fail "compiling $file.c"
    fi
done
built() { # built OBJECT...: linked with --race
    rm -f part
    $oshcc --race "$@" -o part >out 2>err </dev/null || fail "linking $*"
}
built racy.plain.o word.race.o
job ./part
gives "the main file without --race" 66 1 "compiled without --race: racy.c; its loads and stores are not seen"
built racy.race.o word.plain.o
job ./part
gives "the file that reads without --race" 0 0 "compiled without --race: word.c; its loads and stores are not seen"
built racy.plain.o word.plain.o
job ./part
gives "linked with --race only" 0 0 "the program was compiled without --race: its loads and stores are not seen"
built racy.race.o word.race.o
job ./part
gives "compiled and linked apart" 66 1
strip part
job ./part
gives "without names" 66 1
if $oshcc racy.race.o word.race.o -o part >out 2>err </dev/null; then
    fail "compiled with --race and linked without: the linker takes it"
elif grep -q __tsan_ err; then
    ok "compiled with --race and linked without: the linker refuses"
else
    fail "compiled with --race and linked without: the linker does not name what is missing"
fi

# A part that is a library: it is named if none of its files has hooks, else its files are.
# Its variable is the program's, so that other PEs reach it.
echo 'long word;' >variable.c
sed 's/^static long word/extern long word/' word.c >library.c
$oshcc -g -fPIC -shared library.c -o libword.so && $oshcc --race racy.c variable.c ./libword.so -o part ||
    fail "a library"
job ./part
gives "a library without --race" 0 0 "compiled without --race: libword.so; its loads and stores are not seen"
$oshcc --race -fPIC -shared library.c -o libword.so && $oshcc --race racy.c variable.c ./libword.so -o part ||
    fail "a library"
job ./part
gives "a library with --race" 66 1

# A library that the program opens itself is named when the program uses it, once for all PEs.
cat >opens.c <<'END'
#include <shmem.h>
#include <dlfcn.h>
#include <stdio.h>

static long word;

int main(void) {
    void *library = dlopen("./libload.so", RTLD_NOW);
    long (*load)(const long *);
    long seen;
    shmem_init();
    if (!library) shmem_global_exit(1);
    *(void **)&load = dlsym(library, "load_twice");
    *(void **)&load = dlsym(library, "load");
    *(void **)&load = dlsym(RTLD_DEFAULT, "shmem_quiet") ? (void *)load : NULL;
    if (shmem_my_pe() == 0) shmem_long_p(&word, 5, 1);
    shmem_sync_all();
    seen = load(&word);
    shmem_barrier_all();
    printf("PE %d has %ld%s\n", shmem_my_pe(), word, seen < 0 ? "?" : "");
    shmem_finalize();
    return 0;
}
END
cat >load.c <<'END'
long load(const long *word), load_twice(const long *word);
long load(const long *word) { return *word; }
long load_twice(const long *word) { return *word + *word; }
END
$oshcc --race opens.c -ldl -o part && $oshcc -g -fPIC -shared load.c -o libload.so || fail "a library that is opened"
job ./part
gives "a library that the program opens, without --race" 0 0 \
    "compiled without --race, and opened by dlopen: libload.so; its loads and stores are not seen"
$oshcc --race -fPIC -shared load.c -o libload.so || fail "a library that is opened"
job ./part
gives "a library that the program opens, with --race" 66 1
sed -e 's/shmem/rma/g' racy.c >racy_native.c
sed -e 's/shmem_long_p(/rma_p(/' -e 's/shmem/rma/g' word.c >word_native.c
$rmacc --race -g -c racy_native.c -o racy_native.o && $rmacc -g -c word_native.c -o word_native.o &&
    $rmacc --race racy_native.o word_native.o -o part || fail "rmacc: a part"
job ./part
gives "a native program, the file that reads without --race" 0 0 \
    "compiled without --race: word_native.c; its loads and stores are not seen"

# Another tool takes the program's calls before the detector does.
printf '#!/bin/sh\nexec "%s" --library "%s" ./racy\n' "$prefix/bin/rma_trace" "$prefix/lib/librma_trace.so" >recorded
chmod +x recorded
job ./recorded
gives "rma_trace with a program of --race" 0 0 "which comes before the detector: no races are looked for; leave that"

# Compiled without --race, with the library preloaded: accesses by calls are seen.
$oshcc -O2 -profile racy.c word.c -o plain || fail "oshcc -profile"
job ./plain
gives "a program without the detector" 0 0
cat >preload <<'END'
#!/bin/sh
LD_PRELOAD=$LIBRARY exec ./plain
END
chmod +x preload
job ./preload LIBRARY="$prefix/lib/librma_race.so"
gives "LD_PRELOAD" 0 0 "the program was compiled without --race: its loads and stores are not seen"
job ./preload LIBRARY="$prefix/lib/librma_race.so" RMA_RACE=no
gives "LD_PRELOAD and no" 0 0 "RMA_RACE=no: no races are looked for"
cat >both.c <<'END'
#include <shmem.h>
#include <stdio.h>

static long word;

int main(void) {
    shmem_init();
    shmem_long_p(&word, 5, 1);
    shmem_barrier_all();
    printf("PE %d has %ld\n", shmem_my_pe(), word);
    shmem_finalize();
    return 0;
}
END
$oshcc -O2 -profile both.c -o plain || fail "oshcc -profile both.c"
job ./preload LIBRARY="$prefix/lib/librma_race.so"
gives "LD_PRELOAD, two puts that race" 66 1

# ---- exhausted memory, and other linking ----

cat >limited <<'END'
#!/bin/sh
ulimit -v "$LIMIT" && exec ./racy
END
chmod +x limited
# The smallest limit with which the program runs without the detector.
limit=
for gigabytes in 20 60 100; do
    job ./limited LIMIT=$((gigabytes << 20)) RMA_RACE=no RMA_HEAP_MAX=1G RMA_LOCAL_MAX=1G
    if [ $code -eq 0 ] && result; then
        limit=$((gigabytes << 20))
        break
    fi
done
if [ -z "$limit" ]; then
    echo "skipped: address space that is limited: needs a system where the program runs in 100 GiB"
else
    job ./limited LIMIT="$limit" RMA_HEAP_MAX=1G RMA_LOCAL_MAX=1G RMA_RACE=history=1048576
    gives "address space that is limited" 0 0 "the PEs do not share the detector's memory: race detection is off" \
        "PE 0: "
    # With the cells of attached memory the size is above a terabyte.
    job ./limited LIMIT=$((limit + (200 << 20))) RMA_HEAP_MAX=1G RMA_LOCAL_MAX=1G
    gives "address space for all but attached memory" 66 1
fi

# A loop that a compiler may turn into accesses of 32 or 64 bytes.
cat >wide.c <<'END'
#include <shmem.h>
#include <stdio.h>

static double from[1024], to[1024];

int main(void) {
    shmem_init();
    for (int i = 0; i < 1024; i++) from[i] = 5;
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        shmem_double_put(to, from, 1024, 1);
    else
        for (int i = 0; i < 1024; i++) from[i] += to[i];
    shmem_barrier_all();
    printf("PE %d has %g\n", shmem_my_pe(), to[1]);
    shmem_finalize();
    return 0;
}
END
for compiler in default clang; do
    [ $compiler = default ] || ! command -v $compiler >/dev/null 2>&1 || export MPICH_CC=$compiler OMPI_CC=$compiler
    if $oshcc --race -O3 -mavx2 wide.c -o wide >out 2>err </dev/null && grep -qw avx2 /proc/cpuinfo; then
        job ./wide
        gives "wide accesses by the compiler $compiler" 66 1
    fi
    unset MPICH_CC OMPI_CC
done

# What is known of a clang that leaves out elements of arrays on the stack is said; that of this machine does not.
if command -v clang >/dev/null 2>&1 && (MPICH_CC=clang OMPI_CC=clang $oshcc --version) | grep -q clang; then
    cat >old_clang <<'END'
#!/bin/sh
case "$*" in *capture-tracking*) exit 1 ;; esac
exec clang "$@"
END
    chmod +x old_clang
    for compiler in clang "$PWD/old_clang"; do
        MPICH_CC=$compiler OMPI_CC=$compiler $oshcc --race -c word.c -o word.o >out 2>err </dev/null || fail "$compiler"
        if [ "$compiler" = clang ] && [ -s err ]; then
            fail "clang: a message"
            cat err
        elif [ "$compiler" != clang ] && ! grep -q 'this clang leaves out elements of arrays on the stack' err; then
            fail "a clang that leaves out elements of arrays: no message"
        else
            ok "${compiler##*/}: what it leaves out is said"
        fi
    done
fi

# The part of the hooks that gcc's programs have themselves (inline.h) is the assembler's macro for `call`: other calls
# are as written, and where there is no such part the hooks do everything. Broken by a call that is lost or not
# assembled, and by accesses that are not recorded.
cat >inlined.c <<'END'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
static long thrice(long x) { return 3 * x; }
static long (*const functions[])(long) = {labs, thrice};
static long global[2];
int main(void) {
    shmem_init();
    const char *what = getenv("WHAT");
    long called = 0, *words = shmem_malloc(64 * sizeof *words), *own = malloc(64 * sizeof *own);
    int *halves = (int *)words;
    char *bytes = (char *)words;
    for (int i = 0; i < 64; i++) words[i] = own[i] = 0;
    shmem_barrier_all();
    for (int round = 0; round < 2; round++) { /* the second one finds everything recorded */
        for (int i = 0; i < 8; i++) bytes[i] = (char)(bytes[i] + i);
        for (int i = 2; i < 16; i++) halves[i] += i;
        for (int i = 8; i < 32; i++) words[i] += own[i] + global[i % 2] + i;
    }
    if (getenv("BARRIER")) shmem_barrier_all();
#ifdef __x86_64__
    __asm__ volatile("call 1f; jmp 2f\n1: ret\n2:" : : : "memory");
    __asm__ volatile("call \"quoted\"; jmp 2f\nquoted: ret\n2:" : : : "memory");
    __asm__ volatile("	call	1f\n	jmp 2f\n1:	ret\n2:" : : : "memory");
#endif
    for (int i = 0; i < 3; i++) called += functions[i % 2](-i);
    if (shmem_my_pe() == 0) {
        if (*what == 'b') shmem_char_p(bytes + 5, 1, 1);
        if (*what == 'h') shmem_int_p(halves + 9, 1, 1);
        if (*what == 'w') shmem_long_p(words + 20, 1, 1);
        if (*what == 'g') shmem_long_p(global + 1, 1, 1);
    }
    shmem_barrier_all();
    printf("PE %d has %ld\n", shmem_my_pe(), called + 1 + 5 * shmem_my_pe());
    shmem_finalize();
    return 0;
}
END
for flags in -O0 -O2 '-O2 -fPIC' '-O2 -masm=intel' '-O2 -fplt' '-O2 -flto'; do
    # A list of options.
    # shellcheck disable=SC2086
    if ! $oshcc --race $flags inlined.c -o inlined >out 2>err </dev/null; then
        fail "inlined hooks, $flags: does not compile"
        cat err
        continue
    fi
    for what in bytes halves words globals; do
        job ./inlined WHAT=$what
        if exit_is 66 && result && [ "$(reports)" -ge 1 ]; then
            ok "inlined hooks, $flags: $what"
        else
            fail "inlined hooks, $flags: $what: exit $code, $(reports) reports"
            cat out err
        fi
    done
    job ./inlined WHAT=words BARRIER=1
    gives "inlined hooks, $flags: with a barrier" 0 0
done
if [ "$(uname -m)" = x86_64 ] && $oshcc --version | grep -qi 'gcc\|Free Software Foundation'; then
    $oshcc --race -O2 -c inlined.c -o inlined.o
    if nm inlined.o | grep -q rma_race_window; then
        ok "inlined hooks are in the program"
    else
        fail "inlined hooks are not in the program"
    fi
fi

# What gcc does not instrument is named where the program uses it, and only there.
cat >unseen.c <<'END'
#include <immintrin.h>
__attribute__((target("avx512f"))) void by_mask(int *to, const int *from) {
    _mm512_mask_storeu_epi32(to, 0x5555, _mm512_loadu_si512(from));
}
__attribute__((target("avx2"))) void by_gather(int *to, const int *from) {
    const __m256i where = _mm256_setzero_si256();
    _mm256_storeu_si256((__m256i_u *)(void *)to, _mm256_i32gather_epi32(from, where, 4));
}
END
cat >seen.c <<'END'
#include <immintrin.h>
__attribute__((target("avx"))) void by_mask(float *to, __m256i mask) {
    _mm256_maskstore_ps(to, mask, _mm256_setzero_ps());
}
END
if [ "$(uname -m)" = x86_64 ] && $oshcc --version | grep -qi 'gcc\|Free Software Foundation'; then
    for optimize in -O0 -O2; do
        if $oshcc --race -Werror $optimize -c unseen.c -o unseen.o >out 2>err </dev/null; then
            if [ "$(grep -c 'race does not see this access' err)" -eq 2 ] && grep -q by_mask err &&
                grep -q by_gather err; then
                ok "$optimize: accesses by intrinsics that gcc does not instrument are named"
            else
                fail "$optimize: accesses by intrinsics that gcc does not instrument are not named"
                cat err
            fi
        else
            fail "$optimize: the note about accesses by intrinsics is an error"
        fi
        if $oshcc --race -Werror $optimize -c seen.c -o seen.o >out 2>err </dev/null && [ ! -s err ]; then
            ok "$optimize: those that are seen are not named"
        else
            fail "$optimize: those that are seen are named, or do not compile"
            cat err
        fi
    done
fi

for static in -static -static-librma; do
    code=0
    $oshcc --race $static racy.c word.c -o part >out 2>err </dev/null || code=$?
    if [ $code -eq 2 ] && grep -q "leave out -static and -static-librma" err; then
        ok "$static: refused"
    else
        fail "$static: exit $code"
    fi
done
for sanitizer in -fsanitize=thread -fsanitize=undefined,address; do
    code=0
    $oshcc --race $sanitizer racy.c word.c -o part >out 2>err </dev/null || code=$?
    if [ $code -eq 2 ] && grep -qF "leave out $sanitizer" err; then
        ok "$sanitizer: refused"
    else
        fail "$sanitizer: exit $code"
    fi
done

# ---- programs of MPI windows ----

cat >box.c <<'END'
#include <mpi.h>
#include <stdio.h>

int load(const int *word);

int main(void) {
    int me, seen, *box;
    MPI_Win win;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    *box = 0;
    MPI_Win_fence(0, win);
    if (me == 0) MPI_Put(&me, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    seen = me == 1 ? load(box) : 0;
    MPI_Win_fence(0, win);
    printf("rank %d has seen %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
END
cat >load.c <<'END'
int load(const int *word);
int load(const int *word) { return *word; }
END
# job WHAT EXIT TEXT PROGRAM...: two processes end so, and the text is in what they print on standard error. Without a
# TEXT they print nothing there.
job() {
    what=$1 expected=$2 text=$3
    shift 3
    # shellcheck disable=SC2086
    run $mpiexec -n 2 "$@"
    if [ "$status" -ne "$expected" ]; then
        fail "$what: exit $status, not $expected"
    elif [ -n "$text" ] && ! grep -qe "$text" "$dir/err"; then
        fail "$what: no text \"$text\""
    elif [ -z "$text" ] && grep -q 'librma race' "$dir/err"; then
        fail "$what: a report"
    else
        ok "$what"
    fi
}
$rma_mpicc --race box.c load.c -o box >out 2>err </dev/null || fail "rma_mpicc --race"
job "a race in a window" 66 "at box.c:14 in main" ./box
job "RMA_RACE=no" 0 "RMA_RACE=no: no races are looked for" env RMA_RACE=no ./box
job "RMA_RACE=exitcode=7" 7 "1 pair of places races" env RMA_RACE=exitcode=7 ./box
# 20 GiB are less than the smallest part of the detector's memory, and enough for MPI.
cat >limited <<'END'
#!/bin/sh
ulimit -v $((20 << 20)) && exec ./box
END
RMA_RACE=no && export RMA_RACE
run $mpiexec -n 2 ./limited
unset RMA_RACE
if [ "$status" -eq 0 ]; then
    job "address space that is limited" 0 "^librma race: rank [01]: [0-9]* bytes of address space" ./limited
    job "address space that is limited, in words" 0 "the ranks do not share the detector's memory" ./limited
else
    echo "skipped: ranks whose address space is limited: needs a system where MPI runs in 20 GiB"
fi
$rma_mpicc -c -g load.c -o load.o && $rma_mpicc --race box.c load.o -o part >out 2>err </dev/null || fail "a part"
job "a file without --race" 0 "compiled without --race: load.c; its loads and stores are not seen" ./part
$rma_mpicc -g box.c load.c -o plain >out 2>err </dev/null || fail "rma_mpicc without --race"
job "a program without --race" 0 '' ./plain
# A window that cannot be tracked ends the job, also where MPI_Abort returns, as in MPICH from 4.2 on.
cat >starved.c <<'END'
#include "starve.h"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    int box = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &starved);
    MPI_Win_create(&box, sizeof box, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    printf("rank %d goes on\n", !starved);
    fflush(stdout);
    _exit(0);
}
END
cat >starve.h <<'END'
#include <mpi.h>
extern int starved;
extern MPI_Win win;
END
cat >starve.c <<'END'
#define _GNU_SOURCE
#include "starve.h"
#include <dlfcn.h>
#include <string.h>

extern void *__libc_calloc(size_t n, size_t size);
int starved;
MPI_Win win;

int PMPI_Abort(MPI_Comm comm, int code) { return comm == MPI_COMM_NULL ? code : MPI_SUCCESS; }

void *calloc(size_t n, size_t size) {
    Dl_info caller;
    if (starved && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "race")) return NULL;
    return __libc_calloc(n, size);
}
END
$rma_mpicc -c -g starve.c -o starve.o && $rma_mpicc --race starved.c starve.o -ldl -o starved >out 2>err </dev/null ||
    fail "a program that lets the detector have no memory"
# shellcheck disable=SC2086
run $mpiexec -n 2 ./starved
if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    fail "no memory to track a window: exit $status"
elif grep -q 'goes on' "$dir/out" || ! grep -q 'rank 1: no memory to track a window' "$dir/err"; then
    fail "no memory to track a window: the process goes on"
else
    ok "no memory to track a window: the job ends"
fi
for option in -static -fsanitize=thread --trace; do
    code=0
    $rma_mpicc --race $option box.c load.c -o part >out 2>err </dev/null || code=$?
    if [ $code -eq 2 ] && grep -qe "leave out $option" err; then
        ok "rma_mpicc --race $option: refused"
    else
        fail "rma_mpicc --race $option: exit $code"
    fi
done

need_rma_mpi
# shellcheck disable=SC2086
job "rma_mpi, and a race" 66 "at box.c:14 in main" $preload ./box
job "a library of MPI's calls before the detector" 0 "which comes before the detector: no races are looked for" \
    env LD_PRELOAD="$library" ./box
code=0
# shellcheck disable=SC2086
$preload --race ./plain >out 2>err </dev/null || code=$?
if [ $code -eq 2 ] && grep -q "was compiled without -fsanitize=thread" err; then
    ok "rma_mpi --race with a program without instrumentation: refused"
else
    fail "rma_mpi --race with a program without instrumentation: exit $code"
fi
if ${MPICC:-mpicc.mpich} -fsanitize=thread -g box.c load.c -o sanitized >out 2>err </dev/null &&
    ldd ./sanitized | grep -q libtsan; then
    job "rma_mpi --race with a program of -fsanitize=thread" 66 "at box.c:14 in main" \
        sh "$prefix/bin/rma_mpi" --race --library "$prefix/lib/librma/librma_mpi.so" ./sanitized
    ${MPICC:-mpicc.mpich} -g -c load.c -o load.o &&
        ${MPICC:-mpicc.mpich} -fsanitize=thread -g box.c load.o -o sanitized || fail "a part of -fsanitize=thread"
    job "rma_mpi --race, and a file without -fsanitize=thread" 0 \
        "compiled without --race: load.c; its loads and stores are not seen" \
        sh "$prefix/bin/rma_mpi" --race --library "$prefix/lib/librma/librma_mpi.so" ./sanitized
fi

verdict
