! An atomic variable that is polled by an assignment.
! IMAGES: 2
! SAYS: or atomic subroutines for both
program atomic_load
  use iso_fortran_env
  implicit none
  integer(atomic_int_kind) :: count[*], value
  count = 0
  sync all
  if (this_image() == 1) then
    call atomic_add(count[2], 3) ! RACE: first
  else
#ifdef MENDED
    call atomic_ref(value, count)
#else
    value = count ! RACE: second
#endif
    if (value /= 0 .and. value /= 3) error stop
  end if
  sync all
end program
