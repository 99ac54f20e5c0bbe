! SPDX-License-Identifier: BSD-3-Clause
! A statement that names an image twice.
program images
    implicit none
    integer :: list(2)
    list = 1
    call exchange(list)
contains
    subroutine exchange(list)
        integer, intent(in) :: list(:)
        sync images(list) ! LINES: image
        print *, 'after'
    end subroutine
end program
