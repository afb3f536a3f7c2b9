#include "recorder_reader.hpp"

#include <time.h>

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <unordered_set>

#include "arena_copy.hpp"
#include "recorder_list.hpp"

namespace adaptyst::lib {

namespace {

using detail::loss;
using detail::recorder_head;
using detail::row;

constexpr unsigned attempts_at_once = 1000;
// More than a process can have; one that lies can neither keep us busy for ever nor fill our memory, not even little by
// little.
constexpr std::size_t most_rows_of_process = 1 << 20;
constexpr std::size_t most_bytes_of_process = std::size_t{512} << 20;
constexpr std::size_t most_bytes_of_all = std::size_t{1} << 30;
constexpr std::size_t worth_a_copy = 256;   // names: to copy all that there are
constexpr std::size_t most_unnamed = 8192;  // rows, of some 500 bytes
constexpr std::size_t most_sites = sizeof(detail::process::sites) / sizeof(void*);
constexpr std::size_t most_paths = sizeof(detail::process::paths) / sizeof(void*);

loss_reason reason_of(loss why) {
  switch (why) {
    case loss::too_deep: return loss_reason::too_deep;
    case loss::rows_full: return loss_reason::rows_full;
    case loss::tables_full: return loss_reason::tables_full;
    case loss::no_memory: return loss_reason::no_memory;
    case loss::in_signal: return loss_reason::in_signal;
    case loss::bad_times: return loss_reason::bad_times;
    case loss::no_times: return loss_reason::no_times;
    case loss::unknown_clock: return loss_reason::unknown_clock;
    case loss::device_lost: return loss_reason::device_lost;
    default: return loss_reason::unmatched;
  }
}

void lose(account& sum, loss why, std::uint64_t count, bool at_begin) {
  if (count == 0) return;
  sum.lost[reason_of(why)] += count;
  if (at_begin) sum.begun += count;
}

std::atomic<std::size_t> bytes_of_all{0};

std::size_t bytes_of(const measured_row& row) {
  return row.durations.buckets().capacity() * sizeof(std::uint64_t) + row.attributes.capacity() * sizeof(attribute);
}

}  // namespace

bool recorder_reader::reserve_bytes(std::size_t more) noexcept {
  if (bytes_ + more > most_bytes_of_process || bytes_of_all.load() + more > most_bytes_of_all) return false;
  bytes_ += more;
  bytes_of_all += more;
  return true;
}

void recorder_reader::return_bytes(std::size_t bytes) noexcept {
  bytes_ -= bytes;
  bytes_of_all -= bytes;
}

// One reading.
class recorder_reader::pass {
 public:
  pass(recorder_reader& kept, const process_state& of) : kept_(kept), state_(of), memory_(*of.in) {}

  void read() {
    detail::store_head head{};
    if (state_.address != 0 && has_known_layout(state_) && memory_.read(state_.address, head)) {
      is_another_epoch_ = kept_.epoch_ != head.epoch && !kept_.by_path_.empty();
      kept_.epoch_ = head.epoch;
      for_each_recorder(address_of(head.recorders), [this](std::uint64_t at) {
        return rows_read_ < most_rows_of_process && !is_late() ? read_recorder(at) : 0;
      });
      name_all();
    }
    std::uint64_t unrecorded = 0;
    for (const std::uint64_t object : state_.objects) {
      adaptyst_object block{};
      // Where a library was unloaded there may be something else.
      if (memory_.read(object, block) && (block.process == 0 || store_of(memory_, block.process) == state_.address))
        unrecorded += block.unrecorded;
    }
    kept_.was_late_ = is_late();
    kept_.unrecorded_ = std::max(kept_.unrecorded_, unrecorded);
    if (is_another_epoch_) kept_.forget_places();
    kept_.sum_up();
  }

 private:
  struct unnamed_row {
    row from;
    measured_row read;
    kept_recorder* kept;
    std::size_t number;
  };

