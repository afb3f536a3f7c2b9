// Walks over the recorders of a process and their rows. A process may be damaged or malicious: its list may be
// circular, and its numbers may have any value.
#ifndef ADAPTYST_LIB_RECORDER_RECORDER_LIST_HPP
#define ADAPTYST_LIB_RECORDER_RECORDER_LIST_HPP

#include <adaptyst/detail/clock.hpp>
#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

// Calls visit(address) for each recorder; visit() returns the address of the next one, or 0 at the end.
template <class Visit>
void for_each_recorder(std::uint64_t first, Visit&& visit) {
  std::unordered_set<std::uint64_t> visited;
  while (first != 0 && visited.size() != detail::max_recorders && visited.insert(first).second) first = visit(first);
}

// Reads the head of the store; false: there is no store, or it has another version.
inline bool read_store(const process_state& state, detail::store_head& store) {
  return state.address != 0 && has_same_layout(state) && state.in->read(state.address, store);
}

// Walks over the rows of all recorders by chunks. Limits the number of rows and, for another process, the time.
class row_walk {
 public:
  row_walk(const memory& in, std::size_t max_rows, std::uint64_t max_ns)
      : is_foreign_(&in != &own_memory()), max_rows_(max_rows), max_ns_(max_ns) {}

  bool is_late() const { return is_foreign_ && detail::monotonic_ns() - begun_ns_ > max_ns_; }

  // For each recorder, enter(address, head) reads the head and returns the number of its rows, or nothing if it cannot
  // be read. Then visit(recorder, chunk, first, count) is called with addresses and numbers of rows.
  template <class Enter, class Visit>
  void go(std::uint64_t first_recorder, Enter&& enter, Visit&& visit) {
    for_each_recorder(first_recorder, [&](std::uint64_t at) -> std::uint64_t {
      detail::recorder_head head{};
      if (is_over()) return 0;
      const std::optional<std::size_t> rows = enter(at, head);
      if (!rows) return 0;
      for (std::size_t first = 0; first < *rows && !is_over(); first += detail::rows_per_chunk) {
        const std::uint64_t chunk = as_address(head.chunks[first / detail::rows_per_chunk]);
        if (!chunks_.insert(chunk).second) continue;  // damaged: a chunk belongs to one recorder
        const std::size_t count = std::min<std::size_t>(detail::rows_per_chunk, *rows - first);
        rows_read_ += count;
        visit(at, chunk, first, count);
      }
      return as_address(head.next);
    });
  }

 private:
  bool is_over() const { return rows_read_ >= max_rows_ || is_late(); }

  const bool is_foreign_;
  const std::size_t max_rows_;
  const std::uint64_t max_ns_, begun_ns_ = detail::monotonic_ns();
  std::size_t rows_read_ = 0;
  std::unordered_set<std::uint64_t> chunks_;
};

// Calls visit(recorder, row) for the rows of the current epoch, each with the address of its recorder.
template <class Visit>
void for_each_row(const process_state& state, const detail::store_head& store, Visit&& visit) {
  std::vector<detail::row> rows;
  const auto enter = [&](std::uint64_t at, detail::recorder_head& head) -> std::optional<std::size_t> {
    if (!state.in->read(at, head)) return std::nullopt;
    return head.epoch == store.epoch ? std::min(head.rows_used, detail::max_rows) : 0;
  };
  row_walk(*state.in, 1 << 20, 200'000'000)
      .go(as_address(store.recorders), enter,
          [&](std::uint64_t at, std::uint64_t chunk, std::size_t, std::size_t count) {
            rows.resize(count);
            if (!state.in->read(chunk, rows.data(), rows.size() * sizeof rows[0])) return;
            for (const detail::row& row : rows) visit(at, row);
          });
}

}  // namespace adaptyst::lib

#endif
