! A coarray as an argument of a procedure.
! IMAGES: 2
! SAYS: a(6)[2]
program dummies
  implicit none
  real(8), save :: a(6)[*]
  a = 0
  sync all
  call work(a, 6)
  sync all
contains
  subroutine work(v, n)
    integer, intent(in) :: n
    real(8) :: v(n)[*]
    if (this_image() == 1) v(n)[2] = 1 ! RACE: first
#ifdef MENDED
    sync all
#endif
    if (this_image() == 2) v(n) = v(n) + 1 ! RACE: second
  end subroutine
end program
