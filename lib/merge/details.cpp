// The second message of a merge: each rank writes its processes, the times of the largest rows, and full histograms.
// The first rank adds them to the merged profile.
#include "details.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../model/measurements.hpp"
#include "../model/merging.hpp"
#include "../model/mpi_usage.hpp"
#include "../model/order.hpp"
#include "../model/ranks.hpp"
#include "message_parts.hpp"

namespace adaptyst::lib {

namespace listed {

constexpr auto fields(type<details_plan::row>) {
  using of = details_plan::row;
  return list("row", "", field("key", &of::key, same, always, ""), field("unit_ns", &of::unit_ns, same, always, ""));
}

constexpr auto fields(type<details_plan>) {
  using of = details_plan;
  return list("plan", "", field("ranks_per_bin", &of::ranks_per_bin, same, always, ""),
              field("rows", &of::rows, same, always, ""),
              field("has_histograms", &of::has_histograms, same, always, ""),
              field("has_all_processes", &of::has_all_processes, same, always, ""),
              field("has_whole_processes", &of::has_whole_processes, same, always, ""),
              field("ranks", &of::ranks, same, always, ""));
}

}  // namespace listed

template <>
inline constexpr std::uint64_t max_elements<details_plan::row> = heat_map::max_rows;

static void require_sound(const message_reader& from, const details_plan::row& read) {
  if (read.unit_ns == 0) from.fail("has a unit of nothing");
}
static void require_sound(const message_reader& from, const details_plan& read) {
  if (read.ranks_per_bin == 0) from.fail("has bins of nothing");
}

namespace {

__extension__ typedef unsigned __int128 wide;  // NOLINT(modernize-use-using): invalid after __extension__

// FNV-1a.
class key_hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0);
  }
  void add(std::uint64_t number) {
    for (unsigned byte = 0; byte != 8; ++byte) add_byte(static_cast<unsigned char>(number >> 8 * byte));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::uint64_t find_key(const profile& in, const region& row) {
  key_hash made;
  made.add(row.id);
  for (const std::string& name : row.path) made.add(name);
  if (row.device < in.devices.size()) {
    const device_usage& device = in.devices[row.device];
    made.add(static_cast<std::uint64_t>(device.kind));
    made.add(device.index);
    made.add(device.name);
  }
  return made.value();
}

// The rows of a plan in a profile; null if the profile does not have the row.
template <class Profile>
auto find_rows(Profile& in, const details_plan& plan) {
  using row = std::remove_reference_t<decltype(in.regions.front())>;
  std::vector<std::pair<std::uint64_t, std::size_t>> places;
  for (std::size_t at = 0; at != plan.rows.size(); ++at) places.emplace_back(plan.rows[at].key, at);
  std::sort(places.begin(), places.end());
  std::vector<row*> found(plan.rows.size());
  for (row& each : in.regions) {
    const std::uint64_t key = find_key(in, each);
    const auto place = std::lower_bound(places.begin(), places.end(), std::pair(key, std::size_t{0}));
    if (place != places.end() && place->first == key && found[place->second] == nullptr) found[place->second] = &each;
  }
  return found;
}

std::vector<const region*> find_largest(const profile& in) {
  std::vector<const region*> all;
  for (const region& row : in.regions)
    if (row.across_ranks) all.push_back(&row);
  const auto is_larger = [](const region* a, const region* b) {
    return std::tie(b->total_ns, a->path, a->id, a->device) < std::tie(a->total_ns, b->path, b->id, b->device);
  };
  std::sort(all.begin(), all.end(), is_larger);
  if (all.size() > heat_map::max_rows) all.resize(heat_map::max_rows);
  return all;
}

bool is_before(const process_info& a, const process_info& b) { return order(a) < order(b); }

}  // namespace

std::string details_plan::message() const {
  parts_writer writer;
  writer.write_fields(*this);
  return writer.out.finish(message_kind::plan);
}

details_plan read_plan(std::string_view message) {
  message_reader from(message, message_kind::plan);
  details_plan made;
  read_fields(from, made);
  from.require_end();
  return made;
}

details_plan make_plan(const profile& merged, message_limits limits) {
  constexpr std::uint64_t units = 1U << 20U;  // three bytes in a message
  constexpr std::uint64_t max_whole = 64;
  details_plan made;
  const std::uint64_t processes = merged.unlisted ? merged.unlisted->processes : 0;
  made.has_all_processes = processes <= profile::max_processes;
  made.has_whole_processes = processes <= max_whole;
  if (!merged.ranks || !merged.about_ranks) return made;
  made.ranks_per_bin =
      std::max<std::uint64_t>(1, (merged.about_ranks->end + heat_map::max_bins - 1) / heat_map::max_bins);
  made.has_histograms = limits.durations != 0 || limits.ranks != 0;
  for (const region* const row : find_largest(merged))
    made.rows.push_back({find_key(merged, *row), row->across_ranks->total_ns.max / units + 1});
  if (!made.has_all_processes) {
    const std::set<std::uint32_t> notable = list_notable_ranks(merged);
    made.ranks.assign(notable.begin(), notable.end());
  }
  return made;
}

