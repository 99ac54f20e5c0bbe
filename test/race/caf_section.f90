! Sections that overlap in one element.
! IMAGES: 2
! SAYS: a(4)[2]
program sections
  implicit none
  real :: a(0:9)[*]
  real :: total
  integer :: from
  a = 0
  total = 0
#ifdef MENDED
  from = 5
#else
  from = 4
#endif
  sync all
  if (this_image() == 1) then
    a(:4)[2] = 1 ! RACE: first
  else
    total = sum(a(from:)) ! RACE: second
  end if
  sync all
  if (total > 1) error stop
end program
