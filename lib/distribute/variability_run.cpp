// Divides the rows among ranks and threads, sends spans to the ranks of their windows, and analyses block after block.
#include "variability_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "../analyse/variability/block.hpp"
#include "../merge/tree.hpp"
#include "../support/error.hpp"
#include "../support/process_stat.hpp"
#include "host_calls.hpp"
#include "parts_message.hpp"
#include "rank_exchange.hpp"
#include "sorted_spans.hpp"
#include "span_store.hpp"
#include "trace_set.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t min_chunk_rows = 131072;
// Smaller tables are not divided among ranks or threads.
constexpr std::uint64_t min_shared_rows = 4096;
// Row numbers may be far apart.
constexpr std::uint64_t max_chunks_of_table = 100'000;
constexpr std::uint64_t samples_of_table = 256;
// Chunks that a thread reads until ranks meet. If all rows belong to another rank's windows, 24 MiB are kept.
constexpr std::uint64_t max_chunks_in_step = 8;
// Spans in memory, for all threads together. Larger blocks are sorted in parts of this size.
constexpr std::size_t max_spans_at_once = std::size_t{1} << 20U, min_spans_at_once = std::size_t{1} << 14U;
// The blocks of one span; a longer span means that the window is too small.
constexpr std::uint64_t max_pieces = std::uint64_t{1} << 20U;
// A larger copy is an error in the trace: its bytes are unknown. A copy needs a span for each 4 GiB.
constexpr std::uint64_t max_bytes_of_copy = std::uint64_t{1} << 38U;

struct chunk {
  std::size_t trace = 0, table = 0;
  std::int64_t first = 0, last = 0;
  std::size_t divided = not_divided;  // the index of its table among those with several chunks

  static constexpr std::size_t not_divided = std::numeric_limits<std::size_t>::max();
};

std::int64_t plus(std::int64_t number, std::uint64_t more) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) + more);
}

// Calls visit(first, last) for each `step` rows. Row numbers may be any, up to the limits of their type.
template <class Visit>
void visit_ranges(const sqlite_database::row_range& rows, std::uint64_t step, const Visit& visit) {
  if (rows.last < rows.first) return;
  const std::uint64_t all_but_one = static_cast<std::uint64_t>(rows.last) - static_cast<std::uint64_t>(rows.first);
  for (std::uint64_t done = 0;; done += step) {
    const std::uint64_t left = all_but_one - done;
    visit(plus(rows.first, done), plus(rows.first, done + std::min(step - 1, left)));
    if (left < step) return;
  }
}

std::uint64_t chunk_rows(const sqlite_database::row_range& rows) {
  return std::max(min_chunk_rows, rows.size() / max_chunks_of_table + 1);
}

// The chunk size for equal shares of `readers`.
std::uint64_t shared_chunk_rows(const sqlite_database::row_range& rows, std::uint64_t readers) {
  const std::uint64_t chunks = rows.size() / chunk_rows(rows) + 1;
  const std::uint64_t of_all = (chunks + readers - 1) / readers * readers;
  return std::max(min_shared_rows, rows.size() / of_all + 1);
}

// Local numbers by the numbers of a trace, which are mostly small; each is queried once.
class number_cache {
 public:
  // Calls `find` for new numbers.
  template <class Find>
  std::uint32_t find(std::uint64_t id, const Find& find) {
    slot& found = id < max_small ? small(static_cast<std::size_t>(id)) : large_[id];
    if (!found.is_known) found = {find(id), true};
    return found.number;
  }

 private:
  static constexpr std::uint64_t max_small = 65536;
  struct slot {
    std::uint32_t number = 0;
    bool is_known = false;
  };
  slot& small(std::size_t id) {
    if (id >= small_.size()) small_.resize(std::max(id + 1, std::min<std::size_t>(max_small, 2 * small_.size())));
    return small_[id];
  }

  std::vector<slot> small_;
  std::unordered_map<std::uint64_t, slot> large_;
};

// The readers of one thread, and their results.
struct reader {
  std::vector<std::unique_ptr<trace_scan>> scans;  // by trace
  std::vector<number_cache> names, groups;         // by trace
  std::unique_ptr<span_store> store;
  std::vector<std::vector<kept_span>> outgoing;  // by rank
  copy_totals copies;
  std::uint64_t rows = 0;
  std::vector<divided_table> tables;                                                // by index of the divided table
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(), last_ns = 0;  // first start and last end
};

