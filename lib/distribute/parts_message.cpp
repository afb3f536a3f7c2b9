// Writes and reads parts of an analysis with numbers of few bytes; each name is sent once.
#include "parts_message.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "../merge/wire.hpp"

namespace adaptyst::lib {

namespace {

void put_wide(message_writer& to, wide_uint number) {
  to.put(static_cast<std::uint64_t>(number >> 64U));
  to.put(static_cast<std::uint64_t>(number));
}

wide_uint get_wide(message_reader& from) {
  const wide_uint high = from.get();
  return high << 64U | from.get();
}

void put_real(message_writer& to, double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  to.put_whole(bits);
}

double get_real(message_reader& from) {
  const std::uint64_t bits = from.get_whole();
  double number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// Logarithms of times are not negative.
std::uint64_t to_unsigned(std::int64_t number) { return static_cast<std::uint64_t>(number); }

// Names are sent as numbers: 0 is no name; others count from 1 in the order of first use, where the text follows. There
// are hundreds of thousands of entries with few names.
class sent_names {
 public:
  explicit sent_names(const name_table& names) : names_(names), numbers_(names.texts().size()) {}
  void put(message_writer& to, std::uint32_t name) {
    if (name == no_name) return to.put(0);
    std::uint32_t& number = numbers_[name];
    const bool is_new = number == 0;
    if (is_new) number = ++count_;
    to.put(number);
    if (is_new) to.put_text(names_.texts()[name]);
  }

 private:
  const name_table& names_;
  std::vector<std::uint32_t> numbers_;  // by name; 0: not yet sent
  std::uint32_t count_ = 0;
};

class received_names {
 public:
  explicit received_names(name_table& names) : names_(names) {}
  std::uint32_t get(message_reader& from) {
    const std::uint64_t number = from.get(numbers_.size() + 1);
    if (number == 0) return no_name;
    if (number > numbers_.size()) numbers_.push_back(names_.find(std::string(from.get_text())));
    return numbers_[static_cast<std::size_t>(number - 1)];
  }

 private:
  name_table& names_;
  std::vector<std::uint32_t> numbers_;
};

std::uint32_t get_small(message_reader& from) { return static_cast<std::uint32_t>(from.get(0xffffffff)); }

void put_window(message_writer& to, const window_row& row, sent_names& names) {
  to.put(row.window);
  to.put(row.group);
  names.put(to, row.name);
  for (const std::uint64_t number : {row.count, row.min, row.max, row.busy_ns, row.copy_ns, row.stall_ns, row.active_ns,
                                     row.copied_bytes, std::uint64_t{row.has_unknown_bytes}, to_unsigned(row.log_sum)})
    to.put(number);
  put_wide(to, row.sum);
  put_wide(to, row.squares);
  put_real(to, row.p50);
  put_real(to, row.p95);
}

window_row get_window(message_reader& from, received_names& names) {
  window_row row;
  row.window = from.get();
  row.group = get_small(from);
  row.name = names.get(from);
  for (std::uint64_t* const number :
       {&row.count, &row.min, &row.max, &row.busy_ns, &row.copy_ns, &row.stall_ns, &row.active_ns, &row.copied_bytes})
    *number = from.get();
  row.has_unknown_bytes = from.get(1) != 0;
  row.log_sum = static_cast<std::int64_t>(from.get());
  row.sum = get_wide(from);
  row.squares = get_wide(from);
  row.p50 = get_real(from);
  row.p95 = get_real(from);
  return row;
}

void put_sums(message_writer& to, const name_sums& sums) {
  to.put(sums.count);
  to.put(sums.min);
  to.put(sums.max);
  to.put(to_unsigned(sums.log_sum));
  put_wide(to, sums.sum);
  put_wide(to, sums.squares);
  put_wide(to, sums.log_squares);
  // Distances between non-empty buckets, and their counts; a 0 ends the list.
  unsigned last = 0;
  sums.buckets.visit([&](unsigned bucket, std::uint64_t count) {
    to.put(std::uint64_t{bucket} - last + 1);
    to.put(count);
    last = bucket;
  });
  to.put(0);
}

constexpr std::array wait_parts = {&wait_sums::copy_ns,    &wait_sums::delay_ns,     &wait_sums::copy_logs,
                                   &wait_sums::delay_logs, &wait_sums::copy_squares, &wait_sums::delay_squares,
                                   &wait_sums::products};

void put_waits(message_writer& to, const wait_sums& waits) {
  to.put(waits.windows);
  to.put(waits.later);
  if (waits.windows == 0) return;
  to.put(waits.count);
  for (const auto part : wait_parts) put_wide(to, waits.*part);
}

void get_waits(message_reader& from, wait_sums& waits) {
  waits.windows = from.get();
  waits.later = from.get();
  if (waits.windows == 0) return;
  waits.count = from.get();
  for (const auto part : wait_parts) waits.*part = get_wide(from);
}

void get_sums(message_reader& from, name_sums& sums) {
  sums.count = from.get();
  sums.min = from.get();
  sums.max = from.get();
  sums.log_sum = static_cast<std::int64_t>(from.get());
  sums.sum = get_wide(from);
  sums.squares = get_wide(from);
  sums.log_squares = get_wide(from);
  unsigned bucket = 0;
  while (const std::uint64_t gap = from.get(ADAPTYST_HISTOGRAM_BUCKETS)) {
    bucket += static_cast<unsigned>(gap - 1);
    if (bucket >= ADAPTYST_HISTOGRAM_BUCKETS) from.fail("has a bucket that no histogram has");
    sums.buckets.add(bucket, from.get());
  }
}

// Sums by name, windows with their entries, and copies.
void get_parts(message_reader& from, received_names& received, variability_parts& to) {
  to.first_ns = from.get();
  to.last_ns = from.get();
  for (std::size_t left = from.get_count(); left != 0; --left) {
    const std::uint32_t group = get_small(from);
    const std::uint32_t name = received.get(from);
    name_sums sums;
    get_sums(from, sums);
    get_waits(from, sums.waits);
    to.find(group, name).add(sums);
  }
  const std::size_t windows = from.get_count();
  to.windows.reserve(windows);
  for (std::size_t left = windows; left != 0; --left) to.windows.push_back(get_window(from, received));
  const std::size_t entries = from.get_count();
  to.entries.reserve(entries);
  for (std::size_t left = entries; left != 0; --left) {
    window_entry entry;
    entry.window = from.get();
    entry.group = get_small(from);
    entry.name = received.get(from);
    entry.count = from.get();
    entry.sum = from.get();
    to.entries.push_back(entry);
  }
  for (std::size_t left = from.get_count(); left != 0; --left) {
    const std::uint32_t group = get_small(from);
    const std::uint64_t number = from.get(1 + static_cast<std::uint64_t>(copy_direction::between_devices));
    copy_sums sums;
    sums.count = from.get();
    sums.time_ns = get_wide(from);
    sums.bytes = get_wide(from);
    sums.has_unknown_bytes = from.get(1) != 0;
    to.copies[{group, number != 0 ? std::optional(static_cast<copy_direction>(number - 1)) : std::nullopt}].add(sums);
  }
}

}  // namespace

std::string write_parts(const gathered& from, const name_table& names) {
  message_writer to;
  sent_names sent(names);
  to.put_text(from.failure);
  to.put(from.ranks.size());
  for (const rank_work& rank : from.ranks) {
    to.put(rank.rank);
    to.put(rank.rows);
    to.put(rank.bytes);
    put_real(to, rank.seconds);
    to.put(rank.peak_rss_bytes);
  }
  for (const std::uint64_t count : from.bad.counts) to.put(count);
  to.put_text(from.bad.table);
  to.put(static_cast<std::uint64_t>(from.bad.row));
  to.put_text(from.bad.first);
  to.put(from.tables.size());
  for (const divided_table& table : from.tables) {
    to.put(table.read);
    to.put(table.counted);
  }
  to.put(from.parts.first_ns);
  to.put(from.parts.last_ns);
  to.put(from.parts.names.size());
  for (const auto& [key, sums] : from.parts.names) {
    to.put(key >> 32U);
    sent.put(to, static_cast<std::uint32_t>(key));
    put_sums(to, *sums);
    put_waits(to, sums->waits);
  }
  to.put(from.parts.windows.size());
  for (const window_row& row : from.parts.windows) put_window(to, row, sent);
  to.put(from.parts.entries.size());
  for (const window_entry& entry : from.parts.entries) {
    to.put(entry.window);
    to.put(entry.group);
    sent.put(to, entry.name);
    to.put(entry.count);
    to.put(entry.sum);
  }
  to.put(from.parts.copies.size());
  for (const auto& [key, sums] : from.parts.copies) {
    to.put(key.first);
    to.put(key.second ? 1 + static_cast<std::uint64_t>(*key.second) : 0);
    to.put(sums.count);
    put_wide(to, sums.time_ns);
    put_wide(to, sums.bytes);
    to.put(std::uint64_t{sums.has_unknown_bytes});
  }
  return to.finish(message_kind::variability);
}

void add_parts(std::string_view message, gathered& to, name_table& names) {
  message_reader from(message, message_kind::variability);
  received_names received(names);
  gathered made;
  made.failure = from.get_text();
  for (std::size_t left = from.get_count(); left != 0; --left) {
    rank_work& work = made.ranks.emplace_back();
    work.rank = get_small(from);
    work.rows = from.get();
    work.bytes = from.get();
    work.seconds = get_real(from);
    work.peak_rss_bytes = from.get();
  }
  for (std::uint64_t& count : made.bad.counts) count = from.get();
  made.bad.table = from.get_text();
  made.bad.row = static_cast<std::int64_t>(from.get());
  made.bad.first = from.get_text();
  for (std::size_t left = from.get_count(); left != 0; --left) {
    made.tables.emplace_back();
    made.tables.back().read = from.get();
    made.tables.back().counted = from.get();
  }
  get_parts(from, received, made.parts);
  from.require_end();
  if (to.failure.empty()) to.failure = made.failure;
  to.bad.add(made.bad);
  to.tables.resize(std::max(to.tables.size(), made.tables.size()));
  for (std::size_t at = 0; at != made.tables.size(); ++at) {
    to.tables[at].read += made.tables[at].read;
    to.tables[at].counted += made.tables[at].counted;
  }
  to.ranks.insert(to.ranks.end(), made.ranks.begin(), made.ranks.end());
  to.parts.add(std::move(made.parts));
}

}  // namespace adaptyst::lib
