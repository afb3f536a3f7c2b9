// Writes the regions of a profile in Caliper's text format, which Hatchet and Thicket read: a record a line. A region is
// a node below its parent; its figures are a record `ctx` that refers to the node. The run is a record `globals`.
#include <adaptyst/profile.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/words.hpp"
#include "../support/output_file.hpp"
#include "foreign_forms.hpp"
#include "region_tree.hpp"

namespace adaptyst::lib {

namespace {

// Nodes that every reader has: the types, and the attributes of attributes.
constexpr unsigned type_int = 1, type_string = 3, type_double = 5;
constexpr unsigned name_attribute = 8, property_attribute = 10;
constexpr unsigned first_own_node = 12;
constexpr unsigned as_value = 1, nested_region = 256 + 12, of_run = 512 + 12;

std::string spell_value(const std::string& text) {
  std::string made;
  for (const char c : valid_utf8(text))
    if (c == '\n') made += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20) made += '?';  // readers may end a line at a carriage return
    else if (c == '\\' || c == ',' || c == '=') made += std::string("\\") + c;
    else made += c;
  return made;
}

class caliper_text {
 public:
  explicit caliper_text(const profile& from) : from_(from), places_(list_places(from)) {
    for (const region& row : from.regions) rows_.try_emplace(row.id, &row);
  }

  std::string make() {
    region_ = add_attribute("region", type_string, nested_region);
    add_run();
    for (const region& row : from_.regions)
      if (!row.path.empty()) add_row(row);
    return std::move(out_);
  }

 private:
  unsigned add_node(unsigned attribute, const std::string& data, std::optional<unsigned> parent) {
    const unsigned number = next_++;
    out_ += fmt::format("__rec=node,id={},attr={},data={}", number, attribute, data);
    if (parent) out_ += fmt::format(",parent={}", *parent);
    out_ += '\n';
    return number;
  }

  // The number of an attribute, which is written at its first use.
  unsigned add_attribute(const std::string& name, unsigned type, unsigned properties) {
    const auto found = attributes_.find(name);
    if (found != attributes_.end()) return found->second;
    const unsigned typed = add_node(property_attribute, std::to_string(properties), type);
    const unsigned made = add_node(name_attribute, spell_value(name), typed);
    return attributes_.emplace(name, made).first->second;
  }

  // Hatchet joins rows of one path. The place in the source, or the device, keeps them apart.
  std::string find_label(const region& row) const {
    std::string label = row.path.back().empty() ? "(no name)" : row.path.back();
    if (const std::string& place = places_[static_cast<std::size_t>(&row - from_.regions.data())]; !place.empty())
      label += " " + place;
    if (row.device != 0) label += " [" + device_label(from_, row.device) + "]";
    return label;
  }

  // A parent without a row has not ended: its source line is unknown.
  unsigned find_node(const region& row) {
    std::vector<std::string> labels;
    const region* at = &row;
    for (std::size_t depth = row.path.size(); depth-- != 0;) {
      labels.push_back(at != nullptr ? find_label(*at) : row.path[depth].empty() ? "(no name)" : row.path[depth]);
      const auto parent = at != nullptr ? rows_.find(at->parent) : rows_.end();
      at = parent != rows_.end() && parent->second->path.size() == depth ? parent->second : nullptr;
    }
    std::optional<unsigned> node;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
      const auto [entry, is_new] = nodes_.try_emplace({node.value_or(0), *label}, 0);
      if (is_new) entry->second = add_node(region_, spell_value(*label), node);
      node = entry->second;
    }
    return *node;
  }

  struct figures {
    std::string attributes, values;
  };
  void add(figures& to, const char* name, unsigned type, const std::string& value) {
    to.attributes += fmt::format("={}", add_attribute(name, type, as_value));
    to.values += "=" + value;
  }
  void add_seconds(figures& to, const char* name, double ns) {
    add(to, name, type_double, fmt::format("{}", ns / 1e9));
  }

  void add_row(const region& row) {
    const unsigned node = find_node(row);
    figures all;
    // Hatchet converts numbers of the type int, and keeps those of uint as texts.
    constexpr std::uint64_t greatest = std::numeric_limits<std::int64_t>::max();
    add(all, "count", type_int, std::to_string(std::min<std::uint64_t>(row.count, greatest)));
    if (row.durations.count() != 0) {
      add_seconds(all, "sum#time.duration", static_cast<double>(row.self_ns));
      add_seconds(all, "inclusive#sum#time.duration", static_cast<double>(row.total_ns));
      add_seconds(all, "min#time.duration", static_cast<double>(row.min_ns));
      add_seconds(all, "max#time.duration", static_cast<double>(row.max_ns));
    }
    if (row.across_ranks && row.across_ranks->total_ns.mean()) {
      const rank_totals& ranks = row.across_ranks->total_ns;
      add_seconds(all, "min#inclusive#sum#time.duration", static_cast<double>(ranks.min));
      add_seconds(all, "max#inclusive#sum#time.duration", static_cast<double>(ranks.max));
      add_seconds(all, "avg#inclusive#sum#time.duration", *ranks.mean());
    }
    if (const std::optional<std::uint32_t> rank = from_.rank()) add(all, "mpi.rank", type_int, std::to_string(*rank));
    out_ += fmt::format("__rec=ctx,ref={},attr{},data{}\n", node, all.attributes, all.values);
  }

  // Names of Adiak, which Thicket shows as columns of its metadata. A prefix keeps names of the program apart.
  void add_run() {
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : from_.metadata) all["program." + name] = value;
    all["adaptyst.version"] = from_.version;
    all["adaptyst.engine"] = from_.engine;
    if (from_.ranks) all["jobsize"] = std::to_string(*from_.ranks);
    if (from_.about_ranks) all["numhosts"] = std::to_string(from_.about_ranks->count_hosts());
    if (const std::optional<std::string> date = from_.date()) all["launchdate"] = *date;
    if (!from_.processes.empty()) {
      const process_info& first = from_.processes.front();
      all["executable"] = first.command;
      if (!first.arguments.empty()) all["cmdline"] = fmt::format("{}", fmt::join(first.arguments, " "));
      if (from_.processes.size() == 1 && !first.host.empty()) all["hostname"] = first.host;
    }
    figures run;
    for (const auto& [name, value] : all) {
      run.attributes += fmt::format("={}", add_attribute(name, type_string, of_run | as_value));
      run.values += "=" + spell_value(value);
    }
    out_ += fmt::format("__rec=globals,attr{},data{}\n", run.attributes, run.values);
  }

  const profile& from_;
  std::vector<std::string> places_;  // by row
  std::unordered_map<std::uint64_t, const region*> rows_;
  std::string out_;
  unsigned next_ = first_own_node, region_ = 0;
  std::map<std::string, unsigned> attributes_;
  std::map<std::pair<unsigned, std::string>, unsigned> nodes_;  // by parent, 0 at the root, and label
};

}  // namespace

std::string to_caliper(const profile& from) { return caliper_text(from).make(); }

}  // namespace adaptyst::lib
