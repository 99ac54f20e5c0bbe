#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-caf.sh: Fortran programs with coarrays, compiled by gfortran: each statement, on one node and on several; exit
# codes and messages of programs that end in an error; examples/coarray; the benchmarks.
#
# Broken by whatever the first comment of a program in test/caf says, and by a program that ends with another exit code
# or without its message.
set -eu

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

fortran=${FC:-gfortran}
if ! command -v "${fortran%% *}" >/dev/null 2>&1; then
    skip "needs a Fortran compiler, and there is no $fortran (Debian package gfortran)"
fi
if [ ! -f "$top_builddir/.libs/librma_caf.so" ]; then skip "needs a shared library"; fi
skip_with_sanitizers "the program's compiler does not know them"
unset_settings

cd "$dir" # the compiler writes module files where it stands
# compile SOURCE PROGRAM [LIBRARY...]
compile() {
    source=$1 program=$2
    shift 2
    # FC may be a command with arguments.
    # shellcheck disable=SC2086
    if ! $fortran -O1 -fcoarray=lib "$source" -o "$program" "$@" -L"$top_builddir/.libs" -lrma_caf -lrma \
        -Wl,-rpath,"$top_builddir/.libs" >"$dir/log" 2>&1; then
        if grep -q 'internal compiler error' "$dir/log"; then
            ok "skipped: $source: needs a compiler without this internal error"
        else
            fail "$source does not compile"
        fi
        return 1
    fi
    rm -f "$dir/log"
}

# images N LAYOUT COMMAND...: runs it; the layout is one or nolocal.
images() {
    n=$1 layout=$2
    shift 2
    [ "$layout" = one ] || export MPIR_CVAR_NOLOCAL=1
    export RMA_TEST_LAYOUT="$layout"
    # MPIEXEC may be a command with arguments.
    # shellcheck disable=SC2086
    run $mpiexec -n "$n" "$@"
    unset MPIR_CVAR_NOLOCAL RMA_TEST_LAYOUT
}

sizes=$(by_depth '2 4' '1 2 5' '1 2 3 4 5 8')
for name in basics collectives components conversions descriptors failed_team failures initial memory moved random \
    targets teams words; do
    compile "$top_srcdir/test/caf/$name.f90" "$name" || continue
    for n in $sizes; do
        for layout in one nolocal; do
            [ "$n$layout" != 1nolocal ] || continue
            images "$n" $layout "./$name"
            if [ "$status" -eq 0 ] && grep -qx "$name: passed" "$dir/out"; then
                ok "$name, $n images, $layout"
            else
                fail "$name, $n images, $layout: exit $status"
            fi
        done
    done
done

# Without the progress thread only calls serve other nodes: so must those that a program makes in a loop.
export RMA_PROGRESS=none
images 2 nolocal ./words
exits 0 'words, 2 images, nolocal, without the progress thread'
unset RMA_PROGRESS

