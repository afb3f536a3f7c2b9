// Where to run what: a pipeline of four kernels, each on the host or on one of at most two OpenCL devices. docs/advice.md
//
//   where_to_run units                                                the letter and the name of each unit
//   ADAPTYST=output=run.json where_to_run profile ROWS DENSITY        all units for each kernel, for advice
//   where_to_run measure ROUNDS ROWS DENSITY [ROWS DENSITY …]         all mappings, 81 of three units, in turns: medians, ns
//   where_to_run adapt ROUNDS PROFILE… -- ROWS DENSITY ITEMS [ROWS DENSITY ITEMS …]
//                                                                     queries the advisor when the input changes, and
//                                                                     compares it with the best fixed mappings, in turns
#include <adaptyst/advisor.hpp>
#include <adaptyst/collector.hpp>
#include <adaptyst/metric.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>
#include <adaptyst/profile.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace where_to_run { namespace {

// The unit of each region: 0 is the host, others are devices.
using mapping = std::array<std::size_t, chain.size()>;

std::string spell(const mapping& which) {
  std::string made;
  for (const std::size_t unit : which) made += "hDE"[unit];
  return made;
}

class pipeline {
 public:
  struct times {
    std::uint64_t whole_ns = 0;
    std::uint64_t region_ns[chain.size()] = {};
  };

  pipeline() {
    for (std::size_t number = 0; number != count_opencl_devices(); ++number)
      devices_.push_back(std::make_unique<opencl_device>(number));
    for (mapping next = {}; mappings_.empty() || next != mapping{};) {
      mappings_.push_back(next);
      for (std::size_t region = 0; region != chain.size() && ++next[region] == units(); ++region) next[region] = 0;
    }
  }

  // Of all mappings, the first is that to the host.
  const std::vector<mapping>& mappings() const { return mappings_; }
  std::size_t units() const { return devices_.size() + 1; }
  std::string name_of(std::size_t unit) const { return unit == 0 ? "host" : devices_[unit - 1]->device().name(); }
  void prepare(const item& data) {
    for (const auto& device : devices_) device->prepare(data);
  }

  times run(item& data, const mapping& where) {
    times took;
    const std::uint64_t begin = adaptyst::now_ns();
    {
      ADAPTYST_REGION("item");
      std::size_t from = 0;
      for (std::size_t region = 0; region != chain.size(); ++region) {
        const std::size_t to = where[region];
        copy(data, region, from, to);
        from = to;
        const std::uint64_t started = adaptyst::now_ns();
        if (to != 0) {
          ADAPTYST_OFFLOAD(chain[region], devices_[to - 1]->device());
          devices_[to - 1]->run(data, region);
        } else {
          ADAPTYST_REGION(chain[region]);
          run_on_host(data, region);
        }
        took.region_ns[region] = adaptyst::now_ns() - started;
      }
      copy(data, chain.size(), from, 0);
    }
    took.whole_ns = adaptyst::now_ns() - begin;
    return took;
  }

 private:
  // From device to device, data pass by the host.
  void copy(item& data, std::size_t region, std::size_t from, std::size_t to) {
    if (from == to) return;
    if (from != 0) copy(data, region, *devices_[from - 1], false);
    if (to != 0) copy(data, region, *devices_[to - 1], true);
  }
  // Named for the region that takes the data: so the advisor learns how much passes between regions.
  static void copy(item& data, std::size_t region, opencl_device& device, bool to_device) {
    const char* const name = region == chain.size() ? adaptyst::advisor::result : chain[region];
    const adaptyst::submission handed_over = adaptyst::submitting();
    const std::uint64_t begin = adaptyst::now_ns();
    const std::size_t bytes = to_device ? device.copy_to(data, region) : device.copy_from(data, region);
    adaptyst::submit(handed_over, name, device.device(), 0,
                     to_device ? adaptyst::operation_kind::copy_to : adaptyst::operation_kind::copy_from,
                     adaptyst::work{bytes})
        .complete(begin, adaptyst::now_ns());
  }