class variability_run {
 public:
  variability_run(const variability_request& request, rank_transport* over)
      : request_(request),
        over_(over),
        rank_(over != nullptr ? over->rank() : 0),
        size_(over != nullptr ? over->size() : 1),
        traces_(request.traces) {
    threads_ = std::max(1U, request.threads);
    settings_ = request.settings;
  }

  std::optional<variability_result> run() {
    const auto begin = std::chrono::steady_clock::now();
    choose_subject();
    for (unsigned number = 0; number != threads_; ++number) readers_.push_back(make_reader());
    agree_on_rows();
    list_chunks();
    choose_windows();
    choose_owners();
    read();
    gathered own;
    guarded([&] { analyse(own.parts); });
    for (const reader& reader : readers_)
      for (const auto& [key, sums] : reader.copies) own.parts.copies[key].add(sums);
    for (const reader& reader : readers_)
      for (const auto& scan : reader.scans) own.bad.add(scan->bad());
    add_tables(own);
    own.failure = failure_;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    own.ranks.push_back({rank_, count_rows(), sent_bytes_, seconds.count(), 0});
    if (!bring_together(own)) return std::nullopt;
    if (!own.failure.empty()) throw error(own.failure, 0, "correct this and run it again: nothing was written");
    require_all_rows(own);
    return finish(std::move(own));
  }

 private:
  void add_tables(gathered& to) const {
    to.tables.resize(divided_.size());
    for (const reader& reader : readers_)
      for (std::size_t at = 0; at != reader.tables.size(); ++at) {
        to.tables[at].read += reader.tables[at].read;
        to.tables[at].counted += reader.tables[at].counted;
      }
  }

  // In a damaged tree, a search ends where rows seem to be missing, and SQLite reports no error.
  void require_all_rows(const gathered& all) const {
    for (std::size_t at = 0; at != divided_.size() && at != all.tables.size(); ++at) {
      const auto& [read, counted] = all.tables[at];
      if (read == counted) continue;
      const std::string& file = traces_.trace(divided_[at].trace).file();
      throw error(
          fmt::format("{}, table {}: {} of {} rows were found: the file is malformed", file,
                      readers_.front().scans[divided_[at].trace]->tables()[divided_[at].table].name, read, counted),
          file, 0, "the file is damaged or incomplete: export it again, or copy it again");
    }
  }

  reader make_reader() {
    reader made;
    for (std::size_t trace = 0; trace != traces_.size(); ++trace)
      made.scans.push_back(traces_.trace(trace).scan(subject_));
    made.names.resize(traces_.size());
    made.groups.resize(traces_.size());
    made.store = std::make_unique<span_store>(beyond_, request_.max_kept_bytes / threads_);
    made.outgoing.resize(size_);
    made.tables.resize(divided_.size());
    return made;
  }

  bool has_work() const {
    for (std::size_t trace = 0; trace != traces_.size(); ++trace) {
      const std::unique_ptr<trace_scan> scan = traces_.trace(trace).scan(scan_subject::device_work);
      bool has_any = false;
      if (!scan->may_have_spans()) continue;
      for (std::size_t table = 0; table != scan->tables().size(); ++table) {
        const sqlite_database::row_range& rows = scan->tables()[table].rows;
        // An adaptyst store has all events in one table, so its first rows are not typical of the others.
        visit_ranges(rows, chunk_rows(rows), [&](std::int64_t first, std::int64_t last) {
          if (!has_any)
            scan->scan(table, first, last,
                       [&](const scanned_span* /*spans*/, std::size_t count) { has_any = has_any || count != 0; });
        });
      }
      if (has_any) return true;
    }
    return false;
  }

  void choose_subject() {
    bool has_any = false;
    if (request_.chooses_by || settings_.by == variability_by::rank) {
      if (rank_ == 0) guarded([&] { has_any = has_work(); });
      has_any = broadcast_text(has_any ? "1" : "0") == "1";
    }
    if (request_.chooses_by) settings_.by = has_any ? variability_by::device : variability_by::region;
    switch (settings_.by) {
      case variability_by::device:
      case variability_by::kernel: subject_ = scan_subject::device_work; break;
      case variability_by::region: subject_ = scan_subject::regions; break;
      case variability_by::rank: subject_ = has_any ? scan_subject::process_work : scan_subject::regions; break;
    }
    settings_.has_regions = subject_ == scan_subject::regions;
  }

