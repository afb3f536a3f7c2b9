// Spans of an export of Nsight Systems, by ranges of rows, because no table has an index on time.
#ifndef ADAPTYST_LIB_TRACE_NSYS_SCAN_HPP
#define ADAPTYST_LIB_TRACE_NSYS_SCAN_HPP

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "nsys_reader.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

class nsys_scan final : public trace_scan {
 public:
  nsys_scan(const nsys_reader& from, scan_subject what);

  const std::vector<scanned_table>& tables() const override { return tables_; }
  std::uint64_t scan(std::size_t table, std::int64_t first, std::int64_t last, const taker& to) override;
  bool may_skip_rows() const override { return true; }
  std::uint64_t count_rows(std::size_t table, const sqlite_database::row_range& all) override;
  std::optional<std::uint64_t> start_near(std::size_t table, std::int64_t row) override;
  std::string name(std::uint64_t id) override;

 private:
  enum class kind { kernels, graphs, copies, ranges };
  void add(const char* name, kind what);
  std::uint32_t find_group(std::int64_t global, std::int64_t context, std::int64_t device);
  void add_work(kind what, const taken_row& row, const row_place& place);
  void add_range(const taken_row& row, const row_place& place);

  const nsys_reader& from_;
  scan_subject what_;
  sqlite_database in_;  // a separate connection
  text_list strings_;
  std::vector<scanned_table> tables_;
  std::vector<kind> kinds_;
  std::vector<std::unique_ptr<row_taker>> rows_;          // by table, after its first scan
  std::vector<std::optional<sqlite_statement>> nearest_;  // by table, after the first query for a start
  std::vector<scanned_span> some_;
  // Texts in the rows.
  std::unordered_map<std::string, std::uint64_t> texts_;
  std::deque<std::string> listed_texts_;
  struct known_group {
    std::int64_t global = -1, context = -1, device = -1;
    std::uint32_t group = 0;
  };
  std::array<known_group, 16> known_groups_;  // by context: few are active at a time
};

}  // namespace adaptyst::lib

#endif
