! The same calls by each of Fortran's three bindings: FORTRAN_MPIF, FORTRAN_USE or FORTRAN_F08 is defined.
program ranks
  use, intrinsic :: iso_c_binding, only: c_int
#if defined(FORTRAN_F08)
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(2)
#elif defined(FORTRAN_USE)
  use mpi
  implicit none
  integer :: requests(2)
#else
  implicit none
  include 'mpif.h'
  integer :: requests(2)
#endif
  interface
    integer(c_int) function usleep(us) bind(c)
      import :: c_int
      integer(c_int), value :: us
    end function
  end interface
  integer :: failed, rank, ranks_of_all, step
  integer, asynchronous :: sent(1000), received(1000)
  double precision :: own, all

  call MPI_Init(failed)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks_of_all, failed)
  own = rank
  sent = rank
  do step = 1, 5
    if (rank == 2) failed = usleep(20000)
    call MPI_Allreduce(own, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, failed)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, own, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, failed)
  if (own /= all) error stop "the sum is wrong"
  do step = 1, 3
    call MPI_Irecv(received, 1000, MPI_INTEGER, modulo(rank - 1, ranks_of_all), 7, MPI_COMM_WORLD, requests(1), failed)
    call MPI_Isend(sent, 1000, MPI_INTEGER, modulo(rank + 1, ranks_of_all), 7, MPI_COMM_WORLD, requests(2), failed)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, failed)
  end do
  if (received(1) /= modulo(rank - 1, ranks_of_all)) error stop "the message is wrong"
  call MPI_Finalize(failed)
end program
