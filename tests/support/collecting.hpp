// For tests that collect: with which engine, and what to ask of a profile.
#ifndef ADAPTYST_TESTS_SUPPORT_COLLECTING_HPP
#define ADAPTYST_TESTS_SUPPORT_COLLECTING_HPP

#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "catch.hpp"

namespace support {

// The same scenarios run with each engine: inline in one ctest entry, ebpf in another.
inline std::string engine() {
  const char* const chosen = std::getenv("ADAPTYST_TEST_ENGINE");
  return chosen != nullptr ? chosen : "inline";
}

// Every event counts. Of the kernel's context there are tests of its own: it takes 0.1 s to start and to stop.
inline std::string options() { return "report=none,overhead=none,context=none,engine=" + engine(); }

// The region with this path; fails the test when there is none, or more than one.
inline const adaptyst::region& find(const adaptyst::profile& in, const std::vector<std::string>& path) {
  const adaptyst::region* found = nullptr;
  for (const adaptyst::region& region : in.regions) {
    if (region.path != path) continue;
    REQUIRE(found == nullptr);
    found = &region;
  }
  INFO("path ends in " << path.back());
  REQUIRE(found != nullptr);
  return *found;
}

inline std::uint64_t lost(const adaptyst::profile& in, adaptyst::loss_reason reason) {
  const auto found = in.accounting.lost.find(reason);
  return found != in.accounting.lost.end() ? found->second : 0;
}

inline void check_identity(const adaptyst::profile& in) {
  std::uint64_t sum = in.accounting.ended + in.accounting.open;
  for (const auto& [reason, count] : in.accounting.lost) sum += count;
  CHECK(in.accounting.begun == sum);
}

// The account adds up, and every ended event is in a row: for programs at rest.
inline void check_account(const adaptyst::profile& in) {
  REQUIRE(in.engine == engine());
  check_identity(in);
  std::uint64_t events = 0;
  for (const adaptyst::region& region : in.regions) {
    events += region.count;
    if (region.kind != adaptyst::region_kind::instant_event && region.durations.count() != 0)
      CHECK(region.durations.count() == region.count);
  }
  for (const adaptyst::region& region : in.regions)
    for (const auto& [name, values] : region.attributes)
      if (values.count != region.count || name.rfind("metric", 0) == 0) events += values.count;
  CHECK(events == in.accounting.ended);
  CHECK(lost(in, adaptyst::loss_reason::not_delivered) == 0);
}

}  // namespace support

#endif
