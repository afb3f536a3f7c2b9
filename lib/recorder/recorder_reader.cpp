// Reads all recorders of a process repeatedly. It keeps rows between passes and reports which paths have changed; it
// reads a row again if it was written during the read. All memory is bounded, since the process may be damaged.
#include "recorder_reader.hpp"

#include <time.h>

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include "../support/loader_walk.hpp"
#include "arena_copy.hpp"
#include "recorder_list.hpp"

namespace adaptyst::lib {

namespace {

using detail::loss;
using detail::recorder_head;
using detail::row;

constexpr unsigned attempts_at_once = 1000;
// More than a process can have. With these bounds, a damaged or malicious process can neither keep this process busy
// for ever nor fill its memory, not even slowly.
constexpr std::size_t max_process_rows = 1 << 21;
// Memory for each path with rows, in addition to the rows: two sums (process, all processes), two regions (the kept
// list, and a profile), and the text of a profile; and the same for each bucket of its durations.
constexpr std::size_t bytes_of_path = 4096;
constexpr std::size_t bytes_of_bucket = 48;
constexpr std::size_t bytes_of_named_path = 256;  // in tables
constexpr std::size_t bytes_of_recorder = 256;
constexpr std::size_t copies_of_text = 3;
constexpr std::size_t worth_a_copy = 256;        // names: then all names are copied
constexpr std::size_t max_unnamed = 8192;        // rows, of about 400 bytes
constexpr std::size_t bytes_ahead = 1 << 15;     // read at once from memory next to rows
constexpr std::size_t worth_reading_ahead = 32;  // rows
constexpr std::size_t max_sites = detail::max_sites;
constexpr std::size_t max_paths = sizeof(detail::process::paths) / sizeof(void*);

loss_reason to_reason(loss why) {
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
  sum.lost[to_reason(why)] += count;
  if (at_begin) sum.begun += count;
}

std::size_t text_bytes(const measured_site& site) {
  constexpr std::size_t bytes_of_attribute = 128;  // its values in a region
  std::size_t sum = site.name.size() + site.file.size() + site.function.size() + site.label.size();
  for (const std::string& attribute : site.attributes) sum += attribute.size() + bytes_of_attribute;
  return copies_of_text * sum;
}

// Counts events that were not read because this process has no memory: they have ended in the account, unless it is
// wrong.
void leave_out(account& sum, std::uint64_t count) {
  const std::uint64_t ended = std::min(count, sum.ended);
  sum.ended -= ended;
  sum.begun += count - ended;
  if (count != 0) sum.lost[loss_reason::not_read] += count;
}

}  // namespace

// In addition to the row itself.
std::size_t recorder_reader::bytes_in(const kept_row& row) {
  return row.buckets.capacity() * sizeof(std::uint64_t) + row.attributes.capacity() * sizeof(attribute);
}

void recorder_reader::add(measured_row& sum, const kept_row& from) {
  sum.count += from.count;
  sum.total_ns += from.total_ns;
  sum.self_ns += from.self_ns;
  sum.excess_ns += from.excess_ns;
  sum.min_ns = std::min(sum.min_ns, from.min_ns);
  sum.max_ns = std::max(sum.max_ns, from.max_ns);
  sum.threads += from.threads;
  if (from.threads == 1 && from.total_ns != 0) {
    if (!sum.per_thread) sum.per_thread.emplace();
    sum.per_thread->merge({1, from.self_ns, from.self_ns, from.self_ns});
  }
  sum.left_out += from.left_out;
  sum.count_variance += from.count_variance;
  sum.total_variance += from.total_variance;
  for (std::size_t at = from.buckets.size(); at-- != 0;)  // backwards, so that the sum grows once
    if (from.buckets[at] != 0)
      sum.durations.add_bucket(from.first_bucket + static_cast<unsigned>(at), from.buckets[at]);
  if (sum.attributes.size() < from.attributes.size()) sum.attributes.resize(from.attributes.size());
  for (std::size_t at = 0; at != from.attributes.size(); ++at) sum.attributes[at].merge(from.attributes[at]);
}

// One pass over all recorders.
class recorder_reader::pass {
 public:
  pass(recorder_reader& reader, const process_state& state)
      : reader_(reader), state_(state), memory_(*state.in), walk_(memory_, max_process_rows, reader.max_poll_ns_) {}