  // A store may grow during the read, so all ranks use the rows that rank 0 has found.
  void agree_on_rows() {
    std::string seen;
    for (const auto& scan : readers_.front().scans) {
      ranges_.emplace_back();
      for (const trace_scan::scanned_table& table : scan->tables()) {
        ranges_.back().push_back(table.rows);
        seen += fmt::format("{} {} ", table.rows.first, table.rows.last);
      }
      seen += "; ";
    }
    const std::string agreed = broadcast_text(seen);
    const char* at = agreed.c_str();
    for (std::vector<sqlite_database::row_range>& tables : ranges_) {
      for (sqlite_database::row_range& rows : tables) {
        char* end = nullptr;
        rows.first = std::strtoll(at, &end, 10);
        rows.last = std::strtoll(end, &end, 10);
        at = end;
      }
      const bool has_as_many = std::strncmp(at, " ; ", 3) == 0 || (tables.empty() && std::strncmp(at, "; ", 2) == 0);
      if (!has_as_many) return fail("ranks see different tables in the traces: each needs the same files");
      at = std::strchr(at, ';') + 2;
    }
  }

  // Sends the text of rank 0 to each rank.
  std::string broadcast_text(const std::string& text) {
    if (over_ == nullptr) return text;
    const std::optional<std::string> sent = broadcast(*over_, text, absent_);
    if (sent) return *sent;
    fail("rank 0 did not answer: it was killed or is too slow");
    return {};
  }

  // Each rank reads its share of each table. If rows are in order of time, these shares cover one period.
  void list_chunks() {
    std::vector<std::size_t> counts(size_);
    for (std::size_t trace = 0; trace != traces_.size(); ++trace)
      for (std::size_t table = 0; table != ranges_[trace].size(); ++table) {
        const sqlite_database::row_range& rows = ranges_[trace][table];
        std::vector<chunk> all;
        // A single reader reads a table from begin to end, without a search.
        const std::uint64_t readers = size_ == 1 ? threads_ : size_;
        visit_ranges(rows, readers == 1 ? std::max<std::uint64_t>(1, rows.size()) : shared_chunk_rows(rows, readers),
                     [&](std::int64_t first, std::int64_t last) {
                       all.push_back({trace, table, first, last, chunk::not_divided});
                     });
        if (all.size() > 1 && readers_.front().scans[trace]->may_skip_rows()) {
          for (chunk& chunk : all) chunk.divided = divided_.size();
          divided_.push_back({trace, table, rows.first, rows.last, divided_.size()});
        }
        for (std::size_t at = 0; at != all.size(); ++at) {
          const std::size_t owning_rank = at * size_ / all.size();
          ++counts[owning_rank];
          if (owning_rank == rank_) chunks_.push_back(all[at]);
        }
      }
    for (reader& reader : readers_) reader.tables.resize(divided_.size());
    last_chunk_ = chunks_.size();
    most_chunks_ = *std::max_element(counts.begin(), counts.end());
  }

  // Runs on all threads; the first failure is kept and stops the others.
  void in_threads(const std::function<void(unsigned)>& work) {
    const auto do_part = [&](unsigned number) { guarded([&] { work(number); }); };
    std::vector<std::thread> others;
    try {
      for (unsigned number = 1; number < threads_; ++number) others.emplace_back(do_part, number);
    } catch (const std::system_error&) {  // uses as many threads as the system permits
    }
    do_part(0);
    for (std::thread& thread : others) thread.join();
  }