  std::vector<std::unique_ptr<opencl_device>> devices_;
  std::vector<mapping> mappings_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// All sides must agree, or their times mean nothing.
void check(pipeline& on, item& data) {
  std::vector<float> expected;
  for (const mapping& where : on.mappings()) {
    on.run(data, where);
    if (expected.empty()) expected = data.sorted;
    for (std::size_t row = 0; row != expected.size(); ++row)
      if (std::fabs(data.sorted[row] - expected[row]) > 1e-4F * (1 + std::fabs(expected[row])))
        throw std::runtime_error("mapping " + spell(where) + " computes something else than the host");
  }
}

adaptyst::feature_values describe(const item& data) {
  return {{"rows", data.a.rows}, {"entries", static_cast<double>(data.a.entries())}};
}

void profile(pipeline& on, int rows, double density) {
  constexpr int turns = 40;
  item data = make_item(rows, density);
  on.prepare(data);
  check(on, data);
  const adaptyst::collector collector;
  adaptyst::metadata("chain", "multiply,smooth,reduce,sort");
  ADAPTYST_REGION("run");
  for (const auto& [name, value] : describe(data))
    if (name == "rows") ADAPTYST_METRIC("rows", value);
    else ADAPTYST_METRIC("entries", value);
  // Between them the first two run each kernel on the host and on the device, and copy at each place; the others make caches
  // what they are in other mappings.
  for (int turn = 0; turn != turns; ++turn)
    for (std::size_t unit = 1; unit != on.units(); ++unit)
      for (const mapping& where :
           {mapping{unit, 0, unit, 0}, mapping{0, unit, 0, unit}, mapping{}, mapping{unit, unit, unit, unit}})
        on.run(data, where);
}

void measure(pipeline& on, int rounds, int rows, double density) {
  item data = make_item(rows, density);
  on.prepare(data);
  check(on, data);
  const std::vector<mapping>& all = on.mappings();
  std::vector<std::vector<double>> times(all.size());
  for (std::size_t round = 0; round != static_cast<std::size_t>(rounds); ++round)
    for (std::size_t at = 0; at != all.size(); ++at) {
      // Not in the same order each time: what follows what may matter.
      const std::size_t chosen = (at * 5 + round) % all.size();
      times[chosen].push_back(static_cast<double>(on.run(data, all[chosen]).whole_ns));
    }
  for (std::size_t at = 0; at != all.size(); ++at)
    std::printf("%d %g %zu %s %.0f\n", rows, density, data.a.entries(), spell(all[at]).c_str(), median(times[at]));
}

struct phase {
  item data;
  int items = 0;
};

mapping find_mapping(const pipeline& on, const adaptyst::advisor& advisor,
                     const std::vector<adaptyst::advised_stage>& stages) {
  mapping made = {};
  for (const adaptyst::advised_stage& stage : stages)
    for (std::size_t unit = 1; unit != on.units(); ++unit)
      if (advisor.devices()[stage.device].name == on.name_of(unit))
        std::fill(&made[stage.first], &made[stage.last] + 1, unit);
  return made;
}

struct adapted {
  double ns = 0, asking_ns = 0;
  int reschedulings = 0;
  std::string mappings;
};

// Asks when the input changes, and now and then, since times may drift.
adapted run_advised(pipeline& on, std::vector<phase>& phases, adaptyst::advisor advisor) {
  constexpr int query_interval = 32;
  adapted made;
  std::vector<adaptyst::advised_stage> stages;
  advisor.prepare();
  for (phase& phase : phases) {
    on.prepare(phase.data);
    const std::uint64_t begin = adaptyst::now_ns();
    const adaptyst::feature_values features = describe(phase.data);
    for (int at = 0; at != phase.items; ++at) {
      if (at % query_interval == 0) {
        const std::uint64_t query_begin_ns = adaptyst::now_ns();
        if (stages.empty()) {
          stages = advisor.find_best(adaptyst::advice_objective::latency, features).best->stages;
        } else if (const auto next = advisor.should_reschedule(stages, features); next.is_recommended) {
          stages = next.best.stages;
          ++made.reschedulings;
        }
        made.asking_ns += static_cast<double>(adaptyst::now_ns() - query_begin_ns);
      }
      const mapping where = find_mapping(on, advisor, stages);
      const pipeline::times took = on.run(phase.data, where);
      // The first executions of an input touch its memory for the first time on one side or the other.
      if (at < 2 || at % 4 != 0) continue;
      const std::uint64_t watching = adaptyst::now_ns();
      for (std::size_t region = 0; region != chain.size(); ++region)
        advisor.update_drift(chain[region], on.name_of(where[region]), features,
                             static_cast<double>(took.region_ns[region]));
      made.asking_ns += static_cast<double>(adaptyst::now_ns() - watching);
    }
    made.ns += static_cast<double>(adaptyst::now_ns() - begin);
    made.mappings += (made.mappings.empty() ? "" : " ") + spell(find_mapping(on, advisor, stages));
  }
  return made;
}

double run_static(pipeline& on, std::vector<phase>& phases, const mapping& where, int part = 1) {
  double ns = 0;
  for (phase& phase : phases) {
    on.prepare(phase.data);
    const std::uint64_t begin = adaptyst::now_ns();
    for (int at = 0; at < phase.items; at += part) on.run(phase.data, where);
    ns += static_cast<double>(adaptyst::now_ns() - begin);
  }
  return ns;
}

// The fixed mappings that take least time for a part of the items, the fastest first.
std::vector<mapping> find_fast(pipeline& on, std::vector<phase>& phases) {
  constexpr std::size_t most = 6;
  constexpr int part = 8;
  std::vector<std::pair<double, mapping>> tried;
  for (const mapping& where : on.mappings()) tried.emplace_back(run_static(on, phases, where, part), where);
  std::sort(tried.begin(), tried.end());
  tried.resize(std::min(most, tried.size()));
  std::vector<mapping> made;
  for (const auto& [ns, where] : tried) made.push_back(where);
  return made;
}

void adapt(pipeline& on, int rounds, const std::vector<adaptyst::profile>& profiles, std::vector<phase>& phases) {
  const adaptyst::profiled_advisor learnt = adaptyst::build_advisor(profiles);
  const std::vector<mapping> candidates = find_fast(on, phases);
  std::vector<double> advised, asking;
  std::vector<std::vector<double>> fixed(candidates.size());
  for (int round = 0; round != rounds; ++round) {
    const adapted now = run_advised(on, phases, learnt.built);
    advised.push_back(now.ns);
    asking.push_back(now.asking_ns);
    std::printf("advised %d %s %d %.0f\n", round, now.mappings.c_str(), now.reschedulings, now.ns);
    for (std::size_t at = 0; at != candidates.size(); ++at) fixed[at].push_back(run_static(on, phases, candidates[at]));
  }
  std::size_t best = 0;
  for (std::size_t at = 0; at != candidates.size(); ++at) {
    std::printf("static %s %.0f\n", spell(candidates[at]).c_str(), median(fixed[at]));
    if (median(fixed[at]) < median(fixed[best])) best = at;
  }
  std::vector<double> ratios;
  for (std::size_t round = 0; round != advised.size(); ++round) ratios.push_back(advised[round] / fixed[best][round]);
  std::printf("best_static %s\nadvised_ns %.0f\nasking_ns %.0f\nadvised_over_best_static %.4f\n",
              spell(candidates[best]).c_str(), median(advised), median(asking), median(ratios));
}

int run(const std::vector<std::string>& words) {
  const auto wrong = [] {
    std::fputs(
        "where_to_run units | profile ROWS DENSITY | measure ROUNDS ROWS DENSITY… | adapt ROUNDS PROFILE… -- ROWS DENSITY "
        "ITEMS…\n",
        stderr);
    return 2;
  };
  if (words.size() < 3 && words != std::vector<std::string>{"units"}) return wrong();
  pipeline on;
  if (words[0] == "units") {
    for (std::size_t unit = 0; unit != on.units(); ++unit)
      std::printf("%c %s\n", "hDE"[unit], on.name_of(unit).c_str());
  } else if (words[0] == "profile") {
    profile(on, std::stoi(words[1]), std::stod(words[2]));
  } else if (words[0] == "measure") {
    for (std::size_t at = 2; at + 1 < words.size(); at += 2)
      measure(on, std::stoi(words[1]), std::stoi(words[at]), std::stod(words[at + 1]));
  } else if (words[0] == "adapt") {
    std::vector<adaptyst::profile> profiles;
    std::vector<phase> phases;
    std::size_t at = 2;
    for (; at < words.size() && words[at] != "--"; ++at) profiles.push_back(adaptyst::read_profile(words[at]));
    for (++at; at + 2 < words.size(); at += 3)
      phases.push_back({make_item(std::stoi(words[at]), std::stod(words[at + 1])), std::stoi(words[at + 2])});
    if (profiles.empty() || phases.empty()) return wrong();
    adapt(on, std::stoi(words[1]), profiles, phases);
  } else {
    return wrong();
  }
  return 0;
}

}}  // namespace where_to_run

int main(int count, char** arguments) {
  try {
    return where_to_run::run({arguments + 1, arguments + count});
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "where_to_run: %s\n", failed.what());
    return std::strstr(failed.what(), "no OpenCL device") != nullptr ? 77 : 1;
  }
}
