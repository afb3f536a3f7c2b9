// What a collector has found: plain data to walk, to merge and to write.
//
//   adaptyst::profile p = collector.stop();
//   for (const adaptyst::region& r : p.regions)
//     std::cout << r.path.back() << ' ' << r.count << " times, " << r.total_ns << " ns\n";
//
// Both engines make the same profile. A quantity that could not be had is empty, never 0. Times are nanoseconds. The
// structs own all that they refer to and have no tie to the collector; like any plain data, they may be read by several
// threads at once.
#ifndef ADAPTYST_PROFILE_HPP
#define ADAPTYST_PROFILE_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detail/error.hpp"
#include "profile/accounting.hpp"
#include "profile/ceilings.hpp"
#include "profile/context.hpp"
#include "profile/devices.hpp"
#include "profile/processes.hpp"
#include "profile/ranks.hpp"
#include "profile/region.hpp"
#include "profile/samples.hpp"
#include "profile/table_options.hpp"

namespace adaptyst { inline namespace v1 {

struct profile {
  std::string engine;                           // ebpf, inline or off
  std::string mechanism;                        // how events were caught, e.g. "uprobe_multi, nop5 optimised"
  std::string reason;                           // why this engine
  std::string version;                          // of the adaptyst that has collected it
  std::map<std::string, std::string> metadata;  // adaptyst::metadata()
  std::optional<std::uint64_t> metadata_lost;   // calls of that for which there was no room; absent: none
  std::map<std::string, std::string> options;   // that were asked for, by name: what differs from the defaults
  std::vector<device_usage> devices;            // the first is the host's CPU
  offload_usage offload;
  std::vector<region> regions;  // parents before children
  account accounting;
  std::optional<budget_usage> budget;  // absent: none was kept
  // What a region that holds nothing lasts here, by the recorder's own timestamps: so much of each duration is no work.
  std::optional<double> timer_floor_ns;
  // What such a region lasts under a thinned marker, by which the durations of timed events were shortened, and the
  // uncertainty of that, which is part of their totals' errors. Absent: there was no budget.
  std::optional<double> thinned_floor_ns, thinned_floor_error_ns;
  std::optional<timeline_usage> timeline;  // absent: none was asked for
  std::optional<context_account> context;  // absent: the kernel was not asked
  std::optional<sample_usage> samples;     // absent: none were asked for
  // By region, the frames with most time, up to max_frames; what is below them is added up as "(others)".
  static constexpr std::size_t max_frames = 2048;
  std::vector<region_stacks> stacks;
  // Where no marker ran, and the kernel let us sample: how often threads were in which functions, of the most frequent;
  // in all others together: "(others)".
  std::map<std::string, std::uint64_t> functions;
  // Functions that were to be regions, that the program imports, and that can have no probe, with the reason: their
  // time is that of what calls them.
  std::map<std::string, std::string> not_probed;
  // Of a profile of many ranks, up to max_processes of them; of more, those that are extremes somewhere.
  static constexpr std::size_t max_processes = 1024;
  std::vector<process_info> processes;
  std::optional<unlisted_processes> unlisted;
  // Those of the hosts that come first by the alphabet, up to max_machines; empty: not known.
  static constexpr std::size_t max_machines = 64;
  std::vector<machine> machines;
  std::optional<std::uint64_t> ranks;  // of an MPI program that were merged
  std::optional<rank_account> about_ranks;
  std::optional<mpi_usage> mpi;              // absent: no calls of MPI were seen, or ranks were not merged
  std::optional<heat_map> heat;              // absent also where merged profiles were merged again
  std::optional<machine_ceilings> ceilings;  // by which regions have a roofline; absent: none has

  // The rank whose profile it is; empty: of none, or of several.
  std::optional<std::uint32_t> rank() const;
  // When the first of the processes began to be observed, ISO 8601 in UTC; empty: not known.
  std::optional<std::string> date() const;
  // Whether there is anything to tell of markers, be it that something was lost.
  bool has_markers() const;
  // Whether a device's number is that of the host's CPU, and not of a device that is a CPU as well.
  bool is_host(std::uint32_t device) const;
};

// What a process has recorded into a file (options::keep) that was killed, or has not ended yet. Throws
// adaptyst::error, which says whose file it is not.
profile read_kept(const std::string& file);
// Whether it is such a file.
bool is_kept(const std::string& file);

// Adds `from` to `into`; of two ranks, rows say from then on how ranks differ. What several processes of a rank did is to
// be added up first. Associative and commutative but for the order of regions, devices and processes, which is made
// canonical, and for the rounding of floating-point sums.
void merge(profile& into, const profile& from);

// The processes are taken together.
efficiencies compute_efficiencies(const profile& profile);

// The profile as JSON (docs/profile-schema.json), or as the table that a collector prints (docs/report.md).
std::string to_json(const profile& profile);
std::string to_table(const profile& profile, const table_options& how = {});
// A page in HTML that shows the whole profile in any browser, offline (docs/page.md).
std::string to_html(const profile& profile);
// Its regions: a line for each, in raw units (RFC 4180), by default all of them; in Markdown the findings
// and the largest of them, for an issue, a review or a mail.
std::string to_csv(const profile& profile, const table_options& how = {});
std::string to_markdown(const profile& profile, const table_options& how = {});

// What to_json() has written: to_json(from_json(text)) is `text` again. Throws error, which says what is wrong and
// where, for anything that is no profile of schema 1.
profile from_json(std::string_view text);

// The same from and to a file; what is written appears there in one step, or not at all. Both throw error.
profile read_profile(const std::string& file);
void write_profile(const std::string& file, const profile& profile);

}}  // namespace adaptyst::v1

#endif
