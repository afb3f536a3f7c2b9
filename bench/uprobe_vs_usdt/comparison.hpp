// Measures methods in turns, at several rates of events.
#ifndef ADAPTYST_BENCH_UPROBE_VS_USDT_COMPARISON_HPP
#define ADAPTYST_BENCH_UPROBE_VS_USDT_COMPARISON_HPP

#include <array>
#include <string>
#include <vector>

#include "../measure.hpp"
#include "methods.hpp"

namespace study {

struct rate {
  const char* name;
  double period_ns;  // of an event in the program without probes; 0: nothing but events
};
constexpr std::array<rate, 5> rates{{{"", 0}, {"1000k", 1e3}, {"100k", 1e4}, {"10k", 1e5}, {"1k", 1e6}}};
constexpr std::size_t only_events = 0;  // the first

// Time is what the thread has run: what others do on its processor does not add to it.
struct series {
  std::vector<double> event_ns;  // by round
  std::vector<double> plain_ns;  // the same without a marker or a probe, in the same round
  double user_ns = 0;            // of all rounds
  double system_ns = 0;
};

struct compared {
  method what;
  std::array<series, rates.size()> at{};
  bool left_out = false;  // this kernel cannot do it
};

class comparison {
 public:
  explicit comparison(const std::vector<method>& methods);

  // Each method is attached once in a round, and has a slice of time at each rate, in turns with the plain program. A
  // round begins with another method than the one before.
  void run(unsigned rounds, double slice_ns);

  bench::measurements figures() const;

 private:
  void calibrate();
  void turn(compared& compared, double slice_ns);
  const compared* find(const char* name, measured_with load) const;

  std::vector<compared> methods_;
  std::array<std::size_t, rates.size()> steps_{};  // of the kernel, in a period
  double uncounted_ = 0;
};

}  // namespace study

#endif
