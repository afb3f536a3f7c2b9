#include "trace_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string_view>
#include <system_error>
#include <tuple>

#include "../support/error.hpp"
#include "../support/output_form.hpp"
#include "chrome_reader.hpp"
#include "event_log_reader.hpp"
#include "nsys_reader.hpp"
#include "otf2.hpp"
#include "rocpd_reader.hpp"
#include "store_reader.hpp"

namespace adaptyst::lib {

std::uint64_t bad_rows::count() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void bad_rows::add(const bad_rows& more) {
  for (std::size_t at = 0; at != counts.size(); ++at) counts[at] += more.counts[at];
  if (more.first.empty() || (!first.empty() && std::tie(table, row) <= std::tie(more.table, more.row))) return;
  table = more.table;
  row = more.row;
  first = more.first;
}

void bad_rows::add(row_fault what, const row_place& place, const std::string& words) {
  ++counts[static_cast<std::size_t>(what)];
  if (!first.empty() && std::tie(table, row) <= std::tie(place.where, place.at)) return;
  table = place.where;
  row = place.at;
  first = fmt::format("{}, {} {}, {}", place.where, place.unit, place.at, words);
}

void bad_rows::add_wrong_column(std::string_view column, const row_place& place) {
  add(row_fault::no_number, place,
      fmt::format("has no whole number in its column {}", column.substr(0, column.find('|'))));
}

bool bad_rows::has_numbers(const sqlite_statement& row, std::initializer_list<int> columns, const row_place& place) {
  for (const int column : columns) {
    if (!row.is_wrong_number(column)) continue;
    add_wrong_column(row.name(column), place);
    return false;
  }
  return true;
}

void bad_rows::add_no_span(std::optional<std::int64_t> start, std::optional<std::int64_t> end, const row_place& place,
                           std::uint64_t max_length_ns) {
  if (!start) add(row_fault::no_start, place, "has no start");
  else if (!end) add(row_fault::no_end, place, fmt::format("starts at {} and has no end", *start));
  else if (*end < *start)
    add(row_fault::ends_before_start, place, fmt::format("ends before it starts: {} to {}", *start, *end));
  else {
    const bool is_too_large = *start >= 0 && !is_valid(*start, *end, max_length_ns);
    add(row_fault::out_of_range, place,
        fmt::format("{}: {} to {}", is_too_large ? "has a time too large" : "starts at a negative time", *start, *end));
  }
}

std::string bad_rows::text() const {
  constexpr std::array<const char*, row_faults> words = {"end before they start",
                                                         "have times out of range",
                                                         "have no end",
                                                         "have no start",
                                                         "have a path that is not in the file",
                                                         "have no whole number where one is needed",
                                                         "have an agent, process or track that is not in the file"};
  static_assert(words.size() == std::tuple_size<decltype(counts)>::value, "words for each fault");
  std::string all;
  for (std::size_t at = 0; at != counts.size(); ++at)
    if (counts[at] != 0) all += fmt::format("{}{} {}", all.empty() ? "" : ", ", counts[at], words[at]);
  return all.empty() ? all : fmt::format("{} rows are skipped: {}; the first: {}", count(), all, first);
}

scan_role choose_role(region_kind kind, scan_subject what) {
  const bool is_kernel = kind == region_kind::kernel || kind == region_kind::other;
  const bool is_copy = kind == region_kind::copy_to || kind == region_kind::copy_from;
  const bool is_work = is_kernel || is_copy || kind == region_kind::fill;
  return {what == scan_subject::regions ? !is_work : is_kernel || is_copy, is_copy};
}

std::optional<copy_direction> find_direction(region_kind kind, std::string_view name) {
  if (kind == region_kind::copy_from) return copy_direction::to_host;
  if (kind != region_kind::copy_to) return std::nullopt;
  const auto has_any = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return name.find(word) != std::string_view::npos; });
  };
  // Names of Nsight Systems, ROCm and PyTorch.
  if (has_any({"DtoH", "D2H", "AtoH", "DeviceToHost", "device to host", "array to host"}))
    return copy_direction::to_host;
  if (has_any({"DtoD", "D2D", "PtoP", "P2P", "AtoA", "AtoD", "DtoA", "DeviceToDevice", "copy device to",
               "copy array to", "memory, device to"}))
    return copy_direction::between_devices;
  if (has_any({"HtoH", "H2H", "HostToHost", "copy host to host", "copy, kind", unknown_direction})) return std::nullopt;
  const bool is_named = has_any({"Memcpy", "memcpy"});
  if (is_named && !has_any({"HtoD", "H2D", "HtoA", "HostToDevice"})) return std::nullopt;
  return copy_direction::to_device;
}

std::optional<host_call_kind> choose_call_kind(const traced_site& site) {
  if (site.kind == region_kind::wait || site.kind == region_kind::offload) return host_call_kind::device;
  const auto begins_with = [&name = site.name](std::string_view with) {
    return name.compare(0, with.size(), with) == 0;
  };
  const auto is_capital_at = [&name = site.name](std::size_t at) {
    return name.size() > at && name[at] >= 'A' && name[at] <= 'Z';
  };
  const bool is_of_device = begins_with("cuda") || (begins_with("cu") && is_capital_at(2)) ||
                            (begins_with("hip") && is_capital_at(3)) || begins_with("hsa_");
  if (is_of_device && site.kind == region_kind::function) return host_call_kind::device;
  const bool is_mpi = begins_with("MPI_") || begins_with("PMPI_");
  const bool may_be = site.kind == region_kind::function || site.kind == region_kind::region;
  return is_mpi && may_be ? std::optional(host_call_kind::mpi) : std::nullopt;
}

