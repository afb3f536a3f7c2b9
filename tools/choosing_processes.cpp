// Finds the processes chosen by number, by --name or by --all, also processes that begin later.
#include "choosing_processes.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "output.hpp"

namespace adaptyst::tools {

namespace {

bool is_called(const std::string& process, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::string comm;
  return std::getline(file, comm) && comm == name;
}

std::vector<std::int64_t> processes_called(const std::string& name) {
  std::vector<std::int64_t> found;
  DIR* const all = opendir("/proc");
  if (all == nullptr) return found;
  while (const dirent* const entry = readdir(all))
    if (is_called(entry->d_name, name)) found.push_back(std::strtoll(entry->d_name, nullptr, 10));
  closedir(all);
  return found;
}

bool is_present(std::int64_t process) {
  struct stat status {};
  return stat(fmt::format("/proc/{}", process).c_str(), &status) == 0;
}

std::string find_program(const std::string& process) {
  char path[PATH_MAX];
  const ssize_t bytes = readlink(fmt::format("/proc/{}/exe", process).c_str(), path, sizeof path);
  const std::string file(path, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return file.substr(file.rfind('/') + 1);
}

// Observers have markers as well, which measure the cost of a marker.
bool is_observer(std::int64_t process) { return find_program(std::to_string(process)) == find_program("self"); }

// Whether a process belongs neither to this user nor, under sudo, to the user who called sudo.
bool has_another_user(std::int64_t process) {
  struct stat status {};
  if (stat(fmt::format("/proc/{}", process).c_str(), &status) != 0) return false;
  const char* const caller = std::getenv("SUDO_UID");
  return status.st_uid != geteuid() && (caller == nullptr || std::to_string(status.st_uid) != caller);
}

}  // namespace

void add_choice(CLI::App& app, process_choice& choice) {
  app.add_option("PID", choice.processes, "Process numbers")
      ->type_name("")
      ->check(CLI::Validator(
          [](std::string& text) {
            std::int64_t process = 0;
            return CLI::detail::lexical_cast(text, process) && process > 0
                       ? std::string()
                       : fmt::format("'{}' is not a process number\n`pgrep` lists the numbers; --name takes a name",
                                     text);
          },
          ""));
  app.add_option("--name", choice.name, "All processes with this name, as `ps -o comm` shows it")->type_name("NAME");
}

void chosen_processes::attach(std::int64_t process) {
  if (refused_.count(process) != 0) return;
  try {
    if (attached_.count(process) == 0) probe_functions(watching_, process, report_);
    watching_.attach(process);
    attached_.insert(process);
  } catch (const error& failed) {
    const bool is_requested = std::count(choice_.processes.begin(), choice_.processes.end(), process) != 0;
    // Many processes are short-lived: no message if one of them was missed.
    if (!is_requested && !is_present(process)) return;
    refused_.insert(process);
    report_(failed);
  }
}

void chosen_processes::attach_first() {
  for (const std::int64_t process : choice_.processes) attach(process);
  if (!choice_.name.empty()) {
    const std::vector<std::int64_t> found = processes_called(choice_.name);
    if (found.empty()) {
      complain(fmt::format("no process is called {}", choice_.name));
      end_with(bad_input);
    }
    for (const std::int64_t process : found) attach(process);
  }
  attach_new();
}

void chosen_processes::attach_new() {
  if (!choice_.all && choice_.name.empty()) return;
  // The system reuses process numbers.
  for (std::set<std::int64_t>* const processes : {&attached_, &refused_})
    for (auto process = processes->begin(); process != processes->end();)
      process = is_present(*process) ? std::next(process) : processes->erase(process);
  for (const std::int64_t process : search_.find()) {
    if (choice_.all ? is_observer(process) : !is_called(std::to_string(process), choice_.name)) continue;
    if (choice_.all && !choice_.other_users && has_another_user(process)) leave_alone(process);
    else attach(process);
  }
}

void chosen_processes::leave_alone(std::int64_t process) {
  if (std::exchange(has_reported_other_users_, true)) return;
  const std::string number = std::to_string(process);
  report_({fmt::format("processes of other users are left alone, such as {}", number), number, 0,
           "--all observes them as well"});
}

}  // namespace adaptyst::tools
