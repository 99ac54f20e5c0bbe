! SPDX-License-Identifier: BSD-3-Clause
! words: locks, critical sections, events, atomic subroutines.
!
! Broken by a lock that two images hold, by a post that is lost, by an atomic update of the wrong width or image or that
! an image does not see after it has synchronized, by a loop that asks and serves nobody, and by a wrong status.
program words
  use iso_fortran_env
  implicit none
  type(lock_type), save :: lock[*]
  type(lock_type), allocatable :: locks(:)[:]
  integer(8), allocatable :: used(:)[:]
  type(event_type), save :: ready[*], events(3)[*]
  integer(atomic_int_kind), save :: counter[*], several(4)[*]
  integer(atomic_int_kind), save :: pair(2)[*]
  logical(atomic_logical_kind), save :: flag[*]
  integer, save :: shared[*], turn[*], large(50000)[*]
  integer :: me, n, right, left, i, old, got, stat
  logical :: acquired
  logical(atomic_logical_kind) :: l
  integer, parameter :: rounds = 200
  character(len=60) :: message

  me = this_image()
  n = num_images()
  right = merge(1, me + 1, me == n)
  left = merge(n, me - 1, me == 1)

  ! critical: read, change, write
  shared = 0
  sync all
  do i = 1, rounds
    critical
      shared[1] = shared[1] + 1
    end critical
  end do
  sync all
  call expect(shared[1], n * rounds, 'critical')
  sync all

  ! three images change data of another one, and wait for the lock in two ways
  large = 0
  turn = 0
  sync all
  do i = 1, merge(rounds, 0, me <= 3)
    if (mod(i, 2) == 0) then
      lock (lock[1])
    else
      do
        lock (lock[1], acquired_lock=acquired)
        if (acquired) exit
      end do
    end if
    if (mod(i, 4) == 0) then
      got = large(size(large))[n]
      large(:)[n] = got + 1
    end if
    turn[n] = turn[n] + 1
    unlock (lock[1])
  end do
  sync all
  got = large(size(large))[n]
  call expect(got, rounds / 4 * min(n, 3), 'long data of another image than that of the lock')
  call expect(turn[n], rounds * min(n, 3), 'data of another image than that of the lock')
  sync all
  turn = 0

  ! locks of the last image, of an array, in memory that was used before
  allocate (used(8)[*])
  used = -1
  deallocate (used)
  allocate (locks(3)[*])
  shared = 0
  sync all
  do i = 1, rounds
    lock (locks(2)[n])
    shared[n] = shared[n] + 1
    unlock (locks(2)[n])
  end do
  do i = 1, rounds
    do
      lock (lock[1], acquired_lock=acquired)
      if (acquired) exit
    end do
    turn[1] = turn[1] + 1
    unlock (lock[1], stat=stat)
    call expect(stat, 0, 'stat of unlock')
  end do
  sync all
  call expect(shared[n], n * rounds, 'lock')
  call expect(turn[1], n * rounds, 'lock with acquired_lock')
  sync all

  ! statuses of locks
  lock (locks(1)[me], stat=stat)
  call expect(stat, 0, 'stat of lock')
  lock (locks(1)[me], stat=stat, errmsg=message)
  call expect(stat, stat_locked, 'stat of a second lock')
  acquired = .true.
  lock (locks(1)[me], acquired_lock=acquired, stat=stat)
  call expect(stat, stat_locked, 'stat of a second lock with acquired_lock')
  if (acquired) error stop 'acquired_lock of a second lock'
  if (message == '') error stop 'no message'
  sync all
  if (n > 1) then
    unlock (locks(1)[right], stat=stat)
    call expect(stat, stat_locked_other_image, 'unlock of the lock of another image')
    lock (locks(1)[right], acquired_lock=acquired, stat=stat)
    if (acquired) error stop 'a lock that is held was acquired'
    call expect(stat, 0, 'stat of a lock that is not acquired')
  end if
  sync all
  unlock (locks(1)[me])
  message = ''
  unlock (locks(1)[me], stat=stat, errmsg=message)
  call expect(stat, stat_unlocked, 'unlock of an unlocked lock')
  if (message == '') error stop 'no message'
  sync all
  deallocate (locks)

  ! events
  shared = 0
  sync all
  do i = 1, rounds
    shared[right] = i
    event post (ready[right])
    event wait (ready)
    call expect(shared, i, 'a put before a post')
    event post (events(2)[left])
    event wait (events(2))
  end do
  call event_query(ready, got)
  call expect(got, 0, 'count of an event')
  ! a put to a third image before a post
  large = 0
  sync all
  do i = 1, 20
    if (me == 1 .and. n > 2) then
      large(:)[n] = i
      event post (ready[2])
      event wait (ready)
    else if (me == 2 .and. n > 2) then
      event wait (ready)
      got = large(size(large))[n]
      call expect(got, i, 'a put to a third image before a post')
      event post (ready[1])
    end if
  end do
  sync all
  do i = 1, n
    event post (events(3)[i], stat=stat)
    call expect(stat, 0, 'stat of event post')
  end do
  event wait (events(3), until_count=n, stat=stat)
  call expect(stat, 0, 'stat of event wait')
  sync all
  call event_query(events(3), got, stat)
  call expect(got, 0, 'count of an event after until_count')

  ! atomics
  counter = 0
  pair = 0
  several = 0
  flag = .false.
  sync all
  do i = 1, rounds
    call atomic_add(counter[1], 2)
    call atomic_fetch_add(several(3)[n], 1, old)
    if (old < 0 .or. old >= n * rounds) error stop 'atomic_fetch_add'
  end do
  call atomic_or(several(1)[1], ishft(1, me))
  call atomic_xor(several(2)[1], ishft(1, me))
  call atomic_define(pair(2)[right], 2**30 + me)
  call atomic_define(pair(1)[right], 1)
  sync all
  call atomic_ref(got, counter[1])
  call expect(got, 2 * n * rounds, 'atomic_add')
  call atomic_ref(got, several(3)[n])
  call expect(got, n * rounds, 'atomic_fetch_add')
  call atomic_ref(got, several(1)[1])
  call expect(got, 2 * (2**n - 1), 'atomic_or')
  call expect(several(2)[1], 2 * (2**n - 1), 'atomic_xor')
  call expect(pair(2) - 2**30, left, 'atomic_define')
  call expect(pair(1), 1, 'atomic_define beside it')
  sync all
  call atomic_fetch_and(several(1)[1], not(ishft(1, me)), old)
  if (iand(old, ishft(1, me)) == 0) error stop 'atomic_fetch_and'
  sync all
  call expect(several(1)[1], 0, 'atomic_and')
  call atomic_fetch_or(several(4)[me], 5, old)
  call atomic_fetch_xor(several(4)[me], 1, old)
  call expect(old, 5, 'atomic_fetch_or')
  call expect(several(4), 4, 'atomic_fetch_xor')
  sync all
  if (me == n) call atomic_define(flag[1], .true.)
  sync all
  call atomic_ref(l, flag[1])
  if (.not. l) error stop 'atomic_define of a logical'
  ! compare and swap: one image each time
  counter = 0
  got = me - 1 ! a variable: gfortran 16.2 passes the value of an expression in place of its address
  sync all
  do
    call atomic_cas(counter[1], old, got, me, stat)
    if (old == got) exit
  end do
  sync all
  call expect(counter[1], n, 'atomic_cas')
  ! updates of a third image, seen by the image with which this one then synchronizes
  sync all
  counter = 0
  sync all
  do i = 1, rounds
    if (me == 1 .and. n > 2) then
      do old = 1, 20
        call atomic_add(counter[n], 1)
      end do
      call atomic_add(counter[n - 1], 1)
      sync images (n - 1)
    else if (me == n - 1 .and. n > 2) then
      sync images (1)
      call atomic_ref(got, counter[n])
      if (got < 20 * i) call expect(got, 20 * i, 'atomic_add to a third image, before sync images')
    end if
  end do
  sync all
  counter = 0
  do i = 1, rounds
    sync all
    if (me == 1 .and. n > 2) then
      do old = 1, 20
        call atomic_add(counter[n], 1)
      end do
    end if
    sync all
    if (me == 2 .and. n > 2) then
      call atomic_ref(got, counter[n])
      call expect(got, 20 * i, 'atomic_add to a third image, before sync all')
    end if
  end do
  sync all

  ! loops that ask until another image has done something, which needs this image to serve it
  counter = 0
  if (me == 1) lock (lock[n])
  sync all
  if (me == n .and. n > 1) then
    do
      lock (lock[n], acquired_lock=acquired)
      if (acquired) exit
    end do
    unlock (lock[n])
  else if (me == 1) then
    unlock (lock[n])
  end if
  event post (events(1)[right])
  do
    call event_query(events(1), got)
    if (got > 0) exit
  end do
  event wait (events(1))
  call atomic_add(counter[left], 1)
  do
    call atomic_ref(got, counter)
    if (got > 0) exit
  end do
  sync all
  if (me == 1) print '(a)', 'words: passed'
contains
  include 'expect.inc'
end program
