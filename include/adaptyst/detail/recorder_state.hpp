// The recorder: data of one thread, from its first enabled marker on.
//
// A recorder has one writer, its thread, and any number of readers, in this process or another. The writer makes
// `sequence` odd before a write and even after it. A reader that finds an odd or changed number retries. A signal
// handler that finds an odd number has interrupted a writer on its own thread, and counts its event as lost.
//
// Recorders are never freed. The next thread that needs one takes over a dead thread's, with its rows: 100,000
// short-lived threads share a few recorders, and no code runs when a thread ends.
//
// Shared data is in the process's store, which an observer may hold beyond the end of the process. Data of the thread
// only, such as open frames, is private: a forked child has a copy.
//
// Memory per thread: 0.5 MiB of addresses, and 160 KiB for the first 512 rows and their histograms. A program with a
// few dozen rows touches about 50 KiB. A further row takes 192 bytes, 128 to 7,360 bytes for its histogram (by the
// range of durations), and up to 192 for its numbers. At most `max_rows` rows.
#ifndef ADAPTYST_DETAIL_RECORDER_STATE_HPP
#define ADAPTYST_DETAIL_RECORDER_STATE_HPP

#include "core_loss.hpp"
#include "event_sampling.hpp"
#include "histogram.h"
#include "loss.hpp"
#include "process.hpp"
#include "row_memory.hpp"
#include "row_table.hpp"
#include "skip_counts.hpp"
#include "trace_ring.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr uint32_t max_depth = 4096;
constexpr uint32_t max_rows = 65536;
constexpr uint32_t rows_per_chunk = 512;

struct attribute_sum {
  double sum, min, max;
};

// Sums of one call path on one thread.
struct alignas(64) row {
  uint64_t id;  // id of the path
  const adaptyst_path* path;
  const adaptyst_site* site;
  row* child;         // the first row below this one, probably the next in a loop; never null
  uint64_t identity;  // device and generation of the thread, see make_identity()
  uint64_t extras;    // only `is_made`: no payload numbers, device, wait, timeline or weight
  uint64_t count, total_ns, nested_ns, min_ns, max_ns;
  // Virtual address of bucket 0. Memory exists from `first_bucket` on, for all buckets from the shortest to the longest
  // duration. Without memory, it points to no_histogram.
  uint64_t* histogram;
  uint32_t threads;  // owners of this recorder that ran it
  uint16_t first_bucket, buckets;
  uint64_t open_since;  // timestamp of an open scope, or 0
  row* next;            // the row that followed this one below the same region; never null
  // An event that is not in the histogram yet: each reader adds 1 to this bucket. See add_usual_duration().
  uint64_t last_bucket;
  // For events recorded with a weight N > 1: the sum of N - 1, and the variances of the estimates; see
  // add_weighed_duration().
  uint64_t left_out, count_variance;
  double total_variance;
  uint64_t attribute_count;
  // Events recorded together in one enclosing event vary together: data of the last such cluster.
  uint64_t cluster, cluster_count;
  double cluster_ns;
  attribute_sum* attributes;  // `attribute_count` elements
};
static_assert(sizeof(row) == 192, "it is stated in the documentation");

struct row_chunk {
  row rows[rows_per_chunk];
};

// An open region.
struct frame {
  uint64_t token;  // token of its scope; 0: none
  row* where;      // the root if the region began in an earlier epoch
  uint64_t nested_ns;
  const void* stack;  // place of its marker: stack frame and code
  uint64_t begin;     // timestamp; 0: not taken yet, time still belongs to the frame below
  const void* code;
  const adaptyst_path* path;
  uint64_t weight;  // of its event, if the token has `weighed_token`; perhaps with `is_carrier` or `is_closing`
};

// Flags in a frame's weight. A recorded event with nested events is one of two kinds, by chance. A timed event has its
// nested events skipped. A carrier has them recorded, but is not recorded itself. Reason: the cost of recording nested
// events must not be part of a measured duration. Each kind represents twice as many events.
constexpr uint64_t is_carrier = uint64_t{1} << 63;
constexpr uint64_t is_closing = uint64_t{1} << 62;
constexpr uint64_t max_weight = uint64_t{1} << 40;
ADAPTYST_DETAIL_INLINE uint64_t weight_in(const frame& frame) noexcept {
  return frame.weight & ~(is_carrier | is_closing);
}

// Flags in a token: the program's recorder records the event with a weight, whatever the engine; the event represents
// others too.
constexpr uint64_t weighed_token = uint64_t{1} << 61;
constexpr uint64_t sampled_token = uint64_t{1} << 62;

// Set in the extras of every row. A forked child has zeros where its parent had rows: frames from before the fork must
// not be recorded there.
constexpr uint64_t is_made = uint64_t{1} << 30;

