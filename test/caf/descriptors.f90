! SPDX-License-Identifier: BSD-3-Clause
! descriptors: what gfortran passes by descriptors, vectors and chains that it makes for a call, of which it leaves parts
! unset or leaves out. And subscripts at the edge of a coarray.
!
! Broken by a descriptor that is believed without a look at the rest of it, and by a check of bounds that one of the kinds
! of access does not pass.
module dummies
  implicit none
  type leaf
    integer :: i = 0
    character(len=3) :: word = '---'
    integer, allocatable :: a(:), tiny(:)
    real(8), allocatable :: m(:, :)
    character(len=7) :: words(2) = '-'
  end type
  type tree
    type(leaf) :: left, right
    complex(8) :: z = 0
  end type
  type plain
    integer :: i = 0
    character(len=3) :: word = '---'
    real(4) :: r = 0
  end type
  type longer
    integer :: i(3) = 0
    character(len=7) :: word = '-------'
  end type
contains
  subroutine broadcast_any(x, from)
    class(*), intent(inout) :: x(:)
    integer, intent(in) :: from
    select type (x)
    type is (character(*))
      call co_broadcast(x, from)
    type is (integer)
      call co_broadcast(x, from)
    type is (real(8))
      call co_broadcast(x, from)
    end select
  end subroutine
  subroutine sum_any(x)
    class(*), intent(inout) :: x(:)
    select type (x)
    type is (integer)
      call co_sum(x)
    type is (real(8))
      call co_sum(x)
    end select
  end subroutine
  subroutine fill(x, k)
    type(leaf), intent(inout) :: x
    integer, intent(in) :: k
    integer :: i
    if (.not. allocated(x%a)) allocate (x%a(5), x%tiny(2))
    if (.not. allocated(x%m)) allocate (x%m(2, 3))
    x%i = k
    x%tiny = [k, -k]
    x%word = 'ab' // achar(iachar('0') + k)
    x%a = [(10 * k + i, i = 1, 5)]
    x%m = k + 0.5d0
    x%words = ['first', 'last ']
    x%words(2)(7:7) = achar(iachar('0') + k)
  end subroutine
  ! The frame of this procedure leaves descriptors with other spans behind.
  subroutine dirty(x)
    type(plain), intent(inout) :: x(:)
    character(len=3) :: words(3)
    words = x(1:5:2)%word
    call take(x(5:1:-2)%word)
    if (words(1) == 'zzz') print *, words
  end subroutine
  ! A section 0:2 beside a vector looks like a vector without elements.
  subroutine put_reversed(d, w, to)
    integer, intent(inout) :: d(:, 0:)[*]
    integer, intent(in) :: w(:), to
    d(w, 0:2)[to] = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  end subroutine
  subroutine take(words)
    character(len=*), intent(in) :: words(:)
    if (words(1) == 'zzz') print *, words
  end subroutine
end module

