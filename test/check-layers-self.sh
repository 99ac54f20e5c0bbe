#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-layers-self.sh: tools/check-layers reports each kind of breach, and nothing else.
#
# A check that never fails is worthless, but looks like one that always holds. So the script creates a small tree that
# keeps all rules but contains text that resembles breaches, and then breaks one rule at a time.
set -eu

case "${1-}" in
-h | --help)
    echo "usage: check-layers-self.sh"
    echo "Tries tools/check-layers on temporary trees. CHECK_LAYERS names another script to try."
    exit 0
    ;;
esac

script=${CHECK_LAYERS:-$(cd "$(dirname "$0")/.." && pwd)/tools/check-layers}
tree=$(mktemp -d "${TMPDIR:-/tmp}/check-layers-self.XXXXXX")
trap 'rm -rf "$tree"' EXIT

spdx='/* SPDX-License-Identifier: BSD-3-Clause */'
failures=0

# put FILE: writes a source file: the licence line, then the lines of stdin.
put() {
    mkdir -p "$tree/$(dirname "$1")"
    { echo "$spdx"; cat; } >"$tree/$1"
}

# good_tree: makes the tree anew, with every rule kept.
good_tree() {
    rm -rf "$tree"
    mkdir -p "$tree"
    put include/rma.h <<'END'
#include <stddef.h>
#include <rma_inline.h>
END
    put include/rma_inline.h </dev/null
    put include/shmem.h <<'END'
#include "rma.h"
END
    put base/error.h <<'END'
#include <stdio.h>
#include <rma.h>
END
    put base/error.c <<'END'
#include "config.h"
#include "base/error.h"
/* #include "runtime/transport/transport.h" and MPI_Put(a, b) in a comment
   MPI_Win_flush(x) on its second line */ int a; // MPI_Get(
const char *text = "MPI_Win_lock_all \" failed /* not a comment"; int b = '"';
int my_MPI_Put, MPI_Win_create_errhandler;
END
    put heap/reserve.c <<'END'
#include "heap/reserve.h"
#include "base/error.h"
int f(void) { return MPI_Win_allocate_shared(0); }
END
    put runtime/transport/transport_mpi.c <<'END'
#include "heap/reserve.h"
int f(void) { return MPI_Put(0) + MPI_Win_flush_local_all(0) + MPI_Rput_c(0); }
END
    put collectives/reduce.c <<'END'
#include "runtime/transport/transport.h"
#include "base/error.h"
END
    put interfaces/shmem/rma.c <<'END'
#include <shmem.h>
#include "collectives/reduce.h"
#include "base/error.h"
END
    put interfaces/mpi/window.c <<'END'
#include "runtime/transport/transport.h"
int MPI_Put(void) { return PMPI_Put(0); }
END
    put instruments/race/shadow.h </dev/null
    put instruments/race/shadow.c <<'END'
#include "config.h"
#include "instruments/race/shadow.h"
#include "rma.h"
#include "pshmem.h"
#include <sys/mman.h>
END
    put bench/bench.h </dev/null
    put bench/put.c <<'END'
#include <rma.h>
#include <rma_mpi.h>
#include <sys/mman.h>
#include "bench.h"
#include "bench/bench.h"
int f(void) { return MPI_Put(0); }
END
    put examples/list.c <<'END'
#include <rma.h>
#include <stdio.h>
END
    put test/job/job.h </dev/null
    put test/job/put.c <<'END'
#include "job.h"
#include "test/job/job.h"
#include <mpi.h>
END
    put test/unit/check_error.c <<'END'
#include "base/error.h"
#include "heap/reserve.h"
END
    mkdir -p "$tree/tools"
    printf '#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\n' >"$tree/tools/deps"
}

# accepts WHAT: the current tree passes.
accepts() {
    if out=$("$script" "$tree" 2>&1); then
        echo "ok   accepts $1"
    else
        echo "FAIL does not accept $1:"
        echo "$out"
        failures=$((failures + 1))
    fi
}

# rejects WHAT FILE:LINE WORDS: the current tree fails, with exactly one breach, at FILE:LINE and with these WORDS.
rejects() {
    status=0
    out=$("$script" "$tree" 2>&1) || status=$?
    if [ $status -ne 1 ] || [ "$(echo "$out" | wc -l)" -ne 1 ]; then
        echo "FAIL $1: exit $status, not one breach: $out"
        failures=$((failures + 1))
    else
        case "$out" in
        "$2: "*"$3"*) echo "ok   rejects $1" ;;
        *)
            echo "FAIL $1: wanted '$2: ...$3...', got '$out'"
            failures=$((failures + 1))
            ;;
        esac
    fi
}

# one_line WHAT FILE LINE WORDS: the good tree with FILE replaced by this one line is rejected.
one_line() {
    good_tree
    echo "$3" | put "$2"
    rejects "$1" "$2:2" "$4"
}

good_tree
accepts "a tree that keeps the rules"

