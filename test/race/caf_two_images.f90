! SYNC IMAGES with the wrong image orders nothing for the one that reads.
! IMAGES: 3
program two_images
  implicit none
  integer :: x[*], seen
  x = 0
  sync all
  if (this_image() == 1) then
    x[3] = 5 ! RACE: first
#ifdef MENDED
    sync images (3)
#else
    sync images (2)
#endif
  else if (this_image() == 2) then
#ifndef MENDED
    sync images (1)
#endif
  else
#ifdef MENDED
    sync images (1)
#endif
    seen = x ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
end program
