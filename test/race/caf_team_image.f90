! Image 2 of a team is another image than image 2 of all; SYNC ALL in the team orders the team's accesses.
! IMAGES: 4
program team_image
  use iso_fortran_env
  implicit none
  type(team_type) :: half
  integer :: x[*], seen
  x = 0
  form team (1 + (this_image() - 1) / 2, half)
  change team (half)
    if (this_image() == 1) x[2] = 9 ! RACE: first
#ifdef MENDED
    sync all
#endif
    if (this_image() == 2) then
      seen = x ! RACE: second
      if (seen /= 0 .and. seen /= 9) error stop
    end if
  end team
  sync all
end program
