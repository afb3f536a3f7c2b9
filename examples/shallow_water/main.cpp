// Simulates the water of a basin that an input file describes, and tells where the time goes.
//
//   shallow_water dam_break.txt
#include <adaptyst/collector.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "input.hpp"
#include "parallel.hpp"
#include "solver.hpp"

namespace {

constexpr const char* usage =
    "usage: shallow_water FILE [--threads N] [--offload PERCENT] [--device opencl|thread|none]\n"
    "  FILE        what to simulate, e.g. dam_break.txt\n"
    "  --threads   OpenMP threads on the host; default: all cores but one, which is the device's\n"
    "  --offload   share of the rows that goes to the device; default: as much as to each thread\n"
    "  --device    what computes them: OpenCL's first device, a thread that stands in for one, or the host itself;\n"
    "              default: opencl where there is a device, else thread\n";

struct arguments {
  std::string file;
  int threads = std::max(1, shallow_water::available_threads() - 1);
  double offload_percent = -1;  // not given
  shallow_water::offload_device device = shallow_water::offload_device::any;
};

// A number in [least, most] that follows an option; otherwise ends the program.
double parse_value(const std::string& option, const char* text, double min, double max) {
  char* end = nullptr;
  const double value = text != nullptr ? std::strtod(text, &end) : 0;
  if (text != nullptr && end != text && *end == '\0' && value >= min && value <= max) return value;
  std::fprintf(stderr, "shallow_water: %s needs a number from %g to %g\n%s", option.c_str(), min, max, usage);
  std::exit(2);
}

arguments parse(int count, char** values) {
  arguments parsed;
  for (int at = 1; at < count; ++at) {
    const std::string word = values[at];
    if (word == "--threads") {
      parsed.threads = static_cast<int>(parse_value(word, at + 1 < count ? values[++at] : nullptr, 1, 1024));
    } else if (word == "--offload") {
      parsed.offload_percent = parse_value(word, at + 1 < count ? values[++at] : nullptr, 0, 100);
    } else if (word == "--device") {
      const std::string which = at + 1 < count ? values[++at] : "";
      if (which == "none") {
        parsed.offload_percent = 0;
      } else if (which == "opencl" || which == "thread") {
        parsed.device =
            which == "opencl" ? shallow_water::offload_device::opencl : shallow_water::offload_device::thread;
      } else {
        std::fprintf(stderr, "shallow_water: --device needs opencl, thread or none\n%s", usage);
        std::exit(2);
      }
    } else if (parsed.file.empty() && word.rfind("--", 0) != 0) {
      parsed.file = word;
    } else {
      std::fprintf(stderr, "shallow_water: what is \"%s\"?\n%s", word.c_str(), usage);
      std::exit(2);
    }
  }
  if (parsed.file.empty()) {
    std::fprintf(stderr, "shallow_water: no input file\n%s", usage);
    std::exit(2);
  }
  if (parsed.offload_percent < 0) parsed.offload_percent = 100.0 / (parsed.threads + 1);
  return parsed;
}

void simulate(const arguments& how) {
  const shallow_water::setup setup = shallow_water::read_setup(how.file);
  const auto start = std::chrono::steady_clock::now();
  shallow_water::solver basin(setup, {how.threads, how.offload_percent / 100, how.device});

  const shallow_water::row_range block = basin.offloaded().rows();
  std::printf("%s: %d x %d cells, %g s\n", how.file.c_str(), setup.columns, setup.rows, setup.end_time);
  std::printf("host: %d thread%s, %d rows; %s: %d rows\n", how.threads, how.threads == 1 ? "" : "s",
              setup.rows - block.size(), basin.offloaded().device_name(), block.size());

  constexpr int reports = 10;
  const double volume = basin.sum().depth;
  double drift = 0;
  for (int report = 1; report <= reports; ++report) {
    const double until = setup.end_time * report / reports;
    while (basin.time() < until) basin.step(until);
    drift = (basin.sum().depth - volume) / volume;
    if (!std::isfinite(drift)) throw std::runtime_error("the water is no longer finite; try a smaller cfl");
    std::printf("  t %8.4g s   %5ld steps   fastest wave %.4g m/s   mass drift %+.1e\n", basin.time(), basin.steps(),
                basin.fastest_wave(), drift);
  }

  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double updates = 1.0 * setup.columns * setup.rows * static_cast<double>(basin.steps());
  std::printf("mass          %.10g m3 of water, relative drift %+.1e\n", basin.sum().depth, drift);
  std::printf("fastest wave  %.4g m/s\n", basin.fastest_wave());
  std::printf("wall time     %.2f s, %.1f million cells a second\n", wall_s, updates / wall_s / 1e6);
}

}  // namespace

int main(int count, char** values) {
  const arguments how = parse(count, values);
  adaptyst::collector collector{"output=shallow_water.json"};
  try {
    simulate(how);
  } catch (const shallow_water::input_error& problem) {
    std::fprintf(stderr, "shallow_water: %s\n", problem.what());
    return 2;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "shallow_water: %s\n", problem.what());
    return 1;
  }
}
