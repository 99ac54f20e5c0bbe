! SPDX-License-Identifier: BSD-3-Clause
! components: chains of references through components of coarrays: static arrays, allocatable and pointer components.
!
! Broken by an address of another image that is taken for one of this image's own, by bounds that are this image's, and
! by memory of components that other images cannot reach.
module types
  implicit none
  type inner
    integer :: weights(0:3) = 0
    real, allocatable :: values(:)
  end type
  type outer
    integer :: id = 0
    integer :: grid(0:2, 4) = 0
    integer, allocatable :: scalar
    integer, allocatable :: a(:), m(:, :)
    real(8), pointer :: p(:) => null()
    type(inner) :: in
    type(inner), allocatable :: many(:)
    character(len=5) :: name = 'none'
  end type
  type element
    integer :: id = 0
    integer :: grid(0:2, 4) = 0
    integer, allocatable :: a(:)
  end type
end module

program components
  use types
  implicit none
  type(outer), save :: x[*]
  type(element), allocatable :: array(:)[:]
  integer :: me, n, right, left, i, j, k, got, stat
  integer, allocatable :: b(:), shaped(:, :)
  real(8), target, save :: far(4)
  real(8) :: row(3)
  real :: reals(10)

  me = this_image()
  n = num_images()
  right = merge(1, me + 1, me == n)
  left = merge(n, me - 1, me == 1)

  ! components without pointers
  x%id = me
  x%grid = reshape([(100 * me + i, i = 0, 11)], [3, 4])
  x%in%weights = [(me * i, i = 0, 3)]
  x%name = 'im' // achar(iachar('0') + me)
  sync all
  call expect(x[right]%id, right, 'a scalar component')
  call expect(x[right]%grid(1, 2), 100 * right + 4, 'an element of a static array')
  call expect(sum(x[right]%grid(:, 3)), 300 * right + 21, 'a column')
  call expect(sum(x[right]%grid(1:2, 2:4:2)), 400 * right + 4 + 5 + 10 + 11, 'a section')
  call expect(x[right]%in%weights(3), 3 * right, 'an array of a nested component')
  if (x[right]%name /= 'im' // achar(iachar('0') + right)) error stop 'characters'
  sync all
  x[right]%id = -me
  x[right]%grid(2, :) = [(me * i, i = 1, 4)]
  x[right]%in%weights(0:1) = 9
  sync all
  call expect(x%id, -left, 'put to a component')
  call expect(x%grid(2, 4), 4 * left, 'put to a row')
  call expect(x%grid(1, 4), 100 * me + 10, 'beside the row')
  call expect(sum(x%in%weights), 18 + 5 * me, 'put of a scalar to a section')

  row = x[right]%id ! one element for all
  call expect(nint(sum(row)), -3 * me, 'get of one element into an array')
  sync all

  ! allocatable components, of another size on each image; image 1 has none at first
  if (me /= 1) allocate (x%a(-me:me), x%scalar)
  allocate (x%m(me + 1, 0:2))
  sync all
  if (allocated(x[1]%a)) error stop 'a component that is not allocated seems so'
  if (n > 1) then
    if (.not. allocated(x[n]%a) .or. .not. allocated(x[n]%scalar)) error stop 'an allocated component seems not so'
  end if
  sync all
  if (me == 1) allocate (x%a(-me:me), x%scalar)
  x%a = [(1000 * me + i, i = -me, me)]
  x%scalar = 50 + me
  x%m = reshape([(i * me, i = 1, 3 * me + 3)], [me + 1, 3])
  sync all
  call expect(x[right]%scalar, 50 + right, 'an allocatable scalar')
  call expect(x[right]%a(-right), 1000 * right - right, 'an element by the bounds there')
  b = x[right]%a
  call expect(size(b), 2 * right + 1, 'the size of a whole component')
  call expect(sum(b), 1000 * right * (2 * right + 1), 'a whole component')
  call expect(x[right]%m(right + 1, 2), right * (3 * right + 3), 'the last element of a matrix')
  allocate (shaped(3, right + 1))
  shaped = x[right]%m
  call expect(size(shaped, 1), right + 1, 'the shape of a whole matrix')
  call expect(shaped(1, 3), right * (2 * right + 3), 'an element of a whole matrix')
  call expect(sum(x[right]%m(1:2, 0)), 3 * right, 'a section of a matrix')
  sync all
  x[right]%a(0) = me
  x[right]%scalar = me
  x[right]%m(:, 1) = -me
  sync all
  call expect(x%a(0), left, 'put to an allocatable component')
  call expect(x%scalar, left, 'put to an allocatable scalar')
  call expect(sum(x%m(:, 1)), -left * (me + 1), 'put to a column')

  ! a component of a component
  allocate (x%in%values(5), x%many(2))
  x%in%values = [(me + 0.5 * i, i = 1, 5)]
  do k = 1, 2
    allocate (x%many(k)%values(k + 1))
    x%many(k)%values = 10 * k + me
    x%many(k)%weights = k
  end do
  sync all
  call expect(nint(2 * x[right]%in%values(3)), 2 * right + 3, 'an allocatable component of a component')
  reals(1:3) = x[right]%in%values(5:1:-2)
  call expect(nint(2 * reals(1)), 2 * right + 5, 'a section of it, downwards')
  call expect(nint(x[right]%many(2)%values(3)), 20 + right, 'two allocatable components')
  call expect(x[right]%many(2)%weights(2), 2, 'an array in an allocatable component')
  sync all
  x[right]%many(1)%values(2) = 3.0
  sync all
  call expect(nint(x%many(1)%values(2)), 3, 'put through two allocatable components')

  ! pointer components: to memory of their own, and to a variable that is no coarray
  allocate (x%p(6))
  x%p = [(dble(me * i), i = 1, 6)]
  sync all
  row = x[right]%p(2:6:2)
  call expect(nint(sum(row)), 12 * right, 'a pointer component')
  sync all
  deallocate (x%p)
  if (on_one_node()) then
    far = me + [1, 2, 3, 4]
    x%p => far
    sync all
    call expect(nint(x[right]%p(4)), right + 4, 'a pointer to a variable')
    sync all
    x[right]%p(1:2) = dble(-me)
    sync all
    call expect(nint(far(2)), -left, 'put to a variable')
  end if
  sync all

  ! arrays of derived types
  do k = 1, 2
    allocate (array(3)[*], stat=stat)
    call expect(stat, 0, 'stat of allocate')
    do i = 1, 3
      array(i)%id = 10 * me + i
      array(i)%grid = i
      allocate (array(i)%a(i))
      array(i)%a = me * i
    end do
    sync all
    call expect(array(2)[right]%id, 10 * right + 2, 'a component of an element')
    call expect(sum(array(:)[right]%id), 30 * right + 6, 'a component of all elements')
    call expect(array(3)[right]%a(3), 3 * right, 'an allocatable component of an element')
    call expect(array(3)[right]%grid(1, 1), 3, 'an array of an element')
    sync all
    array(1:2)[right]%id = [me, -me]
    array(2)[right]%a(:) = 5
    sync all
    call expect(array(2)%id, -left, 'put to a component of two elements')
    call expect(array(3)%id, 10 * me + 3, 'beside them')
    call expect(sum(array(2)%a), 10, 'put to an allocatable component of an element')
    sync all
    do i = 1, 3
      deallocate (array(i)%a)
    end do
    deallocate (array)
  end do

  if (me == 1) print '(a)', 'components: passed'

contains

  logical function on_one_node()
    character(len=8) :: layout
    call get_environment_variable('RMA_TEST_LAYOUT', layout)
    on_one_node = layout == 'one'
  end function

  include 'expect.inc'
end program
