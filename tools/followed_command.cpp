// Reads the first bytes of scripts only: a command starts as soon as it has been followed.
#include "followed_command.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "support/elf_header.hpp"
#include "support/error.hpp"
#include "support/regular_file.hpp"
#include "support/search_path.hpp"

namespace adaptyst::tools {

namespace {

using word_list = std::vector<std::string>;

constexpr std::size_t max_script_bytes = std::size_t{1} << 16;
constexpr std::size_t max_script_words = 1000;
constexpr std::size_t max_commands = 64;
constexpr unsigned max_depth = 9;  // a script with "#!/usr/bin/env bash" takes 3

bool is_one_of(const std::string& word, std::initializer_list<const char*> list) {
  return std::any_of(list.begin(), list.end(), [&](const char* one) { return word == one; });
}

bool begins_with(const std::string& word, const char* begin) { return word.rfind(begin, 0) == 0; }

std::string base_name(const std::string& word) { return word.substr(word.rfind('/') + 1); }

// Their ranks are their child processes.
bool is_launcher(const std::string& name) {
  return begins_with(name, "mpirun") || begins_with(name, "mpiexec") || is_one_of(name, {"orterun", "prterun"});
}
// Their ranks are processes of a service.
bool is_outside_launcher(const std::string& name) {
  return is_one_of(name, {"srun", "jsrun", "lrun", "aprun", "prun", "flux", "ccc_mprun"});
}
bool is_wrapper(const std::string& name) {
  return is_one_of(name, {"env", "nice", "ionice", "taskset", "numactl", "time", "timeout", "stdbuf", "setsid", "nohup",
                          "chrt", "prlimit", "setarch", "hwloc-bind", "likwid-pin"});
}
bool is_shell(const std::string& name) { return is_one_of(name, {"sh", "bash", "dash", "ksh", "zsh", "ash"}); }
bool is_python(const std::string& name) { return begins_with(name, "python") || begins_with(name, "pypy"); }

// Empty: not a regular file, or not readable.
std::string read_begin(const std::string& file, std::size_t max_bytes) {
  try {
    const lib::regular_file opened(file, "scripts", "");
    std::string text(max_bytes, '\0');
    text.resize(opened.read(0, text.data(), text.size()));
    return text;
  } catch (const error&) {
    return {};
  }
}

file_format find_format(const std::string& begin) {
  Elf64_Ehdr header;
  if (begin.empty()) return file_format::unreadable;
  if (begin.size() < sizeof header || !begins_with(begin, ELFMAG)) return file_format::other;
  std::memcpy(&header, begin.data(), sizeof header);
  const bool is_for_this_machine = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                                   header.e_machine == lib::this_machine;
  return is_for_this_machine ? file_format::elf : file_format::foreign_elf;
}

// "localhost:4,node2:4": whether a list of hosts, each with or without a number of processes, has another host.
bool has_other_host(const std::string& list, const char* this_host) {
  std::istringstream hosts(list);
  for (std::string host; std::getline(hosts, host, ',');) {
    host.resize(std::min(host.find(':'), host.size()));
    if (!host.empty() && host != "localhost" && host != this_host) return true;
  }
  return false;
}

// The simple commands of a shell script, as lists of words. Variables, functions and constructs are not evaluated.
// `is_whole` becomes false if the script has too many words.
std::vector<word_list> split_script(const std::string& text, bool& is_whole) {
  std::vector<word_list> commands(1);
  std::string word;
  std::size_t count = 0;
  char quote = 0;
  const auto end_word = [&] {
    if (word.empty()) return;
    commands.back().push_back(std::exchange(word, {}));
    ++count;
  };
  for (std::size_t at = 0; at != text.size(); ++at) {
    if (count == max_script_words) {
      is_whole = false;
      break;
    }
    const char one = text[at];
    if (quote != 0) {
      if (one == quote) quote = 0;
      else word += one;
    } else if (one == '"' || one == '\'') {
      quote = one;
    } else if (one == '\\' && at + 1 != text.size()) {
      if (text[++at] != '\n') word += text[at];
    } else if (one == '#' && word.empty()) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (std::string_view("\n;&|(){}`").find(one) != std::string_view::npos) {
      end_word();
      if (!commands.back().empty()) commands.emplace_back();
    } else if (one == ' ' || one == '\t' || one == '\r') {
      end_word();
    } else {
      word += one;
    }
  }
  end_word();
  return commands;
}

// The number of words that the options of a shell, such as "-euo pipefail", take as values.
std::size_t count_values(const std::string& options) {
  if (begins_with(options, "--")) return is_one_of(options, {"--rcfile", "--init-file"}) ? 1 : 0;
  return static_cast<std::size_t>(
      std::count_if(options.begin(), options.end(), [](char one) { return one == 'o' || one == 'O'; }));
}

// The modules that a Python script imports by statements, without the modules that these import. `is_whole` becomes
// false if there are too many.
void add_imports(std::set<std::string>& modules, const std::string& text, bool& is_whole) {
  constexpr std::size_t max_modules = 256;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (modules.size() >= max_modules) {
      is_whole = false;
      return;
    }
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream parts(line.substr(0, line.find_first_of("#;")));
    std::string word;
    parts >> word;
    if (word != "import" && word != "from") continue;
    const bool is_from = word == "from";
    bool is_alias = false;
    while (parts >> word) {
      if (word == "as" || is_alias) is_alias = !is_alias;
      else modules.insert(word.substr(0, word.find('.')));
      if (is_from) break;
    }
  }
}

class follower {
 public:
  explicit follower(std::vector<std::string> texts) : search_(std::move(texts)) {}

