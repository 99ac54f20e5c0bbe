! END TEAM synchronizes the images of the team, and no others.
! IMAGES: 4
program ends_of_teams
  use iso_fortran_env
  implicit none
  type(team_type) :: half
  integer :: x[*], seen
  x = 0
  form team (1 + mod(this_image(), 2), half)
  change team (half)
    if (this_image() == 1) x = 4 ! RACE: first
    sync all
  end team
#ifdef MENDED
  sync all
#endif
  if (this_image() == 1) then
    seen = x[2] ! RACE: second
    if (seen /= 0 .and. seen /= 4) error stop
  end if
  sync all
end program
