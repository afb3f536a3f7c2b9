// Sums what each rank measured in N-to-N collectives of MPI, call by call: the last rank, and the waits of the
// others.
#include "collective_sum.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "wire.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t max_step = std::uint64_t{1} << 63U;

bool is_power_of_two(std::uint64_t number) { return number != 0 && (number & (number - 1)) == 0; }

struct lateness {
  std::uint64_t calls = 0, waited_ns = 0;
};

}  // namespace

bool collective_sum::is_before(const call& a, const call& b) {
  return std::tie(a.group, a.number) < std::tie(b.group, b.number);
}

void collective_sum::leave_out(std::uint64_t step) {
  step_ = std::max(step_, step);
  const auto is_left_out = [&](const call& each) {
    return collective_calls::is_left_out(each.group, each.number, step_);
  };
  calls_.erase(std::remove_if(calls_.begin(), calls_.end(), is_left_out), calls_.end());
}

// Hosts are sent in the message, because a merged profile lists few processes.
void collective_sum::forget_other_hosts() {
  std::map<std::uint32_t, std::string> used;
  for (const call& each : calls_)
    if (const auto found = hosts_.find(each.last); found != hosts_.end()) used.insert(*found);
  hosts_ = std::move(used);
}

void collective_sum::add(const collective_calls& own, std::uint32_t rank, const std::string& host) {
  std::vector<call> more;
  more.reserve(own.calls.size());
  for (const collective_calls::call& each : own.calls)
    more.push_back(
        {each.group, each.number, each.ranks, 1, each.region, each.time_ns, each.time_ns, rank, each.is_loose});
  std::sort(more.begin(), more.end(), is_before);
  hosts_[rank] = host;
  add(std::move(more), is_power_of_two(own.step) ? own.step : 1);
}

// Both lists are sorted.
void collective_sum::add(std::vector<call> more, std::uint64_t step) {
  std::vector<call> all;
  all.reserve(calls_.size() + more.size());
  std::merge(calls_.begin(), calls_.end(), more.begin(), more.end(), std::back_inserter(all), is_before);
  calls_.clear();
  for (const call& earlier : all) {
    if (calls_.empty() || is_before(calls_.back(), earlier)) {
      calls_.push_back(earlier);
      continue;
    }
    call& merged = calls_.back();
    merged.ranks = std::max(merged.ranks, earlier.ranks);
    merged.came += earlier.came;
    merged.region = std::max(merged.region, earlier.region);  // 0 if a rank does not have it
    merged.sum_ns += earlier.sum_ns;
    merged.is_loose = merged.is_loose || earlier.is_loose;
    if (std::tie(earlier.min_ns, earlier.last) >= std::tie(merged.min_ns, merged.last)) continue;
    merged.min_ns = earlier.min_ns;
    merged.last = earlier.last;
  }
  leave_out(step);
  while (calls_.size() > max_calls && step_ != max_step) leave_out(2 * step_);
  forget_other_hosts();
}

std::string collective_sum::message() const {
  message_writer writer;
  writer.put(step_);
  writer.put(calls_.size());
  std::uint64_t group = 0, number = 0, region = 0;
  for (const call& each : calls_) {
    const bool is_same = each.group == group && &each != &calls_.front();
    writer.put(is_same ? 1 : 0);
    if (!is_same) writer.put_whole(each.group);
    writer.put(is_same ? each.number - number : each.number);
    writer.put(each.ranks);
    writer.put(each.came);
    writer.put(each.region == region ? 1 : 0);
    if (each.region != region) writer.put_whole(each.region);
    writer.put(each.sum_ns);
    writer.put(each.min_ns);
    writer.put(each.last);
    writer.put(each.is_loose ? 1 : 0);
    group = each.group;
    number = each.number;
    region = each.region;
  }
  writer.put(hosts_.size());
  for (const auto& [rank, host] : hosts_) {
    writer.put(rank);
    writer.put_text(host);
  }
  return writer.finish(message_kind::collective);
}

void collective_sum::add(std::string_view message) {
  message_reader from(message, message_kind::collective);
  const std::uint64_t step = from.get();
  if (!is_power_of_two(step)) from.fail("has a step that there cannot be");
  std::vector<call> more(from.get_count());
  if (more.size() > max_calls) from.fail("has more calls than there can be");
  call before;
  for (call& each : more) {
    const bool is_same = from.get(1) != 0;
    each.group = is_same ? before.group : from.get_whole();
    each.number = from.get() + (is_same ? before.number : 0);
    each.ranks = static_cast<std::uint32_t>(from.get(max_rank));
    each.came = static_cast<std::uint32_t>(from.get(max_rank));
    each.region = from.get(1) != 0 ? before.region : from.get_whole();
    each.sum_ns = from.get();
    each.min_ns = from.get();
    each.last = static_cast<std::uint32_t>(from.get(max_rank));
    each.is_loose = from.get(1) != 0;
    if (&each != &more.front() && !is_before(before, each)) from.fail("has calls out of order");
    before = each;
  }
  std::map<std::uint32_t, std::string> hosts;
  for (std::size_t left = from.get_count(); left != 0; --left) {
    const auto rank = static_cast<std::uint32_t>(from.get(max_rank));
    hosts[rank] = from.get_text();
  }
  from.require_end();
  hosts_.merge(hosts);
  add(std::move(more), step);
}

void collective_sum::add_to(profile& merged) const {
  std::map<std::uint64_t, std::pair<collective_waits, std::map<std::uint32_t, lateness>>> by_region;
  for (const call& each : calls_) {
    if (each.came != each.ranks || each.ranks < 2 || each.is_loose) continue;
    const std::uint64_t least_ns = each.min_ns * each.ranks;
    const std::uint64_t waited_ns = each.sum_ns > least_ns ? each.sum_ns - least_ns : 0;
    auto& [waits, late] = by_region[each.region];
    ++waits.calls;
    waits.time_ns += each.sum_ns;
    waits.waited_ns += waited_ns;
    lateness& of_last = late[each.last];
    ++of_last.calls;
    of_last.waited_ns += waited_ns;
  }
  for (region& row : merged.regions) {
    const auto found = row.device == 0 ? by_region.find(row.id) : by_region.end();
    if (found == by_region.end()) continue;
    const auto& [waits, late] = found->second;
    const auto worst = std::max_element(
        late.begin(), late.end(), [](const auto& a, const auto& b) { return a.second.waited_ns < b.second.waited_ns; });
    row.collective = waits;
    row.collective->step = step_;
    row.collective->last_rank = worst->first;
    const auto host = hosts_.find(worst->first);
    row.collective->last_host = host != hosts_.end() ? host->second : "";
    row.collective->last_calls = worst->second.calls;
    row.collective->last_waited_ns = worst->second.waited_ns;
  }
}

}  // namespace adaptyst::lib
