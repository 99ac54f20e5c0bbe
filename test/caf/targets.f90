! SPDX-License-Identifier: BSD-3-Clause
! targets: components of coarrays whose memory the library did not allocate: targets of pointers that are no coarrays, and
! allocatable components that got their memory by MOVE_ALLOC, assignment, function results and dummy arguments. All of it
! is read and written by another image.
!
! Broken by an address of another image that is looked for in the library's memory only, and by an access there that
! another one of the same image overtakes.
module ways
  implicit none
  type part
    integer :: id = 0
    integer, allocatable :: a(:)
  end type
  type box
    integer, pointer :: p(:) => null(), m(:, :) => null(), one => null()
    type(part), pointer :: q(:) => null()
    integer, allocatable :: a(:)
    type(part), allocatable :: parts(:)
    character(len=5), pointer :: text => null()
  contains
    procedure :: fill
  end type
contains
  subroutine fill(self, k)
    class(box), intent(inout) :: self
    integer, intent(in) :: k
    allocate (self%a(9))
    self%a = numbers(k)
  end subroutine
  subroutine fresh(x, k)
    type(part), intent(out) :: x
    integer, intent(in) :: k
    allocate (x%a(9))
    x%a = numbers(k)
  end subroutine
  function made(k) result(x)
    integer, intent(in) :: k
    type(part) :: x
    allocate (x%a(9))
    x%a = numbers(k)
  end function
  function numbers(k)
    integer, intent(in) :: k
    integer :: numbers(9), i
    numbers = [(1000 * k + i, i = 1, 9)]
  end function
end module

program targets
  use ways
  implicit none
  type(box), save :: x[*]
  type(part), save :: y(6)[*]
  integer, target, allocatable :: heap(:), grid(:, :)
  integer, target, save :: static(20), alone
  integer, target, save :: shared(12)[*]
  type(part), target, save :: many(5)
  character(len=5), target :: word
  integer, allocatable :: tmp(:)
  integer :: me, n, right, left, i, k, got(9), v(3), column(4), scalar
  character(len=5) :: text

  me = this_image()
  n = num_images()
  right = merge(1, me + 1, me == n)
  left = merge(n, me - 1, me == 1)

  ! pointers to the heap, to global variables, to every third element, to a part of a matrix, to a variable
  allocate (heap(100000), grid(6, 7))
  heap = me
  grid = reshape([(100 * me + i, i = 1, 42)], [6, 7])
  static = [(10000 * me + i, i = 1, 20)]
  alone = 7 * me
  word = 'abcd' // achar(iachar('0') + me)
  do i = 1, 5
    many(i)%id = 10 * me + i
    allocate (many(i)%a(3))
    many(i)%a = [10 * i + me, 20 * i + me, 30 * i + me]
  end do
  x%p => heap
  x%m => grid(2:5, 6:2:-2)
  x%one => alone
  x%q => many
  x%text => word
  sync all
  call expect(x[right]%p(99999), right, 'the heap')
  got = x[right]%p(5000:13000:1000)
  call expect(sum(got), 9 * right, 'a section of the heap')
  column = x[right]%m(:, 2)
  call expect(column(3), 100 * right + 22, 'a column of a part of a matrix')
  call expect(x[right]%m(4, 3), 100 * right + 11, 'an element of a part of a matrix')
  call expect(x[right]%one, 7 * right, 'a variable')
  scalar = x[right]%q(4)%id
  call expect(scalar, 10 * right + 4, 'a component of an element')
  scalar = x[right]%q(5)%a(2)
  call expect(scalar, 100 + right, 'an allocatable component of an element')
  text = x[right]%text
  if (text /= 'abcd' // achar(iachar('0') + right)) error stop 'text'
  sync all
  x[right]%p(7) = 10 * me
  call expect(x[right]%p(7), 10 * me, 'an element after a put to it')
  x[right]%p(10:30:10) = [1, 2, 3]
  x[right]%p(20) = -me
  got(1:3) = x[right]%p(10:30:10)
  call expect(got(2), -me, 'a section after a put into it')
  x[right]%m(1, 1:3) = [me, me + 1, me + 2]
  x[right]%one = me
  x[right]%q(2)%id = -5 * me
  x[right]%q(3)%a(1:2) = [me, -me]
  x[right]%text = 'short'
  sync all
  call expect(heap(7), 10 * left, 'a put to the heap')
  call expect(heap(20), -left, 'the later of two puts to the heap')
  call expect(heap(30), 3, 'a put of a section to the heap')
  call expect(grid(2, 4), left + 1, 'a put to a row of a part of a matrix')
  call expect(alone, left, 'a put to a variable')
  call expect(many(2)%id, -5 * left, 'a put to a component of an element')
  call expect(many(3)%a(2), -left, 'a put to an allocatable component of an element')
  if (word /= 'short') error stop 'a put of text'

  x%p => static(2:20:3)
  sync all
  call expect(x[right]%p(3), 10000 * right + 8, 'every third element')
  v = [7, 1, 4]
  got(1:3) = x[right]%p(v)
  call expect(got(1) - got(2), 18, 'a vector subscript')
  got(1:9:4) = x[right]%p(v)
  call expect(got(9), 10000 * right + 11, 'a vector subscript, to a section')
  sync all
  x[right]%p(v) = [me, 2 * me, 3 * me]
  x[right]%p(2:6:4) = 0
  sync all
  call expect(static(11), 3 * left, 'a put by a vector subscript')
  call expect(static(17), 0, 'a put of a scalar to a section')
  call expect(static(3), 10000 * me + 3, 'an element between those')

  ! A pointer to a coarray, and the coarray itself, are the same memory.
  x%p => shared(3:12)
  shared = me
  sync all
  x[right]%p(1) = 55 + me
  call expect(shared(3)[right], 55 + me, 'a coarray after a put by a pointer')
  shared(4)[right] = 66 + me
  call expect(x[right]%p(2), 66 + me, 'a pointer after a put to its coarray')
  sync all

  ! the ways in which a component gets memory
  do k = 1, 6
    if (allocated(x%a)) deallocate (x%a)
    do i = 1, 2
      if (allocated(y(i)%a)) deallocate (y(i)%a)
    end do
    select case (k)
    case (1)
      allocate (tmp, source=numbers(me))
      call move_alloc(tmp, y(2)%a)
    case (2)
      y(2) = part(2, numbers(me))
    case (3)
      call x%fill(me)
      y(2)%a = x%a
    case (4)
      call fresh(y(2), me)
    case (5)
      y(2) = made(me)
    case (6)
      y(2)%a = [numbers(me)]
    end select
    sync all
    got = y(2)[right]%a
    call expect(sum(got), 9000 * right + 45, 'a component, way ' // achar(iachar('0') + k))
    if (k == 3) call expect(x[right]%a(9), 1000 * right + 9, 'a component of a CLASS dummy')
    if (.not. allocated(y(2)[right]%a)) error stop 'ALLOCATED'
    if (allocated(y(5)[right]%a)) error stop 'not ALLOCATED'
    sync all
    y(2)[right]%a(9:1:-4) = [me, k, 5]
    sync all
    call expect(y(2)%a(5), k, 'a put to a component')
    call expect(y(2)%a(1), 5, 'the last element of a put to a component')
    call expect(y(2)%a(2), 1000 * me + 2, 'an element beside a put')
    sync all
  end do
  if (me == 1) print '(a)', 'targets: passed'
contains
  include 'expect.inc'
end program
