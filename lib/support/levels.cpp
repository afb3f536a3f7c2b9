// The table of levels, the rules for names of known interfaces, and the layout of rules for programs.
#include "levels.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace adaptyst::lib {

namespace {

static_assert(static_cast<int>(level::application) == ADAPTYST_LEVEL_APPLICATION &&
              static_cast<int>(level::hardware) == ADAPTYST_LEVEL_HARDWARE);

constexpr std::array<const char*, 6> names = {"application", "model", "layer", "library", "device", "hardware"};

struct rule {
  std::string_view pattern;
  level of;
};

// Names that the adapters report. There is no rule for Kokkos: its names come from the program.
constexpr rule of_interfaces[] = {
    {"MPI_*", level::library},
    {"cudaLaunch*", level::library},
    {"cudaMem*", level::library},
    {"cuda*Synchronize", level::library},
    {"cudaStream*", level::library},
    {"cudaEvent*", level::library},
    {"cuLaunch*", level::library},
    {"cuMem*", level::library},
    {"cuCtxSynchronize", level::library},
    {"cuStream*", level::library},
    {"cuEvent*", level::library},
    {"clEnqueue*", level::library},
    {"clFinish", level::library},
    {"clWaitForEvents", level::library},
    // Names of torch do not show whether another operator calls an operator.
    {"@torch scope", level::model},
    {"@torch operator", level::layer},
    {"@torch operator within another", level::library},
    {"aten::*", level::layer},
    {"dnnl_*", level::library},
    {"cblas_*", level::library},
};

bool add_rule(detail::level_settings& to, std::size_t& end, std::string_view pattern, level of) {
  if (pattern.empty() || end + pattern.size() + 3 > detail::level_rules_bytes) return false;
  to.rules[end++] = static_cast<char>(of);
  std::memcpy(to.rules + end, pattern.data(), pattern.size());
  end += pattern.size() + 1;
  return true;
}

}  // namespace

bool is_device_call(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip", "hsa_", "cl", "ze"}) {
    if (name.substr(0, prefix.size()) != prefix || name.size() == prefix.size()) continue;
    const char next = name[prefix.size()];
    if (prefix.back() == '_' || (next >= 'A' && next <= 'Z')) return true;
  }
  return false;
}

std::vector<std::string_view> level_names() { return {names.begin(), names.end()}; }

std::string_view level_name(level which) {
  return names[std::clamp(static_cast<std::size_t>(which), std::size_t{1}, names.size()) - 1];
}

std::optional<level> parse_level(std::string_view text) {
  for (std::size_t at = 0; at != names.size(); ++at)
    if (text == names[at]) return static_cast<level>(at + 1);
  std::uint32_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 1 || number > names.size())
    return std::nullopt;
  return static_cast<level>(number);
}

bool fits_rules(const std::vector<std::string>& rules, const std::vector<std::string>& without) {
  constexpr std::size_t bytes_behind = 2;  // size of a level in the rules
  std::size_t bytes = bytes_behind * without.size();
  for (const auto* const list : {&rules, &without})
    for (const std::string& text : *list) bytes += text.size();
  return bytes <= max_level_rules_bytes;
}

detail::level_settings make_level_settings(unsigned deepest, const std::vector<std::string>& rules,
                                           const std::vector<std::string>& without) {
  constexpr auto beyond_all = static_cast<level>(ADAPTYST_LEVEL_OWN + 1);
  detail::level_settings made{};
  made.deepest = deepest == 0 && !without.empty() ? std::uint64_t{ADAPTYST_LEVEL_HARDWARE} : deepest;
  std::size_t end = 0;
  for (const std::string& pattern : without) add_rule(made, end, pattern, beyond_all);
  for (const std::string& rule : rules) {
    const std::size_t equals = rule.rfind('=');
    if (equals == std::string::npos) continue;
    if (const std::optional<level> of = parse_level(std::string_view(rule).substr(equals + 1)))
      add_rule(made, end, std::string_view(rule).substr(0, equals), *of);
  }
  made.rules[end] = ADAPTYST_LEVEL_OWN;
  end += 2;
  for (const rule& interface : of_interfaces) add_rule(made, end, interface.pattern, interface.of);
  return made;
}

level find_level(const detail::level_settings& in, std::string_view name, std::string_view function, std::uint32_t kind,
                 std::optional<level> own) {
  return static_cast<level>(detail::find_level(in, {{name.data(), name.size()},
                                                    {function.data(), function.size()},
                                                    kind,
                                                    own ? static_cast<std::uint32_t>(*own) : 0}));
}

std::optional<level> find_level_for_file(std::string_view name, std::string_view function, std::uint32_t kind,
                                         std::uint32_t own) {
  static const detail::level_settings usual = make_level_settings(0, {});
  if (const std::optional<level> stated = to_level(own)) return stated;
  const level found = find_level(usual, name, function, kind);
  return found != find_level(usual, name, {}, kind) ? std::optional(found) : std::nullopt;
}

}  // namespace adaptyst::lib
