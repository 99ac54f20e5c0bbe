! SPDX-License-Identifier: BSD-3-Clause
! failures: images that stop or fail, and what the others learn of it. The last image stops early; the one before it
! fails while it holds a lock.
!
! Broken by an image that waits for ever for one that has left, by a status that is not the standard's, and by images
! that no longer synchronize with each other after another one has left.
program failures
  use iso_fortran_env
  implicit none
  integer, save :: x[*]
  type(lock_type), save :: lock[*]
  integer, allocatable :: list(:), a(:)[:]
  integer :: me, n, stat, i, s
  character(len=60) :: message

  me = this_image()
  n = num_images()
  x = me
  sync all
  if (n == 1) then
    sync all (stat=stat)
    call expect(stat, 0, 'sync all of one image')
    print '(a)', 'failures: passed'
    stop
  end if
  if (me == n) stop ! the others would wait for ever

  call wait_for_status(n, stat_stopped_image)
  sync all (stat=stat, errmsg=message)
  call expect(stat, stat_stopped_image, 'sync all with a stopped image')
  if (index(message, 'stopped') == 0) error stop 'no message'
  sync images (n, stat=stat)
  call expect(stat, stat_stopped_image, 'sync images with a stopped image')
  call expect(x[n], n, 'the memory of a stopped image')
  list = stopped_images()
  call expect(size(list), 1, 'stopped_images')
  call expect(list(1), n, 'the stopped image')
  call expect(size(failed_images()), 0, 'failed_images')
  s = 1
  call co_sum(s, stat=stat)
  call expect(stat, stat_stopped_image, 'co_sum with a stopped image')

  ! the others still synchronize with each other
  do i = 1, 20
    x = i
    sync all (stat=stat)
    if (n > 2) call expect(x[merge(1, me + 1, me == n - 1)], i, 'sync all of the images that are left')
    sync all (stat=stat)
  end do

  if (n > 3) then
    if (me == n - 1) then
      lock (lock[1])
      sync images (n - 2)
      fail image
    end if
    if (me == n - 2) sync images (n - 1)
    call wait_for_status(n - 1, stat_failed_image)
    sync images (n - 1, stat=stat)
    call expect(stat, stat_failed_image, 'sync images with a failed image')
    list = failed_images()
    call expect(size(list), 1, 'failed_images')
    call expect(list(1), n - 1, 'the failed image')
    call expect(num_images(failed=.true.), 1, 'num_images of failed images')
    call expect(num_images(failed=.false.), n - 1, 'num_images of the other images')
    i = x[n - 1, stat=stat]
    call expect(stat, stat_failed_image, 'get from a failed image')
    if (me == 1) then
      lock (lock[1], stat=stat)
      if (stat == 0) error stop 'the lock of a failed image has no status'
      unlock (lock[1])
      lock (lock[1], stat=stat)
      call expect(stat, 0, 'the next lock')
      unlock (lock[1])
    end if
    allocate (a(3)[*], stat=stat)
    call expect(stat, stat_stopped_image, 'allocate without some images')
  end if
  if (me == 1) print '(a)', 'failures: passed'
contains
  subroutine wait_for_status(image, status)
    integer, intent(in) :: image, status
    do while (image_status(image) /= status)
    end do
  end subroutine
  include 'expect.inc'
end program
