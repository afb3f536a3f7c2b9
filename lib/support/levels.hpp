// Levels of markers: their names, the rules that assign levels to markers, and the form of these rules for programs.
#ifndef ADAPTYST_LIB_SUPPORT_LEVELS_HPP
#define ADAPTYST_LIB_SUPPORT_LEVELS_HPP

#include <adaptyst/detail/level.hpp>
#include <adaptyst/detail/levels.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

using adaptyst::level;

// A call of CUDA, HIP, ROCr, OpenCL or Level Zero, by its name: it submits work to a device, or waits for it.
bool is_device_call(std::string_view name);

// In the order of levels: level_names()[0] is that of level 1. Each ends in NUL.
std::vector<std::string_view> level_names();
std::string_view level_name(level which);
// A number from a file or a process; empty: none, or no level.
constexpr std::optional<level> to_level(std::uint64_t number) noexcept {
  if (number < ADAPTYST_LEVEL_APPLICATION || number > ADAPTYST_LEVEL_HARDWARE) return std::nullopt;
  return static_cast<level>(number);
}
// By name or number.
std::optional<level> parse_level(std::string_view text);

// Rules, each PATTERN=LEVEL, together with those for the names of known interfaces. `deepest`: 0: all. Markers with a
// name that fits a pattern of `without` are deeper than any level. Rules beyond the available memory, and rules without
// a level, are ignored.
detail::level_settings make_level_settings(unsigned deepest, const std::vector<std::string>& rules,
                                           const std::vector<std::string>& without = {});

constexpr std::size_t max_level_rules_bytes = 2048;
bool fits_rules(const std::vector<std::string>& rules, const std::vector<std::string>& without);

// The level of a marker; `function`: the function that contains it, `kind`: enum adaptyst_site_kind, `own`: its own
// level.
level find_level(const detail::level_settings& in, std::string_view name, std::string_view function, std::uint32_t kind,
                 std::optional<level> own = std::nullopt);

// The level of a marker for files that have only its name: its own level, or the level that its function has by the
// rules for known interfaces. Empty: the name and kind are enough.
std::optional<level> find_level_for_file(std::string_view name, std::string_view function, std::uint32_t kind,
                                         std::uint32_t own);

}  // namespace adaptyst::lib

#endif
