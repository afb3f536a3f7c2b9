// What a region costs that the kernel sums, against a trap with an empty program; and how long starting and stopping
// take.
#include "measure.hpp"

#ifndef ADAPTYST_BENCH_EBPF

namespace bench {
void ebpf_engine(measurements&) {}
void attach(measurements&) {}
double one_ebpf_region_ns() { return 0; }
}  // namespace bench

#else

#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "../lib/discover/elf_probes.hpp"
#include "../lib/kernel/attach_point.hpp"
#include "../lib/kernel/uprobe_link.hpp"
#include "../lib/kernel/uprobe_multi.hpp"
#include "../probes/kernel_layout.h"
#include "region.skel.h"

namespace bench {

namespace {

constexpr std::uint64_t times = 300'000;
constexpr const char* quiet = "engine=ebpf,overhead=none,context=none,report=none";

[[gnu::noinline]] void region() {
  ADAPTYST_REGION("ebpf");
  __asm__ volatile("");
}

double region_ns() {
  adaptyst::collector collector(quiet);
  if (collector.error() != nullptr) return 0;
  step_ns(1000, region);
  return step_ns(times, region);
}

// The same function, attached at the same point, to a program that returns at once.
class empty_trap {
 public:
  empty_trap() : programs_(region_bpf__open()) {
    adaptyst::lib::expect_multi(programs_->progs.empty);
    bpf_program__set_autoload(programs_->progs.region_end, false);
    region_bpf__load(programs_);
    for (const adaptyst::lib::elf_probe& probe : adaptyst::lib::find_elf_markers("/proc/self/exe").probes)
      if (probe.name == "mark") offset_ = probe.offset;
  }
  ~empty_trap() { region_bpf__destroy(programs_); }
  empty_trap(const empty_trap&) = delete;
  empty_trap& operator=(const empty_trap&) = delete;

  double hit_ns() {
    const auto link = attach();
    const auto hit = [] { adaptyst_probe_mark("", 0, 0, nullptr); };
    step_ns(1000, hit);
    return step_ns(times, hit);
  }

 private:
  // At the first point that the kernel takes.
  adaptyst::lib::uprobe_link attach() {
    const std::vector<adaptyst::lib::attach_point> points =
        adaptyst::lib::order_attach_points(adaptyst::lib::kernel_release().c_str());
    for (const adaptyst::lib::attach_point point : points) {
      try {
        return adaptyst::lib::uprobe_link::attach_multi(programs_->progs.empty, "/proc/self/exe",
                                                        {{offset_ + static_cast<unsigned>(point), 0}}, getpid());
      } catch (const adaptyst::error&) {
        if (point == points.back()) throw;
      }
    }
    std::abort();  // there is always a point
  }

  region_bpf* programs_;
  std::uint64_t offset_ = 0;
};

}  // namespace

double one_ebpf_region_ns() { return region_ns(); }

void ebpf_engine(measurements& results) {
  if (region_ns() == 0) return;
  empty_trap trap;
  const pair against_floor = alternately(11, region_ns, [&] { return trap.hit_ns(); });
  results["ebpf_region_ns"] = against_floor.first;
  results["empty_trap_ns"] = against_floor.second;
  results["ebpf_over_floor"] = against_floor.ratio;
}

// This program has 10,000 sites next to the few that are measured: all reach the probes of one ELF object.
void attach(measurements& results) {
  std::vector<double> starts;
  std::vector<double> stops;
  for (int round = 0; round != 11; ++round) {
    const double begin = now_ns();
    adaptyst::collector collector(quiet);
    if (collector.error() != nullptr) return;
    starts.push_back((now_ns() - begin) / 1e6);
    touch_many_sites();
    const double end = now_ns();
    collector.stop();
    stops.push_back((now_ns() - end) / 1e6);
  }
  const std::string sites = touch_many_sites() == 1 ? "1_site" : "10000_sites";
  results["attach_ms_" + sites] = median(starts);
  results["detach_ms_" + sites] = median(stops);
}

}  // namespace bench

#endif
