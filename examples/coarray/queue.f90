! SPDX-License-Identifier: BSD-3-Clause
! queue: a work queue. An atomic counter on image 1 hands out numbers of tasks; each image posts an event when it has no
! more, and image 1 waits for all of them.
program queue
  use iso_fortran_env
  implicit none
  integer, parameter :: tasks = 1000
  integer(atomic_int_kind), save :: next[*]
  integer, save :: results(tasks)[*]
  type(event_type), save :: finished[*]
  integer(atomic_int_kind) :: task
  integer :: done, i

  if (this_image() == 1) then
    next = 1
    results = 0
  end if
  sync all
  done = 0
  do
    call atomic_fetch_add(next[1], 1, task)
    if (task > tasks) exit
    results(task)[1] = task * task
    done = done + 1
  end do
  event post (finished[1])
  if (this_image() == 1) then
    event wait (finished, until_count=num_images())
    if (any(results /= [(i * i, i = 1, tasks)])) error stop 'queue: a result is missing'
  end if
  call co_sum(done)
  if (done /= tasks) error stop 'queue: not each task was done once'
  if (this_image() == 1) print '(a,i0,a,i0,a)', 'queue: ', num_images(), ' images have done ', tasks, ' tasks'
end program
