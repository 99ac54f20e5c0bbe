! LOCK with ACQUIRED_LOCK=, whose result one image ignores.
! IMAGES: 2
program acquired
  use iso_fortran_env
  implicit none
  type(lock_type) :: guard[*]
  integer :: x[*]
  logical :: got
  x = 0
  if (this_image() == 1) lock (guard[1])
  sync all
  if (this_image() == 1) then
    x = 1 ! RACE: first
    sync images (2)
    unlock (guard[1])
  else
    lock (guard[1], acquired_lock=got)
#ifdef MENDED
    sync images (1)
#endif
    x[1] = 2 ! RACE: second
#ifndef MENDED
    sync images (1)
#endif
    if (got) unlock (guard[1])
  end if
  sync all
end program
