#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-install.sh: "make install" installs all that a program needs, and "make uninstall" removes it.
#
# Broken by a header, page or link that is missing from the makefile's lists, by a path of the build tree in an
# installed file, by flags that rmacc or pkg-config leave out, by functions of the header that two source files of a
# program cannot both include (or that are missing if the compiler inlines nothing), by wrong data for CMake, pkg-config
# or a module, and by files that stay behind.
# The script configures the library again, for a prefix under /tmp, since rmacc and rma.pc contain the prefix. It copies
# the objects of the current build, if that has the same config.h and no sanitizers, and RMA_TEST_DEPTH is not `long`;
# otherwise it also compiles them. With `long` it builds static libraries besides the shared ones.
set -eu

top_builddir=${top_builddir:-$(pwd)}
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
mpiexec=${MPIEXEC:-mpiexec.mpich}
# shellcheck source=/dev/null
. "$(dirname "$0")/launcher.sh"
# shellcheck source=deadline.sh
. "$(dirname "$0")/deadline.sh"
# shellcheck source=depth.sh
. "$(dirname "$0")/depth.sh"
top_builddir=$(cd "$top_builddir" && pwd)
make=${MAKE:-make}
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DESTDIR 2>/dev/null || true

[ -x "$top_srcdir/configure" ] || { echo "check-install: there is no $top_srcdir/configure" >&2; exit 99; }
if [ -f "$top_srcdir/config.status" ]; then
    echo "check-install: skipped: needs a source folder that is not configured in place (make distclean there)"
    exit 77
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/check-install.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' HUP INT TERM
prefix=$dir/prefix
failures=0
ok() { echo "ok   $*"; }
fail() { # fail TEXT, with the log of what was run last
    echo "FAIL $*"
    tail -n 40 "$dir/log" | sed 's/^/    /'
    failures=$((failures + 1))
}
run() { "$@" >"$dir/log" 2>&1 </dev/null; } # run COMMAND...
must() { run "$@" || { fail "$*"; exit 1; }; }

# CFLAGS=-O0: quicker, and the compiler then calls each function that it would otherwise inline.
mkdir "$dir/build" "$dir/program"
cd "$dir/build"
# configure reuses the results of the current build.
cache=''
static=''
if deep; then static=--enable-static; fi
if ! deep && [ -f "$top_builddir/config.log" ]; then
    cache=$dir/config.cache
    grep -E '^[a-z_0-9]+_cv_[A-Za-z0-9_]+=' "$top_builddir/config.log" | grep -v '^ac_cv_env_' >"$cache" || cache=
fi
configure_for() { # configure_for PREFIX
    must "$top_srcdir/configure" -q ${cache:+--cache-file="$cache"} --prefix="$1" \
        ${CC:+CC="$CC"} ${MPICC:+MPICC="$MPICC"} ${MPIEXEC:+MPIEXEC="$MPIEXEC"} $static CFLAGS=-O0
}
configure_for "$dir/first"
if ! deep && [ -z "${SANITIZERS-}" ] && cmp -s config.h "$top_builddir/config.h"; then
    # tar -m makes the copies newer than all sources, and than the stamps of their folders, which are copied first.
    # Libraries and programs are not copied: they contain the names of folders.
    for folder in base heap runtime collectives interfaces instruments bench examples tools; do
        (cd "$top_builddir" && find "$folder" \( -name '*.o' -o -name '*.lo' \) -print) >objects
        (cd "$top_builddir" && find "$folder" -name .dirstamp -print) >stamps
        tar -C "$top_builddir" -cf - -T stamps | tar -xmf -
        tar -C "$top_builddir" -cf - -T objects | tar -xmf -
    done
    rm -f objects stamps
fi
# Then with another prefix: libtool would refuse to install libraries that were linked for the first one.
must "$make" -j2 librma.la librma_shmem.la librma_race.la librma_race_mpi.la librma_trace.la librma_mpi.la librma_caf.la
configure_for "$prefix"
# Programs that are not installed are not linked.
must "$make" -j2 noinst_PROGRAMS=

refused_with() { # refused_with TEXT COMMAND...: fails, and says TEXT
    text=$1
    shift
    if run "$@" || ! grep -qF -- "$text" "$dir/log"; then fail "$*: not refused with '$text'"; fi
}
# An error names a prefix that is not writable, before anything is installed.
chmod 755 "$dir"
mkdir -m 555 "$dir/locked"
refused_with "the name of a folder has a blank: '$dir/a b/bin'" "$make" install prefix="$dir/a b"
refused_with "'there/bin' does not begin with /" "$make" install prefix=there
refused_with "make install: $dir/build/config.h is no folder" "$make" install prefix="$dir/build/config.h/librma"
if [ "$(id -u)" -ne 0 ]; then
    refused_with "may not write in $dir/locked: install as root" "$make" install prefix="$dir/locked/librma"
elif setpriv --reuid=65534 --clear-groups sh -c ': <config.status <"$0"' "$top_srcdir/Makefile.am" 2>/dev/null; then
    refused_with "may not write in $dir/locked: install as root" \
        setpriv --reuid=65534 --clear-groups "$make" check-prefix prefix="$dir/locked/librma"
