! A coarray that a team has allocated.
! IMAGES: 4
! SAYS: w(4)[
program team_coarray
  use iso_fortran_env
  implicit none
  type(team_type) :: half
  integer, allocatable :: w(:)[:]
  integer :: seen
  form team (1 + mod(this_image(), 2), half)
  change team (half)
    allocate (w(10)[*])
    w = 0
    sync all
    if (this_image() == 2) w(4)[1] = 9 ! RACE: first
#ifdef MENDED
    sync images (*)
#endif
    if (this_image() == 1) then
      seen = w(4) ! RACE: second
      if (seen /= 0 .and. seen /= 9) error stop
    end if
    deallocate (w)
  end team
end program
