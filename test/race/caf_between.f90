! An assignment between two other images reads and writes them.
! IMAGES: 3
! SAYS: get of
program between
  implicit none
  integer :: x(2)[*], y(2)[*]
  x = 0
  y = 0
  sync all
  if (this_image() == 1) x(:)[3] = y(:)[2] ! RACE: first
#ifdef MENDED
  sync all
#endif
  if (this_image() == 2) y(1) = 1 ! RACE: second
  sync all
end program
