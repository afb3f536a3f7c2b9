// A limit of the names of ranges. Programs number their ranges, such as "step 17": each name would be a row.
//
// The first 1,000 names of a domain stay as they are. In further names, '#' replaces each number: all steps are then
// "step #". After 1,000 of such names, a range is "(other names)". The counts of rows stay exact.
//
// Nothing here allocates memory or waits for a lock. Threads that add the last names at the same time may exceed the
// limit by one name each.
#ifndef ADAPTYST_ADAPTERS_NAME_LIMIT_HPP
#define ADAPTYST_ADAPTERS_NAME_LIMIT_HPP

#include <adaptyst/region.hpp>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "ranges.hpp"
#include "thread_state.hpp"

namespace adaptyst::adapters {

class name_limit {
 public:
  using buffer = char[max_name_bytes];

  // `interface`: the word of --with, for the message.
  constexpr explicit name_limit(const char* interface) noexcept : interface_(interface) {}

  // The name for a range of a domain. `prefix`: of the name, with the domain; empty: the default domain. The result
  // may be in `made`.
  std::string_view limit(std::string_view prefix, std::string_view name, buffer& made) noexcept {
    const std::uint64_t domain = detail::hash(0, {prefix.data(), prefix.size()}) | 1;
    if (has_name(domain, name)) return name;
    return limit_new(domain, prefix, name, made);
  }

 private:
  static constexpr std::uint32_t max_exact = 1000, max_all = 2000;  // of a domain
  static constexpr std::size_t slots = 16384, max_used = slots / 2, max_domains = 64;
  struct domain_names {
    std::atomic<std::uint64_t> key{0};  // 0: free
    std::atomic<std::uint32_t> count{0};
  };

  static std::uint64_t key_of(std::uint64_t domain, std::string_view name) noexcept {
    return detail::hash(domain, {name.data(), name.size()}) | 1;
  }

  bool has_name(std::uint64_t domain, std::string_view name) const noexcept {
    const std::uint64_t key = key_of(domain, name);
    for (std::uint64_t at = key >> 20U;; ++at) {
      const std::uint64_t there = name_keys_[at % slots].load(std::memory_order_relaxed);
      if (there == key) return true;
      if (there == 0) return false;
    }
  }

  // False: no room for another name of the domain.
  bool add(std::uint64_t domain, std::string_view name, std::uint32_t max_names) noexcept {
    domain_names& of = find_domain(domain);
    if (of.count.load(std::memory_order_relaxed) >= max_names || used_.load(std::memory_order_relaxed) >= max_used)
      return false;
    const std::uint64_t key = key_of(domain, name);
    for (std::uint64_t at = key >> 20U;; ++at) {
      std::uint64_t there = 0;
      if (name_keys_[at % slots].compare_exchange_strong(there, key, std::memory_order_relaxed)) break;
      if (there == key) return true;
    }
    of.count.fetch_add(1, std::memory_order_relaxed);
    used_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Further domains share the last account.
  domain_names& find_domain(std::uint64_t domain) noexcept {
    for (domain_names& of : domains_) {
      std::uint64_t there = of.key.load(std::memory_order_relaxed);
      if (there == 0 && of.key.compare_exchange_strong(there, domain, std::memory_order_relaxed)) return of;
      if (there == domain) return of;
    }
    return domains_[max_domains - 1];
  }

  [[gnu::noinline]] std::string_view limit_new(std::uint64_t domain, std::string_view prefix, std::string_view name,
                                               buffer& made) noexcept {
    if (add(domain, name, max_exact)) return name;
    report(prefix);
    std::size_t used = 0;
    bool is_number = false;
    for (std::size_t at = 0; at != name.size(); ++at) {
      const bool was_number = is_number;
      is_number = at >= prefix.size() && name[at] >= '0' && name[at] <= '9';
      if (!is_number) made[used++] = name[at];
      else if (!was_number) made[used++] = '#';
    }
    const std::string_view without_numbers(made, used);
    if (has_name(domain, without_numbers) || add(domain, without_numbers, max_all)) return without_numbers;
    constexpr std::string_view other = "(other names)";
    const std::size_t kept = prefix.size() < sizeof made - other.size() ? prefix.size() : 0;
    std::memcpy(made, prefix.data(), kept);
    std::memcpy(made + kept, other.data(), other.size());
    return {made, kept + other.size()};
  }

  void report(std::string_view prefix) noexcept {
    if (is_reported_.test_and_set(std::memory_order_relaxed)) return;
    const thread_state_kept unchanged;
    if (!prefix.empty()) prefix.remove_suffix(1);
    std::fprintf(stderr,
                 "adaptyst: --with %s: %s%.*s has more than %u names of ranges: further ones are reported with # "
                 "instead of numbers\n",
                 interface_, prefix.empty() ? "the program" : "domain ", static_cast<int>(prefix.size()), prefix.data(),
                 max_exact);
  }

  const char* interface_;
  std::atomic<std::uint64_t> name_keys_[slots]{};
  domain_names domains_[max_domains]{};
  std::atomic<std::size_t> used_{0};
  std::atomic_flag is_reported_ = ATOMIC_FLAG_INIT;
};

}  // namespace adaptyst::adapters

#endif