// The shared part of a recorder.
struct recorder_head {
  uint64_t sequence;
  uint64_t epoch;
  uint64_t serial;           // of the last frame; starts with the recorder's number, so no two recorders share a token
  uint64_t first_serial;     // at the begin of the epoch: each frame since then counts as begun
  uint64_t begun;            // begun events without frames
  uint64_t ended;            // ended here; begun events that neither ended nor were lost are open
  uint64_t orphans;          // ends without a begin
  uint64_t in_signal;        // lost by signal handlers
  uint64_t in_signal_epoch;  // epoch of in_signal
  uint64_t lost[static_cast<unsigned>(loss::reasons)];
  recorder* next;
  uint32_t thread;  // thread id of the owner, alive or not
  uint32_t generation;
  uint32_t rows_used, pad;
  trace_ring* ring;  // null: no timeline
  row_chunk* chunks[max_rows / rows_per_chunk];
  trace_ring no_ring;  // used without memory: counts its losses
};

constexpr unsigned submitted_log2 = 5;

// Begins of pairs (pair_calls.hpp) without a frame, because their events are skipped or lost. This many ends are
// ignored while the frame is innermost.
struct frameless_pairs {
  uint64_t inside;  // token of the frame
  uint64_t count;
};
constexpr uint32_t max_frameless_pairs = 8;

// Private from the next page on. The hot members avoid the page offsets of the head: if the last 12 bits of two
// addresses are equal, a load may wait for an unrelated store (4K aliasing).
struct recorder_pages {
  char rest[page_bytes + page_bytes / 2 - sizeof(recorder_head)];
};

// The hot members, directly before the skip counts.
struct recorder_front {
  process* owner;
  uint32_t depth;           // open frames
  uint32_t base;            // number of these that an earlier collector began; they are not counted
  row* guess;               // the probable next row below the innermost region; the root: unknown
  uint64_t own_epoch;       // private copy of `epoch`: in a forked child the shared page is replaced
  uint64_t counting_epoch;  // the epoch if timestamps are the processor's counter; otherwise no valid epoch
};

struct recorder : recorder_head, recorder_pages, recorder_front, skip_state {
  uint64_t cluster;  // token of the outermost event recorded with a weight now
  uint64_t cluster_weight;
  core_watch watch;                                      // of the timed event with a weight
  int64_t owed_waits;                                    // see book_wait()
  activity_place booking;                                // place of the next device entry
  trace_ring* kept_ring;                                 // perhaps of an earlier epoch
  uint64_t forks;                                        // process::forks at enlist()
  const adaptyst_site* submitted[1U << submitted_log2];  // recent records of operations, see submit_event()
  frameless_pairs frameless[max_frameless_pairs];        // innermost last
  uint64_t frameless_used;

  row_table<row> table;
  row_memory row_details;                             // histograms and numbers of rows
  uint64_t no_histogram[ADAPTYST_HISTOGRAM_BUCKETS];  // for rows without memory; never read
  row root;                                           // no path: above all rows
  frame frames[1 + max_depth];                        // the first belongs to no region and holds the root
  double values[1 + max_depth][ADAPTYST_ATTRIBUTES];  // numeric members of the open regions' payloads
};

static_assert(sizeof(recorder_head) < page_bytes / 2, "see recorder");
constexpr uint64_t recorder_bytes = (sizeof(recorder) + page_bytes - 1) & ~(page_bytes - 1);

// The recorder with this number, whether it exists or not.
template <class = void>
inline recorder* recorder_in(recorder_store& in, uint64_t number) noexcept {
  return reinterpret_cast<recorder*>(reinterpret_cast<char*>(&in) + first_below + number * recorder_bytes);
}
template <class = void>
inline const recorder* recorder_in(const recorder_store& in, uint64_t number) noexcept {
  return recorder_in(const_cast<recorder_store&>(in), number);
}
template <class = void>
inline uint64_t recorder_number(const recorder_store& in, const recorder& recorder) noexcept {
  return (reinterpret_cast<uintptr_t>(&recorder) - reinterpret_cast<uintptr_t>(&in) - first_below) / recorder_bytes;
}

// Almost certainly differs if an external reader was built with other headers.
constexpr uint64_t state_layout =
    mix(mix(sizeof(process) ^ (uint64_t{sizeof(recorder_head)} << 40) ^ sizeof(recorder_store) ^
            (uint64_t{sizeof(recorder)} << 32)) ^
        sizeof(row) ^ (uint64_t{rows_per_chunk} << 24) ^ (uint64_t{sizeof(adaptyst_site)} << 8) ^
        (uint64_t{ADAPTYST_HISTOGRAM_BUCKETS} << 16) ^ (uint64_t{sizeof(frame)} << 32) ^
        (uint64_t{offsetof(row, last_bucket)} << 48) ^ (uint64_t{offsetof(control_page, owners)} << 40) ^
        (uint64_t{offsetof(control_page, recorders)} << 48));

// Value of this_thread_recorder during the search, for signal handlers.
inline recorder* being_found() noexcept { return reinterpret_cast<recorder*>(uintptr_t{1}); }

// True if the host waits for a device in regions of this kind.
ADAPTYST_DETAIL_INLINE bool is_wait(uint32_t kind) noexcept {
  return kind == ADAPTYST_SITE_WAIT || kind == ADAPTYST_SITE_OFFLOAD;
}

}}}  // namespace adaptyst::v1::detail

#endif
