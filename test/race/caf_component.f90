! Components of a coarray of a derived type.
! IMAGES: 2
! SAYS: p(2)[2]%place(3)
program components
  implicit none
  type particle
    real :: place(3)
    integer :: charge
  end type
  type(particle) :: p(4)[*]
  integer :: i
  do i = 1, 4
    p(i) = particle([0., 0., 0.], 0)
  end do
  sync all
  if (this_image() == 1) then
    p(2)[2]%place(3) = 1 ! RACE: first
  else
#ifdef MENDED
    p(2)%charge = 1
#else
    p(2)%place(3) = p(2)%place(3) + 1 ! RACE: second
#endif
  end if
  sync all
end program
