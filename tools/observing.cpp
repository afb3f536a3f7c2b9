#include "observing.hpp"

#include <algorithm>

namespace adaptyst::tools {

std::string observing_options::text() const {
  return "engine=" + engine + ",report=" + report + (output.empty() ? "" : ",output=" + output);
}

void add_observing(CLI::App& to, observing_options& options) {
  to.add_option("--engine", options.engine,
                "How to observe: in the kernel, by the program's own recorder, or as permitted")
      ->check(CLI::IsMember({"auto", "ebpf", "inline"}))
      ->capture_default_str()
      ->type_name("");
  to.add_option("--report", options.report, "What to print on standard error at the end")
      ->check(CLI::IsMember({"table", "none"}))
      ->capture_default_str()
      ->type_name("");
  to.add_option("--output", options.output, "Write the profile to this file; %p: our process, %r: MPI rank, %h: host")
      ->type_name("FILE.json");
  to.add_option("--interval", options.seconds, "How often to read what a killed program would take with it")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0))
      ->type_name("SECONDS");
}

int interval::left_ms() const {
  const std::chrono::duration<double, std::milli> left = begin_ + length_ - clock::now();
  return static_cast<int>(std::clamp(left.count() + 1, 0.0, 1e9));
}

bool interval::is_over() {
  if (clock::now() < begin_ + length_) return false;
  begin_ = clock::now();
  return true;
}

}  // namespace adaptyst::tools
