// Turns samples into flame graphs: takes samples, gives regions their share, and writes the stacks.
//
//   sampling->note_mappings(pid);                  while the process lives, so that its stacks can be named
//   sampling->read();                        before the regions' rows
//   sampling->add_to(rows);                  after their context
//   sampling->finish(names, constructs, made);   at the end
#ifndef ADAPTYST_LIB_SESSION_SAMPLING_HPP
#define ADAPTYST_LIB_SESSION_SAMPLING_HPP

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/measurements.hpp"
#include "../model/samples.hpp"
#include "../symbolise/construct_names.hpp"
#include "../symbolise/symboliser.hpp"
#include "output_names.hpp"

namespace adaptyst::lib {

struct sampled_stack;

class sampling {
 public:
  // `has_context`: see add_samples().
  sampling(std::unique_ptr<sample_source> source, bool has_context)
      : source_(std::move(source)), has_context_(has_context) {}

  // For a process that is new, or may have loaded an ELF object.
  void note_mappings(pid_t process) { names_.note_mappings(process); }
  void note_new_mappings(pid_t process, bool has_unnamed) { names_.note_new_mappings(process, has_unnamed); }
  bool has_name(pid_t process, std::uint64_t address) const { return names_.has_code_at(process, address); }
  void set_command(pid_t process, const std::string& command);
  void read() { sums_ = source_->read(); }
  void add_to(measurements& rows);
  sample_usage usage() const { return sums_.usage; }
  std::uint64_t cost_ns() const { return source_->cost_ns(); }
  // Number of samples on a core by function, for the most frequent functions.
  std::map<std::string, std::uint64_t> functions();
  // Gives the profile its stacks, and writes the requested files of stacks. Complains about files that cannot be
  // written and about addresses without names.
  void finish(output_names& names, construct_names& constructs, profile& made);
  // After finish(): whether more than half of the samples in code of programs have no caller.
  bool lacks_callers() const { return without_caller_ > in_programs_ / 2 && in_programs_ >= min_samples; }

 private:
  static constexpr std::uint64_t min_samples = 100;

  void count_callers(const sample_row& row, const std::vector<std::string>& frames);
  std::vector<sampled_stack> named(construct_names& constructs);
  void report_missing_names();
  void add_user_frames(std::vector<std::string>& frames, pid_t process, std::uint64_t id);
  const std::string& find_kernel_function(std::uint64_t address);
  void add_kernel_frames(std::vector<std::string>& stack, const sample_row& row);

  symboliser names_;
  std::unordered_map<std::uint64_t, std::string> kernel_functions_;  // by an address in each
  std::unique_ptr<sample_source> source_;
  bool has_context_;
  sample_sums sums_;
  bool has_reported_names_ = false;
  std::uint64_t in_programs_ = 0, without_caller_ = 0;  // samples on a core
  std::map<pid_t, std::string> programs_;
  std::unordered_map<std::uint64_t, std::vector<std::string>> paths_;
};

}  // namespace adaptyst::lib

#endif
