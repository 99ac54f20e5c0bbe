! SPDX-License-Identifier: BSD-3-Clause
! initial: the first statements of a program are puts to another image, before any image control statement.
!
! Broken by an image that stores the initial values of its coarrays after another one has written to them.
module values
  implicit none
  integer, save :: a(3)[*] = 1
  real(8), save :: b[*] = 0.5d0
  type record
    integer :: i = 3
    integer :: k(2) = [4, 5]
  end type
  type(record), save :: r(2)[*]
end module
program initial
  use values
  implicit none
  integer, save :: last(1000)[*] = -1
  integer :: me, n, right, left
  me = this_image()
  n = num_images()
  right = merge(1, me + 1, me == n)
  left = merge(n, me - 1, me == 1)
  last(1000)[right] = me
  a(:)[right] = 100 + me
  b[right] = me
  r(2)[right]%k(1) = 200 + me
  sync all
  call expect(last(1000), left, 'an element of a large coarray')
  call expect(last(999), -1, 'the element before it')
  call expect(a(1), 100 + left, 'a coarray of a module')
  call expect(nint(b), left, 'a scalar')
  call expect(r(2)%k(1), 200 + left, 'a component')
  call expect(r(2)%k(2), 5, 'the component after it')
  if (me == 1) print '(a)', 'initial: passed'
contains
  include 'expect.inc'
end program
