program main
  use adaptyst
  implicit none
  integer, save :: step = 0
  step = adaptyst_region('step')
  call adaptyst_begin(step)
  call adaptyst_metric('residual', 1.5)
  call physics()
  call adaptyst_end(step)
end program
