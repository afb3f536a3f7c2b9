// Reads the recorders of a process while their threads write them.
#ifndef ADAPTYST_LIB_RECORDER_RECORDER_READER_HPP
#define ADAPTYST_LIB_RECORDER_RECORDER_READER_HPP

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../profile/measured.hpp"
#include "memory.hpp"

namespace adaptyst::lib {

// Where in the memory of a process its recorders are.
struct process_state {
  const memory* in;
  std::uint64_t address;               // of detail::recorder_store; 0: no marker was awake yet
  std::vector<std::uint64_t> objects;  // addresses of the control blocks
  std::uint64_t process = 0;           // of detail::process, where it may be written to; else 0
};

// That of this process, as it is now, by the address of its detail::process.
process_state own_state(std::uint64_t process);
// Of another's memory; 0: it cannot be read, or there is none.
std::uint64_t find_store(const memory& in, std::uint64_t process);

// Keeps what it has read: reading again costs next to nothing for rows that have not changed, and what was read last is
// there when the process is not.
class recorder_reader {
 public:
  // `longest_look_ns`: at another process, which may lie; what it keeps from being read is counted as lost.
  explicit recorder_reader(std::uint64_t longest_look_ns = 10'000'000'000) : longest_look_ns_(longest_look_ns) {}
  ~recorder_reader() { return_bytes(bytes_); }
  recorder_reader(const recorder_reader&) = delete;
  recorder_reader& operator=(const recorder_reader&) = delete;

  // Reads what has changed. Each recorder's account is of one moment; rows are read one by one, so beside running
  // threads their sum may be some events ahead of it. Whatever is damaged is left out.
  void update(const process_state& state);
  // All rows and the account of the epoch that was read last.
  const measured& result() const noexcept { return sum_; }
  // How many threads have recorded something; one that took over the recorder of a dead thread counts with it. Empty:
  // nothing could be read.
  std::optional<std::uint32_t> threads() const noexcept;
  // The paths whose rows are no longer what they were when this was last called; those whose rows are gone are among
  // them.
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
    std::uint64_t open = 0;  // begun less ended here, modulo 2^64
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
    measured_row* sum = nullptr;  // of them; null: there is none
    bool changed = false;         // since it was added up
  };

  static std::size_t bytes_in(const kept_row& row);
  static void add(measured_row& to, const kept_row& from);
  // What rows of this process, and of all that are looked at from here, may take of our memory; false: no more.
  bool reserve_bytes(std::size_t more) noexcept;
  void return_bytes(std::size_t bytes) noexcept;

  void note_change(kept_path& path);
  // Of the rows, those that are noted as changed; of the account, all.
  void sum_up();
  void forget_places();

  measured sum_;
  std::map<std::uint64_t, kept_recorder> recorders_;      // by address
  std::unordered_map<std::uint64_t, kept_path> by_path_;  // by id
  std::vector<kept_path*> outdated_;
  path_set changed_;
  std::size_t rows_kept_ = 0;  // of all of them
  std::size_t bytes_ = 0;      // that these take
  std::uint64_t longest_look_ns_;
  bool was_late_ = false;  // at the last look
  std::uint64_t epoch_ = 0;
  bool was_read_ = false;
  std::uint64_t unrecorded_ = 0;
};

// The same, once.
measured read_recorders(const process_state& state);

// Whether the state was laid out by headers like those that this was compiled with; so it is where there is none yet.
bool has_known_layout(const process_state& state);

}  // namespace adaptyst::lib

#endif