  void follow(const word_list& command, unsigned depth = 0) {
    const std::string program = find_program(command.front());
    if (program.empty()) return;
    // A script may run itself.
    if (depth == max_depth || commands_ == max_commands || !search_.has_time()) {
      found_.is_whole = false;
      return;
    }
    ++commands_;
    const std::string name = base_name(command.front());
    if (is_launcher(name) || is_outside_launcher(name)) return follow_launcher(name, command, depth);
    if (is_python(name)) follow_python(command);  // it may be a script itself, such as those of pyenv
    const std::string begin = read_begin(program, 256);
    if (begins_with(begin, "#!")) return follow_interpreter(begin, program, command, depth);
    add(program, begin);
    if (is_wrapper(name)) follow_first(word_list(command.begin() + 1, command.end()), depth);
    else if (is_shell(name)) follow_shell(command, depth);
  }

  followed_command found() {
    found_.is_whole = found_.is_whole && search_.is_whole();
    return std::move(found_);
  }

 private:
  // The words of a script may be searched for in many folders, and most words are there several times.
  const std::string& find_program(const std::string& word) {
    const auto [entry, is_new] = programs_.try_emplace(word);
    if (is_new) entry->second = lib::program_called(word);
    return entry->second;
  }

  void add(const std::string& program, const std::string& begin) {
    const bool is_known = std::any_of(found_.programs.begin(), found_.programs.end(),
                                      [&](const followed_program& one) { return one.file == program; });
    if (!is_known) found_.programs.push_back({program, search_.read(program), find_format(begin)});
  }

  // The first word that names a program, and the words after it.
  void follow_first(const word_list& command, unsigned depth) {
    for (auto word = command.begin(); word != command.end() && search_.has_time(); ++word)
      if (!find_program(*word).empty()) return follow(word_list(word, command.end()), depth + 1);
  }

  // Each word that names a program: the value of an option may look like one.
  void follow_launcher(const std::string& name, const word_list& command, unsigned depth) {
    if (is_outside_launcher(name) || has_other_machines(command)) found_.starts_outside = name;
    for (auto word = command.begin() + 1; word != command.end() && search_.has_time(); ++word)
      if (!find_program(*word).empty()) follow(word_list(word, command.end()), depth + 1);
  }

