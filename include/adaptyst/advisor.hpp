// Recommends a device for each region of a chain or a graph, for an input that has not been run yet.
//
//   adaptyst::advisor advisor({"multiply", "smooth", "sort"}, {{"host"}, {"gpu"}}, {"rows", "density"});
//   advisor.observe("multiply", "gpu", {{"rows", 4096}, {"density", 0.1}}, 1.3e6);   // ns; one per measurement
//   advisor.observe_transfer("host", "gpu", 1 << 20, 9e4);
//   advisor.observe_input_bytes("multiply", {{"rows", 4096}, {"density", 0.1}}, 4 << 20);  // input of "multiply"
//   const adaptyst::feature_values input = {{"rows", 8192}, {"density", 0.2}};
//   const adaptyst::advice advice = advisor.find_best(adaptyst::advice_objective::latency, input);
//   if (advice.best) …                                                                // else see advice.reason
//
// A regression on input features estimates region times; a copy takes delay + bytes / rate. The search for the best
// mapping is exact. docs/advice.md has the formulas. An estimate has its number of measurements and its provenance,
// such as extrapolated.
//
// Cost: the first query after observe() fits the regressions. A query of 12 regions and 3 device types takes about 5 ms
// (benchmark advise_ms_12_regions_3_types). After prepare(), several threads may query an advisor, but not while
// another thread changes it.
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

// Features of an input by name, such as size and density.
using feature_values = std::map<std::string, double>;

enum class advice_objective {
  throughput,  // most items per second
  latency,     // least time per item
  energy,      // least joules per item
  // Least joules among mappings that reach a share of the best throughput (advice_limits::balanced_share).
  balanced,
};

enum class execution_mode {
  sequential,  // an item passes all regions before the next item begins: each region may use all devices
  pipelined,   // items overlap: each group of regions holds its devices exclusively
};

enum class cost_provenance {
  measured,      // with exactly these features
  interpolated,  // by the regression, within the convex hull of the measured features
  extrapolated,  // by the regression, outside that hull
};

const char* to_string(advice_objective objective);
const char* to_string(execution_mode execution);
const char* to_string(cost_provenance provenance);

// A type of identical devices.
struct device_type {
  std::string name;
  std::uint32_t count = 1;
  // Power of one device, active and idle; idle <= active. Advice on energy needs both.
  std::optional<double> active_watts{}, idle_watts{};
};

// The expected time of a region on a device, with its basis.
struct cost_estimate {
  double ns = 0;
  std::uint64_t n = 0;                 // measured executions
  std::size_t inputs = 0;              // different features among them
  std::optional<double> deviation_ns;  // standard deviation of single executions; empty if unknown
  cost_provenance provenance = cost_provenance::measured;
  std::string model;  // "measured", "constant", "linear", "products" or "power law"
  // Mean absolute relative error, with each input predicted from the others; empty if there are too few inputs.
  std::optional<double> cv_error;
  double drift = 1;  // correction factor from update_drift(); ns includes it
};

// Regions first … last of the chain, all in one branch, on `count` devices of one type.
struct advised_stage {
  std::size_t first = 0, last = 0;
  std::size_t device = 0;  // index into devices()
  std::uint32_t count = 1;
  // Branches that run at the same time have different lanes, from 1. 0: all regions of lane 0 run one after another.
  // An output only: it is ignored in arguments and comparisons.
  std::uint32_t lane = 0;

  friend bool operator==(const advised_stage& a, const advised_stage& b) {
    return a.first == b.first && a.last == b.last && a.device == b.device && a.count == b.count;
  }
};

struct mapping {
  std::vector<advised_stage> stages;  // in the order of the chain
  double period_ns = 0;               // time between two items: the longest stage if pipelined, else latency_ns
  double latency_ns = 0;              // time of one item, copies included
  double copy_ns = 0;                 // copy time, a part of latency_ns; with branches: the sum over all of them
  std::optional<double> joules;       // energy of one item, idle devices included; empty if powers are unknown

  double per_second() const { return 1e9 / period_ns; }
};

struct advice_limits {
  std::optional<double> min_per_second;  // in items
  std::optional<double> max_latency_ns;
  // Power of all devices, active or idle. If pipelined, the devices of all stages are active, else those of one stage.
  std::optional<double> max_watts;
  std::map<std::string, std::uint32_t> max_devices;  // by type; 0 excludes the type
  // Share of the best throughput within the other limits. Only advice_objective::balanced uses it.
  double balanced_share = 0.9;
};

struct region_cost {
  std::string region, device;
  std::uint32_t count = 1;
  cost_estimate cost;
};

struct advice {
  std::optional<mapping> best;
  std::string reason;  // why there is no mapping: "infeasible: …"
  // Pareto front of period, latency, joules; tolerance 1e-9.
  std::vector<mapping> pareto;
  std::vector<region_cost> costs;    // estimates used: each region on each device
  std::vector<std::string> remarks;  // limits of this advice
};

// The objective of a mapping, divided by the objective of another mapping.
struct advice_ratio {
  double value = 1;
  std::optional<double> low, high;  // 95 % interval; empty: the error of a region is unknown, or it is extrapolated
};

