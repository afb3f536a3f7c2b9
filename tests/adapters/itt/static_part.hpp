// A stand-in for the static part of ITT, which a program with annotations contains. It follows ITT's protocol: objects
// that are created before the first annotation are its own; the first annotation loads the tool in INTEL_LIBITTNOTIFY64.
// The layouts are declared once more, so that an error in those of the adapter is noticed.
#ifndef ADAPTYST_TESTS_ITT_STATIC_PART_HPP
#define ADAPTYST_TESTS_ITT_STATIC_PART_HPP

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace itt_host {

struct itt_id {
  unsigned long long d1, d2, d3;
};

struct itt_domain {
  volatile int flags;
  const char* nameA;
  void* nameW;
  int extra1;
  void* extra2;
  itt_domain* next;
};

struct itt_string {
  const char* strA;
  void* strW;
  int extra1;
  void* extra2;
  itt_string* next;
};

struct itt_counter {
  const char* nameA;
  void* nameW;
  const char* domainA;
  void* domainW;
  int type;
  long index;
  int extra1;
  void* extra2;
  itt_counter* next;
};

struct api_info {
  const char* name;
  void** func_ptr;
  void* init_func;
  void* null_func;
  int group;
};

struct global {
  unsigned char magic[8];
  unsigned long version_major, version_minor, version_build;
  volatile long api_initialized, mutex_initialized, atomic_counter;
  pthread_mutex_t mutex;
  void* lib;
  void* error_handler;
  const char** dll_path_ptr;
  api_info* api_list_ptr;
  global* next;
  void* thread_list;
  itt_domain* domain_list;
  itt_string* string_list;
  int state;
  itt_counter* counter_list;
  unsigned ipt_collect_events;
};

using api_init = void (*)(global*, int);

inline void initial_function() {}  // of all functions: its address only is used
inline void* initial() { return reinterpret_cast<void*>(&initial_function); }

// Not thread-safe until the first annotation has returned.
class static_part {
 public:
  static_part() {
    // Those that the program itself has have a value without a tool as well.
    for (const char* const name :
         {"domain_create", "string_handle_create", "counter_create", "counter_create_typed", "counter_create_v3",
          "pause", "resume", "pause_scoped", "resume_scoped", "thread_set_name", "enable_attach"})
      list(name, initial());
    for (const char* const name : {"sync_prepare",
                                   "task_begin",
                                   "task_begin_fn",
                                   "task_end",
                                   "task_begin_ex",
                                   "task_begin_fn_ex",
                                   "task_end_ex",
                                   "task_begin_overlapped",
                                   "task_end_overlapped",
                                   "task_begin_overlapped_ex",
                                   "task_end_overlapped_ex",
                                   "region_begin",
                                   "region_end",
                                   "frame_begin_v3",
                                   "frame_end_v3",
                                   "frame_submit_v3",
                                   "get_timestamp",
                                   "marker",
                                   "marker_ex",
                                   "counter_inc",
                                   "counter_inc_delta",
                                   "counter_dec",
                                   "counter_dec_delta",
                                   "counter_inc_v3",
                                   "counter_inc_delta_v3",
                                   "counter_dec_v3",
                                   "counter_dec_delta_v3",
                                   "counter_set_value",
                                   "counter_set_value_ex",
                                   "counter_set_value_v3",
                                   "metadata_add",
                                   "task_group"})
      list(name, nullptr);
    infos_.push_back({nullptr, nullptr, nullptr, nullptr, 0});
    all.api_list_ptr = infos_.data();
  }
  static_part(const static_part&) = delete;
  static_part& operator=(const static_part&) = delete;

  // As the first annotation does.
  void load() {
    if (all.api_initialized != 0) return;
    const char* const tool = std::getenv("INTEL_LIBITTNOTIFY64");
    if (tool != nullptr) all.lib = dlopen(tool, RTLD_LAZY);
    if (all.lib != nullptr) {
      const auto init = reinterpret_cast<api_init>(dlsym(all.lib, "__itt_api_init"));
      if (init != nullptr) init(&all, -1);
    } else {
      for (const api_info& info : infos_)
        if (info.name != nullptr) *info.func_ptr = info.null_func;
    }
    all.api_initialized = 1;
  }

  void* pointer(const std::string& name) const {
    for (std::size_t at = 0; at != names_.size(); ++at)
      if (names_[at] == "__itt_" + name) return pointers_[at];
    return nullptr;
  }

  // Calls a function if the tool has it. The macros of ITT test the domain before.
  template <class Result, class... Parameters, class... Arguments>
  Result call(Result (*)(Parameters...), const char* name, Arguments... arguments) {
    load();
    void* const function = pointer(name);
    if (function == nullptr || function == initial()) return Result();
    return reinterpret_cast<Result (*)(Parameters...)>(function)(arguments...);
  }

  itt_domain* domain(const char* name) {
    if (all.api_initialized != 0)
      return call(static_cast<itt_domain* (*)(const char*)>(nullptr), "domain_create", name);
    return &domains_.emplace_back(itt_domain{1, name, nullptr, 0, nullptr, nullptr});
  }
  itt_string* string(const char* name) {
    if (all.api_initialized != 0)
      return call(static_cast<itt_string* (*)(const char*)>(nullptr), "string_handle_create", name);
    return &strings_.emplace_back(itt_string{name, nullptr, 0, nullptr, nullptr});
  }
  itt_counter* counter(const char* name, const char* in, int type) {
    if (all.api_initialized != 0)
      return call(static_cast<itt_counter* (*)(const char*, const char*, int)>(nullptr), "counter_create_typed", name,
                  in, type);
    return &counters_.emplace_back(itt_counter{name, nullptr, in, nullptr, type, 0, 0, nullptr, nullptr});
  }

  using named = void (*)(const itt_domain*, itt_id, itt_id, itt_string*);
  void begin(const itt_domain* in, itt_string* name) {
    if (in->flags != 0) call(named{}, "task_begin", in, itt_id{}, itt_id{}, name);
  }
  void end(const itt_domain* in) {
    if (in->flags != 0) call(static_cast<void (*)(const itt_domain*)>(nullptr), "task_end", in);
  }
  // task, region: what it is with this id.
  void begin(const char* function, const itt_domain* in, itt_id id, itt_string* name) {
    if (in->flags != 0) call(named{}, function, in, id, itt_id{}, name);
  }
  void end(const char* function, const itt_domain* in, itt_id id) {
    if (in->flags != 0) call(static_cast<void (*)(const itt_domain*, itt_id)>(nullptr), function, in, id);
  }
  void frame(const char* function, const itt_domain* in, itt_id* id) {
    if (in->flags != 0) call(static_cast<void (*)(const itt_domain*, itt_id*)>(nullptr), function, in, id);
  }
  void set(itt_counter* counter, void* value) {
    call(static_cast<void (*)(itt_counter*, void*)>(nullptr), "counter_set_value", counter, value);
  }
  void plain(const char* function) { call(static_cast<void (*)()>(nullptr), function); }

  global all{{0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30},
             3,
             0,
             20180723,
             0,
             0,
             0,
             PTHREAD_MUTEX_INITIALIZER,
             nullptr,
             nullptr,
             nullptr,
             nullptr,
             nullptr,
             nullptr,
             nullptr,
             nullptr,
             0,
             nullptr,
             0};

 private:
  void list(const std::string& name, void* none) {
    names_.push_back("__itt_" + name);
    pointers_.push_back(initial());
    infos_.push_back({names_.back().c_str(), &pointers_.back(), initial(), none, 0});
  }

  std::deque<std::string> names_;
  std::deque<void*> pointers_;
  std::vector<api_info> infos_;
  std::deque<itt_domain> domains_;
  std::deque<itt_string> strings_;
  std::deque<itt_counter> counters_;
};

}  // namespace itt_host

#endif
