! SPDX-License-Identifier: BSD-3-Clause
! memory: components are allocated, moved and deallocated thousands of times, and the process does not grow.
!
! Broken by memory of components that nobody frees.
module process
  implicit none
contains
  ! KiB of memory that the process has.
  integer(8) function resident()
    integer :: unit
    integer(8) :: pages
    open (newunit=unit, file='/proc/self/statm', action='read')
    read (unit, *) pages, resident
    close (unit)
    resident = 4*resident
  end function
end module

program memory
  use process
  implicit none
  type item
    integer, allocatable :: one
    integer, allocatable :: a(:), m(:, :)
    real :: z
  end type
  type large
    real :: before(20000)
    integer, allocatable :: one, other
    real :: after(1000)
  end type
  integer, parameter :: rounds = 3000, many = 100000
  type(item), save :: x[*], w(2)[*]
  type(item), allocatable :: y(:)[:]
  type(large), save :: l[*]
  integer, allocatable :: t(:), u(:, :)
  integer(8) :: before
  integer :: i

  allocate (y(2)[*])

  before = resident()
  do i = 1, rounds
    allocate (t(2000), source=i)
    call move_alloc(t, x%a)
    if (x%a(2000) /= i) error stop 'a moved array has changed'
    deallocate (x%a)
    allocate (t(2000), source=i)
    call move_alloc(t, y(2)%a)
    deallocate (y(2)%a)
    allocate (u(20, 100), source=i)
    call move_alloc(u, w(2)%m)
    deallocate (w(2)%m)
  end do
  call grown('arrays that move_alloc has put into components')

  do i = 1, rounds
    allocate (x%a(2000), w(1)%m(20, 100), y(1)%a(2000))
    x%a = i
    w(1)%m = i
    deallocate (x%a, w(1)%m, y(1)%a)
    x%a = [i, i]
    deallocate (x%a)
  end do
  call grown('arrays')

  do i = 1, many
    allocate (l%one, l%other, x%one)
    l%one = i
    l%other = i
    x%one = i
    deallocate (l%other, x%one, l%one)
  end do
  call grown('scalars')

  sync all
  if (this_image() == 1) print '(a)', 'memory: passed'
contains
  ! Each of the loops would leave 24 MB or more.
  subroutine grown(what)
    character(len=*), intent(in) :: what
    integer(8) :: now
    now = resident()
    if (now - before > 6000) then
      print '(3a, i0, a)', 'memory: ', what, ': the process has grown by ', now - before, ' KiB'
      error stop
    end if
    before = now
  end subroutine
end program