struct reschedule_advice {
  bool is_recommended = false;
  mapping current, best;     // estimates for the features
  double gain = 0;           // 1 - best / current, in the quantity of the objective
  double required_gain = 0;  // smallest gain that justifies a change
  // If the gain does not decide: the limit that the current mapping breaks, or why no mapping is better.
  std::string reason;
};

class advisor {
 public:
  // `chain`: the regions that each item passes, in order. An element such as "(fft|filter)" has branches, which may run
  // at the same time on different devices; then chain() has the regions in the order of the text. `features`: the
  // features on which costs depend. `home`: the device with the data before the first and after the last region; empty
  // means the first device. Throws error for missing, duplicate or unknown names.
  advisor(std::vector<std::string> chain, std::vector<device_type> devices, std::vector<std::string> features,
          const std::string& home = {});
  ~advisor();
  advisor(advisor&&) noexcept;
  advisor& operator=(advisor&&) noexcept;
  advisor(const advisor&);
  advisor& operator=(const advisor&);

  const std::vector<std::string>& chain() const;
  const std::string& chain_text() const;  // with branches
  const std::vector<device_type>& devices() const;
  const std::vector<std::string>& features() const;

  // Adds a measurement: `executions` of a region took `ns` each on `count` devices, for an input with these features.
  // `joules` is energy above idle. Unknown features are ignored. Throws error for missing features, unknown names,
  // times and counts <= 0, and numbers that are not finite.
  void observe(const std::string& region, const std::string& device, const feature_values& features, double ns,
               std::optional<double> joules = {}, std::uint64_t executions = 1, std::optional<double> deviation_ns = {},
               std::uint32_t count = 1);
  // Adds the measured time of a copy of `bytes`.
  void observe_transfer(const std::string& from, const std::string& to, double bytes, double ns);
  // Sets the bytes that a region receives from the region before it. Region "result" is the output of the last region.
  // The default is 0, with a remark if that affects the advice.
  void observe_input_bytes(const std::string& region, const feature_values& features, double bytes);
  static constexpr const char* result = "result";

  // Fits the measurements. Queries call it if needed.
  void prepare() const;

  // Empty if the region was never measured on this number of devices of this type.
  std::optional<cost_estimate> estimate(const std::string& region, const std::string& device,
                                        const feature_values& features, std::uint32_t count = 1) const;

  // Throws error if a region was measured on no device, or if energy is requested and powers are unknown.
  advice find_best(advice_objective objective, const feature_values& features,
                   execution_mode execution = execution_mode::sequential, const advice_limits& limits = {}) const;
  // The best single mapping for all these inputs, in equal shares: times, energy and limits are of the mean item.
  advice find_best_static(advice_objective objective, const std::vector<feature_values>& inputs,
                          execution_mode execution = execution_mode::sequential,
                          const advice_limits& limits = {}) const;
  // Cost of a given mapping. Empty if a part was never measured, the chain is incomplete, or too few devices exist.
  // Throws error if a feature is missing, as do estimate(), update_drift() and should_reschedule().
  std::optional<mapping> evaluate(const std::vector<advised_stage>& stages, const feature_values& features,
                                  execution_mode execution = execution_mode::sequential) const;

  // The speed-up by `advised` over `other`, or the ratio of their energies. Both are results for these features.
  // docs/advice.md has the method of the interval. Copies count as exact.
  advice_ratio compare(const mapping& advised, const mapping& other, const feature_values& features,
                       advice_objective objective = advice_objective::latency) const;

  // Adds a measurement during a run. The median of the last 5 ratios of measured to expected time corrects
  // later estimates for this region and device.
  void update_drift(const std::string& region, const std::string& device, const feature_values& features, double ns,
                    std::uint32_t count = 1);
  // True if another mapping is better by more than `hysteresis` (a fraction) and by more than 4 standard deviations of
  // the gain. Also true if the current mapping breaks a limit. Drift is used after the third update_drift() of a
  // region.
  reschedule_advice should_reschedule(const std::vector<advised_stage>& current, const feature_values& features,
                                      advice_objective objective = advice_objective::latency, double hysteresis = 0.05,
                                      execution_mode execution = execution_mode::sequential,
                                      const advice_limits& limits = {}) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Input for build_advisor(). docs/advice.md describes how a program records features, chain and copies.
struct advice_source {
  std::vector<std::string> chain;     // empty: from metadata "chain", such as "load,(fft|filter),reduce"
  std::vector<std::string> features;  // empty: features of all profiles that differ between them
  std::vector<device_type>
      // Counts and powers of devices in the profiles. Default: count 1, no powers.
      devices;
};
struct profiled_advisor {
  advisor built;
  std::vector<feature_values> inputs;  // different inputs in the order of the profiles
  std::vector<std::string> remarks;
};
// Builds an advisor from profiles of runs with different inputs. Throws error if no chain is given or a profile lacks a
// feature.
profiled_advisor build_advisor(const std::vector<profile>& profiles, const advice_source& source = {});

}}  // namespace adaptyst::v1

#endif
