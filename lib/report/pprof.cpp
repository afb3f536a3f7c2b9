// Writes the regions of a profile for pprof: gzip of a message Profile of its profile.proto. Field numbers are those of
// that file. A sample is a row of the profile, with the call path as its stack.
#include <adaptyst/profile.hpp>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/words.hpp"
#include "../support/output_file.hpp"
#include "../support/varint.hpp"
#include "foreign_forms.hpp"

namespace adaptyst::lib {

namespace {

// ---- the wire format of protobuf ----

constexpr std::uint64_t as_varint = 0, as_bytes = 2;

void add_number(std::string& to, unsigned field, std::uint64_t value) {
  append_varint(to, std::uint64_t{field} << 3U | as_varint);
  append_varint(to, value);
}

void add_bytes(std::string& to, unsigned field, std::string_view bytes) {
  append_varint(to, std::uint64_t{field} << 3U | as_bytes);
  append_varint(to, bytes.size());
  to += bytes;
}

// Numbers of a repeated field, packed.
void add_numbers(std::string& to, unsigned field, const std::vector<std::uint64_t>& values, std::string& scratch) {
  scratch.clear();
  for (const std::uint64_t value : values) append_varint(scratch, value);
  add_bytes(to, field, scratch);
}

// The format has signed numbers.
std::uint64_t limited(std::uint64_t value) {
  return std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max());
}

// ---- the figures of a row ----

std::optional<std::uint64_t> find_calls(const region& row) { return row.count; }
std::optional<std::uint64_t> find_time(const region& row) {
  return row.durations.count() != 0 ? std::optional(row.total_ns) : std::nullopt;
}
std::optional<std::uint64_t> find_self(const region& row) {
  return row.durations.count() != 0 ? std::optional(row.self_ns) : std::nullopt;
}
std::optional<std::uint64_t> find_on_core(const region& row) {
  return row.self_context ? row.self_context->on_cpu_ns() : std::nullopt;
}
// While regions are open, the time is unknown as a whole, as for the table.
std::optional<std::uint64_t> find_blocked(const region& row) {
  return find_on_core(row) ? std::optional(row.self_context->blocked_ns()) : std::nullopt;
}
std::optional<std::uint64_t> find_bytes(const region& row) {
  const auto found = row.attributes.find("bytes");
  if (found == row.attributes.end() || found->second.metrics != 0) return std::nullopt;  // a metric may be a level
  const double sum = found->second.sum;
  if (!(sum >= 0)) return std::nullopt;
  return sum < 9.2e18 ? static_cast<std::uint64_t>(std::llround(sum)) : std::numeric_limits<std::uint64_t>::max();
}

struct sample_type {
  const char *name, *unit;
  std::optional<std::uint64_t> (*find)(const region& row);
};
constexpr std::array<sample_type, 6> sample_types = {{{"calls", "count", find_calls},
                                                      {"time", "nanoseconds", find_time},
                                                      {"self", "nanoseconds", find_self},
                                                      {"on-core", "nanoseconds", find_on_core},
                                                      {"blocked", "nanoseconds", find_blocked},
                                                      {"bytes", "bytes", find_bytes}}};

// ---- the message ----

class pprof_message {
 public:
  explicit pprof_message(const profile& from) : from_(from) {
    find_string("");
    for (const sample_type& type : sample_types)
      if (std::any_of(from.regions.begin(), from.regions.end(),
                      [&](const region& row) { return type.find(row).has_value(); }))
        types_.push_back(&type);
    for (const region& row : from.regions) rows_.try_emplace(row.id, &row);
  }

  std::string make() {
    std::string samples;
    const std::optional<std::uint32_t> rank = from_.rank();
    for (const region& row : from_.regions) {
      if (row.path.empty()) continue;
      add_bytes(samples, 2, make_sample(row, rank));
    }
    std::string all;
    for (const sample_type* type : types_) add_bytes(all, 1, make_type(type->name, type->unit));
    all += samples;
    all += locations_;
    all += functions_;
    std::string rest;
    add_about(rest);
    for (const std::string& text : strings_) add_bytes(all, 6, text);  // after add_about(), which adds texts
    return all + rest;
  }

 private:
  std::uint64_t find_string(const std::string& text) {
    const auto [entry, is_new] = string_numbers_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(valid_utf8(text));
    return entry->second;
  }

  std::string make_type(const char* name, const char* unit) {
    std::string made;
    add_number(made, 1, find_string(name));
    add_number(made, 2, find_string(unit));
    return made;
  }

  std::uint64_t find_location(const std::string& name, const source_location& site) {
    const std::uint64_t name_at = find_string(name), file_at = find_string(site.file);
    const auto [function, is_new_function] =
        function_numbers_.try_emplace({name_at, file_at}, function_numbers_.size() + 1);
    if (is_new_function) {
      std::string made;
      add_number(made, 1, function->second);
      add_number(made, 2, name_at);
      if (!site.file.empty()) add_number(made, 4, file_at);
      add_bytes(functions_, 5, made);
    }
    const auto [location, is_new] =
        location_numbers_.try_emplace({function->second, site.line}, location_numbers_.size() + 1);
    if (is_new) {
      std::string line;
      add_number(line, 1, function->second);
      if (site.line != 0) add_number(line, 2, site.line);
      std::string made;
      add_number(made, 1, location->second);
      add_bytes(made, 4, line);
      add_bytes(locations_, 4, made);
    }
    return location->second;
  }

