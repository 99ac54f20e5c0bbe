! The source of a broadcast is referenced, the other variables are defined.
! IMAGES: 2
program co_broadcasts
  implicit none
  integer :: x[*], n, seen
  x = this_image()
  n = this_image()
  sync all
  call co_broadcast(x, 1) ! RACE: first
  call co_broadcast(n, 1)
#ifdef MENDED
  sync all
#endif
  if (this_image() == 1) then
    seen = x[2] ! RACE: second
    if (seen /= 1 .and. seen /= 2 .or. n /= 1) error stop
  end if
  sync all
end program
