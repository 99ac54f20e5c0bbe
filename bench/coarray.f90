! SPDX-License-Identifier: BSD-3-Clause
! coarray: times of coarray statements between images 1 and 2, in nanoseconds: the median of 7 rounds. Standard Fortran,
! so it also measures other libraries of gfortran's coarrays (bench/coarray_compare). An argument divides the number of
! repetitions.
!
! Of the first statements, image 1 puts and gets, and the others wait in SYNC IMAGES. Images 1 and 2 execute SYNC IMAGES
! and the events; all images the others.
program coarray
  use iso_fortran_env
  implicit none
  type box
    real(8), allocatable :: a(:)
  end type
  type row
    character(len=46) :: what
    integer :: n
  end type
  integer, parameter :: samples = 7, of_image_1 = 11
  type(row), parameter :: rows(19) = [ &
    row('put of 8 bytes', 100000), row('get of 8 bytes', 100000), row('put of 4 KiB', 100000), &
    row('put of a row of 1024 elements', 2000), row('put of 512 x 2 elements with stride 2', 20000), &
    row('get of 512 x 2 elements with stride 2', 20000), row('get of 64 elements by a vector subscript', 20000), &
    row('put to an element of an allocatable component', 50000), &
    row('put of 4 KiB to an allocatable component', 5000), row('atomic add', 50000), &
    row('lock and unlock', 50000), row('sync all', 50000), row('sync images', 50000), &
    row('event: post to wait', 50000), row('co_sum of a real', 50000), row('co_sum of 512 reals', 20000), &
    row('co_broadcast of a real', 50000), row('critical: contended', 1000), &
    row('allocate and deallocate', 500)]
  real(8), save :: one[*], page(512)[*], matrix(1024, 1024)[*]
  type(box), save :: x[*]
  type(event_type), save :: event[*]
  type(lock_type), save :: lock[*]
  integer(atomic_int_kind), save :: counter[*]
  real(8), allocatable :: a(:)[:]
  real(8) :: local, here(512), line(1024), patch(512, 2), t(samples)
  integer :: me, i, k, r, n, index(64), scale
  character(len=20) :: argument

  me = this_image()
  scale = 1
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) scale
  if (num_images() < 2) error stop 'coarray: start it with 2 images or more'
  allocate (x%a(512))
  x%a = 0
  one = 0; page = 0; matrix = 0; here = 0; line = 0; patch = 0; local = 0
  index = [(mod(i * 37, 1024) + 1, i = 1, 64)]
  sync all
  do r = 1, size(rows)
    n = max(4, rows(r)%n / scale)
    do k = 1, samples
      sync images (*)
      t(k) = now()
      if (me == 1 .or. r > of_image_1) call repeat(r, n)
      t(k) = (now() - t(k)) / n
    end do
    sync images (*)
    if (me == 1) print '(a,f12.0)', rows(r)%what, median(t)
  end do
contains
  subroutine repeat(r, n)
    integer, intent(in) :: r, n
    integer :: i
    select case (r)
    case (1); do i = 1, n; one[2] = local; end do
    case (2); do i = 1, n; local = one[2]; end do
    case (3); do i = 1, n; page(:)[2] = here; end do
    case (4); do i = 1, n; matrix(7, :)[2] = line; end do
    case (5); do i = 1, n; matrix(1::2, 5:6)[2] = patch; end do
    case (6); do i = 1, n; patch = matrix(1::2, 5:6)[2]; end do
    case (7); do i = 1, n; here(1:64) = matrix(index, 5)[2]; end do
    case (8); do i = 1, n; x[2]%a(17) = local; end do
    case (9); do i = 1, n; x[2]%a(:) = here; end do
    case (10); do i = 1, n; call atomic_add(counter[2], 1); end do
    case (11); do i = 1, n; lock (lock[2]); unlock (lock[2]); end do
    case (12); do i = 1, n; sync all; end do
    case (13)
      if (me > 2) return
      do i = 1, n; sync images (3 - me); end do
    case (14)
      if (me > 2) return
      do i = 1, n / 2
        if (me == 1) event post (event[2])
        event wait (event)
        if (me == 2) event post (event[1])
      end do
    case (15); do i = 1, n; call co_sum(local); end do
    case (16); do i = 1, n; call co_sum(here); end do
    case (17); do i = 1, n; call co_broadcast(local, 1); end do
    case (18)
      do i = 1, n / num_images() ! each image
        critical
          local = local + 1
        end critical
      end do
    case (19); do i = 1, n; allocate (a(512)[*]); deallocate (a); end do
    end select
  end subroutine

  real(8) function now()
    integer(int64) :: ticks, rate
    call system_clock(ticks, rate)
    now = dble(ticks) * 1d9 / dble(rate)
  end function

  real(8) function median(t)
    real(8), intent(in) :: t(:)
    integer :: i
    median = t(1)
    do i = 1, size(t)
      if (count(t < t(i)) <= size(t) / 2 .and. count(t <= t(i)) > size(t) / 2) median = t(i)
    end do
  end function
end program
