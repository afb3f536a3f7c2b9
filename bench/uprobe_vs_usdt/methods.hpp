// The ways to hear of an event that are compared. All sum count and total time by call path.
#ifndef ADAPTYST_BENCH_UPROBE_VS_USDT_METHODS_HPP
#define ADAPTYST_BENCH_UPROBE_VS_USDT_METHODS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../measure.hpp"

namespace study {

// What a method has in the program while it is measured; detaches when destroyed.
class attachment {
 public:
  virtual ~attachment() = default;
  virtual std::optional<std::uint64_t> counted() const = 0;  // events since it was attached, if it counts
};

enum class measured_with {
  work,     // between the events, at several rates; and without
  no_work,  // only without: a bare site, not a way to measure a program
};

struct method {
  std::string name;
  measured_with load = measured_with::work;
  void (*event)(std::size_t steps) = nullptr;             // the kernel, and what tells of it
  std::function<std::unique_ptr<attachment>()> attach{};  // null: nothing listens. Throws error
  // What the kernel must have made of the probed instruction; `probed` null: nothing.
  const volatile unsigned char* probed = nullptr;
  unsigned char becomes = 0;
};

// The same work with no marker, and no probe ever.
void plain_event(std::size_t steps);

// What this kernel does not offer shows when it is attached. Throws error.
std::vector<method> make_methods();

// Figures of a single site aside: many sites, several threads, memory, signals, fork() and exec(). Each compares the
// count of events with the number made. `perf_limit_s`: detaching perf events may take so long; longer is left out.
bench::measurements run_experiments(unsigned rounds, double perf_limit_s);

// Parts of the experiments in a process of their own, started with the arguments after the program's name. Returns the
// exit status, or nothing if these are arguments of the study itself.
std::optional<int> run_as_child(int count, char* arguments[]);

}  // namespace study

#endif
