! ALLOCATE of a coarray synchronizes, that of another variable does not.
! IMAGES: 2
program allocates
  implicit none
  integer :: x[*], seen
#ifdef MENDED
  real, allocatable :: other(:)[:]
#else
  real, allocatable :: other(:)
#endif
  x = 0
  sync all
  if (this_image() == 1) x[2] = 5 ! RACE: first
#ifdef MENDED
  allocate (other(100)[*])
#else
  allocate (other(100))
#endif
  other = 1
  if (this_image() == 2) then
    seen = x ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
  if (sum(other) /= 100) error stop
end program
