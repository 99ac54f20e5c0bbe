! SPDX-License-Identifier: BSD-3-Clause
! moved: MOVE_ALLOC of coarrays and of components, and the end of a team in which a coarray was allocated. The memory of a
! component goes to other variables, which are deallocated and reallocated.
!
! Broken by the address of the first variable of a coarray, which is used after the coarray has moved, and by memory that
! is freed where it is no longer.
module places
  implicit none
  integer, allocatable :: keep(:)[:], other(:)[:], single[:]
  type holder
    integer :: id = 7
    integer, allocatable :: inside(:, :)[:]
  end type
  type item
    integer :: id = 0
    integer, allocatable :: a(:), one
    character(len=:), allocatable :: text
    real(8), allocatable :: m(:, :)
  end type
contains
  recursive subroutine make(depth)
    integer, intent(in) :: depth
    integer, allocatable :: tmp(:)[:]
    integer :: pad(50)
    pad = depth
    if (depth > 0) then
      call make(depth - 1)
      if (any(pad /= depth)) error stop 'a local variable has changed'
      return
    end if
    allocate (tmp(-3:6)[*])
    tmp = 7
    call move_alloc(tmp, keep)
  end subroutine
  ! Uses the stack where the frame of make was.
  recursive subroutine dig(depth)
    integer, intent(in) :: depth
    integer(8) :: hole(200)
    hole = 1
    if (depth > 0) call dig(depth - 1)
    if (any(hole /= 1)) error stop 'a local variable has changed'
  end subroutine
end module

program moved
  use places
  use iso_fortran_env, only: team_type
  implicit none
  type(item), allocatable :: a(:)[:], b(:)[:]
  type(item), save :: x[*]
  type(item) :: local
  type(holder) :: h
  type(team_type) :: team
  integer, allocatable :: tmp(:), v, w
  character(len=:), allocatable :: text
  real(8), allocatable :: m(:, :)
  integer :: me, n, right, i, round

  me = this_image()
  n = num_images()
  right = merge(1, me + 1, me == n)

  ! The bounds are those of the coarray that has moved.
  allocate (a(5:9)[*])
  do i = 5, 9
    allocate (a(i)%a(2:4))
    a(i)%a = 100 * me + i
  end do
  sync all
  call move_alloc(a, b)
  allocate (a(2:100)[*])
  sync all
  i = b(8)[right]%a(3)
  call expect(i, 100 * right + 8, 'an element of a coarray that has moved')
  deallocate (a)
  call move_alloc(b, a)
  i = a(5)[right]%a(4)
  call expect(i, 100 * right + 5, 'an element of a coarray that has moved back')
  sync all
  do i = 5, 9
    deallocate (a(i)%a)
  end do
  deallocate (a)

  ! END TEAM deallocates what was allocated in the team, wherever it is now, and nothing else.
  form team (1, team)
  do round = 1, 3
    allocate (other(4)[*])
    other = round
    change team (team)
      call make(4)
      allocate (single[*])
      allocate (h%inside(2, 3)[*])
      single = me
      keep(-2)[right] = me
      sync all
      call expect(sum(keep(-1:)), 56, 'a coarray of a team')
      call dig(6)
    end team
    if (allocated(keep)) error stop 'a coarray that has moved is still allocated'
    if (allocated(single)) error stop 'a scalar coarray is still allocated'
    if (allocated(h%inside)) error stop 'a coarray in a variable is still allocated'
    call expect(h%id, 7, 'the variable of that coarray')
    if (.not. allocated(other)) error stop 'a coarray of the initial team is no longer allocated'
    call expect(other(3)[right], round, 'a coarray of the initial team')
    deallocate (other)
  end do

  ! Memory of components goes to other variables, and comes back.
  do round = 1, 20
    allocate (x%a(9), x%one, x%m(3, 2))
    x%a = [(i * round, i = 1, 9)]
    x%one = round
    x%m = round
    x%text = 'a text'
    x%text = x%text // ' that grows'
    call move_alloc(x%a, tmp)
    tmp = [tmp, tmp]
    call expect(sum(tmp), 90 * round, 'memory of a component in a variable')
    if (allocated(x%a)) error stop 'a component that has moved'
    call move_alloc(tmp, x%a)
    call move_alloc(x%one, v)
    deallocate (v)
    allocate (w, source=2)
    allocate (x%one, source=1)
    call move_alloc(x%one, v)
    call move_alloc(w, x%one)
    deallocate (x%one)
    allocate (x%one, source=3)
    call expect(v, 1, 'memory of a scalar component in a variable')
    deallocate (v, x%one)
    call move_alloc(x%text, text)
    if (text /= 'a text that grows') error stop 'text of a component in a variable'
    deallocate (text)
    call move_alloc(x%m, m)
    call expect(nint(sum(m)), 6 * round, 'a matrix of a component in a variable')
    call move_alloc(m, local%m)
    local%a = x%a
    deallocate (local%m)
    sync all
    i = x[right]%a(18)
    call expect(i, 9 * round, 'a component with memory of a variable')
    sync all
    deallocate (x%a)
    x%a = [1, 2, 3]
    x%a = [x%a, x%a, x%a]
    allocate (x%one, source=5)
    sync all
    call expect(x[right]%one, 5, 'a scalar component that was allocated again')
    i = x[right]%a(9)
    call expect(i, 3, 'a component that was assigned to')
    sync all
    deallocate (x%a, x%one)
  end do
  ! One image alone gives memory to components.
  if (me == 1) then
    x%a = [4, 5, 6]
    x%text = 'one image'
  end if
  sync all
  i = x[1]%a(2)
  call expect(i, 5, 'a component of one image')
  if (me == 1) print '(a)', 'moved: passed'
contains
  include 'expect.inc'
end program
