! SPDX-License-Identifier: BSD-3-Clause
! conversions: assignments between kinds and types, between lengths and kinds of characters, in each kind of transfer.
!
! Broken by a kind that is taken for another, and by characters that are not cut, not padded, or padded with garbage.
program conversions
  implicit none
  integer, parameter :: ucs4 = selected_char_kind('ISO_10646')
  type box
    real(8), allocatable :: r(:)
    integer(1) :: small(3) = 0
    complex :: c = 0
  end type
  integer(1), save :: i1(4)[*]
  integer(2), save :: i2(4)[*]
  integer(8), save :: i8(4)[*]
  integer(16), save :: i16(4)[*]
  real(4), save :: r4(4)[*]
  real(selected_real_kind(18)), save :: r10(4)[*]
  real(16), save :: r16(4)[*]
  complex(8), save :: c8(4)[*]
  logical(1), save :: l1(4)[*]
  logical, save :: l4(4)[*]
  character(len=5), save :: text(3)[*]
  character(len=3, kind=ucs4), save :: wide(3)[*]
  type(box), save :: x[*]
  integer :: other, me, n, i, v(4)
  real(8) :: d(4)
  complex(4) :: z(4)
  logical :: l(4)
  character(len=3) :: short(3)
  character(len=8) :: long(3), one

  me = this_image()
  n = num_images()
  other = merge(1, me + 1, me == n)
  i1 = 0; i2 = 0; i8 = 0; i16 = 0; r4 = 0; r10 = 0; r16 = 0; c8 = 0; l1 = .false.; l4 = .false.; text = ''
  wide = ucs4_'   '
  allocate (x%r(4))
  x%r = 0
  sync all

  ! numbers, to the other image
  v = [-3, 0, 7, 100]
  i1(:)[other] = v
  i2(1:4:3)[other] = [300.7, -300.7]
  i8(:)[other] = v
  i16(2)[other] = -5
  r4(4:1:-1)[other] = v
  r10(:)[other] = v
  r16(:)[other] = 0.5d0 * v
  c8(:)[other] = v
  c8(2)[other] = (1.0, -2.0)
  l1(:)[other] = [.true., .false., .true., .true.]
  x[other]%r(2:3) = [1, 2]
  x[other]%small = 99.9
  x[other]%c = 3
  sync all
  call expect(all(i1 == v), 'integer(1)')
  call expect(all(i2 == [300, 0, 0, -300]), 'reals to integer(2)')
  call expect(all(i8 == v), 'integer(8)')
  call expect(all(i16 == [0, -5, 0, 0]), 'integer(16)')
  call expect(all(r4 == v(4:1:-1)), 'integers to reals')
  call expect(all(r10 == v), 'integers to real(10)')
  call expect(all(r16 == 0.5d0 * v), 'doubles to real(16)')
  call expect(c8(2) == (1.0, -2.0) .and. c8(4) == 100, 'complex')
  call expect(all(l1 .eqv. [.true., .false., .true., .true.]), 'logicals')
  call expect(all(x%r == [0, 1, 2, 0]), 'integers to an allocatable component')
  call expect(all(x%small == 99) .and. x%c == 3, 'reals and integers to components')

  ! and from it
  d = i1(:)[other]
  call expect(all(d == v), 'from integer(1)')
  d = r16(:)[other]
  call expect(all(d == 0.5d0 * v), 'from real(16)')
  d = r10(4:1:-1)[other]
  call expect(all(d == v(4:1:-1)), 'from real(10)')
  v = c8(:)[other]
  call expect(all(v == [-3, 1, 7, 100]), 'from complex to integers')
  z = c8(:)[other]
  call expect(z(2) == (1.0, -2.0), 'from complex')
  l = l1(:)[other]
  call expect(all(l .eqv. [.true., .false., .true., .true.]), 'from logicals')
  v(1:2) = x[other]%r(2:3)
  call expect(all(v(1:2) == [1, 2]), 'from an allocatable component')
  d = i2(1)[other] ! one element for all
  call expect(all(d == 300), 'from one element')
  sync all
  if (me == 1) r4(:)[n] = i8(:)[other] ! from image to image
  sync all
  if (me == n) call expect(all(r4 == [-3, 0, 7, 100]), 'from image to image')
  sync all

  ! characters
  long = ['abcdefgh', 'ij      ', '        ']
  text(:)[other] = long
  sync all
  call expect(text(1) == 'abcde' .and. text(2) == 'ij' .and. text(3) == '', 'characters are cut')
  short = text(:)[other]
  call expect(short(1) == 'abc' .and. short(2) == 'ij ', 'characters from the other image are cut')
  long = 'zzzzzzzz'
  long(3:1:-1) = text(:)[other]
  call expect(long(3) == 'abcde   ' .and. long(2) == 'ij      ', 'characters are padded')
  one = text(1)[other]
  call expect(one == 'abcde   ', 'one is padded')
  sync all
  text(2:3)[other] = 'q'
  wide(:)[other] = [ucs4_'ab ', ucs4_'cde', ucs4_'f  ']
  sync all
  call expect(all(text(2:3) == 'q    ') .and. text(1) == 'abcde', 'one string for two')
  call expect(wide(2) == ucs4_'cde' .and. wide(3) == ucs4_'f', 'wide characters')
  short = 'ab' // achar(233)
  sync all
  wide(:)[other] = short
  short = ''
  sync all
  call expect(ichar(wide(2)(3:3)) == 233, 'a character above 127 to a wide one')
  short = wide(:)[other]
  call expect(iachar(short(3)(3:3)) == 233, 'and from it')
  if (me == 1) print '(a)', 'conversions: passed'
contains
  subroutine expect(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    print '(a,i0,2a)', 'image ', this_image(), ': ', what
    error stop 1
  end subroutine
end program