  void read() {
    detail::store_head head{};
    if (state_.address != 0 && has_same_layout(state_) && memory_.read(state_.address, head)) {
      reader_.was_read_ = true;
      is_another_epoch_ = reader_.epoch_ != head.epoch && !reader_.by_path_.empty();
      reader_.epoch_ = head.epoch;
      kept_recorder* kept = nullptr;
      walk_.go(
          as_address(head.recorders),
          [&](std::uint64_t at, recorder_head& now) -> std::optional<std::size_t> {
            kept = read_recorder(at, now);
            if (kept == nullptr) return std::nullopt;
            return kept->epoch == reader_.epoch_ ? kept->rows.size() : 0;
          },
          [&](std::uint64_t at, std::uint64_t chunk, std::size_t first, std::size_t count) {
            read_chunk(at, chunk, *kept, first, count);
          });
      name_all();
    }
    std::uint64_t unrecorded = 0;
    for (const std::uint64_t object : state_.objects) {
      adaptyst_object block{};
      // The address of an unloaded library may contain something else.
      if (memory_.read(object, block) && (block.process == 0 || find_store(memory_, block.process) == state_.address))
        unrecorded += block.unrecorded;
    }
    // If the process has just ended, no row was wrong.
    if (state_.address != 0 && !memory_.read(state_.address, head))
      for (auto& [address, kept] : reader_.recorders_) kept.refused_rows = 0;
    reader_.was_late_ = walk_.is_late();  // unread rows stay as they were at the last pass
    reader_.was_cut_ = is_cut_;
    reader_.unrecorded_ = std::max(reader_.unrecorded_, unrecorded);
    if (is_another_epoch_) reader_.forget_places();
    reader_.sum_up();
  }

 private:
  struct unnamed_row {
    std::uint64_t path;  // its address
    kept_row read;
    kept_recorder* kept;
    std::size_t number;
  };

