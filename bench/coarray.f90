! SPDX-License-Identifier: BSD-3-Clause
! coarray: times of coarray statements between images 1 and 2, in nanoseconds: the median of 7 rounds. Standard Fortran,
! so it also measures other libraries of gfortran's coarrays.
!
! Image 1 puts and gets; image 2 waits in SYNC IMAGES. The other statements are executed by both.
program coarray
  use iso_fortran_env
  implicit none
  type box
    real(8), allocatable :: a(:)
  end type
  integer, parameter :: samples = 7
  real(8), save :: one[*], page(512)[*], matrix(1024, 1024)[*]
  type(box), save :: x[*]
  type(event_type), save :: event[*]
  type(lock_type), save :: lock[*]
  integer(atomic_int_kind), save :: counter[*]
  real(8), allocatable :: a(:)[:]
  real(8) :: local, here(512), row(1024), t(samples)
  integer :: me, i, k, n, index(64), scale
  character(len=20) :: argument

  me = this_image()
  scale = 1
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) scale
  if (num_images() /= 2) error stop 'coarray: start it with 2 images'
  allocate (x%a(512))
  x%a = 0
  one = 0; page = 0; matrix = 0; here = 0; row = 0; local = 0
  index = [(mod(i * 37, 1024) + 1, i = 1, 64)]
  sync all

  n = 100000 / scale
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        one[2] = local
      end do
    end if
    call end(k, n, 'put of 8 bytes')
  end do
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        local = one[2]
      end do
    end if
    call end(k, n, 'get of 8 bytes')
  end do
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        page(:)[2] = here
      end do
    end if
    call end(k, n, 'put of 4 KiB')
  end do
  n = 2000 / scale
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        matrix(7, :)[2] = row
      end do
    end if
    call end(k, n, 'put of a row of 1024 elements')
  end do
  n = 20000 / scale
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        here(1:64) = matrix(index, 5)[2]
      end do
    end if
    call end(k, n, 'get of 64 elements by a vector subscript')
  end do
  n = 50000 / scale
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        x[2]%a(17) = local
      end do
    end if
    call end(k, n, 'put to an element of an allocatable component')
  end do
  n = 5000 / scale
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        x[2]%a(:) = here
      end do
    end if
    call end(k, n, 'put of 4 KiB to an allocatable component')
  end do
  n = 50000 / scale
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        call atomic_add(counter[2], 1)
      end do
    end if
    call end(k, n, 'atomic add')
  end do
  do k = 1, samples
    call begin(k)
    if (me == 1) then
      do i = 1, n
        lock (lock[2])
        unlock (lock[2])
      end do
    end if
    call end(k, n, 'lock and unlock')
  end do
  do k = 1, samples
    call begin(k)
    do i = 1, n
      sync all
    end do
    call end(k, n, 'sync all')
  end do
  do k = 1, samples
    call begin(k)
    do i = 1, n
      sync images (3 - me)
    end do
    call end(k, n, 'sync images')
  end do
  do k = 1, samples
    call begin(k)
    do i = 1, n / 2
      if (me == 1) event post (event[2])
      event wait (event)
      if (me == 2) event post (event[1])
    end do
    call end(k, n, 'event, one way')
  end do
  do k = 1, samples
    call begin(k)
    do i = 1, n
      call co_sum(local)
    end do
    call end(k, n, 'co_sum of a real')
  end do
  do k = 1, samples
    call begin(k)
    do i = 1, n
      call co_broadcast(local, 1)
    end do
    call end(k, n, 'co_broadcast of a real')
  end do
  n = 500 / scale
  do k = 1, samples
    call begin(k)
    do i = 1, n
      critical
        local = local + 1
      end critical
    end do
    call end(k, 2 * n, 'critical, contended')
  end do
  do k = 1, samples
    call begin(k)
    do i = 1, n
      allocate (a(512)[*])
      deallocate (a)
    end do
    call end(k, n, 'allocate and deallocate')
  end do
contains
  subroutine begin(k)
    integer, intent(in) :: k
    sync images (*)
    t(k) = now()
  end subroutine

  subroutine end(k, n, what)
    integer, intent(in) :: k, n
    character(len=*), intent(in) :: what
    real(8) :: sorted(samples), smallest
    integer :: i, at
    t(k) = (now() - t(k)) / n
    sync images (*)
    if (k < samples .or. me /= 1) return
    sorted = t
    do i = 1, samples
      at = i - 1 + minloc(sorted(i:), 1)
      smallest = sorted(at)
      sorted(at) = sorted(i)
      sorted(i) = smallest
    end do
    print '(a,t50,f12.0)', what, sorted((samples + 1) / 2)
  end subroutine

  real(8) function now()
    integer(int64) :: ticks, rate
    call system_clock(ticks, rate)
    now = dble(ticks) * 1d9 / dble(rate)
  end function
end program
