! Nobody tells the sender that the buffer is free for the next value.
! IMAGES: 2
program event_reuse
  use iso_fortran_env
  implicit none
  type(event_type) :: full[*], empty[*]
  integer :: buffer[*], i, total
  total = 0
  do i = 1, 3
    if (this_image() == 1) then
#ifdef MENDED
      if (i > 1) event wait (empty)
#endif
      buffer[2] = i ! RACE: first
      event post (full[2])
    else
      event wait (full)
      total = total + buffer ! RACE: second
      event post (empty[1])
    end if
  end do
  sync all
  if (this_image() == 2 .and. total == 0) error stop
end program