  // Reads `to` from `from` until no writer has come between. A writer may have lost its processor in the middle of an
  // event: after a while it is given time, up to 0.2 s in all; then, it was stopped by somebody or writes all the time,
  // what was copied last must do.
  template <class T>
  bool read_consistently(std::uint64_t sequence, std::uint64_t from, T& to) const {
    const unsigned most = memory_.patience();
    for (unsigned attempt = 0; attempt != most; ++attempt) {
      if (attempt >= attempts_at_once) {
        const timespec a_while{0, 100'000};
        nanosleep(&a_while, nullptr);
      }
      std::uint64_t before = 0;
      std::uint64_t after = 0;
      if (!memory_.read(sequence, before)) return false;
      if ((before & 1) != 0 && attempt + 1 != most) continue;
      if (!memory_.read(from, to) || !memory_.read(sequence, after)) return false;
      if (before == after && (before & 1) == 0) return true;
    }
    return true;
  }

  // Of another process, which may lie. What has not been read is as it was at the last look.
  bool is_late() const {
    return &memory_ != &own_memory() && detail::monotonic_ns() - begun_ns_ > kept_.longest_look_ns_;
  }

  // Returns the address of the next one.
  std::uint64_t read_recorder(std::uint64_t address) {
    recorder_head now{};
    if (!read_consistently(address, address, now)) return 0;
    if (kept_.recorders_.size() == detail::most_recorders && kept_.recorders_.count(address) == 0) return 0;
    kept_recorder& kept = kept_.recorders_[address];
    if (kept.epoch != now.epoch) {
      is_another_epoch_ = is_another_epoch_ || !kept.rows.empty();
      kept_.rows_kept_ -= kept.rows.size();
      for (const kept_row& row : kept.rows) kept_.return_bytes(sizeof row + bytes_of(row.row));
      kept = {};
    }
    kept.epoch = now.epoch;
    if (now.epoch != kept_.epoch_) return address_of(now.next);  // of an earlier collector
    account sum;
    sum.begun = now.begun + (now.serial - now.first_serial);
    sum.ended = now.ended;
    kept.open = sum.begun - sum.ended - now.lost[static_cast<unsigned>(loss::unmatched)];  // modulo 2^64
    for (unsigned why = 0; why != static_cast<unsigned>(loss::reasons); ++why)
      lose(sum, static_cast<loss>(why), now.lost[why], static_cast<loss>(why) != loss::unmatched);
    if (now.in_signal_epoch == now.epoch) lose(sum, loss::in_signal, now.in_signal, true);
    sum.unmatched = now.orphans + now.lost[static_cast<unsigned>(loss::unmatched)];
    kept.accounting = std::move(sum);
    const std::size_t used = std::min(now.rows_used, detail::most_rows);
    if (used > kept.rows.size()) {
      std::size_t more = std::min(used - kept.rows.size(), most_rows_of_process - kept_.rows_kept_);
      if (!kept_.reserve_bytes(more * sizeof(kept_row))) more = 0;
      kept_.rows_kept_ += more;
      kept.rows.resize(kept.rows.size() + more);
      if (kept.rows.size() < used) lose(kept.accounting, loss::rows_full, used - kept.rows.size(), true);  // at least
    }
    for (std::size_t first = 0; first < kept.rows.size() && !is_late(); first += detail::rows_per_chunk)
      read_chunk(address, address_of(now.chunks[first / detail::rows_per_chunk]), kept, first);
    return address_of(now.next);
  }

  // A look at all rows of a chunk tells which have changed. Unless a writer has come between, that is all that it takes.
  void read_chunk(std::uint64_t sequence, std::uint64_t chunk, kept_recorder& kept, std::size_t first) {
    if (!chunks_.insert(chunk).second) return;  // it lies: each has one recorder
    const std::size_t count = std::min<std::size_t>(detail::rows_per_chunk, kept.rows.size() - first);
    rows_read_ += count;
    rows_.resize(count);
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    if (!memory_.read(sequence, before) || !memory_.read(chunk, rows_.data(), count * sizeof(row)) ||
        !memory_.read(sequence, after))
      return;
    const bool is_of_one_moment = before == after && (before & 1) == 0;
    for (std::size_t at = 0; at != count; ++at) {
      const kept_row& known = kept.rows[first + at];
      if (rows_[at].count == known.row.count && known.site != nullptr) continue;
      if (is_of_one_moment || read_consistently(sequence, chunk + at * sizeof(row), rows_[at]))
        take(rows_[at], kept, first + at);
    }
  }

  // Durations lie between the least and the greatest, and so do their buckets.
  bool read_durations(const row& from, histogram& to) {
    if (from.min_ns > from.max_ns) return true;  // there are none
    const unsigned first = adaptyst_histogram_bucket(from.min_ns);
    std::uint64_t buckets[ADAPTYST_HISTOGRAM_BUCKETS];
    const std::size_t count = adaptyst_histogram_bucket(from.max_ns) - first + 1;
    if (!memory_.read(address_of(from.histogram) + first * sizeof buckets[0], buckets, count * sizeof buckets[0]))
      return false;
    for (std::size_t at = count; at-- != 0;)  // so that it grows once
      if (buckets[at] != 0) to.add_bucket(first + static_cast<unsigned>(at), buckets[at]);
    return true;
  }

  // Rows whose names are not known yet wait for each other.
  void take(const row& from, kept_recorder& kept, std::size_t number) {
    measured_row read;
    if (!read_durations(from, read.durations)) return;
    read.count = from.count;
    read.total_ns = from.total_ns;
    read.self_ns = from.total_ns - std::min(from.total_ns, from.nested_ns);
    read.excess_ns = from.nested_ns - std::min(from.total_ns, from.nested_ns);
    read.left_out = std::min(from.left_out, from.count);
    read.count_variance = static_cast<double>(from.count_variance);
    read.total_variance = from.total_variance;
    if (from.min_ns <= from.max_ns) {  // else there are none, or the first was being written when its thread was killed
      read.min_ns = from.min_ns;
      read.max_ns = from.max_ns;
    }
    read.threads = from.threads;
    if (const kept_row& known = kept.rows[number]; known.site != nullptr && known.path == from.id)
      return keep(from, std::move(read), known.site, kept, number);
    if (const auto known = kept_.sum_.paths.find(from.id); known != kept_.sum_.paths.end())
      return keep(from, std::move(read), site_of(known->second.site), kept, number);
    unnamed_.push_back({from, std::move(read), &kept, number});
    if (unnamed_.size() == most_unnamed) name_all();
  }

  void name_all() {
    if (unnamed_.size() >= worth_a_copy && &memory_ != &own_memory()) {
      const arena_copy names(memory_, state_.address);
      name_all_from(names);
    } else {
      name_all_from(memory_);
    }
    unnamed_.clear();
  }

  void name_all_from(const memory& names) {
    for (unnamed_row& one : unnamed_)
      keep(one.from, std::move(one.read), name_path(names, address_of(one.from.path), one.from.id), *one.kept,
           one.number);
  }

  void keep(const row& from, measured_row read, const measured_site* site, kept_recorder& kept, std::size_t number) {
    if (site == nullptr) return;
    const std::size_t used = site->kind == ADAPTYST_SITE_METRIC ? 1 : site->attributes.size();
    for (std::size_t at = 0; at != used; ++at) {
      const detail::attribute_sum& one = from.attributes[at];
      if (one.min > one.max) continue;  // nothing was added yet
      read.attributes.resize(at + 1);
      read.attributes[at] = {read.count, one.sum, one.min, one.max};
    }
    kept_row& into = kept.rows[number];
    const std::size_t before = bytes_of(into.row);
    const std::size_t now = bytes_of(read);
    if (now > before && !kept_.reserve_bytes(now - before)) return lose(kept.accounting, loss::rows_full, 1, true);
    if (now < before) kept_.return_bytes(before - now);
    kept_path& of = kept_.by_path_[from.id];
    of.id = from.id;
    if (into.site == nullptr || into.path != from.id) of.places.push_back({&kept, number});
    if (into.site != nullptr && into.path != from.id) {  // it lies: a row keeps its path
      kept_path& before_that = kept_.by_path_[into.path];
      std::vector<place>& left = before_that.places;
      left.erase(std::remove_if(left.begin(), left.end(),
                                [&](const place& one) { return one.in == &kept && one.at == number; }),
                 left.end());
      kept_.note_change(before_that);
    }
    kept_.note_change(of);
    into = {from.id, site, std::move(read)};
  }

  // Names the path with this id, and those above it; returns its marker, or null when there is no such path.
  const measured_site* name_path(const memory& names, std::uint64_t address, std::uint64_t id) {
    measured& in = kept_.sum_;
    if (const auto known = in.paths.find(id); known != in.paths.end()) return site_of(known->second.site);
    std::uint64_t site_of_first = 0;
    for (std::uint32_t step = 0; address != 0 && step <= detail::most_depth; ++step) {
      adaptyst_path path{};
      adaptyst_site site{};
      // 0 stands for none.
      if (!names.read(address, path) || path.id == 0 || (site_of_first == 0 && path.id != id)) break;
      if (in.paths.find(path.id) != in.paths.end() || in.paths.size() == most_paths) break;
      if (!names.read(address_of(path.site), site) || site.id == 0) break;
      const bool is_new = in.sites.find(site.id) == in.sites.end();
      if (is_new && in.sites.size() == most_sites) break;
      adaptyst_path parent{};
      if (path.parent != nullptr && !names.read(address_of(path.parent), parent)) break;
      if (site_of_first == 0) site_of_first = site.id;
      in.paths[path.id] = {parent.id, site.id, path.device};
      if (is_new) in.sites.emplace(site.id, describe(names, site));
      address = address_of(path.parent);
    }
    return site_of(site_of_first);
  }

  const measured_site* site_of(std::uint64_t id) const {
    const auto found = kept_.sum_.sites.find(id);
    return found != kept_.sum_.sites.end() ? &found->second : nullptr;
  }

  static measured_site describe(const memory& names, const adaptyst_site& site) {
    constexpr std::size_t most = ADAPTYST_TEXT_BYTES - 1;
    measured_site made;
    made.name.resize(std::min<std::size_t>(site.name_bytes, most));
    // A name may hold NULs, and begin anywhere.
    std::size_t done = 0;
    while (done < made.name.size()) {
      const std::string part = names.text(address_of(site.name) + done, made.name.size() - done);
      std::copy(part.begin(), part.end(), made.name.begin() + static_cast<std::ptrdiff_t>(done));
      done += part.size() + 1;
    }
    made.file = names.text(address_of(site.file), most);
    made.function = names.text(address_of(site.function), most);
    made.label = names.text(address_of(site.label), most);
    made.line = site.line;
    made.kind = site.kind;
    for (std::uint32_t at = 0; at != std::min<std::uint32_t>(site.attribute_count, ADAPTYST_ATTRIBUTES); ++at)
      made.attributes.push_back(names.text(address_of(site.attributes[at]), most));
    return made;
  }

  recorder_reader& kept_;
  const process_state& state_;
  const memory& memory_;
  std::unordered_set<std::uint64_t> chunks_;
  std::size_t rows_read_ = 0;
  std::uint64_t begun_ns_ = detail::monotonic_ns();
  bool is_another_epoch_ = false;
  std::vector<row> rows_;
  std::vector<unnamed_row> unnamed_;
};

void recorder_reader::update(const process_state& of) { pass(*this, of).read(); }

void recorder_reader::note_change(kept_path& of) {
  if (!std::exchange(of.changed, true)) outdated_.push_back(&of);
}

void recorder_reader::sum_up() {
  for (kept_path* const path : outdated_) {
    path->changed = false;
    changed_.insert(path->id);
    bool there = false;
    for (const place& one : path->places) {
      const kept_row& row = one.in->rows[one.at];
      if (one.in->epoch != epoch_ || row.path != path->id) continue;
      if (path->sum == nullptr) path->sum = &sum_.rows[path->id];
      if (!std::exchange(there, true)) *path->sum = row.row;
      else add(*path->sum, row.row);
    }
    if (there || path->sum == nullptr) continue;
    sum_.rows.erase(path->id);
    path->sum = nullptr;
  }
  outdated_.clear();

  sum_.accounting = {};
  std::uint64_t open = 0;
  for (const auto& [address, kept] : recorders_) {
    if (kept.epoch != epoch_) continue;
    add(sum_.accounting, kept.accounting);
    open += kept.open;
  }
  lose(sum_.accounting, loss::no_memory, unrecorded_, true);
  if (was_late_) {  // one event at least
    ++sum_.accounting.lost[loss_reason::not_read];
    ++sum_.accounting.begun;
  }
  // Recorders are read one after another: a handle may be seen to end on one after its begin was missed on another.
  const bool is_negative = open >> 63 != 0;
  if (is_negative) sum_.accounting.begun -= open;
  sum_.accounting.open = is_negative ? 0 : open;
}

// Where rows were in an earlier epoch: all that has them now is found anew.
void recorder_reader::forget_places() {
  for (auto& [id, path] : by_path_) {
    path.places.clear();
    note_change(path);
  }
  for (const auto& [address, kept] : recorders_)
    for (std::size_t at = 0; at != kept.rows.size(); ++at)
      if (kept.rows[at].site != nullptr) by_path_.at(kept.rows[at].path).places.push_back({&kept, at});
}

measured read_recorders(const process_state& of) {
  recorder_reader once;
  once.update(of);
  return once.result();
}

process_state own_state(std::uint64_t process) {
  process_state made{&own_memory(), store_of(own_memory(), process), {}, process};
  detail::for_each_object([&](adaptyst_object& object, const detail::loaded_object&) {
    made.objects.push_back(reinterpret_cast<std::uint64_t>(&object));
    return true;
  });
  return made;
}

std::uint64_t store_of(const memory& in, std::uint64_t process) {
  std::uint64_t store = 0;
  return process != 0 && in.read(process + offsetof(detail::process, store), store) ? store : 0;
}

bool has_known_layout(const process_state& of) {
  detail::store_head head{};
  if (of.address == 0) return true;
  return of.in->read(of.address, head) && (head.layout == 0 || head.layout == detail::layout_of_state);
}

}  // namespace adaptyst::lib
