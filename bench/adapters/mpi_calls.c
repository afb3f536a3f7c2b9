/* A program of two ranks, to be timed with its calls of MPI observed and without:
 *
 *   mpirun -n 2 mpi_calls stencil|ping_pong STEPS
 *
 * Rank 0 prints how long all steps took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 512, columns = 1024 };

static double field[2][rows + 2][columns];

/* As a real program does. In a step of about half a millisecond, the ranks exchange the rows at their common border,
 * each computes the mean of four neighbours for all of its points, and both agree on the greatest change. By this a
 * real program would decide when to stop. */
static void stencil(int steps, int rank) {
  double greatest = 0;
  for (int step = 0; step != steps; ++step) {
    double(*before)[columns] = field[step % 2];
    double(*after)[columns] = field[1 - step % 2];
    MPI_Request requests[2];
    /* The ghost row is a copy of the other rank's border. */
    const int border = rank == 0 ? rows : 1, ghost = rank == 0 ? rows + 1 : 0;
    MPI_Irecv(before[ghost], columns, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(before[border], columns, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    double change = 0;
    for (int row = 1; row <= rows; ++row)
      for (int column = 1; column != columns - 1; ++column) {
        after[row][column] = 0.25 * (before[row - 1][column] + before[row + 1][column] + before[row][column - 1] +
                                     before[row][column + 1]);
        const double difference = after[row][column] - before[row][column];
        change = difference > change ? difference : change;
      }
    MPI_Allreduce(&change, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
}

/* What a call costs when it does least. In a step, an empty message goes to rank 1 and another one back: four calls. */
static void ping_pong(int steps, int rank) {
  for (int step = 0; step != steps; ++step) {
    if (rank == 0) MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

int main(int count, char** arguments) {
  int rank = 0, size = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (count != 3 || size != 2) return 2;
  const int steps = atoi(arguments[2]);
  /* A line of ones, so that there is something to change. */
  for (int row = 0; row != rows + 2; ++row) field[0][row][columns / 2] = field[1][row][columns / 2] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (strcmp(arguments[1], "stencil") == 0) stencil(steps, rank);
  else ping_pong(steps, rank);
  const double seconds = MPI_Wtime() - begin;
  MPI_Finalize();
  if (rank == 0) printf("seconds %.9f\n", seconds);
  return 0;
}
