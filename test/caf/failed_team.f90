! SPDX-License-Identifier: BSD-3-Clause
! failed_team: an image that fails inside of a team of half of the images, and what the rest of that team learns.
!
! Broken by an image of the team that waits for ever for the failed one, by a status that is not the standard's, and by
! the other team, if it learns anything.
program failed_team
  use iso_fortran_env
  implicit none
  integer, save :: x[*]
  type(team_type) :: team
  integer, allocatable :: list(:), a(:)[:]
  integer :: me, number, members, mine, stat, i, s, many(1000)

  me = this_image()
  number = 1 + mod(me, 2)
  form team (number, team)
  change team (team)
    members = num_images()
    mine = this_image()
    x = me
    sync all
    if (number == 2 .and. members > 1) then
      if (mine == members) fail image
      sync all (stat=stat)
      call expect(stat, stat_failed_image, 'sync all')
      s = 1
      call co_sum(s, stat=stat)
      call expect(stat, stat_failed_image, 'co_sum')
      call co_broadcast(s, 1, stat=stat)
      call expect(stat, stat_failed_image, 'co_broadcast')
      many = 1
      call co_max(many, result_image=1, stat=stat)
      call expect(stat, stat_failed_image, 'co_max of many')
      sync images (members, stat=stat)
      call expect(stat, stat_failed_image, 'sync images')
      sync images (*, stat=stat)
      call expect(stat, stat_failed_image, 'sync images (*)')
      allocate (a(5)[*], stat=stat)
      call expect(stat, stat_failed_image, 'allocate')
      i = x[members, stat=stat]
      call expect(stat, stat_failed_image, 'get')
      call expect(x[1], 1, 'get from an image that is left')
      call expect(image_status(members), stat_failed_image, 'image_status')
      list = failed_images()
      call expect(size(list), 1, 'failed_images')
      call expect(list(1), members, 'the failed image')
      stop ! END TEAM has no STAT= in gfortran 12, so it would end the job
    end if
    do i = 1, 10
      s = 1
      call co_sum(s)
      call expect(s, members, 'co_sum of the other team')
      allocate (a(5)[*])
      deallocate (a)
    end do
  end team
  if (me == min(2, num_images())) print '(a)', 'failed_team: passed'
contains
  include 'expect.inc'
end program
