! SPDX-License-Identifier: BSD-3-Clause
! Coarrays, MPI's windows, OpenSHMEM and rma.h in one program, which the coarrays start: each writes to memory of its
! own and to that of others, first without and then with the other interfaces, and after they have ended.
!
! Broken by windows that begin only with MPI_Init, by a runtime that starts twice, and by coarrays that end with
! OpenSHMEM.
program hybrid
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine shmem_init() bind(c)
    end subroutine
    subroutine shmem_finalize() bind(c)
    end subroutine
    subroutine shmem_barrier_all() bind(c)
    end subroutine
    subroutine shmem_long_p(dest, value, pe) bind(c)
      import
      type(c_ptr), value :: dest
      integer(c_long), value :: value
      integer(c_int), value :: pe
    end subroutine
    integer(c_int) function rma_init() bind(c)
      import
    end function
    integer(c_int) function rma_finalize() bind(c)
      import
    end function
    integer(c_int) function rma_barrier_all() bind(c)
      import
    end function
    integer(c_int) function rma_put(dest, source, size, pe) bind(c)
      import
      type(c_ptr), value :: dest, source
      integer(c_size_t), value :: size
      integer(c_int), value :: pe
    end function
  end interface
  integer(c_long), save, target :: static(8)[*]
  integer(c_long), save, target :: global(8)
  integer(c_long), allocatable, target :: heap(:)[:]
  integer(c_long), save, target :: mine
  integer :: rank, n, right, left, e, pass, code
  logical :: begun

  call MPI_Initialized(begun, e)
  if (.not. begun) call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, n, e)
  if (rank /= this_image() - 1 .or. n /= num_images()) call wrong('the rank')
  right = mod(rank + 1, n)
  left = mod(rank + n - 1, n)
  allocate (heap(16)[*])
  do pass = 1, 4
    mine = 100 * pass + rank
    if (pass == 2) call shmem_init()
    if (pass == 2) code = rma_init()
    if (pass == 3) call shmem_finalize()
    if (pass == 4) code = rma_finalize()
    call use_coarrays()
    call use_windows()
    if (pass == 2) call use_shmem()
    if (pass == 2 .or. pass == 3) call use_rma()
  end do
  if (.not. begun) call MPI_Finalize(e)
  if (rank == 0) print '(a)', 'passed'

contains

  integer(c_long) function of_left()
    of_left = 100 * pass + left
  end function

  subroutine wrong(what)
    character(*), intent(in) :: what
    write (0, *) 'image', this_image(), 'pass', pass, 'wrong: ', what
    error stop 1
  end subroutine

  subroutine use_coarrays()
    static(1)[right + 1] = mine
    heap(2)[right + 1] = mine
    sync all
    if (static(1) /= of_left()) call wrong('a static coarray')
    if (heap(2) /= of_left()) call wrong('an allocated coarray')
    sync all
  end subroutine

  subroutine use_windows()
    integer :: win
    integer(MPI_ADDRESS_KIND) :: size, at
    size = 8 * 16
    at = 4
    call MPI_Win_create(heap, size, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call MPI_Win_fence(0, win, e)
    call MPI_Put(mine, 1, MPI_INTEGER8, right, at, 1, MPI_INTEGER8, win, e)
    call MPI_Win_fence(0, win, e)
    if (heap(5) /= of_left()) call wrong('a window over a coarray')
    call MPI_Win_free(win, e)
    size = 8 * 8
    call MPI_Win_create(global, size, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, e)
    call MPI_Put(mine, 1, MPI_INTEGER8, right, at, 1, MPI_INTEGER8, win, e)
    call MPI_Win_unlock(right, win, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    if (global(5) /= of_left()) call wrong('a window over a variable')
    call MPI_Win_free(win, e)
  end subroutine

  subroutine use_shmem()
    call shmem_long_p(c_loc(global(1)), mine, right)
    call shmem_long_p(c_loc(heap(3)), mine, right)
    call shmem_barrier_all()
    if (global(1) /= of_left() .or. heap(3) /= of_left()) call wrong('shmem_long_p')
    call shmem_barrier_all()
  end subroutine

  subroutine use_rma()
    code = rma_put(c_loc(global(2)), c_loc(mine), 8_c_size_t, right)
    if (code /= 0) call wrong('what rma_put returns')
    code = rma_barrier_all()
    if (global(2) /= of_left()) call wrong('rma_put')
    code = rma_barrier_all()
  end subroutine
end program
