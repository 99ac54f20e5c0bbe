! SPDX-License-Identifier: BSD-3-Clause
! shmem_c: the calls of OpenSHMEM that ring.f90 makes, bound to the functions in C. OpenSHMEM has had no interface for
! Fortran since 1.5; a program declares what it needs like this, a few lines for each call. The specification has the
! prototypes. integer(c_int) is int, integer(c_long) long, integer(c_size_t) size_t, real(c_double) double. Arguments
! that C takes by value have `value`; pointers to data are assumed-size arrays, or type(c_ptr) where any type is meant.
module shmem_c
  use, intrinsic :: iso_c_binding
  implicit none

  ! Handles are small numbers that have the type of a pointer in C (shmem.h).
  integer(c_intptr_t), parameter :: shmem_team_world = 1_c_intptr_t

  interface
    subroutine shmem_init() bind(c)
    end subroutine

    subroutine shmem_finalize() bind(c)
    end subroutine

    function shmem_my_pe() bind(c) result(pe)
      import :: c_int
      integer(c_int) :: pe
    end function

    function shmem_n_pes() bind(c) result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    ! A null pointer if there is no memory. c_f_pointer makes an array of it.
    function shmem_malloc(bytes) bind(c) result(block)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
      type(c_ptr) :: block
    end function

    subroutine shmem_free(block) bind(c)
      import :: c_ptr
      type(c_ptr), value :: block
    end subroutine

    subroutine shmem_double_put(dest, source, nelems, pe) bind(c)
      import :: c_double, c_int, c_size_t
      real(c_double), intent(inout) :: dest(*)
      real(c_double), intent(in) :: source(*)
      integer(c_size_t), value :: nelems
      integer(c_int), value :: pe
    end subroutine

    function shmem_long_atomic_fetch_add(dest, change, pe) bind(c) result(old)
      import :: c_int, c_long
      integer(c_long), intent(inout) :: dest
      integer(c_long), value :: change
      integer(c_int), value :: pe
      integer(c_long) :: old
    end function

    subroutine shmem_barrier_all() bind(c)
    end subroutine

    ! 0 if it succeeds.
    function shmem_double_sum_reduce(team, dest, source, nreduce) bind(c) result(code)
      import :: c_double, c_int, c_intptr_t, c_size_t
      integer(c_intptr_t), value :: team
      real(c_double), intent(inout) :: dest(*)
      real(c_double), intent(in) :: source(*)
      integer(c_size_t), value :: nreduce
      integer(c_int) :: code
    end function

    subroutine shmem_global_exit(status) bind(c)
      import :: c_int
      integer(c_int), value :: status
    end subroutine
  end interface
end module