one_line "race including runtime" instruments/race/x.c '#include "runtime/world.h"' 'it may see include/'
one_line "race including a header without its folder" instruments/race/x.c '#include "shadow.h"' 'write the folder'
one_line "trace including runtime" instruments/trace/x.c '#include "runtime/world.h"' 'it may see include/'
one_line "race including trace" instruments/race/x.c '#include "instruments/trace/format.h"' 'a tool beside it'
one_line "calls including race" instruments/call_lists/x.c '#include "instruments/race/shadow.h"' 'a tool beside it'
one_line "runtime including calls" runtime/x.c '#include "instruments/call_lists/wrappers.h"' 'only tools'
one_line "caf including calls" interfaces/caf/x.c '#include "instruments/call_lists/wrappers.h"' 'only tools'
one_line "runtime including race" runtime/x.c '#include "instruments/race/shadow.h"' 'a tool beside it'
one_line "base including heap" base/x.c '#include "heap/tlsf.h"' 'a layer above'
one_line "heap including runtime" heap/x.c '#include "runtime/transport/transport.h"' 'a layer above'
one_line "runtime including collectives" runtime/x.h '#  include "collectives/reduce.h"' 'a layer above'
one_line "collectives including shmem" collectives/x.c '#include "interfaces/shmem/rma.h"' 'a layer above'
one_line "mpi including shmem" interfaces/mpi/x.c '#include "interfaces/shmem/rma.h"' 'do not know each other'
one_line "mpi calling what may raise an error" interfaces/mpi/x.c 'int f(void) { return rma_quiet(); }' \
    'is not in interfaces/mpi/recorded.h'
one_line "shmem including mpi" interfaces/shmem/x.c '#include "interfaces/mpi/window.h"' 'a layer above'
one_line "runtime/net including runtime" runtime/net/x.c '#include "runtime/world.h"' 'a layer above'
one_line "runtime/net including runtime/watch" runtime/net/x.c '#include "runtime/watch/stall.h"' 'a layer above'
one_line "runtime/watch including runtime" runtime/watch/x.c '#include "runtime/team.h"' 'a layer above'
one_line "runtime/node including runtime/transport" runtime/node/x.c '#include "runtime/transport/transport.h"' \
    'a layer above'
one_line "runtime/transport including runtime/net" runtime/transport/x.c '#include "runtime/net/wire.h"' 'a layer above'
one_line "runtime/transport including runtime/node" runtime/transport/x.c '#include "runtime/node/barrier.h"' \
    'do not know each other'
one_line "runtime/net including runtime/node" runtime/net/x.c '#include "runtime/node/barrier.h"' \
    'do not know each other'
one_line "runtime/job including runtime/node" runtime/job/x.h '#include "runtime/node/barrier.h"' 'a layer above'
one_line "runtime/ including the API" runtime/x.c '#include "runtime/api/gptr.h"' 'a layer above'
one_line "the API including the life cycle" runtime/api/x.c '#include "runtime/life/exit.h"' 'a layer above'
one_line "collectives including runtime/life" collectives/x.c '#include "runtime/life/exit.h"' 'do not know each other'
one_line "the world including a module of runtime" runtime/world.h '#include "runtime/team.h"' 'has pointers'
one_line "the world including runtime/net" runtime/world.h '#include "runtime/net/state.h"' 'has pointers'
several='one process may run several jobs'
one_line "MPI in runtime/net" runtime/net/x.c 'int f(void) { return MPI_Test(0); }' "$several"
one_line "MPI in the interface of transports" runtime/transport/transport.h 'int f(void) { return MPI_Test(0); }' \
    "$several"
one_line "MPI in runtime/watch" runtime/watch/x.c 'int f(void) { return MPI_Test(0); }' "$several"
one_line "MPI in a meeting" runtime/meet.c 'int f(void) { return MPI_Barrier(0); }' "$several"
one_line "the global in a lock between nodes" runtime/api/queue_lock.c 'void *f(void) { return &rmai_world; }' \
    "$several"
one_line "the inlined path's global in a collective between nodes" collectives/between.c \
    'int f(void) { return rma_reach_.n_pes; }' "$several"
one_line "an upward include in angle brackets" base/x.c '#include <runtime/transport/transport.h>' 'a layer above'
one_line "an include after a comment" base/x.c '/* why */ #include "runtime/transport/transport.h"' 'a layer above'
one_line "caf including another layer" interfaces/caf/x.c '#include "runtime/x.h"' \
    'runtime/interfaces.h and its own folder only'
