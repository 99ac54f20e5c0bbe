#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-hosts.sh: on two hosts with TCP between them the programs work as on one host, and a job that loses a host ends.
#
# test/hosts tests both, on hosts that tools/hosts creates; this script only chooses programs that take at most a
# minute. HOSTS_PROGRAMS and CUT_PROGRAM choose others. Broken by a library that mistakes PEs of another host for PEs of
# this node, by messages that depend on shared memory, and by a PE that waits for ever for an unreachable PE.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cut_program=${CUT_PROGRAM:-$top_builddir/test/job/stall}
# Without `long`: atomics, the collectives, messages of all sizes, and memory that grows. With it also MPI's windows.
programs='atomics collective far_sizes symmetric'
if deep; then programs="$programs barrier collective_order far_progress gptr linked_list"; fi
programs=${HOSTS_PROGRAMS:-$programs}

# Short deadlines: a job that hangs fails here soon.
status=0
# shellcheck disable=SC2086
sh "$top_srcdir/test/hosts" --hosts 2 --times 1 --deadline 20 $programs || status=$?
case $status in
0 | 1) ;;
*) exit $status ;; # 77 with its reason as the last line, or 99
esac

# rma_init tests the connection between two nodes of one host, and between nodes of two hosts, which may reach each
# other in different ways. The worse of the two results applies to all nodes.
info=$top_builddir/tools/rma_info
cat >"$dir/probe" <<END
#!/bin/sh
out=\$("$info" --probe) || exit
[ "\$PMI_RANK" = 0 ] || exit 0
echo "\$out"
echo "\$out" | awk '
    / window: used\$/ { window = \$1 }
    /^    (put|get): / { all[window, substr(\$1, 1, 3)] = /waits for the target/; answers++ }
    /tried by PE/ { kind[\$0] = 1 }
    / window: (put|get) / { worst[\$1, \$3] += /waits for the target/ }
    END {
        good = kind["  nodes of one host, tried by PE 0 on PE 1:"]
        good = good && kind["  containers of one machine, tried by PE 0 on PE 2:"] && answers > 0
        for (a in all) good = good && all[a] == (worst[a] > 0)
        if (!good) print "check-hosts: the probe did not try both kinds of nodes, or not all count"
        exit !good
    }'
END
chmod 755 "$dir/probe"
if [ -x "$info" ]; then
    RMA_NODE_PES=1 RMA_WINDOW=always UCX_TLS=tcp,self,posix,sysv,cma \
        sh "$top_srcdir/test/hosts" --hosts 2 --times 1 --deadline 20 "$dir/probe" || {
        code=$?
        [ $code -eq 77 ] || status=$code
    }
else
    echo "check-hosts: what the probe tries: skipped: needs $info (make)"
fi

# The windows of MPI programs, by rma_mpi. Not with sanitizers, because the library is preloaded.
case ${SANITIZERS-} in *-fsanitize*) windows='' ;; *) windows='moves epochs updates windows' ;; esac
if ! deep; then windows=''; fi
for name in $windows; do
    need_rma_mpi
    ${MPICC:-mpicc.mpich} -std=gnu11 -O1 -I"$top_srcdir/test/mpi" -o "$dir/$name" "$top_srcdir/test/mpi/$name.c" ||
        { status=1; continue; }
    printf '#!/bin/sh\nexec %s %s\n' "$preload" "$dir/$name" >"$dir/mpi_$name"
    chmod 755 "$dir/mpi_$name"
    sh "$top_srcdir/test/hosts" --hosts 2 --times 1 --deadline 60 "$dir/mpi_$name" || {
        code=$?
        [ $code -eq 77 ] || status=$code
    }
done

# Shorter than the default, so that the script need not wait for minutes.
RMA_STALL=${RMA_STALL:-1} RMA_TIMEOUT=${RMA_TIMEOUT:-$(seconds 4)}
export RMA_STALL RMA_TIMEOUT
if [ -x "$cut_program" ]; then
    sh "$top_srcdir/test/hosts" --cut "$cut_program" || { code=$?; [ $code -eq 77 ] || status=$code; }
else
    echo "check-hosts: a link that is cut: skipped: needs $cut_program (make check)"
fi
exit $status
