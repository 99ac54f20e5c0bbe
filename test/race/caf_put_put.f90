! Two images put to the same element of a third one.
! IMAGES: 3
program put_put
  implicit none
  integer :: a(4)[*]
  a = 0
  sync all
  if (this_image() == 1) a(2)[3] = 1 ! RACE: first
#ifdef MENDED
  if (this_image() < 3) sync images (3 - this_image())
#endif
  if (this_image() == 2) a(2)[3] = 2 ! RACE: second
  sync all
  if (this_image() == 3 .and. a(2) == 0) error stop
end program
