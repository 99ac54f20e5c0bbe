! SPDX-License-Identifier: BSD-3-Clause
! collectives: co_sum, co_min, co_max, co_broadcast and co_reduce, with and without a result image.
!
! Broken by a type or kind that is taken for another one, by sections that are not contiguous, and by an operation that
! is applied to the wrong elements.
module operations
  implicit none
contains
  pure integer function times(a, b)
    integer, intent(in) :: a, b
    if (a == 0 .or. b == 0) error stop 'an element that no image has'
    times = a * b
  end function
  pure function longest(a, b) result(c)
    character(len=4), intent(in) :: a, b
    character(len=4) :: c
    c = merge(a, b, len_trim(a) >= len_trim(b))
  end function
  pure logical function either(a, b)
    logical, value, intent(in) :: a, b
    either = a .or. b
  end function
  pure real(8) function larger(a, b)
    real(8), intent(in) :: a, b
    larger = max(a, b)
  end function
  ! Commutative but for rounding.
  pure real(8) function rounded(a, b)
    real(8), intent(in) :: a, b
    rounded = ((a + 1000) - 1000) + b
  end function
  pure complex function product_of(a, b)
    complex, intent(in) :: a, b
    product_of = a * b
  end function
end module

program collectives
  use operations
  use iso_fortran_env
  implicit none
  integer, parameter :: ucs4 = selected_char_kind('ISO_10646')
  integer :: me, n, i, k, stat
  integer :: x, v(7), m(4, 6), many(1000)
  integer(1) :: i1
  integer(2) :: i2
  integer(8) :: i8(3)
  integer(16) :: i16
  real(4) :: r4
  real(8) :: r8(5), same(5)
  real(16) :: r16(2)
  complex(4) :: c4
  complex(8) :: c8
  complex(16) :: c16
  logical :: l
  character(len=4) :: text
  character(len=2, kind=ucs4) :: wide
  character(len=60) :: message
  real(8), allocatable :: a(:)[:]

  me = this_image()
  n = num_images()
  k = n * (n + 1) / 2

  x = me
  call co_sum(x)
  call expect(x, k, 'co_sum')
  x = me
  call co_sum(x, result_image=n, stat=stat, errmsg=message)
  call expect(stat, 0, 'stat of co_sum')
  if (me == n) call expect(x, k, 'co_sum with a result image')
  i1 = int(me, 1); i2 = int(me, 2); i8 = me; i16 = me
  call co_sum(i1); call co_sum(i2); call co_sum(i8); call co_sum(i16)
  call expect(int(i1), k, 'co_sum of kind 1')
  call expect(int(i2), k, 'co_sum of kind 2')
  call expect(int(i8(3)), k, 'co_sum of kind 8')
  call expect(int(i16), k, 'co_sum of kind 16')
  r4 = me; r8 = me; r16 = me
  call co_sum(r4); call co_sum(r8); call co_sum(r16, result_image=1)
  call expect(nint(r4), k, 'co_sum of reals')
  call expect(nint(r8(5)), k, 'co_sum of doubles')
  if (me == 1) call expect(nint(r16(2)), k, 'co_sum of real(16)')
  c4 = cmplx(me, -me); c8 = c4; c16 = c4
  call co_sum(c4); call co_sum(c8); call co_sum(c16)
  call expect(nint(aimag(c4)), -k, 'co_sum of complex')
  call expect(nint(aimag(c8)), -k, 'co_sum of complex(8)')
  call expect(nint(aimag(c16)), -k, 'co_sum of complex(16)')
  call sum_tens(me, n)
  call sum_equal(n)

  ! sections and long arrays
  m = me
  call co_sum(m(2:4:2, 1:6:5))
  call expect(sum(m), 20 * me + 4 * k, 'co_sum of a section')
  many = [(i + me, i = 1, 1000)]
  call co_max(many)
  call expect(many(1000), 1000 + n, 'co_max of a long array')
  many = [(i + me, i = 1, 1000)]
  call co_min(many, result_image=1)
  if (me == 1) call expect(many(1000), 1001, 'co_min of a long array')
  text = 'im' // achar(iachar('a') + me)
  call co_max(text)
  if (text /= 'im' // achar(iachar('a') + n)) error stop 'co_max of characters'
  text = 'im' // achar(iachar('a') + me)
  call co_min(text)
  if (text /= 'imb') error stop 'co_min of characters'
  wide = achar(256 * me + 10 - me, kind=ucs4)
  call co_max(wide)
  if (wide /= achar(256 * n + 10 - n, kind=ucs4)) error stop 'co_max of wide characters'

  ! broadcasts
  do i = 1, n
    v = me
    call co_broadcast(v, i)
    call expect(sum(v), 7 * i, 'co_broadcast')
    m = me
    call co_broadcast(m(1:4:3, :), source_image=i)
    call expect(sum(m), 12 * me + 12 * i, 'co_broadcast of a section')
    text = achar(iachar('a') + me)
    call co_broadcast(text, i)
    if (text /= achar(iachar('a') + i)) error stop 'co_broadcast of characters'
  end do
  allocate (a(50000)[*])
  a = me
  call co_broadcast(a, n, stat=stat)
  call expect(nint(sum(a)), 50000 * n, 'co_broadcast of a long coarray')

  ! the user's operations
  x = me
  call co_reduce(x, times)
  call expect(x, product([(i, i = 1, n)]), 'co_reduce')
  many = [(merge(2, 1, mod(i, n) == me - 1), i = 1, 1000)]
  call co_reduce(many, times)
  call expect(sum(many), 2000, 'co_reduce of a long array')
  v = [(merge(3, 1, mod(i, n) == me - 1), i = 1, 7)]
  call co_reduce(v, times, result_image=n)
  if (me == n) call expect(sum(v), 21, 'co_reduce of a short array')
  text = repeat('x', mod(me, 4))
  call co_reduce(text, longest)
  call expect(len_trim(text), min(n, 3), 'co_reduce of characters')
  l = me == n
  call co_reduce(l, either)
  if (.not. l) error stop 'co_reduce with arguments by value'
  r8 = me
  call co_reduce(r8, larger)
  call expect(nint(r8(2)), n, 'co_reduce of doubles')
  r8 = [(sqrt(dble(me + 10 * i)), i = 1, 5)]
  call co_reduce(r8, rounded)
  same = r8
  call co_broadcast(same, 1)
  if (any(r8 /= same)) error stop 'co_reduce has not the same result on all images'
  c4 = (0, 1)
  call co_reduce(c4, product_of)
  if (abs(c4 - (0, 1)**n) > 1e-5) error stop 'co_reduce of complex'
  x = 0
  call co_sum(x, result_image=n + 1, stat=stat, errmsg=message)
  if (stat == 0) error stop 'a result image that does not exist'
  if (me == 1) print '(a)', 'collectives: passed'
contains
  ! Behind each REAL(10) are 6 bytes of what was in the memory before: here of a double, so that a 0 looks like a short
  ! REAL(16), and other numbers may be of either kind.
  subroutine sum_tens(me, n)
    integer, intent(in) :: me, n
    real(10) :: tens(9)
    integer(8) :: words(2, 9)
    equivalence (tens, words)
    integer :: i
    tens = [0, 0, 0, 1, 2, 3, 4, 5, 6]
    if (me == 1) tens(2:3) = [7, 8]
    words(2, :) = ior(iand(words(2, :), 65535_8), iand(transfer(3.25d0, 0_8), not(65535_8)))
    call co_sum(tens)
    do i = 4, 9
      call expect(nint(tens(i)), n*(i - 3), 'co_sum of real(10) in used memory')
    end do
    call expect(nint(tens(1)) + 10*nint(tens(2)), 70, 'co_sum of real(10) of which some are 0')
  end subroutine
  ! Numbers of REAL(16) of which some look as if they were of either kind, and are equal.
  subroutine sum_equal(n)
    integer, intent(in) :: n
    real(16) :: equal(6)
    integer :: i, stat, told
    told = 0
    do i = 1, 100
      equal = sqrt(real(i, 16))
      call co_sum(equal, stat=stat)
      if (stat /= 0) cycle ! the kind is not known
      told = told + 1
      if (any(abs(equal - n*sqrt(real(i, 16))) > 1e-25_16)) error stop 'co_sum of equal numbers of real(16)'
    end do
    if (told < 80) error stop 'co_sum of equal numbers of real(16) is an error too often'
  end subroutine
  include 'expect.inc'
end program
