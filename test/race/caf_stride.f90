! A put with a stride writes every second element.
! IMAGES: 2
! SAYS: a(1)[2]
program strides
  implicit none
  integer, allocatable :: a(:)[:]
  integer :: seen
  allocate (a(-3:6)[*])
  a = 0
  sync all
  if (this_image() == 1) then
    a(-3:5:2)[2] = 1 ! RACE: first
  else
#ifdef MENDED
    seen = a(2)
#else
    seen = a(1) ! RACE: second
#endif
    if (seen > 1) error stop
  end if
  sync all
end program
