// The benchmark's processes: figures that cannot be measured have a reason.
#include "../../bench/measure.hpp"

#include <csignal>
#include <stdexcept>
#include <string>

#include "catch.hpp"

namespace {

template <class Body>
std::string find_reason(Body&& body) {
  bench::worker process(body);
  try {
    for (int slices = 0; slices != 5; ++slices)
      if (process.slice() != 7) return "wrong figure";
  } catch (const std::exception& failed) {
    return failed.what();
  }
  return "measured";
}

struct refusing {
  struct reason {
    static std::string summary() { return "cannot attach"; }
  };
  reason refused;
  const reason* error() const { return &refused; }
};

}  // namespace

TEST_CASE("a process of the benchmark gives figures, or the reason why there are none") {
  CHECK(find_reason([](auto&& serve) { serve([] { return 7.0; }); }) == "measured");
  CHECK(find_reason([](auto&&) {}) == "the process ended early, with status 0");
  CHECK(find_reason([](auto&&) { bench::require(refusing{}); }) == "cannot attach");
  CHECK(find_reason([](auto&&) { std::raise(SIGKILL); }) == "the process was ended by signal 9");
  CHECK(find_reason([](auto&& serve) {
          serve([calls = 0]() mutable { return ++calls == 3 ? throw std::runtime_error("no memory") : 7.0; });
        }) == "no memory");
}
