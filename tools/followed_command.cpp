// Reads the first bytes of scripts only: a command starts as soon as it has been followed.
#include "followed_command.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "support/elf_header.hpp"
#include "support/error.hpp"
#include "support/regular_file.hpp"

namespace adaptyst::tools {

namespace {

using word_list = std::vector<std::string>;

constexpr std::size_t max_script_bytes = std::size_t{1} << 16;
constexpr std::size_t max_script_words = 1000;
constexpr std::size_t max_programs = 64;
constexpr std::size_t max_commands = 1024;
constexpr unsigned max_depth = 9;  // a script with "#!/usr/bin/env bash" takes 3

bool is_one_of(const std::string& word, std::initializer_list<const char*> list) {
  return std::any_of(list.begin(), list.end(), [&](const char* candidate) { return word == candidate; });
}

bool begins_with(const std::string& word, const char* begin) { return word.rfind(begin, 0) == 0; }

std::string base_name(const std::string& word) { return word.substr(word.rfind('/') + 1); }

// "A=1".
bool is_assignment(const std::string& word) {
  const std::size_t equal = word.find('=');
  const auto is_of_name = [](unsigned char character) { return std::isalnum(character) != 0 || character == '_'; };
  return equal != std::string::npos && equal != 0 && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equal), is_of_name);
}

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
// Programs that they start have the libraries of an image, or of another root folder.
bool is_container(const std::string& name) {
  return is_one_of(name, {"apptainer", "singularity", "docker", "podman", "ch-run", "shifter", "sarus", "enroot",
                          "bwrap", "chroot"});
}
// Words of a shell before a command.
bool is_before_command(const std::string& word) {
  return is_one_of(word, {"if", "then", "elif", "else", "while", "until", "do", "!", "exec", "command", "eval"});
}
// Commands of a shell that start no program.
bool is_built_in(const std::string& word) {
  return is_one_of(word, {"echo",   "[",      "[[",    "test",  "printf",  "true",    "false",    ":",       "cd",
                          "export", "set",    "unset", "shopt", "source",  ".",       "module",   "ml",      "ulimit",
                          "umask",  "alias",  "local", "read",  "declare", "typeset", "readonly", "shift",   "return",
                          "exit",   "trap",   "wait",  "let",   "getopts", "hash",    "type",     "pushd",   "popd",
                          "pwd",    "jobs",   "kill",  "bg",    "fg",      "break",   "continue", "builtin", "for",
                          "case",   "select", "in",    "esac",  "fi",      "done",    "function"});
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

// The name of a host without its domain, in lower case. An address has no domain.
std::string short_host(std::string name) {
  if (name.find_first_not_of("0123456789.") != std::string::npos) name.resize(std::min(name.find('.'), name.size()));
  const auto lower = [](char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
  };
  std::transform(name.begin(), name.end(), name.begin(), lower);
  return name;
}

// "localhost:4,node2:4": whether a list of hosts, each with or without a number of processes, has another host.
bool has_other_host(const std::string& list, const char* this_host) {
  std::istringstream hosts(list);
  for (std::string host; std::getline(hosts, host, ',');) {
    host = short_host(host.substr(0, host.find(':')));
    if (!host.empty() && host != "localhost" && host != "127.0.0.1" && host != short_host(this_host)) return true;
  }
  return false;
}

// The last character of "${A:-${B}}", which begins at `at`; without an end: the last of the text.
std::size_t find_end_of_braces(const std::string& text, std::size_t at) {
  std::size_t open = 0;
  for (; at != text.size(); ++at) {
    if (text[at] == '{') ++open;
    if (text[at] == '}' && --open == 0) return at;
  }
  return text.size() - 1;
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
    const char character = text[at];
    if (quote != 0) {
      if (character == quote) quote = 0;
      else word += character;
    } else if (character == '"' || character == '\'') {
      quote = character;
    } else if (character == '\\' && at + 1 != text.size()) {
      if (text[++at] != '\n') word += text[at];
    } else if (character == '$' && at + 1 != text.size() && text[at + 1] == '{') {
      const std::size_t end = find_end_of_braces(text, at);
      word.append(text, at, end + 1 - at);
      at = end;
    } else if (character == '#' && word.empty()) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (std::string_view("\n;&|(){}`").find(character) != std::string_view::npos) {
      if (character == '`' && word.find('=') != std::string::npos)
        word += character;  // the value of a variable is unknown
      end_word();
      if (!commands.back().empty()) commands.emplace_back();
    } else if (character == ' ' || character == '\t' || character == '\r') {
      end_word();
    } else {
      word += character;
    }
  }
  end_word();
  return commands;
}

