// An event log that another program has written: a file as it is, or, so that more than its checksums are tried, records in blocks
// that have the right ones.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyse/variability/variability.hpp"
#include "distribute/variability_run.hpp"
#include "report/forms.hpp"
#include "support/error.hpp"
#include "target.hpp"
#include "trace/event_log_format.hpp"
#include "trace/trace_input.hpp"

namespace {

using namespace adaptyst::lib;

// Takes everything and keeps nothing.
class no_writer final : public trace_writer {
 public:
  void name_process(std::int64_t /*process*/, const traced_process& /*what*/) override {}
  void name_thread(std::int64_t /*process*/, std::uint32_t /*thread*/, const std::string& /*name*/) override {}
  bool knows_thread(std::int64_t /*process*/, std::uint32_t /*thread*/) const override { return false; }
  void name_device(std::int64_t /*process*/, std::uint32_t /*device*/, const traced_device& /*what*/) override {}
  bool knows_device(std::int64_t /*process*/, std::uint32_t /*device*/) const override { return false; }
  void add(std::int64_t /*process*/, const traced_event& event) override {
    EXPECT(event.site != nullptr);
    EXPECT(event.begin_ns <= event.end_ns);
    EXPECT(event.end_ns <= max_time_ns + max_span_ns);
  }
  std::uint64_t lost() const noexcept override { return 0; }
  void flush() override {}
  void finish() override {}
};

// Blocks end at bytes of 255, and in the 64th block at the end.
std::string wrap(std::string_view records) {
  std::string made = std::string(event_log_name) + "1\n";
  for (int blocks = 0; !records.empty(); ++blocks) {
    const std::size_t end = blocks != 64 ? std::min(records.find('\xff'), records.size()) : records.size();
    const std::string_view block = records.substr(0, end);
    records.remove_prefix(std::min(records.size(), end + 1));
    if (block.empty()) continue;
    const std::uint32_t bytes = static_cast<std::uint32_t>(block.size()) | log_has_names;
    std::string checked(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    checked += block;
    const std::uint32_t checksum = block_checksum(checked);
    made.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
    made += checked;
  }
  return made;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  const std::string bytes = given.substr(0, event_log_name.size()) == event_log_name ? std::string(given) : wrap(given);
  const int file = memfd_create("log", MFD_CLOEXEC);
  if (file < 0) return 0;
  const std::string name = "/proc/self/fd/" + std::to_string(file);
  if (write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
    try {
      no_writer to;
      bad_rows bad;
      const std::unique_ptr<trace_input> in = open_trace(name);
      in->read(to, 0, bad);
    } catch (const adaptyst::error&) {}
    for (const variability_by by : {variability_by::region, variability_by::device}) try {
        variability_request request;
        request.traces = {name};
        request.window_ns = std::uint64_t{1} << 40U;
        request.settings.by = by;
        request.chooses_by = false;
        EXPECT(!to_json(*run_variability(request, nullptr)).empty());
      } catch (const adaptyst::error&) {}
  }
  close(file);
  return 0;
}