fi
refused_with "configured for $prefix/lib, not for $dir/other/lib" "$make" install prefix="$dir/other"
# The source folder as the prefix, for example $HOME/librma: its headers would be copied onto themselves, and make
# uninstall would remove them.
mkdir "$dir/again"
ln -s "$top_srcdir" "$dir/librma"
for wrong in --prefix="$dir/librma" --includedir="$dir/librma/include"; do
    (cd "$dir/again"
        refused_with "into the folder of their source, $dir/librma/include:" "$top_srcdir/configure" -q "$wrong"
        [ ! -e Makefile ] || fail "configure $wrong writes a Makefile"
        exit "$failures") || failures=$((failures + 1))
done
must "$make" install noinst_PROGRAMS=
case $(tail -n 1 "$dir/log") in
"make install: librma "*" is in $prefix; left to do: export PATH=$prefix/bin:\$PATH "*)
    ok "make install ends with what is left to do"
    ;;
*) fail "make install does not end with what is left to do" ;;
esac

# ---- installed files ----

version=$("$prefix/bin/rmacc" --version | sed 's/.* //')
present() { # present FILE...: below the prefix
    for file; do
        [ -s "$prefix/$file" ] || fail "$file is not installed"
    done
}
present include/rma.h include/rma_complex.h include/rma_inline.h include/rma_typed.h lib/librma.so lib/librma.so.2 \
    lib/pkgconfig/rma.pc bin/rmacc bin/rma_info \
    include/shmem.h include/shmemx.h include/pshmem.h include/shmem_table.h include/mpp/shmem.h include/mpp/shmemx.h \
    lib/cmake/rma/rma-config.cmake lib/cmake/rma/rma-config-version.cmake \
    lib/librma_caf.so lib/librma_caf.so.2 lib/pkgconfig/rma-caf.pc bin/rmafc \
    lib/librma_race_mpi.so lib/librma_race_mpi.so.2 lib/librma/tsan/libtsan.so.2 bin/rma_mpicc bin/rma_mpicxx \
    lib/librma_race.so lib/librma_race.so.2 lib/librma/race.sh lib/librma/race.specs lib/librma/race.wraps \
    lib/librma/inline.h lib/librma/uninstrumented.h lib/librma/unseen.h \
    lib/librma_trace.so lib/librma_trace.so.2 bin/rma_trace lib/librma/librma_mpi.so bin/rma_mpi \
    lib/librma_shmem.so lib/librma_shmem.so.2 lib/pkgconfig/shmem.pc bin/oshcc bin/oshc++ bin/oshrun \
    bin/oshCC bin/oshcxx bin/oshfort bin/shmemcc bin/shmemcxx bin/shmemrun bin/rmac++ \
    share/librma/librma.supp "share/modulefiles/librma/$version" share/man/man1/oshc++.1 \
    share/man/man1/rma_bench.1
