! The same with zeros.
! IMAGES: 2
program zeros
  implicit none
  real(8) :: a(200)[*]
  a = 1
  sync all
  if (this_image() == 2) a(:)[1] = 2 ! RACE: first
#ifdef MENDED
  sync all
#endif
  if (this_image() == 1) a = 0 ! RACE: second
  sync all
end program
