! A row of a matrix, and a column that crosses it.
! IMAGES: 2
! SAYS: m(3,5)[2]
program rows
  implicit none
  integer :: m(4, 6)[*], v(6)
  m = 0
  v = 1
  sync all
  if (this_image() == 1) then
    m(3, :)[2] = v ! RACE: first
  else
#ifdef MENDED
    m(:2, 5) = 2
#else
    m(:, 5) = 2 ! RACE: second
#endif
  end if
  sync all
end program
