// The result of a collector: plain data.
//
//   adaptyst::profile p = collector.stop();
//   for (const adaptyst::region& r : p.regions)
//     std::cout << r.path.back() << ' ' << r.count << " times, " << r.total_ns << " ns\n";
//
// Both engines make the same profile. An unknown quantity is empty, never 0. Times are in ns. The structs own their
// data. Several threads may read them concurrently.
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
  std::string mechanism;                        // how events were recorded, e.g. "uprobe_multi, nop5 optimised"
  std::string reason;                           // why this engine
  std::string version;                          // version of the adaptyst that collected the profile
  std::map<std::string, std::string> metadata;  // adaptyst::metadata()
  std::optional<std::uint64_t> metadata_lost;   // metadata() calls without room; absent: none
  std::map<std::string, std::string> options;   // requested options that differ from the defaults, by name
  // Adapters that `adaptyst run` has loaded without a request, with what has revealed their interface in the program.
  // Adapters and interfaces that it has found and skipped, with the reason.
  std::map<std::string, std::string> adapters, skipped_adapters;
  std::vector<device_usage> devices;  // the first is the host's CPU
  offload_usage offload;
  std::vector<region> regions;  // parents before children
  account accounting;
  std::optional<budget_usage> budget;  // absent: no budget
  // Duration of an empty region on this machine, by the recorder's timestamps. Each duration contains this much without
  // work.
  std::optional<double> timer_floor_ns;
  // The same under a marker with sampled events, and its uncertainty. Durations of recorded events were shortened by
  // the first; errors of their totals contain the second. Absent without a budget.
  std::optional<double> sampled_floor_ns, sampled_floor_error_ns;
  std::optional<timeline_usage> timeline;  // absent: not requested
  std::optional<context_account> context;  // absent: no data from the kernel
  std::optional<sample_usage> samples;     // absent: not requested
  // Frames with the most time per region, up to max_frames; the frames below are summed as "(others)".
  static constexpr std::size_t max_frames = 2048;
  std::vector<region_stacks> stacks;
  // If no marker ran, or only those of adapters, and the kernel permits stack samples: samples by function, most
  // frequent first; the rest is "(others)".
  std::map<std::string, std::uint64_t> functions;
  // Requested functions that the program imports but that can have no probe, with the reason. Their time counts for
  // their callers.
  std::map<std::string, std::string> not_probed;
  // Processes of a merged profile, up to max_processes. If there are more, those with extreme values are listed.
  static constexpr std::size_t max_processes = 1024;
  std::vector<process_info> processes;
  std::optional<unlisted_processes> unlisted;
  // The alphabetically first hosts, up to max_machines; empty if unknown.
  static constexpr std::size_t max_machines = 64;
  std::vector<machine> machines;
  std::optional<std::uint64_t> ranks;  // merged ranks of an MPI program
  std::optional<rank_account> about_ranks;
  std::optional<mpi_usage> mpi;              // absent: no MPI calls were observed, or ranks were not merged
  std::optional<heat_map> heat;              // absent also if merged profiles were merged again
  std::optional<machine_ceilings> ceilings;  // basis of the regions' roofline; absent: no region has one

  // The rank of the profile; empty for no rank or several.
  std::optional<std::uint32_t> rank() const;
  // Start of the first observation of a process, ISO 8601 in UTC; empty if unknown.
  std::optional<std::string> date() const;
  // True if markers recorded or lost any event.
  bool has_markers() const;
  // True for the number of the host's CPU, false for another device that is a CPU.
  bool is_host(std::uint32_t device) const;
};

// Reads the file (options::keep) of a process that was killed or still runs. Throws adaptyst::error for any other file.
profile read_kept(const std::string& file);
// True if it is such a file.
bool is_kept(const std::string& file);

// Adds `from` to `into`. For two ranks, rows then contain how ranks differ. First merge the processes of each rank.
// Associative and commutative, except for rounding of floating-point sums; the order of regions, devices and processes
// is canonical.
void merge(profile& into, const profile& from);

// Efficiencies of all processes together.
efficiencies compute_efficiencies(const profile& profile);

// The profile as JSON (docs/profile-schema.json), or as the collector's report (docs/report.md).
std::string to_json(const profile& profile);
std::string to_table(const profile& profile, const table_options& how = {});
// An HTML report of the whole profile, which works offline in any browser (docs/page.md).
std::string to_html(const profile& profile);
// CSV: one line per region, in raw units (RFC 4180), all regions by default. Markdown: findings and the largest
// regions, for an issue, a review or a mail.
std::string to_csv(const profile& profile, const table_options& how = {});
std::string to_markdown(const profile& profile, const table_options& how = {});

// Reads the output of to_json(): to_json(from_json(text)) equals `text`. Throws error with reason and place if the text
// is no profile of schema 1.
profile from_json(std::string_view text);

// The same from and to a file. A file is written in one step or not at all. Both throw error.
profile read_profile(const std::string& file);
void write_profile(const std::string& file, const profile& profile);

}}  // namespace adaptyst::v1

#endif
