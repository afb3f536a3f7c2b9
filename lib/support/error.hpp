// What went wrong, for a person: at which stage, with what, why, and what to do about it.
#ifndef ADAPTYST_LIB_SUPPORT_ERROR_HPP
#define ADAPTYST_LIB_SUPPORT_ERROR_HPP

#include <stdexcept>
#include <string>

namespace adaptyst::lib {

class error : public std::runtime_error {
 public:
  // "cannot <what>: <strerror> (<ERRNO NAME>)", then the hint on a line of its own. `number` 0: no system error.
  error(const std::string& what, int number, const std::string& hint);

  int number() const noexcept { return number_; }

 private:
  int number_;
};

// Prints `adaptyst: <message>` to standard error, its further lines indented.
void print(const std::string& message) noexcept;

}  // namespace adaptyst::lib

#endif
