! A get of what its owner stores in the same segment.
! IMAGES: 2
program get_store
  implicit none
  integer, save :: x[*]
  integer :: seen
  x = 0
  sync all
  if (this_image() == 1) x = 7 ! RACE: first
#ifdef MENDED
  sync images (3 - this_image())
#endif
  if (this_image() == 2) then
    seen = x[1] ! RACE: second
    if (seen /= 0 .and. seen /= 7) error stop
  end if
  sync all
end program
