// Writes the regions of a profile for Prometheus, in its text format or as OpenMetrics. Names come from the observed
// program: labels are escaped and cut, and a label `id` keeps regions with equal names apart.
#include <adaptyst/detail/histogram.h>
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../model/words.hpp"
#include "../support/text.hpp"
#include "foreign_forms.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_label_characters = 500;

struct bucket_limit {
  std::uint64_t ns;
  const char* seconds;  // in the spelling of OpenMetrics
};
constexpr std::array<bucket_limit, 9> bucket_limits = {{{1'000, "1e-06"},
                                                        {10'000, "1e-05"},
                                                        {100'000, "0.0001"},
                                                        {1'000'000, "0.001"},
                                                        {10'000'000, "0.01"},
                                                        {100'000'000, "0.1"},
                                                        {1'000'000'000, "1.0"},
                                                        {10'000'000'000, "10.0"},
                                                        {100'000'000'000, "100.0"}}};

std::string label_value(const std::string& text) {
  std::string made;
  for (const char c : printable(text))
    if (c == '\\' || c == '"') made += std::string("\\") + c;
    else if (c == '\n') made += "\\n";
    else made += c;
  return made;
}

double to_seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

// The figures of a row, or of the sum of several. Empty: no row has the figure.
struct metric_row {
  std::string labels;
  std::uint64_t calls = 0;
  std::optional<std::uint64_t> total_ns, self_ns, on_core_ns, blocked_ns;
  std::optional<double> bytes;
  histogram durations;
};

// A file may have any number: a sum that is too great stays at the greatest.
std::uint64_t add_up(std::uint64_t a, std::uint64_t b) {
  return a + b < a ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

void add_to(std::optional<std::uint64_t>& sum, std::uint64_t value) { sum = add_up(sum.value_or(0), value); }

void add_figures(metric_row& to, const region& row) {
  to.calls = add_up(to.calls, row.count);
  if (row.durations.count() != 0) {
    add_to(to.total_ns, row.total_ns);
    add_to(to.self_ns, row.self_ns);
    to.durations.merge(row.durations);
  }
  if (row.self_context && row.self_context->on_cpu_ns()) {
    add_to(to.on_core_ns, *row.self_context->on_cpu_ns());
    add_to(to.blocked_ns, row.self_context->blocked_ns());
  }
  const auto bytes = row.attributes.find("bytes");
  if (bytes != row.attributes.end() && bytes->second.metrics == 0 && bytes->second.sum >= 0)
    to.bytes = to.bytes.value_or(0) + bytes->second.sum;
}

// The number of durations up to each limit. Within a bucket of the profile, which is at most 6 % wide, durations count
// as its longest.
std::array<std::uint64_t, bucket_limits.size()> count_up_to(const histogram& durations) {
  std::array<std::uint64_t, bucket_limits.size()> made{};
  const std::vector<std::uint64_t>& buckets = durations.buckets();
  for (unsigned bucket = 0; bucket != buckets.size(); ++bucket)
    for (std::size_t limit = 0; limit != bucket_limits.size(); ++limit)
      if (bucket + 1 != ADAPTYST_HISTOGRAM_BUCKETS &&
          adaptyst_histogram_lower(bucket + 1) <= bucket_limits[limit].ns + 1)
        made[limit] += buckets[bucket];
  return made;
}

class exposition {
 public:
  exposition(const profile& from, metrics_syntax syntax, metrics_regions& listed)
      : from_(from), is_open_(syntax == metrics_syntax::open_metrics), listed_(listed) {
    if (const std::optional<std::uint32_t> rank = from.rank()) common_ = fmt::format("rank=\"{}\"", *rank);
  }

  std::string make() {
    const std::vector<metric_row> all = make_series();
    begin("adaptyst_info", "gauge", "The version of Adaptyst, and the engine of the observation.");
    add("", fmt::format("version=\"{}\",engine=\"{}\"", label_value(from_.version), label_value(from_.engine)), "1");
    begin("adaptyst_regions", "gauge", "Call paths of the observed programs.");
    add("", "", std::to_string(from_.regions.size()));
    begin("adaptyst_regions_summed", "gauge", "Call paths without their own series, which are summed as (others).");
    add("", "", std::to_string(summed_));
    add_account();
    add_devices();
    add_counter(all, "adaptyst_region_calls", "Ended events of the region.",
                [](const metric_row& row) { return std::to_string(row.calls); });
    const auto in_seconds = [](std::optional<std::uint64_t> metric_row::*member) {
      return
          [member](const metric_row& row) { return row.*member ? fmt::format("{}", to_seconds(*(row.*member))) : ""; };
    };
    add_counter(all, "adaptyst_region_self_seconds", "Time in the region, without nested regions.",
                in_seconds(&metric_row::self_ns));
    add_counter(all, "adaptyst_region_on_core_seconds", "The part of the self time on a core.",
                in_seconds(&metric_row::on_core_ns));
    add_counter(all, "adaptyst_region_blocked_seconds", "The part of the self time in which threads were blocked.",
                in_seconds(&metric_row::blocked_ns));
    add_counter(all, "adaptyst_region_bytes", "Bytes that the region has moved.", [](const metric_row& row) {
      return row.bytes && std::isfinite(*row.bytes) ? fmt::format("{}", *row.bytes) : "";
    });
    add_durations(all);
    return out_ + (is_open_ ? "# EOF\n" : "");
  }

 private:
  // The name at the end of a path is never shortened by path_label().
  static std::string find_name(const region& row) {
    return characters(path_label(row.path, max_label_characters), 0, max_label_characters);
  }

  std::vector<metric_row> make_series() {
    std::vector<const region*> rows;
    for (const region& row : from_.regions) rows.push_back(&row);
    // Equal rows are ordered by id, so that each reading lists the same regions.
    std::sort(rows.begin(), rows.end(), [](const region* a, const region* b) {
      return a->total_ns != b->total_ns ? a->total_ns > b->total_ns : a->id < b->id;
    });
    for (const region* row : rows)
      if (listed_.size() < max_metrics_regions) listed_.insert(row->id);
    std::vector<metric_row> made;
    metric_row others;
    others.labels = "region=\"(others)\",id=\"\",kind=\"\",device=\"\"";
    std::unordered_set<std::string> written;
    for (const region* row : rows) {
      std::string labels =
          fmt::format("region=\"{}\",id=\"{:016x}\",kind=\"{}\",device=\"{}\"", label_value(find_name(*row)), row->id,
                      to_string(row->kind), label_value(device_label(from_, row->device)));
      // Rows of processes with different devices may have one number and one label, and a series must be unique.
      if (listed_.count(row->id) == 0 || !written.insert(labels).second) {
        add_figures(others, *row);
        ++summed_;
        continue;
      }
      metric_row& next = made.emplace_back();
      next.labels = std::move(labels);
      add_figures(next, *row);
    }
    if (summed_ != 0) made.push_back(std::move(others));
    return made;
  }

  // In OpenMetrics, the name of a counter has no suffix; in the text format, it has the suffix of its samples.
  void begin(const char* name, const char* type, const char* help) {
    name_ = name;
    const bool is_counter = std::string_view(type) == "counter";
    const std::string title = name_ + (is_counter && !is_open_ ? "_total" : "");
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", title, help, title, type);
  }

  void add(const char* suffix, const std::string& labels, const std::string& value) {
    const char* const separator = !labels.empty() && !common_.empty() ? "," : "";
    const bool has_labels = !labels.empty() || !common_.empty();
    out_ += name_;
    out_ += suffix;
    if (has_labels) out_ += "{" + common_ + separator + labels + "}";
    out_ += " " + value + "\n";
  }

  void add_counter(const std::vector<metric_row>& all, const char* name, const char* help,
                   const std::function<std::string(const metric_row&)>& value) {
    bool is_first = true;
    for (const metric_row& row : all) {
      const std::string text = value(row);
      if (text.empty()) continue;  // unknown
      if (is_first) begin(name, "counter", help);
      is_first = false;
      add("_total", row.labels, text);
    }
  }

  void add_durations(const std::vector<metric_row>& all) {
    bool is_first = true;
    for (const metric_row& row : all) {
      if (!row.total_ns) continue;
      if (is_first) begin("adaptyst_region_duration_seconds", "histogram", "Durations of the region's events.");
      is_first = false;
      const auto counts = count_up_to(row.durations);
      for (std::size_t limit = 0; limit != counts.size(); ++limit)
        add("_bucket", fmt::format("{},le=\"{}\"", row.labels, bucket_limits[limit].seconds),
            std::to_string(counts[limit]));
      add("_bucket", row.labels + ",le=\"+Inf\"", std::to_string(row.durations.count()));
      add("_sum", row.labels, fmt::format("{}", to_seconds(*row.total_ns)));
      add("_count", row.labels, std::to_string(row.durations.count()));
    }
  }

  void add_account() {
    begin("adaptyst_events", "counter", "Ended events of all regions.");
    add("_total", "", std::to_string(from_.accounting.ended));
    if (from_.accounting.lost.empty()) return;
    begin("adaptyst_events_lost", "counter", "Events without a record, by reason.");
    for (const auto& [reason, count] : from_.accounting.lost)
      add("_total", fmt::format("reason=\"{}\"", to_string(reason)), std::to_string(count));
  }

  void add_devices() {
    const auto each = [&](const char* name, const char* help, const auto& find) {
      bool is_first = true;
      for (std::uint32_t device = 0; device != from_.devices.size(); ++device) {
        const std::optional<std::uint64_t> ns = find(from_.devices[device]);
        if (!ns) continue;
        if (is_first) begin(name, "counter", help);
        is_first = false;
        // The number keeps devices with equal names apart.
        add("_total",
            fmt::format("device=\"{}\",name=\"{}\",number=\"{}\"", label_value(device_label(from_, device)),
                        label_value(characters(from_.devices[device].name, 0, max_label_characters)), device),
            fmt::format("{}", to_seconds(*ns)));
      }
    };
    each("adaptyst_device_observed_seconds", "Time in which the device was observed.",
         [](const device_usage& device) { return std::optional(device.observed_ns); });
    each("adaptyst_device_busy_seconds", "Time in which the device worked.",
         [](const device_usage& device) { return device.busy_ns; });
  }

  const profile& from_;
  bool is_open_;
  metrics_regions& listed_;
  std::string common_;  // labels of all samples
  std::string name_, out_;
  std::size_t summed_ = 0;
};

}  // namespace

std::string to_metrics(const profile& from, metrics_syntax syntax, metrics_regions& listed) {
  return exposition(from, syntax, listed).make();
}

}  // namespace adaptyst::lib
