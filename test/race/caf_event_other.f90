! The wrong element of an array of events.
! IMAGES: 3
program event_other
  use iso_fortran_env
  implicit none
  type(event_type), allocatable :: ready(:)[:]
  integer :: x(2)[*], seen
  allocate (ready(2)[*])
  x = 0
  sync all
  if (this_image() < 3) then
    if (this_image() == 1) x(1)[3] = 5 ! RACE: first
    event post (ready(this_image())[3])
  else
#ifdef MENDED
    event wait (ready(1))
#else
    event wait (ready(2))
#endif
    seen = x(1) ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
end program
