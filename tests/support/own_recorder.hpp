// For programs that are built without the collector: wakes the recorder that the markers carry, and reads it.
#ifndef ADAPTYST_TESTS_SUPPORT_OWN_RECORDER_HPP
#define ADAPTYST_TESTS_SUPPORT_OWN_RECORDER_HPP

#include <adaptyst/region.hpp>
#ifndef ADAPTYST_DISABLE
#include <adaptyst/detail/recorder.hpp>
#endif

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace support {

#ifdef ADAPTYST_DISABLE

constexpr bool markers_are_compiled = false;

struct own_recorder {
  unsigned long long count(std::initializer_list<const char*>) const { return 0; }
  unsigned long long begun() const { return 0; }
};

#else

constexpr bool markers_are_compiled = true;

// While one lives, the markers of all ELF objects of the process are awake.
class own_recorder {
 public:
  own_recorder() : process_(adaptyst::detail::get_process(adaptyst_object_v5)) {
    adaptyst::detail::begin_epoch(*process_);
    set_enabled(1);
  }
  ~own_recorder() { set_enabled(0); }
  own_recorder(const own_recorder&) = delete;
  own_recorder& operator=(const own_recorder&) = delete;

  // How often the path with these names ended, on all threads.
  unsigned long long count(std::initializer_list<const char*> names) const {
    using namespace adaptyst::detail;
    unsigned long long sum = 0;
    for (const recorder* r = process_->control.recorders; r != nullptr; r = r->next) {
      if (r->epoch != process_->control.epoch) continue;
      for (unsigned at = 0; at != r->rows_used; ++at) {
        const row& row = r->chunks[at / rows_per_chunk]->rows[at % rows_per_chunk];
        const adaptyst_path* path = row.path;
        const char* const* name = names.end();
        while (path != nullptr && name != names.begin() && path->site->name_bytes == std::strlen(name[-1]) &&
               std::strcmp(path->site->name, name[-1]) == 0)
          path = path->parent, --name;
        if (path == nullptr && name == names.begin()) sum += row.count;
      }
    }
    return sum;
  }

  // All events that began, and are accounted for by nothing that was lost.
  unsigned long long begun() const {
    unsigned long long sum = 0;
    for (const adaptyst::detail::recorder* r = process_->control.recorders; r != nullptr; r = r->next)
      if (r->epoch == process_->control.epoch) sum += r->begun + (r->serial - r->first_serial);
    return sum;
  }

 private:
  void set_enabled(unsigned readers) {
    adaptyst::detail::for_each_object([&](adaptyst_object& object, const adaptyst::detail::loaded_object&) {
      adaptyst::detail::store(object.process, reinterpret_cast<std::uintptr_t>(process_));
      adaptyst::detail::store(object.recorder, readers);
      return true;
    });
  }

  adaptyst::detail::process* process_;
};

#endif

// For programs without a test framework: says what differs, and how many did.
class expectations {
 public:
  void equal(const char* what, unsigned long long found, unsigned long long expected) {
    if (found == expected) return;
    std::printf("%s: %llu, expected %llu\n", what, found, expected);
    ++failed_;
  }
  int result() const { return failed_ == 0 ? 0 : 1; }

 private:
  int failed_ = 0;
};

}  // namespace support

#endif