# ends CODE TEXT CASE: two images execute that case of ends.f90.
layout=one
ends() {
    images 2 "$layout" ./ends "$3"
    if [ "$status" -eq "$1" ] && grep -qF -- "$2" "$dir/out" "$dir/err"; then
        ok "$3"
    else
        fail "$3: exit $status, not $1, or without '$2'"
    fi
}
if compile "$top_srcdir/test/caf/ends.f90" ends; then
    ends 3 'STOP 3' stop
    ends 0 'STOP all is well' stop_text
    ends 0 'signalling: IEEE_INVALID_FLAG IEEE_DIVIDE_BY_ZERO' stop_exceptions
    ends 5 'signalling: IEEE_OVERFLOW_FLAG' error_exceptions
    images 2 one ./ends quiet_stop
    exits 6 quiet_stop
    if [ -s "$dir/err" ]; then fail 'a quiet STOP prints something'; else ok 'a quiet STOP prints nothing'; fi
    ends 4 'ERROR STOP 4' error_stop
    ends 1 'ERROR STOP a reason' error_stop_text
    ends 1 'image index 3 is outside 1..2' image_index
    # The compiler's accessors (docs/caf.md) check nothing.
    if [ "$($fortran -dumpversion | sed 's/[.].*//')" -lt 15 ]; then
        ends 1 'bytes 32 to 63 are outside of the coarray, which has 40 bytes' section
        ends 1 'a component on image 2 is not allocated or not associated' component
        ends 1 'index 6 of an array on image 2 is outside 1:5' component_index
        ends 1 'index 6 of an array on image 2 is outside 1:5' component_section
        ends 1 'bytes -4 to -1 are outside of the coarray, which has 40 bytes' below
        ends 1 'bytes 40 to 43 are outside of the coarray, which has 40 bytes' above
        ends 1 'bytes -4 to 11 are outside of the coarray, which has 40 bytes' reversed
        ends 1 '9 elements are assigned to 4' conform
        ends 1 'are outside of the coarray, which has 40 bytes' far_section
        ends 1 'bytes 8 to 43 are outside of the coarray, which has 40 bytes' vector
        ends 1 'gfortran loses a vector subscript of a coarray in an expression' lost_vector
        ends 1 'are outside of the memory on image 2' static_component
        ends 1 'CO_BROADCAST: the variable, or a component of it, is not allocated on this image' no_component
    else
        ok "skipped: bounds and components of other images: needs gfortran before version 15"
    fi
    ends 1 'this image has locked the lock variable already' lock
    ends 1 'LOCK: the word at byte -8 is outside its coarray, which has 32 bytes' lock_index
    ends 1 'EVENT POST: the word at byte 32 is outside its coarray, which has 32 bytes' event_index
    ends 1 'the word at byte -4 is outside its coarray, which has 16 bytes' atomic_index
    ends 1 'the coarray is not allocated' unallocated
    ends 1 'CHANGE TEAM: FORM TEAM has not defined the team variable' no_team
    ends 1 'FORM TEAM: rma_team_split_color: none of the 64 numbers of teams is free' many_teams
    ends 1 'SYNC ALL: image 2 has stopped' sync_stopped
    ends 1 'SYNC IMAGES: image 2 is named twice' twice
    for layout in one nolocal; do
        ends 1 'executes CO_SUM with 12 bytes, and this image CO_SUM with 8 bytes' sum_sizes
        ends 1 'executes CO_SUM with 2008 bytes, and this image CO_SUM with 2004 bytes' long_sum_sizes
        ends 1 'executes CO_BROADCAST with 40 bytes and image 1, and this image CO_SUM' sum_broadcast
        ends 1 'executes CO_BROADCAST with 4 bytes and image 2' broadcast_sources
        ends 1 'memory of image 2, to which a component points: ' lost_memory
        ends 0 'exit(0), or a return of it from main, without END PROGRAM or STOP of a program with coarrays' exit
        ends 3 'exit(3), or a return of it from main, without END PROGRAM or STOP' exit_with_code
    done
    layout=one
fi

# A main program in C that calls a procedure with coarrays: in an object, and in a shared library, whose constructors
# run before those of the program.
cat >procedure.f90 <<'FORTRAN'
subroutine work() bind(c)
  implicit none
  integer, save :: x[*] = 3
  x = this_image()
  sync all
  if (x[num_images()] /= num_images()) error stop 'a wrong value'
  sync all
end subroutine
FORTRAN
echo 'void work(void); int main(int argc, char **argv) { (void)argv; work(); return argc - 1; }' >main.c
# shellcheck disable=SC2086
if $fortran -O1 -fPIC -fcoarray=lib -c procedure.f90 && ${CC:-cc} -c main.c &&
    $fortran main.o procedure.o -o c_main -L"$top_builddir/.libs" -lrma_caf -lrma -Wl,-rpath,"$top_builddir/.libs" &&
    $fortran -shared procedure.o -o libprocedure.so -L"$top_builddir/.libs" -lrma_caf -lrma \
        -Wl,-rpath,"$top_builddir/.libs" &&
    ${CC:-cc} main.o -o c_main_shared -L. -lprocedure -Wl,-rpath,"$PWD" -Wl,-rpath-link,"$top_builddir/.libs"; then
    for program in c_main c_main_shared; do
        for layout in one nolocal; do
            images 3 $layout ./$program
            exits 0 "$program, $layout"
            images 3 $layout ./$program 5
            if [ "$status" -eq 1 ]; then ok "$program, $layout, code 1"; else fail "$program, $layout: exit $status"; fi
        done
    done
