// Errors, and messages about them.
#ifndef ADAPTYST_LIB_SUPPORT_ERROR_HPP
#define ADAPTYST_LIB_SUPPORT_ERROR_HPP

#include <adaptyst/detail/error.hpp>
#include <exception>
#include <string>

namespace adaptyst::lib {

using adaptyst::error;

// The kernel's ENOTSUPP, which the C library does not know.
inline constexpr int not_supported_by_kernel = 524;

// Converts any exception into adaptyst::error.
error to_error(const std::exception& failed);

// Prints `adaptyst: <message>` to standard error, its further lines indented.
void complain(const std::string& message) noexcept;

// Runs a step. A failure is reported, but does not stop the other steps.
template <class Step>
void try_step(Step&& step) noexcept {
  try {
    step();
  } catch (const std::exception& failed) {
    complain(failed.what());
  }
}

}  // namespace adaptyst::lib

#endif
