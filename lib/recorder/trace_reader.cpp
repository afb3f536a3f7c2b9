// Empties the rings of a timeline, one for each thread, while the threads write. Events without room in a ring are
// counted as lost.
#include "trace_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "../model/measurements.hpp"
#include "../support/levels.hpp"
#include "../support/never_destroyed.hpp"
#include "recorder_list.hpp"

namespace adaptyst::lib {

namespace {

using detail::trace_entry;
using detail::trace_ring;
using detail::traced;

// More than any process has, so that a damaged process cannot keep this one busy for ever.
constexpr std::size_t max_sites_of_trace = 1 << 18;
constexpr std::uint64_t entries_at_once = 4096;
constexpr std::uint64_t max_entries_per_poll = std::uint64_t{1} << 25;
constexpr std::uint64_t max_entries = std::uint64_t{1} << 24;
constexpr std::size_t bytes_of_ring = 256;
// In this reader, and in the writer of a file.
constexpr std::size_t bytes_of_site = 512;
constexpr std::size_t copies_of_name = 3;

}  // namespace

bool trace_reader::read(const process_state& state, const taker& visit) {
  of_ = state;
  detail::store_head head{};
  if (of_.address == 0) return true;
  if (!of_.in->read(of_.address, head)) return false;
  if (head.layout == 0) return true;  // no marker has begun yet
  if (head.layout != detail::state_layout) return false;
  clock_.start(of_.clock_lead_ns != 0 ? in_our_clock(head.clock, of_.clock_lead_ns, now_()) : head.clock);
  counts_ticks_ = counts_ticks_ || head.clock.ns_per_tick != 0;
  left_ = max_entries_per_poll;
  end_ns_ = of_.in == &own_memory() ? ~std::uint64_t{0} : detail::monotonic_ns() + max_poll_ns_;
  filled_.clear();
  without_memory_ = 0;
  has_all_rings_ = true;
  std::uint64_t next = as_address(head.recorders);
  for_each_recorder(next, [&](std::uint64_t at) { return next = is_late() ? at : find_ring(at, head.epoch); });
  if (next != 0) has_all_rings_ = false;
  max_without_memory_ = std::max(max_without_memory_, without_memory_);
  if (filled_.empty()) return has_all_rings_;
  clock_.add(now_());  // later than all events that are read below
  for (std::size_t at = 0; at != filled_.size(); ++at) {
    const std::uint64_t ring = filled_[(first_ + at) % filled_.size()];
    read_ring(ring, rings_[ring], visit);
    if (!is_late()) continue;
    first_ += at + 1;
    break;
  }
  return has_all_rings_;
}

bool trace_reader::is_late() const noexcept { return end_ns_ != ~std::uint64_t{0} && detail::monotonic_ns() > end_ns_; }

std::uint64_t trace_reader::waiting() const {
  std::uint64_t sum = 0;
  for (const auto& [address, ring] : rings_) sum += ring.waiting;
  return sum;
}

std::uint64_t trace_reader::lost() const {
  std::uint64_t sum = max_without_memory_;  // at least one event each
  for (const auto& [address, ring] : rings_) sum += ring.lost + ring.waiting;
  return sum;
}

std::uint64_t trace_reader::sampled_out() const {
  std::uint64_t sum = 0;
  for (const auto& [address, ring] : rings_) sum += ring.sampled_out;
  return sum;
}

std::uint64_t trace_reader::find_ring(std::uint64_t recorder, std::uint64_t epoch) {
  std::uint64_t recorder_epoch = 0;
  std::uint64_t ring = 0;
  std::uint64_t next = 0;
  if (!of_.in->read(recorder + offsetof(detail::recorder_head, epoch), recorder_epoch) ||
      !of_.in->read(recorder + offsetof(detail::recorder_head, ring), ring) ||
      !of_.in->read(recorder + offsetof(detail::recorder_head, next), next)) {
    has_all_rings_ = false;
    return 0;
  }
  if (recorder_epoch != epoch || ring == 0) return next;
  const bool is_new = rings_.count(ring) == 0;
  const bool has_memory = !is_new || bytes_.reserve(bytes_of_ring);
  if (!has_memory) ++without_memory_;
  if (!has_memory || (is_new && rings_.size() == detail::max_recorders)) {
    has_all_rings_ = false;
    return next;
  }
  ring_state& state = rings_[ring];
  std::uint64_t first = 0;
  std::uint64_t lost = 0;
  const auto read_head = [&] {
    if (!of_.in->read(ring + offsetof(trace_ring, head), state.head)) return false;
    detail::fence_acquire();
    return of_.in->read(ring + offsetof(trace_ring, first), first) &&
           of_.in->read(ring + offsetof(trace_ring, lost), lost) &&
           of_.in->read(ring + offsetof(trace_ring, sampled_out), state.sampled_out);
  };
  if (!read_head()) {
    has_all_rings_ = false;
    return next;
  }
  state.lost = lost;
  // The tail belongs to an earlier collector, or the ring is damaged.
  if (state.head - state.tail > state.head - first) {
    state.tail = first;
    state.has_operation = false;
  }
  state.waiting = std::min(state.head - state.tail, max_entries);
  if (state.head != state.tail || state.tail != state.written_tail) filled_.push_back(ring);
  return next;
}

void trace_reader::read_ring(std::uint64_t address, ring_state& state, const taker& visit) {
  const std::uint64_t head = state.head;
  std::uint64_t tail = state.tail;
  std::uint64_t tail_address = 0;  // the address of the tail to write
  std::uint64_t capacity = 0;
  if (!of_.in->read(address + offsetof(trace_ring, tail), tail_address) ||
      !of_.in->read(address + offsetof(trace_ring, capacity), capacity)) {
    has_all_rings_ = false;
    return;
  }
  if (capacity == 0 || (capacity & (capacity - 1)) != 0 || capacity > max_entries || head - tail > capacity) {
    if (head != tail) has_all_rings_ = false;
    state.waiting = 0;  // its content is unknown
    return;
  }
  if (tail == head) write_tail(tail_address, state);
  while (tail != head && left_ != 0 && !is_late()) {
    const std::uint64_t place = tail & (capacity - 1);
    const std::uint64_t count = std::min({head - tail, capacity - place, entries_at_once, left_});
    entries_.resize(count);
    if (!of_.in->read(address + offsetof(trace_ring, entries) + place * sizeof(trace_entry), entries_.data(),
                      count * sizeof(trace_entry)))
      return;
    tail += count;
    left_ -= count;
    state.tail = tail;
    state.waiting = head - tail;
    write_tail(tail_address, state);
    for (const trace_entry& entry : entries_) take(entry, state, visit);
  }
}

// Writes the tail back. After a failure, the next read tries again; in an ended process it always fails.
void trace_reader::write_tail(std::uint64_t address, ring_state& ring) {
  if (address % 8 == 0 && of_.in->write(address, ring.tail)) ring.written_tail = ring.tail;
}

std::uint64_t trace_reader::to_our_clock(std::uint64_t timestamp) const noexcept {
  return counts_ticks_ ? clock_.monotonic_ns(timestamp) : from_process_clock(timestamp, of_.clock_lead_ns);
}

void trace_reader::take(const trace_entry& entry, ring_state& from, const taker& visit) {
  const auto what = static_cast<traced>(entry.path_and_what & detail::traced_bits);
  const auto& numbers = entry.numbers;
  if (what == traced::queue) {
    if (!std::exchange(from.has_operation, false)) return;
    from.operation.queue = numbers[0];
    from.operation.thread = static_cast<std::uint32_t>(numbers[2]);
    ++events_;
    visit(from.operation);
    return;
  }
  traced_event made;
  made.site = find_site(entry.path_and_what & ~detail::traced_bits);
  made.thread = static_cast<std::uint32_t>(numbers[2]);
  switch (what) {
    case traced::operation:
      made.as = traced_as::operation;
      made.submitted_ns = numbers[0] != 0 ? from_process_clock(numbers[0], of_.clock_lead_ns) : 0;
      made.begin_ns = from_process_clock(numbers[1], of_.clock_lead_ns);
      made.end_ns = std::max(made.begin_ns, from_process_clock(numbers[2], of_.clock_lead_ns));
      from.operation = made;
      from.has_operation = true;
      return;
    case traced::metric:
      made.as = traced_as::metric;
      std::memcpy(&made.value, &numbers[1], sizeof made.value);
      break;
    case traced::instant_event: made.as = traced_as::instant_event; break;
    case traced::handle: made.as = traced_as::handle; break;
    default: made.as = traced_as::scope;
  }
  made.begin_ns = to_our_clock(numbers[0]);
  made.end_ns = made.as == traced_as::scope || made.as == traced_as::handle
                    ? std::max(made.begin_ns, to_our_clock(numbers[1]))
                    : made.begin_ns;
  ++events_;
  visit(made);
}

const traced_site* trace_reader::find_site(std::uint64_t address, std::uint32_t max_above) {
  static const auto& unknown = never_destroyed<traced_site>({"?", region_kind::region, 0});
  if (const auto entry = sites_.find(address); entry != sites_.end()) return &entry->second;
  adaptyst_path path{};
  adaptyst_site site{};
  if (sites_.size() == max_sites_of_trace || address == 0 || !of_.in->read(address, path) ||
      !of_.in->read(as_address(path.site), site))
    return &unknown;
  traced_site made;
  made.name = of_.in->text(as_address(site.name), ADAPTYST_TEXT_BYTES - 1);
  made.level = find_level_for_file(made.name, of_.in->text(as_address(site.function), ADAPTYST_TEXT_BYTES - 1),
                                   site.kind, site.level);
  if (const std::string label = of_.in->text(as_address(site.label), ADAPTYST_TEXT_BYTES - 1); !label.empty())
    made.name += " [" + label + "]";
  made.kind = to_region_kind(site.kind);
  made.device = path.device;
  made.color = site.color;
  made.path = path.id;
  made.file = of_.in->text(as_address(site.file), ADAPTYST_TEXT_BYTES - 1);
  if (!made.file.empty()) made.line = site.line;
  // In a damaged process, a parent may be below its path, which would make a circle.
  adaptyst_path above{};
  if (path.parent != nullptr && max_above != 0 && of_.in->read(as_address(path.parent), above) &&
      above.depth < path.depth)
    made.parent = find_site(as_address(path.parent), max_above - 1);
  if (!bytes_.reserve(bytes_of_site + copies_of_name * made.name.size() + made.file.size())) return &unknown;
  return &sites_.emplace(address, std::move(made)).first->second;
}

bool trace_reader::read_open(const process_state& state, open_scopes& threads) {
  constexpr std::size_t max_open_reads = std::size_t{1} << 16;  // rows, of 192 bytes
  detail::store_head store{};
  if (!read_store(state, store)) return true;  // no marker was enabled
  struct {
    std::uint32_t thread, generation;
  } owner{};
  static_assert(offsetof(detail::recorder_head, generation) == offsetof(detail::recorder_head, thread) + 4);
  bool is_complete = true;
  std::size_t read = 0;
  row_walk walk(*state.in, max_open_reads, max_poll_ns_);
  std::vector<open_scope>* open = nullptr;
  std::vector<detail::row> rows;
  const auto enter = [&](std::uint64_t at, detail::recorder_head& head) -> std::optional<std::size_t> {
    std::uint64_t next = 0;
    if (!state.in->read(at + offsetof(detail::recorder_head, thread), owner) ||
        !state.in->read(at + offsetof(detail::recorder_head, next), next)) {
      is_complete = false;
      return std::nullopt;
    }
    head.next = reinterpret_cast<decltype(head.next)>(next);
    const auto wanted = threads.find(owner.thread);
    if (wanted == threads.end()) return 0;
    open = &wanted->second;
    if (!state.in->read(at, head)) return std::nullopt;
    return head.epoch == store.epoch ? std::min<std::size_t>(head.rows_used, detail::max_rows) : 0;
  };
  walk.go(as_address(store.recorders), enter, [&](std::uint64_t, std::uint64_t chunk, std::size_t, std::size_t count) {
    read += count;
    rows.resize(count);
    is_complete = state.in->read(chunk, rows.data(), count * sizeof rows[0]) && is_complete;
    if (!is_complete) return;
    for (const detail::row& row : rows)
      if (row.open_since != 0) open->push_back({row.open_since, row.id});
  });
  return is_complete && read < max_open_reads && !walk.is_late();
}

}  // namespace adaptyst::lib
