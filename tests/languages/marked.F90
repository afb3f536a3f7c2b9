! Everything that Fortran can mark, for check_fortran.py, which knows what must come of it.
module work
  use adaptyst
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_size_t
  implicit none
  type(adaptyst_device), parameter :: gpu = adaptyst_device(adaptyst_gpu, 2, 'GPU of Fortran')
contains

  recursive subroutine descend(levels)
    integer, intent(in) :: levels
    call adaptyst_begin('level')
    if (levels > 1) call descend(levels - 1)
    call adaptyst_end()
  end subroutine

  subroutine return_early(how)
    integer, intent(in) :: how
    integer :: turn
    type(adaptyst_scope) :: scope
    call scope%begin('scope of a procedure')
    do turn = 1, 3
      block
        type(adaptyst_scope) :: inner
        call inner%begin('scope of a block')
        if (how == 1) cycle
        if (how == 2) exit
        if (how == 3) return
      end block
    end do
    call adaptyst_mark('at the end')
  end subroutine

  subroutine without_module()
    include 'adaptyst.inc'
    call adaptyst_f_begin_named('included', 8_c_size_t, 'included.f90', 12_c_size_t, 7_c_int)
    call adaptyst_f_end()
  end subroutine

  subroutine use_devices()
    type(adaptyst_operation) :: copy, lost
    integer(c_int64_t) :: now_ns
    call adaptyst_offload('offload', gpu)
    call adaptyst_metric('in offload', 2)
    call adaptyst_end()
    copy = adaptyst_submit('upload', gpu, 1, adaptyst_copy_to, bytes=1000d0)
    lost = adaptyst_submit('lost', gpu, 1, adaptyst_kernel)
    now_ns = adaptyst_now_ns()
    call adaptyst_complete(copy, now_ns, now_ns + 500)
    call adaptyst_complete(copy, now_ns, now_ns + 500)
    call adaptyst_abandon(lost, adaptyst_device_lost)
    call adaptyst_wait('wait')
    call adaptyst_end()
  end subroutine

  subroutine use_phases()
    integer, save :: compute = 0
    integer :: turn
    type(adaptyst_phases) :: phases
    if (compute == 0) compute = adaptyst_region('compute', __FILE__, __LINE__)
    do turn = 1, 3
      call adaptyst_next(phases, 'load')
      call adaptyst_next(phases, compute)
      call adaptyst_begin('in compute')
      call adaptyst_end()
      call adaptyst_next(phases, 'store', __FILE__, __LINE__)
    end do
    call adaptyst_end(phases)
    call adaptyst_end(phases)  ! nothing
  end subroutine

  subroutine use_threads()
    integer :: turn, step
    step = adaptyst_region('of threads')
    !$omp parallel do num_threads(4)
    do turn = 1, 400
      call adaptyst_begin(step)
      call adaptyst_begin('below, of threads')
      call adaptyst_end()
      call adaptyst_end(step)
    end do
  end subroutine

end module

program marked
  use work
  implicit none
  integer, save :: step = 0
  integer :: turn, same
  character(len=300) :: long
  character(len=0) :: nothing
  type(adaptyst_handle) :: handle, idle

  call adaptyst_metadata('written in', 'Fortran   ')
  step = adaptyst_region('step   ', __FILE__, __LINE__)
  same = adaptyst_region('same')
  if (same /= adaptyst_region('same  ')) error stop 'equal names have other numbers'
  if (same == step) error stop 'other names have equal numbers'

  do turn = 1, 3
    call adaptyst_begin(step)
    call adaptyst_begin('advect', __FILE__, __LINE__)
    call adaptyst_metric('residual', 0.5d0*turn)
    call adaptyst_metric('residual', 1.0)
    call adaptyst_metric('residual', 2)
    call adaptyst_metric('residual', 3_c_int64_t)
    call adaptyst_end()
    call adaptyst_mark('checkpoint')
    call adaptyst_end(step)
  end do

  call descend(50)
  do turn = 1, 4
    call return_early(turn)
  end do

  ! Names: blanks behind, none, only blanks, of other letters, too long.
  long = repeat('n', len(long))
  call named('blanks behind     ')
  call named(nothing)
  call named('   ')
  call named('größe')
  call named(long)
  call without_module()

  handle = adaptyst_begin_handle('handle')
  call adaptyst_end_handle(handle)
  call adaptyst_end_handle(handle)  ! counted
  call adaptyst_end_handle(idle)
  call use_devices()
  call use_phases()
  call use_threads()

  ! What is wrong: an end too many, by name and by number; a region that was never registered; one that is left open in
  ! another, which is ended.
  call adaptyst_begin(same)
  call adaptyst_begin('left open')
  call adaptyst_end(same)
  call adaptyst_end()
  call adaptyst_end(step)
  call adaptyst_begin(0)
  call adaptyst_begin(-5)
  call adaptyst_begin('inside')
  call adaptyst_end()
  call adaptyst_end(-5)
  call adaptyst_end()
contains
  subroutine named(name)
    character(len=*), intent(in) :: name
    call adaptyst_begin(name)
    call adaptyst_end()
  end subroutine
end program
