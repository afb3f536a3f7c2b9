// Where to run what: which of a chain of regions on which device, for an input that has not been run yet.
//
//   adaptyst::advisor advisor({"multiply", "smooth", "sort"}, {{"host"}, {"gpu"}}, {"rows", "density"});
//   advisor.observe("multiply", "gpu", {{"rows", 4096}, {"density", 0.1}}, 1.3e6);   // and so on: what was measured
//   advisor.transfer("host", "gpu", 1 << 20, 9e4);
//   advisor.observe_bytes("multiply", {{"rows", 4096}, {"density", 0.1}}, 4 << 20);  // what "multiply" takes
//   const adaptyst::advice advice = advisor.best(adaptyst::advice_objective::latency, {{"rows", 8192}, {"density", 0.2}});
//   if (advice.best) …                                                                // else advice.reason says why not
//
// The time of a region on a device follows from what was measured by a regression on the features of inputs, that of a
// copy is a + bytes / b. Among all mappings of the chain the best one is found exactly. docs/advice.md has the formulas.
// Each figure says on how many measurements it rests. Outside what was measured it is marked; a region that was measured
// on no device is refused.
//
// Cost: the first question after observe() fits the regressions; a question of 12 regions and 3 types of devices takes
// about 5 ms (advise_ms_12_regions_3_types of the benchmarks), one of fewer regions less. An advisor is plain data:
// threads may ask one at the same time after prepare(), not while another one changes it.
#ifndef ADAPTYST_ADVISOR_HPP
#define ADAPTYST_ADVISOR_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detail/error.hpp"
#include "profile.hpp"

namespace adaptyst { inline namespace v1 {

// Of an input: its size, its density, …, by name.
using feature_values = std::map<std::string, double>;

enum class advice_objective {
  throughput,  // most items a second
  latency,     // one item in the least time
  energy,      // least joules an item
  balanced,    // least joules among what reaches a part of the best throughput (advice_limits::balanced_share)
};

enum class advice_execution {
  one_at_a_time,  // an item passes all regions before the next begins: each region may have all devices
  pipelined,      // items follow each other: each group of regions holds its devices for itself
};

enum class cost_provenance {
  measured,      // with exactly these features
  interpolated,  // by the regression, within the convex hull of the features that were measured
  extrapolated,  // by the regression, outside of it
};

const char* to_string(advice_objective objective);
const char* to_string(advice_execution execution);
const char* to_string(cost_provenance provenance);

// Devices that are alike.
struct advised_device {
  std::string name;
  std::uint32_t count = 1;
  // Of one of them, at work and idle. Empty: not known, then there is no advice on energy. idle <= active.
  std::optional<double> active_watts{}, idle_watts{};
};

// What a region is expected to take on a device, and on what that rests.
struct cost_estimate {
  double ns = 0;
  std::uint64_t n = 0;                 // executions that were measured
  std::size_t inputs = 0;              // with so many different features
  std::optional<double> deviation_ns;  // standard deviation of single executions; empty: not known
  cost_provenance provenance = cost_provenance::measured;
  std::string model;               // "measured", "constant", "linear", "products", "power law"
  std::optional<double> cv_error;  // mean absolute relative error, each input predicted by the others; empty: too few
  double drift = 1;                // by what watch() has corrected ns, which holds this factor already
};

// Regions first … last of the chain, on `count` devices of one type.
struct advised_stage {
  std::size_t first = 0, last = 0;
  std::size_t device = 0;  // an index into devices()
  std::uint32_t count = 1;

  friend bool operator==(const advised_stage& a, const advised_stage& b) {
    return a.first == b.first && a.last == b.last && a.device == b.device && a.count == b.count;
  }
};

struct mapping {
  std::vector<advised_stage> stages;  // in the order of the chain
  double period_ns = 0;               // between two items: the longest stage if pipelined, else latency_ns
  double latency_ns = 0;              // of one item, copies included
  double copy_ns = 0;                 // of latency_ns
  std::optional<double> joules;       // of one item, with idle devices; empty: powers are not known

