// Estimates numbers of events from short windows. Time is divided into blocks; each block has one window, which begins at
// a random time of the block. The events in the window count for the whole block. Only computes.
//
// The estimate has no bias, since a program cannot foresee the windows. The last block ends with the program: if its
// window has not opened, the previous window counts for this block. The differences of successive windows give the
// error: events come in bursts, and each burst counts once for any number of events. If a program changes between blocks
// for other reasons, the error is too large, not too small.
#ifndef ADAPTYST_LIB_KERNEL_WINDOW_SAMPLING_HPP
#define ADAPTYST_LIB_KERNEL_WINDOW_SAMPLING_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

namespace adaptyst::lib {

// A shorter window would cost less than attaching and detaching.
constexpr std::uint64_t window_ns = 10'000'000;

inline std::uint64_t increase(std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); }

// Events in all windows so far, and for each of them the number of events that its thread had in the same window before.
struct window_count {
  std::uint64_t events = 0, earlier = 0;
};
using path_counts = std::unordered_map<std::uint64_t, window_count>;

struct window_lengths {
  std::uint64_t block_ns = 0, open_ns = 0;
  double delay_ns = 0;  // by which an event is longer while the window is open
};

// The times of a block and its window, on the monotonic clock. The caller opens and closes the window when that is due;
// all delays are part of the window's measured length.
class window_block {
 public:
  explicit window_block(std::uint64_t seed) : random_(seed) {}

  // Ends the last block. `windows`: the length of the next one, in windows.
  void begin(std::uint64_t now_ns, unsigned windows);
  // Tries again later: the window could not be opened. The block becomes longer.
  void defer(std::uint64_t now_ns);
  // Exactly at opens_ns(), or as soon as possible: calls at regular times would meet a periodic program at few of its
  // times.
  bool must_open(std::uint64_t now_ns) const { return opened_ns_ == 0 && now_ns >= opens_ns_; }
  std::uint64_t opens_ns() const { return opens_ns_; }
  void open(std::uint64_t now_ns) { opened_ns_ = now_ns; }
  bool is_open() const { return opened_ns_ != 0 && closed_ns_ == 0; }
  bool must_close(std::uint64_t now_ns) const { return is_open() && now_ns >= opened_ns_ + window_ns; }
  void close(std::uint64_t now_ns);
  // Moves the end of the block to `now_ns` if that is later.
  void extend(std::uint64_t now_ns) { ends_ns_ = std::max(ends_ns_, now_ns); }
  bool has_ended(std::uint64_t now_ns) const { return closed_ns_ != 0 && now_ns >= ends_ns_; }

  std::uint64_t ends_ns() const { return ends_ns_; }
  // When the window opens or closes, or the block ends, whichever is next.
  std::uint64_t next_ns() const {
    if (opened_ns_ == 0) return opens_ns_;
    return closed_ns_ == 0 ? opened_ns_ + window_ns : ends_ns_;
  }
  // Whether there was enough of a window for an estimate.
  bool is_usable(std::uint64_t now_ns) const { return opened_ns_ != 0 && open_length_ns(now_ns) >= window_ns / 2; }
  // If the block, and its window, end now or have ended.
  std::uint64_t length_ns(std::uint64_t now_ns) const;
  std::uint64_t open_length_ns(std::uint64_t now_ns) const;

 private:
  std::mt19937_64 random_;
  std::uint64_t begun_ns_ = 0, ends_ns_ = 0, opens_ns_ = 0;
  std::uint64_t opened_ns_ = 0, closed_ns_ = 0;  // 0: not yet
};

// A window costs its time at once, and a budget would take that for a lasting rate. Counts the cost of a block evenly over
// the time of the next one.
class even_cost {
 public:
  // At the end of a block. `total_ns`: the cost so far, all of which is counted after `over_ns`.
  void end_block(std::uint64_t now_ns, std::uint64_t total_ns, std::uint64_t over_ns);
  // The part of the total that is not counted yet.
  std::uint64_t left_ns(std::uint64_t now_ns) const;
  std::uint64_t counted_ns(std::uint64_t now_ns) const { return total_ns_ - left_ns(now_ns); }

 private:
  std::uint64_t total_ns_ = 0, left_ns_ = 0;
  std::uint64_t begun_ns_ = 0, length_ns_ = 0;
};

// Estimated sums over all blocks.
class window_sums {
 public:
  // Random sums of differences. Their mean square is the variance of the estimate, ± 18 %. Sums of several paths are
  // added before they are squared: their windows are the same.
  static constexpr std::size_t deviations = 64;

  explicit window_sums(std::uint64_t seed) : random_(seed) {}

  // Adds a block. `all`: events of its window and all earlier ones. A program is slower in a window, and less of its time
  // lies in it: the estimate is for the time without the delay. The uncertainty of the delay is a part of the error.
  void add(const path_counts& all, const window_lengths& lengths);
  // Makes the last block longer. The error is as for a block with twice the events, or none.
  void extend(std::uint64_t by_ns);

  struct sum {
    double events = 0;
    std::vector<double> deviations;
  };
  std::unordered_map<std::uint64_t, sum> read() const;
  double events() const { return events_; }  // of all paths
  std::uint64_t blocks() const { return blocks_; }

 private:
  struct path_sum {
    window_count counted;
    double events = 0;      // of all blocks
    double last_in_ns = 0;  // of the last block, for each ns
    double first = 0;       // of the first block
    double delayed = 0;     // part of `events` that corrects for the delay
    std::array<double, deviations> differences{};
  };
  std::mt19937_64 random_;
  std::unordered_map<std::uint64_t, path_sum> paths_;
  std::uint64_t blocks_ = 0;
  double events_ = 0;
};

}  // namespace adaptyst::lib

#endif
