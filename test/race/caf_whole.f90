! The assignment of whole arrays, which the compiler makes a copy of memory.
! IMAGES: 2
! SAYS: a(177)[1]
program whole
  implicit none
  integer :: a(200)[*], b(200), seen
  b = 1
  a = 0
  sync all
  if (this_image() == 1) a = b ! RACE: first
#ifdef MENDED
  sync all
#endif
  if (this_image() == 2) then
    seen = a(177)[1] ! RACE: second
    if (seen > 1) error stop
  end if
  sync all
end program
