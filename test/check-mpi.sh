#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-mpi.sh: MPI's windows on librma (rma_mpi). The programs of test/mpi are plain MPI; they run on librma, on one
# node and between nodes, and at depth `long` on MPI alone, which shows that they ask for what MPI promises. Then jobs
# that rma_mpi must refuse.
#
# Broken by a call that does not do what the standard says, by a window that is left to MPI silently, and by a job of
# which only some processes are preloaded that hangs.
set -eu
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers "the library is preloaded"
unset_settings

need_rma_mpi
options="-std=gnu11 -O1 -Wall -Wextra -Werror"

for program in moves shorter made updates operations sums swaps pairs accesses regions wide epochs locks windows \
    threads concurrent self crowded collectives; do
    # shellcheck disable=SC2086
    ${MPICC:-mpicc.mpich} $options -I"$top_srcdir/test/mpi" -o "$dir/$program" "$top_srcdir/test/mpi/$program.c" \
        >"$dir/log" 2>&1 || { fail "$program.c does not compile"; continue; }
    : >"$dir/log"
    jobs="one:2 nolocal:2"
    case $program in
    locks | concurrent) jobs="one:3 nolocal:2 blocks2:4" ;; # two readers and a writer
    crowded) jobs="one:4 nolocal:2" ;;
    collectives) jobs="one:3 one:2 nolocal:2 blocks2:4" ;;
    shorter | sums | self | regions | accesses) jobs="$jobs blocks2:4" ;;
    esac
    ! quick || jobs=${jobs%% *}
    if deep; then
        # shellcheck disable=SC2086
        run $mpiexec -n 2 "$dir/$program"
        exits 0 "$program on MPI alone, 2 processes"
        jobs="one:1 one:2 one:3 one:4 nolocal:2 nolocal:3 blocks2:4"
    fi
    for job in $jobs; do
        layout=${job%:*} count=${job#*:}
        # shellcheck disable=SC2046,SC2086
        run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" $preload "$dir/$program"
        exits 0 "$program on librma, $count processes, $(layout_words "$layout")"
    done
done

# Several threads of each process update the same elements.
for job in one:2 nolocal:2 blocks2:4; do
    layout=${job%:*} count=${job#*:}
    ! quick || [ "$layout" = one ] || continue
    # shellcheck disable=SC2046,SC2086
    run env $(layout_switches "$layout" "$count") $mpiexec -n "$count" $preload "$dir/sums" threads
    exits 0 "sums of several threads on librma, $count processes, $(layout_words "$layout")"
done

# shellcheck disable=SC2086
run $mpiexec -n 4 $preload "$dir/crowded" threads
exits 0 "more processes than processors, with threads, on librma, 4 processes, one node"

# A process that waits in MPI serves the others, here without a progress thread.
# shellcheck disable=SC2086
if ${MPICC:-mpicc.mpich} $options -I"$top_srcdir/test/mpi" -o "$dir/waits" "$top_srcdir/test/mpi/waits.c"; then
    # shellcheck disable=SC2046,SC2086
    run env RMA_PROGRESS=none $(layout_switches nolocal 3) $mpiexec -n 3 $preload "$dir/waits"
    exits 0 "a process that waits in MPI serves others, $(layout_words nolocal)"
    # shellcheck disable=SC2086
    run $mpiexec -n 2 $preload "$dir/waits"
    exits 0 "a process that waits in MPI, one node"
else
    fail "waits.c does not compile"
fi

# From Fortran, whose library calls the functions of C.
if command -v mpifort.mpich >/dev/null && [ "$mpi" = mpich ]; then
    if (cd "$dir" && mpifort.mpich -o fortran "$top_srcdir/test/mpi/windows.f90") >"$dir/log" 2>&1; then
        # shellcheck disable=SC2086
        run $mpiexec -n 2 $preload "$dir/fortran"
        exits 0 "windows.f90 on librma"
    else
        fail "windows.f90 does not compile"
    fi
fi

# RMA_MPI_INFO says whose each window is.
# shellcheck disable=SC2086
run env RMA_MPI_INFO=1 $mpiexec -n 2 $preload "$dir/windows"
if [ "$(grep -c 'window [0-9]* of librma' "$dir/err")" -ge 5 ] && ! grep -q 'left to MPI' "$dir/err"; then
    ok "RMA_MPI_INFO=1 prints a line for each window"
else
    fail "RMA_MPI_INFO=1 prints a line for each window"
fi

# Some processes without the library: named at once.
# shellcheck disable=SC2086
run $mpiexec -n 1 $preload "$dir/epochs" : -n 1 "$dir/epochs"
if [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && grep -q 'process 1 of the job .* without rma_mpi' "$dir/err"; then
    ok "a process without rma_mpi is named"
else
    fail "a process without rma_mpi is named: exit $status"
fi

# A process that cannot see the others' processes, as if they were on another host. UCX must not see it either.
if deep && [ "$mpi" = mpich ] && unshare -pf --mount-proc true 2>/dev/null; then
    # shellcheck disable=SC2086
    run env UCX_TLS=tcp,self $mpiexec -n 1 unshare -pf --mount-proc $preload "$dir/epochs" : -n 1 "$dir/epochs"
    if [ "$status" -ne 0 ] && [ "$status" -ne 124 ] &&
        grep -q 'process 1 of the job has not answered .* without rma_mpi' "$dir/err"; then
        ok "a process without rma_mpi on another host is named"
    else
        fail "a process without rma_mpi on another host is named: exit $status"
    fi
fi

# A shell that starts the program in the process of the launcher has no library, but the program has.
# shellcheck disable=SC2086
run $mpiexec -n 1 $preload "$dir/epochs" : -n 1 sh -c "$preload $dir/epochs || exit"
exits 0 "one of the processes is started by a shell"

# The report of a long wait for a lock names the process that has it, which has it until the report has come. One of the
# two may have called MPI_Win_lock_all.
cat >"$dir/holder.c" <<'END'
#include "check.h"
static MPI_Win win;
static int lock_as(const char *how, int type) {
    return strcmp(how, "all") == 0 ? MPI_Win_lock_all(0, win) : MPI_Win_lock(type, 0, 0, win);
}
static int unlock_as(const char *how) {
    return strcmp(how, "all") == 0 ? MPI_Win_unlock_all(win) : MPI_Win_unlock(0, win);
}
int main(int argc, char **argv) {
    const char *holds = argv[argc - 3], *waits = argv[argc - 2], *seen = argv[argc - 1];
    long *base;
    begin();
    MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == 2 % n) lock_as(holds, MPI_LOCK_EXCLUSIVE);
    MPI_Barrier(MPI_COMM_WORLD);
    while (rank == 2 % n && access(seen, F_OK) != 0) usleep(1000);
    if (rank != 2 % n) lock_as(waits, strcmp(holds, "all") == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED);
    unlock_as(rank == 2 % n ? holds : waits);
    MPI_Win_free(&win);
    return end();
}
END
# shellcheck disable=SC2086
${MPICC:-mpicc.mpich} $options -I"$top_srcdir/test/mpi" -o "$dir/holder" "$dir/holder.c"
for job in one:lock:lock one:lock:all one:all:lock nolocal:lock:lock nolocal:lock:all nolocal:all:lock; do
    layout=${job%%:*} holds=${job#*:} waits=${job##*:}
    holds=${holds%:*}
    case $waits in all) call=MPI_Win_lock_all ;; *) call=MPI_Win_lock ;; esac
    title="a long wait in $call names the holder of the lock, $(layout_words "$layout")"
    [ "$holds" = lock ] || title="$title, which has all"
    ! quick || [ "$layout" = one ] || continue
    rm -f "$dir/seen" "$dir/err"
    # shellcheck disable=SC2046,SC2086
    (run env RMA_STALL=1 $(layout_switches $layout 3) $mpiexec -n 3 $preload "$dir/holder" $holds $waits "$dir/seen"
    exit "$status") &
    job=$!
    tries=$(($(seconds 20) * 10))
    while [ $tries -gt 0 ] && ! grep -q "PE 1 .*waited .* in $call.*: PE 2 answers" "$dir/err" 2>/dev/null; do
        tries=$((tries - 1))
        sleep 0.1
    done
    touch "$dir/seen"
    status=0
    wait $job || status=$?
    if [ "$status" -eq 0 ] && [ $tries -gt 0 ]; then ok "$title"; else fail "$title: exit $status"; fi
done

# Processes in different collective calls, which hang on MPI alone.
cat >"$dir/differ.c" <<'END'
#include "check.h"
int main(void) {
    begin();
    if (rank) MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
END
# shellcheck disable=SC2086
${MPICC:-mpicc.mpich} $options -I"$top_srcdir/test/mpi" -o "$dir/differ" "$dir/differ.c"
# shellcheck disable=SC2086
run $mpiexec -n 2 $preload "$dir/differ"
if [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && grep -q 'PE 0\( is\)\? in MPI_Barrier' "$dir/err"; then
    ok "processes in different collective calls of MPI are named"
else
    fail "processes in different collective calls of MPI are named: exit $status"
fi

# Window calls before MPI_Init are MPI's own error.
cat >"$dir/early.c" <<'END'
#include <mpi.h>
int main(void) {
    MPI_Win win;
    void *base;
    return MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS;
}
END
${MPICC:-mpicc.mpich} -o "$dir/early" "$dir/early.c"
# shellcheck disable=SC2086
run $preload "$dir/early"
if [ "$status" -ne 0 ] && [ "$status" -lt 128 ] && grep -Eq 'before (initializing|MPI_INIT)' "$dir/out" "$dir/err"; then
    ok "a window before MPI_Init is an error"
else
    fail "a window before MPI_Init is an error: exit $status"
fi

# So are those after MPI_Finalize, also with a window that was never freed.
cat >"$dir/after.c" <<'END'
#include <mpi.h>
int main(void) {
    MPI_Win win;
    void *base;
    MPI_Init(0, 0);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    MPI_Finalize();
    return MPI_Put(&win, 1, MPI_INT, 0, 0, 1, MPI_INT, win) == MPI_SUCCESS;
}
END
${MPICC:-mpicc.mpich} -o "$dir/after" "$dir/after.c"
# shellcheck disable=SC2086
run $mpiexec -n 1 $preload "$dir/after"
if [ "$status" -ne 0 ] && [ "$status" -lt 128 ] && grep -qi 'after .*finaliz' "$dir/out" "$dir/err"; then
    ok "a put after MPI_Finalize is an error"
else
    fail "a put after MPI_Finalize is an error: exit $status"
fi

# ---- rma_mpi takes the library of the program's MPI ----

# The other build of librma is a library that says that it was loaded, and its librma.so likewise.
case $mpi in
mpich) our_name=MPICH other=openmpi other_name="Open MPI" ;;
*) our_name="Open MPI" other=mpich other_name=MPICH ;;
esac
ours=$top_builddir/.libs
# refused CODE TITLE PATTERN COMMAND...: rma_mpi ends with this code and one line, before it starts a program.
refused() {
    code=$1 title=$2 pattern=$3
    shift 3
    run "$@"
    if [ "$status" -eq "$code" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -q "^rma_mpi: $pattern" "$dir/err"; then
        ok "$title"
    else
        fail "$title: exit $status, not $code"
    fi
}
# takes TITLE LIBRARY COMMAND...: the program starts with this library, and, if it is the other build's, with the
# librma.so of that build.
takes() {
    title=$1 wanted=$2
    shift 2
    run "$@"
    if [ "$status" -eq 0 ] && grep -qx "LD_PRELOAD=$wanted\(:.*\)\?" "$dir/out"; then
        ok "$title"
    else
        fail "$title: exit $status"
    fi
}
sed 's|^own=.*|own=/nowhere/lib/librma/librma_mpi.so|' "$top_builddir/tools/rma_mpi" >"$dir/rma_mpi-none"
mkdir -p "$dir/debian/mpich/librma" "$dir/debian/openmpi/librma"
sed "s|^own=.*|own=$dir/debian/mpich/librma/librma_mpi.so|" "$top_builddir/tools/rma_mpi" >"$dir/rma_mpi-debian"
sed 's|^own=.*|own=/usr/lib/nowhere/librma/mpich/librma/librma_mpi.so|' "$top_builddir/tools/rma_mpi" \
    >"$dir/rma_mpi-package"
# A program that prints what is loaded before it, in the words of env.
cat >"$dir/before.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int started = 0;
    MPI_Initialized(&started);
    return printf("LD_PRELOAD=%s\n", getenv("LD_PRELOAD")) < 0 || started;
}
END
${MPICC:-mpicc.mpich} -o "$dir/ours" "$dir/before.c"
refused 89 "no library for the program's MPI" "'$dir/ours' is linked with $our_name (libmpi.*): build librma for" \
    sh "$dir/rma_mpi-none" "$dir/ours"
refused 89 "no library for any MPI" "librma's library for MPI programs is missing (/nowhere/lib/.*" \
    sh "$dir/rma_mpi-none" env
refused 89 "Debian's package for the program's MPI is missing" \
    "'$dir/ours' .* librma for $our_name is not installed: apt-get install librma-$mpi-bin\$" \
    sh "$dir/rma_mpi-package" "$dir/ours"
refused 1 "a folder of RMA_MPI_PATH without a library" "RMA_MPI_PATH=$dir/none: .*in '$dir/none'" \
    env RMA_MPI_PATH="$dir/none" sh "$dir/rma_mpi-none" "$dir/ours"
takes "the library of the program's MPI, by RMA_MPI_PATH" "$ours/librma_mpi.so" \
    env RMA_MPI_PATH="$ours" sh "$dir/rma_mpi-none" "$dir/ours"

# The command alone may be there, without the MPI's headers (Debian package openmpi-bin without libopenmpi-dev).
if mpicc.$other -o "$dir/other" "$dir/before.c" 2>/dev/null; then
    refused 89 "a program of another MPI than --library" \
        "'$dir/other' is linked with $other_name (libmpi.*), but $library with $our_name (libmpi.*)" \
        sh "$top_builddir/tools/rma_mpi" --library "$library" "$dir/other"
    refused 89 "a program of another MPI than the installed library" \
        "'$dir/other' is linked with $other_name (libmpi.*), but this librma is built with $our_name (libmpi.*)" \
        env RMA_MPI_PATH="$ours" sh "$dir/rma_mpi-none" "$dir/other"
    mpicc.$other -o "$dir/other-after" "$dir/after.c"
    # shellcheck disable=SC2086
    run $preload env "$dir/other-after"
    if [ "$status" -eq 89 ] && grep -q 'this librma was built for .* use a build of the program' "$dir/err"; then
        ok "a program of another MPI is refused behind another command"
    else
        fail "a program of another MPI is refused behind another command: exit $status"
    fi

    mkdir -p "$dir/second/lib/librma"
    echo 'int MPI_Initialized(int *); int rma_mpi_of(int *f) { return MPI_Initialized(f); }' >"$dir/second.c"
    mpicc.$other -shared -fPIC -o "$dir/second/lib/librma/librma_mpi.so" "$dir/second.c"
    second=$dir/second/lib/librma/librma_mpi.so
    both="env RMA_MPI_PATH=$ours:$dir/second sh $dir/rma_mpi-none"
    # shellcheck disable=SC2086
    {
        takes "two builds: a program of $our_name" "$ours/librma_mpi.so" $both "$dir/ours"
        takes "two builds: a program of $other_name" "$second" $both "$dir/other"
        for launcher in PMI_SIZE:mpich OMPI_COMM_WORLD_SIZE:openmpi; do
            [ "${launcher#*:}" = $other ] && wanted=$second || wanted=$ours/librma_mpi.so
            title="two builds: a script, started by ${launcher#*:}'s launcher"
            # shellcheck disable=SC2016
            printf '#!/bin/sh\necho "LD_PRELOAD=$LD_PRELOAD"\n' >"$dir/script"
            chmod +x "$dir/script"
            takes "$title" "$wanted" env -u PMI_SIZE -u OMPI_COMM_WORLD_SIZE "${launcher%:*}=1" $both "$dir/script"
        done
        takes "two builds: a program without MPI, and no launcher" "$ours/librma_mpi.so" $both env
    }
    # Debian's packages: MPICH's and Open MPI's build in folders side by side.
    cp "$library" "$dir/debian/$mpi/librma/librma_mpi.so"
    cp "$second" "$dir/debian/$other/librma/librma_mpi.so"
    for flavour in $mpi:ours $other:other; do
        takes "two packages: a program of ${flavour%:*}" "$dir/debian/${flavour%:*}/librma/librma_mpi.so" \
            sh "$dir/rma_mpi-debian" "$dir/${flavour#*:}"
    done
    # The other build's library loads the librma.so that lies beside it, whatever LD_LIBRARY_PATH says.
    : >"$dir/second/lib/librma.so.$(sed -n 's/.*librma.so.\([0-9][0-9]*\)".*/\1/p' "$dir/rma_mpi-none" | head -n 1)"
    # shellcheck disable=SC2086
    run env LD_LIBRARY_PATH="$ours" $both "$dir/other"
    if grep -qx "LD_PRELOAD=$second:$dir/second/lib/librma/../librma.so.[0-9]*" "$dir/out"; then
        ok "two builds: each with its own librma.so, with LD_LIBRARY_PATH"
    else
        fail "two builds: each with its own librma.so, with LD_LIBRARY_PATH: exit $status"
    fi

    # A program of both MPIs: the other's comes with a library.
    mpicc.$other -shared -fPIC -o "$dir/libsecond.so" "$dir/second.c"
    ${MPICC:-mpicc.mpich} -o "$dir/twofold" "$dir/before.c" -Wl,--no-as-needed "$dir/libsecond.so"
    # shellcheck disable=SC2086
    refused 89 "a program of two MPIs" \
        "'$dir/twofold' is linked with two MPIs, MPICH (libmpi.*) and Open MPI (libmpi.*)" $both "$dir/twofold"
fi

# A static program cannot be preloaded. One without MPI may start another program.
echo 'int main(void) { return 0; }' >"$dir/static.c"
if ${CC:-cc} -static -o "$dir/static" "$dir/static.c" 2>/dev/null; then
    # shellcheck disable=SC2086
    run $preload "$dir/static"
    exits 0 "a static program without MPI"
    echo 'int MPI_Init(void) { return 0; } int main(void) { return MPI_Init(); }' >"$dir/static.c"
    for how in -static -static-pie; do
        ${CC:-cc} $how -g -o "$dir/static" "$dir/static.c" 2>/dev/null || continue
        # shellcheck disable=SC2086
        refused 89 "a static program of MPI, $how" "'$dir/static' is linked statically" $preload "$dir/static"
    done
fi
# shellcheck disable=SC2086
{
    refused 127 "a program that is not there" "cannot find the program '$dir/absent'" $preload "$dir/absent"
    refused 127 "a program that is not in PATH" "cannot find the program 'absent'" $preload absent
    refused 126 "a file that cannot be executed" "'$dir/before.c' is not a program" $preload "$dir/before.c"
    refused 126 "a folder" "'$dir' is not a program" $preload "$dir"
}

# A program that ends without MPI_Finalize keeps its exit code, as on MPICH alone. Open MPI's launcher takes it for a
# failure.
cat >"$dir/late.c" <<'END'
#include <mpi.h>
int main(void) { return MPI_Init(0, 0); }
END
${MPICC:-mpicc.mpich} -o "$dir/late" "$dir/late.c"
# shellcheck disable=SC2086
run $mpiexec -n 2 $preload "$dir/late"
if [ $mpi = openmpi ]; then status=0; fi
if [ "$status" -eq 0 ] && grep -q 'without MPI_Finalize' "$dir/err"; then
    ok "a program without MPI_Finalize gets a note"
else
    fail "a program without MPI_Finalize gets a note: exit $status"
fi

# The command.
run sh "$top_builddir/tools/rma_mpi" --help
exits 0 "rma_mpi --help"
run sh "$top_builddir/tools/rma_mpi"
exits 2 "rma_mpi without a program"
run sh "$top_builddir/tools/rma_mpi" --nonsense program
exits 2 "rma_mpi with an unknown argument"
run sh "$top_builddir/tools/rma_mpi" --library "$dir/none" true
if [ "$status" -eq 1 ] && grep -q "$dir/none" "$dir/err"; then
    ok "a library that does not exist is named"
else
    fail "a library that does not exist is named: exit $status"
fi
verdict
