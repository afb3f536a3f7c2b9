! Regions of Fortran; the same procedure with and without one.
module of_fortran
  use adaptyst
  implicit none
  integer, save :: region = 0
contains
  subroutine bench_fortran_nothing() bind(c)
    interface
      subroutine bench_c_work() bind(c)
      end subroutine
    end interface
    call bench_c_work()
  end subroutine

  subroutine bench_fortran_region() bind(c)
    interface
      subroutine bench_c_work() bind(c)
      end subroutine
    end interface
    if (region == 0) region = adaptyst_region('region of Fortran')
    call adaptyst_begin(region)
    call bench_c_work()
    call adaptyst_end()
  end subroutine

  subroutine bench_fortran_named() bind(c)
    interface
      subroutine bench_c_work() bind(c)
      end subroutine
    end interface
    call adaptyst_begin('named region of Fortran')
    call bench_c_work()
    call adaptyst_end()
  end subroutine
end module
