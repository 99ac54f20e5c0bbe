! A component that its owner allocates while another image refers to it.
! IMAGES: 2
program component_allocated
  implicit none
  type list
    integer, allocatable :: values(:)
  end type
  type(list) :: l[*]
  integer :: seen
  allocate (l%values(3))
  l%values = 0
  sync all
  if (this_image() == 2) then
    seen = l[1]%values(2) ! RACE: first
    if (seen /= 0) error stop
  end if
  sync memory
#ifdef MENDED
  sync all
#else
  call wait_a_little
#endif
  if (this_image() == 1) then
    deallocate (l%values) ! RACE: second
    allocate (l%values(5))
  end if
  sync all
contains
  subroutine wait_a_little
    use iso_fortran_env
    integer(atomic_int_kind), save :: flag[*]
    integer(atomic_int_kind) :: value
    ! Atomics without SYNC MEMORY around order nothing: image 1 only comes later.
    if (this_image() == 2) call atomic_define(flag[1], 1)
    value = 0
    do while (this_image() == 1 .and. value == 0)
      call atomic_ref(value, flag)
    end do
  end subroutine
end program
