// The exception of this library, in parts.
//
//   try {
//     before = adaptyst::read_profile("before.json");
//   } catch (const adaptyst::error& failed) {
//     status_line(failed.summary());  // "cannot read before.json: No such file or directory (ENOENT)"
//     if (failed.number() == ENOENT) …
//   }
//
// what() contains the summary, and "hint: …" on its own line.
#ifndef ADAPTYST_DETAIL_ERROR_HPP
#define ADAPTYST_DETAIL_ERROR_HPP

#include <stdexcept>
#include <string>

#include "config.hpp"

namespace adaptyst { inline namespace v1 {

class error : public std::runtime_error {
 public:
  // `what`: one sentence that names the subject; `number`: errno, or 0; `hint`: a remedy, or empty.
  error(const std::string& what, const std::string& subject, int number, const std::string& hint);
  error(const std::string& what, int number, const std::string& hint) : error(what, {}, number, hint) {}

  // The failure and the system's reason, in one line.
  const std::string& summary() const noexcept { return summary_; }
  // A file, a pid or an option; empty if there is none.
  const std::string& subject() const noexcept { return subject_; }
  // errno of the system's reason; 0 if there is none.
  int number() const noexcept { return number_; }
  // A remedy; may be empty.
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string summary_, subject_;
  int number_;
  std::string hint_;
};

}}  // namespace adaptyst::v1

#endif
