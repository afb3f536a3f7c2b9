// The names of the files that a session writes: those in the options; if several processes have the same options, each
// gets a name of its own.
//
//   ranks of one MPI program    the rank follows the name, unless %r or %p is in it: profile-3.json
//   another process writes it   the number of the process follows the name: profile-4711.json
#ifndef ADAPTYST_LIB_SESSION_OUTPUT_NAMES_HPP
#define ADAPTYST_LIB_SESSION_OUTPUT_NAMES_HPP

#include <adaptyst/options.hpp>
#include <memory>
#include <string>
#include <vector>

#include "../support/name_claim.hpp"

namespace adaptyst::lib {

class output_names {
 public:
  // The writer: each rank for itself, or one process for all ranks.
  enum class of_whom { this_process, all_ranks };
  // Claims the names for this session.
  explicit output_names(const std::vector<output>& outputs, of_whom owner = of_whom::this_process);

  // The file for an output of this form; empty: not requested.
  std::string of(output_form form) const;
  // Throws error if a file cannot be written now; the error names the first such file.
  void require_writable() const;

  // To be called when the file has been written.
  void note_written(output_form form);
  // A line on the files that were written: all of them, or those with another name than in the options. For the second
  // kind, the first rank prints the line for all ranks. Empty: no file.
  enum class how_much { all, what_is_renamed };
  std::string describe(how_much what) const;

 private:
  enum class names { as_given, by_rank, by_process };
  struct entry {
    output_form form;
    std::string requested, file;  // `requested`: without the number of the process
    names naming;
    bool is_written;
    std::unique_ptr<name_claim> claim;  // null: an existing file is not replaced, but written to
  };
  std::vector<entry> all_;
};

}  // namespace adaptyst::lib

#endif
