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
!   type(adaptyst_phases) :: phases
!   call adaptyst_next(phases, 'load')                ! begins the first phase
!   call adaptyst_next(phases, 'compute')             ! ends 'load' and begins 'compute' at the same instant
!   call adaptyst_end(phases)                         ! ends the last
!
! Numbers may be of 32 and of 64 bits in every call, whatever the compiler's default kinds are here and in the program.
! This file and the two others are in free and in fixed form at once: statements in columns 7 to 72, none continued.
!
! Names lose trailing blanks and keep their first 127 bytes. Where a file and a line are given, the report has them: in a
! file that is preprocessed, call adaptyst_begin('advect', __FILE__, __LINE__).
!
! Cost while nothing listens: a call, or two by name. Any thread; nothing fails. An end without a begin, and a begin without an
! end, are counted as unmatched. The text and unit of numbers are those of adaptyst.h.
      module adaptyst
      use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t
      use, intrinsic :: iso_c_binding, only: c_float, c_double, c_size_t
      use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr
      implicit none
      private

      public :: adaptyst_region, adaptyst_begin, adaptyst_end
      public :: adaptyst_wait, adaptyst_offload, adaptyst_device
      public :: adaptyst_metric, adaptyst_mark, adaptyst_metadata
      public :: adaptyst_handle
      public :: adaptyst_phases, adaptyst_next
      public :: adaptyst_begin_handle, adaptyst_end_handle
      public :: adaptyst_operation, adaptyst_submit
      public :: adaptyst_complete, adaptyst_abandon, adaptyst_now_ns
      public :: adaptyst_scope

! Kinds of devices and of operations, and why an operation's times will never be known.
      integer(c_int), parameter, public :: adaptyst_cpu = 0
      integer(c_int), parameter, public :: adaptyst_gpu = 1
      integer(c_int), parameter, public :: adaptyst_fpga = 2
      integer(c_int), parameter, public :: adaptyst_accelerator = 3
      integer(c_int), parameter, public :: adaptyst_other_device = 4
      integer(c_int), parameter, public :: adaptyst_kernel = 0
      integer(c_int), parameter, public :: adaptyst_copy_to = 1
      integer(c_int), parameter, public :: adaptyst_copy_from = 2
      integer(c_int), parameter, public :: adaptyst_fill = 3
      integer(c_int), parameter, public :: adaptyst_other = 4
      integer(c_int), parameter, public :: adaptyst_no_times = 0
      integer(c_int), parameter, public :: adaptyst_unknown_clock = 1
      integer(c_int), parameter, public :: adaptyst_device_lost = 2

! Double precision where the default real has 64 bits. Not every compiler has it.
#if defined(__GFORTRAN__) || defined(__flang__)
#define ADAPTYST_HAS_QUAD
#elif defined(__INTEL_COMPILER) || defined(__INTEL_LLVM_COMPILER)
#define ADAPTYST_HAS_QUAD
#endif
#ifdef ADAPTYST_HAS_QUAD
      integer, parameter :: quad = selected_real_kind(30)
#endif

! A processor that work runs on: type(adaptyst_device), parameter :: gpu = adaptyst_device(adaptyst_gpu, 0, 'H200').
! Equal ones are one device. At most 63 in a process; names keep 39 bytes.
      type :: adaptyst_device
        integer(c_int) :: kind = adaptyst_gpu
        integer(c_int) :: index = 0
        character(len=39) :: name = ''
      end type

! A region that any thread may end, in any order. A second end is counted as unmatched; of copies, end one only.
      type, bind(c) :: adaptyst_handle
        private
        type(c_ptr) :: path = c_null_ptr
        integer(c_int64_t) :: begin = 0, epoch = 0
      end type

! Consecutive regions of one thread, with one timestamp between two. Other procedures end them through this variable only.
      type, bind(c) :: adaptyst_phases
        private
        integer(c_int64_t) :: token = 0
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
        procedure, private :: begin_scope, begin_scope_in
        procedure, private :: begin_scope_at, begin_scope_at_long
        generic :: begin => begin_scope, begin_scope_in
        generic :: begin => begin_scope_at, begin_scope_at_long
        final :: end_scope
      end type

      include 'adaptyst.inc'

