! Collective subroutines order no segments.
! IMAGES: 2
! SAYS: CO_SUM of
program co_sums
  implicit none
  integer :: x(3)[*]
  x = 1
  call co_sum(x) ! RACE: first
#ifdef MENDED
  sync all
#endif
  if (this_image() == 1) x(2)[2] = 5 ! RACE: second
  sync all
end program
