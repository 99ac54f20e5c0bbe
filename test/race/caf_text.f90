! Text, and elements of one byte: neighbours in a word are no race.
! IMAGES: 2
! SAYS: c(3)[2] (1 byte)
program texts
  implicit none
  character(5) :: c(4)[*]
  c = 'abcde'
  sync all
  if (this_image() == 1) then
    c(3)[2] = 'fghij' ! RACE: first
  else
#ifdef MENDED
    c(2) = 'klmno'
#else
    c(3)(5:5) = 'k' ! RACE: second
#endif
  end if
  sync all
end program
