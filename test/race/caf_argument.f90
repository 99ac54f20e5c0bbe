! A section that the compiler copies for a procedure whose dummy argument is contiguous.
! IMAGES: 2
program arguments
  implicit none
  integer, allocatable :: a(:)[:]
  integer :: seen
  allocate (a(20)[*])
  a = 0
  sync all
  if (this_image() == 1) a(7)[2] = 1 ! RACE: first
#ifdef MENDED
  sync all
#endif
  if (this_image() == 2) then
    call look(a(1::3), 7, seen) ! RACE: second
    if (seen > 1) error stop
  end if
  sync all
contains
  subroutine look(v, n, seen)
    integer, intent(in) :: n, v(n)
    integer, intent(out) :: seen
    seen = 0
    if (n > 6) seen = maxval(v)
  end subroutine
end program
