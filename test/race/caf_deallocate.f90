! So does DEALLOCATE, also that at the end of a procedure.
! IMAGES: 2
program deallocates
  implicit none
  integer :: x(3)[*], seen
  x = 0
  call work
  if (this_image() == 2) then
    seen = x(3) ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
contains
  subroutine work
    real, allocatable :: scratch(:)[:]
    allocate (scratch(5)[*])
    scratch = 1
#ifndef MENDED
    deallocate (scratch)
#endif
    if (this_image() == 1) x(3)[2] = 5 ! RACE: first
  end subroutine
end program