for page in "$top_srcdir"/man/*.[1-9]; do
    name=$(basename "$page")
    present "share/man/man${name##*.}/$name"
done
while read -r alias page rest; do
    case $alias in '' | '#'*) continue ;; esac
    case $page in *.1) n=1 page=${page%.1} ;; *) n=3 ;; esac
    present "share/man/man$n/$alias.$n"
    grep -qx ".so man$n/$page.$n" "$prefix/share/man/man$n/$alias.$n" ||
        fail "man$n/$alias.$n does not lead to $page.$n"
done <"$top_srcdir/man/aliases"
# No benchmark is a command: some have the names of calls.
for source in "$top_srcdir"/bench/rma_*.c; do
    program=$(basename "$source" .c)
    present "libexec/librma/$program"
    [ ! -e "$prefix/bin/$program" ] || fail "bin/$program is installed"
done
present bin/rma_bench
for header in "$top_srcdir"/include/*.h; do
    cmp -s "$header" "$prefix/include/$(basename "$header")" || fail "include/$(basename "$header") is not the source's"
done
# No other header, no internal file of the library, and no path of the build folder.
[ "$(find "$prefix/include" -type f | wc -l)" -eq "$(find "$top_srcdir/include" -name '*.h' | wc -l)" ] ||
    fail "include has other files than the source"
[ -z "$(find "$prefix" -name 'librmai*')" ] || fail "the convenience library is installed"
if (cd "$prefix" && grep -rlF "$dir/build" bin/rmacc bin/oshcc bin/oshc++ bin/oshrun bin/rma_bench \
    lib/pkgconfig lib/cmake share/modulefiles include) >"$dir/log"; then
    fail "paths of the build folder are installed"
fi
[ $failures -gt 0 ] || ok "everything is installed"

# ---- a program of two source files, in a folder of its own ----

cd "$dir/program"
cat >main.c <<'END'
#include <rma.h>
#include <stdio.h>

int give(long *box, long value, int pe);

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    int me = rma_my_pe(), n = rma_n_pes();
    long *box = rma_calloc(2, sizeof *box), mine = 5;
    if (!box || give(box, 100 + me, (me + 1) % n) != RMA_SUCCESS) rma_abort(2);
    if (rma_put(&box[1], &mine, sizeof mine, (me + 1) % n) != RMA_SUCCESS) rma_abort(3);
    rma_barrier_all();
    printf("PE %d was given %ld and %ld\n", me, box[0], rma_g(&box[1], me));
    rma_free(box);
    return rma_finalize();
}
END
cat >give.c <<'END'
#include <rma.h>

int give(long *box, long value, int pe);

int give(long *box, long value, int pe) {
    int code = rma_put(box, &value, sizeof value, pe);
    return code == RMA_SUCCESS ? rma_fence() : code;
}
END

works() { # works WHAT: ./program prints what it should, on 2 PEs
    # mpiexec may be a command with arguments.
    # shellcheck disable=SC2086
    if run timeout "$(seconds 60)" $mpiexec -n 2 ./program && grep -qx 'PE 0 was given 101 and 5' "$dir/log" &&
        grep -qx 'PE 1 was given 100 and 5' "$dir/log"; then
        ok "$1"
    else
        fail "$1: the program does not run as it should"
    fi
    rm -f program ./*.o
}

warnings="-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Werror"
for flags in -O0 -O2 "-std=c2x -O2" "-O2 -fPIE -flto"; do
    # flags and warnings are lists of words.
    # shellcheck disable=SC2086
    if run "$prefix/bin/rmacc" $warnings $flags -c main.c && run "$prefix/bin/rmacc" $warnings $flags -c give.c &&
        run "$prefix/bin/rmacc" $flags main.o give.o -o program; then
        works "two files by rmacc $flags"
    else
        fail "rmacc $flags"
    fi
done

# shellcheck disable=SC2086,SC2046
if command -v pkg-config >/dev/null 2>&1; then
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    export PKG_CONFIG_PATH
    if run ${CC:-cc} main.c give.c $(pkg-config --cflags --libs rma) -o program; then
        works "two files by pkg-config, without MPI on the command line"
    else
        fail "pkg-config"
    fi
fi

# What the dynamic linker prints about a missing library is in docs/install.md.
if run "$prefix/bin/rmacc" main.c give.c -o program && mv "$prefix/lib" "$prefix/moved"; then
    if run ./program; then fail "a program runs without its library"; fi
    mv "$prefix/moved" "$prefix/lib"
    said=$(sed -n 's/^.*: \(error while loading.*\)/\1/p' "$dir/log")
    if [ -n "$said" ] && grep -qF "\`$said\`" "$top_srcdir/docs/install.md"; then
        ok "docs/install.md has the linker's words: $said"
    else
        fail "docs/install.md does not have the linker's words: $said"
    fi
fi
rm -f program

# README's first program, as it stands there.
sed -n '/^```c$/,/^```$/p' "$top_srcdir/README.md" | sed '/^```/d' >hello.c
# shellcheck disable=SC2086
if run "$prefix/bin/rmacc" $warnings hello.c -o program && run timeout "$(seconds 60)" $mpiexec -n 2 ./program &&
    grep -qx 'PE 0 was given 1' "$dir/log" && grep -qx 'PE 1 was given 0' "$dir/log"; then
    ok "README's first program"
else
    fail "README's first program"
fi
rm -f program

# The header is also C++, where `and`, `or` and `xor` are operators (test/check-cpp.sh has the overloads).
if command -v c++ >/dev/null 2>&1; then
    cat >give.cc <<'END'
#include <rma.h>

/* The calls in a context, each of them once, leave the word as it was. */
static bool in_a_context(long *box, int pe) {
    rma_ctx *ctx = RMA_CTX_INVALID, *other = RMA_CTX_INVALID;
    rma_team *team = RMA_TEAM_INVALID;
    static uint64_t signal; /* symmetric */
    long value = rma_ctx_g_long(RMA_CTX_DEFAULT, box, pe), got[3] = {0, 0, 0};
    if (rma_ctx_create(RMA_CTX_SERIALIZED | RMA_CTX_NOSTORE, &ctx) != RMA_SUCCESS) return false;
    if (rma_team_create_ctx(RMA_TEAM_WORLD, RMA_CTX_PRIVATE, &other) != RMA_SUCCESS or ctx == other) return false;
    bool ok = rma_ctx_team(ctx, &team) == RMA_SUCCESS and team == RMA_TEAM_WORLD;
    ok = ok and rma_ctx_put(ctx, box, &value, sizeof value, pe) == RMA_SUCCESS and rma_ctx_fence(ctx) == RMA_SUCCESS;
    ok = ok and rma_ctx_put_nbi(ctx, box, &value, sizeof value, pe) == RMA_SUCCESS;
    ok = ok and rma_ctx_pe_fence(ctx, &pe, 1) == RMA_SUCCESS;
    ok = ok and rma_ctx_iput(ctx, box, &value, 1, 1, sizeof value, 1, pe) == RMA_SUCCESS;
    ok = ok and rma_ctx_p_long(ctx, box, value, pe) == RMA_SUCCESS and rma_ctx_pe_quiet(ctx, &pe, 1) == RMA_SUCCESS;
    ok = ok and rma_ctx_put_signal(ctx, box, &value, sizeof value, &signal, 1, RMA_SIGNAL_ADD, pe) == RMA_SUCCESS;
    ok = ok and rma_ctx_put_signal_nbi(ctx, box, &value, sizeof value, &signal, 1, RMA_SIGNAL_ADD, pe) == RMA_SUCCESS;
    int code = rma_ctx_iput_signal(ctx, box, &value, 1, 1, sizeof value, 1, &signal, 1, RMA_SIGNAL_ADD, pe);
    ok = ok and code == RMA_SUCCESS;
    ok = ok and rma_ctx_atomic_or_long(ctx, box, 0, pe) == RMA_SUCCESS and rma_ctx_quiet(ctx) == RMA_SUCCESS;
    ok = ok and rma_ctx_atomic_fetch_and_long(other, box, -1, pe) == value;
    ok = ok and rma_ctx_atomic_fetch_xor_long(other, box, 0, pe) == value;
    ok = ok and rma_ctx_atomic_compare_swap_long(other, box, value + 1, 0, pe) == value;
    ok = ok and rma_ctx_get(other, &got[0], box, sizeof value, pe) == RMA_SUCCESS;
    ok = ok and rma_ctx_get_nbi(other, &got[1], box, sizeof value, pe) == RMA_SUCCESS;
    ok = ok and rma_ctx_atomic_fetch_or_nbi_long(other, &got[2], box, 0, pe) == RMA_SUCCESS;
    ok = ok and rma_ctx_iget(other, &got[0], box, 1, 1, sizeof value, 1, pe) == RMA_SUCCESS;
    ok = ok and rma_ctx_destroy(other) == RMA_SUCCESS;
    ok = ok and got[0] == value and got[1] == value and got[2] == value;
    ok = ok and rma_pe_quiet(&pe, 1) == RMA_SUCCESS and rma_pe_fence(&pe, 1) == RMA_SUCCESS;
    return ok and rma_ctx_destroy(ctx) == RMA_SUCCESS;
}