! The number of a region, the same for the same name, file and line; 1024 in a program or library. 0 if there are more,
! whose events are counted as lost. Any thread.
      interface adaptyst_region
        module procedure region_named, region_in
        module procedure region_at, region_at_long
      end interface

      interface adaptyst_begin
        procedure :: adaptyst_f_begin, begin_long, begin_named
        procedure :: begin_in, begin_at, begin_at_long
      end interface

      interface adaptyst_end
        procedure :: adaptyst_f_end, adaptyst_f_end_region, end_long
        procedure :: adaptyst_f_end_phases
      end interface

      interface adaptyst_next
        procedure :: adaptyst_f_next, next_long, next_named, next_at
        procedure :: next_at_long
      end interface

! A number in the region that is open: count, sum, minimum and maximum.
      interface adaptyst_metric
        module procedure metric_of_double, metric_of_real
        module procedure metric_of_integer, metric_of_long
#ifdef ADAPTYST_HAS_QUAD
        module procedure metric_of_quad
#endif
      end interface

! Work is handed to a device. `queue`: whatever the program numbers its queues by; `bytes`, `flops`: what it amounts to.
      interface adaptyst_submit
        module procedure submit, submit_long
      end interface

      interface
        subroutine adaptyst_f_handle_begin(name, bytes, h) bind(c)
          import :: adaptyst_handle, c_char, c_size_t
          character(kind=c_char), intent(in) :: name(*)
          integer(c_size_t), value :: bytes
          type(adaptyst_handle), intent(out) :: h
        end subroutine
        subroutine adaptyst_f_handle_end(h) bind(c)
          import :: adaptyst_handle
          type(adaptyst_handle), intent(inout) :: h
        end subroutine
        subroutine adaptyst_f_next(p, region) bind(c)
          import :: adaptyst_phases, c_int
          type(adaptyst_phases), intent(inout) :: p
          integer(c_int), value :: region
        end subroutine
        subroutine adaptyst_f_next_named(p,n,nb,f,fb,line) bind(c)
          import :: adaptyst_phases, c_char, c_int, c_size_t
          type(adaptyst_phases), intent(inout) :: p
          character(kind=c_char), intent(in) :: n(*), f(*)
          integer(c_size_t), value :: nb, fb
          integer(c_int), value :: line
        end subroutine
        subroutine adaptyst_f_end_phases(p) bind(c)
          import :: adaptyst_phases
          type(adaptyst_phases), intent(inout) :: p
        end subroutine
! A name, a device, a queue, a kind, what it amounts to; the operation.
        subroutine adaptyst_f_submit(n,nb,k,i,d,db,q,o,b,f,op) bind(c)
          import :: adaptyst_operation, c_char, c_double, c_int
          import :: c_int64_t, c_size_t
          character(kind=c_char), intent(in) :: n(*), d(*)
          integer(c_size_t), value :: nb, db
          integer(c_int), value :: k, i, o
          integer(c_int64_t), value :: q
          real(c_double), value :: b, f
          type(adaptyst_operation), intent(out) :: op
        end subroutine
        subroutine adaptyst_f_complete(op, started, ended) bind(c)
          import :: adaptyst_operation, c_int64_t
          type(adaptyst_operation), intent(inout) :: op
          integer(c_int64_t), value :: started, ended
        end subroutine
        subroutine adaptyst_f_abandon(op, reason) bind(c)
          import :: adaptyst_operation, c_int
          type(adaptyst_operation), intent(inout) :: op
          integer(c_int), value :: reason
        end subroutine
      end interface

      contains

