// Names of the kernel's functions, from /proc/kallsyms.
#ifndef ADAPTYST_LIB_SYMBOLISE_KERNEL_SYMBOLS_HPP
#define ADAPTYST_LIB_SYMBOLISE_KERNEL_SYMBOLS_HPP

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace adaptyst::lib {

class kernel_symbols {
 public:
  // Takes about 0.1 s for a typical file.
  explicit kernel_symbols(std::istream&& list);

  // Empty: unknown.
  const std::string& function_at(std::uint64_t address) const;
  // Whether the kernel hides its addresses (kptr_restrict, perf_event_paranoid).
  bool are_hidden() const noexcept { return functions_.empty(); }

 private:
  struct function {
    std::uint64_t address;
    std::string name;
  };
  std::vector<function> functions_;  // by address
};

}  // namespace adaptyst::lib

#endif