  // A rank that fails still meets the others, because they would wait for it.
  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (const std::exception& failed) {
      fail(to_error(failed).what());
    }
  }

  void fail(const std::string& why) {
    const std::lock_guard<std::mutex> lock(failing_);
    if (failure_.empty()) failure_ = why;
    has_failed_ = true;
  }

  enum class with_counts { no, yes };
  void scan_chunks(std::size_t first, std::size_t last, with_counts counts,
                   const std::function<void(reader&, std::size_t trace, const scanned_span*, std::size_t)>& take) {
    std::atomic<std::size_t> next{first}, next_count{counts == with_counts::yes ? rank_ : divided_.size()};
    in_threads([&](unsigned number) {
      reader& reader = readers_[number];
      for (std::size_t at = next_count.fetch_add(size_); at < divided_.size() && !has_failed_;
           at = next_count.fetch_add(size_)) {
        const chunk& all = divided_[at];
        reader.tables[at].counted += reader.scans[all.trace]->count_rows(all.table, {all.first, all.last});
      }
      for (std::size_t at = next++; at < last && !has_failed_; at = next++) {
        const chunk& rows = chunks_[at];
        const std::uint64_t read = reader.scans[rows.trace]->scan(
            rows.table, rows.first, rows.last,
            [&](const scanned_span* spans, std::size_t count) { take(reader, rows.trace, spans, count); });
        if (rows.divided != chunk::not_divided) reader.tables[rows.divided].read += read;
      }
    });
  }

  // With a width, windows count from time 0 of the trace. With a number of windows, they span the first start to the
  // last end.
  void choose_windows() {
    if (request_.shards == 0) {
      grid_ = {0, request_.window_ns};
      return;
    }
    scan_chunks(first_chunk_, last_chunk_, with_counts::no,
                [this](reader& to, std::size_t trace, const scanned_span* spans, std::size_t count) {
                  const std::int64_t shift = traces_.shift_ns(trace);
                  for (std::size_t at = 0; at != count; ++at) {
                    const std::uint64_t start = spans[at].begin_ns + static_cast<std::uint64_t>(shift);
                    to.first_ns = std::min(to.first_ns, start);
                    to.last_ns = std::max(to.last_ns, spans[at].end_ns + static_cast<std::uint64_t>(shift));
                  }
                });
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
    for (reader& reader : readers_) {
      first = std::min(first, reader.first_ns);
      last = std::max(last, reader.last_ns);
      // Errors in rows are counted later, when the rows are read for the analysis.
      reader = make_reader();
    }
    agree(first, last);
    if (first > last) first = last = 0;
    grid_ = {first, std::max<std::uint64_t>(1, (last - first) / request_.shards + 1)};
  }

  // The minimum and maximum over all ranks.
  void agree(std::uint64_t& first, std::uint64_t& last) {
    if (over_ == nullptr) return;
    const auto pack = [&] { return fmt::format("{} {}", first, last); };
    const auto unpack = [](const std::string& text, std::uint64_t& low, std::uint64_t& high) {
      char* end = nullptr;
      low = std::strtoull(text.c_str(), &end, 10);
      high = std::strtoull(end, nullptr, 10);
    };
    reduction how;
    how.add = [&](const std::string& message) {
      std::uint64_t low = 0, high = 0;
      unpack(message, low, high);
      first = std::min(first, low);
      last = std::max(last, high);
    };
    how.on_missing = [this](std::uint32_t begin, std::uint32_t end) { on_missing(begin, end); };
    how.message = pack;
    reduce(*over_, how, absent_);
    if (const std::optional<std::string> all = broadcast(*over_, pack(), absent_)) unpack(*all, first, last);
    else fail("rank 0 sent no windows");
  }

  void on_missing(std::uint32_t begin, std::uint32_t end) {
    fail(end - begin == 1
             ? fmt::format("rank {} did not answer: it was killed or is too slow", begin)
             : fmt::format("ranks {} to {} did not answer: one was killed or is too slow", begin, end - 1));
  }

  // Rows are mostly in order of time. To send few spans, each rank owns a stretch of time that is similar to the rows
  // that it reads; samples give the borders. Rank 0 chooses the borders and the number of meetings, which must be the
  // same for all.
  void choose_owners() {
    if (size_ == 1) return;
    std::string chosen;
    if (rank_ == 0)
      guarded([&] {
        sample_owners();
        chosen = fmt::format("{}", chunks_in_step_);
        for (const std::uint64_t border : borders_) chosen += fmt::format(" {}", border);
      });
    const std::string sent = broadcast_text(chosen);
    borders_.clear();
    char* at = nullptr;
    // If rank 0 failed, its text is empty, and all ranks meet equally often with the default.
    chunks_in_step_ = std::max<std::uint64_t>(1, std::strtoull(sent.c_str(), &at, 10));
    while (*at == ' ') borders_.push_back(std::strtoull(at, &at, 10));
  }

  void sample_owners() {
    struct sample {
      std::uint64_t start, rows;  // `rows`: the number of rows that the sample represents
      std::uint64_t reader;       // the rank that reads these rows
    };
    std::vector<sample> samples;
    std::uint64_t all = 0;
    for (std::size_t trace = 0; trace != traces_.size(); ++trace) {
      trace_scan& scan = *readers_.front().scans[trace];
      for (std::size_t table = 0; table != ranges_[trace].size(); ++table) {
        const sqlite_database::row_range& rows = ranges_[trace][table];
        const std::uint64_t step = std::max<std::uint64_t>(1, rows.size() / samples_of_table);
        const std::uint64_t count = rows.size() / step + 1;
        std::uint64_t number = 0;
        visit_ranges(rows, step, [&](std::int64_t first_row, std::int64_t /*last_row*/) {
          const std::uint64_t reader = std::min<std::uint64_t>(number++ * size_ / count, size_ - 1);
          const std::optional<std::uint64_t> start = scan.start_near(table, first_row);
          if (!start) return;
          samples.push_back({*start + static_cast<std::uint64_t>(traces_.shift_ns(trace)), step, reader});
          all += step;
        });
      }
    }
    std::sort(samples.begin(), samples.end(), [](const sample& a, const sample& b) {
      return std::tie(a.start, a.rows, a.reader) < std::tie(b.start, b.rows, b.reader);
    });
    std::uint64_t below = 0, passed_on = 0;
    for (const sample& row_sample : samples) {
      const std::uint64_t block = row_sample.start < grid_.origin_ns ? 0 : grid_.block(row_sample.start);
      while (borders_.size() + 1 < size_ && below >= all / size_ * (borders_.size() + 1)) borders_.push_back(block);
      below += row_sample.rows;
      if (owner(block) != row_sample.reader) passed_on += row_sample.rows;
    }
    // With fewer meetings, ranks wait less for each other, but keep more spans.
    const std::uint64_t one_of = passed_on == 0 ? max_chunks_in_step : all / passed_on;
    chunks_in_step_ = std::clamp<std::uint64_t>(one_of, 1, max_chunks_in_step);
  }

  std::uint32_t owner(std::uint64_t block) const {
    return static_cast<std::uint32_t>(std::upper_bound(borders_.begin(), borders_.end(), block) - borders_.begin());
  }

  void put(reader& to, std::uint64_t block, const kept_span& span) {
    const std::uint32_t owning_rank = size_ == 1 ? 0 : owner(block);
    if (owning_rank == rank_) to.store->add(block, span);
    else to.outgoing[owning_rank].push_back(span);
  }

  // The block of a span from another rank: a rest begins at the begin of its block.
  std::uint64_t block(const kept_span& span) const { return grid_.block(span.start()); }

  void take(reader& to, std::size_t trace, const scanned_span* spans, std::size_t count) {
    to.rows += count;
    const auto shift = static_cast<std::uint64_t>(traces_.shift_ns(trace));
    number_cache& names = to.names[trace];
    number_cache& groups = to.groups[trace];
    const auto find_name = [&](std::uint64_t id) { return names_.find(to.scans[trace]->name(id)); };
    const auto find_group = [&](std::uint64_t id) {
      const auto number = static_cast<std::uint32_t>(id);
      return subject_ == scan_subject::device_work ? traces_.device(trace, number)
                                                   : traces_.group_of_process(trace, number);
    };
    const std::uint64_t width = grid_.block_ns();
    std::uint64_t begin = 1, end = 0, block = 0;  // of the current block
    for (std::size_t at = 0; at != count; ++at) {
      const scanned_span& span = spans[at];
      const std::uint32_t group = groups.find(span.group, find_group);
      if (span.is_copy) count_copy(to, group, span);
      if (span.is_copy && settings_.by == variability_by::kernel) continue;
      const std::uint32_t name =
          span.is_copy ? limit_bytes(span.name_or_bytes) : names.find(span.name_or_bytes, find_name);
      const std::uint64_t start = span.begin_ns + shift, stop = span.end_ns + shift;
      if (start < begin || start >= end) {
        block = grid_.block(start);
        begin = grid_.block_begin(block);
        end = begin + width;
      }
      put(to, block, {start, stop, name, group, span.is_copy ? span_role::copy : span_role::work});
      if (span.is_copy && name == kept_span::most_bytes) put_other_bytes(to, block, start, group, span.name_or_bytes);
      if (stop <= end) continue;
      if ((stop - end) / width >= max_pieces)
        throw error(fmt::format("a span of {} s covers more than {} windows", (stop - start) / 1'000'000'000,
                                max_pieces * window_grid::windows_in_block),
                    0, "choose larger windows with --window");
      std::uint64_t next = block + 1;
      for (std::uint64_t from = end; from < stop; from += width, ++next)
        put(to, next,
            span.is_copy ? kept_span{from, stop, 0, group, span_role::rest_of_copy}
                         : kept_span{from, stop, name, group, span_role::rest_of_work});
    }
  }

  static void count_copy(reader& to, std::uint32_t group, const scanned_span& span) {
    copy_sums& sums = to.copies[{group, span.direction}];
    ++sums.count;
    sums.time_ns += span.duration_ns();
    if (span.name_or_bytes > max_bytes_of_copy) sums.has_unknown_bytes = true;
    else sums.bytes += span.name_or_bytes;
  }

  static std::uint32_t limit_bytes(std::uint64_t bytes) {
    if (bytes > max_bytes_of_copy) return kept_span::unknown_bytes;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kept_span::most_bytes));
  }
  void put_other_bytes(reader& to, std::uint64_t block, std::uint64_t start, std::uint32_t group, std::uint64_t all) {
    for (std::uint64_t left = all - kept_span::most_bytes; left != 0;) {
      const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kept_span::most_bytes));
      put(to, block, {start, start, part, group, span_role::rest_of_copy});
      left -= part;
    }
  }

  void read() {
    const auto take_rows = [this](reader& to, std::size_t trace, const scanned_span* spans, std::size_t count) {
      take(to, trace, spans, count);
    };
    if (size_ == 1) return scan_chunks(first_chunk_, last_chunk_, with_counts::yes, take_rows);
    rank_exchange between(*over_, names_);
    // All ranks take the same number of steps, although some have a chunk less.
    const std::size_t step = threads_ * chunks_in_step_;
    const std::size_t steps = (most_chunks_ + step - 1) / step;
    std::vector<std::vector<kept_span>> outgoing(size_);
    for (std::size_t at = 0; at != steps; ++at) {
      const std::size_t first = std::min(first_chunk_ + at * step, last_chunk_);
      scan_chunks(first, std::min(first + step, last_chunk_), at == 0 ? with_counts::yes : with_counts::no, take_rows);
      for (reader& reader : readers_)
        for (std::uint32_t other = 0; other != size_; ++other) {
          if (outgoing[other].empty()) outgoing[other].swap(reader.outgoing[other]);
          else
            outgoing[other].insert(outgoing[other].end(), reader.outgoing[other].begin(), reader.outgoing[other].end());
          reader.outgoing[other].clear();
        }
      guarded([&] {
        between.swap(outgoing, [this](const kept_span& span) { readers_.front().store->add(block(span), span); });
      });
    }
    sent_bytes_ = between.bytes();
    for (const std::uint32_t other : between.absent()) on_missing(other, other + 1);
  }

  void analyse(variability_parts& to) {
    std::vector<std::uint64_t> blocks;
    for (const reader& reader : readers_) {
      const std::vector<std::uint64_t> store_blocks = reader.store->blocks();
      blocks.insert(blocks.end(), store_blocks.begin(), store_blocks.end());
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    if (blocks.size() > span_store::max_blocks) span_store::refuse_blocks();
    std::vector<variability_parts> parts(threads_);
    std::atomic<std::size_t> next{0};
    in_threads([&](unsigned number) {
      const std::size_t max_spans = std::max<std::size_t>(min_spans_at_once, max_spans_at_once / threads_);
      spilled_numbers durations(beyond_);
      block_analysis analysis(grid_, settings_.by_name(), &durations, max_spans);
      std::vector<kept_span> spans;
      for (std::size_t at = next++; at < blocks.size() && !has_failed_; at = next++) {
        const std::uint64_t block = blocks[at];
        std::uint64_t all = 0;
        for (const reader& reader : readers_) all += reader.store->count(block);
        if (all > max_spans) {
          sorted_spans sorted(beyond_, settings_.by_name(), max_spans);
          for (reader& reader : readers_)
            reader.store->take(block, [&](const kept_span* some, std::size_t count) { sorted.add(some, count); });
          analysis.begin(block, parts[number]);
          sorted.visit([&](const kept_span& span) { analysis.take(span); });
          analysis.end();
          continue;
        }
        spans.clear();
        spans.reserve(static_cast<std::size_t>(all));
        for (reader& reader : readers_)
          reader.store->take(
              block, [&](const kept_span* some, std::size_t count) { spans.insert(spans.end(), some, some + count); });
        analysis.add(block, spans, parts[number]);
      }
    });
    // The results need the memory.
    for (reader& reader : readers_) reader.store.reset();
    for (variability_parts& part : parts) to.add(std::move(part));
  }

  // Returns true at rank 0.
  bool bring_together(gathered& own) {
    const auto note_memory = [&] { own.ranks.front().peak_rss_bytes = own_peak_rss_bytes(); };
    if (over_ == nullptr) {
      note_memory();
      return true;
    }
    reduction how;
    how.add = [&](const std::string& message) { add_parts(message, own, names_); };
    how.on_missing = [&](std::uint32_t begin, std::uint32_t end) {
      on_missing(begin, end);
      if (own.failure.empty()) own.failure = failure_;
    };
    how.message = [&] {
      note_memory();
      return write_parts(own, names_);
    };
    if (!reduce(*over_, how, absent_)) return false;
    note_memory();
    return true;
  }

  variability_result finish(gathered own) {
    variability_groups groups;
    if (subject_ != scan_subject::device_work) {
      const auto describe = [&](std::uint32_t group) {
        if (groups.count(group) == 0) groups.emplace(group, traces_.describe_group(group));
      };
      for (const auto& [key, sums] : own.parts.names) describe(static_cast<std::uint32_t>(key >> 32U));
      if (!settings_.by_name())
        for (const window_row& row : own.parts.windows) describe(row.group);
    } else {
      for (const auto& [device, rank] : traces_.user_ranks())
        groups.emplace(device, variability_group{variability_group::kind::device, device, {}, {}, rank});
    }
    variability_result made =
        find_variability(std::move(own.parts), names_.texts(), grid_, settings_, std::move(groups));
    made.uuids = traces_.uuids();
    for (std::size_t trace = 0; trace != traces_.size(); ++trace)
      made.traces.push_back(fmt::format("{}: {}", traces_.trace(trace).file(), traces_.trace(trace).describe()));
    made.is_simulated = traces_.is_simulated();
    const std::vector<std::string> of_traces = traces_.remarks();
    made.remarks.insert(made.remarks.begin(), of_traces.begin(), of_traces.end());
    if (made.efficiency) made.host_efficiency = read_host_efficiencies(traces_, *made.efficiency, made.remarks);
    if (std::string sent = own.bad.text(); !sent.empty()) made.remarks.push_back(std::move(sent));
    if (made.windows.empty()) made.remarks.emplace_back("these traces contain nothing to analyse");
    std::sort(own.ranks.begin(), own.ranks.end(),
              [](const rank_work& a, const rank_work& b) { return a.rank < b.rank; });
    made.ranks = std::move(own.ranks);
    return made;
  }

  std::uint64_t count_rows() const {
    std::uint64_t sum = 0;
    for (const reader& reader : readers_) sum += reader.rows;
    return sum;
  }

  const variability_request& request_;
  rank_transport* over_;
  std::uint32_t rank_, size_;
  trace_set traces_;
  unsigned threads_ = 1;
  variability_settings settings_;
  scan_subject subject_ = scan_subject::device_work;
  name_table names_;
  spill_file beyond_;
  std::vector<reader> readers_;                                  // by thread
  std::vector<std::vector<sqlite_database::row_range>> ranges_;  // by trace and table
  std::vector<chunk> divided_;                                   // tables with several chunks, each as one chunk
  std::vector<chunk> chunks_;
  std::size_t first_chunk_ = 0, last_chunk_ = 0;  // the chunks of this rank; only these are listed
  std::size_t most_chunks_ = 0;                   // the maximum over all ranks
  window_grid grid_;
  std::vector<std::uint64_t> borders_;  // the first block of rank 1 and of each later rank
  std::uint64_t chunks_in_step_ = 1;    // of a thread, between two meetings of the ranks
  absent_ranks absent_;
  std::uint64_t sent_bytes_ = 0;
  std::mutex failing_;
  std::string failure_;
  std::atomic<bool> has_failed_{false};
};

}  // namespace

std::optional<variability_result> run_variability(const variability_request& request, rank_transport* over) {
  return variability_run(request, over).run();
}

}  // namespace adaptyst::lib
