! SPDX-License-Identifier: BSD-3-Clause
! teams: the images form two teams, which compute different sums at the same time; then all compare them.
program two_teams
  use iso_fortran_env
  implicit none
  type(team_type) :: half
  integer, save :: result(2)[*]
  integer, allocatable :: part(:)[:]
  integer :: me, n, number, total, i
  logical :: first

  me = this_image()
  n = num_images()
  number = merge(1, 2, me <= (n + 1) / 2)
  result = 0
  sync all
  form team (number, half)
  change team (half)
    allocate (part(4)[*]) ! END TEAM deallocates it
    part = [(number * i, i = 1, 4)]
    sync all
    total = sum(part(:)[num_images()])
    call co_sum(total)
    total = total / num_images()
    first = this_image() == 1
  end team
  if (first) result(number)[1] = total ! one image of each team
  sync all
  if (me == 1) then
    if (result(1) /= 10 .or. (n > 1 .and. result(2) /= 20)) error stop 'teams: a sum is wrong'
    print '(a,i0,a)', 'teams: ', n, ' images in two teams'
  end if
end program
