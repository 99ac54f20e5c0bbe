! What MATMUL and its relatives read in the Fortran library.
! IMAGES: 2
! SAYS: a(17,3)[2]
program products
  implicit none
  real, allocatable :: a(:, :)[:]
  real :: b(40, 40), c(40, 40)
  allocate (a(40, 40)[*])
  a = 1
  b = 2
  sync all
  if (this_image() == 1) a(17, 3)[2] = 0 ! RACE: first
#ifdef MENDED
  sync all
#endif
  if (this_image() == 2) then
    c = matmul(a, b) ! RACE: second
    if (c(1, 1) < 78) error stop
  end if
  sync all
end program
