// The methods that are compared: markers with either engine, probes on functions, and a BPF program that does nothing,
// which is the least that any probe costs.
#include "methods.hpp"

#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "../../lib/discover/elf_functions.hpp"
#include "../../lib/discover/elf_probes.hpp"
#include "../../lib/kernel/attach_point.hpp"
#include "../../lib/kernel/function_probes.hpp"
#include "../../lib/kernel/kernel_rows.hpp"
#include "../../lib/kernel/uprobe_link.hpp"
#include "../../lib/support/error.hpp"
#include "../../probes/kernel_layout.h"
#include "functions.h"
#include "region.skel.h"

namespace study {

namespace {

using namespace adaptyst::lib;

constexpr const char* self = "/proc/self/exe";
constexpr unsigned char breakpoint = 0xcc;
constexpr unsigned char call = 0xe8;

void marked(std::size_t steps) {
  ADAPTYST_REGION("event");
  study_kernel(steps);
}

// The program of region_end takes what it sums from the arguments.
template <study_function* Function>
void unmarked(std::size_t steps) {
  Function(steps, reinterpret_cast<std::uint64_t>(Function), 0, 1, 1, nullptr);
}

std::uint64_t sum_counts(const measurements& all) {
  std::uint64_t sum = 0;
  for (const auto& [id, row] : all.rows) sum += row.count;
  return sum;
}

class in_the_program final : public attachment {
 public:
  std::optional<std::uint64_t> counted() const override { return collector_.snapshot().accounting.ended; }

 private:
  adaptyst::collector collector_{"engine=inline,overhead=none,report=none"};
};

// The program of region_end, wherever it is attached.
class region_program final : public attachment {
 public:
  region_program(std::shared_ptr<const kernel_rows> rows, uprobe_place place)
      : rows_(std::move(rows)), before_(sum_counts(rows_->read())), link_(rows_->attach(self, {place}, getpid())) {}
  std::optional<std::uint64_t> counted() const override { return sum_counts(rows_->read()) - before_; }

 private:
  std::shared_ptr<const kernel_rows> rows_;
  std::uint64_t before_;
  uprobe_link link_;
};

// The programs for functions without markers.
class function_program final : public attachment {
 public:
  function_program(const std::string& function, bool sessions) : probes_(options(sessions)) {
    if (sessions != (probes_.mechanism() == "uprobe_multi, sessions"))
      throw error("cannot attach a session", 0, "use Linux 6.13 or later");
    probes_.attach(self, {parse_function(self + (":" + function))});
  }
  std::optional<std::uint64_t> counted() const override { return sum_counts(probes_.read()); }

 private:
  static function_options options(bool sessions) {
    function_options how{getpid()};
    how.sessions = sessions;
    return how;
  }
  function_probes probes_;
};

// A program that returns at once: what any entry probe costs at least.
class empty_program final : public attachment {
 public:
  explicit empty_program(uprobe_place place) : loaded_(region_bpf__open(), region_bpf__destroy) {
    expect_multi(loaded_->progs.empty);
    bpf_program__set_autoload(loaded_->progs.region_end, false);
    region_bpf__load(loaded_.get());
    link_ = uprobe_link::attach_multi(loaded_->progs.empty, self, {place}, getpid());
  }
  std::optional<std::uint64_t> counted() const override { return {}; }

 private:
  std::unique_ptr<region_bpf, void (*)(region_bpf*)> loaded_;
  uprobe_link link_;
};

elf_probe region_end_probe() {
  for (const elf_probe& probe : find_elf_markers(self).probes)
    if (probe.name == "region_end" && probe.has_fast_point) return probe;
  throw error("cannot find the probe of markers in this program", 0, "it was built without them");
}

// Where the library would put a probe on a function; it must begin as it was written.
function_place find_place(const char* function, entry_kind expected) {
  for (const function_place& place : find_functions(self, function))
    if (place.entry == expected) return place;
  throw error(std::string("cannot find ") + function + " in this program as it was written", 0, "it was stripped");
}

const volatile unsigned char* find_code(study_function* function, const function_place& place) {
  return reinterpret_cast<const volatile unsigned char*>(function) + place.past_entry;
}

}  // namespace

void plain_event(std::size_t steps) { unmarked<study_plain>(steps); }

std::vector<method> make_methods() {
  const auto rows = std::make_shared<const kernel_rows>(true, process_filter::all, false);
  const auto at = [rows](uprobe_place place) {
    return [rows, place] { return std::make_unique<region_program>(rows, place); };
  };
  const elf_probe marker = region_end_probe();
  const auto* const marker_code = reinterpret_cast<const volatile unsigned char*>(&adaptyst_probe_region_end);
  constexpr auto marker_nop5 = static_cast<unsigned>(attach_point::nop5);
  const function_place nop1 = find_place("study_nop1", entry_kind::nop1);
  function_place nop5 = find_place("study_nop5", entry_kind::push);
  nop5.offset -= std::exchange(nop5.past_entry, 0);  // in functions of others the library steps past the nop
  const function_place push = find_place("study_push", entry_kind::push);
  const function_place stepped = find_place("study_xor", entry_kind::single_stepped);
  const auto* const push_code = find_code(study_push, push);
  const auto work = measured_with::work;
  const auto no_work = measured_with::no_work;

  return {
      {"idle", work, marked},
      {"inline", work, marked, [] { return std::make_unique<in_the_program>(); }},
      {"usdt_classic", work, marked, at({marker.offset, marker.semaphore_offset}), marker_code, breakpoint},
      {"usdt_optimised", work, marked, at({marker.offset + marker_nop5, marker.semaphore_offset}),
       marker_code + marker_nop5, call},
      {"uprobe_emulated", work, unmarked<study_push>, at({push.offset, 0}), push_code, breakpoint},
      {"uprobe_single_step", work, unmarked<study_xor>, at({stepped.offset, 0}), find_code(study_xor, stepped),
       breakpoint},
      {"uprobe_pair", work, unmarked<study_push>,
       [] { return std::make_unique<function_program>("study_push", false); }, push_code, breakpoint},
      {"uprobe_session", work, unmarked<study_push>,
       [] { return std::make_unique<function_program>("study_push", true); }, push_code, breakpoint},
      {"entry_empty", no_work, unmarked<study_push>,
       [place = uprobe_place{push.offset, 0}] { return std::make_unique<empty_program>(place); }, push_code,
       breakpoint},
      {"usdt_classic", no_work, unmarked<study_nop1>, at({nop1.offset, 0}), find_code(study_nop1, nop1), breakpoint},
      {"usdt_optimised", no_work, unmarked<study_nop5>, at({nop5.offset, 0}), find_code(study_nop5, nop5), call},
  };
}

}  // namespace study
