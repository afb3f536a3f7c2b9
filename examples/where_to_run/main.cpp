// Where to run what: a pipeline of four kernels, each on the host or on an OpenCL device. docs/advice.md
//
//   ADAPTYST=output=run.json where_to_run profile ROWS DENSITY        both devices for each kernel, for advice
//   where_to_run measure ROUNDS ROWS DENSITY [ROWS DENSITY …]         all 16 mappings, in turns: medians, ns
//   where_to_run adapt ROUNDS PROFILE… -- ROWS DENSITY ITEMS [ROWS DENSITY ITEMS …]
//                                                                     queries the advisor when the input changes, and
//                                                                     compares it with each fixed mapping, in turns
#include <adaptyst/advisor.hpp>
#include <adaptyst/collector.hpp>
#include <adaptyst/metric.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>
#include <adaptyst/profile.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "kernels.hpp"

namespace where_to_run { namespace {

// Bit k is set: region k runs on the device.
using mapping = unsigned;
constexpr mapping mappings = 1U << chain.size();

std::string spell(mapping which) {
  std::string made;
  for (std::size_t region = 0; region != chain.size(); ++region) made += (which >> region & 1) != 0 ? 'D' : 'h';
  return made;
}

class pipeline {
 public:
  struct times {
    std::uint64_t whole_ns = 0;
    std::uint64_t region_ns[chain.size()] = {};
  };

  times run(item& data, mapping where) {
    times took;
    const std::uint64_t begin = adaptyst::now_ns();
    {
      ADAPTYST_REGION("item");
      bool is_on_device = false;
      for (std::size_t region = 0; region != chain.size(); ++region) {
        const bool goes_to_device = (where >> region & 1) != 0;
        if (goes_to_device != is_on_device) copy(data, region, goes_to_device);
        is_on_device = goes_to_device;
        const std::uint64_t started = adaptyst::now_ns();
        if (is_on_device) {
          ADAPTYST_OFFLOAD(chain[region], device_.device());
          device_.run(data, region);
        } else {
          ADAPTYST_REGION(chain[region]);
          run_on_host(data, region);
        }
        took.region_ns[region] = adaptyst::now_ns() - started;
      }
      if (is_on_device) copy(data, chain.size(), false);
    }
    took.whole_ns = adaptyst::now_ns() - begin;
    return took;
  }

  opencl_device& device() { return device_; }

 private:
  // Named for the region that takes the data: so the advisor learns how much passes between regions.
  void copy(item& data, std::size_t region, bool to_device) {
    const char* const name = region == chain.size() ? adaptyst::advisor::result : chain[region];
    const adaptyst::submission handed_over = adaptyst::submitting();
    const std::uint64_t begin = adaptyst::now_ns();
    const std::size_t bytes = to_device ? device_.copy_to(data, region) : device_.copy_from(data, region);
    adaptyst::submit(handed_over, name, device_.device(), 0,
                     to_device ? adaptyst::operation_kind::copy_to : adaptyst::operation_kind::copy_from,
                     adaptyst::work{bytes})
        .complete(begin, adaptyst::now_ns());
  }