extern "C" int give(long *box, long value, int pe) {
    int code = rma_atomic_and_long(box, 0, pe);
    if (code == RMA_SUCCESS and rma_quiet() == RMA_SUCCESS and rma_atomic_fetch_or_long(box, value, pe) == 0)
        code = rma_gptr_atomic_xor_int64(rma_gptr(box, pe), 0);
    return code == RMA_SUCCESS and in_a_context(box, pe) ? rma_fence() : RMA_ERR_ARG;
}
END
    if run "$prefix/bin/rmacc" -c main.c && run c++ -Wall -Wextra -Werror -O2 -I"$prefix/include" -c give.cc &&
        run "$prefix/bin/rmacc" main.o give.o -o program; then
        works "one of the files in C++"
    else
        fail "C++"
    fi
fi

# ---- OpenSHMEM: by its wrappers, with MPI in the same program, and by pkg-config ----

cat >osh.c <<'END'
#include <shmem.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <stdio.h>

static long box[2];

int main(void) {
    long mine = 5, value;
    shmem_init();
    value = 100 + shmem_my_pe();
#ifdef WITH_MPI
    MPI_Init(NULL, NULL);
    MPI_Finalize();
#endif
    shmem_long_p(&box[0], value, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_long_put(&box[1], &mine, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    printf("PE %d was given %ld and %ld\n", shmem_my_pe(), box[0], shmem_long_g(&box[1], shmem_my_pe()));
    shmem_finalize();
    return 0;
}
END
cp osh.c osh.cc
for how in "oshcc -O0 osh.c" "oshcc -O2 -profile osh.c" "oshcc -O2 -DWITH_MPI osh.c" "shmemcc osh.c" \
    "oshc++ -O0 osh.cc" "oshc++ -O2 osh.cc" "oshCC osh.cc" "oshcxx osh.cc" "shmemcxx osh.cc"; do
    case $how in oshc++* | oshCC* | *cxx*) sh "$prefix/bin/oshc++" --show x | grep -q . 2>/dev/null || continue ;; esac
    # a list of words
    # shellcheck disable=SC2086
    if run "$prefix/bin/"$how -o program; then works "$how"; else fail "$how"; fi
done
# shellcheck disable=SC2086,SC2046
if command -v pkg-config >/dev/null 2>&1; then
    if run ${CC:-cc} osh.c $(pkg-config --cflags --libs shmem) -o program; then
        works "OpenSHMEM by pkg-config, without MPI on the command line"
    else
        fail "pkg-config shmem"
    fi
fi
# With any compiler, by the flags that the wrapper prints.
# shellcheck disable=SC2046,SC2086
if run ${CC:-cc} $("$prefix/bin/oshcc" --showme:compile) osh.c $("$prefix/bin/oshcc" --showme:link) -o program; then
    works "OpenSHMEM by oshcc --showme"
else
    fail "oshcc --showme"
fi
showme() { # showme WHAT WANTED: by one dash as by two
    for dash in - --; do
        [ "$("$prefix/bin/oshcc" "${dash}showme:$1")" = "$2" ] || fail "oshcc ${dash}showme:$1"
    done
}
showme incdirs "$prefix/include"
showme libdirs "$prefix/lib"
showme libs "rma_shmem rma"
showme command "$("$prefix/bin/oshcc" --show x | sed 's/ -I.*//')"
showme version "$("$prefix/bin/oshcc" --version)"
[ "$("$prefix/bin/oshcc" -profile --showme:compile)" = "-DSHMEM_PROFILE -I$prefix/include" ] ||
    fail "oshcc -profile --showme:compile"
code=0
run "$prefix/bin/oshcc" --showme:nix x.c || code=$?
[ $code -eq 2 ] && grep -q '^oshcc: --showme:nix: ' "$dir/log" || fail "oshcc --showme:nix: exit $code"
code=0
run "$prefix/bin/oshfort" x.f90 || code=$?
[ $code -eq 1 ] && grep -q 'OpenSHMEM 1[.]5 has dropped' "$dir/log" || fail "oshfort: exit $code"
if sh "$prefix/bin/rmac++" --show x >/dev/null 2>&1; then
    "$prefix/bin/rmac++" --show x.cc | grep -q -- "-I$prefix/include x.cc -L$prefix/lib .*-lrma\$" ||
        fail "rmac++ --show"
    [ "$("$prefix/bin/rmac++" --show x)" != "$("$prefix/bin/rmacc" --show x)" ] || fail "rmac++ is not for C++"
    # The names of Debian's packages.
    for name in rmac++.mpich oshc++.librma oshc++.librma-mpich; do
        ln -sf "$prefix/bin/${name%%.*}" "$dir/$name"
        [ "$("$dir/$name" --show x)" = "$("$prefix/bin/${name%%.*}" --show x)" ] || fail "$name is not for C++"
    done
fi
for tool in oshcc oshc++ oshrun shmemcc shmemrun; do
    "$prefix/bin/$tool" --version | grep -q 'OpenSHMEM 1[.]6' || fail "$tool --version"
    "$prefix/bin/$tool" --help | grep -q "^usage: $tool" || fail "$tool --help"
    [ "$("$prefix/bin/$tool" -help)" = "$("$prefix/bin/$tool" --help)" ] || fail "$tool -help"
done
"$prefix/bin/oshcc" -c x.c --show | grep -q -- "-I$prefix/include -c x.c\$" || fail "oshcc -c --show"
"$prefix/bin/oshcc" -profile x.c -showme | grep -q -- "-DSHMEM_PROFILE x.c -L$prefix/lib .*-lrma_shmem -lrma" ||
    fail "oshcc -profile -showme"

# ---- the race detector ----

# The compilers and machines whose instrumentation the detector knows; others cannot compile with --race.
mkdir "a folder"
cat >"a folder/racy.c" <<'END'
#include <shmem.h>

static long box;

int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) shmem_long_p(&box, 5, 1);
#ifdef MENDED
    shmem_barrier_all();
