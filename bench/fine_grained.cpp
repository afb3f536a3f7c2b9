// A code with very fine markers, as in a hydrodynamics proxy: tens of millions of regions a second, three deep. It
// shows the cost of idle markers where they are too dense, and what a budget of 2 % makes of them.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

namespace {

constexpr std::size_t edge = 20;  // cells
constexpr std::size_t nodes = edge + 1;
constexpr std::size_t steps = 80, slice_steps = 30;
constexpr unsigned rounds = 9;

struct mesh {
  std::vector<double> x = std::vector<double>(nodes * nodes * nodes, 1);
  std::vector<double> volume = std::vector<double>(edge * edge * edge, 1);
  std::vector<double> energy = std::vector<double>(edge * edge * edge, 1);
};

std::size_t node_at(std::size_t i, std::size_t j, std::size_t k) { return (i * nodes + j) * nodes + k; }

// The eight corners of a cell.
inline double gather(const mesh& of, std::size_t i, std::size_t j, std::size_t k) {
  const double* const at = &of.x[node_at(i, j, k)];
  const double* const above = at + nodes * nodes;
  return (at[0] + at[1] + at[nodes] + at[nodes + 1]) * 0.125 + (above[0] + above[1]) * 0.25 +
         (above[nodes] * above[nodes + 1]) * 0.125;
}

inline double pressure(double energy, double volume) {
  double pressure = 0.3 * energy / (volume + 0.5);
  pressure = pressure * 0.5 + 0.25 * std::sqrt(pressure * pressure + 1e-3);
  return pressure;
}

template <bool Marked>
[[gnu::noinline]] void update_volumes(mesh& of) {
  std::size_t cell = 0;
  const auto update = [&](std::size_t i, std::size_t j, std::size_t k) {
    double volume = of.volume[cell];
    for (int part = 0; part != 14; ++part) volume = 0.5 * volume + 0.5 / (volume + gather(of, i, j, k));
    of.volume[cell] = volume;
  };
  for (std::size_t i = 0; i != edge; ++i)
    for (std::size_t j = 0; j != edge; ++j)
      for (std::size_t k = 0; k != edge; ++k, ++cell) {
        if constexpr (Marked) {
          ADAPTYST_REGION("volume of a cell");
          update(i, j, k);
        } else {
          update(i, j, k);
        }
      }
}

template <bool Marked>
[[gnu::noinline]] void update_energies(mesh& of) {
  for (std::size_t cell = 0; cell != of.energy.size(); ++cell) {
    const auto update = [&] {
      double energy = of.energy[cell];
      for (int turn = 0; turn != 8; ++turn) energy = 0.9 * energy + 0.01 * pressure(energy, of.volume[cell]);
      of.energy[cell] = energy;
    };
    if constexpr (Marked) {
      ADAPTYST_REGION("energy of a cell");
      update();
    } else {
      update();
    }
  }
}

template <bool Marked>
[[gnu::noinline]] void step(mesh& of) {
  if constexpr (Marked) {
    ADAPTYST_REGION("step");
    update_volumes<true>(of);
    update_energies<true>(of);
  } else {
    update_volumes<false>(of);
    update_energies<false>(of);
  }
}

// CPU time of all steps.
template <bool Marked>
double run_ns(std::size_t times = steps) {
  static mesh all;
  const double begin = process_cpu_ns();
  for (std::size_t at = 0; at != times; ++at) step<Marked>(all);
  return process_cpu_ns() - begin;
}

// To be served by a worker. `options`: empty for no collector.
auto observed(const std::string& options) {
  return [options](auto&& serve) {
    std::optional<adaptyst::collector> collector;
    if (!options.empty()) require(collector.emplace("report=none," + options));
    serve([] { return run_ns<true>(slice_steps); });
  };
}

}  // namespace

void fine_grained(measurements& results) {
  run_ns<true>();
  const pair idle = alternately(
      rounds, [] { return run_ns<true>(); }, [] { return run_ns<false>(); });
  constexpr double regions = steps * (1 + 2.0 * edge * edge * edge);
  results["fine_idle_percent"] = 100 * (idle.ratio - 1);
  results["fine_events_per_us"] = 1e3 * regions / idle.first;
  for (const std::string engine : {"inline", "ebpf"}) {
    const std::string options = "overhead=2%,engine=" + engine;
    const std::string key = "fine_budget_" + engine + "_percent";
    try_measuring(key.c_str(),
                  [&] { results[key] = 100 * (in_slices(100, 100, observed(options), observed("")).ratio - 1); });
  }
}

}  // namespace bench
