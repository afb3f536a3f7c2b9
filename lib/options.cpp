#include "options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "error.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::string_view known =
    "engine=auto|ebpf|inline|off, report=table|none, output=FILE.json (%p pid, %r rank, %h host)";

[[noreturn]] void refuse(std::string_view what, std::string_view given, std::string_view source) {
  throw error(fmt::format("{} '{}' in {}", what, given, source), 0, fmt::format("known options: {}", known));
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string mpi_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(variable)) return rank;
  return "0";
}

}  // namespace

void apply(options& to, std::string_view text, std::string_view source) {
  options result = to;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(pair.size() < text.size() ? pair.size() + 1 : text.size());
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) refuse("no '=' in the option", pair, source);
    const std::string_view key = pair.substr(0, equals);
    const std::string_view value = pair.substr(equals + 1);
    if (key == "engine") {
      if (value == "auto") result.engine = engine_choice::automatic;
      else if (value == "ebpf") result.engine = engine_choice::ebpf;
      else if (value == "inline") result.engine = engine_choice::inlined;
      else if (value == "off") result.engine = engine_choice::off;
      else refuse("unknown engine", value, source);
    } else if (key == "report") {
      if (value == "table") result.report = report_choice::table;
      else if (value == "none") result.report = report_choice::none;
      else refuse("unknown report", value, source);
    } else if (key == "output") {
      constexpr std::string_view extension = ".json";
      if (value.size() <= extension.size() || value.substr(value.size() - extension.size()) != extension)
        refuse("output must end in .json:", value, source);
      for (std::size_t at = 0; at < value.size(); ++at)
        if (value[at] == '%' && std::string_view("prh%").find(value[++at]) == std::string_view::npos)
          refuse("unknown placeholder in the output", value, source);
      result.output = value;
    } else {
      refuse("unknown option", key, source);
    }
  }
  to = result;
}

std::string expand(std::string_view pattern) {
  std::string name;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      name += pattern[at];
      continue;
    }
    switch (pattern[++at]) {
      case 'p': name += std::to_string(getpid()); break;
      case 'r': name += mpi_rank(); break;
      case 'h': name += host_name(); break;
      default: name += '%';
    }
  }
  return name;
}

}  // namespace adaptyst::lib
