! SYNC TEAM with the team that does not contain the other image.
! IMAGES: 4
program sync_teams
  use iso_fortran_env
  implicit none
  type(team_type) :: half, pair
  integer :: x[*], seen
  x = 0
  form team (1 + (this_image() - 1) / 2, half)
  form team (1 + mod(this_image(), 2), pair)
  if (this_image() == 1) x[3] = 9 ! RACE: first
#ifdef MENDED
  sync team (pair)
#else
  sync team (half)
#endif
  if (this_image() == 3) then
    seen = x ! RACE: second
    if (seen /= 0 .and. seen /= 9) error stop
  end if
  sync all
end program
