// Attaches probes to functions without markers. Session links, which run one program at entry and return, are tried
// first; older kernels get two links each. Functions that cannot be probed are returned with the reason.
#include "function_probes.hpp"

#include <adaptyst/detail/process.hpp>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "../../probes/function_layout.h"
#include "../../probes/recorder_layout.h"
#include "../discover/function_request.hpp"
#include "../support/descriptor.hpp"
#include "../support/error.hpp"
#include "../support/regular_file.hpp"
#include "function.skel.h"
#include "recorder_layout.hpp"
#include "summed_rows.hpp"
#include "uprobe_multi.hpp"

namespace adaptyst::lib {

namespace {

std::string_view base_name(std::string_view file) { return file.substr(file.rfind('/') + 1); }

// The same in every process and on every node, for any folder of the library.
std::uint64_t site_id(std::string_view file, const function_place& place) {
  std::uint64_t id = detail::hash(ADAPTYST_SITE_FUNCTION, detail::to_text(place.symbol));
  id = detail::hash(id, detail::to_text(place.version));
  return detail::hash(id, detail::to_text(file));
}

std::string join_first(const std::set<std::string>& names, std::size_t max_names) {
  const std::vector<std::string> first(
      names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(std::min(names.size(), max_names))));
  const std::string list = fmt::format("{}", fmt::join(first, ", "));
  return names.size() <= max_names ? list : fmt::format("{} and {} others", list, names.size() - max_names);
}

bool is_left_out(const function_place& place, const std::vector<std::string>& without) {
  return std::any_of(without.begin(), without.end(), [&](const std::string& pattern) {
    return matches(pattern, place.name) || matches(pattern, place.symbol) ||
           std::any_of(place.aliases.begin(), place.aliases.end(),
                       [&](const std::string& alias) { return matches(pattern, alias); });
  });
}

}  // namespace

refusal why_refused(const function_place& place, const function_options& options) {
  if (!place.refused.empty()) return {place.refused, {}};
  if (place.entry == entry_kind::single_stepped && !options.single_stepped && !waits_for_others(place.symbol))
    return {
        "the first instruction is one that the kernel must step over with a second trap, which would take longer than "
        "most functions do",
        "single_stepped=yes probes them anyway"};
  if (place.name != place.symbol && !options.may_crash_on_exception)
    return {"C++, and an exception that passes a return probe terminates the program",
            "may_crash_on_exception=yes observes them; such an exception then terminates the program"};
  return {};
}

std::vector<error> explain(const std::vector<refused_function>& all, const std::set<std::string>& imported) {
  struct functions {
    std::set<std::string> imported, others;
    std::string hint;
  };
  std::map<std::string, functions> by_reason;
  for (const refused_function& refusal : all) {
    functions& same = by_reason[refusal.why.reason];
    const bool is_imported = std::any_of(refusal.symbols.begin(), refusal.symbols.end(),
                                         [&](const std::string& symbol) { return imported.count(symbol) != 0; });
    (is_imported ? same.imported : same.others).insert(refusal.name);
    same.hint = refusal.why.hint;
  }
  constexpr std::size_t max_imported = 20;
  constexpr std::size_t max_others = 5;
  std::vector<error> errors;
  for (const auto& [why, of] : by_reason) {
    std::string list;
    if (of.imported.empty()) {
      list = join_first(of.others, max_others);
    } else {
      list = join_first(of.imported, max_imported) + ", which the program imports";
      if (!of.others.empty()) list += fmt::format(", and {} that it does not", of.others.size());
    }
    errors.emplace_back(fmt::format("{}: {}", list, why), *(of.imported.empty() ? of.others : of.imported).begin(), 0,
                        of.hint);
  }
  return errors;
}

function_probes::function_probes(const function_options& options)
    : options_(options), loaded_(nullptr, function_bpf__destroy) {
  if (!kernel_has_uprobe_multi())
    throw error("cannot put probes on functions: the kernel has no link for many of them at once", 0,
                "use Linux 6.10 or later, or markers");
  if ((options.sessions && kernel_has_uprobe_sessions() && load(true)) || load(false)) {
    if (options.with_children && sessions_) follow_children();
    return;
  }
  throw error("cannot load the eBPF programs for functions", errno,
              hint_on(errno, "", "markers work without them; or the kernel was built without BTF, which they need"));
}

