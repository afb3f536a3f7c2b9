// Heat that spreads over a plate, whose rows are shared out among ranks unevenly: the last rank has a third more of them
// than the others, and these wait for it. It has markers, and no collector:
//
//   mpirun -n 2 adaptyst run --with mpi -- ./mpi_heat
#include <mpi.h>

#include <adaptyst/region.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t columns = 2000;
constexpr int steps = 200;

struct neighbours {
  int above, below;
};

// Its own rows, and one of each neighbour.
class plate {
 public:
  explicit plate(std::size_t rows) : rows_(rows), now_((rows + 2) * columns), next_(now_.size()) {}

  void heat_middle() { now_[(rows_ / 2) * columns + columns / 2] = 1; }

  void exchange_rows(const neighbours& with) {
    ADAPTYST_REGION("exchange rows");
    const int count = static_cast<int>(columns);
    double* const first = now_.data() + columns;
    double* const last = now_.data() + rows_ * columns;
    MPI_Sendrecv(first, count, MPI_DOUBLE, with.above, 0, last + columns, count, MPI_DOUBLE, with.below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, count, MPI_DOUBLE, with.below, 1, first - columns, count, MPI_DOUBLE, with.above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  void spread() {
    ADAPTYST_REGION("spread");
    for (std::size_t row = 1; row <= rows_; ++row)
      for (std::size_t column = 1; column != columns - 1; ++column) {
        const double* const at = now_.data() + row * columns + column;
        const double around = at[-1] + at[1] + *(at - columns) + *(at + columns);
        next_[row * columns + column] = *at + 0.2 * (around - 4 * *at);
      }
    now_.swap(next_);
  }

  double sum() const {
    double heat = 0;
    for (std::size_t at = columns; at != (rows_ + 1) * columns; ++at) heat += now_[at];
    return heat;
  }

 private:
  std::size_t rows_;
  std::vector<double> now_, next_;
};

double add_up(double own) {
  ADAPTYST_REGION("add up");
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool is_last = rank == ranks - 1;
  plate own(is_last ? 400 : 300);
  if (is_last) own.heat_middle();
  const neighbours with{rank == 0 ? MPI_PROC_NULL : rank - 1, is_last ? MPI_PROC_NULL : rank + 1};
  double heat = 0;
  for (int step = 0; step != steps; ++step) {
    ADAPTYST_REGION("step");
    own.exchange_rows(with);
    own.spread();
    heat = add_up(own.sum());
  }
  if (rank == 0) std::printf("heat %.12f\n", heat);
  MPI_Finalize();
  return std::abs(heat - 1) < 1e-9 ? 0 : 1;  // none is lost
}
