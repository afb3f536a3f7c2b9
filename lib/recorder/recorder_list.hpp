// The recorders of a process, one after the other, and their rows. A process may be damaged or malicious: its list may
// lead in a circle, and its numbers may be any.
#ifndef ADAPTYST_LIB_RECORDER_RECORDER_LIST_HPP
#define ADAPTYST_LIB_RECORDER_RECORDER_LIST_HPP

#include <adaptyst/detail/clock.hpp>
#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
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

// The head of the store; false: there is none, or it is of another version.
inline bool read_store(const process_state& state, detail::store_head& store) {
  return state.address != 0 && has_known_layout(state) && state.in->read(state.address, store);
}

// Calls visit(recorder, row) for the rows of the epoch that runs, each with the address of its recorder. Reads a bounded
// number of them, from another process for a bounded time.
template <class Visit>
void for_each_row(const process_state& state, const detail::store_head& store, Visit&& visit) {
  constexpr std::size_t max_rows_read = 1 << 20;
  constexpr std::uint64_t max_ns = 200'000'000;
  const std::uint64_t begun_ns = detail::monotonic_ns();
  std::size_t rows_read = 0;
  std::vector<detail::row> rows;
  const auto is_over = [&] {
    return rows_read >= max_rows_read || (state.in != &own_memory() && detail::monotonic_ns() - begun_ns > max_ns);
  };
  for_each_recorder(as_address(store.recorders), [&](std::uint64_t at) -> std::uint64_t {
    detail::recorder_head head{};
    if (is_over() || !state.in->read(at, head)) return 0;
    const std::size_t used = head.epoch == store.epoch ? std::min(head.rows_used, detail::max_rows) : 0;
    for (std::size_t first = 0; first < used && !is_over(); first += rows.size()) {
      rows.resize(std::min<std::size_t>(detail::rows_per_chunk, used - first));
      rows_read += rows.size();
      const std::uint64_t chunk = as_address(head.chunks[first / detail::rows_per_chunk]);
      if (!state.in->read(chunk, rows.data(), rows.size() * sizeof rows[0])) break;
      for (const detail::row& row : rows) visit(at, row);
    }
    return as_address(head.next);
  });
}

}  // namespace adaptyst::lib

#endif