  // Whether the words of a launcher, or a batch system, name other machines: their ranks are not observed here.
  bool has_other_machines(const word_list& command) {
    for (const char* const variable : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES"})
      if (const char* const value = std::getenv(variable); value != nullptr && std::atoi(value) > 1) return true;
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    // Lists of the hosts of a job under PBS, LSF and Grid Engine: the first word of each line.
    for (const char* const variable : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE"}) {
      const char* const file = std::getenv(variable);
      std::istringstream lines(file != nullptr ? read_begin(file, max_script_bytes) : std::string());
      std::string line, name;
      while (std::getline(lines, line))
        if (std::istringstream(line) >> name && has_other_host(name, host)) return true;
    }
    for (std::size_t at = 1; at + 1 < command.size() && search_.has_time() && find_program(command[at]).empty(); ++at) {
      const std::string option = command[at].substr(0, command[at].find('='));
      if (!is_one_of(option, {"-f", "-hostfile", "--hostfile", "-machinefile", "--machinefile", "-default-hostfile",
                              "--default-hostfile", "-H", "-host", "--host", "-hosts", "--hosts"}))
        continue;
      const std::string value = option == command[at] ? command[at + 1] : command[at].substr(option.size() + 1);
      if (has_other_host(value, host)) return true;
    }
    return false;
  }

  // "#!/usr/bin/env python3": the kernel passes the text behind the interpreter as one word, which `env -S` splits.
  void follow_interpreter(const std::string& begin, const std::string& program, const word_list& command,
                          unsigned depth) {
    std::istringstream line(begin.substr(2, begin.find('\n') - 2));
    word_list behind;
    for (std::string word; line >> word;) behind.push_back(word);
    if (behind.empty()) return;
    behind.push_back(program);
    behind.insert(behind.end(), command.begin() + 1, command.end());
    follow(behind, depth + 1);
  }

  std::string read_script(const std::string& file) {
    std::string text = read_begin(file, max_script_bytes);
    if (text.size() == max_script_bytes) found_.is_whole = false;
    return text;
  }

  void follow_shell(const word_list& command, unsigned depth) {
    bool is_text = false;
    std::size_t at = 1;
    for (; at < command.size(); ++at) {
      const std::string& word = command[at];
      if (word.empty() || (word.front() != '-' && word.front() != '+')) break;
      is_text = is_text || (word.front() == '-' && word[1] != '-' && word.find('c') != std::string::npos);
      at += count_values(word);
    }
    if (at >= command.size()) return;
    const std::string text = is_text ? command[at] : read_script(command[at]);
    for (const word_list& one : split_script(text, found_.is_whole)) follow_first(one, depth);
  }

  void follow_python(const word_list& command) {
    for (std::size_t at = 1; at < command.size(); ++at) {
      const std::string& word = command[at];
      const bool has_value = at + 1 != command.size();
      if (word == "-c" && has_value) return add_imports(found_.modules, command[at + 1], found_.is_whole);
      if (word == "-m" && has_value) {
        ++at;
        found_.modules.insert(command[at].substr(0, command[at].find('.')));
      } else if (is_one_of(word, {"-X", "-W"})) {
        ++at;
      } else if (!begins_with(word, "-")) {
        const std::string text = read_script(word);
        add_imports(found_.modules, text, found_.is_whole);
        if (!text.empty()) return;
      }
    }
  }

  lib::library_search search_;
  followed_command found_;
  std::map<std::string, std::string> programs_;  // by word; empty: the word names no program
  std::size_t commands_ = 0;
};

}  // namespace

followed_command follow_command(const std::vector<std::string>& command, std::vector<std::string> texts) {
  follower all(std::move(texts));
  all.follow(command);
  return all.found();
}

}  // namespace adaptyst::tools
