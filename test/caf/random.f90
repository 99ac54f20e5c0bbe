! SPDX-License-Identifier: BSD-3-Clause
! random: random assignments between sections of coarrays and local arrays. Each image computes the same random numbers,
! makes the assignments that are its own, and all assignments on a model of all images' arrays. An argument is the seed.
!
! Broken by a section, vector subscript or conversion that reads or writes another element than it should.
program random
  implicit none
  integer, parameter :: rows = 13, columns = 9, rounds = 300
  integer, save :: a(rows, columns)[*]
  real(8), allocatable :: b(:, :)[:]
  integer, allocatable :: model_a(:, :, :), index(:)
  real(8), allocatable :: model_b(:, :, :), model_local(:, :, :)
  real(8) :: local(rows, columns)
  integer :: me, n, round, who, from, to, what, ni, nj, i1, j1, i2, j2, si, sj, ti, tj, k
  integer(8) :: seed
  character(20) :: argument

  me = this_image()
  n = num_images()
  seed = 12345
  call get_command_argument(1, argument)
  if (argument /= '') read (argument, *) seed
  allocate (b(rows, columns)[*])
  allocate (model_a(rows, columns, n), model_b(rows, columns, n), model_local(rows, columns, n))
  do k = 1, n
    model_a(:, :, k) = reshape([(1000 * k + i1, i1 = 1, rows * columns)], [rows, columns])
    model_b(:, :, k) = -model_a(:, :, k)
    model_local(:, :, k) = 0.5d0
  end do
  a = model_a(:, :, me)
  b = model_b(:, :, me)
  local = 0.5d0
  sync all
  do round = 1, rounds
    who = pick(n); from = pick(n); to = pick(n); what = pick(7)
    call axis(rows, ni, i1, si, i2, ti)
    call axis(columns, nj, j1, sj, j2, tj)
    index = [(1 + mod(i1 * k * 5, rows), k = 1, ni)] ! 13 is prime: no index comes twice
    associate (ie => i1 + (ni - 1) * si, je => j1 + (nj - 1) * sj, iz => i2 + (ni - 1) * ti, jz => j2 + (nj - 1) * tj)
      select case (what)
      case (1)
        if (me == who) local(i1:ie:si, j1:je:sj) = a(i2:iz:ti, j2:jz:tj)[from]
        model_local(i1:ie:si, j1:je:sj, who) = model_a(i2:iz:ti, j2:jz:tj, from)
      case (2)
        if (me == who) b(i1:ie:si, j1:je:sj)[to] = local(i2:iz:ti, j2:jz:tj)
        model_b(i1:ie:si, j1:je:sj, to) = model_local(i2:iz:ti, j2:jz:tj, who)
      case (3)
        if (me == who) a(i1:ie:si, j1:je:sj)[to] = local(i2:iz:ti, j2:jz:tj)
        model_a(i1:ie:si, j1:je:sj, to) = int(model_local(i2:iz:ti, j2:jz:tj, who))
      case (4)
        if (me == who) local(1:ni, j1) = b(index, j2)[from]
        model_local(1:ni, j1, who) = model_b(index, j2, from)
      case (5)
        if (me == who) a(index, j1:je:sj)[to] = round
        model_a(index, j1:je:sj, to) = round
      case (6)
        if (me == who) b(i1:ie:si, j1:je:sj)[to] = b(i2:iz:ti, j2:jz:tj)[from]
        model_b(i1:ie:si, j1:je:sj, to) = model_b(i2:iz:ti, j2:jz:tj, from)
      case (7)
        if (me == who) a(i1, j1:je:sj)[to] = local(i2, j2:jz:tj)
        if (me == who) local(i1, j1:je:sj) = a(i1, j1:je:sj)[to]
        model_a(i1, j1:je:sj, to) = int(model_local(i2, j2:jz:tj, who))
        model_local(i1, j1:je:sj, who) = model_a(i1, j1:je:sj, to)
      end select
    end associate
    sync all
    if (any(a /= model_a(:, :, me)) .or. any(b /= model_b(:, :, me)) .or. any(local /= model_local(:, :, me))) then
      print '(a,i0,a,i0,a,i0,3(a,i0))', 'image ', me, ': round ', round, ' differs, assignment ', what, ' of image ', &
        who, ' from ', from, ' to ', to
      error stop 1
    end if
    sync all
  end do
  if (me == 1) print '(a)', 'random: passed'
contains
  integer function pick(most)
    integer, intent(in) :: most
    seed = iand(seed * 1103515245_8 + 12345_8, 2_8**31 - 1)
    pick = 1 + int(mod(seed / 64, int(most, 8)))
  end function

  ! The same number of elements from two starts, with two strides, in 1..length.
  subroutine axis(length, count, first, step, other, other_step)
    integer, intent(in) :: length
    integer, intent(out) :: count, first, step, other, other_step
    count = pick(length)
    call progression(length, count, first, step)
    call progression(length, count, other, other_step)
  end subroutine

  subroutine progression(length, count, first, step)
    integer, intent(in) :: length, count
    integer, intent(out) :: first, step
    integer :: span
    step = 1
    if (count > 1) step = pick((length - 1) / (count - 1))
    span = (count - 1) * step + 1
    first = pick(length - span + 1)
    if (pick(2) == 1) then
      first = first + span - 1
      step = -step
    end if
  end subroutine
end program
