! A coarray of a module, in procedures.
! IMAGES: 2
! SAYS: box(2,2)[2]
module state
  implicit none
  integer, save :: box(3, 2)[*] = 0
contains
  subroutine send(value)
    integer, intent(in) :: value
    box(2, 2)[2] = value ! RACE: first
  end subroutine
  subroutine receive(value)
    integer, intent(out) :: value
    value = box(2, 2) ! RACE: second
  end subroutine
end module
program modules
  use state
  implicit none
  integer :: value
  value = 0
  sync all
  if (this_image() == 1) call send(5)
#ifdef MENDED
  sync all
#endif
  if (this_image() == 2) call receive(value)
  sync all
  if (value /= 0 .and. value /= 5) error stop
end program
