! SPDX-License-Identifier: BSD-3-Clause
! halo: a 2-D grid, cut into strips of columns; each image computes one and exchanges its borders with its neighbours.
!
! The heat equation with fixed borders. At the end each point is compared with the exact stationary state.
program halo
  implicit none
  integer, parameter :: rows = 32, columns = 32, steps = 6000
  real(8), allocatable :: u(:, :)[:], new(:, :)
  integer :: me, n, first, last, width, i, j, step
  real(8) :: worst

  me = this_image()
  n = num_images()
  first = (me - 1) * columns / n + 1
  last = me * columns / n
  width = (columns + n - 1) / n + 1
  allocate (u(0:rows + 1, 0:width)[*], new(0:rows + 1, 0:width))
  last = last - first + 1 ! columns of this image
  u = 0
  do j = 0, last + 1
    do i = 0, rows + 1
      if (border(i, first + j - 1)) u(i, j) = exact(i, first + j - 1)
    end do
  end do
  sync all
  do step = 1, steps
    do j = 1, last
      do i = 1, rows
        new(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
      end do
    end do
    call wait_for_neighbours()
    u(1:rows, 1:last) = new(1:rows, 1:last)
    ! a put of a contiguous column to each neighbour
    if (me > 1) u(1:rows, (me - 1) * columns / n - (me - 2) * columns / n + 1)[me - 1] = u(1:rows, 1)
    if (me < n) u(1:rows, 0)[me + 1] = u(1:rows, last)
    call wait_for_neighbours()
  end do
  worst = 0
  do j = 1, last
    do i = 1, rows
      worst = max(worst, abs(u(i, j) - exact(i, first + j - 1)))
    end do
  end do
  call co_max(worst)
  if (worst > 1d-3) error stop 'halo: the grid has not reached its stationary state'
  if (me == 1) print '(a,i0,a,es8.1)', 'halo: ', n, ' images, largest error ', worst
contains
  logical function border(i, j)
    integer, intent(in) :: i, j
    border = i == 0 .or. i == rows + 1 .or. j == 0 .or. j == columns + 1
  end function

  real(8) function exact(i, j) ! harmonic, also on the grid
    integer, intent(in) :: i, j
    exact = (dble(i)**2 - dble(j)**2) / rows**2
  end function

  subroutine wait_for_neighbours()
    if (n == 1) return
    if (me == 1) then
      sync images (2)
    else if (me == n) then
      sync images (n - 1)
    else
      sync images ([me - 1, me + 1])
    end if
  end subroutine
end program
