// Makes an advisor from profiles: features from metrics and metadata, the chain from metadata, times from rows of
// regions and offloads, and copies from rows of operations that have the name of the receiving region.
#include <adaptyst/detail/histogram.h>

#include <adaptyst/advisor.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace adaptyst { inline namespace v1 {

namespace {

constexpr const char* host_name = "host";
// The deviation of fewer executions is too uncertain for an interval.
constexpr std::uint64_t min_for_deviation = 8;

std::optional<double> parse_number(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> made(1);
  for (const char c : text)
    if (c == ',') made.emplace_back();
    else if (c != ' ' || !made.back().empty()) made.back() += c;
  for (std::string& name : made)
    while (!name.empty() && name.back() == ' ') name.pop_back();
  return made;
}

// Numbers in metadata, and metrics with one value in the whole run.
feature_values find_features(const profile& in) {
  feature_values found;
  std::set<std::string> vary;
  for (const auto& [name, text] : in.metadata)
    if (const std::optional<double> value = parse_number(text)) found[name] = *value;
  for (const region& row : in.regions)
    for (const auto& [name, attribute] : row.attributes) {
      if (attribute.metrics == 0 || attribute.metrics != attribute.count) continue;
      const bool is_constant = attribute.min == attribute.max && std::isfinite(attribute.min);
      const auto [entry, is_new] = found.try_emplace(name, attribute.min);
      if (!is_constant || (!is_new && entry->second != attribute.min)) vary.insert(name);
    }
  for (const std::string& name : vary) found.erase(name);
  return found;
}

std::string find_name(const profile& in, std::uint32_t device) {
  if (in.is_host(device) || device >= in.devices.size()) return host_name;
  const device_usage& usage = in.devices[device];
  return usage.name.empty() ? std::string(to_string(usage.kind)) : usage.name;
}

bool is_copy(const region& row) { return row.kind == region_kind::copy_to || row.kind == region_kind::copy_from; }
bool is_work(const region& row) {
  return row.kind == region_kind::region || row.kind == region_kind::offload || row.kind == region_kind::function ||
         row.kind == region_kind::kernel;
}

// The exact sum has no error of buckets.
double find_mean_ns(const region& row) { return static_cast<double>(row.total_ns) / static_cast<double>(row.count); }

// Sum of (t - mean)^2 over the values of a bucket, if they are uniform between its edges.
double sum_squares(const region& row, unsigned bucket, double mean) {
  double low = static_cast<double>(adaptyst_histogram_lower(bucket));
  double high = static_cast<double>(adaptyst_histogram_lower(bucket + 1) - 1);
  low = std::max(low, static_cast<double>(row.min_ns));
  if (row.max_ns != 0) high = std::min(high, static_cast<double>(row.max_ns));
  high = std::max(low, high);
  const double distance = (low + high) / 2 - mean, width = high - low;
  return static_cast<double>(row.durations.buckets()[bucket]) * (distance * distance + width * width / 12);
}

std::optional<double> find_deviation_ns(const region& row) {
  const std::uint64_t count = row.durations.count();
  if (row.count < min_for_deviation || row.timed_events.value_or(row.count) < min_for_deviation || count < 2)
    return std::nullopt;
  const double mean = find_mean_ns(row);
  double squares = 0;
  for (unsigned bucket = 0; bucket != row.durations.buckets().size(); ++bucket)
    if (row.durations.buckets()[bucket] != 0) squares += sum_squares(row, bucket, mean);
  return std::sqrt(squares / static_cast<double>(count - 1));
}

// Features that all profiles have and that differ between them.
std::vector<std::string> choose_features(const std::vector<feature_values>& all) {
  std::vector<std::string> chosen;
  for (const auto& [name, value] : all.front()) {
    bool is_common = true, differs = all.size() == 1;
    for (const feature_values& other : all) {
      const auto found = other.find(name);
      is_common = is_common && found != other.end();
      differs = differs || (found != other.end() && found->second != value);
    }
    if (is_common && differs) chosen.push_back(name);
  }
  return chosen;
}

std::vector<std::string> choose_chain(const std::vector<profile>& profiles, const std::vector<std::string>& given) {
  if (!given.empty()) return given;
  std::string chain;
  for (const profile& profile : profiles) {
    const auto found = profile.metadata.find("chain");
    if (found == profile.metadata.end()) continue;
    if (!chain.empty() && chain != found->second)
      throw error("the profiles contain different chains: " + chain + "; " + found->second, "chain", 0,
                  "give the chain: --chain FIRST,SECOND,…");
    chain = found->second;
  }
  if (chain.empty())
    throw error("the profiles contain no chain of regions", "chain", 0,
                "give the chain: --chain FIRST,SECOND,…, or call adaptyst::metadata(\"chain\", \"first,second\")");
  return split(chain);
}

class reading {
 public:
  reading(const std::vector<std::string>& chain, profiled_advisor& made) : chain_(chain), made_(made) {}

