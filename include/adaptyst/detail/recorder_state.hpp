// The recorder: what one thread knows of itself, from the first time that one of its markers is awake.
//
// A recorder has one writer, its thread, and any number of readers, in this process or another. The writer makes
// `sequence` odd before and even after: a reader that saw an odd or a changed number reads again, and a signal handler
// that finds it odd knows that it has interrupted a writer on its own thread, and counts its event as lost.
//
// Recorders are never freed. One whose thread has died is taken over, rows and all, by the next thread that needs one:
// a hundred thousand short-lived threads share a handful, and nothing has to run when a thread ends.
//
// What others read stands in the process's store, where an observer may hold it beyond the end of the process. What the
// thread alone knows, as the frames of its open regions, is private: a forked child has a copy of it as it was.
//
// Memory per thread: 0.5 MiB of addresses, and 160 KiB for its first 512 rows and their histograms, of which a program
// with a few dozen rows touches some 50 KiB. A further row takes 192 bytes, 128 to 7,360 for its histogram, depending
// on how far its durations spread, and up to 192 if it has numbers. At most `max_rows` rows.
#ifndef ADAPTYST_DETAIL_RECORDER_STATE_HPP
#define ADAPTYST_DETAIL_RECORDER_STATE_HPP

#include "core_loss.hpp"
#include "gaps.hpp"
#include "histogram.h"
#include "loss.hpp"
#include "process.hpp"
#include "row_memory.hpp"
#include "row_table.hpp"
#include "thinning.hpp"
#include "trace_ring.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr uint32_t max_depth = 4096;
constexpr uint32_t max_rows = 65536;
constexpr uint32_t rows_per_chunk = 512;

struct attribute_sum {
  double sum, min, max;
};

// What is known of one call path on one thread.
struct alignas(64) row {
  uint64_t id;  // of the path
  const adaptyst_path* path;
  const adaptyst_site* site;
  row* child;         // what first began below this one, and in a loop will probably begin next; never null
  uint64_t identity;  // device and generation of the thread, see make_identity()
  uint64_t extras;    // only `is_made`: no numbers of a payload, no device, no wait of the host, no timeline, no weight
  uint64_t count, total_ns, nested_ns, min_ns, max_ns;
  // The address that bucket 0 would have. There is memory from `first_bucket` on, for all buckets from the shortest
  // duration to the longest. Without memory for them, this points to no_histogram.
  uint64_t* histogram;
  uint32_t threads;  // that have had this recorder, and been here
  uint16_t first_bucket, buckets;
  uint64_t open_since;        // timestamp: of a scope that has not ended; or 0
  row* next;                  // what came behind this one, below the same region; never null
  attribute_sum* attributes;  // `attribute_count` of them
  // Of the events that were booked with a weight N > 1: the sum of N - 1, and the estimates' variances; see
  // add_weighed_duration().
  uint64_t left_out, count_variance;
  double total_variance;
  uint64_t attribute_count;
  // Events that were taken together, in one event around them, vary together: what is known of the last of such
  // clusters.
  uint64_t cluster, cluster_count;
  double cluster_ns;
};
static_assert(sizeof(row) == 192, "it is stated in the documentation");

struct row_chunk {
  row rows[rows_per_chunk];
};

// An open region.
struct frame {
  uint64_t token;  // as its scope knows it; 0: none
  row* where;      // the recorder's root if the region was begun in an earlier epoch
  uint64_t nested_ns;
  const void* stack;  // where its marker stands: stack frame and code
  uint64_t begin;     // timestamp; 0: not taken yet, and the thread's time still is that of the frame below
  const void* code;
  const adaptyst_path* path;
  uint64_t weight;  // of its event, if its token has `weighed_token`; perhaps with `is_carrier` or `is_closing`
};

// In a frame's weight. An event that is taken in a region around others is by coin one of two kinds: either timed, what
// is nested in it being left out; or the carrier of what is nested in it, and not booked itself: to record what is
// nested takes time, which must not be part of a measured duration. Each kind stands for twice as many.
constexpr uint64_t is_carrier = uint64_t{1} << 63;
constexpr uint64_t is_closing = uint64_t{1} << 62;
constexpr uint64_t max_weight = uint64_t{1} << 40;
ADAPTYST_DETAIL_INLINE uint64_t weight_in(const frame& frame) noexcept {
  return frame.weight & ~(is_carrier | is_closing);
}

// In the token of one that is booked by the program's own recorder, whatever the engine, with a weight; and that stands
// for others than itself.
constexpr uint64_t weighed_token = uint64_t{1} << 61;
constexpr uint64_t thinned_token = uint64_t{1} << 62;

// Set in the extras of every row. A forked child has zeros where its parent had rows: what began before the fork must
// not be booked there.
constexpr uint64_t is_made = uint64_t{1} << 30;

