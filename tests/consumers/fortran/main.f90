program main
  use adaptyst_collector
  use part
  implicit none
  integer :: times, sum
  sum = 0
  call adaptyst_start()
  do times = 1, 42
    call work(sum)
  end do
  call adaptyst_stop()
  if (sum /= 42) error stop 1
end program
