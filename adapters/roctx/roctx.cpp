// libadaptyst-roctx.so, for preloading: ROCTX ranges become regions, marks become instant events. docs/annotations.md
//
// It intercepts the calls of a program that is linked with ROCTX, or loads it later, and passes them on to the real
// library. Without one, it answers them as the real library does.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <type_traits>

#include "../inheritance.hpp"
#include "../name_limit.hpp"
#include "../ranges.hpp"
#include "../thread_state.hpp"

namespace adaptyst::roctx { namespace {

constexpr source_place place{"", "ROCTX", 0};

// The functions of the real library; null: it has no such function.
struct real_library {
  void (*mark)(const char*);
  int (*push)(const char*);
  int (*pop)();
  std::uint64_t (*start)(const char*);
  void (*stop)(std::uint64_t);
};
constexpr real_library no_library{};
real_library found_library;  // written once, before `real` points to it
std::atomic<const real_library*> real{&no_library};

// False: there is no such library.
bool find_functions(void* in) noexcept {
  const auto find = [in](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(in, name));
  };
  find(found_library.mark, "roctxMarkA");
  find(found_library.push, "roctxRangePushA");
  find(found_library.pop, "roctxRangePop");
  find(found_library.start, "roctxRangeStartA");
  find(found_library.stop, "roctxRangeStop");
  if (found_library.push == nullptr && found_library.mark == nullptr) return false;
  real.store(&found_library, std::memory_order_release);
  return true;
}

// The number of objects that the program has loaded until now, those that it has unloaded included.
unsigned long long count_loaded() noexcept {
  unsigned long long loaded = 0;
  const auto read_count = [](dl_phdr_info* object, std::size_t, void* into) {
    *static_cast<unsigned long long*>(into) = object->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(read_count, &loaded);
  return loaded;
}

std::atomic<unsigned long long> searched{0};  // value of count_loaded() at the last search
std::atomic_flag is_searching = ATOMIC_FLAG_INIT;

// The program may load the library with dlopen(): it is then searched for by its names. Its handle stays open, so that
// the functions stay valid.
void search_loaded() noexcept {
  const adapters::thread_state_kept unchanged;
  const unsigned long long loaded = count_loaded();
  if (loaded == searched.load(std::memory_order_relaxed) || is_searching.test_and_set(std::memory_order_acquire))
    return;
  if (real.load(std::memory_order_relaxed) == &no_library) {
    for (const char* const name : {"libroctx64.so.4", "librocprofiler-sdk-roctx.so.1"}) {
      void* const library = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
      if (library == nullptr) continue;
      if (find_functions(library)) break;
      dlclose(library);
    }
    dlerror();  // the program must not get an error of these searches
    searched.store(loaded, std::memory_order_relaxed);
  }
  is_searching.clear(std::memory_order_release);
}

__attribute__((constructor)) void find_linked() noexcept {
  const adapters::thread_state_kept unchanged;
  if (find_functions(RTLD_NEXT)) adapters::end_inheritance();  // the program is linked with it
  dlerror();
}

// Without a real library, each call costs a lock of the loader. The search is repeated only if objects were loaded.
const real_library& find_real() noexcept {
  const real_library* const library = real.load(std::memory_order_acquire);
  if (library != &no_library) return *library;
  search_loaded();
  return *real.load(std::memory_order_acquire);
}

thread_local adapters::range_stack ranges;
thread_local int passed_on = 0;  // open ranges of this thread that the real library has
thread_local int answered = 0;   // those that were pushed before it was loaded
adapters::range_table started;

adapters::name_limit exact_names("roctx");

// Does not limit the name.
adapters::annotation annotate(const char* message, std::string_view otherwise) noexcept {
  return {message != nullptr && *message != '\0' ? adapters::bounded(message) : otherwise, place};
}
adapters::annotation annotate(const char* message, std::string_view otherwise,
                              adapters::name_limit::buffer& limited) noexcept {
  adapters::annotation made = annotate(message, otherwise);
  made.name = exact_names.limit({}, made.name, limited);
  return made;
}

}}  // namespace adaptyst::roctx

using namespace adaptyst::roctx;

#define ROCTX_CALL extern "C" __attribute__((visibility("default")))

ROCTX_CALL void roctxMarkA(const char* message) {
  if (const auto mark = find_real().mark; mark != nullptr) mark(message);
  if (!adaptyst::detail::is_enabled()) return;
  adaptyst::adapters::name_limit::buffer limited;
  adaptyst::adapters::record_mark(annotate(message, "unnamed mark", limited));
}

// The time of the real library is not in the region.
ROCTX_CALL int roctxRangePushA(const char* message) {
  const auto real_push = find_real().push;
  const int real_level = real_push != nullptr ? real_push(message) : 0;
  ++(real_push != nullptr ? passed_on : answered);
  const int level = adaptyst::adapters::find_once(ranges).push(nullptr, [&] {
    if (!adaptyst::detail::is_enabled()) return adaptyst::callback_region{};
    adaptyst::adapters::name_limit::buffer limited;
    return adaptyst::adapters::begin_range(annotate(message, "unnamed range"),
                                           [&](std::string_view name) { return exact_names.limit({}, name, limited); });
  });
  return real_push != nullptr ? real_level : level;
}

// The real library gets no end of a range that began without it.
ROCTX_CALL int roctxRangePop() {
  const int level = adaptyst::adapters::find_once(ranges).pop(nullptr);
  const auto real_pop = find_real().pop;
  int& open = passed_on == 0 ? answered : passed_on;
  const bool is_passed_on = real_pop != nullptr && (&open == &passed_on || open == 0);
  if (open != 0) --open;
  return is_passed_on ? real_pop() : level;
}

// The real library's number is kept with the range, so that the program gets one number only.
ROCTX_CALL std::uint64_t roctxRangeStartA(const char* message) {
  const auto real_start = find_real().start;
  const std::uint64_t other = real_start != nullptr ? real_start(message) : 0;
  if (!adaptyst::detail::is_enabled()) return other;
  adaptyst::adapters::name_limit::buffer limited;
  const std::uint64_t number = started.start(annotate(message, "unnamed range", limited), other);
  return number != 0 ? number : other;
}

ROCTX_CALL void roctxRangeStop(std::uint64_t number) {
  const auto real_stop = find_real().stop;
  if (adaptyst::adapters::range_table::may_have(number)) number = started.stop(number);
  else if (real_stop == nullptr && number != 0) adaptyst::callback_region::count_unmatched_end();
  if (real_stop != nullptr && number != 0) real_stop(number);
}