namespace {

// A readable format: a specific file format, or an SQLite file with specific tables.
struct trace_form {
  const char* name;  // for messages
  bool (*is_file)(const std::string& file);
  bool (*is_database)(const sqlite_database& in);
  std::unique_ptr<trace_input> (*open)(const std::string& file, std::unique_ptr<sqlite_database> in);
};

template <class Reader>
std::unique_ptr<trace_input> open_file(const std::string& file, std::unique_ptr<sqlite_database> /*none*/) {
  return std::make_unique<Reader>(file);
}
template <class Reader>
std::unique_ptr<trace_input> open_database(const std::string& /*file*/, std::unique_ptr<sqlite_database> in) {
  return std::make_unique<Reader>(std::move(in));
}

bool is_otf2(const std::string& file) {
  std::error_code failed;
  return has_suffix(file, ".otf2") && std::filesystem::is_regular_file(file, failed);
}
std::unique_ptr<trace_input> open_archive(const std::string& file, std::unique_ptr<sqlite_database> /*none*/) {
  return open_otf2(file);
}

// The first format that recognises a file reads it.
constexpr trace_form trace_forms[] = {
    {"event logs", event_log_blocks::is_event_log, nullptr, open_file<event_log_reader>},
    {"OTF2 archives", is_otf2, nullptr, open_archive},
    {"Chrome traces", is_chrome_json, nullptr, open_file<chrome_reader>},
    {"adaptyst's own stores", nullptr, store_reader::is_store, open_database<store_reader>},
    {"the exports of Nsight Systems (nsys export --type sqlite)", nullptr, nsys_reader::is_export,
     open_database<nsys_reader>},
    {"rocpd files (rocprofv3 --output-format rocpd)", nullptr, rocpd_reader::is_rocpd, open_database<rocpd_reader>},
};

// Formats that only other programs read. `{0}` in the hint is the file, `{1}` the file without its suffix.
struct other_form {
  std::string_view suffix, first_bytes;
  const char *name, *hint;
};
constexpr const char* export_as_sqlite = "export it as SQLite: nsys export --type sqlite {0}";
constexpr const char* convert_to_json = "convert it to JSON with Perfetto's program: traceconv json {0} {1}.json";
constexpr const char* write_rocpd = "adaptyst reads no CSV: write a rocpd file with rocprofv3 --output-format rocpd";
constexpr other_form other_forms[] = {
    {".nsys-rep", {}, "a report of Nsight Systems", export_as_sqlite},
    {".qdrep", {}, "a report of Nsight Systems", export_as_sqlite},
    {".pftrace", {}, "a trace of Perfetto", convert_to_json},
    {".perfetto-trace", {}, "a trace of Perfetto", convert_to_json},
    {".csv", "\"Kind\",\"Agent_Id\"", "a CSV table of rocprofv3", write_rocpd},
    {".csv", "\"Kind\",\"Domain\"", "a CSV table of rocprofv3", write_rocpd},
    {".csv", "\"Domain\",\"Function\"", "a CSV table of rocprofv3", write_rocpd},
};

void refuse_folder(const std::string& file) {
  std::error_code failed;
  if (!std::filesystem::is_directory(file, failed)) return;
  for (auto entry = std::filesystem::directory_iterator(file, failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    if (has_suffix(entry->path().string(), ".parquet"))
      throw error(fmt::format("{} is a folder of Parquet files", file), file, 0,
                  "export the report as SQLite: nsys export --type sqlite FILE.nsys-rep");
  throw error(fmt::format("{} is no file, but a folder", file), file, 0, "name a file in the folder");
}

void refuse_other_form(const std::string& file) {
  refuse_folder(file);
  char first[32] = {};
  if (std::error_code failed; std::filesystem::is_regular_file(file, failed))
    std::ifstream(file, std::ios::binary).read(first, sizeof first);
  const std::string_view begin(first, sizeof first);
  if (begin.substr(0, 15) == "SQLite format 3") return;
  for (const other_form& form : other_forms)
    if (has_suffix(file, form.suffix) && begin.substr(0, form.first_bytes.size()) == form.first_bytes)
      throw error(fmt::format("{} is {}", file, form.name), file, 0,
                  fmt::format(fmt::runtime(form.hint), file, file.substr(0, file.size() - form.suffix.size())));
}

}  // namespace

std::unique_ptr<trace_input> open_trace(const std::string& file) {
  for (const trace_form& form : trace_forms)
    if (form.is_file != nullptr && form.is_file(file)) return form.open(file, nullptr);
  refuse_other_form(file);
  auto in = std::make_unique<sqlite_database>(file, sqlite_database::opened::to_read);
  std::string suffixes;
  for (const trace_form& form : trace_forms) {
    if (form.is_database == nullptr) continue;
    if (form.is_database(*in)) return form.open(file, std::move(in));
    suffixes += (suffixes.empty() ? "supported: " : " and ") + std::string(form.name);
  }
  throw error(fmt::format("{} is an SQLite file, but no trace", file), file, 0, suffixes);
}

}  // namespace adaptyst::lib
