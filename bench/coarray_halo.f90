! SPDX-License-Identifier: BSD-3-Clause
! coarray_halo: the exchange of borders of a 2-D grid that is cut into squares, by coarrays and by MPI's messages, in
! turn: microseconds a step, and the median of the ratios.
!
! The grid is a torus, so each image has four neighbours. A step gives each of them a border of m points: columns are
! contiguous, rows are not. The next step uses the other one of two grids, as in Jacobi's method: therefore one
! synchronization a step is enough. With MPI, rows are packed into messages.
program coarray_halo
  use iso_fortran_env
  use mpi_f08
  implicit none
  integer, parameter :: sides(4) = [8, 64, 512, 2048], rounds = 15
  integer, parameter :: west = 1, east = 2, north = 3, south = 4
  real(8), allocatable :: u(:, :, :)[:]
  real(8) :: t(2), times(rounds, 2)
  integer :: me, n, rows, columns, neighbour(4), s, m, k, way, steps, scale
  integer, allocatable :: others(:)
  character(len=20) :: argument

  me = this_image()
  n = num_images()
  scale = 1
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) scale
  rows = 1
  do k = 2, n
    if (k * k <= n .and. mod(n, k) == 0) rows = k
  end do
  columns = n / rows
  neighbour(west) = image_at(mod(me - 1, rows), (me - 1) / rows - 1)
  neighbour(east) = image_at(mod(me - 1, rows), (me - 1) / rows + 1)
  neighbour(north) = image_at(mod(me - 1, rows) - 1, (me - 1) / rows)
  neighbour(south) = image_at(mod(me - 1, rows) + 1, (me - 1) / rows)
  allocate (others(0))
  do k = 1, 4
    if (neighbour(k) /= me .and. all(others /= neighbour(k))) others = [others, neighbour(k)]
  end do

  if (me == 1) print '(a)', '   side   coarrays us   messages us   ratio'
  do s = 1, size(sides)
    m = sides(s)
    steps = max(4, 40000 / (m + 40) / scale)
    allocate (u(0:m + 1, 0:m + 1, 2)[*])
    do k = 1, rounds
      do way = 1, 2
        u = -1
        u(1:m, 1:m, :) = me
        sync all
        t(1) = now()
        if (way == 1) call by_coarrays(steps)
        if (way == 2) call by_messages(steps)
        t(2) = now()
        times(k, way) = (t(2) - t(1)) / steps
        call co_max(times(k, way))
        call check_borders()
      end do
    end do
    if (me == 1) &
      print '(i7,f14.2,f14.2,f8.2)', m, median(times(:, 1)), median(times(:, 2)), median(times(:, 1) / times(:, 2))
    deallocate (u)
  end do
contains
  integer function image_at(row, column)
    integer, intent(in) :: row, column
    image_at = modulo(column, columns) * rows + modulo(row, rows) + 1
  end function

  subroutine by_coarrays(steps)
    integer, intent(in) :: steps
    integer :: i, g
    do i = 1, steps
      g = mod(i, 2) + 1
      u(1:m, m + 1, g)[neighbour(west)] = u(1:m, 1, g)
      u(1:m, 0, g)[neighbour(east)] = u(1:m, m, g)
      u(m + 1, 1:m, g)[neighbour(north)] = u(1, 1:m, g)
      u(0, 1:m, g)[neighbour(south)] = u(m, 1:m, g)
      sync images (others)
    end do
  end subroutine

  subroutine by_messages(steps)
    integer, intent(in) :: steps
    real(8) :: north_out(m), south_out(m), north_in(m), south_in(m)
    type(MPI_Request) :: request(8)
    integer :: i, g
    do i = 1, steps
      g = mod(i, 2) + 1
      call MPI_Irecv(u(1, m + 1, g), m, MPI_DOUBLE_PRECISION, neighbour(east) - 1, west, MPI_COMM_WORLD, request(1))
      call MPI_Irecv(u(1, 0, g), m, MPI_DOUBLE_PRECISION, neighbour(west) - 1, east, MPI_COMM_WORLD, request(2))
      call MPI_Irecv(south_in, m, MPI_DOUBLE_PRECISION, neighbour(south) - 1, north, MPI_COMM_WORLD, request(3))
      call MPI_Irecv(north_in, m, MPI_DOUBLE_PRECISION, neighbour(north) - 1, south, MPI_COMM_WORLD, request(4))
      north_out = u(1, 1:m, g)
      south_out = u(m, 1:m, g)
      call MPI_Isend(u(1, 1, g), m, MPI_DOUBLE_PRECISION, neighbour(west) - 1, west, MPI_COMM_WORLD, request(5))
      call MPI_Isend(u(1, m, g), m, MPI_DOUBLE_PRECISION, neighbour(east) - 1, east, MPI_COMM_WORLD, request(6))
      call MPI_Isend(north_out, m, MPI_DOUBLE_PRECISION, neighbour(north) - 1, north, MPI_COMM_WORLD, request(7))
      call MPI_Isend(south_out, m, MPI_DOUBLE_PRECISION, neighbour(south) - 1, south, MPI_COMM_WORLD, request(8))
      call MPI_Waitall(8, request, MPI_STATUSES_IGNORE)
      u(m + 1, 1:m, g) = south_in
      u(0, 1:m, g) = north_in
    end do
  end subroutine

  subroutine check_borders()
    if (any(u(1:m, 0, :) /= neighbour(west)) .or. any(u(1:m, m + 1, :) /= neighbour(east)) .or. &
        any(u(0, 1:m, :) /= neighbour(north)) .or. any(u(m + 1, 1:m, :) /= neighbour(south))) &
      error stop 'coarray_halo: a border is wrong'
    sync all
  end subroutine

  real(8) function now()
    integer(int64) :: ticks, rate
    call system_clock(ticks, rate)
    now = dble(ticks) * 1d6 / dble(rate)
  end function

  real(8) function median(x)
    real(8), intent(in) :: x(:)
    integer :: i
    median = x(1)
    do i = 1, size(x)
      if (count(x < x(i)) <= size(x) / 2 .and. count(x <= x(i)) > size(x) / 2) median = x(i)
    end do
  end function
end program
