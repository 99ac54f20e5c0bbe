! The order of SYNC IMAGES is transitive: image 2 passes it on, if it has it by then.
! IMAGES: 3
! SAYS: x[3] (4 bytes)
program chain
  implicit none
  integer :: x[*], seen
  x = 0
  sync all
  select case (this_image())
  case (1)
    x[3] = 5 ! RACE: first
    sync images (2)
  case (2)
#ifdef MENDED
    sync images (1)
    sync images (3)
#else
    sync images (3)
    sync images (1)
#endif
  case (3)
    sync images (2)
    seen = x ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end select
  sync all
end program
