! An atomic subroutine tells of the segments before its own, also if the image has released a mutex in its segment: only
! an image control statement ends a segment.
program atomic_segment
  use iso_fortran_env
  use iso_c_binding
  implicit none
  interface
    function lock(mutex) bind(c, name='pthread_mutex_lock') result(code)
      import
      integer(c_long) :: mutex(*)
      integer(c_int) :: code
    end function
    function unlock(mutex) bind(c, name='pthread_mutex_unlock') result(code)
      import
      integer(c_long) :: mutex(*)
      integer(c_int) :: code
    end function
  end interface
  integer(atomic_int_kind) :: flag[*], value
  integer(c_long) :: mutex(16) = 0
  integer :: x[*], seen
  x = 0
  flag = 0
  sync all
  value = 0
  if (this_image() == 1) then
    x[2] = 5 ! RACE: first
    if (lock(mutex) /= 0) error stop
    if (unlock(mutex) /= 0) error stop
#ifdef MENDED
    sync memory
#endif
    call atomic_define(flag[2], 1)
  else
    do while (value == 0)
      call atomic_ref(value, flag)
    end do
    sync memory
    seen = x ! RACE: second
    if (seen /= 0 .and. seen /= 5) error stop
  end if
  sync all
end program