function_probes::~function_probes() { stop(); }

// False: not possible, with the reason in errno.
bool function_probes::load(bool sessions) {
  owned_programs<function_bpf> opened = open_programs(function_bpf__open, function_bpf__destroy);
  if (opened == nullptr) return false;
  expect_multi(opened->progs.function_session, uprobe_moment::session);
  expect_multi(opened->progs.function_entry);
  expect_multi(opened->progs.function_return, uprobe_moment::function_return);
  bpf_program__set_autoload(opened->progs.function_session, sessions);
  bpf_program__set_autoload(opened->progs.function_entry, !sessions);
  bpf_program__set_autoload(opened->progs.function_return, !sessions);
  bpf_program__set_autoload(opened->progs.inherit, sessions && options_.with_children);
  opened->rodata->parts_limit = size_rows(opened->maps.rows);
  opened->rodata->only_family = sessions && options_.with_children ? 1 : 0;
  if (options_.among != nullptr) {
    opened->rodata->filter = options_.among->filter();
    opened->rodata->layout = find_recorder_layout();
    if (bpf_map__reuse_fd(opened->maps.processes, options_.among->processes()) != 0 ||
        bpf_map__reuse_fd(opened->maps.stacks, options_.among->function_stacks()) != 0)
      return false;
  } else {
    bpf_map__set_max_entries(opened->maps.processes, 1);
  }
  opened->rodata->with_context = options_.threads >= 0 ? 1 : 0;
  if (options_.threads < 0) bpf_map__set_autocreate(opened->maps.threads, false);
  else if (bpf_map__reuse_fd(opened->maps.threads, options_.threads) != 0) return false;
  if (const int failed = load_with_types(opened.get(), function_bpf__load); failed != 0) {
    errno = -failed;
    return false;
  }
  loaded_ = std::move(opened);
  sessions_ = sessions;
  return true;
}

void function_probes::follow_children() {
  children_.reset(bpf_program__attach(loaded_->progs.inherit));
  if (children_ == nullptr)
    throw error("cannot follow the processes that a program starts", errno,
                hint_on(errno, "", "attach to the processes one by one"));
  follow(options_.pid);
}

void function_probes::follow(pid_t first) const {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, first, 0));
  const std::uint32_t present = 1;
  const bool listed =
      process >= 0 && bpf_map_update_elem(bpf_map__fd(loaded_->maps.family), &process, &present, BPF_ANY) == 0;
  const int number = errno;
  if (process >= 0) close(process);
  if (!listed)
    throw error(fmt::format("cannot observe process {}", first), std::to_string(first), number, "it must be running");
}

std::string function_probes::mechanism() const {
  return sessions_ ? "uprobe_multi, sessions" : "uprobe_multi, entry and return";
}

std::vector<refused_function> function_probes::attach(const std::string& file,
                                                      const std::vector<function_request>& requests) {
  return attach(file, requests, options_.pid);
}