  void add_label(std::string& to, const char* key, const std::string& value) {
    std::string made;
    add_number(made, 1, find_string(key));
    add_number(made, 2, find_string(value));
    add_bytes(to, 3, made);
  }
  void add_label(std::string& to, const char* key, std::uint64_t value) {
    std::string made;
    add_number(made, 1, find_string(key));
    add_number(made, 3, limited(value));
    add_bytes(to, 3, made);
  }

  std::string make_sample(const region& row, const std::optional<std::uint32_t>& rank) {
    // Leaf first. A parent without a row has not ended: its source line is unknown.
    numbers_.clear();
    const region* at = &row;
    for (std::size_t depth = row.path.size(); depth-- != 0;) {
      numbers_.push_back(find_location(row.path[depth], at != nullptr ? at->site : source_location()));
      const auto parent = at != nullptr ? rows_.find(at->parent) : rows_.end();
      at = parent != rows_.end() && parent->second->path.size() == depth ? parent->second : nullptr;
    }
    std::string made;
    add_numbers(made, 1, numbers_, scratch_);
    numbers_.clear();
    std::string unknown;
    for (const sample_type* type : types_) {
      const std::optional<std::uint64_t> value = type->find(row);
      if (!value) unknown += (unknown.empty() ? "" : ",") + std::string(type->name);
      numbers_.push_back(limited(value.value_or(0)));
    }
    add_numbers(made, 2, numbers_, scratch_);
    // pprof ignores a numeric label of 0.
    if (rank) add_label(made, "rank", std::to_string(*rank));
    if (row.threads != 0) add_label(made, "threads", row.threads);
    add_label(made, "device", device_label(from_, row.device));
    add_label(made, "kind", to_string(row.kind));
    // The format has a number for each type: this label distinguishes an unknown figure from 0.
    if (!unknown.empty()) add_label(made, "unknown", unknown);
    return made;
  }

  void add_about(std::string& to) {
    if (const std::optional<std::uint64_t> begin_ns = find_begin()) add_number(to, 9, *begin_ns);
    std::uint64_t longest_ns = 0;
    for (const process_info& process : from_.processes) longest_ns = std::max(longest_ns, process.duration_ns);
    if (longest_ns != 0) add_number(to, 10, limited(longest_ns));
    add_number(to, 13, find_string("adaptyst " + from_.version + ", engine " + from_.engine));
    const bool has_estimates = std::any_of(from_.regions.begin(), from_.regions.end(),
                                           [](const region& row) { return row.timed_events.has_value(); });
    if (has_estimates) add_number(to, 13, find_string("an overhead budget sampled events: figures are estimates"));
    const bool has_self = std::any_of(types_.begin(), types_.end(),
                                      [](const sample_type* type) { return std::string_view(type->name) == "self"; });
    add_number(to, 14, find_string(has_self ? "self" : "calls"));
  }

  std::optional<std::uint64_t> find_begin() const {
    const std::optional<std::string> date = from_.date();
    std::tm parts{};
    if (!date || strptime(date->c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return std::nullopt;
    const std::time_t seconds = timegm(&parts);
    if (seconds <= 0 || seconds > 9'000'000'000) return std::nullopt;
    return static_cast<std::uint64_t>(seconds) * 1'000'000'000U;
  }

  const profile& from_;
  std::vector<const sample_type*> types_;  // of which a row has a figure
  std::unordered_map<std::uint64_t, const region*> rows_;
  std::unordered_map<std::string, std::uint64_t> string_numbers_;
  std::vector<std::string> strings_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> function_numbers_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> location_numbers_;
  std::string functions_, locations_;
  std::vector<std::uint64_t> numbers_;
  std::string scratch_;
};

// RFC 1952. Equal profiles give equal files: the header has no time.
std::string gzip(const std::string& text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> ending(&stream, deflateEnd);
  std::string made;
  std::array<char, 65536> piece;
  constexpr std::size_t max_input = 1U << 30U;
  std::size_t taken = 0;
  int status = Z_OK;
  do {
    if (stream.avail_in == 0) {
      const std::size_t size = std::min(text.size() - taken, max_input);
      // zlib does not write to its input.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + taken));  // NOLINT
      stream.avail_in = static_cast<uInt>(size);
      taken += size;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = deflate(&stream, taken == text.size() ? Z_FINISH : Z_NO_FLUSH);
    made.append(piece.data(), piece.size() - stream.avail_out);
  } while (status != Z_STREAM_END);
  return made;
}

}  // namespace

std::string to_pprof(const profile& from) { return gzip(pprof_message(from).make()); }

}  // namespace adaptyst::lib