! Of 64 bits; what has no room is the number of no region.
      pure function number_of(number) result(known)
        integer(c_int64_t), intent(in) :: number
        integer(c_int) :: known
        known = -1
        if (number < 0 .or. number > huge(known)) return
        known = int(number, c_int)
      end function

      function region_named(name) result(region)
        character(len=*), intent(in) :: name
        integer(c_int) :: region
        region = region_at(name, '', 0_c_int)
      end function
      function region_in(name, file) result(region)
        character(len=*), intent(in) :: name, file
        integer(c_int) :: region
        region = region_at(name, file, 0_c_int)
      end function
      function region_at(name, file, line) result(region)
        character(len=*), intent(in) :: name, file
        integer(c_int), intent(in) :: line
        integer(c_int) :: region
        integer(c_size_t) :: n, f
        n = len(name, c_size_t)
        f = len(file, c_size_t)
        region = adaptyst_f_region(name, n, file, f, line)
      end function
      function region_at_long(name, file, line) result(region)
        character(len=*), intent(in) :: name, file
        integer(c_int64_t), intent(in) :: line
        integer(c_int) :: region
        region = region_at(name, file, number_of(line))
      end function

      subroutine begin_long(region)
        integer(c_int64_t), intent(in) :: region
        call adaptyst_f_begin(number_of(region))
      end subroutine
      subroutine end_long(region)
        integer(c_int64_t), intent(in) :: region
        call adaptyst_f_end_region(number_of(region))
      end subroutine

      subroutine begin_named(name)
        character(len=*), intent(in) :: name
        integer(c_size_t) :: n
        n = len(name, c_size_t)
        call adaptyst_f_begin_named(name, n, '', 0_c_size_t, 0_c_int)
      end subroutine
      subroutine begin_in(name, file)
        character(len=*), intent(in) :: name, file
        call begin_at(name, file, 0_c_int)
      end subroutine
      subroutine begin_at(name, file, line)
        character(len=*), intent(in) :: name, file
        integer(c_int), intent(in) :: line
        integer(c_size_t) :: n, f
        n = len(name, c_size_t)
        f = len(file, c_size_t)
        call adaptyst_f_begin_named(name, n, file, f, line)
      end subroutine
      subroutine begin_at_long(name, file, line)
        character(len=*), intent(in) :: name, file
        integer(c_int64_t), intent(in) :: line
        call begin_at(name, file, number_of(line))
      end subroutine

      subroutine next_long(phases, region)
        type(adaptyst_phases), intent(inout) :: phases
        integer(c_int64_t), intent(in) :: region
        call adaptyst_f_next(phases, number_of(region))
      end subroutine
      subroutine next_named(phases, name)
        type(adaptyst_phases), intent(inout) :: phases
        character(len=*), intent(in) :: name
        call next_at(phases, name, '', 0_c_int)
      end subroutine
      subroutine next_at(phases, name, file, line)
        type(adaptyst_phases), intent(inout) :: phases
        character(len=*), intent(in) :: name, file
        integer(c_int), intent(in) :: line
        integer(c_size_t) :: n, f
        n = len(name, c_size_t)
        f = len(file, c_size_t)
        call adaptyst_f_next_named(phases, name, n, file, f, line)
      end subroutine
      subroutine next_at_long(phases, name, file, line)
        type(adaptyst_phases), intent(inout) :: phases
        character(len=*), intent(in) :: name, file
        integer(c_int64_t), intent(in) :: line
        call next_at(phases, name, file, number_of(line))
      end subroutine

! Begins a region in which the host waits for what was submitted to devices; ended by adaptyst_end.
      subroutine adaptyst_wait(name)
        character(len=*), intent(in) :: name
        call adaptyst_f_begin_wait(name, len(name, c_size_t))
      end subroutine

! Begins a region in which the host hands work to a device and waits for it; ended by adaptyst_end.
      subroutine adaptyst_offload(name, device)
        character(len=*), intent(in) :: name
        type(adaptyst_device), intent(in) :: device
        integer(c_size_t) :: n, m
        integer(c_int) :: k, i
        n = len(name, c_size_t)
        m = len(device%name, c_size_t)
        k = device%kind
        i = device%index
        call adaptyst_f_begin_offload(name, n, k, i, device%name, m)
      end subroutine

      subroutine metric_of_double(name, value)
        character(len=*), intent(in) :: name
        real(c_double), intent(in) :: value
        call adaptyst_f_metric(name, len(name, c_size_t), value)
      end subroutine
      subroutine metric_of_real(name, value)
        character(len=*), intent(in) :: name
        real(c_float), intent(in) :: value
        call metric_of_double(name, real(value, c_double))
      end subroutine
      subroutine metric_of_integer(name, value)
        character(len=*), intent(in) :: name
        integer(c_int), intent(in) :: value
        call metric_of_double(name, real(value, c_double))
      end subroutine
      subroutine metric_of_long(name, value)
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: value
        call metric_of_double(name, real(value, c_double))
      end subroutine
