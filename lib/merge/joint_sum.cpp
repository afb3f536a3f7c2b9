#include "joint_sum.hpp"

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

bool joint_sum::is_before(const call& a, const call& b) {
  return std::tie(a.group, a.number) < std::tie(b.group, b.number);
}

void joint_sum::leave_out(std::uint64_t step) {
  step_ = std::max(step_, step);
  const auto is_left_out = [&](const call& one) { return joint_calls::is_left_out(one.group, one.number, step_); };
  calls_.erase(std::remove_if(calls_.begin(), calls_.end(), is_left_out), calls_.end());
}

// A host is sent with the message, since the processes that a merged profile lists are few.
void joint_sum::forget_other_hosts() {
  std::map<std::uint32_t, std::string> used;
  for (const call& one : calls_)
    if (const auto found = hosts_.find(one.last); found != hosts_.end()) used.insert(*found);
  hosts_ = std::move(used);
}

void joint_sum::add(const joint_calls& own, std::uint32_t rank, const std::string& host) {
  std::vector<call> more;
  more.reserve(own.calls.size());
  for (const joint_calls::call& one : own.calls)
    more.push_back({one.group, one.number, one.ranks, 1, one.region, one.time_ns, one.time_ns, rank, one.is_loose});
  std::sort(more.begin(), more.end(), is_before);
  hosts_[rank] = host;
  add(std::move(more), is_power_of_two(own.step) ? own.step : 1);
}

// Both are sorted.
void joint_sum::add(std::vector<call> more, std::uint64_t step) {
  std::vector<call> all;
  all.reserve(calls_.size() + more.size());
  std::merge(calls_.begin(), calls_.end(), more.begin(), more.end(), std::back_inserter(all), is_before);
  calls_.clear();
  for (const call& one : all) {
    if (calls_.empty() || is_before(calls_.back(), one)) {
      calls_.push_back(one);
      continue;
    }
    call& to = calls_.back();
    to.ranks = std::max(to.ranks, one.ranks);
    to.came += one.came;
    to.region = std::max(to.region, one.region);  // 0 where a rank does not know it
    to.sum_ns += one.sum_ns;
    to.is_loose = to.is_loose || one.is_loose;
    if (std::tie(one.min_ns, one.last) >= std::tie(to.min_ns, to.last)) continue;
    to.min_ns = one.min_ns;
    to.last = one.last;
  }
  leave_out(step);
  while (calls_.size() > max_calls && step_ != max_step) leave_out(2 * step_);
  forget_other_hosts();
}

std::string joint_sum::message() const {
  message_writer to;
  to.put(step_);
  to.put(calls_.size());
  std::uint64_t group = 0, number = 0, region = 0;
  for (const call& one : calls_) {
    const bool is_same = one.group == group && &one != &calls_.front();
    to.put(is_same ? 1 : 0);
    if (!is_same) to.put_whole(one.group);
    to.put(is_same ? one.number - number : one.number);
    to.put(one.ranks);
    to.put(one.came);
    to.put(one.region == region ? 1 : 0);
    if (one.region != region) to.put_whole(one.region);
    to.put(one.sum_ns);
    to.put(one.min_ns);
    to.put(one.last);
    to.put(one.is_loose ? 1 : 0);
    group = one.group;
    number = one.number;
    region = one.region;
  }
  to.put(hosts_.size());
  for (const auto& [rank, host] : hosts_) {
    to.put(rank);
    to.put_text(host);
  }
  return to.finish(message_kind::joint);
}

void joint_sum::add(std::string_view message) {
  message_reader from(message, message_kind::joint);
  const std::uint64_t step = from.get();
  if (!is_power_of_two(step)) from.fail("has a step that there cannot be");
  std::vector<call> more(from.get_count());
  if (more.size() > max_calls) from.fail("has more calls than there can be");
  call before;
  for (call& one : more) {
    const bool is_same = from.get(1) != 0;
    one.group = is_same ? before.group : from.get_whole();
    one.number = from.get() + (is_same ? before.number : 0);
    one.ranks = static_cast<std::uint32_t>(from.get(max_rank));
    one.came = static_cast<std::uint32_t>(from.get(max_rank));
    one.region = from.get(1) != 0 ? before.region : from.get_whole();
    one.sum_ns = from.get();
    one.min_ns = from.get();
    one.last = static_cast<std::uint32_t>(from.get(max_rank));
    one.is_loose = from.get(1) != 0;
    if (&one != &more.front() && !is_before(before, one)) from.fail("has calls out of order");
    before = one;
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

void joint_sum::add_to(profile& merged) const {
  std::map<std::uint64_t, std::pair<joint_waits, std::map<std::uint32_t, lateness>>> by_region;
  for (const call& one : calls_) {
    if (one.came != one.ranks || one.ranks < 2 || one.is_loose) continue;
    const std::uint64_t least_ns = one.min_ns * one.ranks;
    const std::uint64_t waited_ns = one.sum_ns > least_ns ? one.sum_ns - least_ns : 0;
    auto& [waits, late] = by_region[one.region];
    ++waits.calls;
    waits.time_ns += one.sum_ns;
    waits.waited_ns += waited_ns;
    lateness& of_last = late[one.last];
    ++of_last.calls;
    of_last.waited_ns += waited_ns;
  }
  for (region& row : merged.regions) {
    const auto found = row.device == 0 ? by_region.find(row.id) : by_region.end();
    if (found == by_region.end()) continue;
    const auto& [waits, late] = found->second;
    const auto worst = std::max_element(
        late.begin(), late.end(), [](const auto& a, const auto& b) { return a.second.waited_ns < b.second.waited_ns; });
    row.joint = waits;
    row.joint->step = step_;
    row.joint->last_rank = worst->first;
    const auto host = hosts_.find(worst->first);
    row.joint->last_host = host != hosts_.end() ? host->second : "";
    row.joint->last_calls = worst->second.calls;
    row.joint->last_waited_ns = worst->second.waited_ns;
  }
}

}  // namespace adaptyst::lib
