#include "measured_ceilings.hpp"

#include <algorithm>

namespace adaptyst::lib {

repeated_rate summarise(std::vector<double> rates) {
  if (rates.empty()) return {};
  std::sort(rates.begin(), rates.end());
  const std::size_t middle = rates.size() / 2;
  const double median = rates.size() % 2 != 0 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2;
  return {rates.back(), median, rates.front(), rates.size()};
}

bool measured_ceilings::is_disturbed() const {
  for (const ceiling_rates* const of : {&one_thread, &all})
    for (const repeated_rate* const rate : {&of->gbytes, &of->double_gflops, &of->single_gflops})
      if (rate->is_disturbed()) return true;
  return false;
}

machine_ceilings choose(const measured_ceilings& from, flop_precision precision) {
  const bool is_single = precision == flop_precision::single_precision;
  const auto flops = [&](const ceiling_rates& of) { return (is_single ? of.single_gflops : of.double_gflops).best; };
  return {from.host,
          from.cpu,
          from.measured,
          from.cpus,
          precision,
          flops(from.one_thread),
          from.one_thread.gbytes.best,
          flops(from.all),
          from.all.gbytes.best};
}

}  // namespace adaptyst::lib