rank_details::rank_details(details_plan plan) : plan_(std::move(plan)), rows_(plan_.rows.size()) {}

void rank_details::add(const profile& profile, const std::optional<rank_place>& place) {
  std::vector<process_info> listed;
  for (const process_info& process : profile.processes) {
    const std::optional<std::uint32_t> rank = place ? place->rank : process.rank;
    if (!plan_.has_all_processes && (!rank || !std::binary_search(plan_.ranks.begin(), plan_.ranks.end(), *rank)))
      continue;
    listed.push_back(process);
    process_info& info = listed.back();
    info.rank = rank;
    if (info.parent && *info.parent <= 0) info.parent.reset();
    if (plan_.has_whole_processes) continue;
    info.arguments.clear();
    info.thread_list.clear();
    info.resident.clear();
  }
  std::sort(listed.begin(), listed.end(), is_before);
  add(std::move(listed));
  add_machines(machines_, profile.machines);
  if (!place) return;
  if (const mpi_usage own = find_mpi_usage(profile, *place); own.outside.ranks != 0)
    add({place->host, 1, own.outside.total_ns.sum.low});
  if (rows_.empty()) return;
  const std::vector<const region*> found = find_rows(profile, plan_);
  for (std::size_t at = 0; at != rows_.size(); ++at) {
    if (found[at] == nullptr || !has_time(*found[at])) continue;
    const std::uint64_t unit = plan_.rows[at].unit_ns, total = found[at]->total_ns;
    const std::uint64_t value = total / unit + (total % unit >= unit - unit / 2 ? 1 : 0);
    add(rows_[at].bins, {{place->rank / plan_.ranks_per_bin, 1, value, value, value}});
    if (!plan_.has_histograms) continue;
    sparse_histogram own;
    own.assign(found[at]->durations);
    rows_[at].durations.add(own);
    own.assign(total);
    rows_[at].ranks.add(own);
  }
}

void rank_details::add(std::vector<bin>& bins, const std::vector<bin>& from) {
  for (const bin& more : from) {
    const auto at = std::lower_bound(bins.begin(), bins.end(), more,
                                     [](const bin& a, const bin& b) { return a.number < b.number; });
    if (at == bins.end() || at->number != more.number) {
      bins.insert(at, more);
      continue;
    }
    at->ranks += more.ranks;
    at->min = std::min(at->min, more.min);
    at->max = std::max(at->max, more.max);
    at->sum += more.sum;
  }
}

void rank_details::add(const node_time& more) {
  if (has_too_many_nodes_) return;
  node_time& node = nodes_[more.host];
  node.host = more.host;
  node.ranks += more.ranks;
  node.time_ns += more.time_ns;
  if (nodes_.size() <= max_elements<node_time>) return;
  has_too_many_nodes_ = true;
  nodes_.clear();
}

// Adds nothing if ranks are missing or there are too many nodes.
void rank_details::add_busiest_node(profile& merged) const {
  if (!merged.mpi) return;
  std::uint64_t ranks = 0;
  const node_time* busiest = nullptr;
  for (const auto& [host, node] : nodes_) {
    ranks += node.ranks;
    const auto has_more = [](const node_time& a, const node_time& b) {
      return wide{a.time_ns} * b.ranks > wide{b.time_ns} * a.ranks;
    };
    if (busiest == nullptr || has_more(node, *busiest)) busiest = &node;
  }
  if (busiest != nullptr && ranks == merged.mpi->outside.ranks) merged.mpi->busiest = *busiest;
}

void rank_details::add(std::vector<process_info> more) {
  const auto middle = static_cast<std::ptrdiff_t>(processes_.size());
  std::move(more.begin(), more.end(), std::back_inserter(processes_));
  std::inplace_merge(processes_.begin(), processes_.begin() + middle, processes_.end(), is_before);
}

