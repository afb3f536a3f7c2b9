! Markers for Fortran: the same probes, call tree and report as those of C and C++ (docs/fortran.md).
!
!   use adaptyst
!   integer, save :: step = 0
!
!   if (step == 0) step = adaptyst_region('step')     ! once: its number
!   call adaptyst_begin(step)
!   call adaptyst_begin('advect')                     ! or by name, which costs more while something listens
!   ...
!   call adaptyst_end()                               ! of what was begun last, on this thread
!   call adaptyst_end(step)                           ! or of this region; what is still open in it is counted as unmatched
!
! This file is compiled with the program, by its compiler, since .mod files differ between compilers: CMake's target
! adaptyst::fortran does that. Link with -ladaptyst_c. Fortran 2008; gfortran 12 or flang 19. The collector is in
! adaptyst_collector.f90; `adaptyst run` needs none.
!
! Names lose trailing blanks and keep their first 127 bytes. Where a file and a line are given, the report has them: in a
! file that is preprocessed, call adaptyst_begin('advect', __FILE__, __LINE__).
!
! Cost while nothing listens: a call, or two by name. Any thread; nothing fails. An end without a begin, and a begin without an
! end, are counted as unmatched. The text and unit of numbers are those of adaptyst.h.
module adaptyst
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_ptr, c_null_ptr, c_size_t
  implicit none
  private

  public :: adaptyst_region, adaptyst_begin, adaptyst_end
  public :: adaptyst_wait, adaptyst_offload, adaptyst_device
  public :: adaptyst_metric, adaptyst_mark, adaptyst_metadata
  public :: adaptyst_handle, adaptyst_begin_handle, adaptyst_end_handle
  public :: adaptyst_operation, adaptyst_submit, adaptyst_complete, adaptyst_abandon, adaptyst_now_ns
  public :: adaptyst_scope

  ! Kinds of devices and of operations, and why an operation's times will never be known.
  integer, parameter, public :: adaptyst_cpu = 0, adaptyst_gpu = 1, adaptyst_fpga = 2, adaptyst_accelerator = 3, &
                                adaptyst_other_device = 4
  integer, parameter, public :: adaptyst_kernel = 0, adaptyst_copy_to = 1, adaptyst_copy_from = 2, adaptyst_fill = 3, &
                                adaptyst_other = 4
  integer, parameter, public :: adaptyst_no_times = 0, adaptyst_unknown_clock = 1, adaptyst_device_lost = 2

  ! A processor that work runs on: type(adaptyst_device), parameter :: gpu = adaptyst_device(adaptyst_gpu, 0, 'H200').
  ! Equal ones are one device. At most 63 in a process; names keep 39 bytes.
  type :: adaptyst_device
    integer :: kind = adaptyst_gpu
    integer :: index = 0
    character(len=39) :: name = ''
  end type

  ! A region that any thread may end, in any order. A second end is counted as unmatched; of copies, end one only.
  type, bind(c) :: adaptyst_handle
    private
    type(c_ptr) :: path = c_null_ptr
    integer(c_int64_t) :: begin = 0, epoch = 0
  end type

  ! What a device does on its own, while the host goes on.
  type, bind(c) :: adaptyst_operation
    private
    type(adaptyst_handle) :: begun
    real(c_double) :: bytes = 0, flops = 0
    integer(c_int64_t) :: submitted_ns = 0, queue = 0, thread = 0
  end type

  ! A region that ends with the block or procedure that declares it, however that is left, stop and error stop apart:
  !
  !   block
  !     type(adaptyst_scope) :: scope
  !     call scope%begin('advect')
  !
  ! The compiler must finalise local variables: gfortran 12 and flang 19 do, at the end of procedures as well.
  type :: adaptyst_scope
    private
    logical :: is_open = .false.
  contains
    procedure :: begin => begin_scope
    final :: end_scope
  end type

  include 'adaptyst.inc'

  interface adaptyst_begin
    procedure :: adaptyst_f_begin, begin_named
  end interface

  interface adaptyst_end
    procedure :: adaptyst_f_end, adaptyst_f_end_region
  end interface

  interface adaptyst_metric
    module procedure metric_of_double, metric_of_real, metric_of_integer, metric_of_long
  end interface

  interface
    subroutine adaptyst_f_handle_begin(name, name_bytes, handle) bind(c)
      import :: adaptyst_handle, c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: name_bytes
      type(adaptyst_handle), intent(out) :: handle
    end subroutine
    subroutine adaptyst_f_handle_end(handle) bind(c)
      import :: adaptyst_handle
      type(adaptyst_handle), intent(inout) :: handle
    end subroutine
    subroutine adaptyst_f_submit(name, name_bytes, kind, index, device, device_bytes, queue, operation_kind, bytes, flops, &
                                 operation) bind(c)
      import :: adaptyst_operation, c_char, c_double, c_int, c_int64_t, c_size_t
      character(kind=c_char), intent(in) :: name(*), device(*)
      integer(c_size_t), value :: name_bytes, device_bytes
      integer(c_int), value :: kind, index, operation_kind
      integer(c_int64_t), value :: queue
      real(c_double), value :: bytes, flops
      type(adaptyst_operation), intent(out) :: operation
    end subroutine
    subroutine adaptyst_f_complete(operation, started_ns, ended_ns) bind(c)
      import :: adaptyst_operation, c_int64_t
      type(adaptyst_operation), intent(inout) :: operation
      integer(c_int64_t), value :: started_ns, ended_ns
    end subroutine
    subroutine adaptyst_f_abandon(operation, reason) bind(c)
      import :: adaptyst_operation, c_int
      type(adaptyst_operation), intent(inout) :: operation
      integer(c_int), value :: reason
    end subroutine
  end interface

