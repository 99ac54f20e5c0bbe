! The same without SYNC MEMORY on the reader's side.
! IMAGES: 2
program flag_reader
  use iso_fortran_env
  implicit none
  integer(atomic_int_kind) :: flag[*], value
  integer :: x[*], seen
  x = 0
  flag = 0
  sync all
  if (this_image() == 1) then
    x[2] = 5 ! RACE: first
    sync memory
    call atomic_add(flag[2], 1)
  else
    value = 0
    do while (value == 0)
      call atomic_ref(value, flag)
    end do
#ifdef MENDED
    sync memory
#endif
    seen = x ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
end program