// The number of words that the options of a shell, such as "-euo pipefail", take as values.
std::size_t count_values(const std::string& options) {
  if (begins_with(options, "--")) return is_one_of(options, {"--rcfile", "--init-file"}) ? 1 : 0;
  return static_cast<std::size_t>(
      std::count_if(options.begin(), options.end(), [](char letter) { return letter == 'o' || letter == 'O'; }));
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
    const library_path kept = path_;
    follow_word(command, depth);
    path_ = kept;
  }

  followed_command found() {
    found_.is_whole = found_.is_whole && search_.is_whole();
    return std::move(found_);
  }

 private:
  // LD_LIBRARY_PATH of a program.
  struct library_path {
    bool is_set = false;  // false: it is that of this process
    bool is_known = true;
    std::string list;
    bool operator<(const library_path& other) const {
      return std::tie(is_set, is_known, list) < std::tie(other.is_set, other.is_known, other.list);
    }
  };

  void follow_word(const word_list& command, unsigned depth) {
    if (starts_container(command.front())) {
      found_.starts_container = base_name(command.front());
      return;
    }
    const std::string program = find_program(command.front());
    if (program.empty() || commands_.count({command, path_}) != 0) return;
    // A script may run itself.
    const bool is_full = commands_.size() == max_commands || found_.programs.size() == max_programs;
    if (depth == max_depth || is_full || !search_.has_time()) {
      found_.is_whole = false;
      return;
    }
    commands_.emplace(command, path_);
    const std::string name = base_name(command.front());
    if (is_launcher(name) || is_outside_launcher(name)) return follow_launcher(name, command, depth);
    if (is_python(name)) follow_python(command);  // it may be a script itself, such as those of pyenv
    const std::string begin = read_begin(program, 256);
    if (begins_with(begin, "#!")) return follow_interpreter(begin, program, command, depth);
    add(program, begin);
    if (is_wrapper(name)) follow_first(word_list(command.begin() + 1, command.end()), depth);
    else if (is_shell(name)) follow_shell(command, depth);
  }

  // The words of a script may be searched for in many folders, and most words are there several times.
  const std::string& find_program(const std::string& word) {
    const auto [entry, is_new] = programs_.try_emplace(word);
    if (is_new) entry->second = lib::program_called(word);
    return entry->second;
  }

  // It may be installed in the image only, or in a folder that the script adds to PATH.
  bool starts_container(const std::string& word) {
    return is_container(base_name(word)) && (word.find('/') == std::string::npos || !find_program(word).empty());
  }

  void add(const std::string& program, const std::string& begin) {
    if (!path_.is_known) found_.has_unknown_path = base_name(program);
    if (!added_.emplace(program, path_).second) return;
    const lib::program_libraries libraries =
        path_.is_set ? search_.read(program, lib::split_directories(path_.list)) : search_.read(program);
    found_.programs.push_back({program, libraries, find_format(begin)});
  }

  // "LD_LIBRARY_PATH=/opt/lib:$LD_LIBRARY_PATH": the assignment of a variable. Variables that no command assigns have
  // the values of this process.
  void assign(std::string word) {
    const std::size_t equal = word.find('=');
    const std::string name = word.substr(0, equal);
    if (name != "LD_LIBRARY_PATH") {
      assigned_.insert(name);
      return;
    }
    for (const std::string end : {"$LD_LIBRARY_PATH}", "${LD_LIBRARY_PATH}}"}) {
      const std::string if_set = "${LD_LIBRARY_PATH:+:" + end;
      if (const std::size_t at = word.find(if_set); at != std::string::npos)
        word.replace(at, if_set.size(), ":$LD_LIBRARY_PATH");
    }
    library_path changed;
    changed.is_set = true;
    for (std::size_t at = equal + 1; at < word.size(); ++at) {
      if (word[at] == '$') changed.is_known = append_variable(changed.list, word, at) && changed.is_known;
      else changed.list += word[at];
    }
    changed.is_known = changed.is_known && changed.list.find_first_of("$`~*?") == std::string::npos;
    path_ = changed;
  }

  // Appends the value of the variable at a dollar sign, and moves `at` to its end. Returns whether it is known.
  bool append_variable(std::string& to, const std::string& word, std::size_t& at) const {
    const bool has_braces = at + 1 < word.size() && word[at + 1] == '{';
    std::size_t end = at + (has_braces ? 2 : 1);
    const std::size_t begin = end;
    while (end < word.size() && (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_')) ++end;
    const std::string name = word.substr(begin, end - begin);
    if (name.empty() || (has_braces && (end == word.size() || word[end] != '}'))) return false;
    at = has_braces ? end : end - 1;
    const bool is_path = name == "LD_LIBRARY_PATH";
    if (is_path && path_.is_set) {
      to += path_.list;
      return path_.is_known;
    }
    const char* const value = std::getenv(name.c_str());
    if (value != nullptr) to += value;
    return is_path || (value != nullptr && assigned_.count(name) == 0);
  }

  // A simple command of a script.
  void follow_simple(const word_list& command, unsigned depth) {
    auto word = command.begin();
    while (word != command.end() && is_before_command(*word)) ++word;
    const bool is_question = word != command.begin() && word[-1] == "command" && word != command.end() &&
                             is_one_of(*word, {"-v", "-V"});  // whether a program is there
    if (word == command.end() || is_question) return;
    if (is_one_of(*word, {"export", "declare", "typeset", "readonly"})) {
      for (; word != command.end(); ++word)
        if (is_assignment(*word)) assign(*word);
      return;
    }
    if (*word == "unset" && std::find(word, command.end(), "LD_LIBRARY_PATH") != command.end()) {
      path_ = {};
      path_.is_set = true;
    }
    const library_path kept = path_;
    for (; word != command.end() && is_assignment(*word); ++word) assign(*word);
    if (word == command.end()) return;  // the assignments hold for the commands that follow
    if (!is_built_in(*word)) follow_first(word_list(word, command.end()), depth);
    path_ = kept;
  }

  // The first word that names a program, and the words after it. Assignments before it are those of `env`.
  void follow_first(const word_list& command, unsigned depth) {
    const library_path kept = path_;
    for (auto word = command.begin(); word != command.end() && search_.has_time(); ++word) {
      if (is_assignment(*word)) assign(*word);
      if (find_program(*word).empty() && !starts_container(*word)) continue;
      follow(word_list(word, command.end()), depth + 1);
      break;
    }
    path_ = kept;
  }

  // Each word that names a program: the value of an option may look like one.
  void follow_launcher(const std::string& name, const word_list& command, unsigned depth) {
    if (is_outside_launcher(name) || has_other_machines(command)) found_.starts_outside = name;
    for (auto word = command.begin() + 1; word != command.end() && search_.has_time(); ++word) {
      // mpirun -x LD_LIBRARY_PATH=/opt/lib, mpiexec -genv LD_LIBRARY_PATH /opt/lib
      if (begins_with(*word, "LD_LIBRARY_PATH=")) assign(*word);
      if (is_one_of(word[-1], {"-env", "-genv"}) && *word == "LD_LIBRARY_PATH" && word + 1 != command.end())
        assign("LD_LIBRARY_PATH=" + word[1]);
      if (find_program(*word).empty() && !starts_container(*word)) continue;
      follow(word_list(word, command.end()), depth + 1);
      if (starts_container(*word)) return;
    }
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
        if (std::istringstream(line) >> name && name.front() != '#' && has_other_host(name, host)) return true;
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
    for (const word_list& simple_command : split_script(text, found_.is_whole)) follow_simple(simple_command, depth);
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
  std::map<std::string, std::string> programs_;            // by word; empty: the word names no program
  std::set<std::pair<word_list, library_path>> commands_;  // that were followed
  std::set<std::pair<std::string, library_path>> added_;   // programs
  std::set<std::string> assigned_;                         // variables
  library_path path_;
};

}  // namespace

followed_command follow_command(const std::vector<std::string>& command, std::vector<std::string> texts) {
  follower all(std::move(texts));
  all.follow(command);
  return all.found();
}

}  // namespace adaptyst::tools