contains

  ! The number of a region, the same for the same name, file and line; 1024 in a program or library. 0 if there are more,
  ! whose events are counted as lost. Any thread.
  function adaptyst_region(name, file, line) result(region)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    integer :: region
    if (present(file)) then
      region = adaptyst_f_region(name, len(name, c_size_t), file, len(file, c_size_t), known_line(line))
    else
      region = adaptyst_f_region(name, len(name, c_size_t), '', 0_c_size_t, known_line(line))
    end if
  end function

  subroutine begin_named(name, file, line)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (present(file)) then
      call adaptyst_f_begin_named(name, len(name, c_size_t), file, len(file, c_size_t), known_line(line))
    else
      call adaptyst_f_begin_named(name, len(name, c_size_t), '', 0_c_size_t, known_line(line))
    end if
  end subroutine

  pure function known_line(line) result(known)
    integer, intent(in), optional :: line
    integer(c_int) :: known
    known = 0
    if (present(line)) known = line
  end function

  ! Begins a region in which the host waits for what was submitted to devices; ended by adaptyst_end.
  subroutine adaptyst_wait(name)
    character(len=*), intent(in) :: name
    call adaptyst_f_begin_wait(name, len(name, c_size_t))
  end subroutine

  ! Begins a region in which the host hands work to a device and waits for it; ended by adaptyst_end.
  subroutine adaptyst_offload(name, device)
    character(len=*), intent(in) :: name
    type(adaptyst_device), intent(in) :: device
    call adaptyst_f_begin_offload(name, len(name, c_size_t), device%kind, device%index, device%name, &
                                  len(device%name, c_size_t))
  end subroutine

  ! A number in the region that is open: count, sum, minimum and maximum.
  subroutine metric_of_double(name, value)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    call adaptyst_f_metric(name, len(name, c_size_t), value)
  end subroutine
  subroutine metric_of_real(name, value)
    character(len=*), intent(in) :: name
    real, intent(in) :: value
    call adaptyst_f_metric(name, len(name, c_size_t), real(value, c_double))
  end subroutine
  subroutine metric_of_integer(name, value)
    character(len=*), intent(in) :: name
    integer, intent(in) :: value
    call adaptyst_f_metric(name, len(name, c_size_t), real(value, c_double))
  end subroutine
  subroutine metric_of_long(name, value)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    call adaptyst_f_metric(name, len(name, c_size_t), real(value, c_double))
  end subroutine

  ! An instant in the region that is open.
  subroutine adaptyst_mark(name)
    character(len=*), intent(in) :: name
    call adaptyst_f_mark(name, len(name, c_size_t))
  end subroutine

  ! What the run is of: call adaptyst_metadata('mesh', '512^3'). Names keep 63 bytes, values 255; a process keeps 64 of them.
  subroutine adaptyst_metadata(name, value)
    character(len=*), intent(in) :: name, value
    call adaptyst_f_metadata(name, len(name, c_size_t), value, len(value, c_size_t))
  end subroutine

  function adaptyst_begin_handle(name) result(handle)
    character(len=*), intent(in) :: name
    type(adaptyst_handle) :: handle
    call adaptyst_f_handle_begin(name, len(name, c_size_t), handle)
  end function

  subroutine adaptyst_end_handle(handle)
    type(adaptyst_handle), intent(inout) :: handle
    call adaptyst_f_handle_end(handle)
  end subroutine

  ! Work is handed to a device. `queue`: whatever the program numbers its queues by; `bytes`, `flops`: what it amounts to.
  function adaptyst_submit(name, device, queue, kind, bytes, flops) result(operation)
    character(len=*), intent(in) :: name
    type(adaptyst_device), intent(in) :: device
    integer, intent(in) :: queue, kind
    real(c_double), intent(in), optional :: bytes, flops
    type(adaptyst_operation) :: operation
    real(c_double) :: known_bytes, known_flops
    known_bytes = 0
    known_flops = 0
    if (present(bytes)) known_bytes = bytes
    if (present(flops)) known_flops = flops
    call adaptyst_f_submit(name, len(name, c_size_t), device%kind, device%index, device%name, len(device%name, c_size_t), &
                           int(queue, c_int64_t), kind, known_bytes, known_flops, operation)
  end function

  ! When the device began and finished, CLOCK_MONOTONIC: submitted <= started <= ended. Others count as lost (bad_times).
  subroutine adaptyst_complete(operation, started_ns, ended_ns)
    type(adaptyst_operation), intent(inout) :: operation
    integer(c_int64_t), intent(in) :: started_ns, ended_ns
    call adaptyst_f_complete(operation, started_ns, ended_ns)
  end subroutine

  ! Its times will never be known: it is counted as lost, with this reason.
  subroutine adaptyst_abandon(operation, reason)
    type(adaptyst_operation), intent(inout) :: operation
    integer, intent(in) :: reason
    call adaptyst_f_abandon(operation, reason)
  end subroutine

  ! CLOCK_MONOTONIC, the clock of operations.
  function adaptyst_now_ns() result(now_ns)
    integer(c_int64_t) :: now_ns
    now_ns = adaptyst_f_now_ns()
  end function

  subroutine begin_scope(scope, name, file, line)
    class(adaptyst_scope), intent(inout) :: scope
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (scope%is_open) call adaptyst_f_end()
    call begin_named(name, file, line)
    scope%is_open = .true.
  end subroutine

  subroutine end_scope(scope)
    type(adaptyst_scope), intent(inout) :: scope
    if (scope%is_open) call adaptyst_f_end()
    scope%is_open = .false.
  end subroutine

end module
