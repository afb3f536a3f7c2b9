// libadaptyst-nvtx.so, for NVTX_INJECTION64_PATH: NVTX ranges become regions, marks become instant events.
// docs/annotations.md
//
// Names are compared by content: a program may write the next name into the same buffer. A domain is a prefix of the
// names, "domain:name". A region for the domain would have to begin and end with each outermost range, and ranges of
// two domains that cross would be lost with it.
#include <dlfcn.h>

#include <cstdio>

#include "../name_cache.hpp"
#include "../name_limit.hpp"
#include "../ranges.hpp"
#include "../thread_name.hpp"
#include "../thread_state.hpp"
#include "nvtx_abi.hpp"

namespace adaptyst::nvtx { namespace {

using adapters::annotation;

constexpr source_place place{"", "NVTX", 0};
constexpr std::string_view unnamed_range = "unnamed range";

thread_local adapters::range_stack ranges;
adapters::range_table started;
adapters::name_limit exact_names("nvtx");

// ---- names --------------------------------------------------------------------------------------------------------

// A name made of parts, as UTF-8. A part without room is cut; wide text is cut between characters.
class composed_name {
 public:
  void add(std::string_view part) noexcept {
    const std::size_t bytes = part.size() < sizeof bytes_ - used_ ? part.size() : sizeof bytes_ - used_;
    std::memcpy(bytes_ + used_, part.data(), bytes);
    used_ += bytes;
  }

  void add(const wchar_t* part) noexcept {
    static_assert(sizeof(wchar_t) == 4);
    for (; *part != 0; ++part) {
      auto code = static_cast<std::uint32_t>(*part);
      if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;            // no character
      const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // further bytes
      if (used_ + more >= sizeof bytes_) return;
      constexpr std::uint8_t first[] = {0, 0xC0, 0xE0, 0xF0};
      bytes_[used_++] = static_cast<char>(first[more] | (code >> (6 * more)));
      for (unsigned left = more; left-- != 0;)
        bytes_[used_++] = static_cast<char>(0x80 | ((code >> (6 * left)) & 0x3F));
    }
  }
  void add(const char* part) noexcept { add(adapters::bounded(part)); }

  std::string_view get() const noexcept { return {bytes_, used_}; }
  // The name of a range, with the limit of names.
  std::string_view limit(const char* domain, std::string_view name) noexcept {
    return exact_names.limit(domain != nullptr ? adapters::bounded(domain) : std::string_view(), name, limited_);
  }

