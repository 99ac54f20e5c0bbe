! SPDX-License-Identifier: BSD-3-Clause
! Image 3 comes late to SYNC IMAGES with the other two, and image 2 posts an event late, for which image 1 waits.
program late
    use iso_fortran_env, only: event_type, int64
    implicit none
    type(event_type) :: ready[*]
    integer :: round
    do round = 1, 10
        if (this_image() == 3) then
            call compute(20)
            sync images([1, 2])
        else
            sync images(3) ! TRACE: sync
        end if
    end do
    do round = 1, 10
        if (this_image() == 2) then
            call compute(20)
            event post(ready[1])
        else if (this_image() == 1) then
            event wait(ready) ! TRACE: event
        end if
    end do
    sync all
contains
    subroutine compute(ms)
        integer, intent(in) :: ms
        integer(int64) :: start, now, rate
        call system_clock(start, rate)
        do
            call system_clock(now)
            if ((now - start) * 1000 >= ms * rate) exit
        end do
    end subroutine
end program
