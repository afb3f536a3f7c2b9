/* Heat that spreads over an insulated plate, in C: what flows out of a cell flows into its neighbour, so that none is lost.
 * The main program starts a collector, which reports at the end; under `adaptyst run`, that makes the report.
 *
 *   ./heat_c
 *   mpirun -n 2 adaptyst run --with mpi -- ./heat_c      where it was built with MPI: rows are shared out among ranks
 */
#include <adaptyst/adaptyst.h>
#include <adaptyst/collector.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef HEAT_WITH_MPI
#include <mpi.h>
#endif

enum { columns = 400, all_rows = 400, steps = 200 };
static const double diffusivity = 0.2; /* of a step and a cell: below 0.25, or it oscillates */

/* The rows of a rank, and one more at either side: a neighbour's, or a copy of its own last one, across which nothing flows. */
struct plate {
  size_t rows;
  double *now, *next;
  int rank, ranks;
};

static double* row(double* cells, size_t at) { return cells + at * columns; }

static int make_plate(struct plate* plate) {
  plate->rows = (size_t)(all_rows / plate->ranks + (plate->rank < all_rows % plate->ranks));
  plate->now = calloc((plate->rows + 2) * columns, sizeof *plate->now);
  plate->next = calloc((plate->rows + 2) * columns, sizeof *plate->next);
  if (plate->now == NULL || plate->next == NULL) return 0;
  if (plate->rank == 0) row(plate->now, 1 + plate->rows / 3)[columns / 2] = 1;
  return 1;
}

static void exchange_rows(struct plate* plate) {
  ADAPTYST_REGION("exchange rows");
  double* const above = row(plate->now, 0);
  double* const first = row(plate->now, 1);
  double* const last = row(plate->now, plate->rows);
  double* const below = row(plate->now, plate->rows + 1);
  for (size_t column = 0; column != columns; ++column) {
    above[column] = first[column];
    below[column] = last[column];
  }
#ifdef HEAT_WITH_MPI
  const int before = plate->rank > 0 ? plate->rank - 1 : MPI_PROC_NULL;
  const int behind = plate->rank + 1 < plate->ranks ? plate->rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(first, columns, MPI_DOUBLE, before, 0, below, columns, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, columns, MPI_DOUBLE, behind, 1, above, columns, MPI_DOUBLE, before, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
#endif
}

static void spread(struct plate* plate) {
  ADAPTYST_REGION("spread");
  for (size_t at = 1; at <= plate->rows; ++at) {
    const double* const here = row(plate->now, at);
    double* const next = row(plate->next, at);
    for (size_t column = 0; column != columns; ++column) {
      const double left = here[column > 0 ? column - 1 : column];
      const double right = here[column + 1 < columns ? column + 1 : column];
      const double above = here[(ptrdiff_t)column - columns];
      const double below = here[column + columns];
      next[column] = here[column] + diffusivity * (left + right + above + below - 4 * here[column]);
    }
  }
  double* const old = plate->now;
  plate->now = plate->next;
  plate->next = old;
}

static double add_up(const struct plate* plate) {
  ADAPTYST_REGION("add up");
  double heat = 0;
  for (size_t at = 1; at <= plate->rows; ++at)
    for (size_t column = 0; column != columns; ++column) heat += row(plate->now, at)[column];
#ifdef HEAT_WITH_MPI
  const double own = heat;
  MPI_Allreduce(&own, &heat, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
  return heat;
}

int main(int count, char** arguments) {
  struct plate plate = {.rank = 0, .ranks = 1};
#ifdef HEAT_WITH_MPI
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &plate.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &plate.ranks);
#else
  (void)count, (void)arguments;
#endif
  adaptyst_start(NULL);
  adaptyst_metadata("solver", "heat in C");
  if (!make_plate(&plate)) return 2;
  double heat = 0;
  for (int step = 0; step != steps; ++step) {
    ADAPTYST_BEGIN("step");
    exchange_rows(&plate);
    spread(&plate);
    heat = add_up(&plate);
    ADAPTYST_METRIC("heat", heat);
    ADAPTYST_END();
  }
  if (plate.rank == 0) printf("heat %.12f\n", heat);
  free(plate.now);
  free(plate.next);
  adaptyst_stop();
#ifdef HEAT_WITH_MPI
  MPI_Finalize();
#endif
  return fabs(heat - 1) < 1e-9 ? 0 : 1;
}
