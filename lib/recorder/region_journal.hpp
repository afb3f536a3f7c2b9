// The innermost region of a thread at an earlier time: from the ended scopes in the rings of a timeline, and from the
// scopes that were open before these were read.
//
//   journal.begin(reader, state, threads);        // reads the open scopes
//   all = reader.read(state, [&](event) { journal.add(event); });
//   journal.end(reader, all);
//   journal.find(thread, time_ns)                 // for times before begin()
//   journal.forget(until_ns);
//
// A scope that contains a time has either ended before the rings were read, or was open in begin(). A scope that began
// during begin() does not contain an earlier time. Events that an overhead budget skips are in neither: the result is
// then a region around them.
#ifndef ADAPTYST_LIB_RECORDER_REGION_JOURNAL_HPP
#define ADAPTYST_LIB_RECORDER_REGION_JOURNAL_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "../model/traced_event.hpp"
#include "trace_reader.hpp"

namespace adaptyst::lib {

class region_journal {
 public:
  // `threads`: the threads of the later searches.
  void begin(trace_reader& reader, const process_state& state, const std::set<std::uint32_t>& threads);
  void add(const traced_event& event);
  // `is_complete`: see trace_reader::read().
  void end(const trace_reader& reader, bool is_complete);

  // Id of the path; 0: outside all regions. Empty: unknown, because events are missing.
  std::optional<std::uint64_t> find(std::uint32_t thread, std::uint64_t time_ns) const;
  // False: the last read of the rings left events, so times are searched after a later one.
  bool is_ready() const noexcept { return !is_behind_; }
  // Forgets the scopes that ended earlier; the regions of earlier times are then unknown.
  void forget(std::uint64_t until_ns);
  // The regions of earlier times are unknown, because their scopes were not read.
  void start_at(std::uint64_t time_ns) noexcept { missing_ns_ = std::max(missing_ns_, time_ns); }
  // Number of ended scopes that are kept, and its limit; scopes beyond are missing.
  std::size_t kept() const noexcept { return kept_; }
  void limit(std::size_t max_kept) noexcept { max_kept_ = max_kept; }

 private:
  struct ended_scope {
    std::uint64_t begin_ns, end_ns, path;
  };
  struct thread_scopes {
    std::vector<ended_scope> ended;     // by end
    std::vector<std::uint64_t> begins;  // the earliest begin in each block of these
    std::vector<ended_scope> open;      // as of begin(), without ends

    void note_begin(std::size_t at);
  };

  std::unordered_map<std::uint32_t, thread_scopes> threads_;
  trace_reader::open_scopes open_;
  std::size_t kept_ = 0;  // ended scopes of all threads
  std::size_t max_kept_ = std::size_t{1} << 20;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t lost_ = 0;        // events, at the last end()
  std::uint64_t missing_ns_ = 0;  // the scopes until then are incomplete
  bool is_behind_ = false;        // the last read left events
  bool is_open_known_ = true;
};

}  // namespace adaptyst::lib

#endif