// What others read of a recorder.
struct recorder_head {
  uint64_t sequence;
  uint64_t epoch;
  uint64_t serial;           // of the last frame; starts with the recorder's number, so no two recorders share a token
  uint64_t first_serial;     // when the epoch began: each frame since counts as begun
  uint64_t begun;            // without frames
  uint64_t ended;            // here; what was begun, and neither has ended nor is lost, is open
  uint64_t orphans;          // ends that met no begin
  uint64_t in_signal;        // lost by signal handlers
  uint64_t in_signal_epoch;  // in which they were
  uint64_t lost[static_cast<unsigned>(loss::reasons)];
  recorder* next;
  uint32_t thread;  // kernel thread id of the owner, dead or alive
  uint32_t generation;
  uint32_t rows_used, pad;
  trace_ring* ring;  // null: no timeline
  row_chunk* chunks[max_rows / rows_per_chunk];
  trace_ring no_ring;  // where there was no memory: it counts what it loses
};

constexpr unsigned submitted_log2 = 5;

// Begins of pairs (pair_calls.hpp) that have no frame, since their events are left out or lost: so many ends are to
// be passed over while the frame is the innermost.
struct frameless_pairs {
  uint64_t inside;  // token of the frame
  uint64_t count;
};
constexpr uint32_t max_frameless_pairs = 8;

// Private from the next page on. The most used members have other offsets in their page than those of the head: if the
// last twelve bits of two addresses are equal, a processor takes a load from one for a load of what was just stored to
// the other.
struct recorder_pages {
  char rest[page_bytes + page_bytes / 2 - sizeof(recorder_head)];
};

// The most used members, which stand before the gaps.
struct recorder_front {
  process* owner;
  uint32_t depth;           // open frames
  uint32_t base;            // of which this many were begun under an earlier collector, and are not counted
  row* guess;               // below the innermost region: what the next one will probably be; the root: no idea
  uint64_t own_epoch;       // `epoch` for its own thread: in a forked child others put new pages where that is
  uint64_t counting_epoch;  // the epoch, if timestamps are the processor's counter; never one otherwise
};

struct recorder : recorder_head, recorder_pages, recorder_front, gap_state {
  uint64_t cluster;  // the event around all that is recorded with a weight now, by its token
  uint64_t cluster_weight;
  core_watch watch;                                      // of the event that is timed and has a weight
  int64_t owed_waits;                                    // see book_wait()
  ledger_place booking;                                  // where the next entry of the ledger goes
  trace_ring* kept_ring;                                 // of an earlier epoch, perhaps
  uint64_t forks;                                        // process::forks, when it was enlisted
  const adaptyst_site* submitted[1U << submitted_log2];  // records of operations, see submit_event()
  frameless_pairs frameless[max_frameless_pairs];        // innermost last
  uint64_t frameless_used;

  row_table<row> table;
  row_memory row_details;                             // their histograms and numbers
  uint64_t no_histogram[ADAPTYST_HISTOGRAM_BUCKETS];  // for those for which there was no memory; never read
  row root;                                           // of no path: above all others
  frame frames[1 + max_depth];                        // the first belongs to no region and holds the root
  double values[1 + max_depth][ADAPTYST_ATTRIBUTES];  // numeric members of the open regions' payloads
};

static_assert(sizeof(recorder_head) < page_bytes / 2, "see recorder");
constexpr uint64_t recorder_bytes = (sizeof(recorder) + page_bytes - 1) & ~(page_bytes - 1);

// The recorder with this number, whether it was ever made or not.
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

// Differs, in all likelihood, where a reader from outside was built with other headers.
constexpr uint64_t state_layout =
    mix(mix(sizeof(process) ^ (uint64_t{sizeof(recorder_head)} << 40) ^ sizeof(recorder_store) ^
            (uint64_t{sizeof(recorder)} << 32)) ^
        sizeof(row) ^ (uint64_t{rows_per_chunk} << 24) ^ (uint64_t{sizeof(adaptyst_site)} << 8) ^
        (uint64_t{ADAPTYST_HISTOGRAM_BUCKETS} << 16) ^ (uint64_t{sizeof(frame)} << 32) ^
        (uint64_t{offsetof(control_page, owners)} << 40) ^ (uint64_t{offsetof(control_page, recorders)} << 48));

// Stands in this_thread_recorder while the recorder is being found, for signal handlers to see.
inline recorder* being_found() noexcept { return reinterpret_cast<recorder*>(uintptr_t{1}); }

// Whether the host waits for a device in a region of this kind.
ADAPTYST_DETAIL_INLINE bool is_wait(uint32_t kind) noexcept {
  return kind == ADAPTYST_SITE_WAIT || kind == ADAPTYST_SITE_OFFLOAD;
}

}}}  // namespace adaptyst::v1::detail

#endif