#else
    shmem_sync_all();
#endif
    long is = box;
    shmem_finalize();
    return is < 0;
}
END
if [ -z "${SANITIZERS-}" ] && run "$prefix/bin/oshcc" --race -c "a folder/racy.c" -o racy.o; then
    # shellcheck disable=SC2086
    races() { # races WHAT EXIT PROGRAM: the job ends so, with a report that has both lines or with none
        code=0
        run timeout "$(seconds 60)" $mpiexec -n 2 "$3" || code=$?
        if [ $code -ne "$2" ]; then
            fail "$1: exit $code, not $2"
        elif [ $code -eq 66 ] && ! { grep -q 'at racy.c:13 in main' "$dir/log" &&
            grep -q 'by shmem_long_p at racy.c:7 in main' "$dir/log"; }; then
            fail "$1: the report does not name the two lines"
        elif [ $code -eq 0 ] && grep -q 'librma race' "$dir/log"; then
            fail "$1: a report"
        else
            ok "$1"
        fi
    }
    for tool in oshcc shmemcc oshc++; do
        source="a folder/racy.c"
        if [ $tool = oshc++ ]; then
            sh "$prefix/bin/oshc++" --show x | grep -q . 2>/dev/null || continue
            mkdir -p "a folder/c++"
            cp "$source" "a folder/c++/racy.c"
            source="a folder/c++/racy.c"
            set -- -x c++ "$source" -x none
        else
            set -- "$source"
        fi
        if run "$prefix/bin/$tool" --race "$@" -o "a folder/racy" &&
            run "$prefix/bin/$tool" --race -O2 -DMENDED "$@" -o "a folder/mended"; then
            races "$tool --race finds a race" 66 "a folder/racy"
            races "$tool --race finds none" 0 "a folder/mended"
        else
            fail "$tool --race"
        fi
    done
    # README's report of examples/halo.c, which it shows as the tool prints it.
    sed -n '/^librma race: /,/^```$/p' "$top_srcdir/README.md" | sed '/^```/d' >report
    if run "$prefix/bin/oshcc" --race "$top_srcdir/examples/halo.c" -o halo; then
        # shellcheck disable=SC2086
        run timeout "$(seconds 60)" $mpiexec -n 2 ./halo || true
        if awk 'FNR == NR { want = want $0 "\n"; next }
            { is = is $0 "\n" }
            END { exit want == "" || !index(is, want) }' report "$dir/log"; then
            ok "README's report of a race"
        else
            fail "README has another report of examples/halo.c"
        fi
        if run "$prefix/bin/oshcc" --race -DRIGHT "$top_srcdir/examples/halo.c" -o halo; then
            races "examples/halo.c -DRIGHT" 0 ./halo
        fi
    else
        fail "oshcc --race examples/halo.c"
    fi
    run "$prefix/bin/rmacc" --race main.c give.c -o program || fail "rmacc --race"
    works "two files by rmacc --race"
    # shellcheck disable=SC2046,SC2086
    if ! run $("$prefix/bin/oshcc" --showme:command) $("$prefix/bin/oshcc" --race --showme:compile) "a folder/racy.c" \
        -o "a folder/racy" $("$prefix/bin/oshcc" --race --showme:link); then
        fail "oshcc --race --showme"
    else
        races "oshcc --race --showme" 66 "a folder/racy"
    fi
    [ "$("$prefix/bin/oshcc" --race --showme:libs)" = "rma_race rma_shmem rma" ] || fail "oshcc --race --showme:libs"
    for tool in oshcc rmacc; do
        refused_with "$tool: --race: the detector takes the calls of shared libraries" \
            "$prefix/bin/$tool" --race -static main.c give.c -o program
    done
