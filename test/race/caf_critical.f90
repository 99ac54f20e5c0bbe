! Two critical constructs exclude nothing from each other.
! IMAGES: 2
program critical_constructs
  implicit none
  integer :: total[*]
  total = 0
  sync all
#ifdef MENDED
  critical
    total[1] = total[1] + 1
  end critical
#else
  if (this_image() == 1) then
    critical
      total[1] = total[1] + 1 ! RACE: first
    end critical
  else
    critical
      total[1] = total[1] + 1 ! RACE: second
    end critical
  end if
#endif
  sync all
  if (this_image() == 1 .and. total > 2) error stop
end program
