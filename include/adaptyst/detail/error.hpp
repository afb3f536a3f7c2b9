// What went wrong, in parts: what readers of profiles throw, and what a collector keeps.
//
//   try {
//     before = adaptyst::read_profile("before.json");
//   } catch (const adaptyst::error& failed) {
//     status_line(failed.summary());  // "cannot read before.json: No such file or directory (ENOENT)"
//     if (failed.number() == ENOENT) …
//   }
//
// what() has it all for a person: the summary, and "hint: …" on a line of its own.
#ifndef ADAPTYST_DETAIL_ERROR_HPP
#define ADAPTYST_DETAIL_ERROR_HPP

#include <stdexcept>
#include <string>

#include "config.hpp"

namespace adaptyst { inline namespace v1 {

class error : public std::runtime_error {
 public:
  // `what`: one sentence, which names the subject; `number`: of errno, or 0; `hint`: what to do about it, or empty.
  error(const std::string& what, const std::string& subject, int number, const std::string& hint);
  error(const std::string& what, int number, const std::string& hint) : error(what, {}, number, hint) {}

  // What failed, and the system's reason, in one line.
  const std::string& summary() const noexcept { return summary_; }
  // With what it failed: a file, the number of a process, an option. Empty where there is none.
  const std::string& subject() const noexcept { return subject_; }
  // The system's reason, as in errno; 0 if it is not one of the system's.
  int number() const noexcept { return number_; }
  // What to do about it; may be empty.
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string summary_, subject_;
  int number_;
  std::string hint_;
};

}}  // namespace adaptyst::v1

#endif