one_line "the face of OpenSHMEM below interfaces/" runtime/x.c '#include <shmem.h>' 'the face of interfaces/shmem/'
one_line "a project header without its folder" base/x.c '#include "error.h"' 'write the folder'
one_line "a path with dots" runtime/x.c '#include "../base/error.h"' 'without dots'
one_line "a public header including a layer" include/x.h '#include "base/error.h"' 'a public header'
one_line "a benchmark including a layer" bench/x.c '#include "runtime/transport/transport.h"' 'include/ only'
one_line "an example including a layer" examples/x.c '#include <base/error.h>' 'include/ only'
one_line "a job test including a layer" test/job/x.c '#include "base/error.h"' 'include/ only'
one_line "the program of check-perf including a layer" test/perf/x.c '#include "heap/tlsf.h"' 'include/ only'
one_line "a benchmark including the examples' header" bench/x.c '#include "examples/x.h"' 'its own folder'
one_line "an example including an absent header" examples/x.c '#include "x.h"' 'its own folder'
one_line "a job test including rma_inline.h" test/job/x.c '#include <rma_inline.h>' 'by rma.h only'
one_line "a job test including rma_typed.h" test/job/x.c '#include <rma_typed.h>' 'by rma.h only'

for call in MPI_Put MPI_Get MPI_Accumulate MPI_Get_accumulate MPI_Fetch_and_op MPI_Compare_and_swap \
    MPI_Rput MPI_Rget MPI_Raccumulate MPI_Rget_accumulate MPI_Put_c PMPI_Get MPI_Win_create \
    MPI_Win_create_dynamic MPI_Win_allocate MPI_Win_attach MPI_Win_detach MPI_Win_lock MPI_Win_lock_all \
    MPI_Win_unlock MPI_Win_unlock_all MPI_Win_flush MPI_Win_flush_all MPI_Win_flush_local \
    MPI_Win_flush_local_all MPI_Win_fence MPI_Win_post MPI_Win_start MPI_Win_complete MPI_Win_wait \
    MPI_Win_test MPI_Win_sync; do
    one_line "$call outside runtime/transport/transport_mpi.c" runtime/x.c "int x = /**/ $call (0);" \
        "$call stands only in runtime/transport/transport_mpi.c"
done
one_line "MPI_Win_allocate_shared outside heap/reserve.c" runtime/transport/transport_mpi.c \
    'MPI_Win_allocate_shared(0);' 'only in heap/reserve.c'
one_line "a call after the end of a comment" heap/x.c '/* a */ "/*"; MPI_Put(0); /* b' 'MPI_Put stands only'

good_tree
put heap/x.c <<'END'
int rmai_x(int n) {
    return n ? rmai_y(n - 1) : 0;
}
END
put heap/x.h </dev/null
put heap/y.c <<'END'
static int rmai_twice(int n) { return 2 * n; }
struct rmai_x *
rmai_y(int n) { return rmai_twice(n); }
END
accepts "a module that calls another one, whose own it names as a struct"
echo 'int rmai_x_more(int n) { return rmai_x(n); } /* rmai_y */' | put heap/x.h
accepts "a module's header and source that call each other"

# circle WHAT FILE...: the modules of these files call each other.
circle() {
    what=$1
    shift
    status=0
    out=$("$script" "$tree" 2>&1) || status=$?
    named=0
    for file; do case "$out" in *"$file:"*'in a circle'*) named=$((named + 1)) ;; esac; done
    if [ $status -eq 1 ] && [ $named -eq $# ] && [ "$(echo "$out" | wc -l)" -eq $# ]; then
        echo "ok   rejects $what"
    else
        echo "FAIL $what: exit $status: $out"
        failures=$((failures + 1))
    fi
}
put heap/y.c <<'END'
int rmai_y(int n) {
    int (*f)(int) = rmai_x;
    return f(n);
}
END
circle "two modules that call each other, one by a pointer" heap/x.c heap/y.c
echo 'static inline int rmai_z(int n) { return rmai_x(n); }' | put heap/z.h
put heap/y.c <<'END'
int rmai_y(int n) { return rmai_z(n); }
END
circle "a circle of three, through a header" heap/x.c heap/y.c heap/z.h

good_tree
echo 'int x;' >"$tree/base/x.c"
rejects "a source file without its licence" base/x.c:1 SPDX
good_tree
printf '#!/bin/sh\necho hello\n' >"$tree/tools/x"
rejects "a script without its licence" tools/x:1 SPDX

good_tree
put heap/y.c </dev/null
(cd "$tree" && find . -name '*.[ch]' | sed 's|^\./||; s|^heap/y\.c$|heap/y|; s,^\(calls\|race\|trace\)/.*,\1,') |
    { printf '# SPDX-License-Identifier: BSD-3-Clause\nfiles = '; tr '\n' ' '; } >"$tree/Makefile.am"
accepts "a Makefile.am that names each source, its program, or its folder"
put heap/y.h </dev/null
rejects "a source file that is not in Makefile.am" heap/y.h:1 release

# An empty folder is not a tree that keeps the rules.
rm -rf "$tree"
mkdir -p "$tree/base"
status=0
"$script" "$tree" >/dev/null 2>&1 || status=$?
if [ $status -eq 2 ]; then
    echo "ok   refuses a tree without sources"
else
    echo "FAIL a tree without sources: exit $status, not 2"
    failures=$((failures + 1))
fi

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