else
    echo "skipped: --race: needs gcc or clang that takes it, and a build without --enable-sanitizers"
fi

# ---- Fortran coarrays: by the wrapper, by pkg-config, and below by CMake ----

fortran=${FC:-gfortran}
if ! command -v "${fortran%% *}" >/dev/null 2>&1; then
    echo "skipped: coarrays: needs a Fortran compiler (Debian package gfortran)"
    fortran=
else
    cat >coarray.f90 <<'END'
program coarray
  implicit none
  integer, save :: box(2)[*]
  integer :: me, next
  me = this_image() - 1
  next = mod(me + 1, num_images()) + 1
  box(:)[next] = [100 + me, 5]
  sync all
  print '(a,i0,a,i0,a,i0)', 'PE ', me, ' was given ', box(1), ' and ', box(2)
end program
END
    for how in "$prefix/bin/rmafc" "$prefix/bin/rmafc -O2" ${static:+"$prefix/bin/rmafc -static-librma"}; do
        # shellcheck disable=SC2086
        if run $how coarray.f90 -o program; then works "${how#"$prefix/bin/"}"; else fail "$how"; fi
    done
    # shellcheck disable=SC2046
    if command -v pkg-config >/dev/null 2>&1; then
        # shellcheck disable=SC2086
        if run $fortran $(pkg-config --cflags rma-caf) coarray.f90 $(pkg-config --libs rma-caf) -o program; then
            works "coarrays by pkg-config"
        else
            fail "pkg-config rma-caf"
        fi
    fi
fi

# ---- CMake, static libraries, a module ----

if ! command -v cmake >/dev/null 2>&1; then
    echo "skipped: find_package(rma): needs cmake (Debian package cmake)"
else
    mkdir cmake
    cp main.c give.c osh.c cmake
    cat >cmake/mpi.c <<'END'
#include <mpi.h>
#include <rma.h>

int main(void) { return rma_init() != RMA_SUCCESS || MPI_Barrier(MPI_COMM_WORLD) || rma_finalize(); }
END
    cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(hello C)
find_package(rma REQUIRED)
add_executable(hello main.c give.c)
target_link_libraries(hello PRIVATE rma::rma)
add_executable(osh osh.c)
target_compile_definitions(osh PRIVATE WITH_MPI)
target_link_libraries(osh PRIVATE rma::shmem)
add_executable(both mpi.c)
target_link_libraries(both PRIVATE rma::rma)
if(TARGET rma::shmem_static)
    add_executable(static osh.c)
    target_link_libraries(static PRIVATE rma::shmem_static)
endif()
END
    if [ -n "$fortran" ]; then
        cp coarray.f90 cmake
        cat >>cmake/CMakeLists.txt <<'END'