else
    fail 'a main program in C does not compile'
fi

# OpenCoarrays' module: MPI's communicator of the current team.
cat >communicator.f90 <<'FORTRAN'
program communicator
  use opencoarrays, only: get_communicator, team_number
  use iso_fortran_env, only: team_type
  implicit none
  external :: MPI_Comm_rank, MPI_Comm_size
  type(team_type) :: team
  integer :: rank, size, code, i
  call check()
  form team (1 + mod(this_image(), 2), team)
  do i = 1, 2
    change team (team)
      call check()
      if (team_number() < 1) error stop 'the number of a team'
    end team
  end do
  call check()
  if (this_image() == 1) print '(a)', 'communicator: passed'
contains
  subroutine check()
    call MPI_Comm_rank(get_communicator(), rank, code)
    call MPI_Comm_size(get_communicator(), size, code)
    if (rank /= this_image() - 1 .or. size /= num_images()) error stop 'a rank'
  end subroutine
end program
FORTRAN
# shellcheck disable=SC2086
if ! command -v "${MPIFC:-mpifort.$mpi}" >/dev/null 2>&1; then
    ok "skipped: the module opencoarrays needs ${MPIFC:-mpifort.$mpi}"
elif $fortran -c "$top_srcdir/contrib/opencoarrays/opencoarrays.f90" -o module.o &&
    "${MPIFC:-mpifort.$mpi}" -fcoarray=lib communicator.f90 module.o -o communicator -L"$top_builddir/.libs" -lrma_caf \
        -lrma -Wl,-rpath,"$top_builddir/.libs"; then
    for layout in one nolocal; do
        images 4 $layout ./communicator
        exits 0 "the module opencoarrays, $layout"
    done
else
    fail 'the module opencoarrays does not compile'
fi

# What a program of gfortran 15 calls.
if ${CC:-cc} -O1 "$top_srcdir/test/caf/accessors.c" -o accessors -L"$top_builddir/.libs" -lrma_caf -lrma \
    -Wl,-rpath,"$top_builddir/.libs" >"$dir/log" 2>&1; then
    for n in $sizes; do
        for layout in one nolocal; do
            [ "$n$layout" != 1nolocal ] || continue
            images "$n" $layout ./accessors
            if [ "$status" -eq 0 ] && grep -qx "accessors: passed" "$dir/out"; then
                ok "accessors, $n images, $layout"
            else
                fail "accessors, $n images, $layout: exit $status"
            fi
        done
    done
    images 3 one ./accessors failed
    exits 0 'accessors, a failed image'
    for case in image index base; do
        images 2 one ./accessors $case
        if [ "$status" -eq 1 ] &&
            grep -q "index 3 is outside 1..2\|not registered the accessor\|byte -4 is outside" "$dir/err"; then
            ok "accessors, bad $case"
        else
            fail "accessors, bad $case: exit $status"
        fi
    done
else
    fail 'accessors.c does not compile'
fi

# The benchmarks: each statement once, and borders of a grid, which the program compares.
export MPIFC="${MPIFC:-mpifort.$mpi}" MPIEXEC="$mpiexec"
if ! command -v "$MPIFC" >/dev/null 2>&1; then
    ok "skipped: coarray_compare needs $MPIFC"
else
    run sh "$top_srcdir/bench/coarray_compare" --rounds=1 --scale=10000 --peer=-lno_such_library
    exits 0 coarray_compare
    if [ "$(grep -c '^[^,]*,[0-9]*,' "$dir/out")" -eq 27 ]; then ok '27 rows'; else fail 'coarray_compare: rows'; fi
fi

for example in halo queue list teams; do
    compile "$top_srcdir/examples/coarray/$example.f90" "example_$example" || continue
    images 4 one "./example_$example"
    exits 0 "examples/coarray/$example"
done
verdict
