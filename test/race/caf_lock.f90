! A sum under a lock, which one image does not take.
! IMAGES: 2
program locks
  use iso_fortran_env
  implicit none
  type(lock_type) :: guard[*]
  integer :: total[*]
  total = 0
  sync all
  if (this_image() == 1) then
    lock (guard[1])
    total = total + 1 ! RACE: first
    unlock (guard[1])
  else
#ifdef MENDED
    lock (guard[1])
#endif
    total[1] = total[1] + 1 ! RACE: second
#ifdef MENDED
    unlock (guard[1])
#endif
  end if
  sync all
end program
