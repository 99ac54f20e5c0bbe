! Locks of the same name on two images are two locks.
! IMAGES: 2
! SAYS: total(1)[1]
program two_locks
  use iso_fortran_env
  implicit none
  type(lock_type) :: guard(3)[*]
  real, allocatable :: total(:)[:]
  integer :: owner
  allocate (total(2)[*])
  total = 0
  sync all
#ifdef MENDED
  owner = 1
#else
  owner = this_image()
#endif
  lock (guard(2)[owner])
  if (this_image() == 1) then
    total(1) = total(1) + 1 ! RACE: first
  else
    total(1)[1] = total(1)[1] + 1 ! RACE: second
  end if
  unlock (guard(2)[owner])
  sync all
end program
