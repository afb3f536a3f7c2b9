// Reads the rings in which the threads of a process keep their events, and makes room in them.
#ifndef ADAPTYST_LIB_RECORDER_TRACE_READER_HPP
#define ADAPTYST_LIB_RECORDER_TRACE_READER_HPP

#include <adaptyst/detail/recorder.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "../model/traced_event.hpp"
#include "clock_track.hpp"
#include "foreign_bytes.hpp"
#include "memory.hpp"
#include "recorder_reader.hpp"

namespace adaptyst::lib {

class trace_reader {
 public:
  using clock_reading = clock_pair (*)() noexcept;

  explicit trace_reader(const process_state& state, clock_reading now = read_clock_pair) : of_(state), now_(now) {}

  using taker = std::function<void(const traced_event&)>;

  // Longest time of one read of another process, which may be damaged or malicious; the next read continues.
  void limit(std::uint64_t max_poll_ns) noexcept { max_poll_ns_ = max_poll_ns; }

  // Hands over all events since the last read, each thread's in the order in which they ended. `state`: the current
  // state of the same process. False: not all rings could be found and read, so events may be missing; see also
  // waiting() and lost().
  bool read(const process_state& state, const taker& visit);
  bool read(const taker& visit) { return read(of_, visit); }

  // A scope that a thread is in, by its row.
  struct open_scope {
    std::uint64_t begin;  // timestamp: see to_our_clock()
    std::uint64_t path;   // id of its call path; 0: unknown
  };
  using open_scopes = std::map<std::uint32_t, std::vector<open_scope>>;  // by thread, in any order
  // Reads the open scopes of the threads in `threads`; also after the end of the process, if its store is held. Scopes
  // that end during the call are in a later read(). False: some could not be read, or there are too many.
  bool read_open(const process_state& state, open_scopes& threads);
  // Valid after the first read().
  std::uint64_t to_our_clock(std::uint64_t timestamp) const noexcept;

  // The number of entries that the last read left.
  std::uint64_t waiting() const;
  std::uint64_t events() const noexcept { return events_; }
  // Events without room in a ring, or without memory for a ring, there or here; and those for which the last read had
  // no time.
  std::uint64_t lost() const;
  // Events skipped by event sampling for an overhead budget, which are in no ring.
  std::uint64_t sampled_out() const;

 private:
  struct ring_state {
    std::uint64_t head = 0;          // at this read
    std::uint64_t tail = 0;          // end of the entries already read
    std::uint64_t written_tail = 0;  // the last tail written back
    std::uint64_t lost = 0;
    std::uint64_t sampled_out = 0;
    std::uint64_t waiting = 0;   // entries that the last read left
    bool has_operation = false;  // the last entry was the first half of an operation; the second half follows
    traced_event operation;
  };

  bool is_late() const noexcept;
  // Finds its ring, and returns the next recorder's address.
  std::uint64_t find_ring(std::uint64_t recorder, std::uint64_t epoch);
  void read_ring(std::uint64_t address, ring_state& state, const taker& visit);
  void write_tail(std::uint64_t address, ring_state& ring);
  void take(const detail::trace_entry& entry, ring_state& from, const taker& visit);
  const traced_site* find_site(std::uint64_t path, std::uint32_t max_above = detail::max_depth);

  process_state of_;
  clock_reading now_;
  clock_track clock_;
  bool counts_ticks_ = false;
  std::unordered_map<std::uint64_t, ring_state> rings_;
  foreign_bytes bytes_;  // for these, and for data that the writer of a file keeps of a site
  std::uint64_t without_memory_ = 0, max_without_memory_ = 0;  // rings, in this read and the maximum of one read
  std::size_t first_ = 0;                                 // first ring of the next read, among those that are filled
  std::vector<std::uint64_t> filled_;                     // rings with events in this read
  std::unordered_map<std::uint64_t, traced_site> sites_;  // by their paths; never moved
  std::vector<detail::trace_entry> entries_;
  std::uint64_t events_ = 0;
  bool has_all_rings_ = true;  // in this read
  std::uint64_t left_ = 0;     // entries that this read may still take
  std::uint64_t max_poll_ns_ = 100'000'000;
  std::uint64_t end_ns_ = 0;  // of this read
};

}  // namespace adaptyst::lib

#endif
