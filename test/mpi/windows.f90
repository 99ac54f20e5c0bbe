! SPDX-License-Identifier: BSD-3-Clause
! MPI's windows from Fortran: Broken by a call of libmpichfort that does not arrive at librma.
program windows
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: rank, n, ierr, win, right, key, len
    integer(kind=mpi_address_kind) :: bytes, disp, value, extra
    logical :: flag
    type(c_ptr) :: base
    real(8), pointer :: a(:)
    real(8) :: x
    character(len=mpi_max_object_name) :: name
    external :: delete
    integer :: deleted
    common /counts/ deleted
    deleted = 0
    call mpi_init(ierr)
    call mpi_comm_rank(mpi_comm_world, rank, ierr)
    call mpi_comm_size(mpi_comm_world, n, ierr)
    right = mod(rank + 1, n)
    bytes = 64
    call mpi_win_allocate(bytes, 8, mpi_info_null, mpi_comm_world, base, win, ierr)
    call c_f_pointer(base, a, [8])
    a = -1
    call mpi_win_fence(0, win, ierr)
    x = rank
    disp = 3
    call mpi_put(x, 1, mpi_double_precision, right, disp, 1, mpi_double_precision, win, ierr)
    call mpi_win_fence(0, win, ierr)
    call mpi_accumulate(x, 1, mpi_double_precision, right, disp, 1, mpi_double_precision, mpi_sum, win, ierr)
    call mpi_win_fence(0, win, ierr)
    if (a(4) /= 2 * mod(rank + n - 1, n)) call fail(1)
    call mpi_win_get_attr(win, mpi_win_size, value, flag, ierr)
    if (.not. flag .or. value /= 64) call fail(2)
    call mpi_win_get_attr(win, mpi_win_disp_unit, value, flag, ierr)
    if (.not. flag .or. value /= 8) call fail(3)
    extra = 77
    call mpi_win_create_keyval(mpi_win_null_copy_fn, delete, key, extra, ierr)
    value = 123456789012_8
    call mpi_win_set_attr(win, key, value, ierr)
    value = 0
    call mpi_win_get_attr(win, key, value, flag, ierr)
    if (.not. flag .or. value /= 123456789012_8) call fail(4)
    call mpi_win_set_name(win, "a window", ierr)
    call mpi_win_get_name(win, name, len, ierr)
    if (name(1:len) /= "a window") call fail(5)
    call mpi_win_set_errhandler(win, mpi_errors_return, ierr)
    call mpi_win_free(win, ierr)
    if (deleted /= 1) call fail(6)
    ! Each datatype is a new one, and has no attributes.
    deleted = 0
    call mpi_type_create_keyval(mpi_type_null_copy_fn, delete, key, extra, ierr)
    do len = 1, 3
        call mpi_type_vector(4, 2, 7, mpi_integer, right, ierr)
        call mpi_type_commit(right, ierr)
        call mpi_type_get_attr(right, key, value, flag, ierr)
        if (flag) call fail(7)
        value = 123456789012_8
        call mpi_type_set_attr(right, key, value, ierr)
        call mpi_type_free(right, ierr)
        if (deleted /= len) call fail(8)
    end do
    call mpi_barrier(mpi_comm_world, ierr)
    if (rank == 0) print '(a)', "passed"
    call mpi_finalize(ierr)
contains
    subroutine fail(where)
        integer, intent(in) :: where
        print *, "process", rank, "check", where
        call mpi_abort(mpi_comm_world, 1, ierr)
    end subroutine
end program

subroutine delete(win, key, value, extra, ierr)
    use mpi
    implicit none
    integer :: win, key, ierr
    integer(kind=mpi_address_kind) :: value, extra
    integer :: deleted
    common /counts/ deleted
    if (value == 123456789012_8 .and. extra == 77) deleted = deleted + 1
    ierr = mpi_success
end subroutine
