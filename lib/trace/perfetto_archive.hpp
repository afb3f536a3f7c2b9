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

}  // namespace adaptyst::lib

#endif
