// Moves the water of a basin on in time.
//
//   shallow_water::solver basin(shallow_water::read_setup("dam_break.txt"), {threads, share});
//   while (basin.time() < end) basin.step(end);
//
// The host's rows are shared among OpenMP threads, the others go to a device. The result is the same to the last bit
// for any number of threads and any share, unless the device is one that rounds differently.
#ifndef SHALLOW_WATER_SOLVER_HPP
#define SHALLOW_WATER_SOLVER_HPP

#include "grid.hpp"
#include "offloaded_rows.hpp"
#include "setup.hpp"
#include "totals.hpp"

namespace shallow_water {

struct execution {
  int threads = 1;
  double offloaded = 0;  // share of the rows that goes to the device, 0 … 1
  offload_device device = offload_device::thread;
};

class solver {
 public:
  solver(const setup& setup, const execution& how);

  // One step, as long as is stable, but not beyond `until`.
  void step(double until);

  double time() const { return time_; }
  long steps() const { return steps_; }
  double last_dt() const { return last_dt_; }
  double fastest_wave() const { return fastest_; }  // of all steps so far, m/s

  // Volume and momentum (over density). Not a number once the computation has gone wrong.
  totals sum();

  const field& water() const { return now_; }
  const offloaded_rows& offloaded() const { return offloaded_; }

 private:
  double choose_dt(double longest);
  void fill_halo(field& field);
  void update_on_host(const char* name, const field& from, const field& base, field& result, row_range below,
                      row_range above, const stage& by);

  setup setup_;
  int threads_;
  fluid water_;
  field now_, predicted_, next_;
  double time_ = 0, last_dt_ = 0, fastest_ = 0;
  long steps_ = 0;
  offloaded_rows offloaded_;
};

}  // namespace shallow_water

#endif
