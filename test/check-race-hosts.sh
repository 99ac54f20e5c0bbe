#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-race-hosts.sh: on several hosts the race detector finds the races of programs of test/race as on one host, and
# reports nothing for their corrected versions (check-race.sh).
#
# Hosts are simulated nodes, each of which RMA_RACE=hosts=nodes takes for a host; and, where root may make them, network
# namespaces (tools/hosts). Broken by an access, an order or a report that does not reach the other host; by a service
# that ends too early or does not end; by PEs that do not notice that they cannot understand each other.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
skip_with_sanitizers
need_lines
unset_settings
[ -f "$top_builddir/librma_shmem.la" ] || skip "needs librma_shmem, which was not built in $top_builddir (make)"
grep -q -e --race "$top_builddir/tools/oshcc" || skip "needs an oshcc that has --race"
# shellcheck source=stage.sh
. "$top_srcdir/test/stage.sh"
stage "$dir/stage" || exit 1
LD_LIBRARY_PATH=$stage_prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
cd "$dir"

# Programs of 2 and of 4 PEs. All but `long` take one of a kind; the rest need memory that PEs share, or one node.
few='atomic_put coll_broadcast_dest fence_missing flag_no_ack lock_two_locks native_gptr_p ready_broadcast
    signal_not_awaited'
four='three_token'
network='barrier_only_before wait_some'
if quick; then few='flag_no_ack lock_two_locks remote_get_store' four='' network='flag_no_ack'; fi
if deep; then
    few='atomic_[!bcdsw]* barrier_* coll_* ctx_* cpp_[!a]* fence_* flag_* free_* local_* lock_[!a]* loop_* mem_*'
    few="$few native_[!r]* omp_* quiet_[!r]* quiet_re* ready_* remote_[!p]* remote_put_* run_* session_*"
    few="$few signal_* test_* thread_* wait_*"
    four='three_* lock_reader ctx_pe_quiet coll_split_team fence_two_pes native_team quiet_slots quiet_work_stealing'
    network='remote_put_* lock_* signal_* three_* coll_* native_gptr_*'
fi

# programs NODE_PES PATTERNS: these programs, on hosts of NODE_PES PEs.
programs() {
    [ -n "$2" ] || return 0
    if RMA_RACE=hosts=nodes RMA_NODE_PES=$1 \
        sh "$top_srcdir/test/check-race.sh" --prefix "$dir/stage" --only "$2" >log 2>&1; then
        ok "hosts of $1 PEs: $(tail -n 1 log)"
    else
        fail "hosts of $1 PEs"
    fi
    : >log
}
programs 1 "$few"
programs 2 "$four"

# ---- the hosts, and the end ----

# Each PE prints the number of the file that it shares with its host. With an argument, that PE leaves shmem_finalize to
# the library while another one still puts.
cat >shares.c <<'END'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long box[8];

int main(int argc, char **argv) {
    char line[512], file[64] = "none";
    FILE *maps = fopen("/proc/self/maps", "r");
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    fclose(maps);
    maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:librma-race")) sscanf(line, "%*s %*s %*s %*s %63s", file);
    fclose(maps);
    printf("file %s\n", file);
    fflush(stdout);
    if (argc > 1 && me == atoi(argv[1])) return 0;
    if (argc > 1) usleep(200000);
    for (int i = 0; i < 20; i++) {
        shmem_long_p(&box[0], i, n - 1);
        shmem_quiet();
    }
    return 0;
}
END
sed 's/shmem_long_p(&box\[0\], i, n - 1)/shmem_long_p(\&box[me], i, n - 1)/' shares.c >quiet.c
compile() { # compile PROGRAM FILE
    "$dir/stage/bin/oshcc" --race -g -o "$1" "$2" >log 2>&1 || hard "oshcc --race does not compile: $(head -n 3 log)"
}
compile racy shares.c
compile quiet quiet.c
files() { grep '^file [0-9]' out | sort -u | wc -l; }
# shellcheck disable=SC2086
{
    run env RMA_NODE_PES=2 $mpiexec -n 4 ./quiet
    if [ "$status.$(files)" = 0.1 ]; then ok "nodes of one host share"; else fail "nodes of one host"; fi
    run env RMA_RACE=hosts=nodes RMA_NODE_PES=2 $mpiexec -n 4 ./quiet
    if [ "$status.$(files)" = 0.2 ]; then ok "two hosts"; else fail "two hosts: exit $status, $(files) files"; fi
    for pe in 0 1; do
        run env RMA_RACE=hosts=nodes RMA_NODE_PES=1 $mpiexec -n 2 ./quiet $pe
        exits 0 "PE $pe leaves first"
        run env RMA_RACE=hosts=nodes RMA_NODE_PES=1 $mpiexec -n 3 ./racy $pe
        # With races, the PEs do not finalize MPI: the launcher may end PE 0 before it prints the total, and with a
        # code of its own.
        if [ "$status" -ne 0 ] && [ "$(grep -c 'race: PE' err)" -eq 1 ]; then
            ok "PE $pe leaves first, and all hosts together report a race once"
        else
            fail "PE $pe leaves first, with a race: exit $status"
        fi
    done
}

