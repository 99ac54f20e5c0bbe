! A put, and a load by its target without a statement between that orders the two.
! IMAGES: 2
! SAYS: x[2] (4 bytes)
program put_load
  implicit none
  integer :: x[*], seen
  x = 0
  sync all
  if (this_image() == 1) x[2] = 5 ! RACE: first
#ifdef MENDED
  sync all
#endif
  if (this_image() == 2) then
    seen = x ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
end program
