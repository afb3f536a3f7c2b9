// Attaches to region_end in each ELF file. The trial of the attach point shares its link with the file that contains
// this library; its result holds for all files.
#include "probe_links.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "../support/error.hpp"
#include "../support/stopwatch.hpp"
#include "attach_point.hpp"
#include "uprobe_multi.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t trial_path = 0x7472'6961'6c00'0001;
constexpr unsigned trial_hits = 100;  // per round

std::uint64_t place_in(std::uint64_t probe, attach_point point) { return probe + static_cast<unsigned>(point); }

const char* name_of(attach_point point) {
  switch (point) {
    case attach_point::nop10: return "nop10 optimised";
    case attach_point::nop5: return "nop5 optimised";
    case attach_point::breakpoint: break;
  }
  return "breakpoint";
}

// Whether the kernel does not put probes on this instruction, or its analysis of instructions does not know it.
bool is_refused_instruction(int number) { return number == not_supported_by_kernel || number == ENOEXEC; }

}  // namespace

probe_links::probe_links(pid_t process, bool listed, bool among_functions)
    : process_(process),
      listed_(listed),
      among_functions_(among_functions),
      multi_(kernel_has_uprobe_multi()),
      rows_(load()) {}

probe_links::~probe_links() { stop(); }

kernel_rows probe_links::load() {
  if (multi_) early_.emplace();
  if (listed_) return kernel_rows(multi_, process_filter::listed, among_functions_);
  return kernel_rows(multi_, multi_ ? process_filter::all : process_filter::this_process, among_functions_);
}

std::string probe_links::mechanism() const {
  return fmt::format("{}, {}", multi_ ? "uprobe_multi" : "perf uprobes", name_of(point_));
}

void probe_links::start() {
  const std::lock_guard lock(mutex_);
  if (early_) early_->wait();
  try {
    if (find_point()) return;
  } catch (const error& failed) {
    // The kernel does not have the features of its version.
    if (!multi_ || (failed.number() != EINVAL && failed.number() != EOPNOTSUPP)) throw;
    detach(std::exchange(links_, {}));
    files_.clear();
    multi_ = false;
    rows_ = load();
    if (find_point()) return;
  }
  throw error("cannot use probes here: a trial lost hits or changed the program's state", 0,
              "engine=inline does not need them");
}

bool probe_links::find_point() {
  const std::vector<attach_point> order = order_attach_points(kernel_release().c_str());
  return std::any_of(order.begin(), order.end(), [this](attach_point point) { return try_point(point); });
}

bool probe_links::try_point(attach_point point) {
  const trial_site site = find_trial_site();
  point_ = point;
  try {
    attach_file(site.file, {{place_in(site.offset, point), 0}}, getpid());
  } catch (const error& failed) {
    if (point == attach_point::breakpoint || !is_refused_instruction(failed.number())) throw;
    return false;
  }
  if (listed_) rows_.add_process(getpid(), {});
  const trial tried = try_hits(trial_hits, trial_path, point);
  if (listed_) rows_.remove_process(getpid());
  constexpr std::uint64_t hits = std::uint64_t{stopwatch_rounds} * trial_hits;
  const bool counted = rows_.take(trial_path, hits) == hits;
  if (tried.state_kept && counted && (point == attach_point::breakpoint || tried.is_optimised)) {
    hit_ns_ = tried.hit_ns;
    if (listed_) files_.clear();  // the trial's link is only for this process
    return true;
  }
  detach(std::exchange(links_, {}));
  files_.clear();
  return false;
}

bool probe_links::attach(const std::string& file) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  const std::string no_probes = attach_file(file, {}, process_);
  if (!no_probes.empty()) throw error(no_probes, file, 0, "engine=inline measures the same without probes");
  return true;
}

// Attaches to the probes of a new file, and to `more` places in it. Returns why the file has no probes.
std::string probe_links::attach_file(const std::string& file, std::vector<uprobe_place> more, pid_t process) {
  return files_.once(file, [&](const uprobe_file& opened, const std::vector<elf_probe>& probes) {
    std::vector<uprobe_place> places = std::move(more);
    for (const elf_probe& probe : probes)
      if (probe.name == "region_end")
        places.push_back(
            {place_in(probe.offset, probe.has_fast_point ? point_ : attach_point::breakpoint), probe.semaphore_offset});
    if (!places.empty()) links_.push_back(rows_.attach(opened, places, process));
  });
}

void probe_links::stop() {
  std::vector<uprobe_link> links;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    links.swap(links_);
  }
  detach(std::move(links));
}

}  // namespace adaptyst::lib
