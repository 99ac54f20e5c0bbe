! SPDX-License-Identifier: BSD-3-Clause
! opencoarrays: the module of OpenCoarrays, for programs that use it together with MPI. Compile it with the program; the
! functions are in librma_caf:
!
!     rmafc -c opencoarrays.f90 && rmafc program.f90 opencoarrays.o -o program
!
! get_communicator returns the communicator of the current team, for MPI's Fortran calls: the image with number i is rank
! i - 1. Within CHANGE TEAM all images of the team make the first call together, since it makes the communicator; it
! belongs to the library. It may be followed by calls of MPI on any image.
!
! team_number returns the number of the current team, or of a team variable's team.
module opencoarrays
  use iso_c_binding, only: c_int, c_ptr
  implicit none
  private
  public :: get_communicator, team_number

  interface
    function get_communicator(team) result(communicator) bind(c, name='_gfortran_caf_get_communicator')
      import :: c_int, c_ptr
      type(c_ptr), optional :: team
      integer(c_int) :: communicator
    end function

    function team_number(team) result(number) bind(c, name='_gfortran_caf_team_number')
      import :: c_int, c_ptr
      type(c_ptr), optional :: team
      integer(c_int) :: number
    end function
  end interface
end module
