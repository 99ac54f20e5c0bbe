! What PRINT reads in the Fortran library.
! IMAGES: 2
! SAYS: load by WRITE of
program prints
  implicit none
  integer :: a(5)[*], x[*]
  character(80) :: line
  a = 0
  x = 0
  sync all
  if (this_image() == 1) then
    a(4)[2] = 1 ! RACE: first
#ifdef MENDED
    sync images (2)
#endif
  else
#ifdef MENDED
    sync images (1)
#endif
    write (line, *) a ! RACE: second
    if (len_trim(line) == 0) error stop
  end if
  sync all
end program
