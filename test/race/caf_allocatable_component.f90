! An element of an allocatable component.
! IMAGES: 2
! SAYS: l[2]%values(1)
program allocatable_components
  implicit none
  type list
    integer :: n
    integer, allocatable :: values(:)
  end type
  type(list) :: l[*]
  l%n = 3
  allocate (l%values(0:2))
  l%values = 0
  sync all
  if (this_image() == 1) then
    l[2]%values(1) = 5 ! RACE: first
  else
#ifdef MENDED
    l%values(2) = 6
#else
    l%values(1) = 6 ! RACE: second
#endif
  end if
  sync all
end program