  opencl_device device_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The two sides must agree, or their times mean nothing.
void check(pipeline& on, item& data) {
  on.run(data, 0);
  const std::vector<float> expected = data.sorted;
  for (mapping where = 1; where != mappings; ++where) {
    on.run(data, where);
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
  on.device().prepare(data);
  check(on, data);
  const adaptyst::collector collector;
  adaptyst::metadata("chain", "multiply,smooth,reduce,sort");
  ADAPTYST_REGION("run");
  for (const auto& [name, value] : describe(data))
    if (name == "rows") ADAPTYST_METRIC("rows", value);
    else ADAPTYST_METRIC("entries", value);
  // Between them these two run each kernel on each side, and copy at each place; the others make caches what they are
  // in other mappings.
  for (int turn = 0; turn != turns; ++turn)
    for (const mapping where : {0b0101U, 0b1010U, 0b0000U, 0b1111U}) on.run(data, where);
}

void measure(pipeline& on, int rounds, int rows, double density) {
  item data = make_item(rows, density);
  on.device().prepare(data);
  check(on, data);
  std::vector<double> times[mappings];
  for (int round = 0; round != rounds; ++round)
    for (mapping where = 0; where != mappings; ++where) {
      // Not in the same order each time: what follows what may matter.
      const mapping chosen = (where * 5 + static_cast<mapping>(round)) % mappings;
      times[chosen].push_back(static_cast<double>(on.run(data, chosen).whole_ns));
    }
  for (mapping where = 0; where != mappings; ++where)
    std::printf("%d %g %zu %s %.0f\n", rows, density, data.a.entries(), spell(where).c_str(), median(times[where]));
}

struct phase {
  item data;
  int items = 0;
};

mapping find_mapping(const std::vector<adaptyst::advised_stage>& stages) {
  mapping made = 0;
  for (const adaptyst::advised_stage& stage : stages)
    for (std::size_t region = stage.first; region <= stage.last; ++region)
      if (stage.device != 0) made |= 1U << region;
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
  const std::string device = advisor.devices()[1].name;
  advisor.prepare();
  for (phase& phase : phases) {
    on.device().prepare(phase.data);
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
      const mapping where = find_mapping(stages);
      const pipeline::times took = on.run(phase.data, where);
      // The first executions of an input touch its memory for the first time on one side or the other.
      if (at < 2 || at % 4 != 0) continue;
      const std::uint64_t watching = adaptyst::now_ns();
      for (std::size_t region = 0; region != chain.size(); ++region)
        advisor.update_drift(chain[region], (where >> region & 1) != 0 ? device : "host", features,
                             static_cast<double>(took.region_ns[region]));
      made.asking_ns += static_cast<double>(adaptyst::now_ns() - watching);
    }
    made.ns += static_cast<double>(adaptyst::now_ns() - begin);
    made.mappings += (made.mappings.empty() ? "" : " ") + spell(find_mapping(stages));
  }
  return made;
}

double run_static(pipeline& on, std::vector<phase>& phases, mapping where) {
  double ns = 0;
  for (phase& phase : phases) {
    on.device().prepare(phase.data);
    const std::uint64_t begin = adaptyst::now_ns();
    for (int at = 0; at != phase.items; ++at) on.run(phase.data, where);
    ns += static_cast<double>(adaptyst::now_ns() - begin);
  }
  return ns;
}

void adapt(pipeline& on, int rounds, const std::vector<adaptyst::profile>& profiles, std::vector<phase>& phases) {
  const adaptyst::profiled_advisor learnt = adaptyst::build_advisor(profiles);
  std::vector<double> advised, asking, fixed[mappings];
  for (int round = 0; round != rounds; ++round) {
    const adapted now = run_advised(on, phases, learnt.built);
    advised.push_back(now.ns);
    asking.push_back(now.asking_ns);
    std::printf("advised %d %s %d %.0f\n", round, now.mappings.c_str(), now.reschedulings, now.ns);
    for (mapping where = 0; where != mappings; ++where) fixed[where].push_back(run_static(on, phases, where));
  }
  mapping best = 0;
  for (mapping where = 0; where != mappings; ++where) {
    std::printf("static %s %.0f\n", spell(where).c_str(), median(fixed[where]));
    if (median(fixed[where]) < median(fixed[best])) best = where;
  }
  std::vector<double> ratios;
  for (int round = 0; round != rounds; ++round)
    ratios.push_back(advised[static_cast<std::size_t>(round)] / fixed[best][static_cast<std::size_t>(round)]);
  std::printf("best_static %s\nadvised_ns %.0f\nasking_ns %.0f\nadvised_over_best_static %.4f\n", spell(best).c_str(),
              median(advised), median(asking), median(ratios));
}

int run(const std::vector<std::string>& words) {
  const auto wrong = [] {
    std::fputs(
        "where_to_run profile ROWS DENSITY | measure ROUNDS ROWS DENSITY… | adapt ROUNDS PROFILE… -- ROWS DENSITY "
        "ITEMS…\n",
        stderr);
    return 2;
  };
  if (words.size() < 3) return wrong();
  pipeline on;
  if (words[0] == "profile") {
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
