! SPDX-License-Identifier: BSD-3-Clause
! ends: programs that end in a special way: the argument says how. test/check-caf.sh compares exit codes and messages.
module types
  type box
    integer, allocatable :: a(:), b(:)
    integer, pointer :: p(:)
  end type
end module
program ends
  use ieee_exceptions
  use iso_fortran_env
  use types
  implicit none
  integer, save :: x[*], v(10)[*]
  integer, allocatable :: none(:)[:]
  type(box), save :: z[*], many(3)[*]
  type(lock_type), save :: lock[*], locks(4)[*]
  type(event_type), save :: events(4)[*]
  integer(atomic_int_kind), save :: atoms(4)[*]
  character(len=20) :: which
  type(team_type) :: team
  integer :: me, i, first, w(600)

  me = this_image()
  w = me
  first = 9
  call get_command_argument(1, which)
  allocate (z%b(5))
  z%b = 0
  x = me
  v = 0
  sync all
  select case (which)
  case ('stop')
    stop 3
  case ('stop_text')
    stop 'all is well'
  case ('stop_exceptions')
    call ieee_set_flag([ieee_invalid, ieee_divide_by_zero], .true.)
    stop
  case ('error_exceptions')
    call ieee_set_flag(ieee_overflow, .true.)
    error stop 5
  case ('quiet_stop')
    call ieee_set_flag(ieee_overflow, .true.)
    stop 6, quiet=.true.
  case ('error_stop')
    if (me == 1) error stop 4
    sync all
  case ('error_stop_text')
    if (me == 2) error stop 'a reason'
    sync all
  case ('image_index')
    i = 3
    if (me == 1) x[i] = 5
    sync all
  case ('section')
    if (me == 1) v(first:first + 7)[2] = 5
    sync all
  case ('below')
    if (me == 1) v(first - 9)[2] = 5
    sync all
  case ('above')
    if (me == 1) i = v(first + 2)[2]
    sync all
  case ('reversed')
    if (me == 1) v(3:first - 9:-1)[2] = w(1:4)
    sync all
  case ('conform')
    if (me == 1) v(1:first - 5)[2] = w(1:first)
    sync all
  case ('far_section')
    if (me == 1) v(1:2_8**62:2_8**31)[2] = 5
    sync all
  case ('vector')
    if (me == 1) v([3, first + 2])[2] = 5
    sync all
  case ('lost_vector')
    if (me == 1) i = sum(v([3, first])[2])
    sync all
  case ('static_component')
    if (me == 1) i = many(first)[2]%a(1)
    sync all
  case ('lost_memory')
    if (me == 2) call point(z%p)
    sync all
    if (me == 1) i = z[2]%p(first)
    sync all
  case ('exit')
    sync all
    call exit(0)
  case ('exit_with_code')
    if (me == 1) call exit(3)
    sync all
  case ('twice')
    if (me == 1) sync images ([2, 2])
    sync all
  case ('sum_sizes', 'long_sum_sizes')
    if (which == 'sum_sizes') then
      call co_sum(v(1:1 + me))
    else
      call co_sum(w(1:500 + me))
    end if
  case ('sum_broadcast')
    if (me == 1) call co_sum(v)
    if (me == 2) call co_broadcast(v, 1)
  case ('broadcast_sources')
    call co_broadcast(x, me)
  case ('no_component')
    call broadcast()
  case ('component')
    if (me == 1) i = z[2]%a(1)
    sync all
  case ('component_index')
    i = 6
    if (me == 1) i = z[2]%b(i)
    sync all
  case ('component_section')
    if (me == 1) v(1:3) = z[2]%b(2:first - 3:2)
    sync all
  case ('lock')
    lock (lock[1])
    lock (lock[1])
    unlock (lock[1])
  case ('lock_index')
    if (me == 1) lock (locks(me - 1)[2])
    sync all
  case ('event_index')
    if (me == 1) event post (events(me + 4)[2])
    sync all
  case ('atomic_index')
    if (me == 1) call atomic_add(atoms(me - 1)[2], 1)
    sync all
  case ('unallocated')
    if (me == 1) i = none(3)[2]
    sync all
  case ('no_team')
    change team (team)
    end team
  case ('many_teams')
    do i = 1, 100
      form team (i, team)
    end do
  case ('sync_stopped')
    if (me == 2) stop
    sync all
  end select
contains
  ! An address of which nothing is mapped.
  subroutine point(p)
    use iso_c_binding
    integer, pointer, intent(out) :: p(:)
    call c_f_pointer(transfer(4096_c_intptr_t, c_null_ptr), p, [20])
  end subroutine
  subroutine broadcast()
    type(box) :: local
    allocate (local%a(3), local%b(2), local%p(1))
    if (me == 2) deallocate (local%b)
    call co_broadcast(local, 1)
  end subroutine
end program
