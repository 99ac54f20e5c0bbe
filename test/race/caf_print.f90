! What PRINT and WRITE read in the Fortran library. They define nothing: gets of the same at the same time are no race.
! IMAGES: 2
! SAYS: a(4)[2]
program prints
  implicit none
  integer :: a(5)[*], seen
  real :: x[*], y(3)[*], z
  character(3) :: c[*]
  character(200) :: line
  a = 0
  x = 0
  y = 1
  c = 'abc'
  sync all
  if (this_image() == 1) then
    z = x[2] + y(2)[2]
    line = c[2]
    a(4)[2] = 1 ! RACE: first
#ifdef MENDED
    sync images (2)
#endif
  else
    write (line, *) x, y, y(2), c
#ifdef MENDED
    sync images (1)
#endif
    write (line, *) a ! RACE: second
  end if
  seen = len_trim(line)
  if (seen == 0) error stop
  sync all
end program
