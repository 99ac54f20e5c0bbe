! SPDX-License-Identifier: BSD-3-Clause
! ring: each PE puts a row of numbers into the memory of the next PE, adds to a counter of PE 0, and all sum what they
! have got. Compile, where shmem.pc is found by pkg-config, and run:
!
!     gfortran shmem_c.f90 ring.f90 $(pkg-config --libs shmem) -o ring
!     mpiexec.mpich -n 4 ./ring
program ring
  use shmem_c
  implicit none
  integer, parameter :: length = 8

  ! What other PEs write is in the symmetric heap. `target`: it changes without a statement of this program.
  real(c_double), pointer :: row(:), total(:)
  integer(c_long), pointer :: counter
  type(c_ptr) :: row_block, total_block, counter_block
  real(c_double) :: mine(length), want
  integer(c_int) :: me, n
  integer(c_long) :: old
  integer :: i

  call shmem_init()
  me = shmem_my_pe()
  n = shmem_n_pes()
  row_block = shmem_malloc(length * c_sizeof(want))
  total_block = shmem_malloc(length * c_sizeof(want))
  counter_block = shmem_malloc(c_sizeof(old))
  if (.not. (c_associated(row_block) .and. c_associated(total_block) .and. c_associated(counter_block))) then
    call stop_all('shmem_malloc: no memory')
  end if
  call c_f_pointer(row_block, row, [length])
  call c_f_pointer(total_block, total, [length])
  call c_f_pointer(counter_block, counter)
  counter = 0
  call shmem_barrier_all()

  mine = [(real(me + 1, c_double) * i, i = 1, length)]
  call shmem_double_put(row, mine, int(length, c_size_t), mod(me + 1, n))
  old = shmem_long_atomic_fetch_add(counter, 1_c_long, 0_c_int)
  if (old < 0 .or. old >= n) call stop_all('the counter counts something else')
  call shmem_barrier_all()

  ! The PE before this one has put its row.
  want = real(mod(me + n - 1, n) + 1, c_double)
  if (any(row /= [(want * i, i = 1, length)])) call stop_all('the row is not that of the PE before')
  if (me == 0 .and. counter /= n) call stop_all('the counter has missed a PE')

  if (shmem_double_sum_reduce(shmem_team_world, total, row, int(length, c_size_t)) /= 0) then
    call stop_all('shmem_double_sum_reduce')
  end if
  want = real(n, c_double) * real(n + 1, c_double) / 2
  if (any(total /= [(want * i, i = 1, length)])) call stop_all('the sum is wrong')

  if (me == 0) print '(a, i0, a, f0.1)', 'ring of ', n, ' PEs: the first sum is ', total(1)
  call shmem_free(counter_block)
  call shmem_free(total_block)
  call shmem_free(row_block)
  call shmem_finalize()

contains

  subroutine stop_all(text)
    character(*), intent(in) :: text
    print '(a, i0, 2a)', 'PE ', me, ': ', text
    call shmem_global_exit(1_c_int)
  end subroutine
end program
