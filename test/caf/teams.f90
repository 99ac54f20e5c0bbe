! SPDX-License-Identifier: BSD-3-Clause
! teams: forming, changing, nesting; coarrays, synchronization and collectives in a team.
!
! Broken by image numbers of another team, by coarrays of a team that are taken for symmetric ones, and by a barrier
! of a team that waits for other images, or not for all of its own.
program teams
  use iso_fortran_env
  implicit none
  integer, save :: x[*]
  type(team_type) :: team, inner
  integer :: me, n, mine, round, i, s, number, members
  integer, allocatable :: a(:)[:], outer(:)[:]

  me = this_image()
  n = num_images()
  number = 1 + mod(me, 2)
  members = merge(n / 2, (n + 1) / 2, number == 1)
  if (number == 1) members = count([(mod(i, 2) == 0, i = 1, n)])
  if (number == 2) members = count([(mod(i, 2) == 1, i = 1, n)])
  call expect(team_number(), -1, 'number of the initial team')
  allocate (outer(2)[*])
  do round = 1, 100
    form team (number, team)
    x = me
    sync all
    change team (team)
      mine = this_image()
      call expect(num_images(), members, 'num_images')
      call expect(team_number(), number, 'team_number')
      call expect(x[mine], me, 'own image')
      call expect(mod(x[members], 2), number - 1, 'an image of the team')
      s = 1
      call co_sum(s)
      call expect(s, members, 'co_sum in a team')
      s = me
      call co_broadcast(s, 1)
      call expect(s, merge(2, 1, number == 1), 'co_broadcast in a team')
      allocate (a(10 * number)[*])
      a = me
      sync team (team)
      i = merge(1, mine + 1, mine == members)
      call expect(a(10)[i], x[i], 'a coarray of a team')
      sync all
      a(3)[i] = 1000 + me
      outer(1)[i] = 5
      sync all
      if (members > 1) then
        if (a(3) <= 1000 .or. mod(a(3), 2) /= number - 1) error stop 'put to a coarray of a team'
      end if
      sync images (*)
      if (mod(round, 2) == 0) deallocate (a) ! else END TEAM does it
      if (mod(round, 4) == 0) allocate (a(members)[*], source=x)
      form team (merge(1, 2, mine == 1), inner)
      change team (inner)
        if (allocated(a)) then
          i = a(1)[num_images()]
          call expect(i, x[num_images()], 'a coarray of the outer team')
        end if
        call expect(num_images(), merge(1, members - 1, mine == 1), 'num_images of the inner team')
        s = x[num_images()]
        if (mod(s, 2) /= number - 1) error stop 'the inner team'
        sync all
      end team
      call expect(this_image(), mine, 'this_image after the inner team')
    end team
    if (allocated(a)) error stop 'END TEAM has not deallocated the coarray'
    call expect(this_image(), me, 'this_image after the team')
    call expect(num_images(), n, 'num_images after the team')
    sync all
    if (n > 1) call expect(x[n], n, 'an image of the initial team')
    sync all
    ! a number that other images had in the round before
    s = (me - 1) / (1 + mod(round, 2))
    form team (1 + mod(s, 2), team)
    change team (team)
      i = x[1]
      i = (i - 1) / (1 + mod(round, 2))
      call expect(mod(i, 2), mod(s, 2), 'an image of a team with a former number')
    end team
  end do
  if (me == 1) print '(a)', 'teams: passed'
contains
  include 'expect.inc'
end program
