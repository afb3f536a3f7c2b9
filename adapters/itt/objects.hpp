// Domains, names and counters that the program creates through this library, and the names of events.
#ifndef ADAPTYST_ADAPTERS_ITT_OBJECTS_HPP
#define ADAPTYST_ADAPTERS_ITT_OBJECTS_HPP

#include <adaptyst/region.hpp>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "../name_cache.hpp"
#include "../thread_state.hpp"
#include "static_part.hpp"

namespace adaptyst::itt {

// "domain:name", or "name" in a domain without a name. A long domain is cut first.
class event_name {
 public:
  event_name(const char* domain, const char* name) noexcept {
    if (domain != nullptr && *domain != '\0') {
      add(domain, max_domain);
      text_[bytes_++] = ':';
    }
    add(name, sizeof text_ - bytes_);
  }
  event_name(const domain* of, const char* name) noexcept : event_name(of != nullptr ? of->name : nullptr, name) {}

  std::string_view get() const noexcept { return {text_, bytes_}; }

 private:
  void add(const char* text, std::size_t max) noexcept {
    const std::size_t bytes = strnlen(text, max);
    std::memcpy(text_ + bytes_, text, bytes);
    bytes_ += bytes;
  }

  static constexpr std::size_t max_domain = 63;
  char text_[127];  // longer names are cut
  std::size_t bytes_ = 0;
};

// Objects with a text, each found by its text. They stay valid until the process ends.
template <class Object>
class object_table {
 public:
  // `make` makes the object from its stored text. Beyond 1,000 texts: `further`, with a warning.
  template <class Make>
  Object* find(std::string_view text, std::uint64_t seed, const char* what, Object* further, Make&& make) noexcept {
    const adapters::thread_state_kept unchanged;
    const std::uint64_t key = detail::hash(seed, {text.data(), text.size()}) | 1;
    entry* const found = entries_.find(key, [&](entry& made) {
      const std::size_t bytes = text.size() < sizeof made.text ? text.size() : sizeof made.text - 1;
      std::memcpy(made.text, text.data(), bytes);
      make(made.object, made.text);
    });
    if (found != nullptr) return &found->object;
    if (!has_warned_.test_and_set())
      std::fprintf(stderr, "adaptyst: ITT: more than 1,000 %s; further ones are %s\n", what,
                   further != nullptr ? "reported as one" : "not recorded");
    return further;
  }

 private:
  struct entry {
    Object object;
    char text[128];
  };
  adapters::known_values<entry> entries_;
  std::atomic_flag has_warned_ = ATOMIC_FLAG_INIT;
};

}  // namespace adaptyst::itt

#endif
