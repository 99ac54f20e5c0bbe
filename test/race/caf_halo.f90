! A halo exchange that does not wait until the neighbours have read the last one.
! IMAGES: 3
program halo
  implicit none
  integer, parameter :: n = 8
  real, allocatable :: u(:)[:]
  real :: old(0:n)
  integer :: step
  allocate (u(0:n)[*])
  u = this_image()
  sync all
  do step = 1, 3
    if (this_image() < num_images()) u(0)[this_image() + 1] = u(n) ! RACE: first
    sync all
    old = u ! RACE: second
    u(1:n) = (old(0:n - 1) + old(1:n)) / 2
#ifdef MENDED
    sync all
#endif
  end do
  sync all
end program
