// Reads the recorders of a process while their threads write them.
#ifndef ADAPTYST_LIB_RECORDER_RECORDER_READER_HPP
#define ADAPTYST_LIB_RECORDER_RECORDER_READER_HPP

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/context.hpp"
#include "../model/measurements.hpp"
#include "foreign_bytes.hpp"
#include "memory.hpp"

namespace adaptyst::lib {

// The place of a process's recorders in its memory.
struct process_state {
  const memory* in;
  std::uint64_t address;               // of detail::recorder_store; 0: no marker was enabled yet
  std::vector<std::uint64_t> objects;  // addresses of the control blocks
  std::uint64_t process = 0;           // of detail::process, if it may be written to; else 0
  std::int64_t clock_lead_ns = 0;      // see find_clock_lead_ns()
  bool is_clock_known = true;          // false: the lead is unknown
};

// The state of this process as it is now; `process`: the address of its detail::process.
process_state own_state(std::uint64_t process);
// The address of the store in the memory of another process; 0: it cannot be read, or there is none.
std::uint64_t find_store(const memory& in, std::uint64_t process);

// Keeps the rows that it has read. A repeated read costs almost nothing for unchanged rows, and the last rows remain
// after the process has ended.
class recorder_reader {
 public:
  // `max_poll_ns`: longest time of one poll() for another process, which may be damaged or malicious. Rows that could
  // not be read in time are counted as lost.
  explicit recorder_reader(std::uint64_t max_poll_ns = 10'000'000'000) : max_poll_ns_(max_poll_ns) {}
  ~recorder_reader() = default;
  recorder_reader(const recorder_reader&) = delete;
  recorder_reader& operator=(const recorder_reader&) = delete;

  void limit(std::uint64_t max_poll_ns) noexcept { max_poll_ns_ = max_poll_ns; }

  // Reads the changes. The account of a recorder is read as a whole, its rows separately while threads continue. The
  // sum of the rows may therefore be some events ahead of the account. Damaged parts are ignored.
  void poll(const process_state& state);
  // Notes that there is no time for a poll(): the earlier data stays, and one event is counted as lost.
  void note_late();
  // Whether the last poll() ran out of time.
  bool was_late() const noexcept { return was_late_; }
  // All rows and the account of the epoch that was last read.
  const measurements& result() const noexcept { return sum_; }
  // Number of threads that have recorded an event. A thread that has taken over the recorder of an ended thread is not
  // counted again. Empty: nothing could be read.
  std::optional<std::uint32_t> threads() const noexcept;
  // Threads with announced recorders that are not among these, and their run times; see context_probes.
  unannounced_threads find_unannounced(std::int64_t process, const announced_recorders& announced) const;
  // Paths with rows that have changed or disappeared since the last call.
  path_set take_changed() { return std::exchange(changed_, {}); }

 private:
  // Small, as there may be a million.
  struct kept_row {
    std::uint64_t path = 0;
    const measured_site* site = nullptr;  // null: not named yet
    std::uint64_t count = 0, total_ns = 0, self_ns = 0, excess_ns = 0, min_ns = ~std::uint64_t{0}, max_ns = 0;
    std::uint64_t left_out = 0;
    double count_variance = 0, total_variance = 0;
    std::uint32_t threads = 0;
    std::uint32_t first_bucket = 0;
    std::vector<std::uint64_t> buckets;
    std::vector<attribute> attributes;
  };
  struct kept_recorder {
    std::uint64_t epoch = 0;
    account accounting;
    std::uint64_t open = 0;          // begun less ended here, modulo 2^64
    std::uint64_t refused_rows = 0;  // rows without a valid call path
    std::vector<kept_row> rows;
  };
  class pass;
  struct place {
    const kept_recorder* in;
    std::size_t at;
  };
  struct kept_path {
    std::uint64_t id = 0;
    std::vector<place> places;    // its rows
    std::size_t buckets = 0;      // of their durations, for which memory is reserved
    measured_row* sum = nullptr;  // of these rows; null: there is none
    bool changed = false;         // since the last sum
  };

  static std::size_t bytes_in(const kept_row& row);
  static void add(measured_row& sum, const kept_row& from);
  void note_change(kept_path& path);
  // Adds up the changed rows, and the whole account.
  void sum_up();
  void forget_places();

  measurements sum_;
  std::map<std::uint64_t, kept_recorder> recorders_;      // by address
  std::unordered_map<std::uint64_t, kept_path> by_path_;  // by id
  std::vector<kept_path*> outdated_;
  path_set changed_;
  std::size_t rows_kept_ = 0;  // in all recorders
  foreign_bytes bytes_;        // for rows, for sums and regions made from them, and for the text of a profile
  std::uint64_t max_poll_ns_;
  bool was_late_ = false;
  bool was_cut_ = false;  // the last poll() had no memory for further recorders
  std::uint64_t epoch_ = 0;
  bool was_read_ = false;
  std::uint64_t unrecorded_ = 0;
};

// Reads the recorders once.
measurements read_recorders(const process_state& state);

// Whether the program was compiled with headers of the same layout as this library; true also if it has no state yet.
bool has_same_layout(const process_state& state);

}  // namespace adaptyst::lib

#endif
