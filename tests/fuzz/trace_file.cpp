// An SQLite file that somebody else has written: what `adaptyst variability` and `convert` are given.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "analyse/variability/variability.hpp"
#include "distribute/variability_run.hpp"
#include "report/forms.hpp"
#include "support/error.hpp"
#include "target.hpp"
#include "trace/trace_input.hpp"

namespace {

// Takes everything and keeps nothing.
class no_writer final : public adaptyst::lib::trace_writer {
 public:
  void name_process(std::int64_t /*process*/, const adaptyst::lib::traced_process& /*what*/) override {}
  void name_thread(std::int64_t /*process*/, std::uint32_t /*thread*/, const std::string& /*name*/) override {}
  bool knows_thread(std::int64_t /*process*/, std::uint32_t /*thread*/) const override { return false; }
  void name_device(std::int64_t /*process*/, std::uint32_t /*device*/,
                   const adaptyst::lib::traced_device& /*what*/) override {}
  bool knows_device(std::int64_t /*process*/, std::uint32_t /*device*/) const override { return false; }
  void add(std::int64_t /*process*/, const adaptyst::lib::traced_event& event) override {
    EXPECT(event.site != nullptr);
    EXPECT(event.begin_ns <= event.end_ns);
  }
  std::uint64_t lost() const noexcept override { return 0; }
  void flush() override {}
  void finish() override {}
};

}  // namespace

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
