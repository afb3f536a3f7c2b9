// Numbers with units, as users write them for options: "500ms", "5%", "256M". Without a unit, a number has the default unit of
// its kind.
#ifndef ADAPTYST_LIB_SUPPORT_UNITS_HPP
#define ADAPTYST_LIB_SUPPORT_UNITS_HPP

#include <optional>
#include <string>
#include <string_view>

namespace adaptyst::lib {

enum class unit_kind { duration, percentage, size };

// In ns, as a fraction, or in bytes: finite, and not below 0. Empty: the text is no such number.
std::optional<double> parse_number(unit_kind kind, std::string_view text);

// "the units are s, ms, us, ns, min and h; s if none is given": for hints.
std::string list_units(unit_kind kind);

}  // namespace adaptyst::lib

#endif
