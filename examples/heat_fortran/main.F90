! Heat that spreads over an insulated plate, in Fortran: what flows out of a cell flows into its neighbour, so that none is
! lost. The main program starts a collector, which reports at the end; under `adaptyst run`, that makes the report.
!
!   ./heat_fortran
!   mpirun -n 2 adaptyst run --with mpi -- ./heat_fortran     where it was built with MPI: columns are shared among ranks
module plate
  use adaptyst
#ifdef HEAT_WITH_MPI
  use mpi
#endif
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: rows = 400, all_columns = 400
  real(dp), parameter :: diffusivity = 0.2_dp  ! of a step and a cell: below 0.25, or it oscillates
  integer :: rank = 0, ranks = 1
  integer :: exchanging = 0, spreading = 0, adding = 0  ! regions
contains

  ! The columns of a rank, and one more at either side: a neighbour's, or a copy of its own last one, across which nothing
  ! flows.
  subroutine make(now)
    real(dp), allocatable, intent(out) :: now(:, :)
    integer :: columns
    columns = all_columns/ranks + merge(1, 0, rank < mod(all_columns, ranks))
    allocate (now(rows, 0:columns + 1))
    now = 0
    if (rank == 0) now(rows/2, 1 + columns/3) = 1
    exchanging = adaptyst_region('exchange columns', __FILE__, __LINE__)
    spreading = adaptyst_region('spread', __FILE__, __LINE__)
    adding = adaptyst_region('add up', __FILE__, __LINE__)
  end subroutine

  subroutine exchange(now)
    real(dp), intent(inout) :: now(:, 0:)
    integer :: last
#ifdef HEAT_WITH_MPI
    integer :: before, behind, failed
#endif
    call adaptyst_begin(exchanging)
    last = ubound(now, 2) - 1
    now(:, 0) = now(:, 1)
    now(:, last + 1) = now(:, last)
#ifdef HEAT_WITH_MPI
    before = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    behind = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
    call MPI_Sendrecv(now(1, 1), rows, MPI_DOUBLE_PRECISION, before, 0, now(1, last + 1), rows, MPI_DOUBLE_PRECISION, behind, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, failed)
    call MPI_Sendrecv(now(1, last), rows, MPI_DOUBLE_PRECISION, behind, 1, now(1, 0), rows, MPI_DOUBLE_PRECISION, before, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, failed)
#endif
    call adaptyst_end(exchanging)
  end subroutine

  subroutine spread_heat(now, next)
    real(dp), intent(in) :: now(:, 0:)
    real(dp), intent(out) :: next(:, 0:)
    integer :: row, column, above, below
    call adaptyst_begin(spreading)
    do column = 1, ubound(now, 2) - 1
      do row = 1, rows
        above = max(row - 1, 1)
        below = min(row + 1, rows)
        next(row, column) = now(row, column) + diffusivity*(now(above, column) + now(below, column) + now(row, column - 1) &
                                                            + now(row, column + 1) - 4*now(row, column))
      end do
    end do
    call adaptyst_end(spreading)
  end subroutine

  function add_up(now) result(heat)
    real(dp), intent(in) :: now(:, 0:)
    real(dp) :: heat
#ifdef HEAT_WITH_MPI
    real(dp) :: own
    integer :: failed
#endif
    call adaptyst_begin(adding)
    heat = sum(now(:, 1:ubound(now, 2) - 1))
#ifdef HEAT_WITH_MPI
    own = heat
    call MPI_Allreduce(own, heat, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, failed)
#endif
    call adaptyst_end(adding)
  end function

end module

program heat_fortran
  use adaptyst_collector
  use plate
  implicit none
  integer, parameter :: steps = 200
  real(dp), allocatable :: now(:, :), next(:, :)
  real(dp) :: heat
  integer :: step
#ifdef HEAT_WITH_MPI
  integer :: failed
  call MPI_Init(failed)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, failed)
#endif
  call adaptyst_start()
  call adaptyst_metadata('solver', 'heat in Fortran')
  call make(now)
  call make(next)
  heat = 0
  do step = 1, steps/2
    call one_step(now, next)
    call one_step(next, now)
  end do
  if (rank == 0) print '(a, f15.12)', 'heat', heat
  call adaptyst_stop()
#ifdef HEAT_WITH_MPI
  call MPI_Finalize(failed)
#endif
  if (abs(heat - 1) > 1e-9_dp) error stop 1
contains
  subroutine one_step(from, to)
    real(dp), intent(inout) :: from(:, 0:), to(:, 0:)
    call adaptyst_begin('step')
    call exchange(from)
    call spread_heat(from, to)
    heat = add_up(to)
    call adaptyst_metric('heat', heat)
    call adaptyst_end()
  end subroutine
end program
