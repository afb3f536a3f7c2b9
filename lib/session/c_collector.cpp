// The collector for C: one for each process, shared by start and stop.
#include <adaptyst/collector.h>

#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

namespace adaptyst { inline namespace v1 { namespace {

// Never destroyed: exit() may stop the collector after this file's objects are gone, while another thread calls.
struct started {
  std::mutex mutex;
  std::unique_ptr<collector> running;
  std::string error;
};
started& state() {
  static started* const all = new started;
  return *all;
}

}}}  // namespace adaptyst::v1

extern "C" {

int adaptyst_start(const char* options) {
  try {
    adaptyst::started& all = adaptyst::state();
    const std::lock_guard lock(all.mutex);
    // The constructor of a second collector throws an error and reports the reason.
    auto made = std::make_unique<adaptyst::collector>(std::string_view(options != nullptr ? options : ""));
    if (const adaptyst::error* const failed = made->error()) {
      all.error = failed->what();
      return 0;
    }
    all.error.clear();
    all.running = std::move(made);
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}

void adaptyst_stop() {
  try {
    adaptyst::started& all = adaptyst::state();
    const std::lock_guard lock(all.mutex);
    all.running.reset();
  } catch (const std::exception&) {
    return;
  }
}

const char* adaptyst_collector_error() {
  adaptyst::started& all = adaptyst::state();
  const std::lock_guard lock(all.mutex);
  return all.error.empty() ? nullptr : all.error.c_str();
}

}  // extern "C"
