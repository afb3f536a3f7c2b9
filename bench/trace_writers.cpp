// What a writer of a timeline takes for an event, and one that reads an event log: trace_writers DIRECTORY. Regions of
// four threads and operations of a device, made up, of a million events; files are written to the directory.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "measure.hpp"
#include "trace/chrome_trace.hpp"
#include "trace/event_log_writer.hpp"
#include "trace/perfetto_trace.hpp"
#ifdef ADAPTYST_HAS_OTF2
#include <filesystem>

#include "trace/otf2.hpp"
#endif
#ifdef ADAPTYST_HAS_SQLITE
#include "trace/paraver_writer.hpp"
#include "trace/store_writer.hpp"
#include "trace/trace_input.hpp"
#endif

namespace {

namespace lib = adaptyst::lib;

constexpr std::size_t events = 1'000'000, sites = 64, at_once = 5000;  // as many as come between two looks

struct made_up {
  std::vector<lib::traced_site> of;
  std::vector<lib::traced_event> all;

  made_up() : of(sites), all(events) {
    for (std::size_t at = 0; at != sites; ++at)
      of[at] = {"region number " + std::to_string(at),
                at % 8 == 7 ? adaptyst::region_kind::kernel : adaptyst::region_kind::region, at % 8 == 7 ? 1U : 0U,
                at % 8 == 0 ? nullptr : &of[at - 1]};
    std::uint64_t now_ns = 1'000'000;
    for (std::size_t at = 0; at != events; ++at) {
      lib::traced_event& event = all[at];
      event.site = &of[at % sites];
      event.as = at % 8 == 7 ? lib::traced_as::operation : lib::traced_as::scope;
      event.thread = static_cast<std::uint32_t>(100 + at / at_once % 4);
      now_ns += 300 + at * 7919 % 500;
      event.begin_ns = now_ns;
      event.end_ns = now_ns + 200 + at * 104729 % 3000;
      if (event.as == lib::traced_as::operation) {
        event.queue = 1;
        event.submitted_ns = event.begin_ns - 150;
      }
    }
  }
};

void write(lib::trace_writer& to, const made_up& what) {
  to.name_process(7, {"bench", 7, "node", {}});
  to.name_device(7, 1, {"gpu0", 0, {}});
  std::size_t at = 0;
  for (const lib::traced_event& event : what.all) {
    to.add(7, event);
    if (++at % at_once == 0) to.flush();
  }
  to.finish();
}

// CPU time: the disk is another matter.
template <class Work>
double measure(const Work& work) {
  constexpr int rounds = 3;
  std::vector<double> took;
  for (int round = 0; round != rounds; ++round) {
    const double begin = bench::thread_cpu_ns();
    work();
    took.push_back((bench::thread_cpu_ns() - begin) / events);
  }
  return bench::median(took);
}

// The size of the file in bytes per event. 0: there is no file.
double bytes_an_event(const std::string& file) {
  struct stat about {};
  return stat(file.c_str(), &about) == 0 ? static_cast<double>(about.st_size) / events : 0;
}

#ifdef ADAPTYST_HAS_SQLITE
class no_writer final : public lib::trace_writer {
 public:
  void name_process(std::int64_t /*process*/, const lib::traced_process& /*what*/) override {}
  void name_thread(std::int64_t /*process*/, std::uint32_t /*thread*/, const std::string& /*name*/) override {}
  bool knows_thread(std::int64_t /*process*/, std::uint32_t /*thread*/) const override { return true; }
  void name_device(std::int64_t /*process*/, std::uint32_t /*device*/, const lib::traced_device& /*what*/) override {}
  bool knows_device(std::int64_t /*process*/, std::uint32_t /*device*/) const override { return true; }
  void add(std::int64_t /*process*/, const lib::traced_event& event) override { sum_ += event.end_ns; }
  std::uint64_t lost() const noexcept override { return sum_; }
  void flush() override {}
  void finish() override {}

 private:
  std::uint64_t sum_ = 0;
};
#endif

}  // namespace

int main(int count, char** words) {
  const std::string folder = count > 1 ? words[1] : ".";
  const made_up what;
  const std::string log = folder + "/bench.events", json = folder + "/bench.trace.json",
                    perfetto = folder + "/bench.pftrace";
  std::printf("trace_write_ns %g\n", measure([&] {
                lib::event_log_writer to(log, 1'000'000);
                write(to, what);
              }));
  std::printf("trace_write_chrome_ns %g\n", measure([&] {
                lib::chrome_trace to(json, 1'000'000, static_cast<lib::chrome_trace::kind_words>(adaptyst::to_string),
                                     {});
                write(to, what);
              }));
  const auto write_perfetto = [&](const made_up& of) {
    lib::perfetto_trace to(perfetto, lib::perfetto_trace::read_clocks(1'000'000));
    write(to, of);
  };
  std::printf("trace_write_perfetto_ns %g\n", measure([&] { write_perfetto(what); }));
  std::printf("trace_chrome_bytes %g\ntrace_perfetto_bytes %g\n", bytes_an_event(json), bytes_an_event(perfetto));
  made_up spans = what;
  for (std::size_t at = 0; at != events; ++at) {
    spans.all[at].as = lib::traced_as::scope;
    spans.all[at].site = &what.of[at % sites / 8 * 8];
    spans.all[at].end_ns = spans.all[at].begin_ns + 200;
  }
  write_perfetto(spans);
  std::printf("trace_perfetto_span_bytes %g\n", bytes_an_event(perfetto));
  unlink(perfetto.c_str());
#ifdef ADAPTYST_HAS_SQLITE
  const std::string store = folder + "/bench.sqlite";
  std::printf("trace_write_store_ns %g\n", measure([&] {
                lib::store_writer to(store, 1'000'000, lib::store_writer::appears::at_once);
                write(to, what);
              }));
  std::printf("convert_prv_rows_per_s %g\n", 1e9 / measure([&] {
                                               lib::paraver_writer to(folder + "/bench.prv", {});
                                               lib::bad_rows bad;
                                               lib::open_trace(store)->read(to, 0, bad);
                                               to.finish();
                                             }));
  for (const char* const suffix : {".prv", ".pcf", ".row"}) unlink((folder + "/bench" + suffix).c_str());
  unlink(store.c_str());
  std::printf("trace_read_log_ns %g\n", measure([&] {
                no_writer to;
                lib::bad_rows bad;
                lib::open_trace(log)->read(to, 0, bad);
              }));
#endif
#ifdef ADAPTYST_HAS_OTF2
  const auto remove_archive = [&] {
    for (const char* const part : {"bench", "bench.def", "bench.otf2"})
      std::filesystem::remove_all(std::filesystem::path(folder) / part);
  };
  std::printf("trace_write_otf2_ns %g\n", measure([&] {
                remove_archive();
                const auto to = lib::make_otf2_writer(folder + "/bench.otf2", {});
                write(*to, what);
              }));
  remove_archive();
#endif
  unlink(log.c_str());
  unlink(json.c_str());
}
