// An SQLite file that somebody else has written: what `adaptyst variability` and `convert` are given.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "analyse/variability/variability.hpp"
#include "distribute/variability_run.hpp"
#include "no_writer.hpp"
#include "report/forms.hpp"
#include "support/error.hpp"
#include "target.hpp"
#include "trace/trace_input.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // With a name of its own: SQLite opens what a link in /proc leads to, and that is nothing.
  std::string name = "/tmp/adaptyst-trace-file-XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    try {
      no_writer to;
      adaptyst::lib::bad_rows bad;
      adaptyst::lib::open_trace(name)->read(to, 0, bad);
    } catch (const adaptyst::lib::error&) {}
    try {
      adaptyst::lib::variability_request request;
      request.traces = {name};
      request.window_ns = std::uint64_t{1} << 40U;
      EXPECT(!to_json(*run_variability(request, nullptr)).empty());
    } catch (const adaptyst::lib::error&) {}
  }
  close(file);
  for (const char* const ending : {"", "-wal", "-shm", "-journal"}) unlink((name + ending).c_str());
  return 0;
}
