// libadaptyst-roctx.so, for preloading: ROCTX ranges become regions, marks become instant events. docs/annotations.md
//
// It intercepts the calls of a program that is linked with ROCTX, and passes them on to the real library. Without one,
// it answers them as the real library does.
#include <dlfcn.h>

#include <cerrno>

#include "../ranges.hpp"

namespace adaptyst::roctx { namespace {

constexpr source_place place{"", "ROCTX", 0};

// The functions of the real library; null: there is none.
struct real_library {
  void (*mark)(const char*);
  int (*push)(const char*);
  int (*pop)();
  std::uint64_t (*start)(const char*);
  void (*stop)(std::uint64_t);
};
real_library real;

template <class Function>
void find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void find_real_library() noexcept {
  const int kept_errno = errno;
  find(real.mark, "roctxMarkA");
  find(real.push, "roctxRangePushA");
  find(real.pop, "roctxRangePop");
  find(real.start, "roctxRangeStartA");
  find(real.stop, "roctxRangeStop");
  dlerror();  // the program must not get an error of these searches
  errno = kept_errno;
}

thread_local adapters::range_stack ranges;
adapters::range_table started;

adapters::annotation annotate(const char* message, std::string_view otherwise) noexcept {
  return {message != nullptr && *message != '\0' ? adapters::bounded(message) : otherwise, place};
}

}}  // namespace adaptyst::roctx

using namespace adaptyst::roctx;

#define ROCTX_CALL extern "C" __attribute__((visibility("default")))

ROCTX_CALL void roctxMarkA(const char* message) {
  if (real.mark != nullptr) real.mark(message);
  if (adaptyst::detail::is_enabled()) adaptyst::adapters::record_mark(annotate(message, "unnamed mark"));
}

// The time of the real library is not in the region.
ROCTX_CALL int roctxRangePushA(const char* message) {
  const int real_level = real.push != nullptr ? real.push(message) : 0;
  const int level = ranges.push(nullptr, [&] {
    return adaptyst::detail::is_enabled() ? adaptyst::adapters::begin_range(annotate(message, "unnamed range"))
                                          : adaptyst::callback_region{};
  });
  return real.push != nullptr ? real_level : level;
}

ROCTX_CALL int roctxRangePop() {
  const int level = ranges.pop(nullptr);
  return real.pop != nullptr ? real.pop() : level;
}

// The real library's number is kept with the range, so that the program gets one number only.
ROCTX_CALL std::uint64_t roctxRangeStartA(const char* message) {
  const std::uint64_t other = real.start != nullptr ? real.start(message) : 0;
  if (!adaptyst::detail::is_enabled()) return other;
  const std::uint64_t number = started.start(annotate(message, "unnamed range"), other);
  return number != 0 ? number : other;
}

ROCTX_CALL void roctxRangeStop(std::uint64_t number) {
  if (adaptyst::adapters::range_table::may_have(number)) number = started.stop(number);
  else if (real.stop == nullptr && number != 0) adaptyst::callback_region::count_unmatched_end();
  if (real.stop != nullptr && number != 0) real.stop(number);
}
