// Spans of an event log, by the byte positions of their blocks: each block is readable without the earlier ones.
#ifndef ADAPTYST_LIB_TRACE_EVENT_LOG_SCAN_HPP
#define ADAPTYST_LIB_TRACE_EVENT_LOG_SCAN_HPP

#include <optional>
#include <string>
#include <vector>

#include "event_log_reader.hpp"
#include "trace_input.hpp"

namespace adaptyst::lib {

// Calls visit(event, its byte position) for the events in blocks from `begin` up to `end`. Throws error.
template <class Visit>
void visit_events(event_log_blocks& from, std::uint64_t begin, std::uint64_t end, std::uint64_t sites,
                  const Visit& visit) {
  logged_event event;
  while (begin < end) {
    const auto block = from.find(begin);
    if (!block) throw_damaged(from.file(), begin, "the file became shorter while it was read");
    event_log_cursor records(from.file(), *block, from.read(*block));
    while (!records.is_at_end()) {
      const std::uint64_t at = records.offset();
      const std::uint8_t first = records.byte();
      if (!is_event_or_place(first)) records.skip(static_cast<log_record>(first));
      else if (records.read_event(first, sites, event)) visit(event, at);
    }
    begin = block->next();
  }
}

// The times of the event at that byte. Empty: invalid times; the event is counted in `bad`.
std::optional<time_span> take_logged_span(bad_rows& bad, const std::string& file, std::uint64_t at,
                                          const logged_event& event, std::int64_t shift_ns = 0);

class event_log_scan final : public trace_scan {
 public:
  event_log_scan(const event_log_reader& from, scan_subject what);

  const std::vector<scanned_table>& tables() const override { return tables_; }
  // Rows are byte positions: reads blocks that begin between `first` and `last`.
  std::uint64_t scan(std::size_t table, std::int64_t first, std::int64_t last, const taker& to) override;
  bool may_have_spans() const override;
  std::optional<std::uint64_t> start_near(std::size_t table, std::int64_t row) override;
  std::string name(std::uint64_t id) override;

 private:
  // The first block that begins at or after this byte; otherwise the end.
  std::uint64_t find_block(std::int64_t from);

  const event_log_reader& from_;
  scan_subject what_;
  event_log_blocks blocks_;  // has a separate descriptor
  std::vector<scanned_table> tables_;
  std::vector<scan_role> roles_;                           // by site
  std::vector<std::optional<copy_direction>> directions_;  // the same
  std::vector<scanned_span> some_;
};

}  // namespace adaptyst::lib

#endif
