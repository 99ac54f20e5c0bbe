! SPDX-License-Identifier: BSD-3-Clause
! basics: images, static and allocatable coarrays, sections, and synchronization.
!
! Broken by a transfer that goes to another image, another element or another length, and by a synchronization that does
! not wait, or does not complete transfers.
program basics
  use iso_fortran_env
  implicit none
  integer, save :: scalar[*]
  integer, save :: matrix(8, 6)[*], large(300000)[*]
  real(real64), save :: initial(3)[*] = [1.5d0, 2.5d0, 3.5d0]
  character(len=6), save :: text[*]
  integer, allocatable :: a(:)[:], cube(:, :, :)[:], one[:]
  integer :: me, n, right, left, i, j, k, local(8, 6), row(6), stat
  integer :: got, vector(3)
  real(real64) :: three(3)
  character(len=3) :: short
  character(len=80) :: message

  me = this_image()
  n = num_images()
  right = merge(1, me + 1, me == n)
  left = merge(n, me - 1, me == 1)

  ! scalars
  scalar = 0
  sync all
  scalar[right] = 100 + me
  sync all
  call expect(scalar, 100 + left, 'put of a scalar')
  got = scalar[right]
  call expect(got, 100 + me, 'get of a scalar')
  sync all
  scalar[right] = 1
  scalar[right] = scalar[right] + 1
  scalar[right] = scalar[right] * 10 + me
  sync all
  call expect(scalar, 20 + left, 'several transfers of one image to one scalar')
  sync all
  do k = 1, 10
    large(2:)[right] = k
    large(1)[right] = k
    got = large(size(large))[right]
    call expect(got, k, 'get after a long put')
    large(size(large) - 1)[right] = -k
    large(1:7:3)[right] = -k
    sync all
    call expect(large(size(large) - 1), -k, 'put after a long put')
    call expect(large(4), -k, 'put of a section after a long put')
    sync all
  end do
  three = initial(:)[right]
  call expect(int(sum(three) * 2), 15, 'an initial value')

  ! sections
  do j = 1, 6
    do i = 1, 8
      matrix(i, j) = 1000 * me + 10 * i + j
    end do
  end do
  sync all
  local = matrix(:, :)[right]
  call expect(sum(local), 1000 * right * 48 + sum([((10 * i + j, i = 1, 8), j = 1, 6)]), 'the whole matrix')
  row = matrix(3, :)[right]
  call expect(sum(abs(row - [(1000 * right + 30 + j, j = 1, 6)])), 0, 'a row')
  row(1:3) = matrix(8:2:-3, 2)[left]
  call expect(row(1), 1000 * left + 82, 'a stride down, first')
  call expect(row(3), 1000 * left + 22, 'a stride down, last')
  local = 0
  local(1:7:2, 1:6:5) = matrix(2:8:2, 2:3)[right]
  call expect(local(5, 6), 1000 * right + 63, 'two strides on both sides')
  call expect(count(local == 0), 40, 'nothing else is written')
  vector = [7, 1, 4]
  row(1:3) = matrix(vector, 5)[right]
  call expect(row(1), 1000 * right + 75, 'a vector subscript, first')
  call expect(row(3), 1000 * right + 45, 'a vector subscript, last')
  local(1:3, 1:2) = matrix(vector, [6, 2])[right]
  call expect(local(2, 1), 1000 * right + 16, 'two vector subscripts')
  call expect(local(3, 2), 1000 * right + 42, 'two vector subscripts, last')
  sync all
  matrix(2, :)[right] = [(-j * me, j = 1, 6)]
  matrix(5:8, 6)[right] = 7
  matrix([1, 3], 4)[right] = [me, -me]
  sync all
  call expect(matrix(2, 6), -6 * left, 'put of a row')
  call expect(matrix(1, 6), 1000 * me + 16, 'beside the row')
  call expect(sum(matrix(5:8, 6)), 28, 'put of a scalar into a section')
  call expect(matrix(3, 4), -left, 'put by a vector subscript')

  ! from one image to another
  scalar = me
  sync all
  if (me == 1) scalar[n] = scalar[right] + 0
  sync all
  if (me == n) call expect(scalar, merge(1, 2, n == 1), 'from image to image')
  if (me == 1) matrix(1:3, 1)[n] = matrix(4:6, 3)[right]
  sync all
  if (me == n .and. n > 1) call expect(matrix(2, 1), 1000 * 2 + 53, 'a section from image to image')
  sync all

  ! overlap on the own image
  matrix(:, 1) = [(i, i = 1, 8)]
  matrix(2:8, 1)[me] = matrix(1:7, 1)[me]
  call expect(sum(abs(matrix(:, 1) - [1, 1, 2, 3, 4, 5, 6, 7])), 0, 'overlapping sections of one image')
  matrix(1:7:2, 1)[me] = matrix(7:1:-2, 1)
  call expect(sum(abs(matrix(1:7:2, 1) - [6, 4, 2, 1])), 0, 'a section of this image in the opposite order')

  ! conversion
  sync all
  three = matrix(1:3, 1)[right]
  call expect(int(sum(three)), 11, 'integers to reals')
  initial(2)[right] = me
  scalar[right] = 2.75
  sync all
  call expect(int(initial(2)), left, 'an integer to a real')
  call expect(scalar, 2, 'a real to an integer')

  ! characters
  text = 'abcdef'
  sync all
  if (me == 1) text[n] = 'xy'
  sync all
  if (me == n .and. text /= 'xy    ') call fail('characters: ' // text)
  short = text[n]
  if (short /= 'xy ') call fail('characters: ' // short)

  ! allocatable coarrays
  do k = 1, 3
    allocate (a(-k:100 * k)[*], cube(2, 3, k)[2:*], stat=stat, errmsg=message)
    call expect(stat, 0, 'stat of allocate: ' // message)
    allocate (one[*])
    a = me
    one = me
    cube = reshape([(i * me, i = 1, 6 * k)], [2, 3, k])
    sync all
    a(0:9)[right] = [(i, i = 0, 9)]
    one[left] = -me
    call expect(cube(2, 2, k)[right + 1], right * (6 * k - 2), 'a cube with cobounds')
    sync all
    call expect(a(9), 9, 'an allocatable coarray')
    call expect(a(10), me, 'beside it')
    call expect(one, -right, 'an allocatable scalar')
    call pass(a)
    sync all
    deallocate (a, cube, one, stat=stat)
    call expect(stat, 0, 'stat of deallocate')
  end do

  ! sync images
  do k = 1, 20
    scalar[right] = k
    if (n > 2) then
      sync images([left, right])
    else if (n == 2) then
      sync images(right)
    end if
    if (n > 1) call expect(scalar, k, 'sync images')
    sync images(*)
  end do
  sync memory
  stat = 1
  sync all(stat=stat, errmsg=message)
  call expect(stat, 0, 'stat of sync all')
  call random_numbers()
  if (me == 1) print '(a)', 'basics: passed'

contains

  subroutine pass(v)
    integer :: v(:)[*]
    sync all
    v(3)[right] = 1000
    sync all
    call expect(v(3), 1000, 'a dummy argument')
  end subroutine

  ! random_init: alike on all images or not, and alike in two calls or not
  subroutine random_numbers()
    integer, save :: drawn(2, 4)[*]
    real :: x
    integer :: way, again
    logical :: alike, repeated
    do way = 1, 4
      do again = 1, 2
        call random_init(repeatable=way < 3, image_distinct=mod(way, 2) == 1)
        call random_number(x)
        drawn(again, way) = int(x * 1000000)
      end do
    end do
    sync all
    do way = 1, 4
      repeated = drawn(1, way) == drawn(2, way)
      alike = drawn(1, way) == drawn(1, way)[right]
      if (repeated .neqv. way < 3) call fail('random_init: repeatable')
      if (n > 1 .and. (alike .neqv. mod(way, 2) == 0)) call fail('random_init: image_distinct')
    end do
    sync all
  end subroutine

  include 'expect.inc'

  subroutine fail(what)
    character(len=*), intent(in) :: what
    print '(a,i0,2a)', 'image ', this_image(), ': ', what
    error stop 1
  end subroutine
end program