enable_language(Fortran)
add_executable(coarray coarray.f90)
target_link_libraries(coarray PRIVATE rma::caf)
END
    fi
    programs="hello osh ${fortran:+coarray}"
    [ -z "$static" ] || programs="$programs static"
    if run cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="${CC:-cc}" &&
        run cmake --build cmake/build; then
        for file in $programs; do
            cp "cmake/build/$file" program
            works "find_package(rma): $file"
        done
        cp cmake/build/both program
        # shellcheck disable=SC2086
        if run timeout "$(seconds 60)" $mpiexec -n 2 ./program; then
            ok "find_package(rma): MPI too"
        else
            fail "MPI by CMake"
        fi
    else
        fail "find_package(rma)"
    fi
    # Which versions fit: those of the same minor number, up to the installed one.
    major=${version%%.*} minor=${version#*.}
    minor=${minor%%.*}
    asked() { # asked VERSION
        echo "cmake_minimum_required(VERSION 3.19)
        project(asked NONE)
        find_package(rma $1 REQUIRED)" >cmake/CMakeLists.txt
        rm -rf cmake/build
        run cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$prefix"
    }
    for wanted in "$version EXACT" "$major.$minor" "0...$major.$minor.99"; do
        asked "$wanted" || fail "find_package(rma $wanted)"
    done
    for wanted in "$major.$((minor + 1))" "$major.$minor.99" "$((major + 1)).0" "0.0...<$version"; do
        if asked "$wanted"; then fail "find_package(rma $wanted) finds $version"; fi
    done
    # Components are the targets; an error names a missing one, unless it is optional.
    asked "COMPONENTS rma shmem" || fail "find_package(rma COMPONENTS rma shmem)"
    asked "OPTIONAL_COMPONENTS rma nonsense" || fail "find_package(rma OPTIONAL_COMPONENTS nonsense)"
    if asked "COMPONENTS rma nonsense" || ! grep -qF "no component 'nonsense'" "$dir/log"; then
        fail "find_package(rma COMPONENTS nonsense) is not refused by name"
    fi
    # An error names a missing header.
    mv "$prefix/include/shmem.h" "$dir/shmem.h"
    if asked "$version" || ! grep -qF "$prefix/include/shmem.h" "$dir/log"; then fail "CMake does not name shmem.h"; fi
    mv "$dir/shmem.h" "$prefix/include/shmem.h"
fi

# Static linking: of librma alone; of everything, or the reason why not.
if [ -n "$static" ]; then
    if run "$prefix/bin/rmacc" -static-librma main.c give.c -o program && ! ldd program | grep -q librma; then
        works "two files by rmacc -static-librma"
    else
        fail "rmacc -static-librma"
    fi
    if run "$prefix/bin/oshcc" -static-librma -DWITH_MPI osh.c -o program && ! ldd program | grep -q librma; then
        works "oshcc -static-librma"
    else
        fail "oshcc -static-librma"
    fi
    if run "$prefix/bin/rmacc" -static main.c give.c -o program; then
        if ldd program >/dev/null 2>&1; then fail "rmacc -static: the program is not static"; fi
        works "two files by rmacc -static"
    else
        grep -q '^rmacc: -static: MPI cannot be linked statically here, the linker says: ' "$dir/log" ||
            fail "rmacc -static does not say why not"
    fi
else
    needs="librma has it if configured with --enable-static"
    refused_with "rmacc: -static: there is no $prefix/lib/librma.a; $needs" \
        "$prefix/bin/rmacc" -static main.c give.c -o program
    refused_with "oshcc: -static-librma: there is no $prefix/lib/librma_shmem.a; $needs" \
        "$prefix/bin/oshcc" -static-librma osh.c -o program
fi
"$prefix/bin/rmacc" --show -static -c x.c | grep -q -- "-I$prefix/include -static -c x.c\$" || fail "rmacc -static -c"

# module load: by a Tcl that knows the modulefile's commands, and by Environment Modules where these are installed.
module=$prefix/share/modulefiles/librma/$version
if command -v tclsh >/dev/null 2>&1; then
    cat >module.tcl <<'END'
proc module-whatis {text} {}
proc conflict {name} { puts "conflict $name" }
proc prepend-path {name folder} { puts "$name $folder" }
source [lindex $argv 0]
ModulesHelp
END
    run env MANPATH=/other tclsh module.tcl "$module" || fail "tclsh does not read $module"
    for line in 'conflict librma' "PATH $prefix/bin" "MANPATH $prefix/share/man" "LD_LIBRARY_PATH $prefix/lib" \
        "PKG_CONFIG_PATH $prefix/lib/pkgconfig" "CMAKE_PREFIX_PATH $prefix"; do
        grep -qxF "$line" "$dir/log" || fail "the module does not set $line"
    done
    grep -q "^librma $version, " "$dir/log" || fail "the module's help"
    if ! run env -u MANPATH tclsh module.tcl "$module" || grep -q MANPATH "$dir/log"; then
        fail "the module sets a MANPATH that has its own pages only"
    fi
else
    echo "skipped: the module: needs tclsh (Debian package tcl)"
fi
for command in modulecmd /usr/lib/x86_64-linux-gnu/modulecmd.tcl /usr/share/modules/libexec/modulecmd.tcl; do
    if ! command -v "$command" >/dev/null 2>&1; then continue; fi
    if run env MODULEPATH="$prefix/share/modulefiles" "$command" sh load "librma/$version" &&
        (PATH=/usr/bin:/bin && eval "$(cat "$dir/log")" && [ "$(command -v rmacc)" = "$prefix/bin/rmacc" ]); then
        ok "module load librma/$version"
    else
        fail "module load librma/$version"
    fi
    break
done

# The generic macros of the atomics: which types they accept, and which the compiler refuses; in C with <iso646.h>,
# which makes macros of `and`, `or` and `xor`. Each call stands on a line of its own: taken.c must compile without a
# warning, and in refused.c each line must be an error of the macro's own list of types.
printf '#include <iso646.h>\n#include <rma.h>\n' >taken.c
cp taken.c refused.c
front() { # front FILE TARGET CALL: appends a function with this call, where t points to a TARGET
    arguments="($2 *t, long *fetch, float *real, int pe)"
    n=$((n + 1))
    echo "void f$n$arguments; void f$n$arguments" \
        "{ (void)t, (void)fetch, (void)real, (void)pe; (void)($3); }" >>"$1.c"
}
n=0
taken() { front taken "$@"; }
refused() { front refused "$@"; }
for call in 'rma_atomic_fetch(t, pe)' 'rma_atomic_fetch_nbi(fetch, t, pe)'; do
    taken 'const long' "$call"
    refused 'const char' "$call"
done
for call in 'set(t, 1, pe)' 'swap(t, 1, pe)' 'swap_nbi(fetch, t, 1, pe)' \
    'add(t, 1, pe)' 'fetch_add(t, 1, pe)' 'fetch_add_nbi(fetch, t, 1, pe)' \
    'min(t, 1, pe)' 'fetch_min(t, 1, pe)' 'fetch_min_nbi(fetch, t, 1, pe)' \
    'max(t, 1, pe)' 'fetch_max(t, 1, pe)' 'fetch_max_nbi(fetch, t, 1, pe)'; do
    taken long "rma_atomic_$call"
    taken float "$(echo "rma_atomic_$call" | sed 's/(fetch,/(real,/')"
    refused char "rma_atomic_$call"
    refused 'long double' "rma_atomic_$call"
    refused 'void *' "rma_atomic_$call"
done
for call in 'compare_swap(t, 0, 1, pe)' 'compare_swap_nbi(fetch, t, 0, 1, pe)' \
    'inc(t, pe)' 'fetch_inc(t, pe)' 'fetch_inc_nbi(fetch, t, pe)' \
    'and(t, 1, pe)' 'fetch_and(t, 1, pe)' 'fetch_and_nbi(fetch, t, 1, pe)' \
    'or(t, 1, pe)' 'fetch_or(t, 1, pe)' 'fetch_or_nbi(fetch, t, 1, pe)' \
    'xor(t, 1, pe)' 'fetch_xor(t, 1, pe)' 'fetch_xor_nbi(fetch, t, 1, pe)'; do
    taken long "rma_atomic_$call"
    refused char "rma_atomic_$call"
    refused float "rma_atomic_$call"
done
before=$failures
# shellcheck disable=SC2086
run "$prefix/bin/rmacc" $warnings -fsyntax-only taken.c || fail "the generic front refuses what it should take"
# By default gcc reports the line of a macro's definition; the first option makes it report the line of the call. The
# second option makes clang print all errors. An option that the compiler does not know is left out.
lines=
for option in -ftrack-macro-expansion=0 -ferror-limit=0; do
    if run "$prefix/bin/rmacc" -Werror $option -fsyntax-only give.c; then lines="$lines $option"; fi
done
# shellcheck disable=SC2086
if run "$prefix/bin/rmacc" $warnings $lines -fsyntax-only refused.c; then
    fail "the generic front takes all of refused.c"
fi
sed -nE 's/^refused\.c:([0-9]+):.*error: .*(_Generic|controlling expression).*/\1/p' "$dir/log" | sort -u >refused.lines
awk 'FILENAME == ARGV[1] { refused[$1] = 1; next } /^void f/ && !(FNR in refused)' refused.lines refused.c >accepted
if [ -s accepted ]; then
    cp accepted "$dir/log"
    fail "the generic front takes, or the compiler refuses for something else:"
fi
[ "$(wc -l <refused.lines)" -gt 60 ] || fail "$(wc -l <refused.lines) calls were refused, not more than 60"
[ $failures -gt "$before" ] || ok "the generic front of the atomics, by the type of the word"

says() { # says TEXT COMMAND...
    text=$1
    shift
    if ! run "$@" || ! grep -qF -- "$text" "$dir/log"; then fail "$*: not '$text'"; fi
}
says 'rmacc (librma) ' "$prefix/bin/rmacc" --version
says "-I$prefix/include" "$prefix/bin/rmacc" --show -c x.c
says 'librma ' "$prefix/bin/rma_info"

# rma_bench finds the installed benchmarks, under mpiexec and under oshrun, and an error names a missing one.
says 'put_latency ' "$prefix/bin/rma_bench" --list
few="put_latency -i 1 -x 0 -r 1 -m 8:8 -c --csv"
# Lists of words.
# shellcheck disable=SC2086
for start in "$mpiexec" "$prefix/bin/oshrun"; do
    if run timeout "$(seconds 60)" $start -n 2 "$prefix/bin/rma_bench" $few && grep -q '^8,.*,Pass$' "$dir/log"; then
        ok "rma_bench, started by $(basename "$start")"
    else
        fail "$start -n 2 rma_bench $few"
    fi
done
mv "$prefix/libexec/librma/rma_lock" "$dir/rma_lock"
if run "$prefix/bin/rma_bench" lock || ! grep -qF "$prefix/libexec/librma/rma_lock is not there" "$dir/log"; then
    fail "rma_bench lock does not name the program that is missing"
fi
mv "$dir/rma_lock" "$prefix/libexec/librma/rma_lock"

# ---- uninstallation ----

cd "$dir/build"
must "$make" uninstall
find "$prefix" ! -type d >"$dir/log"
if [ -s "$dir/log" ]; then fail "files are left after make uninstall"; else ok "make uninstall leaves no file"; fi

# make install into a staging folder, as packagers do. test/stage.sh does so for other scripts.
if deep; then
    must "$make" install noinst_PROGRAMS= DESTDIR="$dir/stage"
    if [ -s "$dir/stage$prefix/include/rma.h" ] && [ -s "$dir/stage$prefix/lib/librma/race.specs" ] &&
        [ ! -e "$prefix/include/rma.h" ] &&
        grep -qx "prefix=$prefix" "$dir/stage$prefix/lib/pkgconfig/rma.pc"; then
        ok "DESTDIR"
    else
        fail "DESTDIR"
    fi
fi

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