  double per_second() const { return 1e9 / period_ns; }
};

struct advice_limits {
  std::optional<double> min_per_second;  // items
  std::optional<double> max_latency_ns;
  // What devices draw while all that a mapping uses at a time are at work, and the others idle: those of all stages if
  // pipelined, else those of one stage.
  std::optional<double> max_watts;
  std::map<std::string, std::uint32_t> max_devices;  // by type; 0: none of these
  // A share of the best throughput that the other limits allow. Only advice_objective::balanced uses it.
  double balanced_share = 0.9;
};

struct region_costs {
  std::string region, device;
  std::uint32_t count = 1;
  cost_estimate cost;
};

struct advice {
  std::optional<mapping> best;
  std::string reason;                // why there is none: "infeasible: …"
  std::vector<mapping> pareto;       // all that no other is as good as in period, latency and joules, within 1e-9
  std::vector<region_costs> costs;   // all that it rests on: of each region, each device
  std::vector<std::string> remarks;  // what it cannot tell
};

struct reschedule_advice {
  bool should = false;
  mapping current, best;  // as expected for the features
  double gain = 0;        // 1 - best / current, of what the objective is about
  double needed = 0;      // the gain from which it is worth while
  std::string reason;     // where it is not the gain: what runs now breaks a limit; or why there is nothing better
};

class advisor {
 public:
  // `chain`: the regions that each item passes, in this order; `features`: by what costs are expected to differ. The data
  // is on `home` before the first region and after the last one: a name of a device, empty for the first device.
  // Throws error if names are missing, occur twice or are unknown.
  advisor(std::vector<std::string> chain, std::vector<advised_device> devices, std::vector<std::string> features,
          const std::string& home = {});
  ~advisor();
  advisor(advisor&&) noexcept;
  advisor& operator=(advisor&&) noexcept;
  advisor(const advisor&);
  advisor& operator=(const advisor&);

  const std::vector<std::string>& chain() const;
  const std::vector<advised_device>& devices() const;
  const std::vector<std::string>& features() const;

  // A measurement: `executions` of a region on `count` devices of a type, for an input with these features, took `ns` each,
  // with this standard deviation, and `joules` above idle, if that is known. Features that the advisor has not are
  // ignored, one that is missing is an error, as are unknown names, times and counts that are not above 0, and what is
  // no finite number.
  void observe(const std::string& region, const std::string& device, const feature_values& features, double ns,
               std::optional<double> joules = {}, std::uint64_t executions = 1, std::optional<double> deviation_ns = {},
               std::uint32_t count = 1);
  // A copy of so many bytes.
  void transfer(const std::string& from, const std::string& to, double bytes, double ns);
  // How many bytes a region takes from the one before it; "result": what the last one leaves. Not said: 0, with a remark
  // where that matters.
  void observe_bytes(const std::string& region, const feature_values& features, double bytes);
  static constexpr const char* result = "result";

  // Fits what has been observed; questions do it by themselves.
  void prepare() const;

  // Empty: never measured on so many devices of this type.
  std::optional<cost_estimate> estimate(const std::string& region, const std::string& device,
                                        const feature_values& features, std::uint32_t count = 1) const;

  // Throws error where a region was measured on no device, or where energy is asked for and powers are not known.
  advice best(advice_objective objective, const feature_values& features,
              advice_execution execution = advice_execution::one_at_a_time, const advice_limits& limits = {}) const;
  // What these stages cost; empty where something of that was never measured, the stages are not the whole chain, or
  // there are not so many devices. Throws error where a feature is missing, as estimate() and the two below do.
  std::optional<mapping> evaluate(const std::vector<advised_stage>& stages, const feature_values& features,
                                  advice_execution execution = advice_execution::one_at_a_time) const;

  // An execution while the program runs: the median of the last 5 ratios of what was measured to what was expected
  // corrects what is expected of this region on this device from then on.
  void watch(const std::string& region, const std::string& device, const feature_values& features, double ns,
             std::uint32_t count = 1);
  // Whether another mapping is better by more than `hysteresis`, a fraction of 1, and by more than 4 standard deviations
  // of the gain. It is also true if the current one does not keep the limits any more. Drift counts
  // from the third watch() of a region on.
  reschedule_advice should_reschedule(const std::vector<advised_stage>& current, const feature_values& features,
                                      advice_objective objective = advice_objective::latency, double hysteresis = 0.05,
                                      advice_execution execution = advice_execution::one_at_a_time,
                                      const advice_limits& limits = {}) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// An advisor from profiles of runs with different inputs; docs/advice.md says how a program tells its features, chain and
// copies.
struct advice_source {
  std::vector<std::string> chain;     // empty: from the metadata "chain", names with commas between them
  std::vector<std::string> features;  // empty: what is a feature in all profiles, and differs between them
  std::vector<advised_device>
      devices;  // counts and powers of devices that the profiles have; the others have 1 and none
};
struct profiled_advisor {
  advisor built;
  std::vector<feature_values> inputs;  // different ones, in the order of the profiles
  std::vector<std::string> remarks;
};
// Throws error if there is no chain, or a profile has not the features.
profiled_advisor advise_from(const std::vector<profile>& profiles, const advice_source& source = {});

}}  // namespace adaptyst::v1

#endif
