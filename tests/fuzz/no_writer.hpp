// A writer of traces for the targets that read them: takes everything and keeps nothing.
#ifndef ADAPTYST_TESTS_FUZZ_NO_WRITER_HPP
#define ADAPTYST_TESTS_FUZZ_NO_WRITER_HPP

#include <cstdint>
#include <string>

#include "target.hpp"
#include "trace/trace_writer.hpp"

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

#endif
