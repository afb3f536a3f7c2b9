/* A module that is linked with MPI, in a program that is not: so does Python have it. */
#include <mpi.h>
#include <stddef.h>

int run(void) {
  int rank = -1, own = 1, all = 0, size = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return rank >= 0 && all == size ? 0 : 1;
}
