#include <mpi.h>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