#ifdef ADAPTYST_HAS_QUAD
      subroutine metric_of_quad(name, value)
        character(len=*), intent(in) :: name
        real(quad), intent(in) :: value
        call metric_of_double(name, real(value, c_double))
      end subroutine
#endif

! An instant in the region that is open.
      subroutine adaptyst_mark(name)
        character(len=*), intent(in) :: name
        call adaptyst_f_mark(name, len(name, c_size_t))
      end subroutine

! What the run is of: call adaptyst_metadata('mesh', '512^3'). Names keep 63 bytes, values 255; a process keeps 64 of them.
      subroutine adaptyst_metadata(name, value)
        character(len=*), intent(in) :: name, value
        integer(c_size_t) :: n, v
        n = len(name, c_size_t)
        v = len(value, c_size_t)
        call adaptyst_f_metadata(name, n, value, v)
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

      function submit(name, device, queue, kind, bytes, flops)
        character(len=*), intent(in) :: name
        type(adaptyst_device), intent(in) :: device
        integer(c_int), intent(in) :: queue, kind
        real(c_double), intent(in), optional :: bytes, flops
        type(adaptyst_operation) :: submit
        integer(c_int64_t) :: q
        q = int(queue, c_int64_t)
        submit = submit_long(name, device, q, kind, bytes, flops)
      end function
      function submit_long(name, device, queue, kind, bytes, flops)
        character(len=*), intent(in) :: name
        type(adaptyst_device), intent(in) :: device
        integer(c_int64_t), intent(in) :: queue
        integer(c_int), intent(in) :: kind
        real(c_double), intent(in), optional :: bytes, flops
        type(adaptyst_operation) :: submit_long, op
        real(c_double) :: b, f
        integer(c_size_t) :: n, m
        integer(c_int) :: k, i
        character(len=39) :: d
        b = 0
        f = 0
        if (present(bytes)) b = bytes
        if (present(flops)) f = flops
        n = len(name, c_size_t)
        m = len(device%name, c_size_t)
        k = device%kind
        i = device%index
        d = device%name
        call adaptyst_f_submit(name,n,k,i,d,m,queue,kind,b,f,op)
        submit_long = op
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
        integer(c_int), intent(in) :: reason
        call adaptyst_f_abandon(operation, reason)
      end subroutine

! CLOCK_MONOTONIC, the clock of operations.
      function adaptyst_now_ns() result(now_ns)
        integer(c_int64_t) :: now_ns
        now_ns = adaptyst_f_now_ns()
      end function

      subroutine begin_scope(scope, name)
        class(adaptyst_scope), intent(inout) :: scope
        character(len=*), intent(in) :: name
        call scope%begin_scope_at(name, '', 0_c_int)
      end subroutine
      subroutine begin_scope_in(scope, name, file)
        class(adaptyst_scope), intent(inout) :: scope
        character(len=*), intent(in) :: name, file
        call scope%begin_scope_at(name, file, 0_c_int)
      end subroutine
      subroutine begin_scope_at(scope, name, file, line)
        class(adaptyst_scope), intent(inout) :: scope
        character(len=*), intent(in) :: name, file
        integer(c_int), intent(in) :: line
        if (scope%is_open) call adaptyst_f_end()
        call begin_at(name, file, line)
        scope%is_open = .true.
      end subroutine
      subroutine begin_scope_at_long(scope, name, file, line)
        class(adaptyst_scope), intent(inout) :: scope
        character(len=*), intent(in) :: name, file
        integer(c_int64_t), intent(in) :: line
        call scope%begin_scope_at(name, file, number_of(line))
      end subroutine

      subroutine end_scope(scope)
        type(adaptyst_scope), intent(inout) :: scope
        if (scope%is_open) call adaptyst_f_end()
        scope%is_open = .false.
      end subroutine

      end module
