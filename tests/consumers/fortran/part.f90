module part
  use adaptyst
  implicit none
contains
  subroutine work(sum)
    integer, intent(inout) :: sum
    call adaptyst_begin('outside')
    call adaptyst_metric('bytes', 8)
    sum = sum + 1
    call adaptyst_end()
  end subroutine
end module
