#include <mpi.h>

#include <adaptyst/mpi.hpp>
#include <adaptyst/region.hpp>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  adaptyst::mpi::collector collector(MPI_COMM_WORLD);
  { ADAPTYST_REGION("step"); }
  MPI_Finalize();
}
