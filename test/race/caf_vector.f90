! A vector subscript.
! IMAGES: 2
! SAYS: a(9)[2]
program vectors
  implicit none
  integer :: a(10)[*], v(3), w(3)
  a = 0
  v = [2, 9, 5]
  w = 1
  sync all
  if (this_image() == 1) then
    a(v)[2] = w ! RACE: first
  else
#ifdef MENDED
    a(8) = 3
#else
    a(9) = 3 ! RACE: second
#endif
  end if
  sync all
end program