std::string rank_details::message() const {
  parts_writer parts;
  message_writer& writer = parts.out;
  writer.put(rows_.size());
  for (const row_details& row : rows_) {
    writer.put(row.bins.size());
    std::uint64_t before = 0;
    for (const bin& bin : row.bins) {
      writer.put(bin.number - before);
      writer.put(bin.ranks);
      writer.put(bin.min);
      if (bin.ranks != 1) {
        writer.put(bin.max - bin.min);
        writer.put(bin.sum);
      }
      before = bin.number;
    }
    for (const sparse_histogram* const histogram : {&row.durations, &row.ranks}) {
      sparse_histogram all = *histogram;
      put_histogram(writer, all, 0);
    }
  }
  parts.write_value(processes_, listed::same);
  parts.write_value(has_too_many_nodes_, listed::same);
  std::vector<node_time> nodes;
  for (const auto& [host, node] : nodes_) nodes.push_back(node);
  parts.write_value(nodes, listed::same);
  parts.write_value(machines_, listed::same);
  return writer.finish(message_kind::details);
}

void rank_details::add(std::string_view message) {
  message_reader from(message, message_kind::details);
  if (from.get() != rows_.size()) from.fail("follows another plan");
  std::vector<row_details> rows(rows_.size());
  for (row_details& row : rows) {
    std::vector<bin> bins(static_cast<std::size_t>(from.get(heat_map::max_bins)));
    std::uint64_t before = 0;
    for (bin& more : bins) {
      more.number = before + from.get(max_rank);
      more.ranks = from.get(max_rank);
      more.min = more.max = more.sum = from.get();
      if (more.ranks != 1) {
        more.max += from.get();
        more.sum = from.get();
      }
      if (more.number >= heat_map::max_bins || more.ranks == 0 || more.max < more.min)
        from.fail("has a bin that there cannot be");
      before = more.number;
    }
    add(row.bins, bins);
    get_histogram(from, row.durations);
    get_histogram(from, row.ranks);
  }
  std::vector<process_info> more;
  read_value(from, more, listed::same);
  bool has_too_many_nodes = false;
  read_value(from, has_too_many_nodes, listed::same);
  std::vector<node_time> nodes;
  read_value(from, nodes, listed::same);
  std::vector<machine> machines;
  read_value(from, machines, listed::same);
  from.require_end();
  add_machines(machines_, machines);
  for (const node_time& node : nodes) add(node);
  has_too_many_nodes_ = has_too_many_nodes_ || has_too_many_nodes;
  if (has_too_many_nodes_) nodes_.clear();
  for (std::size_t at = 0; at != rows.size(); ++at) {
    add(rows_[at].bins, rows[at].bins);
    rows_[at].durations.add(rows[at].durations);
    rows_[at].ranks.add(rows[at].ranks);
  }
  std::sort(more.begin(), more.end(), is_before);
  add(std::move(more));
}

void rank_details::add_to(profile& merged) const {
  merged.processes = processes_;
  merged.machines = machines_;
  add_busiest_node(merged);
  if (merged.unlisted) {
    unlisted_processes& rest = *merged.unlisted;
    for (const process_info& process : processes_) {
      rest.processes -= std::min<std::uint64_t>(rest.processes, 1);
      rest.duration_ns -= std::min(rest.duration_ns, process.duration_ns);
    }
    if (rest.processes == 0) merged.unlisted.reset();
  }
  if (rows_.empty() || !merged.about_ranks) return;
  heat_map& map = merged.heat.emplace();
  map.ranks = merged.about_ranks->end;
  map.ranks_per_bin = plan_.ranks_per_bin;
  const auto bins = static_cast<std::size_t>((map.ranks + map.ranks_per_bin - 1) / map.ranks_per_bin);
  const std::vector<region*> found = find_rows(merged, plan_);
  for (std::size_t at = 0; at != rows_.size(); ++at) {
    if (found[at] == nullptr) continue;
    region& found_row = *found[at];
    heat_row& row = map.rows.emplace_back();
    row.region = found_row.id;
    row.device = found_row.device;
    row.mean_ns.resize(bins);
    if (map.ranks_per_bin != 1) {
      row.min_ns.resize(bins);
      row.max_ns.resize(bins);
    }
    const std::uint64_t unit = plan_.rows[at].unit_ns;
    for (const bin& each : rows_[at].bins) {
      const auto number = static_cast<std::size_t>(each.number);
      if (number >= bins) continue;
      row.mean_ns[number] = each.sum / each.ranks * unit + each.sum % each.ranks * unit / each.ranks;
      if (map.ranks_per_bin == 1) continue;
      row.min_ns[number] = each.min * unit;
      row.max_ns[number] = each.max * unit;
    }
    if (!plan_.has_histograms) continue;
    found_row.durations = rows_[at].durations.whole();
    if (found_row.across_ranks) found_row.across_ranks->total_ns.values = rows_[at].ranks.whole();
  }
}

}  // namespace adaptyst::lib
