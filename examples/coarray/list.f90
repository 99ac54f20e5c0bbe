! SPDX-License-Identifier: BSD-3-Clause
! list: linked lists, whose nodes are in components that each image allocates in its own size;
! all images walk all lists.
! The heads are pointer components. (Nodes that point to nodes by pointers are beyond gfortran 14: a node has the index
! of the next one.)
module nodes
  implicit none
  type list
    integer, pointer :: head => null()
    integer, allocatable :: value(:), next(:)
  end type
end module
program lists
  use nodes
  implicit none
  type(list), save :: mine[*]
  integer :: me, n, image, at, i, length, total

  me = this_image()
  n = num_images()
  length = 3 * me
  allocate (mine%head, mine%value(length), mine%next(length))
  mine%head = 0
  do i = 1, length ! push in front
    mine%value(i) = 100 * me + i
    mine%next(i) = mine%head
    mine%head = i
  end do
  sync all
  do image = 1, n
    total = 0
    at = mine[image]%head
    do while (at /= 0)
      total = total + mine[image]%value(at)
      at = mine[image]%next(at)
    end do
    if (total /= 300 * image**2 + 3 * image * (3 * image + 1) / 2) error stop 'list: a node is wrong'
  end do
  sync all
  if (me == 1) print '(a,i0,a)', 'list: ', n, ' images have walked all lists'
end program