  void add(const profile& in, const feature_values& features) {
    for (const region& row : in.regions) {
      if (row.count == 0 || row.total_ns == 0 || row.path.empty()) continue;
      const std::string& name = row.path.back();
      const bool is_region = std::find(chain_.begin(), chain_.end(), name) != chain_.end();
      const std::string device = find_name(in, row.device);
      if (is_copy(row) && (is_region || name == advisor::result)) {
        const auto bytes = row.attributes.find("bytes");
        if (bytes == row.attributes.end() || !(bytes->second.sum > 0)) continue;
        const double each = bytes->second.sum / static_cast<double>(row.count);
        const bool goes_out = row.kind == region_kind::copy_to;
        made_.built.observe_transfer(goes_out ? host_name : device, goes_out ? device : host_name, each,
                                     find_mean_ns(row));
        made_.built.observe_input_bytes(name, features, each);
      } else if (is_work(row) && is_region && !(row.kind == region_kind::kernel && has_offload(in, row))) {
        made_.built.observe(name, device, features, find_mean_ns(row), {}, row.timed_events.value_or(row.count),
                            find_deviation_ns(row));
      }
    }
  }

 private:
  // The host's wait includes the launch, which is also part of an item's time.
  static bool has_offload(const profile& in, const region& kernel) {
    return std::any_of(in.regions.begin(), in.regions.end(), [&](const region& row) {
      return row.kind == region_kind::offload && row.device == kernel.device && row.path.back() == kernel.path.back();
    });
  }

  const std::vector<std::string>& chain_;
  profiled_advisor& made_;
};

}  // namespace

profiled_advisor build_advisor(const std::vector<profile>& profiles, const advice_source& source) {
  if (profiles.empty()) throw error("there are no profiles to learn from", "", 0, "name at least one");
  const std::vector<std::string> chain = choose_chain(profiles, source.chain);
  std::vector<feature_values> found;
  found.reserve(profiles.size());
  for (const profile& profile : profiles) found.push_back(find_features(profile));
  const std::vector<std::string> features = source.features.empty() ? choose_features(found) : source.features;
  std::vector<device_type> devices = source.devices;
  const auto add_device = [&](const std::string& name) {
    if (std::none_of(devices.begin(), devices.end(), [&](const device_type& type) { return type.name == name; }))
      devices.push_back({name});
  };
  add_device(host_name);
  for (const profile& profile : profiles)
    for (std::uint32_t at = 1; at < profile.devices.size(); ++at) add_device(find_name(profile, at));
  profiled_advisor made{advisor(chain, devices, features, host_name), {}, {}};
  reading all(made.built.chain(), made);
  for (std::size_t at = 0; at != profiles.size(); ++at) {
    feature_values input;
    for (const std::string& name : features) {
      const auto value = found[at].find(name);
      if (value == found[at].end())
        throw error("profile " + std::to_string(at + 1) + " has no feature '" + name + "'", name, 0,
                    "a feature is a metric that has one value in the whole run, or metadata that is a number");
      input.insert(*value);
    }
    all.add(profiles[at], input);
    if (std::find(made.inputs.begin(), made.inputs.end(), input) == made.inputs.end())
      made.inputs.push_back(std::move(input));
  }
  if (features.empty())
    made.remarks.emplace_back("no feature differs between the profiles: the expected costs are the measured costs");
  return made;
}

}}  // namespace adaptyst::v1