# ---- what the hosts do not agree on ----

# says TEXT: the job has ended with 0, and has printed the text once.
says() {
    # shellcheck disable=SC2015
    [ "$status" -eq 0 ] && [ "$(grep -c -e "$1" err)" -eq 1 ] && ok "says: $1" || fail "exit $status: $1"
}
for size in 1 1000000; do
    echo "#include <shmem.h>
        char more[$size];
        int main(void) { shmem_init(); shmem_barrier_all(); shmem_finalize(); return 0; }" >size.c
    compile "size_$size" size.c
done
"$dir/stage/bin/oshcc" -g -o plain size.c >log 2>&1 || hard "oshcc does not compile: $(head -n 3 log)"
cat >mpi.c <<'END'
#include <mpi.h>
#include <rma.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rma_init();
    rma_barrier_all();
    rma_finalize();
    MPI_Finalize();
    return 0;
}
END
RMA_RACE=hosts=nodes RMA_NODE_PES=1
export RMA_RACE RMA_NODE_PES
# shellcheck disable=SC2086
run $mpiexec -n 1 ./size_1 : -n 1 ./size_1000000
says 'race: PE 1 needs [0-9]* bytes for the detector, and PE 0 [0-9]* (do they run the same program?): race detection'
# shellcheck disable=SC2086
run $mpiexec -n 2 ./size_1 : -n 1 ./plain
says 'race: PE 2 has no race detector (was its program compiled with --race?): race detection is off'
# shellcheck disable=SC2086
run $mpiexec -n 1 ./plain : -n 2 ./size_1
says 'race: PE 0 has no race detector (was its program compiled with --race?): race detection is off'
# shellcheck disable=SC2046,SC2086
if "$dir/stage/bin/rmacc" --race -g -o mpi mpi.c >log 2>&1; then
    run $mpiexec -n 2 ./mpi
    says 'has started MPI on PE 0 without MPI_THREAD_MULTIPLE, which the detector needs between hosts: race detection'
else
    fail "rmacc --race does not compile a program that includes mpi.h"
fi
unset RMA_RACE RMA_NODE_PES

# ---- hosts with a network between them ----

tool=$top_srcdir/tools/hosts
PATH=$PATH:/usr/sbin:/sbin
mounts='mount -t tmpfs tmpfs /run && mount -t tmpfs -o mode=1777 tmpfs /dev/shm'
cat >inside <<'END'
# inside TOOL COMMAND...: runs it while there are hosts
tool=$1
shift
bash "$tool" --state /run/hosts up --hosts 2 || exit 77
code=0
"$@" || code=$?
bash "$tool" --state /run/hosts down
exit $code
END
cat >mpiexec <<END
#!/bin/sh
# mpiexec -n PES PROGRAM: starts it on the hosts
[ "\$1" = -n ] || exec $mpiexec "\$@"
n=\$2
shift 2
MPIEXEC='$mpiexec' exec bash '$tool' --state /run/hosts run -n "\$n" "\$@"
END
chmod +x mpiexec
hosts='' reason="needs MPICH's launcher"
# shellcheck disable=SC2016
[ $mpi != mpich ] || for options in -m -rnm; do
    # As root, or as root of a user namespace.
    if reason=$(unshare $options sh -c "$mounts"' && exec sh inside "$0" true' "$tool" 2>&1); then
        hosts=$options
        break
    fi
done
if [ -z "$hosts" ]; then
    echo "$script: hosts of tools/hosts: skipped: ${reason:-needs root, or namespaces for users}"
else
    printf '#!/bin/sh\nexec unshare %s sh -c '\''%s && exec sh inside "$@"'\'' sh '\''%s'\'' "$@"\n' \
        "$hosts" "$mounts" "$tool" >on_hosts
    chmod +x on_hosts
    run ./on_hosts ./mpiexec -n 4 ./quiet
    if [ "$status.$(files)" = 0.2 ]; then ok "two hosts of tools/hosts"; else fail "two hosts of tools/hosts"; fi
    if MPIEXEC=$dir/mpiexec ./on_hosts sh "$top_srcdir/test/check-race.sh" --prefix "$dir/stage" --only "$network" \
        >log 2>&1; then
        ok "tools/hosts: $(tail -n 1 log)"
    else
        fail "tools/hosts"
    fi
    : >log
fi

# A PE that asks a host which has been cut off ends the job.
if deep && [ -n "$hosts" ]; then
    cat >cut.c <<'END'
#include <shmem.h>
#include <stdio.h>

static long box[8];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_barrier_all();
    if (me == 0) printf("running\n");
    fflush(stdout);
    for (long i = 0;; i++) shmem_long_p(&box[me], i, (me + n / 2) % n);
}
END
    compile cut cut.c
    if RMA_STALL=1 RMA_TIMEOUT=4 sh "$top_srcdir/test/hosts" --cut "$dir/cut" >log 2>&1; then
        ok "a host that is cut off: $(sed -n 's/^ *librma race: //p' log)"
    else
        fail "a host that is cut off"
    fi
fi
verdict
