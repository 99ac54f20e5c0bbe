! A wait for one of two posts: the first one is ordered before it, the second one is not.
! IMAGES: 3
program event_count
  use iso_fortran_env
  implicit none
  type(event_type) :: ready[*], next[*]
  integer :: x(2)[*], seen
  x = 0
  sync all
  if (this_image() == 1) then
    x(1)[3] = 5
    event post (ready[3])
    event post (next[2])
  else if (this_image() == 2) then
    event wait (next)
    x(2)[3] = 5 ! RACE: first
    event post (ready[3])
  else
#ifdef MENDED
    event wait (ready, until_count=2)
#else
    event wait (ready)
#endif
    seen = x(1)
    seen = x(2) ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
end program