program descriptors
  use dummies
  implicit none
  type(leaf) :: m
  type(tree) :: t
  type(plain), save :: p(5)[*]
  type(longer), save :: o(4)[*]
  integer, save :: x(-3:8)[*]
  integer, allocatable :: y(:, :)[:], z(:, :), empty(:)
  character(len=4) :: c(5)
  integer :: k(6), v(12), w(4), me, n, last, i, n_none
  integer(1) :: small(3)
  real(8) :: r(4)
  character(len=7) :: words(2)

  me = this_image()
  n = num_images()
  last = n

  ! CO_BROADCAST of types with allocatable components
  do i = 1, 3
    call dirty(p)
    call fill(m, me)
    call co_broadcast(m, last)
    call check(m, last)
    call fill(t%left, me)
    call fill(t%right, me + 1)
    t%z = cmplx(me, -me, 8)
    call co_broadcast(t, 1)
    call check(t%left, 1)
    call check(t%right, 2)
    if (t%z /= (1d0, -1d0)) error stop 'a complex component'
  end do

  ! CLASS(*), in sections
  c = 'im' // achar(iachar('0') + me)
  call broadcast_any(c(1:5:2), last)
  call expect(iachar(c(3)(3:3)), iachar('0') + last, 'text in CLASS(*)')
  call expect(iachar(c(2)(3:3)), iachar('0') + me, 'text beside that')
  k = me
  call broadcast_any(k(6:1:-2), last)
  call expect(k(4), last, 'integers in CLASS(*)')
  call expect(k(3), me, 'integers beside these')
  k = me
  call sum_any(k(2:3))
  call expect(k(3), n * (n + 1) / 2, 'a sum in CLASS(*)')
  r = 0.5d0
  call sum_any(r(1:4:3))
  call expect(nint(2 * r(4)), n, 'a sum of reals in CLASS(*)')
  call expect(nint(2 * r(3)), 1, 'a real beside these')

  ! components of elements: a span larger than an element
  p(:)%word = 'w' // achar(iachar('0') + me) // '-'
  p(:)%i = [(100 * me + i, i = 1, 5)]
  sync all
  c(1:3) = p(5:1:-2)[last]%word
  call expect(iachar(c(3)(2:2)), iachar('0') + last, 'text of elements')
  k(1:5) = p(:)[last]%i
  call expect(k(4), 100 * last + 4, 'integers of elements')
  sync all
  if (me == 1) p(2:4)[last]%word = ['one', 'two', 'thr']
  sync all
  if (me == last .and. any(p(1:4)%word /= ['w' // achar(iachar('0') + me) // '-', 'one', 'two', 'thr'])) &
    error stop 'a put of text to elements'

  ! vector subscripts
  o%word = [('word' // achar(iachar('0') + i), i = 1, 4)]
  x = [(1000 * me + i, i = -3, 8)]
  allocate (y(4, 3)[*])
  y = reshape([(1000 * me + i, i = 1, 12)], [4, 3])
  sync all
  w = [4, 3, 2, 1]
  k(1:4) = x(w(4:1:-1))[last]
  call expect(k(1) + 10 * k(4), 11000 * last + 41, 'a vector backwards')
  k(1:3) = x(w(3:1:-1))[last]
  call expect(k(3), 1000 * last + 4, 'a part of a vector backwards')
  small = [int(-3, 1), int(8, 1), int(0, 1)]
  k(1:3) = x(small)[last]
  call expect(k(2), 1000 * last + 8, 'a vector of short integers, to the edge')
  words = o([4, 2])[last]%word ! their distances are no multiples of 7 bytes
  if (words(1) /= 'word4' .or. words(2) /= 'word2') error stop 'a vector subscript of text components'
  n_none = 0
  z = y(w, 1:n_none)[last]
  call expect(size(z), 0, 'a vector beside an empty section')
  v = [(i, i = 12, 1, -1)]
  k = -7
  k(1:n_none) = x(v(1:n_none))[last]
  call expect(k(1), -7, 'an empty vector')
  allocate (empty(0))
  y(empty, 1:3)[last] = 5
  x(empty)[last] = 5
  y(w(1:n_none), 2)[last] = 5
  sync all
  call expect(sum(y), 12000 * me + 78, 'nothing put')
  call expect(sum(x), 12000 * me + 30, 'nothing put')
  k(1:4) = y(w, 3)[last]
  call expect(k(1), 1000 * last + 12, 'a vector and a subscript')
  z = y([4, 1], :)[last]
  call expect(z(1, 3) - z(2, 3), 3, 'a vector and a section')
  sync all
  if (me == 1) y([1, 4], 3:1:-1)[last] = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  if (me == 1) x([8, -3])[last] = 0
  sync all
  if (me == last) then
    call expect(y(4, 3) + 10 * y(1, 1), 52, 'a put by a vector and a section')
    call expect(x(-3) + x(8), 0, 'a put to both edges')
    call expect(x(7), 1000 * me + 7, 'the element before the edge')
  end if
  sync all
  if (me == 1) call put_reversed(y(:, 3:1:-1), [4, 1], last)
  sync all
  if (me == last) call expect(y(4, 3) + 10 * y(1, 1), 61, 'a put by a vector and a section of a reversed section')
  if (me == 1) print '(a)', 'descriptors: passed'
contains
  subroutine check(x, k)
    type(leaf), intent(in) :: x
    integer, intent(in) :: k
    call expect(x%i, k, 'an integer component')
    call expect(sum(x%a), 50 * k + 15, 'an allocatable component')
    call expect(x%tiny(2), -k, 'an allocatable component of two elements')
    call expect(nint(sum(x%m)), 6 * k + 3, 'an allocatable matrix')
    if (x%word /= 'ab' // achar(iachar('0') + k)) error stop 'a text component'
    if (x%words(1) /= 'first' .or. x%words(2) /= 'last  ' // achar(iachar('0') + k)) error stop 'an array of text'
  end subroutine
  include 'expect.inc'
end program