std::vector<refused_function> function_probes::attach(const std::string& file,
                                                      const std::vector<function_request>& requests, pid_t process) {
  std::vector<std::string> globs;
  for (const function_request& request : requests)
    if (is_for(request, file)) globs.push_back(request.glob);
  std::vector<refused_function> refused;
  if (globs.empty()) return refused;

  const pid_t filter = follows_children() ? 0 : process;
  // The owner of the file may replace it at any moment: the file that is read here must be the probed file.
  const regular_file opened(file, "functions", "name the file that the program uses");
  if (opened.is_copied())
    throw error(fmt::format("cannot probe functions of {}: it is in a file system in user space (FUSE)", file), file, 0,
                "all forks of the system might wait for it; copy the program to another file system");
  const uprobe_file probed{opened.path(), file};
  std::vector<uprobe_place> places;
  std::unordered_map<std::uint64_t, measured_site> sites;
  const std::string name(base_name(file));
  for (const function_place& place : find_functions(opened.path(), globs)) {
    if (is_left_out(place, options_.without)) continue;
    if (refusal why = why_refused(place, options_); !why.reason.empty()) {
      std::vector<std::string> symbols = place.aliases;
      symbols.push_back(place.symbol);
      refused.push_back({place.name, std::move(symbols), std::move(why)});
      continue;
    }
    const std::uint64_t id = site_id(name, place);
    if (probed_.count({filter, file, id}) != 0) continue;
    measured_site site;
    site.name = place.name;
    site.file = name;
    site.function = place.symbol;
    site.kind = ADAPTYST_SITE_FUNCTION;
    sites.emplace(id, std::move(site));
    places.push_back({place.offset, 0, id});
  }
  if (places.empty()) return refused;

  try {
    std::vector<uprobe_link> made;
    if (sessions_) {
      made.push_back(
          uprobe_link::attach_multi(loaded_->progs.function_session, probed, places, filter, uprobe_moment::session));
    } else {
      // The returns are attached first: a return without an entry is recognised, but an entry without its return would
      // count as lost.
      made.push_back(uprobe_link::attach_multi(loaded_->progs.function_return, probed, places, filter,
                                               uprobe_moment::function_return));
      made.push_back(uprobe_link::attach_multi(loaded_->progs.function_entry, probed, places, filter));
    }
    for (uprobe_link& link : made) links_[filter].push_back(std::move(link));
  } catch (const error& failed) {
    throw error(fmt::format("cannot put probes on {} functions of {}", places.size(), file), file, failed.number(),
                hint_on(failed.number(), "", "the file must be there, and the process alive"));
  }
  for (const auto& [id, site] : sites) probed_.emplace(filter, file, id);
  sites_.merge(sites);
  return refused;
}

std::vector<refused_function> function_probes::attach(const named_functions& found, pid_t process) {
  std::vector<refused_function> all;
  for (const auto& [file, requests] : found.by_file)
    for (refused_function& refusal : attach(file, requests, process)) all.push_back(std::move(refusal));
  return all;
}

measurements function_probes::read() const {
  measurements all;
  read_summed_rows(all, loaded_->maps.rows, loaded_->maps.paths);
  all.sites = sites_;
  read_sites(all, loaded_->maps.sites);
  const std::vector<std::uint64_t> counters = read_kernel_counters(loaded_->maps.losses, ADAPTYST_FUNCTION_COUNTS);
  account& sum = all.accounting;
  std::uint64_t lost = 0;
  const auto lose = [&](loss_reason why, std::uint32_t counter) {
    if (counters[counter] == 0) return;
    sum.lost[why] = counters[counter];
    lost += counters[counter];
  };
  lose(loss_reason::function_too_deep, ADAPTYST_FUNCTION_TOO_DEEP);
  lose(loss_reason::unmatched, ADAPTYST_FUNCTION_UNMATCHED);
  lose(loss_reason::no_memory, ADAPTYST_FUNCTION_NO_MEMORY);
  lose(loss_reason::kernel_rows_full, ADAPTYST_KERNEL_ROWS_FULL);
  lose(loss_reason::kernel_no_memory, ADAPTYST_KERNEL_NO_MEMORY);
  lose(loss_reason::kernel_busy, ADAPTYST_KERNEL_BUSY);
  sum.unmatched = counters[ADAPTYST_FUNCTION_UNMATCHED] + counters[ADAPTYST_FUNCTION_ORPHANS];
  sum.unnamed = counters[ADAPTYST_KERNEL_UNREADABLE] + counters[ADAPTYST_KERNEL_NAMES_FULL];
  for (const auto& [id, row] : all.rows) sum.ended += row.count;
  // The entries are read after the returns, so that no return is counted without its entry.
  sum.begun = std::max(counters[ADAPTYST_FUNCTION_BEGUN], sum.ended + lost);
  sum.open = sum.begun - sum.ended - lost;
  return all;
}

void function_probes::release(const std::vector<pid_t>& processes) {
  std::vector<uprobe_link> all;
  for (const pid_t process : processes) {
    for (uprobe_link& link : links_[process]) all.push_back(std::move(link));
    links_.erase(process);
    probed_.erase(probed_.lower_bound({process, {}, 0}), probed_.lower_bound({process + 1, {}, 0}));
  }
  detach(std::move(all));
}

void function_probes::stop() {
  std::vector<uprobe_link> all;
  for (auto& [process, links] : links_)
    for (uprobe_link& link : links) all.push_back(std::move(link));
  links_.clear();
  detach(std::move(all));
  children_.reset();
}

}  // namespace adaptyst::lib
