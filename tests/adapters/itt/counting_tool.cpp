// A tool of ITT that counts calls by function, domain and name, and nothing else. At the end of the process, it writes
// them to the file in ITT_COUNTS, a line each.
#include <cstdio>
#include <map>
#include <mutex>

#include "static_part.hpp"

namespace {

using namespace itt_host;

struct counts {
  std::mutex busy;
  std::map<std::string, unsigned long long> calls;
  std::deque<std::string> texts;
  std::deque<itt_domain> domains;
  std::deque<itt_string> strings;

  const char* keep(const char* text) { return texts.emplace_back(text).c_str(); }
};

// Never destroyed: threads of the runtime may call until the process has ended.
counts& all = *new counts;

const struct writer {
  writer() = default;
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer() {
    const char* const file = std::getenv("ITT_COUNTS");
    std::FILE* const to = file != nullptr ? std::fopen(file, "a") : nullptr;
    if (to == nullptr) return;
    const std::lock_guard now(all.busy);
    for (const auto& [call, count] : all.calls) std::fprintf(to, "%s\t%llu\n", call.c_str(), count);
    std::fclose(to);
  }
} at_exit;

void count(const char* function, const itt_domain* in, const char* name) {
  const std::lock_guard now(all.busy);
  ++all.calls[std::string(function) + "\t" + (in != nullptr && in->nameA != nullptr ? in->nameA : "") + "\t" +
              (name != nullptr ? name : "")];
}
const char* text(const itt_string* name) { return name != nullptr ? name->strA : nullptr; }

itt_domain* domain_create(const char* name) {
  const std::lock_guard now(all.busy);
  return &all.domains.emplace_back(itt_domain{1, all.keep(name), nullptr, 0, nullptr, nullptr});
}
itt_string* string_create(const char* name) {
  const std::lock_guard now(all.busy);
  return &all.strings.emplace_back(itt_string{all.keep(name), nullptr, 0, nullptr, nullptr});
}
void task_begin(const itt_domain* in, itt_id, itt_id, itt_string* name) { count("task_begin", in, text(name)); }
void task_end(const itt_domain* in) { count("task_end", in, nullptr); }
void region_begin(const itt_domain* in, itt_id, itt_id, itt_string* name) { count("region_begin", in, text(name)); }
void region_end(const itt_domain* in, itt_id) { count("region_end", in, nullptr); }
void frame_begin(const itt_domain* in, itt_id*) { count("frame_begin", in, nullptr); }
void frame_submit(const itt_domain* in, itt_id*, unsigned long long, unsigned long long) {
  count("frame_submit", in, nullptr);
}
unsigned long long get_timestamp() { return 1; }
void marker(const itt_domain* in, itt_id, itt_string* name, int) { count("marker", in, text(name)); }
void task_group(const itt_domain* in, itt_id, itt_id, itt_string* name) { count("task_group", in, text(name)); }
void thread_set_name(const char* name) { count("thread_set_name", nullptr, name); }

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void __itt_api_init(global* part, int) {
  const std::map<std::string, void*> own = {
      {"__itt_domain_create", address(domain_create)}, {"__itt_string_handle_create", address(string_create)},
      {"__itt_task_begin", address(task_begin)},       {"__itt_task_end", address(task_end)},
      {"__itt_region_begin", address(region_begin)},   {"__itt_region_end", address(region_end)},
      {"__itt_frame_begin_v3", address(frame_begin)},  {"__itt_frame_submit_v3", address(frame_submit)},
      {"__itt_get_timestamp", address(get_timestamp)}, {"__itt_marker", address(marker)},
      {"__itt_task_group", address(task_group)},       {"__itt_thread_set_name", address(thread_set_name)}};
  for (api_info* info = part->api_list_ptr; info->name != nullptr; ++info) {
    const auto found = own.find(info->name);
    *info->func_ptr = found != own.end() ? found->second : info->null_func;
  }
}
