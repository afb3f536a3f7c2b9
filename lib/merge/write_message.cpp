// Writes a profile as a message: devices and rows in order, each once.
#include <algorithm>
#include <tuple>

#include "../model/mpi_usage.hpp"
#include "../model/order.hpp"
#include "../model/ranks.hpp"
#include "message_parts.hpp"

namespace adaptyst::lib {

namespace {

class rows_in_order {
 public:
  explicit rows_in_order(const profile& profile) {
    for (const device_usage& device : profile.devices) devices_.push_back(&device);
    std::sort(devices_.begin(), devices_.end(),
              [](const device_usage* a, const device_usage* b) { return order(*a) < order(*b); });
    for (const device_usage& device : profile.devices)
      places_.push_back(
          static_cast<std::size_t>(std::find(devices_.begin(), devices_.end(), &device) - devices_.begin()));
    for (const region& row : profile.regions) rows_.push_back(&row);
    const auto before = [this](const region* a, const region* b) { return is_before(*a, *b); };
    // Mostly sorted already: merged profiles have this order, others the order of appearance.
    if (!std::is_sorted(rows_.begin(), rows_.end(), before)) std::sort(rows_.begin(), rows_.end(), before);
  }

  const std::vector<const device_usage*>& devices() const { return devices_; }
  const std::vector<const region*>& rows() const { return rows_; }
  // One past the last device if it is unknown.
  std::size_t find_device(const region& row) const {
    return row.device < places_.size() ? places_[row.device] : devices_.size();
  }
  // Valid profiles have none.
  bool has_same() const {
    return std::adjacent_find(devices_.begin(), devices_.end(),
                              [](const device_usage* a, const device_usage* b) { return order(*a) == order(*b); }) !=
               devices_.end() ||
           std::adjacent_find(rows_.begin(), rows_.end(),
                              [this](const region* a, const region* b) { return !is_before(*a, *b); }) != rows_.end();
  }

 private:
  bool is_before(const region& a, const region& b) const {
    if (const auto [x, y] = std::mismatch(a.path.begin(), a.path.end(), b.path.begin(), b.path.end());
        x != a.path.end() || y != b.path.end())
      return y != b.path.end() && (x == a.path.end() || *x < *y);
    return std::make_tuple(a.id, find_device(a)) < std::make_tuple(b.id, find_device(b));
  }

  std::vector<const device_usage*> devices_;
  std::vector<std::size_t> places_;
  std::vector<const region*> rows_;
};

profile add_up_same(profile from) {
  profile shared;
  for (const device_usage& device : from.devices) {
    profile part;
    part.devices.push_back(device);
    merge(shared, part);
  }
  for (region& row : from.regions) {
    if (row.device >= from.devices.size()) continue;
    const auto same = std::find_if(shared.devices.begin(), shared.devices.end(), [&](const device_usage& device) {
      return order(device) == order(from.devices[row.device]);
    });
    row.device = static_cast<std::uint32_t>(same - shared.devices.begin());
  }
  from.devices = std::move(shared.devices);
  merge(from, profile());
  return from;
}

}  // namespace

std::string write_message(const profile& profile, const std::optional<rank_place>& place, message_limits limits) {
  const rows_in_order sorted(profile);
  if (sorted.has_same()) return write_message(add_up_same(profile), place, limits);
  const bool is_first = place && !profile.ranks;
  parts_writer writer(limits);
  writer.write_limits();
  writer.write_fields(profile);

  ranks_state ranks;
  if (profile.unlisted) ranks.processes = *profile.unlisted;
  for (const process_info& process : profile.processes) {
    ++ranks.processes.processes;
    ranks.processes.duration_ns += process.duration_ns;
  }
  ranks.ranks = is_first ? 1 : profile.ranks;
  if (is_first) ranks.account = describe_rank(profile, *place);
  else if (profile.about_ranks) ranks.account = *profile.about_ranks;
  if (is_first) ranks.set(find_mpi_usage(profile, *place));
  else if (profile.mpi) ranks.set(*profile.mpi);
  ranks.write(writer);

  for (const device_usage* const device : sorted.devices()) {
    writer.out.put(1);
    writer.out.put(static_cast<std::uint64_t>(device->kind));
    writer.out.put(device->index);
    writer.out.put_text(device->name);
    writer.write_fields(*device);
  }
  writer.out.put(0);
  std::vector<std::string_view> path;
  for (const region* const row : sorted.rows()) {
    path.assign(row->path.begin(), row->path.end());
    writer.out.put(1);
    writer.write_path(path);
    writer.out.put_whole(row->id);
    writer.out.put(sorted.find_device(*row));
    writer.write_fields(*row);
    if (!is_first) writer.write(row->across_ranks);
    else if (has_time(*row)) writer.write_first(row->total_ns, *place);
    else writer.write(std::nullopt);
  }
  writer.out.put(0);
  return writer.out.finish(message_kind::profile);
}

}  // namespace adaptyst::lib