 private:
  char limited_[adapters::max_name_bytes];
  char bytes_[adapters::max_name_bytes];
  std::size_t used_ = 0;
};

// Domains (with a colon at the end), registered strings (with their domain), and names of categories. The program's
// handles of domains and strings point to them. An invalid handle is detected without reading its memory.
constexpr unsigned max_names = 4096;
adapters::bounded_name_cache<max_names, 13> names;

enum class name_use : std::uint64_t { domain, registered, category };

const char* keep_name(name_use use, std::string_view name) noexcept {
  const adapters::thread_state_kept unchanged;
  const std::uint64_t key = detail::hash(static_cast<std::uint64_t>(use), {name.data(), name.size()}) | 1;
  const char* const kept = names.find(key, [&](char(&text)[128]) {
    std::memcpy(text, name.data(), name.size());
    text[name.size()] = '\0';
  });
  static std::atomic_flag is_reported = ATOMIC_FLAG_INIT;
  if (kept == nullptr && !is_reported.test_and_set())
    std::fprintf(stderr,
                 "adaptyst: --with nvtx: no room for further registered strings, domains and categories (%u); ranges "
                 "with them are named \"unnamed range\" or have no domain and category\n",
                 max_names);
  return kept;
}

// The text of a handle; null: no handle, or an invalid one.
const char* find_text(const void* handle) noexcept {
  return names.contains(handle) ? static_cast<const char*>(handle) : nullptr;
}

// False: the text is null or empty.
template <class Character>
bool has_text(const Character* text) noexcept {
  return text != nullptr && *text != 0;
}

std::string_view find_name(const char* domain, const event_attributes& event, std::string_view otherwise,
                           composed_name& buffer) noexcept {
  const message_value message = event.message;
  if (event.message_type == message_registered)
    if (const char* const text = find_text(message.registered)) return text;
  if (event.message_type == message_ascii && has_text(message.ascii) && domain == nullptr)
    return adapters::bounded(message.ascii);
  if (domain != nullptr) buffer.add(domain);
  if (event.message_type == message_ascii && has_text(message.ascii)) buffer.add(message.ascii);
  else if (event.message_type == message_wide && has_text(message.wide)) buffer.add(message.wide);
  else buffer.add(otherwise);
  return buffer.get();
}

// ---- categories ---------------------------------------------------------------------------------------------------

struct category {
  std::atomic<std::uint64_t> key;  // 0: free
  std::atomic<const char*> name;
};
constexpr std::size_t max_categories = 1024;
category categories[max_categories];

// Null: no room, or no such category and `makes` is false.
category* find_category(const char* domain, std::uint32_t number, bool makes) noexcept {
  const std::uint64_t key = detail::mix(detail::mix(reinterpret_cast<std::uintptr_t>(domain)) ^ number) | 1;
  for (std::size_t step = 0; step != max_categories; ++step) {
    category& at = categories[(key + step) % max_categories];
    std::uint64_t there = at.key.load(std::memory_order_acquire);
    if (there == 0 && (!makes || at.key.compare_exchange_strong(there, key))) return makes ? &at : nullptr;
    if (there == key) return &at;
  }
  return nullptr;
}

template <class Character>
void name_category(const char* domain, std::uint32_t number, const Character* name) noexcept {
  category* const named = has_text(name) ? find_category(domain, number, true) : nullptr;
  if (named == nullptr) return;
  composed_name text;
  text.add(name);
  if (const char* const kept = keep_name(name_use::category, text.get()))
    named->name.store(kept, std::memory_order_release);
}

const char* find_label(const char* domain, std::uint32_t number) noexcept {
  if (number == 0) return "";
  const category* const named = find_category(domain, number, false);
  const char* const name = named != nullptr ? named->name.load(std::memory_order_acquire) : nullptr;
  if (name != nullptr) return name;
  char unnamed[24];
  const int bytes = std::snprintf(unnamed, sizeof unnamed, "category %u", number);
  const char* const kept = keep_name(name_use::category, {unnamed, static_cast<std::size_t>(bytes)});
  return kept != nullptr ? kept : "";
}

// ---- events -------------------------------------------------------------------------------------------------------

constexpr event_attributes no_attributes{};

// Attributes that are too short for a message have no name.
const event_attributes& check(const event_attributes* event) noexcept {
  return event != nullptr && event->bytes >= sizeof *event ? *event : no_attributes;
}

event_attributes with_message(const char* message) noexcept {
  event_attributes made{};
  made.message_type = message_ascii;
  made.message.ascii = message;
  return made;
}
event_attributes with_message(const wchar_t* message) noexcept {
  event_attributes made{};
  made.message_type = message_wide;
  made.message.wide = message;
  return made;
}

// Does not limit the name.
annotation annotate(const char* domain, const event_attributes& event, std::string_view otherwise,
                    composed_name& buffer) noexcept {
  annotation made{find_name(domain, event, otherwise, buffer), place, find_label(domain, event.category), true, 0};
  made.has_color = event.color_type == color_argb;
  made.color = event.color & 0xFFFFFF;  // viewers have no use for alpha
  switch (event.payload_type) {
    case payload_uint64: made.payload = static_cast<double>(event.payload.of_uint64); break;
    case payload_int64: made.payload = static_cast<double>(event.payload.of_int64); break;
    case payload_double: made.payload = event.payload.of_double; break;
    case payload_uint32: made.payload = event.payload.of_uint32; break;
    case payload_int32: made.payload = event.payload.of_int32; break;
    case payload_float: made.payload = static_cast<double>(event.payload.of_float); break;
    default: made.has_payload = false; break;
  }
  return made;
}

annotation annotate_limited(const char* domain, const event_attributes& event, std::string_view otherwise,
                            composed_name& buffer) noexcept {
  annotation made = annotate(domain, event, otherwise, buffer);
  made.name = buffer.limit(domain, made.name);
  return made;
}

void mark(const char* domain, const event_attributes& event) noexcept {
  if (!detail::is_enabled()) return;
  composed_name buffer;
  adapters::record_mark(annotate_limited(domain, event, "unnamed mark", buffer));
}

int push(const char* domain, const event_attributes& event) noexcept {
  return adapters::find_once(ranges).push(domain, [&] {
    if (!detail::is_enabled()) return callback_region{};
    composed_name buffer;
    return adapters::begin_range(annotate(domain, event, unnamed_range, buffer),
                                 [&](std::string_view name) { return buffer.limit(domain, name); });
  });
}

// 0: the tool does not track this range.
std::uint64_t start(const char* domain, const event_attributes& event) noexcept {
  if (!detail::is_enabled()) return 0;
  composed_name buffer;
  return started.start(annotate_limited(domain, event, unnamed_range, buffer));
}

void stop(std::uint64_t number) noexcept {
  if (number != 0) started.stop(number);
}

template <class Character>
void name_thread(std::uint32_t thread, const Character* name) noexcept {
  if (!has_text(name)) return;
  composed_name text;
  text.add(name);
  adapters::name_thread(thread, text.get());
}

// A prefix leaves room for the names of ranges.
template <class Character>
const void* create_domain(const Character* name) noexcept {
  if (!has_text(name)) return nullptr;
  constexpr std::size_t max_prefix_bytes = 63;
  composed_name text;
  text.add(name);
  composed_name prefix;
  prefix.add(text.get().substr(0, max_prefix_bytes));
  prefix.add(":");
  return keep_name(name_use::domain, prefix.get());
}

template <class Character>
const void* register_string(const void* domain, const Character* string) noexcept {
  composed_name name;
  if (const char* const prefix = find_text(domain)) name.add(prefix);
  if (has_text(string)) name.add(string);
  else name.add(unnamed_range);
  return keep_name(name_use::registered, name.get());
}

// ---- functions that NVTX calls --------------------------------------------------------------------------------------

void mark_ex(const event_attributes* event) noexcept { mark(nullptr, check(event)); }
std::uint64_t range_start_ex(const event_attributes* event) noexcept { return start(nullptr, check(event)); }
int range_push_ex(const event_attributes* event) noexcept { return push(nullptr, check(event)); }
int range_pop() noexcept { return adapters::find_once(ranges).pop(nullptr); }

template <class Character>
void mark_text(const Character* message) noexcept {
  mark(nullptr, with_message(message));
}
template <class Character>
std::uint64_t range_start_text(const Character* message) noexcept {
  return start(nullptr, with_message(message));
}
// The most frequent annotation, without a detour through attributes.
int range_push_a(const char* message) noexcept {
  return adapters::find_once(ranges).push(nullptr, [message] {
    if (!detail::is_enabled()) return callback_region{};
    adapters::name_limit::buffer limited;
    return adapters::begin_range({has_text(message) ? adapters::bounded(message) : unnamed_range, place},
                                 [&](std::string_view name) { return exact_names.limit({}, name, limited); });
  });
}
int range_push_w(const wchar_t* message) noexcept { return push(nullptr, with_message(message)); }
template <class Character>
void name_default_category(std::uint32_t number, const Character* name) noexcept {
  name_category(nullptr, number, name);
}
template <class Character>
void name_os_thread(std::uint32_t thread, const Character* name) noexcept {
  name_thread(thread, name);
}

void domain_mark_ex(const void* domain, const event_attributes* event) noexcept {
  mark(find_text(domain), check(event));
}
std::uint64_t domain_range_start_ex(const void* domain, const event_attributes* event) noexcept {
  return start(find_text(domain), check(event));
}
void domain_range_end(const void*, std::uint64_t number) noexcept { stop(number); }
int domain_range_push_ex(const void* domain, const event_attributes* event) noexcept {
  return push(find_text(domain), check(event));
}
int domain_range_pop(const void* domain) noexcept { return adapters::find_once(ranges).pop(find_text(domain)); }
template <class Character>
void domain_name_category(const void* domain, std::uint32_t number, const Character* name) noexcept {
  name_category(find_text(domain), number, name);
}

// ---- injection ----------------------------------------------------------------------------------------------------

struct replaced_function {
  std::uint32_t number;
  any_function by;
};

template <class Function>
replaced_function replace(std::uint32_t number, Function* by) noexcept {
  return {number, reinterpret_cast<any_function>(by)};
}

template <std::size_t Count>
bool install(const callbacks& table, module_number module, const replaced_function (&functions)[Count]) noexcept {
  any_function** slots = nullptr;
  std::uint32_t count = 0;
  if (table.get_functions(module, &slots, &count) == 0 || slots == nullptr) return false;
  for (const replaced_function& function : functions)
    if (function.number < count && slots[function.number] != nullptr) *slots[function.number] = function.by;
  return true;
}

bool install_all(const callbacks& table) noexcept {
  const replaced_function of_core[] = {
      replace(core_function::mark_ex, mark_ex),
      replace(core_function::mark_a, mark_text<char>),
      replace(core_function::mark_w, mark_text<wchar_t>),
      replace(core_function::range_start_ex, range_start_ex),
      replace(core_function::range_start_a, range_start_text<char>),
      replace(core_function::range_start_w, range_start_text<wchar_t>),
      replace(core_function::range_end, stop),
      replace(core_function::range_push_ex, range_push_ex),
      replace(core_function::range_push_a, range_push_a),
      replace(core_function::range_push_w, range_push_w),
      replace(core_function::range_pop, range_pop),
      replace(core_function::name_category_a, name_default_category<char>),
      replace(core_function::name_category_w, name_default_category<wchar_t>),
      replace(core_function::name_os_thread_a, name_os_thread<char>),
      replace(core_function::name_os_thread_w, name_os_thread<wchar_t>),
  };
  const replaced_function of_core2[] = {
      replace(core2_function::mark_ex, domain_mark_ex),
      replace(core2_function::range_start_ex, domain_range_start_ex),
      replace(core2_function::range_end, domain_range_end),
      replace(core2_function::range_push_ex, domain_range_push_ex),
      replace(core2_function::range_pop, domain_range_pop),
      replace(core2_function::name_category_a, domain_name_category<char>),
      replace(core2_function::name_category_w, domain_name_category<wchar_t>),
      replace(core2_function::register_string_a, register_string<char>),
      replace(core2_function::register_string_w, register_string<wchar_t>),
      replace(core2_function::create_a, create_domain<char>),
      replace(core2_function::create_w, create_domain<wchar_t>),
  };
  const bool has_core = install(table, core, of_core);
  return install(table, core2, of_core2) || has_core;
}

// A tool that is linked into the program. NVTX ignores it while NVTX_INJECTION64_PATH is set.
initialize_injection* find_linked_tool() noexcept {
  const auto* const place_of_tool =
      static_cast<initialize_injection* const*>(dlsym(RTLD_DEFAULT, "InitializeInjectionNvtx2_fnptr"));
  if (place_of_tool == nullptr) dlerror();  // the program must not get this error
  return place_of_tool != nullptr ? *place_of_tool : nullptr;
}

}}  // namespace adaptyst::nvtx

// Called once for each program and library with NVTX.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    adaptyst::nvtx::get_export_table* get) noexcept {
  using namespace adaptyst::nvtx;
  const adaptyst::adapters::thread_state_kept unchanged;
  if (initialize_injection* const linked = find_linked_tool()) {
    static std::atomic_flag is_reported = ATOMIC_FLAG_INIT;
    if (!is_reported.test_and_set())
      std::fputs(
          "adaptyst: --with nvtx: the program is linked with another NVTX tool, which gets the annotations; "
          "NVTX is not observed\n",
          stderr);
    return linked(get);
  }
  const auto* const table = static_cast<const callbacks*>(get != nullptr ? get(callbacks_table) : nullptr);
  const bool is_complete = table != nullptr && table->bytes >= sizeof *table && table->get_functions != nullptr;
  if (is_complete && install_all(*table)) return 1;
  std::fputs("adaptyst: --with nvtx: this version of NVTX has no table of functions; NVTX is not observed\n", stderr);
  return 0;
}