  // Copies until no writer interferes. A writer may have lost its processor during an event: after a few attempts, this
  // function waits for it, up to 0.2 s in total. If the writer is stopped or writes all the time, the last copy is
  // used.
  template <class Copy>
  bool read_consistently(std::uint64_t sequence, Copy&& copy) const {
    const unsigned max_attempts = memory_.patience();
    for (unsigned attempt = 0; attempt != max_attempts; ++attempt) {
      if (attempt >= attempts_at_once) {
        const timespec a_while{0, 100'000};
        nanosleep(&a_while, nullptr);
      }
      std::uint64_t before = 0;
      std::uint64_t after = 0;
      if (!memory_.read(sequence, before)) return false;
      if ((before & 1) != 0 && attempt + 1 != max_attempts) continue;
      if (!copy() || !memory_.read(sequence, after)) return false;
      if (before == after && (before & 1) == 0) return true;
    }
    return true;
  }

  // Reads the head of a recorder; null: it cannot be read or kept.
  kept_recorder* read_recorder(std::uint64_t address, recorder_head& now) {
    if (!read_consistently(address, [&] { return memory_.read(address, now); })) return nullptr;
    const auto entry = reader_.recorders_.find(address);
    if (entry == reader_.recorders_.end()) {
      if (reader_.recorders_.size() == detail::max_recorders) return nullptr;
      if (!reader_.bytes_.reserve(bytes_of_recorder)) {
        is_cut_ = true;
        return nullptr;
      }
    }
    kept_recorder& kept = entry != reader_.recorders_.end() ? entry->second : reader_.recorders_[address];
    if (kept.epoch != now.epoch) {
      is_another_epoch_ = is_another_epoch_ || !kept.rows.empty();
      reader_.rows_kept_ -= kept.rows.size();
      for (const kept_row& row : kept.rows) reader_.bytes_.give_back(sizeof row + bytes_in(row));
      kept = {};
    }
    kept.epoch = now.epoch;
    kept.refused_rows = 0;
    if (now.epoch != reader_.epoch_) return &kept;  // of an earlier collector
    account sum;
    sum.begun = now.begun + (now.serial - now.first_serial);
    sum.ended = now.ended;
    kept.open = sum.begun - sum.ended - now.lost[static_cast<unsigned>(loss::unmatched)];  // modulo 2^64
    for (unsigned why = 0; why != static_cast<unsigned>(loss::reasons); ++why)
      lose(sum, static_cast<loss>(why), now.lost[why], static_cast<loss>(why) != loss::unmatched);
    if (now.in_signal_epoch == now.epoch) lose(sum, loss::in_signal, now.in_signal, true);
    sum.unmatched = now.orphans + now.lost[static_cast<unsigned>(loss::unmatched)];
    kept.accounting = std::move(sum);
    const std::size_t used = std::min(now.rows_used, detail::max_rows);
    if (used > kept.rows.size()) {
      std::size_t more = std::min(used - kept.rows.size(), max_process_rows - reader_.rows_kept_);
      if (!reader_.bytes_.reserve(more * sizeof(kept_row))) more = 0;
      reader_.rows_kept_ += more;
      kept.rows.resize(kept.rows.size() + more);
      leave_out(kept.accounting, used - kept.rows.size());  // at least
    }
    return &kept;
  }

  // Reads all rows of a chunk to find the changed ones. If no writer interfered, no further read is needed.
  void read_chunk(std::uint64_t sequence, std::uint64_t chunk, kept_recorder& kept, std::size_t first,
                  std::size_t count) {
    rows_.resize(count);
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    if (!memory_.read(sequence, before) || !memory_.read(chunk, rows_.data(), count * sizeof(row)) ||
        !memory_.read(sequence, after))
      return;
    const bool is_consistent = before == after && (before & 1) == 0;
    changed_.clear();
    for (std::size_t at = 0; at != count; ++at) {
      const kept_row& earlier = kept.rows[first + at];
      // Nested events that are not booked themselves change only the nested time.
      const bool is_known = rows_[at].count == earlier.count && earlier.site != nullptr &&
                            rows_[at].nested_ns == earlier.total_ns - earlier.self_ns + earlier.excess_ns;
      if (!is_known) changed_.push_back(at);
    }
    // Data that was read ahead is newer than these rows, so it is dropped. Reading ahead pays if many rows have
    // changed.
    ahead_.clear();
    may_read_ahead_ = is_consistent && &memory_ != &own_memory() && changed_.size() >= worth_reading_ahead;
    for (const std::size_t at : changed_) {
      kept_row read;
      if (is_consistent) {
        if (read_attributes(rows_[at], read)) take(rows_[at], std::move(read), kept, first + at);
      } else if (read_consistently(sequence, [&] {
                   return memory_.read(chunk + at * sizeof(row), rows_[at]) && read_attributes(rows_[at], read);
                 })) {
        take(rows_[at], std::move(read), kept, first + at);
      }
    }
  }

  // Reads memory next to the rows of a chunk, mostly in the order of the rows.
  bool read_referenced(std::uint64_t address, void* buffer, std::size_t bytes) {
    if (!may_read_ahead_ || bytes > bytes_ahead) return memory_.read(address, buffer, bytes);
    const bool is_present =
        address >= ahead_at_ && address - ahead_at_ <= ahead_.size() && bytes <= ahead_.size() - (address - ahead_at_);
    if (!is_present) {
      ahead_.resize(bytes_ahead);
      ahead_at_ = address;
      if (!memory_.read(address, ahead_.data(), bytes_ahead)) {  // it may be the end
        ahead_.clear();
        return memory_.read(address, buffer, bytes);
      }
    }
    std::memcpy(buffer, ahead_.data() + (address - ahead_at_), bytes);
    return true;
  }

  bool read_attributes(const row& from, kept_row& kept) {
    detail::attribute_sum sums[ADAPTYST_ATTRIBUTES];
    const std::size_t count = std::min<std::uint64_t>(from.attribute_count, ADAPTYST_ATTRIBUTES);
    kept.attributes.clear();
    if (count == 0) return true;
    if (!read_referenced(as_address(from.attributes), sums, count * sizeof sums[0])) return false;
    kept.attributes.reserve(count);
    for (std::size_t at = 0; at != count; ++at) {
      const bool is_used = sums[at].min <= sums[at].max;  // else nothing was added yet
      kept.attributes.push_back(is_used ? attribute{from.count, sums[at].sum, sums[at].min, sums[at].max}
                                        : attribute{});
    }
    return true;
  }

  // Durations are between the least and the greatest, and so are their buckets.
  bool read_durations(const row& from, kept_row& kept) {
    if (from.min_ns > from.max_ns || from.buckets == 0) return true;  // no durations, or no memory for them
    const unsigned first = adaptyst_histogram_bucket(from.min_ns);
    kept.first_bucket = first;
    kept.buckets.resize(adaptyst_histogram_bucket(from.max_ns) - first + 1);
    if (!read_referenced(as_address(from.histogram) + first * sizeof kept.buckets[0], kept.buckets.data(),
                         kept.buckets.size() * sizeof kept.buckets[0]))
      return false;
    const std::uint64_t last = from.last_bucket - first;  // in a damaged process anywhere
    if (last < kept.buckets.size()) ++kept.buckets[last];
    return true;
  }

  // Rows without a known name are collected, and named together.
  void take(const row& from, kept_row read, kept_recorder& kept, std::size_t number) {
    if (!read_durations(from, read)) return;
    read.path = from.id;
    read.count = from.count;
    read.total_ns = from.total_ns;
    read.self_ns = from.total_ns - std::min(from.total_ns, from.nested_ns);
    read.excess_ns = from.nested_ns - std::min(from.total_ns, from.nested_ns);
    read.left_out = std::min(from.left_out, from.count);
    read.count_variance = static_cast<double>(from.count_variance);
    read.total_variance = from.total_variance;
    if (from.min_ns <= from.max_ns) {  // else there are none, or its thread was killed while it wrote the first
      read.min_ns = from.min_ns;
      read.max_ns = from.max_ns;
    }
    read.threads = from.threads;
    if (const kept_row& row = kept.rows[number]; row.site != nullptr && row.path == from.id)
      return keep(std::move(read), row.site, kept, number);
    if (const auto entry = reader_.sum_.paths.find(from.id); entry != reader_.sum_.paths.end())
      return keep(std::move(read), find_site(entry->second.site), kept, number);
    if (unnamed_.empty()) unnamed_.reserve(std::min(max_unnamed, kept.rows.size() - number));
    unnamed_.push_back({as_address(from.path), std::move(read), &kept, number});
    if (unnamed_.size() == max_unnamed) name_all();
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
    measurements& in = reader_.sum_;
    in.paths.reserve(in.paths.size() + unnamed_.size());
    in.rows.reserve(in.rows.size() + unnamed_.size());
    reader_.by_path_.reserve(reader_.by_path_.size() + unnamed_.size());
    for (unnamed_row& row : unnamed_)
      keep(std::move(row.read), name_path(names, row.path, row.read.path), *row.kept, row.number);
  }

  void keep(kept_row read, const measured_site* site, kept_recorder& kept, std::size_t number) {
    if (site == nullptr) {
      ++kept.refused_rows;
      return;
    }
    // Values for which the marker has no name do not belong to the row.
    const std::size_t used = site->kind == ADAPTYST_SITE_METRIC ? 1 : site->attributes.size();
    if (read.attributes.size() > used) read.attributes.resize(used);
    while (!read.attributes.empty() && read.attributes.back().count == 0) read.attributes.pop_back();
    kept_row& into = kept.rows[number];
    const std::size_t before = bytes_in(into);
    const std::size_t now = bytes_in(read);
    const auto entry = reader_.by_path_.find(read.path);
    const bool is_new = entry == reader_.by_path_.end();
    const std::size_t had_buckets = is_new ? 0 : entry->second.buckets;
    const std::size_t buckets = std::max(had_buckets, read.first_bucket + read.buckets.size());
    const std::size_t more = (now > before ? now - before : 0) + (buckets - had_buckets) * bytes_of_bucket +
                             (is_new ? bytes_of_path + text_bytes(*site) : 0);
    if (!reader_.bytes_.reserve(more)) return leave_out(kept.accounting, read.count - std::min(read.count, into.count));
    if (now < before) reader_.bytes_.give_back(before - now);
    kept_path& path = is_new ? reader_.by_path_[read.path] : entry->second;
    path.id = read.path;
    path.buckets = buckets;
    if (into.site == nullptr || into.path != read.path) path.places.push_back({&kept, number});
    if (into.site != nullptr && into.path != read.path) {  // damaged: a row never changes its path
      kept_path& before_that = reader_.by_path_[into.path];
      std::vector<place>& left = before_that.places;
      left.erase(std::remove_if(left.begin(), left.end(),
                                [&](const place& each) { return each.in == &kept && each.at == number; }),
                 left.end());
      reader_.note_change(before_that);
    }
    reader_.note_change(path);
    read.site = site;
    into = std::move(read);
  }

  // Names the path with this id, and the paths above it; returns its marker, or null if there is no such path.
  const measured_site* name_path(const memory& names, std::uint64_t address, std::uint64_t id) {
    measurements& in = reader_.sum_;
    if (const auto earlier = in.paths.find(id); earlier != in.paths.end()) return find_site(earlier->second.site);
    const measured_site* first_site = nullptr;
    for (std::uint32_t step = 0; address != 0 && step <= detail::max_depth; ++step) {
      adaptyst_path path{};
      adaptyst_site site{};
      // The id 0 means no path.
      if (!names.read(address, path) || path.id == 0 || (step == 0 && path.id != id)) break;
      if ((step != 0 && in.paths.find(path.id) != in.paths.end()) || in.paths.size() == max_paths) break;
      if (!names.read(as_address(path.site), site) || site.id == 0) break;
      auto entry = in.sites.find(site.id);
      if (entry == in.sites.end() && in.sites.size() == max_sites) break;
      adaptyst_path parent{};
      if (path.parent != nullptr && !names.read(as_address(path.parent), parent)) break;
      if (entry == in.sites.end()) {
        measured_site made = describe(names, site);
        if (!reader_.bytes_.reserve(2 * sizeof made + text_bytes(made))) break;
        entry = in.sites.emplace(site.id, std::move(made)).first;
      }
      if (!reader_.bytes_.reserve(bytes_of_named_path)) break;
      if (step == 0) first_site = &entry->second;
      in.paths[path.id] = {parent.id, site.id, path.device};
      address = as_address(path.parent);
    }
    return first_site;
  }

  const measured_site* find_site(std::uint64_t id) const {
    const auto found = reader_.sum_.sites.find(id);
    return found != reader_.sum_.sites.end() ? &found->second : nullptr;
  }

  static measured_site describe(const memory& names, const adaptyst_site& site) {
    constexpr std::size_t max_bytes = ADAPTYST_TEXT_BYTES - 1;
    measured_site made;
    made.name.resize(std::min<std::size_t>(site.name_bytes, max_bytes));
    // A name may contain NULs, and begin at any address.
    std::size_t done = 0;
    while (done < made.name.size()) {
      const std::string part = names.text(as_address(site.name) + done, made.name.size() - done);
      std::copy(part.begin(), part.end(), made.name.begin() + static_cast<std::ptrdiff_t>(done));
      done += part.size() + 1;
    }
    made.file = names.text(as_address(site.file), max_bytes);
    made.function = names.text(as_address(site.function), max_bytes);
    made.label = names.text(as_address(site.label), max_bytes);
    made.line = site.line;
    made.kind = site.kind;
    made.level = site.level;
    for (std::uint32_t at = 0; at != std::min<std::uint32_t>(site.attribute_count, ADAPTYST_ATTRIBUTES); ++at)
      made.attributes.push_back(names.text(as_address(site.attributes[at]), max_bytes));
    return made;
  }

  recorder_reader& reader_;
  const process_state& state_;
  const memory& memory_;
  row_walk walk_;
  bool is_another_epoch_ = false;
  bool is_cut_ = false;  // no memory for further recorders
  std::vector<row> rows_;
  std::vector<std::size_t> changed_;  // indices of changed rows
  std::vector<unsigned char> ahead_;
  std::uint64_t ahead_at_ = 0;
  bool may_read_ahead_ = false;
  std::vector<unnamed_row> unnamed_;
};

void recorder_reader::poll(const process_state& state) { pass(*this, state).read(); }

void recorder_reader::note_late() {
  was_late_ = true;
  sum_up();
}

std::optional<std::uint32_t> recorder_reader::threads() const noexcept {
  if (!was_read_) return std::nullopt;
  return static_cast<std::uint32_t>(std::count_if(recorders_.begin(), recorders_.end(), [this](const auto& entry) {
    return entry.second.epoch == epoch_ && entry.second.accounting.begun != 0;
  }));
}

unannounced_threads recorder_reader::find_unannounced(std::int64_t process,
                                                      const announced_recorders& announced) const {
  unannounced_threads found;
  for (const auto& [address, kept] : recorders_) {
    if (kept.epoch != epoch_ || kept.accounting.begun == 0 || announced.count({process, address}) != 0) continue;
    ++found.threads;
    for (const kept_row& row : kept.rows)
      if (row.site != nullptr) found.paths.insert(row.path);
  }
  return found;
}

void recorder_reader::note_change(kept_path& path) {
  if (!std::exchange(path.changed, true)) outdated_.push_back(&path);
}

void recorder_reader::sum_up() {
  for (kept_path* const path : outdated_) {
    path->changed = false;
    changed_.insert(path->id);
    bool there = false;
    for (const place& each : path->places) {
      const kept_row& row = each.in->rows[each.at];
      if (each.in->epoch != epoch_ || row.path != path->id) continue;
      if (path->sum == nullptr) path->sum = &sum_.rows[path->id];
      if (!std::exchange(there, true)) *path->sum = {};
      add(*path->sum, row);
    }
    if (there || path->sum == nullptr) continue;
    sum_.rows.erase(path->id);
    path->sum = nullptr;
  }
  outdated_.clear();

  sum_.accounting = {};
  std::uint64_t open = 0, refused_rows = 0;
  for (const auto& [address, kept] : recorders_) {
    if (kept.epoch != epoch_) continue;
    lib::add(sum_.accounting, kept.accounting);
    refused_rows += kept.refused_rows;
    open += kept.open;
  }
  lose(sum_.accounting, loss::no_memory, unrecorded_, true);
  if (const std::uint64_t unread = refused_rows + (was_late_ ? 1 : 0) + (was_cut_ ? 1 : 0);
      unread != 0) {  // one event each, at least
    sum_.accounting.lost[loss_reason::not_read] += unread;
    sum_.accounting.begun += unread;
  }
  // Recorders are read one after another: the end of a handle may be read from one recorder, and its begin be missed on
  // another.
  const bool is_negative = open >> 63 != 0;
  if (is_negative) sum_.accounting.begun -= open;
  sum_.accounting.open = is_negative ? 0 : open;
}

// Forgets the positions of rows of an earlier epoch; finds those of this epoch again.
void recorder_reader::forget_places() {
  for (auto& [id, path] : by_path_) {
    path.places.clear();
    note_change(path);
  }
  for (const auto& [address, kept] : recorders_)
    for (std::size_t at = 0; at != kept.rows.size(); ++at)
      if (kept.rows[at].site != nullptr) by_path_.at(kept.rows[at].path).places.push_back({&kept, at});
}

measurements read_recorders(const process_state& state) {
  recorder_reader once;
  once.poll(state);
  return once.result();
}

process_state own_state(std::uint64_t process) {
  process_state made{&own_memory(), find_store(own_memory(), process), {}, process};
  const loader_walk alone;
  detail::for_each_object([&](adaptyst_object& object, const detail::loaded_object&) {
    made.objects.push_back(reinterpret_cast<std::uint64_t>(&object));
    return true;
  });
  return made;
}

std::uint64_t find_store(const memory& in, std::uint64_t process) {
  std::uint64_t store = 0;
  return process != 0 && in.read(process + offsetof(detail::process, store), store) ? store : 0;
}

bool has_same_layout(const process_state& state) {
  detail::store_head head{};
  if (state.address == 0) return true;
  return state.in->read(state.address, head) && (head.layout == 0 || head.layout == detail::state_layout);
}

}  // namespace adaptyst::lib
