#include "trace_input.hpp"

#include <fmt/format.h>

#include <tuple>

#include "../support/error.hpp"
#include "event_log_reader.hpp"
#include "nsys_reader.hpp"
#include "store_reader.hpp"

namespace adaptyst::lib {

void bad_rows::add(const bad_rows& more) {
  ends_before_start += more.ends_before_start;
  out_of_range += more.out_of_range;
  open += more.open;
  if (!more.first.empty()) note(more.table, more.row, more.first);
}

void bad_rows::note(const std::string& in_table, std::int64_t at, const std::string& what) {
  if (!first.empty() && std::tie(table, row) <= std::tie(in_table, at)) return;
  table = in_table;
  row = at;
  first = what;
}

bool bad_rows::is_span(std::int64_t start, std::int64_t end, const std::string& where, std::int64_t at) {
  const char* what = nullptr;
  if (end < start) {
    ++ends_before_start;
    what = "ends before it starts";
  } else if (start < 0 || static_cast<std::uint64_t>(end) > max_time_ns ||
             static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start) > max_span_ns) {
    ++out_of_range;
    what = start < 0 ? "starts at a negative time" : "has a time that is too large";
  }
  if (what == nullptr) return true;
  note(where, at, fmt::format("{}, row {}, {}: {} to {}", where, at, what, start, end));
  return false;
}

void bad_rows::add_open(const std::string& where, std::int64_t at) {
  ++open;
  note(where, at, fmt::format("{}, row {}, has no end", where, at));
}

scan_role choose_role(region_kind kind, scan_subject what) {
  const bool is_kernel = kind == region_kind::kernel || kind == region_kind::other;
  const bool is_copy = kind == region_kind::copy_to || kind == region_kind::copy_from;
  const bool is_work = is_kernel || is_copy || kind == region_kind::fill;
  return {what == scan_subject::regions ? !is_work : is_kernel || is_copy, is_copy};
}

std::optional<host_call_kind> choose_call_kind(const traced_site& site) {
  if (site.kind == region_kind::wait || site.kind == region_kind::offload) return host_call_kind::device;
  const bool is_cuda =
      site.name.compare(0, 4, "cuda") == 0 ||
      (site.name.compare(0, 2, "cu") == 0 && site.name.size() > 2 && site.name[2] >= 'A' && site.name[2] <= 'Z');
  if (is_cuda && site.kind == region_kind::function) return host_call_kind::device;
  const bool is_mpi = site.name.compare(0, 4, "MPI_") == 0 || site.name.compare(0, 5, "PMPI_") == 0;
  const bool may_be = site.kind == region_kind::function || site.kind == region_kind::region;
  return is_mpi && may_be ? std::optional(host_call_kind::mpi) : std::nullopt;
}

std::unique_ptr<trace_input> open_trace(const std::string& file) {
  if (event_log_blocks::is_event_log(file)) return std::make_unique<event_log_reader>(file);
  auto in = std::make_unique<sqlite_database>(file, sqlite_database::opened::to_read);
  if (store_reader::is_store(*in)) return std::make_unique<store_reader>(std::move(in));
  if (nsys_reader::is_export(*in)) return std::make_unique<nsys_reader>(std::move(in));
  throw error(fmt::format("{} is an SQLite file, but no trace", file), file, 0,
              "known are the exports of Nsight Systems (nsys export --type sqlite) and adaptyst's own stores");
}

}  // namespace adaptyst::lib
