! Image 2 passes on what it has learnt, if SYNC MEMORY ends the segment in which it has read the flag.
! IMAGES: 3
program atomic_chain
  use iso_fortran_env
  implicit none
  integer(atomic_int_kind) :: flag(2)[*], value, old
  integer :: x[*], seen
  x = 0
  flag = 0
  sync all
  value = 0
  if (this_image() == 1) then
    x[3] = 5 ! RACE: first
    sync memory
    call atomic_fetch_add(flag(1)[2], 1, old)
  else if (this_image() == 2) then
    do while (value == 0)
      call atomic_ref(value, flag(1))
    end do
#ifdef MENDED
    sync memory
#endif
    call atomic_cas(flag(2)[3], old, 0, 1)
  else
    do while (value == 0)
      call atomic_ref(value, flag(2))
    end do
    sync memory
    seen = x ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
end program
