! Collects what the markers of this process tell, for programs in Fortran (docs/fortran.md):
!
!   use adaptyst_collector
!   call adaptyst_start('output=profile.json')
!   ...
!   call adaptyst_stop()                     ! prints the report; so does the end of the program
!
! Compiled with the program, as adaptyst.F90. CMake's target is adaptyst::fortran_collector; other builds link what
! `pkg-config --static --libs adaptyst-collector` says. Options are those of docs/options.md, and $ADAPTYST overrides them. Nothing here
! stops the program.
      module adaptyst_collector
      use, intrinsic :: iso_c_binding, only: c_char, c_int
      use, intrinsic :: iso_c_binding, only: c_null_char
      implicit none
      private
      public :: adaptyst_start, adaptyst_stop

      integer, parameter :: short = selected_int_kind(9)
      integer, parameter :: long = selected_int_kind(18)

! `started`: whether this process is collected from now on. If not, standard error says why; `adaptyst run` makes the report
! itself. It may be of either kind.
      interface adaptyst_start
        module procedure start, start_known, start_known_long
      end interface

      interface
        function start_of_c(options) bind(c, name='adaptyst_start')
          import :: c_char, c_int
          character(kind=c_char), intent(in) :: options(*)
          integer(c_int) :: start_of_c
        end function
! Ends the collection, and reports. Does nothing if none was started.
        subroutine adaptyst_stop() bind(c)
        end subroutine
      end interface

      contains

      function has_started(options)
        character(len=*), intent(in), optional :: options
        logical :: has_started
        integer(c_int) :: status
        if (present(options)) then
          status = start_of_c(trim(options)//c_null_char)
        else
          status = start_of_c(c_null_char)
        end if
        has_started = status /= 0
      end function

      subroutine start(options)
        character(len=*), intent(in), optional :: options
        logical :: ignored
        ignored = has_started(options)
      end subroutine
      subroutine start_known(options, started)
        character(len=*), intent(in), optional :: options
        logical(short), intent(out) :: started
        started = has_started(options)
      end subroutine
      subroutine start_known_long(options, started)
        character(len=*), intent(in), optional :: options
        logical(long), intent(out) :: started
        started = has_started(options)
      end subroutine

      end module
