! SPDX-License-Identifier: BSD-3-Clause
! coarrays: static and allocatable coarrays, components, collectives, locks, events and teams. check-faults.sh makes one
! call of one image fail after the program has begun: either all images pass, or the job ends with the reason.
! Broken by a step that one image abandons while the others wait in it, and by a failure that changes a result.
program coarrays
  use iso_fortran_env
  implicit none
  interface
    subroutine fault_begin_count() bind(c)
    end subroutine
  end interface
  type :: list
    integer, allocatable :: of(:)
  end type
  integer, save :: word[*]
  type(lock_type), save :: lock[*]
  type(event_type), save :: event[*]
  type(list), save :: lists[*]
  type(team_type) :: team
  integer, allocatable :: a(:, :)[:]
  integer :: me, n, right, left, sum, got(4, 4), row(2)

  me = this_image()
  n = num_images()
  right = merge(1, me + 1, me == n)
  left = merge(n, me - 1, me == 1)
  sync all
  call fault_begin_count()
  allocate (a(8, 8)[*])
  a = me
  allocate (lists%of(5), source=me)
  sync all
  a(2:8:2, 1:4)[right] = 10*me
  sync all
  got = a(2:8:2, 1:4)[right]
  call expect(all(got == 10*me) .and. all(a(2:8:2, 1:4) == 10*left) .and. all(a(1:7:2, :) == me))
  row = lists[right]%of(1:5:4)
  call expect(all(row == right))
  word = 0
  sync all
  lock (lock[1])
  word[1] = word[1] + 1
  unlock (lock[1])
  sync all
  critical
    word[1] = word[1] + 1
  end critical
  event post (event[right])
  event wait (event)
  sync all
  call expect(word[1] == 2*n)
  sum = me
  call co_sum(sum)
  call expect(sum == n*(n + 1)/2)
  call co_broadcast(got, 1)
  call expect(all(got == 10))
  form team (1, team)
  change team (team)
    sync all
  end team
  deallocate (a)
  sync all
  print '(a,i0,a)', 'PE ', me - 1, ' passed'
contains
  subroutine expect(ok)
    logical, intent(in) :: ok
    if (.not. ok) error stop 'not so'
  end subroutine
end program
