// All ranks of a run as one trace for Perfetto: a TAR of FILE.pftrace files, with a manifest that names the machines
// and relates their clocks (https://perfetto.dev/docs/reference/perfetto-manifest).
#ifndef ADAPTYST_LIB_TRACE_PERFETTO_ARCHIVE_HPP
#define ADAPTYST_LIB_TRACE_PERFETTO_ARCHIVE_HPP

#include <string>
#include <vector>

namespace adaptyst::lib {

// Copies the files into the archive, which appears when it is complete. Memory grows with the number of files, not with
// their sizes. Returns remarks for the user; each follows the name of the archive. Throws error.
std::vector<std::string> write_perfetto_archive(const std::vector<std::string>& files, const std::string& to);

// The fields of Perfetto's published format that the writer of traces and the archive use.
namespace perfetto_field {
constexpr unsigned packet = 1;                                 // of the file
constexpr unsigned clock_snapshot = 6, track_descriptor = 60;  // of a packet
constexpr unsigned clock = 1, clock_id = 1, clock_time = 2;    // of a clock snapshot, and of a clock
constexpr unsigned process = 3, process_label = 8;             // of a track, and of a process
}  // namespace perfetto_field

namespace perfetto_clock {
constexpr unsigned realtime = 1, monotonic = 3, boottime = 6;
}  // namespace perfetto_clock

// A label of a process: this, and the name of its machine.
constexpr char perfetto_host_label[] = "host: ";

}  // namespace adaptyst::lib

#endif
