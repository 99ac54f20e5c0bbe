! An event that is posted before the data are put.
! IMAGES: 2
program events
  use iso_fortran_env
  implicit none
  type(event_type) :: ready[*]
  integer :: x(3)[*], seen
  x = 0
  sync all
  if (this_image() == 1) then
#ifndef MENDED
    event post (ready[2])
#endif
    x(3)[2] = 5 ! RACE: first
#ifdef MENDED
    event post (ready[2])
#endif
  else
    event wait (ready)
    seen = x(3) ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
end program
